"""Count the move sequences and positions of a game, to verify move generation."""

from typing import TypeVar

from agent.game import Game

Move = TypeVar("Move")


def perft(game: Game[Move], depth: int) -> int:
    """Return the number of move sequences with exactly `depth` moves."""
    if depth == 0:
        return 1
    count = 0
    for move in game.moves():
        game.play(move)
        count += perft(game, depth - 1)
        game.undo()
    return count


def count_positions(game: Game[Move], plies: int) -> list[int]:
    """Return the numbers of distinct positions after 0, 1, ..., `plies` plies."""
    paths: list[tuple[Move, ...]] = [()]
    counts = [1]
    for _ in range(plies):
        path_by_key: dict[object, tuple[Move, ...]] = {}
        for path in paths:
            for move in path:
                game.play(move)
            for move in list(game.moves()):
                game.play(move)
                path_by_key.setdefault(game.key(), (*path, move))
                game.undo()
            for _ in path:
                game.undo()
        paths = list(path_by_key.values())
        counts.append(len(paths))
    return counts
