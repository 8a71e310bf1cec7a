"""Encoding of positions and moves as numbers, for machine learning in any game.

A position is stored as bytes, in the first of these formats that the game supports:

    features    the numbers in `features()`, as 16-bit floats (agent.game.HasFeatures)
    grid        the squares in `grid()`: side to move, opponent or empty (agent.game.GridGame)
    text        the printed board: each (character, index) pair, hashed to HASH_BUCKETS inputs

Further inputs are the player to move and, optionally, the named features
(`agent.game.HasNamedFeatures`). A move is encoded as its index in a vocabulary of move texts, which
is collected from random games. All moves outside the vocabulary share the last index.
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
from agent.io.message import Message

Floats = npt.NDArray[np.float32]
InputFormat = Literal["features", "grid", "text"]

HASH_BUCKETS = 512
# Number of random games from which the vocabulary is collected, and maximum plies per game.
VOCABULARY_GAMES, VOCABULARY_GAME_PLIES = 200, 400
# Largest finite 16-bit float.
MAX_FLOAT16 = 65504.0
MAX_VOCABULARY = 4096


@dataclass(frozen=True)
class PositionEncoding:
    """The encoding of the positions and moves of a game with its options.

    - `view`: the format of a stored position: "features", "grid" or "text".
    - `size`: the number of values of a position in this format.
    - `vocabulary`: the texts of the moves.
    - `named_features`: the names of the additional inputs.
    - `columns`: the width of the grid, or 0 if unknown.
    """

    view: InputFormat
    size: int
    vocabulary: tuple[str, ...]
    named_features: tuple[str, ...] = ()
    columns: int = 0
    _move_indices: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        indices = {text: index for index, text in enumerate(self.vocabulary)}
        object.__setattr__(self, "_move_indices", indices)

    @property
    def inputs(self) -> int:
        """The number of network inputs per position."""
        return (2 if self.view == "grid" else 1) * self.size + 1 + len(self.named_features)

    @property
    def max_input(self) -> float:
        """The largest possible value of a network input."""
        return MAX_FLOAT16 if self.view == "features" or self.named_features else 1.0

    @property
    def outputs(self) -> int:
        """The number of move outputs, including one for all moves outside the vocabulary."""
        return len(self.vocabulary) + 1

    def encode(self, game: Any) -> bytes:
        """Return a position as bytes. Raise ValueError if its size does not match the encoding."""
        turn = b"\1" if game.turn == 1 else b"\0"
        same_width = True
        if self.view == "grid":
            rows = game.grid()
            content = "".join(rows).encode()
            same_width = self.columns in (0, len(rows[0]))
        elif self.view == "features":
            content = _float16_bytes(game, "features", game.features())
        else:
            content = _hashed_features(str(game), game.turn)
        if len(content) != self._encoded_length - 1 or not same_width:
            raise ValueError(
                Message("size of {} differs from the trained size", type(game).__name__)
            )
        if not self.named_features:
            return content + turn
        return content + turn + _float16_bytes(game, "measures", [*game.named_features().values()])

    def to_inputs(self, positions: Sequence[bytes]) -> Floats:
        """Convert encoded positions to network inputs, one row per position."""
        rows = np.frombuffer(b"".join(positions), np.uint8).reshape(len(positions), -1)
        inputs = np.empty((len(positions), self.inputs), np.float32)
        turn = self._encoded_length - 1
        content, turn_input = rows[:, :turn], self.inputs - 1 - len(self.named_features)
        if self.view == "grid":
            inputs[:, : self.size] = content == ord("m")
            inputs[:, self.size : turn_input] = content == ord("t")
        elif self.view == "features":
            inputs[:, :turn_input] = np.ascontiguousarray(content).view(np.float16)
        else:
            inputs[:, :turn_input] = content
        inputs[:, turn_input] = rows[:, turn]
        if self.named_features:
            inputs[:, turn_input + 1 :] = np.ascontiguousarray(rows[:, turn + 1 :]).view(np.float16)
        return inputs

    def move_indices(self, game: Any, moves: Sequence[Any]) -> list[int]:
        """Return the vocabulary index of each move. Unknown moves share the last index."""
        indices, unknown = self._move_indices, len(self.vocabulary)
        return [indices.get(game.text(move), unknown) for move in moves]

    @property
    def _encoded_length(self) -> int:
        return (2 if self.view == "features" else 1) * self.size + 1

    def as_json(self) -> dict[str, Any]:
        """Return the encoding as JSON data."""
        return {
            "view": self.view,
            "size": self.size,
            "vocabulary": list(self.vocabulary),
            "measures": list(self.named_features),
            "columns": self.columns,
        }


def from_json(data: dict[str, Any]) -> PositionEncoding:
    """Decode the data of `as_json`. Raise ValueError, TypeError or KeyError if it is invalid."""
    view, size, vocabulary = data["view"], data["size"], data["vocabulary"]
    if view not in ("features", "grid", "text") or not 0 < int(size) <= 1 << 20:
        raise ValueError(Message("invalid view {!r} or size {!r}", view, size))
    named_features = tuple(map(str, data.get("measures", ())))
    columns = int(data.get("columns", 0))
    return PositionEncoding(view, int(size), tuple(map(str, vocabulary)), named_features, columns)


def encoding_for(
    game: NotatedGame[Any], seed: int = 0, *, measured: bool = False
) -> PositionEncoding:
    """Choose the encoding for a game. `measured` states whether to include the named features."""
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
    for index in range(VOCABULARY_GAMES):
        before, played = len(found), 0
        while played < VOCABULARY_GAME_PLIES and game.outcome() is None:
            moves = list(game.moves())
            if game.turn != CHANCE:
                found.update(map(game.text, moves))
            game.play(random.choice(moves))
            played += 1
        for _ in range(played):
            game.undo()
        if len(found) > MAX_VOCABULARY or (index > VOCABULARY_GAMES // 4 and len(found) == before):
            break
    return tuple(sorted(found)[:MAX_VOCABULARY])


def _float16_bytes(game: Any, label: str, numbers: Any) -> bytes:
    with np.errstate(over="ignore"):
        halves = np.asarray(numbers, np.float16)
    if not np.isfinite(halves).all():
        name = type(game).__name__
        raise ValueError(Message("{} of {} must be numbers from -65504 to 65504", label, name))
    return halves.tobytes()


def _hashed_features(text: str, turn: int) -> bytes:
    marks = bytearray(HASH_BUCKETS)
    for row, line in enumerate(text.split("\n")):
        for column, sign in enumerate(line):
            if not sign.isspace():
                marks[crc32(f"{turn},{row},{column},{sign}".encode()) % HASH_BUCKETS] = 1
    return bytes(marks)
