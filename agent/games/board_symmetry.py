"""The symmetries of a board game, found by playing it: nobody needs to declare them.

A turn or reflection of the board is one of the game where games that are played at random, and the
same games turned or reflected, have the same legal moves, boards and ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.game import CHANCE, GridGame, NotatedGame
from agent.games.position_encoding import VOCABULARY_GAME_PLIES

Indices = npt.NDArray[np.int64]
# Games at random by which a symmetry is tried, and in which moves are found.
TRIAL_GAMES = 20


@dataclass(frozen=True, eq=False)
class BoardSymmetry:
    """Where a symmetry takes things from.

    squares: for each square, the one that comes there. moves: for each move of the vocabulary, the
    one that it is then.
    """

    squares: Indices
    moves: Indices


def find_symmetries(game: NotatedGame[Any], vocabulary: tuple[str, ...]) -> list[BoardSymmetry]:
    """Return the symmetries of a game at its start, the one that changes nothing first."""
    identity = np.arange(len(vocabulary) + 1)
    if not isinstance(game, GridGame) or game.turn == CHANCE:
        return [BoardSymmetry(np.arange(0), identity)]
    rows = game.grid()
    if len({len(row) for row in rows}) != 1:
        return [BoardSymmetry(np.arange(sum(map(len, rows))), identity)]
    board = np.arange(len(rows) * len(rows[0])).reshape(len(rows), -1)
    squares = _squares_of_moves(deepcopy(game), board)
    found = []
    for squares_from in _transformed_boards(board):
        to = np.empty_like(squares_from)
        to[squares_from] = np.arange(to.size)
        moves = _map_moves(squares, to, vocabulary)
        if moves is not None and _is_symmetry(game, squares_from, moves):
            numbers = {text: number for number, text in enumerate(vocabulary)}
            indices = identity.copy()
            for text, image in moves.items():
                if text in numbers and image in numbers:
                    indices[numbers[image]] = numbers[text]
            found.append(BoardSymmetry(squares_from, indices))
    return found


def _transformed_boards(board: Indices) -> Iterator[Indices]:
    """Generate what is on each square after every turn and reflection that keeps the shape."""
    for turns in range(4):
        for reflected in (False, True):
            other = np.rot90(board, turns)
            other = other[:, ::-1] if reflected else other
            if other.shape == board.shape:
                yield other.ravel()


def _squares_of_moves(game: Any, board: Indices) -> dict[str, frozenset[int]]:
    """Return which squares each move can fill, as games at random tell."""
    random, found = Random(0), dict[str, set[int]]()
    for _ in range(TRIAL_GAMES):
        played = 0
        while played < VOCABULARY_GAME_PLIES and game.outcome() is None:
            moves = list(game.moves())
            by_move = {move: game.text(move) for move in moves}
            for text in by_move.values():
                found.setdefault(text, set())
            for row, column in np.ndindex(*board.shape):
                move = game.move_at(row, column)
                if move in by_move:
                    found[by_move[move]].add(int(board[row, column]))
            game.play(random.choice(moves))
            played += 1
        for _ in range(played):
            game.undo()
    return {text: frozenset(squares) for text, squares in found.items()}


def _map_moves(
    squares: dict[str, frozenset[int]], to: Indices, vocabulary: tuple[str, ...]
) -> dict[str, str] | None:
    """Return which move each becomes; None if one would become none."""
    by_squares = {each: text for text, each in squares.items() if each}
    found = {}
    for text in vocabulary:
        own = squares.get(text, frozenset())
        image = by_squares.get(frozenset(int(to[square]) for square in own)) if own else text
        if image is None:
            return None
        found[text] = image
    return found


def _is_symmetry(game: Any, squares_from: Indices, moves: dict[str, str]) -> bool:
    """Tell whether games at random go alike in the image."""
    first, image, random = deepcopy(game), deepcopy(game), Random(1)
    for _ in range(TRIAL_GAMES):
        played = 0
        while True:
            signs, images = "".join(first.grid()), "".join(image.grid())
            if "".join(signs[square] for square in squares_from) != images:
                return False
            if first.outcome() != image.outcome() or first.turn != image.turn:
                return False
            if first.outcome() is not None or played == VOCABULARY_GAME_PLIES:
                break
            legal = {first.text(move): move for move in first.moves()}
            others = {image.text(move): move for move in image.moves()}
            if {moves.get(text) for text in legal} != set(others):
                return False
            text = random.choice(list(legal))
            first.play(legal[text])
            image.play(others[moves[text]])
            played += 1
        for _ in range(played):
            first.undo()
            image.undo()
    return True
