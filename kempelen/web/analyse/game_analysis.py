"""Convert games between files and the JSON format of the analysis page.

The server stores no games. The page sends its game with each request.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import chess
import chess.pgn

from agent.games.fen import board_from_fen, is_playable, position_faults
from agent.games.position_text import options_for
from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules, parse_variant
from agent.io.message import Message, MessageError, library_message
from agent.io.read_report import ReadReport
from agent.io.sanitize import sanitize_line
from agent.io.text_files import decode_text
from kempelen.console.opening_titles import translate_opening
from kempelen.console.settings_codec import SettingsError, decode
from kempelen.match.config.time_control import TimeControl
from kempelen.match.records.game_record import (
    escape_tag_value,
    opening_names,
    unescape_tag_value,
)
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.board_review import (
    BoardNode,
    FindGame,
    ParsedBoardGame,
    line_tree,
    make_board_game,
    parse_board_game,
)
from kempelen.match.review.chess_review import ParsedChessGame, parse_pgn
from kempelen.match.review.go_review import ParsedGoGame, parse_sgf
from kempelen.match.review.move_annotation import PositionEval, annotator_name
from kempelen.web.analyse.move_tree import (
    NodeChange,
    TreeError,
    board_tree,
    change_board,
    change_chess,
    change_go,
    chess_tree,
    go_tree,
    new_board,
    section_root,
)
from kempelen.web.play.setup import find_setup_game
from kempelen.web.site_context import NO_RESOURCES, SiteResources
from openings.names import find_name
from openings.pgn import TOO_LONG as GAME_TOO_LONG
from protocols.gtp.sgf import SgfGame, parse_trees, read_point, write
from protocols.gtp.sgf_tree import Node, decode_sgf
from protocols.katago_analysis.fields import FieldReader, QueryError
from protocols.katago_analysis.query import DEFAULTS, Query, read_query, read_vertex
from protocols.rulesets import read_ruleset

# Limits of the input: longer texts and games are rejected, and further games of a file are ignored.
# A move of four characters uses a kilobyte of memory.
MAX_FILE_LENGTH = 1 << 20
MAX_MOVES = 1000
MAX_GAMES = 100
TOO_LONG = Message(GAME_TOO_LONG, MAX_MOVES)
# Limit of the exported text, which may be longer than the input.
MAX_SOURCE_LENGTH = 2 * MAX_FILE_LENGTH
# Maximum characters of a player's name.
MAX_NAME_LENGTH = 200
# Evaluations above this limit (in centipawns, points or plies) are invalid.
MAX_ASSESSED = 10**6
GO_FIELDS = frozenset(
    {"boardXSize", "boardYSize", "komi", "rules", "initialStones", "initialPlayer", "moves"}
)

AnalysedGame = ParsedChessGame | ParsedGoGame | ParsedBoardGame


class AnalysisError(MessageError, ValueError):
    """The input is not a valid game or position. The message is shown to the visitor."""


def parse_game(data: Mapping[str, Any], offers: SiteResources = NO_RESOURCES) -> AnalysedGame:
    """Parse a game in the page's JSON format. Raise AnalysisError if the game is invalid.

    `offers` contains additional board games.
    """
    game = data.get("game")
    if game == "chess":
        return _parse_chess(data)
    if game == "go":
        return _parse_go(data.get("query"))
    return _parse_board(data, offers)


def _parse_board(data: Mapping[str, Any], offers: SiteResources) -> ParsedBoardGame:
    game, options, moves = data.get("game"), data.get("options"), data.get("moves")
    if not isinstance(game, str) or not isinstance(options, dict):
        raise AnalysisError("game: unknown or unsupported")
    if not isinstance(moves, list) or len(moves) > MAX_MOVES:
        raise AnalysisError("moves: must be a list of at most {} moves", MAX_MOVES)
    root = line_tree(list(map(str, moves)))
    try:
        return make_board_game(_finder(offers), game, options, root, MAX_MOVES)
    except SettingsError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None


def _finder(offers: SiteResources) -> FindGame:
    return partial(find_setup_game, offers=offers)


def _parse_chess(data: Mapping[str, Any]) -> ParsedChessGame:
    start, moves = data.get("start"), data.get("moves")
    variant = _read_variant(data.get("variant") or STANDARD)
    rules = ChessRules(variant, data.get("chess960") is True)
    if not isinstance(moves, list) or len(moves) > MAX_MOVES:
        raise AnalysisError("moves: must be a list of at most {} moves", MAX_MOVES)
    if start is not None and (not isinstance(start, str) or len(start) > 200):
        raise AnalysisError("start: must be a FEN")
    try:
        board = board_from_fen(start, rules)
        if not is_playable(board):
            raise AnalysisError("illegal position ({})", position_faults(board))
        game = chess.pgn.Game()
        game.setup(board)
        node: chess.pgn.GameNode = game
        for text in moves:
            move = board.parse_uci(str(text))
            if not move:
                raise AnalysisError("null moves are not allowed")
            board.push(move)
            node = node.add_variation(move)
    except AnalysisError:
        raise
    except (ValueError, IndexError) as error:
        raise AnalysisError(sanitize_line(library_message(error), 200)) from None
    # board().fen() normalises the FEN, so it is a single line.
    fen = None if start is None else game.board().fen()
    return ParsedChessGame(game, 1, fen, rules, tuple(map(str, moves)))


def _read_variant(name: object) -> str:
    try:
        return parse_variant(str(name))
    except ValueError as error:
        raise AnalysisError(str(error)) from None


def _parse_go(data: object) -> ParsedGoGame:
    if not isinstance(data, dict) or not data.keys() <= GO_FIELDS:
        raise AnalysisError("query: must be a game of Go")
    try:
        query = go_query(data)
    except QueryError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None
    if len(query.moves) > MAX_MOVES:
        raise AnalysisError(TOO_LONG)
    game = query.game(0)
    moves = tuple(game.text(move) for _, move in query.moves)
    points = [(player, read_point(game.text(vertex))) for player, vertex in query.stones]
    stones = tuple([point for owner, point in points if owner == player] for player in (0, 1))
    played = [(player, read_point(game.text(move))) for player, move in query.moves]
    komi = query.komi if "komi" in data else None
    record = SgfGame(query.size, komi, stones, query.first_player, played)  # type: ignore[arg-type]
    return ParsedGoGame(None, 1, record, dict(data), moves)


def go_query(data: Mapping[str, Any]) -> Query:
    """Parse a game of Go as an analysis query. Raise QueryError if the game is invalid."""
    return read_query("study", FieldReader(dict(data)), DEFAULTS)[0]


def read_file(content: str) -> str:
    """Return the text of a file whose bytes are sent in Base64. Raise AnalysisError if invalid."""
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError:
        raise AnalysisError("file: must be in Base64") from None
    text = decode_text(data)
    return decode_sgf(data) if text.lstrip().startswith("(") else text


def load_games(
    text: str,
    report: ReadReport | None = None,
    offers: SiteResources = NO_RESOURCES,
    variant: str = STANDARD,
) -> list[dict[str, Any]]:
    """Convert the games in a PGN, SGF or JSON text, or the position in a FEN, to the page's JSON.

    A FEN is of a `variant` of chess.

    Games that are skipped are counted in `report`. Raise AnalysisError if the text is
    invalid.
    """
    text = _escape_surrogates(text)
    stripped = text.strip()
    if not stripped:
        raise AnalysisError("no input (expected PGN, SGF or FEN)")
    if len(stripped) > MAX_FILE_LENGTH:
        raise AnalysisError(
            "text too long (at most {} characters); use kempelen analyse FILE", MAX_FILE_LENGTH
        )
    try:
        if stripped.startswith("("):
            found = parse_sgf(text, "SGF", MAX_MOVES, report, require_moves=False)
            if not any(score.moves or _is_position(score) for score in found):
                raise SettingsError("{}: no game of Go with moves found", "SGF")
            return [_go_to_json(score) for score in found[:MAX_GAMES]]
        if stripped.startswith("{"):
            return [_board_to_json(parse_board_game(stripped, _finder(offers), MAX_MOVES))]
        if "\n" not in stripped and stripped.count("/") == 7:
            position = {"start": stripped, "moves": [], "variant": variant}
            return [_chess_to_json(_parse_chess(position))]
        games = parse_pgn(text, "PGN", MAX_GAMES, MAX_MOVES, report)
        return [_chess_to_json(score) for score in games]
    except SettingsError as error:
        message = sanitize_line(str(error), 300)
        # The page has no translation of the message with the number of the game.
        raise AnalysisError(TOO_LONG if message.endswith(TOO_LONG) else message) from None


def _is_position(score: ParsedGoGame) -> bool:
    """Return whether a game without moves is a position to analyse."""
    return any(score.record.stones) or bool(score.root_property("PL"))


def _chess_to_json(score: ParsedChessGame) -> dict[str, Any]:
    headers = score.pgn.headers
    names = [unescape_tag_value(headers.get(name, "?")) for name in ("White", "Black")]
    tree = chess_tree(score.pgn)
    return {
        "game": "chess",
        "start": score.start,
        "chess960": score.rules.chess960,
        "variant": _read_variant(score.rules.variant),
        "moves": list(score.moves),
        "players": names,
        "result": sanitize_line(headers.get("Result", "*")),
        "event": unescape_tag_value(headers.get("Event", "")),
        "source": score.pgn.accept(chess.pgn.StringExporter(columns=None)),
        "positions": tree.main_line,
        "branches": tree.branches,
    }


def _go_to_json(score: ParsedGoGame) -> dict[str, Any]:
    try:
        query = go_query(score.query)
    except QueryError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None
    assert score.tree is not None
    tree = go_tree(section_root(score.tree, score.record), query.game(0))
    return {
        "game": "go",
        "query": score.query,
        "players": [score.root_property(name) or "?" for name in ("PB", "PW")],
        "result": sanitize_line(score.root_property("RE")),
        "event": sanitize_line(score.root_property("EV")),
        "source": score.text(),
        "positions": tree.main_line,
        "branches": tree.branches,
    }


def _board_to_json(score: ParsedBoardGame) -> dict[str, Any]:
    tree = board_tree(score)
    return {
        "game": score.game,
        "options": dict(score.options),
        "moves": list(score.moves),
        "players": list(score.players),
        "result": score.result,
        "event": score.event,
        "source": score.text(),
        "positions": tree.main_line,
        "branches": tree.branches,
    }


def load_position(game: str, text: str, offers: SiteResources) -> dict[str, Any]:
    """Return a position of a board game as JSON. Raise AnalysisError if it is invalid."""
    find = _finder(offers)
    if (game_type := find(game)) is None:
        raise AnalysisError("game: unknown or unsupported")
    try:
        options = options_for(game_type, text)
        return _board_to_json(make_board_game(find, game, options, BoardNode(), MAX_MOVES))
    except ValueError as error:
        raise AnalysisError(sanitize_line(str(error), 200)) from None


def describe_position(
    data: Mapping[str, Any], language: str, offers: SiteResources = NO_RESOURCES
) -> dict[str, Any]:
    """Return the legal moves after a game, whether it is check, and the opening's name.

    The name is in `language`. The game must not be Go.
    """
    study = parse_game(data, offers)
    if isinstance(study, ParsedGoGame):
        raise AnalysisError("game: unknown or unsupported")
    if isinstance(study, ParsedBoardGame):
        board_game = new_board(study)
        for move in study.moves:
            board_game.play(move)
        return {"legal": board_game.moves_with_cells(), "check": False, "opening": ""}
    board = study.pgn.end().board()
    has_name = study.rules == STANDARD_RULES
    opening = find_name(opening_names(), board) if has_name else None
    return {
        "legal": [move.uci() for move in board.legal_moves],
        "check": board.is_check(),
        "opening": f"{opening.eco} {translate_opening(opening.title, language)}".strip()
        if opening
        else "",
    }


def add_move(
    data: Mapping[str, Any], ply: int, move: str, offers: SiteResources = NO_RESOURCES
) -> dict[str, Any]:
    """Return the game up to `ply` with `move`, in any notation, appended.

    Raise AnalysisError if the move is illegal.
    """
    study = parse_game(data, offers)
    if isinstance(study, ParsedBoardGame):
        try:
            longer = _parse_board({**data, "moves": [*study.moves[:ply], move]}, offers)
        except AnalysisError:
            raise AnalysisError("illegal move") from None
        return _board_to_json(dataclasses.replace(longer, players=_player_names(data)))
    if isinstance(study, ParsedChessGame):
        board = study.pgn.board()
        for text in study.moves[:ply]:
            board.push_uci(text)
        moves = [*study.moves[:ply], _chess_move(board, move)]
        played = _parse_chess({**data, "moves": moves})
        for side, name in zip(("White", "Black"), _player_names(data), strict=True):
            played.pgn.headers[side] = escape_tag_value(name)
        return _chess_to_json(played)
    query = go_query(study.query)
    game = query.game(min(ply, len(study.moves)))
    vertex = read_vertex(move, query.size)
    if vertex is None:
        raise AnalysisError("invalid point (not on the board)")
    mover = game.turn
    previous = study.query["moves"][:ply]
    extended = _parse_go({**study.query, "moves": [*previous, ["BW"[mover], game.text(vertex)]]})
    return _go_to_json(
        dataclasses.replace(extended, tree=_to_sgf_tree(extended, _player_names(data)))
    )


def _player_names(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the first and the second player, or "?" for unknown names."""
    names = data.get("players")
    if not isinstance(names, list) or len(names) != 2:
        return "?", "?"
    first, second = (sanitize_line(str(name), MAX_NAME_LENGTH) or "?" for name in names)
    return first, second


