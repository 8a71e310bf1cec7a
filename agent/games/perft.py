"""Counting a game's tree and positions, to prove that its rules are right."""

from typing import TypeVar

from agent.game import Game

Move = TypeVar("Move")


def perft(game: Game[Move], depth: int) -> int:
    """Return the number of ways to play `depth` moves; games that end earlier are not counted."""
    if depth == 0:
        return 1
    count = 0
    for move in game.moves():
        game.play(move)
        count += perft(game, depth - 1)
        game.undo()
    return count


def count_positions(game: Game[Move], plies: int) -> list[int]:
    """Return how many different positions there are after 0, 1, ... `plies` moves."""
    paths: list[tuple[Move, ...]] = [()]
    counts = [1]
    for _ in range(plies):
        found: dict[object, tuple[Move, ...]] = {}
        for path in paths:
            for move in path:
                game.play(move)
            for move in list(game.moves()):
                game.play(move)
                found.setdefault(game.key(), (*path, move))
                game.undo()
            for _ in path:
                game.undo()
        paths = list(found.values())
        counts.append(len(paths))
    return counts
