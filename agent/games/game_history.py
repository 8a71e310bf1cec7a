"""The course of a game: its moves and events as text, and who made each."""

from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move

# A game without an end is no longer played on after so many plies.
MAX_PLIES = 4000


class GameHistory:
    """A game that is played on by text.

    moves: all moves and events so far, in the game's notation. movers: who made each, by the
    number of the player; an event counts as of whoever brought it about.
    """

    def __init__(self, game: NotatedGame[Any]) -> None:
        """Begin with a game at its start, which is then this object's own."""
        self.game = game
        self.moves: list[str] = []
        self.movers: list[int] = []

    def play(self, text: str) -> str:
        """Make a move or let an event happen; return how it is written. ValueError if illegal."""
        move = parse_move(self.game, text)
        self.push(move)
        return self.moves[-1]

    def push(self, move: Any) -> None:
        """Make a legal move, or let an event happen."""
        if self.game.turn != CHANCE:
            self.movers.append(self.game.turn)
        else:
            self.movers.append(self.movers[-1] if self.movers else 0)
        self.moves.append(self.game.text(move))
        self.game.play(move)
