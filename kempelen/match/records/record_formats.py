"""Write games as PGN (chess), SGF (Go), text (other games) or JSON (any game).

In text, a move has the prefix B or W for the player, or * for a chance event.
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
from kempelen.match.records.game_record import PLAIN_PGN, GameRecord, PgnFormat, to_pgn
from protocols.gtp.sgf import read_point, set_move, size_text
from protocols.gtp.sgf_tree import Node, serialise

MAX_LINE_WIDTH = 100
# The reasons in SGF's RE property for games that were not finished.
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


def make_writer(
    settings: Settings, path: str, event: str | None = None, form: PgnFormat = PLAIN_PGN
) -> Writer:
    """Return a function that formats a game, depending on the suffix of `path` and the game.

    `event` is the name of the event, by default that of the tournament. `form` is for PGN.
    """
    game, event = settings.game, settings.name if event is None else event
    if Path(path).suffix.lower() in (".json", ".jsonl"):
        return lambda record: to_json(record, game, event)
    if settings.is_chess:
        return lambda record: to_pgn(record, event, form)
    if game.name == "go":
        return lambda record: to_sgf(record, game, event)
    return lambda record: to_text(record, game, event)


def to_json(record: GameRecord, game: GameSettings, event: str) -> str:
    """Return a game as one line of JSON."""
    return json.dumps({"event": event, "played": str(game), **encode(record)}) + "\n"


def to_text(record: GameRecord, game: GameSettings, event: str) -> str:
    """Return a game as text. Raise SettingsError if a move is illegal by the current rules."""
    symbols = {0: "B", 1: "W", CHANCE: "*"}
    replay = new_game(game)
    tokens = []
    for i, move in enumerate([*record.opening, *(played.move for played in record.moves)]):
        if i and i == len(record.opening):
            tokens.append("|")
        tokens.append(f"{symbols[replay.turn]}:{move}")
        try:
            replay.play(parse_move(replay, move))
        except ValueError as error:
            raise SettingsError(f"game {record.pair}.{record.game}: {error}") from None
    black, white = sanitize_line(record.black), sanitize_line(record.white)
    times = f"{black} ({record.black_time}), White {white} ({record.white_time})"
    lines = [
        sanitize_line(f"{event} {record.pair}.{record.game}: {game}, {record.started[:10]}"),
        f"Black {times}",
        *textwrap.wrap(" ".join(tokens), MAX_LINE_WIDTH),
        f"{record.result} {_reason(record)}",
    ]
    return "\n".join(lines) + "\n\n"


def to_sgf(record: GameRecord, game: GameSettings, event: str) -> str:
    go = new_game(game)
    assert isinstance(go, Go)
    size = go.width, go.height
    root = Node()
    for name, value in {
        "FF": 4,
        "GM": 1,
        "AP": "Kempelen",
        "SZ": size_text(size),
        "KM": f"{go.komi:.10g}",
        "RU": go.rules.sgf_name,  # the referee uses these rules for scoring
        "EV": sanitize_line(event),
        "RO": f"{record.pair}.{record.game}",
        "PB": sanitize_line(record.black),
        "PW": sanitize_line(record.white),
        "DT": record.started[:10],
        "RE": _sgf_result(record),
        "C": f"Black {record.black_time}, White {record.white_time}; {_reason(record)}",
    }.items():
        root.set(name, value)
    node = root
    for number, move in enumerate([*record.opening, *(played.move for played in record.moves)]):
        node = Node(node)
        set_move(node, number % 2, read_point(move), size)
        if number >= len(record.opening):
            played = record.moves[number - len(record.opening)]
            if played.clock is not None:
                node.set("WL" if number % 2 else "BL", f"{played.clock:.3f}")
            node.set("C", f"{played.time:.3f}s")
    return serialise(root)


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
