from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent.io.sanitize import sanitize_name
from agent.io.strict_json import quote_value
from agent.limits import Mate, Score

MAX_NAME_LENGTH = 100
# Maximum number of plies stored per game.
MAX_PLIES = 240
# Limit of stored scores in centipawns. A mate is stored as this score.
MAX_SCORE = 2000
# Limit for valid numbers in a file.
MAX_NUMBER = 1e15

CHESS = "chess"
_MOVE = re.compile(r"([a-h][1-8]){2}[nbrq]?")
_PRINTABLE_MOVE = re.compile(r"[!-~]{1,40}")

# Sources of a result: the rules, a report by the GUI or server, or the agent's last score. The
# strings are those in the file.
RULES, REPORTED, SCORE = "rules", "told", "score"


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A stored game of the agent against an opponent.

    - `moves`: the moves in UCI notation in chess, otherwise in the game's own notation.
    - `side`: 0 if the agent moved first, otherwise 1.
    - `points`: the agent's result, from 0 to 1.
    - `known`: the source of the result, which is RULES, REPORTED or SCORE.
    - `forfeit`: whether the clock, a lost connection or an illegal move decided the game.
    - `start`: the initial position. In chess it is a FEN, or "" for the standard position.
    - `scores`: the score in centipawns after each of the agent's moves, or None if not searched.
    - `seconds`: the opponent's thinking time for each of its moves.
    - `lowest`: the opponent's lowest clock time as a fraction of the initial time, or None.
    - `accepted`, `declined`: how often the opponent could repeat a position and did so, or did not.
    - `endgame`: the ply at which the endgame began, or None.
    - `repeated`: whether the game was drawn by repetition.
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
        return asdict(self) | {"moves": " ".join(self.moves)}


def normalize_name(name: str) -> str:
    return sanitize_name(" ".join(name.split()))[:MAX_NAME_LENGTH].strip()


def is_same_name(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()


def centipawns(score: Score) -> int:
    """Return a score in centipawns, clamped to the range from -MAX_SCORE to MAX_SCORE."""
    if isinstance(score, Mate):
        return MAX_SCORE if score.moves > 0 else -MAX_SCORE
    return min(max(score.value, -MAX_SCORE), MAX_SCORE)


def from_json(value: object) -> GameRecord:
    """Parse a game record. Raise ValueError if the data is invalid."""
    if not isinstance(value, Mapping):
        raise ValueError("not a game record")
    _require(value, "opponent", isinstance(name := value.get("opponent"), str) and name)
    game = value.get("game", CHESS)
    _require(value, "game", isinstance(game, str) and game and game.isprintable())
    moves, pattern = value.get("moves"), _MOVE if game == CHESS else _PRINTABLE_MOVE
    valid = isinstance(moves, str) and _all_valid(moves.split(), pattern.fullmatch)
    _require(value, "moves", valid)
    _require(value, "side", _is_integer(value.get("side")) and value["side"] in (0, 1))
    points: Any = value.get("points")
    _require(value, "points", _is_number(points) and 0 <= points <= 1)
    _require(value, "known", value.get("known") in (RULES, REPORTED, SCORE))
    _require(value, "start", isinstance(value.get("start", ""), str))
    scores, seconds = value.get("scores", ()), value.get("seconds", ())
    _require(value, "scores", _all_valid(scores, lambda score: score is None or _is_score(score)))
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


def _require(value: Mapping[str, Any], name: str, is_valid: object) -> None:
    if not is_valid:
        raise ValueError(f"invalid {name} {quote_value(value.get(name, 'missing'), 40)}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_score(value: Any) -> bool:
    return _is_integer(value) and -MAX_SCORE <= value <= MAX_SCORE


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < MAX_NUMBER  # false for infinity and NaN


def _all_valid(values: Any, is_valid: Any) -> bool:
    if not isinstance(values, list | tuple) or len(values) > MAX_PLIES:
        return False
    return all(map(is_valid, values))
