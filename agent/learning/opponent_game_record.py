"""One game against an opponent, as it is remembered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent.io.sanitize import sanitize_name
from agent.limits import Mate, Score

MAX_NAME_LENGTH = 100
# So many half-moves of a game are kept.
MAX_PLIES = 240
# Scores are kept up to here, in centipawns; a mate counts as much.
MAX_SCORE = 2000
# Of the numbers in a file: none that was written is greater.
MAX_NUMBER = 1e15

CHESS = "chess"
_MOVE = re.compile(r"([a-h][1-8]){2}[nbrq]?")
_PRINTABLE_MOVE = re.compile(r"[!-~]{1,40}")

# How it is known how a game ended: by its rules, because somebody told, or by our last score.
RULES, REPORTED, SCORE = "rules", "told", "score"


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game. Numbers by move are in the order of the moves.

    start: the FEN where it is not the usual one. side: 0 if we moved first. points: ours, from 0
    to 1, known by one of RULES, TOLD, SCORE. forfeit: a clock, a connection or the like decided,
    and not the moves. scores: for each of our moves what we thought of it, None where nothing was
    searched. seconds: what his moves took. lowest: the least that his clock ever showed, as a part
    of what it showed first; None without clocks. accepted, declined: how often he repeated a
    position, and did not where he could. endgame: the ply at which few
    pieces were left, None if it never came. repeated: it was drawn by repeating positions.
    game: its name; of others than chess the moves are in their own notation, and start says how
    they began.
    """

    opponent: str
    moves: tuple[str, ...]
    side: int
    points: float
    known: str = RULES
    forfeit: bool = False
    start: str = ""
    scores: tuple[int | None, ...] = ()
    seconds: tuple[float, ...] = ()
    lowest: float | None = None
    accepted: int = 0
    declined: int = 0
    endgame: int | None = None
    repeated: bool = False
    game: str = CHESS

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written."""
        return asdict(self) | {"moves": " ".join(self.moves)}


def normalize_name(name: str) -> str:
    """Return an opponent's name as it is kept."""
    return sanitize_name(" ".join(name.split()))[:MAX_NAME_LENGTH].strip()


def is_same_name(name: str, other: str) -> bool:
    """Tell whether two names are those of one opponent: case does not count."""
    return name.casefold() == other.casefold()


def centipawns(score: Score) -> int:
    """Return a score as a number from -MOST_SCORE to MAX_SCORE."""
    if isinstance(score, Mate):
        return MAX_SCORE if score.moves > 0 else -MAX_SCORE
    return min(max(score.value, -MAX_SCORE), MAX_SCORE)


def from_json(value: object) -> GameRecord:
    """Return the game that an object stands for; ValueError says what is wrong with it."""
    if not isinstance(value, Mapping):
        raise ValueError("it is no game")
    _require(value, "opponent", isinstance(name := value.get("opponent"), str) and name)
    game = value.get("game", CHESS)
    _require(value, "game", isinstance(game, str) and game and game.isprintable())
    moves, a_move = value.get("moves"), _MOVE if game == CHESS else _PRINTABLE_MOVE
    _require(value, "moves", isinstance(moves, str) and _all_valid(moves.split(), a_move.fullmatch))
    _require(value, "side", _is_integer(value.get("side")) and value["side"] in (0, 1))
    points: Any = value.get("points")
    _require(value, "points", _is_number(points) and 0 <= points <= 1)
    _require(value, "known", value.get("known") in (RULES, REPORTED, SCORE))
    _require(value, "start", isinstance(value.get("start", ""), str))
    scores, seconds = value.get("scores", ()), value.get("seconds", ())
    _require(value, "scores", _all_valid(scores, lambda each: each is None or _is_score(each)))
    _require(value, "seconds", _all_valid(seconds, _is_number))
    for name in ("lowest", "endgame"):
        _require(value, name, value.get(name) is None or _is_number(value[name]))
    for name in ("accepted", "declined"):
        _require(value, name, _is_integer(value.get(name, 0)) and value.get(name, 0) >= 0)
    return GameRecord(
        opponent=normalize_name(value["opponent"]),
        moves=tuple(value["moves"].split()),
        side=value["side"],
        points=float(value["points"]),
        known=value["known"],
        forfeit=bool(value.get("forfeit", False)),
        start=value.get("start", ""),
        scores=tuple(scores),
        seconds=tuple(map(float, seconds)),
        lowest=value.get("lowest"),
        accepted=value.get("accepted", 0),
        declined=value.get("declined", 0),
        endgame=value.get("endgame"),
        repeated=bool(value.get("repeated", False)),
        game=game,
    )


def _require(value: Mapping[str, Any], name: str, holds: object) -> None:
    if not holds:
        raise ValueError(f"{name} is {str(value.get(name, 'missing'))[:40]!r}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_score(value: Any) -> bool:
    return _is_integer(value) and -MAX_SCORE <= value <= MAX_SCORE


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < MAX_NUMBER  # neither infinite nor NaN


def _all_valid(values: Any, holds: Any) -> bool:
    return isinstance(values, list | tuple) and len(values) <= MAX_PLIES and all(map(holds, values))
