"""What is analysed: a game of chess or Go with its moves, as a page says it and as files hold it.

The page keeps the study and sends it with whatever it asks, so the server keeps nothing, and a
page goes on after the server was started anew.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import chess
import chess.pgn

from agent.games.go import Go
from agent.games.stones import PASS
from agent.io.sanitize import sanitize_line
from kempelen.console.settings_codec import SettingsError, decode
from kempelen.match.config.time_control import TimeControl
from kempelen.match.records.game_record import escape_tag_value, unescape_tag_value
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.chess_review import ParsedChessGame, annotated_pgn, parse_pgn
from kempelen.match.review.go_review import (
    DEFAULT_RULES,
    ParsedGoGame,
    annotated_sgf,
    game_property,
    parse_sgf,
)
from kempelen.match.review.move_annotation import GameReview, PositionEval, annotator_name
from kempelen.web.diagrams import chess_diagrams, diagram
from protocols.gtp.sgf import Record, SgfError, parse_trees, read_point, write
from protocols.katago_analysis.fields import Fields, QueryError
from protocols.katago_analysis.query import DEFAULTS, Query, read_query, read_vertex

# Longer texts and games are refused, and of a file so many games are shown. A move of four letters
# takes a kilobyte of memory.
MAX_FILE_LENGTH = 1 << 20
MAX_MOVES = 1000
MAX_GAMES = 100
# A game that is read and written anew is longer than it was.
MAX_SOURCE_LENGTH = 2 * MAX_FILE_LENGTH
# Letters of a comment, which is shown as text, and of a player's name.
MAX_COMMENT_LENGTH = 2000
MAX_NAME_LENGTH = 200
# No search says more of a position, in centipawns, points or plies.
MAX_ASSESSED = 10**6
GO_FIELDS = frozenset(
    {"boardXSize", "boardYSize", "komi", "rules", "initialStones", "initialPlayer", "moves"}
)

AnalysedGame = ParsedChessGame | ParsedGoGame


class AnalysisError(ValueError):
    """What cannot be analysed; the message is for the visitor."""


def parse_game(data: Mapping[str, Any]) -> AnalysedGame:
    """Return what a page says that it studies. Raises AnalysisError."""
    kind = data.get("game")
    if kind == "chess":
        return _parse_chess(data)
    if kind == "go":
        return _parse_go(data.get("query"))
    raise AnalysisError("chess and Go are analysed")


def _parse_chess(data: Mapping[str, Any]) -> ParsedChessGame:
    start, moves = data.get("start"), data.get("moves")
    chess960 = data.get("chess960") is True
    if not isinstance(moves, list) or len(moves) > MAX_MOVES:
        raise AnalysisError(f"a list of at most {MAX_MOVES} moves is needed")
    if start is not None and (not isinstance(start, str) or len(start) > 200):
        raise AnalysisError("a position is a FEN")
    try:
        board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
        if not board.is_valid():
            raise AnalysisError(f"that position is not legal ({board.status()!r})")
        game = chess.pgn.Game()
        game.setup(board)
        node: chess.pgn.GameNode = game
        for text in moves:
            move = board.parse_uci(str(text))
            if not move:
                raise AnalysisError("a null move is in no game")
            board.push(move)
            node = node.add_variation(move)
    except AnalysisError:
        raise
    except (ValueError, IndexError) as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None
    # On one line, whatever stood between its parts.
    begun = None if start is None else game.board().fen()
    return ParsedChessGame(game, 1, begun, chess960, tuple(map(str, moves)))


def _parse_go(data: object) -> ParsedGoGame:
    if not isinstance(data, dict) or not data.keys() <= GO_FIELDS:
        raise AnalysisError("a game of Go is needed")
    try:
        query = go_query(data)
    except QueryError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None
    if len(query.moves) > MAX_MOVES:
        raise AnalysisError(f"at most {MAX_MOVES} moves are analysed")
    game = query.game(0)
    moves = tuple((player, game.text(move)) for player, move in query.moves)
    points = [(player, read_point(game.text(vertex))) for player, vertex in query.stones]
    stones = tuple([point for owner, point in points if owner == player] for player in (0, 1))
    played = [(player, read_point(vertex)) for player, vertex in moves]
    komi = query.komi if "komi" in data else None
    record = Record(query.size, komi, stones, query.first_player, played)  # type: ignore[arg-type]
    return ParsedGoGame(None, 1, record, dict(data), moves)


def go_query(data: Mapping[str, Any]) -> Query:
    """Return what the analysis engine makes of a game. Raises QueryError."""
    return read_query("study", Fields(dict(data)), DEFAULTS)[0]


def load_games(text: str) -> list[dict[str, Any]]:
    """Return the games of a PGN or an SGF, or of a FEN that stands alone, as a page takes them.

    Raises AnalysisError for what is none of these.
    """
    text = _escape_surrogates(text)
    words = text.strip()
    if not words:
        raise AnalysisError("nothing was given: a PGN, an SGF or a FEN is needed")
    if len(words) > MAX_FILE_LENGTH:
        raise AnalysisError(
            f"at most {MAX_FILE_LENGTH} letters are read here; kempelen analyse FILE takes more"
        )
    try:
        if words.startswith("("):
            return [_go_to_json(score) for score in parse_sgf(text, "SGF")[:MAX_GAMES]]
        if "\n" not in words and words.count("/") == 7:
            return [_chess_to_json(_parse_chess({"start": words, "moves": []}))]
        return [_chess_to_json(score) for score in parse_pgn(text, "PGN", MAX_GAMES)]
    except SettingsError as error:
        raise AnalysisError(sanitize_line(str(error), 300)) from None


def game_to_json(study: AnalysedGame) -> dict[str, Any]:
    """Return a study with all its positions, as a page takes it."""
    return _chess_to_json(study) if isinstance(study, ParsedChessGame) else _go_to_json(study)


def _chess_to_json(score: ParsedChessGame) -> dict[str, Any]:
    if len(score.moves) > MAX_MOVES:
        raise AnalysisError(f"at most {MAX_MOVES} moves are analysed")
    headers = score.game.headers
    names = [unescape_tag_value(headers.get(name, "?")) for name in ("White", "Black")]
    positions = chess_diagrams(score.game.board(), score.moves)
    for node, position in zip([score.game, *score.game.mainline()], positions, strict=True):
        position["comment"] = node.comment[:MAX_COMMENT_LENGTH]
    return {
        "game": "chess",
        "start": score.start,
        "chess960": score.chess960,
        "moves": list(score.moves),
        "players": names,
        "result": sanitize_line(headers.get("Result", "*")),
        "event": unescape_tag_value(headers.get("Event", "")),
        "source": score.game.accept(chess.pgn.StringExporter(columns=None)),
        "positions": positions,
    }


def _go_to_json(score: ParsedGoGame) -> dict[str, Any]:
    try:
        query = go_query(score.query)
    except QueryError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None
    if len(query.moves) > MAX_MOVES:
        raise AnalysisError(f"at most {MAX_MOVES} moves are analysed")
    game = query.game(0)
    positions = [diagram("go", str(game))]
    for player, move in query.moves:
        game.play_as(player, move)
        positions.append(
            {**diagram("go", str(game)), "move": game.text(move), "last": [game.text(move)]}
        )
    for place, comment in _go_comments(score):
        positions[place]["comment"] = comment[:MAX_COMMENT_LENGTH]
    return {
        "game": "go",
        "query": score.query,
        "players": [game_property(score.tree, name) or "?" for name in ("PB", "PW")],
        "result": sanitize_line(game_property(score.tree, "RE")),
        "event": sanitize_line(game_property(score.tree, "EV")),
        "source": _serialised(score.tree),
        "positions": positions,
    }


def _serialised(tree: Any) -> str:
    text: str = tree.serialise().decode(tree.get_root().get_encoding(), "replace")
    return text


def _go_comments(score: ParsedGoGame) -> list[tuple[int, str]]:
    """Return the comments of the main line, each after so many moves."""
    if score.tree is None:
        return []
    found, place = [], 0
    for node in score.tree.get_main_sequence():
        place += node.get_move()[0] is not None
        try:
            if node.has_property("C") and place <= len(score.moves):
                found.append((place, str(node.get("C"))))
        except (ValueError, LookupError):
            continue
    return found


def add_move(data: Mapping[str, Any], ply: int, move: str) -> dict[str, Any]:
    """Return a study that goes on after so many moves with another one, as people write it.

    Raises AnalysisError if it is illegal.
    """
    study = parse_game(data)
    if isinstance(study, ParsedChessGame):
        board = study.game.board()
        for text in study.moves[:ply]:
            board.push_uci(text)
        moves = [*study.moves[:ply], _chess_move(board, move)]
        played = _parse_chess({**data, "moves": moves})
        for side, name in zip(("White", "Black"), _player_names(data), strict=True):
            played.game.headers[side] = escape_tag_value(name)
        return _chess_to_json(played)
    query = go_query(study.query)
    game = query.game(min(ply, len(study.moves)))
    vertex = read_vertex(move, query.size)
    if vertex is None:
        raise AnalysisError("that is no point of the board")
    mover = game.turn
    kept = study.query["moves"][:ply]
    gone_on = _parse_go(
        {**study.query, "moves": [*kept, ["BW"[mover], _vertex_text(game, vertex)]]}
    )
    return _go_to_json(
        dataclasses.replace(gone_on, tree=_to_sgf_tree(gone_on, _player_names(data)))
    )


def _player_names(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return what the players are called, the first one first; "?" of whom nobody knows."""
    names = data.get("players")
    if not isinstance(names, list) or len(names) != 2:
        return "?", "?"
    first, second = (sanitize_line(str(name), MAX_NAME_LENGTH) or "?" for name in names)
    return first, second


