"""The moves of a game as text, with the player of each move."""

from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move

# Games are abandoned after this number of plies.
MAX_PLIES = 4000


class GameHistory:
    """A game in progress that records its moves and chance events as text.

    `moves` contains their notation, and `movers` the player of each entry in `moves`. A chance
    event belongs to the player who moved before it. Only this object may play moves in `game`.
    """

    def __init__(self, game: NotatedGame[Any]) -> None:
        self.game = game
        self.moves: list[str] = []
        self.movers: list[int] = []

    def play(self, text: str) -> str:
        """Play a move or event, and return its notation. Raise ValueError if it is illegal."""
        move = parse_move(self.game, text)
        self.push(move)
        return self.moves[-1]

    def push(self, move: Any) -> None:
        """Play a legal move or chance event."""
        if self.game.turn != CHANCE:
            self.movers.append(self.game.turn)
        else:
            self.movers.append(self.movers[-1] if self.movers else 0)
        self.moves.append(self.game.text(move))
        self.game.play(move)