def _to_sgf_tree(score: ParsedGoGame, names: tuple[str, str]) -> Node:
    rules = read_ruleset(score.query["rules"])
    (tree,) = parse_trees(write(dataclasses.replace(score.record, rules=rules.sgf_name)))
    for key, player in zip(("PB", "PW"), names, strict=True):
        tree.set(key, player)
    return tree


def _chess_move(board: chess.Board, text: str) -> str:
    for parse in (board.parse_uci, board.parse_san):
        try:
            return parse(text.strip()).uci()
        except ValueError:
            continue
    # Promote to a queen unless the move names another piece.
    try:
        return board.parse_uci(f"{text.strip()}q").uci()
    except ValueError:
        raise AnalysisError("illegal move") from None


def annotate(data: Mapping[str, Any], offers: SiteResources = NO_RESOURCES) -> dict[str, str]:
    """Return the file name and text of a game, with its variations and its review.

    The text is PGN, SGF, or JSON for board games other than chess and Go.

    The page sends the game in "source", its move tree in "tree" if it was changed, and after a
    review the evaluations in "said" and the search limit in "nodes". Raise AnalysisError if `data`
    is invalid.
    """
    source, said = data.get("source"), data.get("said")
    if not isinstance(source, str) or len(source) > MAX_SOURCE_LENGTH:
        raise AnalysisError("missing game or review")
    if not (said is None or isinstance(said, list)):
        raise AnalysisError("missing game or review")
    try:
        score = _changed_game(data, _escape_surrogates(source), offers)
        if said is None:
            return {"name": f"game{score.suffix}", "text": score.text()}
        limits = TimeControl(nodes=decode(int, data.get("nodes")))
        known = _parse_assessments(score, said)
    except (SettingsError, TreeError) as error:
        raise AnalysisError(sanitize_line(str(error), 300)) from None
    text = score.annotated(known, annotator_name("Kempelen", limits, score.unit))
    return {"name": f"analysed{score.suffix}", "text": text}


