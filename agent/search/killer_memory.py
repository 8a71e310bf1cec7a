"""The permanent killer memory: which move refuted which position, kept from game to game.

Source: 'Fundamentos de IA 10: Estrategia de juego', where the state is stored with the operator
that did the harm, so that when it comes again it is known at once.
"""

import json
from collections.abc import Hashable, Iterator, MutableMapping
from os import PathLike, replace
from pathlib import Path
from typing import Any, TypeVar

from agent.border.files import read_text

Move = TypeVar("Move")

LARGEST_FILE = 256 << 20  # a position and its move take a hundred bytes or two


class KillerMemory(MutableMapping[Hashable, Move]):
    """Killer moves by the keys of positions, for `Ordering(refutations=...)`.

    size: the most positions kept; the one that was stored longest ago goes first. file: where
    `keep` writes it.
    """

    def __init__(self, size: int = 100_000, file: str | PathLike[str] | None = None) -> None:
        if size < 1:
            raise ValueError(f"a memory of {size} positions holds nothing; use 1 or more")
        self._size = size
        self._file = file
        self._moves: dict[Hashable, Move] = {}

    def __getitem__(self, key: Hashable) -> Move:
        return self._moves[key]

    def __setitem__(self, key: Hashable, move: Move) -> None:
        self._moves.pop(key, None)
        self._moves[key] = move
        if len(self._moves) > self._size:
            del self._moves[next(iter(self._moves))]

    def __delitem__(self, key: Hashable) -> None:
        del self._moves[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._moves)

    def __len__(self) -> int:
        return len(self._moves)

    @classmethod
    def kept_in(cls, path: str | PathLike[str]) -> "KillerMemory[Any]":
        """Return the memory that a file keeps, or will keep; ValueError if it is something else."""
        memory = cls.read(path) if Path(path).exists() else cls()
        memory._file = path
        return memory

    def keep(self) -> None:
        """Write the memory to its file, if it has one, as `write` does."""
        if self._file is not None:
            self.write(self._file)

    def write(self, path: str | PathLike[str]) -> None:
        """Keep the memory in a file, which is replaced as a whole; ValueError if it cannot be.

        It can be where keys and moves are made of numbers, words and tuples, or are chess moves.
        """
        try:
            text = json.dumps(list(self._moves.items()), default=_as_object)
        except TypeError as error:
            raise ValueError(f"these killer moves cannot be kept in {path}: {error}") from None
        file = Path(path)
        unfinished = file.with_name(f"{file.name}.new")
        unfinished.write_text(text, encoding="utf-8")
        replace(unfinished, file)

    @classmethod
    def read(cls, path: str | PathLike[str], size: int = 100_000) -> "KillerMemory[Any]":
        """Return the memory that a file keeps; ValueError, naming the file, if it keeps none."""
        memory = cls(size)
        try:
            entries = json.loads(read_text(path, LARGEST_FILE), object_hook=_from_object)
            for key, move in entries:
                memory[_hashable(key)] = _hashable(move)
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(f"{path} holds no killer moves: {error}") from None
        return memory


def _as_object(value: Any) -> dict[str, str]:
    if hasattr(value, "uci"):
        return {"uci": value.uci()}
    raise TypeError(f"{value!r} is neither number, word nor tuple")


def _from_object(value: dict[str, str]) -> Any:
    import chess

    return chess.Move.from_uci(value["uci"])


def _hashable(value: Any) -> Any:
    """Make the tuples of a key or move again, which JSON wrote as lists."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
