"""Text records of all positions in a game, for readers and for regression tests."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from agent.game import CHANCE, NotatedGame, SupportsPlayouts, parse_move


def random_game(game: NotatedGame[Any], random: Random) -> list[str]:
    """Return the moves of a random game from the current position, as text."""
    played: list[str] = []
    if isinstance(game, SupportsPlayouts):
        for _, move in game.playout(random)[1]:
            played.append(game.text(move))
            game.play(move)
    while moves := list(game.moves()):
        move = random.choice(moves)
        played.append(game.text(move))
        game.play(move)
    for _ in played:
        game.undo()
    return played


def playthrough(
    game: NotatedGame[Any], evaluate: Callable[[Any], float], moves: Sequence[str]
) -> str:
    """Return the board, key, turn, evaluation and legal moves of each position as text."""
    blocks = [f"moves: {' '.join(moves)}"]
    for text in moves:
        blocks.append(_position(game, evaluate))
        game.play(parse_move(game, text))
    blocks.append(_position(game, evaluate))
    for _ in moves:
        game.undo()
    return "\n\n".join(blocks) + "\n"


def _position(game: NotatedGame[Any], evaluate: Callable[[Any], float]) -> str:
    lines = [str(game), f"key: {game.key()!r}", f"turn: {game.turn}"]
    if game.turn != CHANCE:
        lines.append(f"evaluation: {evaluate(game):z.6g}")
    outcome = game.outcome()
    if outcome is None:
        lines.append(f"legal: {' '.join(game.text(move) for move in game.moves())}")
    else:
        lines.append(f"outcome: {outcome:zg}")
    return "\n".join(lines)