def _to_sgf_tree(score: ParsedGoGame, names: tuple[str, str]) -> Any:
    """Return a game that is from no file as sgfmill's tree."""
    rules = score.query.get("rules")
    called = rules if isinstance(rules, str) else DEFAULT_RULES
    text = write(dataclasses.replace(score.record, rules=called))
    try:
        (tree,) = parse_trees(text.encode())
    except SgfError as error:
        raise AnalysisError(str(error)) from None
    for key, name in zip(("PB", "PW"), names, strict=True):
        tree.get_root().set(key, name)
    return tree


def _vertex_text(game: Go, vertex: int) -> str:
    return "pass" if vertex == PASS else game.text(vertex)


def _chess_move(board: chess.Board, text: str) -> str:
    for parse in (board.parse_uci, board.parse_san):
        try:
            return parse(text.strip()).uci()
        except ValueError:
            continue
    # A pawn that arrives becomes a queen where nothing is said.
    try:
        return board.parse_uci(f"{text.strip()}q").uci()
    except ValueError:
        raise AnalysisError("that is no legal move") from None


def review_to_json(review: GameReview) -> list[dict[str, Any]]:
    """Return the moves of a review, as a page takes them."""
    names = ("move", "best", "line", "expected", "cp", "mate", "lead", "loss", "grade", "player")
    return [{name: getattr(move, name) for name in names} for move in review.moves]


