"""Positions and moves of any game as numbers, for what is learned about them.

A position is taken as a few bytes while the game stands there, and many are made into one array
later. What the bytes say depends on what the game offers, the first of these that it has:

    features    the numbers of `features()`, as 16-bit floats (agent.game.Featured)
    grid        the squares of `grid()`: the mover's, the other's or empty (agent.game.Gridded)
    text        what is shown of the game: each character where it stands, in one of BUCKETS inputs

Beside them there is an input for who is to move, and one for each of the game's measures, where
they are asked for (agent.game.Measurable). Moves are numbered in a vocabulary of their texts,
found by playing games at random; a move that is not in it has the last number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from agent.game import CHANCE, GridGame, HasFeatures, HasNamedFeatures, NotatedGame

Floats = npt.NDArray[np.float32]
InputFormat = Literal["features", "grid", "text"]

HASH_BUCKETS = 512
# Games at random in which moves are found, and the most moves of one of them.
VOCABULARY_GAMES, VOCABULARY_GAME_PLIES = 200, 400
# The largest number of 16 bits.
MAX_FLOAT16 = 65504.0
# The most moves that are told apart.
MAX_VOCABULARY = 4096


@dataclass(frozen=True)
class PositionEncoding:
    """How positions and moves of one game, with its options, are numbers.

    size: the numbers of what is seen. vocabulary: the texts of moves. measures: their names.
    columns: of a grid; 0 where a file does not tell.
    """

    view: InputFormat
    size: int
    vocabulary: tuple[str, ...]
    named_features: tuple[str, ...] = ()
    columns: int = 0
    _move_indices: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {text: number for number, text in enumerate(self.vocabulary)}
        object.__setattr__(self, "_move_indices", numbers)

    @property
    def inputs(self) -> int:
        """How many inputs a position has."""
        return (2 if self.view == "grid" else 1) * self.size + 1 + len(self.named_features)

    @property
    def max_input(self) -> float:
        """The largest number that an input can be."""
        return MAX_FLOAT16 if self.view == "features" or self.named_features else 1.0

    @property
    def outputs(self) -> int:
        """How many moves are told apart; all that the vocabulary has not are one."""
        return len(self.vocabulary) + 1

    def encode(self, game: Any) -> bytes:
        """Return what is kept of a position; ValueError if it is of another size."""
        turn = b"\1" if game.turn == 1 else b"\0"
        alike = True
        if self.view == "grid":
            rows = game.grid()
            seen = "".join(rows).encode()
            alike = self.columns in (0, len(rows[0]))
        elif self.view == "features":
            seen = _float16_bytes(game, "features", game.features())
        else:
            seen = _hashed_features(str(game), game.turn)
        if len(seen) != self._encoded_length - 1 or not alike:
            raise ValueError(f"{type(game).__name__} has another size here than what was learned")
        if not self.named_features:
            return seen + turn
        return seen + turn + _float16_bytes(game, "measures", [*game.named_features().values()])

    def to_inputs(self, taken: Sequence[bytes]) -> Floats:
        """Return the inputs of positions, a row each."""
        rows = np.frombuffer(b"".join(taken), np.uint8).reshape(len(taken), -1)
        inputs = np.empty((len(taken), self.inputs), np.float32)
        turn = self._encoded_length - 1
        seen, place = rows[:, :turn], self.inputs - 1 - len(self.named_features)
        if self.view == "grid":
            inputs[:, : self.size] = seen == ord("m")
            inputs[:, self.size : place] = seen == ord("t")
        elif self.view == "features":
            inputs[:, :place] = np.ascontiguousarray(seen).view(np.float16)
        else:
            inputs[:, :place] = seen
        inputs[:, place] = rows[:, turn]
        if self.named_features:
            inputs[:, place + 1 :] = np.ascontiguousarray(rows[:, turn + 1 :]).view(np.float16)
        return inputs

    def move_indices(self, game: Any, moves: Sequence[Any]) -> list[int]:
        """Return the moves' numbers in the vocabulary."""
        known, other = self._move_indices, len(self.vocabulary)
        return [known.get(game.text(move), other) for move in moves]

    @property
    def _encoded_length(self) -> int:
        """How many bytes are kept of a position, without its measures."""
        return (2 if self.view == "features" else 1) * self.size + 1

    def as_json(self) -> dict[str, Any]:
        """Return what a file says of it."""
        return {
            "view": self.view,
            "size": self.size,
            "vocabulary": list(self.vocabulary),
            "measures": list(self.named_features),
            "columns": self.columns,
        }


def from_json(said: dict[str, Any]) -> PositionEncoding:
    """Return the encoding that a file tells of; ValueError, TypeError or KeyError if it cannot."""
    view, size, vocabulary = said["view"], said["size"], said["vocabulary"]
    if view not in ("features", "grid", "text") or not 0 < int(size) <= 1 << 20:
        raise ValueError(f"there is no view {view!r} of {size!r} numbers")
    named_features = tuple(map(str, said.get("measures", ())))
    columns = int(said.get("columns", 0))
    return PositionEncoding(view, int(size), tuple(map(str, vocabulary)), named_features, columns)


def encoding_for(
    game: NotatedGame[Any], seed: int = 0, *, measured: bool = False
) -> PositionEncoding:
    """Return how a game's positions and moves are numbers; the game is left as it is.

    measured: its measures are among the numbers, where it has any.
    """
    view: InputFormat = "text"
    size, columns = HASH_BUCKETS, 0
    if isinstance(game, HasFeatures):
        view, size = "features", int(np.asarray(game.features()).size)
    elif isinstance(game, GridGame):
        rows = game.grid()
        view, size, columns = "grid", sum(map(len, rows)), len(rows[0])
    named_features = (
        tuple(game.named_features()) if measured and isinstance(game, HasNamedFeatures) else ()
    )
    return PositionEncoding(view, size, _vocabulary(game, seed), named_features, columns)


def _vocabulary(game: NotatedGame[Any], seed: int) -> tuple[str, ...]:
    random, found = Random(seed), set[str]()
    for number in range(VOCABULARY_GAMES):
        before, played = len(found), 0
        while played < VOCABULARY_GAME_PLIES and game.outcome() is None:
            moves = list(game.moves())
            if game.turn != CHANCE:
                found.update(map(game.text, moves))
            game.play(random.choice(moves))
            played += 1
        for _ in range(played):
            game.undo()
        if len(found) > MAX_VOCABULARY or (number > VOCABULARY_GAMES // 4 and len(found) == before):
            break
    return tuple(sorted(found)[:MAX_VOCABULARY])


def _float16_bytes(game: Any, what: str, numbers: Any) -> bytes:
    """Write numbers in 16 bits; ValueError if one is none, or too large."""
    with np.errstate(over="ignore"):
        halves = np.asarray(numbers, np.float16)
    if not np.isfinite(halves).all():
        name = type(game).__name__
        raise ValueError(f"{what} of {name} must be numbers from -65504 to 65504: scale them down")
    return halves.tobytes()


def _hashed_features(text: str, turn: int) -> bytes:
    """Return BUCKETS marks: what stands where, and who is to move, decides which are set."""
    marks = bytearray(HASH_BUCKETS)
    for row, line in enumerate(text.split("\n")):
        for column, sign in enumerate(line):
            if not sign.isspace():
                marks[crc32(f"{turn},{row},{column},{sign}".encode()) % HASH_BUCKETS] = 1
    return bytes(marks)
