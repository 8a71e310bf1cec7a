"""A game in progress, whose moves are text."""

from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move
from agent.games.chance import draw_event

# Games are abandoned after this number of plies.
MAX_PLIES = 4000


class GameState:
    """A game in progress, with its moves and chance events as text.

    `moves` contains all moves and chance events in the notation of the game. `movers` contains the
    player for each entry in `moves`. A chance event belongs to the player who moved before it.
    """

    def __init__(self, game: NotatedGame[Any]) -> None:
        """Record `game` from its initial position. Only this object may play moves in it."""
        self.restart(game)

    def restart(self, game: NotatedGame[Any]) -> None:
        """Replace the game by `game`, and clear the recorded moves."""
        self.game = game
        self.moves: list[str] = []
        self.movers: list[int] = []

    @property
    def mover(self) -> int:
        """The player to move, or CHANCE."""
        return self.game.turn

    @property
    def too_long(self) -> bool:
        """Whether the game has reached its maximum length."""
        return len(self.moves) >= MAX_PLIES

    def legal_moves(self) -> list[str]:
        """Return the legal moves, or [] if the game is over."""
        return [self.game.text(move) for move in self.game.moves()]

    def parse(self, text: str) -> Any:
        """Return the move or chance event with this notation. Raise ValueError if it is illegal."""
        return parse_move(self.game, text)

    def play(self, text: str) -> str:
        """Play a move or chance event and return its notation.

        Raise ValueError if it is illegal.
        """
        self.push(self.parse(text))
        return self.moves[-1]

    def push(self, move: Any, player: int | None = None) -> None:
        """Play a legal move or chance event. `player` is by default the player to move."""
        if player is None and self.mover != CHANCE:
            player = self.mover
        elif player is None:
            player = self.movers[-1] if self.movers else 0
        text = self.game.text(move)
        self.game.play(move)
        self.moves.append(text)
        self.movers.append(player)

    def play_chance_event(self, sample: float) -> None:
        """Play the event selected by `sample`, a uniform random number from [0, 1)."""
        self.push(draw_event(self.game, sample))  # type: ignore[arg-type]

    def undo(self) -> None:
        """Undo the last move or chance event."""
        self.game.undo()
        self.moves.pop()
        self.movers.pop()
