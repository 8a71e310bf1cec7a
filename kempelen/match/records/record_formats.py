"""Records of games as files hold them: PGN for chess, SGF for Go, text or JSON for other games.

SGF needs sgfmill, of the extra `gtp`. Text and JSON give the moves in the game's own notation; in
text each has before it who made it: B, W, or * for chance.
"""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path

from agent.game import CHANCE, parse_move
from agent.games.go import Go
from agent.io.sanitize import sanitize_line
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.config.settings import Settings
from kempelen.match.game.game_result import Termination
from kempelen.match.records.game_record import GameRecord, to_pgn
from protocols.gtp.rules import DEFAULT_RULES
from protocols.gtp.sgf import new_tree, read_point, set_move

MAX_LINE_WIDTH = 100
MISSING_SGF = "SGF needs one more package: pip install 'kempelen[gtp]'"
# How SGF says that a game was not played to its end.
SGF_REASONS = {
    Termination.RESIGNATION: "R",
    Termination.TIME: "T",
    Termination.ILLEGAL_MOVE: "F",
    Termination.NO_MOVE: "F",
    Termination.CRASH: "F",
    Termination.HUNG: "F",
    Termination.NOT_STARTED: "F",
    Termination.FAILED: "F",
}

Writer = Callable[[GameRecord], str]


def make_writer(settings: Settings, path: str) -> Writer:
    """Return what writes the games of a tournament to a file of that name, one after the other.

    Raises SettingsError where a package is missing.
    """
    game, event = settings.game, settings.name
    if Path(path).suffix.lower() in (".json", ".jsonl"):
        return lambda record: to_json(record, game, event)
    if settings.is_chess:
        return lambda record: to_pgn(record, event)
    if game.name == "go":
        try:
            import sgfmill  # noqa: F401 - to find out early
        except ImportError:
            raise SettingsError(f"{path}: {MISSING_SGF}") from None
        return lambda record: to_sgf(record, game, event)
    return lambda record: to_text(record, game, event)


def to_json(record: GameRecord, game: GameSettings, event: str) -> str:
    """Return a game as one line of JSON."""
    return json.dumps({"event": event, "played": str(game), **encode(record)}) + "\n"


def to_text(record: GameRecord, game: GameSettings, event: str) -> str:
    """Return a game as lines for people, with an empty line at the end.

    Raises SettingsError where the game's rules are not those of the record any more.
    """
    signs = {0: "B", 1: "W", CHANCE: "*"}
    replay = new_game(game)
    words = []
    for place, move in enumerate([*record.opening, *(each.move for each in record.moves)]):
        if place and place == len(record.opening):
            words.append("|")
        words.append(f"{signs[replay.turn]}:{move}")
        try:
            replay.play(parse_move(replay, move))
        except ValueError as error:
            raise SettingsError(f"game {record.pair}.{record.game}: {error}") from None
    black, white = sanitize_line(record.black), sanitize_line(record.white)
    times = f"{black} ({record.black_time}), White {white} ({record.white_time})"
    lines = [
        sanitize_line(f"{event} {record.pair}.{record.game}: {game}, {record.started[:10]}"),
        f"Black {times}",
        *textwrap.wrap(" ".join(words), MAX_LINE_WIDTH),
        f"{record.result} {_reason(record)}",
    ]
    return "\n".join(lines) + "\n\n"


def to_sgf(record: GameRecord, game: GameSettings, event: str) -> str:
    """Return a game of Go as SGF."""
    go = new_game(game)
    assert isinstance(go, Go)
    tree = new_tree((go.width, go.height))
    root = tree.get_root()
    for name, value in {
        "AP": ("Kempelen", ""),
        "KM": go.komi,
        "RU": DEFAULT_RULES.sgf_name,  # as the referee counts
        "EV": sanitize_line(event),
        "RO": f"{record.pair}.{record.game}",
        "PB": sanitize_line(record.black),
        "PW": sanitize_line(record.white),
        "DT": record.started[:10],
        "RE": _sgf_result(record),
        "C": f"Black {record.black_time}, White {record.white_time}; {_reason(record)}",
    }.items():
        root.set(name, value)
    for number, move in enumerate([*record.opening, *(each.move for each in record.moves)]):
        node = tree.extend_main_sequence()
        set_move(node, number % 2, read_point(move))
        if number >= len(record.opening):
            played = record.moves[number - len(record.opening)]
            if played.clock is not None:
                node.set("WL" if number % 2 else "BL", played.clock)
            node.set("C", f"{played.time:.3f}s")
    text: str = tree.serialise().decode()
    return text


def _reason(record: GameRecord) -> str:
    return (
        f"({record.termination}: {sanitize_line(record.detail)})"
        if record.detail
        else f"({record.termination})"
    )


def _sgf_result(record: GameRecord) -> str:
    winner = {"1-0": "W", "0-1": "B", "1/2-1/2": "0"}.get(record.result, "?")
    if winner in "0?":
        return winner
    if record.termination in SGF_REASONS:
        return f"{winner}+{SGF_REASONS[record.termination]}"
    return record.detail if record.detail.startswith(f"{winner}+") else f"{winner}+"
