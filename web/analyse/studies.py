"""What is analysed: a game of chess or Go with its moves, as a page says it and as files hold it.

The page keeps the study and sends it with whatever it asks, so the server keeps nothing, and a
page goes on after the server was started anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import chess
import chess.pgn

from agent.border.plain_text import plain
from agent.games.go import Go
from agent.games.stones import PASS
from protocols.analysis.fields import Fields, QueryError
from protocols.analysis.query import USUAL, Query, read_query, read_vertex
from protocols.gtp.sgf import Record
from tournament.chess_review import ChessScore, parse_pgn
from tournament.go_review import GoScore, game_property, parse_sgf
from tournament.judgement import GameReview
from tournament.records import read_tag_value
from tournament.values import SettingsError
from web.diagrams import drawing, drawn_chess

# Longer texts and games are refused, and of a file so many games are shown. A move of four letters
# takes a kilobyte of memory.
LONGEST_FILE = 1 << 20
MOST_MOVES = 1000
MOST_GAMES = 100
# Letters of a comment, which is shown as text.
LONGEST_COMMENT = 2000
GO_FIELDS = frozenset(
    {"boardXSize", "boardYSize", "komi", "rules", "initialStones", "initialPlayer", "moves"}
)

Study = ChessScore | GoScore


class StudyError(ValueError):
    """What cannot be analysed; the message is for the visitor."""


def read_study(data: Mapping[str, Any]) -> Study:
    """Return what a page says that it studies. Raises StudyError."""
    kind = data.get("game")
    if kind == "chess":
        return _chess(data)
    if kind == "go":
        return _go(data.get("query"))
    raise StudyError("chess and Go are analysed")


def _chess(data: Mapping[str, Any]) -> ChessScore:
    start, moves = data.get("start"), data.get("moves")
    chess960 = data.get("chess960") is True
    if not isinstance(moves, list) or len(moves) > MOST_MOVES:
        raise StudyError(f"a list of at most {MOST_MOVES} moves is needed")
    if start is not None and (not isinstance(start, str) or len(start) > 200):
        raise StudyError("a position is a FEN")
    try:
        board = chess.Board(start or chess.STARTING_FEN, chess960=chess960)
        if not board.is_valid():
            raise StudyError(f"that position is not legal ({board.status()!r})")
        game = chess.pgn.Game()
        game.setup(board)
        node: chess.pgn.GameNode = game
        for text in moves:
            move = board.parse_uci(str(text))
            if not move:
                raise StudyError("a null move is in no game")
            board.push(move)
            node = node.add_variation(move)
    except StudyError:
        raise
    except (ValueError, IndexError) as error:
        raise StudyError(plain(str(error), 200)) from None
    # On one line, whatever stood between its parts.
    begun = None if start is None else game.board().fen()
    return ChessScore(game, 1, begun, chess960, tuple(map(str, moves)))


def _go(data: object) -> GoScore:
    if not isinstance(data, dict) or not data.keys() <= GO_FIELDS:
        raise StudyError("a game of Go is needed")
    try:
        query = go_query(data)
    except QueryError as error:
        raise StudyError(plain(str(error), 200)) from None
    if len(query.moves) > MOST_MOVES:
        raise StudyError(f"at most {MOST_MOVES} moves are analysed")
    game = query.game(0)
    moves = tuple((player, game.text(move)) for player, move in query.moves)
    record = Record(query.size, query.komi, ([], []), query.first, [])
    return GoScore(None, 1, record, dict(data), moves)


def go_query(data: Mapping[str, Any]) -> Query:
    """Return what the analysis engine makes of a game. Raises QueryError."""
    return read_query("study", Fields(dict(data)), USUAL)[0]


def load(text: str) -> list[dict[str, Any]]:
    """Return the games of a PGN or an SGF, or of a FEN that stands alone, as a page takes them.

    Raises StudyError for what is none of these.
    """
    text = text.encode(errors="backslashreplace").decode()  # no half of a pair of UTF-16's
    words = text.strip()
    if not words:
        raise StudyError("nothing was given: a PGN, an SGF or a FEN is needed")
    if len(words) > LONGEST_FILE:
        raise StudyError(
            f"at most {LONGEST_FILE} letters are read here; kempelen analyse FILE takes more"
        )
    try:
        if words.startswith("("):
            return [_shown_go(score) for score in parse_sgf(text.encode(), "SGF")[:MOST_GAMES]]
        if "\n" not in words and words.count("/") == 7:
            return [_shown_chess(_chess({"start": words, "moves": []}))]
        return [_shown_chess(score) for score in parse_pgn(text, "PGN", MOST_GAMES)]
    except SettingsError as error:
        raise StudyError(plain(str(error), 300)) from None


def shown(study: Study) -> dict[str, Any]:
    """Return a study with all its positions, as a page takes it."""
    return _shown_chess(study) if isinstance(study, ChessScore) else _shown_go(study)


def _shown_chess(score: ChessScore) -> dict[str, Any]:
    if len(score.moves) > MOST_MOVES:
        raise StudyError(f"at most {MOST_MOVES} moves are analysed")
    headers = score.game.headers
    names = [read_tag_value(headers.get(name, "?")) for name in ("White", "Black")]
    positions = drawn_chess(score.game.board(), score.moves)
    for node, position in zip([score.game, *score.game.mainline()], positions, strict=True):
        position["comment"] = node.comment[:LONGEST_COMMENT]
    return {
        "game": "chess",
        "start": score.start,
        "chess960": score.chess960,
        "moves": list(score.moves),
        "players": names,
        "result": plain(headers.get("Result", "*")),
        "event": read_tag_value(headers.get("Event", "")),
        "positions": positions,
    }


def _shown_go(score: GoScore) -> dict[str, Any]:
    try:
        query = go_query(score.query)
    except QueryError as error:
        raise StudyError(plain(str(error), 200)) from None
    if len(query.moves) > MOST_MOVES:
        raise StudyError(f"at most {MOST_MOVES} moves are analysed")
    game = query.game(0)
    positions = [drawing("go", str(game))]
    for player, move in query.moves:
        game.play_as(player, move)
        positions.append(
            {**drawing("go", str(game)), "move": game.text(move), "last": [game.text(move)]}
        )
    for place, comment in _go_comments(score):
        positions[place]["comment"] = comment[:LONGEST_COMMENT]
    return {
        "game": "go",
        "query": score.query,
        "players": [game_property(score.tree, name) or "?" for name in ("PB", "PW")],
        "result": plain(game_property(score.tree, "RE")),
        "event": plain(game_property(score.tree, "EV")),
        "positions": positions,
    }


def _go_comments(score: GoScore) -> list[tuple[int, str]]:
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


def played_on(data: Mapping[str, Any], ply: int, move: str) -> dict[str, Any]:
    """Return a study that goes on after so many moves with another one, as people write it.

    Raises StudyError if it is illegal.
    """
    study = read_study(data)
    if isinstance(study, ChessScore):
        board = study.game.board()
        for text in study.moves[:ply]:
            board.push_uci(text)
        moves = [*study.moves[:ply], _chess_move(board, move)]
        return _shown_chess(_chess({**data, "moves": moves}))
    query = go_query(study.query)
    game = query.game(min(ply, len(study.moves)))
    vertex = read_vertex(move, query.size)
    if vertex is None:
        raise StudyError("that is no point of the board")
    mover = game.turn
    kept = study.query["moves"][:ply]
    return shown(_go({**study.query, "moves": [*kept, ["BW"[mover], _written(game, vertex)]]}))


def _written(game: Go, vertex: int) -> str:
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
        raise StudyError("that is no legal move") from None


def shown_review(review: GameReview) -> list[dict[str, Any]]:
    """Return the moves of a review, as a page takes them."""
    names = ("move", "best", "line", "expected", "cp", "mate", "lead", "loss", "grade", "player")
    return [{name: getattr(move, name) for name in names} for move in review.moves]