def annotate(data: Mapping[str, Any]) -> dict[str, str]:
    """Return a game that was judged as a file: its name, and its text with what was found.

    data: the game's name and its source, what was said of its positions, and the nodes that each
    of them took, all as the page was told. Raises AnalysisError.
    """
    source, said, nodes = data.get("source"), data.get("said"), data.get("nodes")
    if not isinstance(source, str) or len(source) > MAX_SOURCE_LENGTH or not isinstance(said, list):
        raise AnalysisError("a game and its review are needed")
    source = _escape_surrogates(source)
    score: AnalysedGame
    try:
        limits = TimeControl(nodes=decode(int, nodes))
        if data.get("game") == "go":
            score = parse_sgf(source, "SGF")[0]
        else:
            score = parse_pgn(source, "PGN", 1)[0]
        known = _parse_assessments(score, said)
    except SettingsError as error:
        raise AnalysisError(sanitize_line(str(error), 300)) from None
    if isinstance(score, ParsedChessGame):
        annotator = annotator_name("Kempelen", limits, "nodes")
        return {"name": "analysed.pgn", "text": annotated_pgn(score, known, annotator)}
    annotator = annotator_name("Kempelen", limits, "visits")
    return {"name": "analysed.sgf", "text": annotated_sgf(score, known, annotator)}


def _parse_assessments(score: AnalysedGame, said: Sequence[Any]) -> AnalysisFile:
    """Return what was said of each position, once it is checked. Raises SettingsError."""
    if len(said) != len(score.moves) + 1:
        raise SettingsError("that review is of another game")
    known = AnalysisFile(None, "")
    for ply, each in enumerate(said):
        found = decode(PositionEval, each)
        numbers = (found.expected, found.lead, found.cp, found.mate, found.depth)
        legible = not isinstance(score, ParsedGoGame) or all(
            read_vertex(point, score.record.size) is not None for point in found.line
        )
        if not legible or not all(abs(number or 0) < MAX_ASSESSED for number in numbers):
            raise SettingsError("that review is of another game")
        known.add(known.key(score.position(ply)), found)
    return known


def _escape_surrogates(text: str) -> str:
    """Return text without a half of a pair of UTF-16's, which no file can hold."""
    return text.encode(errors="backslashreplace").decode()