def _changed_game(data: Mapping[str, Any], source: str, offers: SiteResources) -> AnalysedGame:
    """Return the game with the move tree of the page, or unchanged if the page sends none."""
    tree = data.get("tree")
    changes = None if tree is None else decode(tuple[NodeChange, ...], tree)
    if data.get("game") == "go":
        score = parse_sgf(source, "SGF", MAX_MOVES, require_moves=False)[0]
        if changes is not None:
            assert score.tree is not None
            root = section_root(score.tree, score.record)
            change_go(root, go_query(score.query).game(0), changes)
            score = parse_sgf(score.text(), "SGF", MAX_MOVES, require_moves=False)[0]
        return score
    if data.get("game") != "chess":
        board_game = parse_board_game(source, _finder(offers), MAX_MOVES)
        if changes is not None:
            change_board(board_game, changes)
            board_game = parse_board_game(board_game.text(), _finder(offers), MAX_MOVES)
        return board_game
    game = parse_pgn(source, "PGN", 1, MAX_MOVES, require_moves=False)[0]
    if changes is not None:
        change_chess(game.pgn, changes)
    moves = tuple(move.uci() for move in game.pgn.mainline_moves())
    return dataclasses.replace(game, moves=moves)


def _parse_assessments(score: AnalysedGame, said: Sequence[Any]) -> AnalysisFile:
    """Return the evaluations of all positions. Raise SettingsError if one is invalid."""
    if len(said) != len(score.moves) + 1:
        raise SettingsError("the review does not match the game")
    known = AnalysisFile(None, "")
    for key, item in zip(score.keys(known), said, strict=True):
        evaluation = decode(PositionEval, item)
        numbers = (
            evaluation.expected,
            evaluation.lead,
            evaluation.cp,
            evaluation.mate,
            evaluation.depth,
        )
        points_valid = not isinstance(score, ParsedGoGame) or all(
            read_vertex(point, score.record.size) is not None for point in evaluation.line
        )
        if not points_valid or not all(abs(number or 0) < MAX_ASSESSED for number in numbers):
            raise SettingsError("the review does not match the game")
        known.add(key, evaluation)
    return known


def _escape_surrogates(text: str) -> str:
    """Escape unpaired surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()
