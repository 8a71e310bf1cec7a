"""Detect the symmetries of a board game by playing random games and their transformed copies."""

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
# Number of random games to play for finding moves and for testing each symmetry.
TRIAL_GAMES = 20


@dataclass(frozen=True, eq=False)
class BoardSymmetry:
    """A board symmetry, as two index arrays.

    `squares[i]` is the index of the square that is mapped to square i. `moves[i]` is the index of
    the move that is mapped to move i of the vocabulary.
    """

    squares: Indices
    moves: Indices


def find_symmetries(game: NotatedGame[Any], vocabulary: tuple[str, ...]) -> list[BoardSymmetry]:
    """Return the symmetries of a game in its initial position, starting with the identity.

    `vocabulary` contains the move texts that `BoardSymmetry.moves` refers to. The identity is the
    only result if the game has chance nodes, is not a `GridGame`, or has rows of unequal length.
    """
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
            index_of = {text: index for index, text in enumerate(vocabulary)}
            indices = identity.copy()
            for text, image in moves.items():
                if text in index_of and image in index_of:
                    indices[index_of[image]] = index_of[text]
            found.append(BoardSymmetry(squares_from, indices))
    return found


def _transformed_boards(board: Indices) -> Iterator[Indices]:
    for turns in range(4):
        for reflected in (False, True):
            transformed = np.rot90(board, turns)
            transformed = transformed[:, ::-1] if reflected else transformed
            if transformed.shape == board.shape:
                yield transformed.ravel()


def _squares_of_moves(game: Any, board: Indices) -> dict[str, frozenset[int]]:
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
    by_squares = {filled: text for text, filled in squares.items() if filled}
    images = {}
    for text in vocabulary:
        own = squares.get(text, frozenset())
        image = by_squares.get(frozenset(int(to[square]) for square in own)) if own else text
        if image is None:
            return None
        images[text] = image
    return images


def _is_symmetry(game: Any, squares_from: Indices, moves: dict[str, str]) -> bool:
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
