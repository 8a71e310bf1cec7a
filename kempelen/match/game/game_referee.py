"""Enforce the rules of games other than chess, and read or generate their openings.

Player 0 moves first and is Black, as in Go and GTP. The result 1-0 means that White won. Go is
scored by area after two passes, and stones that are dead in random playouts are removed first.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move
from agent.games.chain_status import dead_stones
from agent.games.chance import draw_event
from agent.games.game_history import MAX_PLIES, GameHistory
from agent.games.go import Go
from agent.io.user_code import describe
from agent.limits import Score
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import BLACK, WHITE, GameResult, Termination, draw, win
from openings.start_positions import StartPosition as Opening
from protocols.gtp.board import score_text

ATTEMPTS = 1000


class GameReferee:
    """The referee of one game, which also draws chance events, such as dice rolls.

    `moves` contains all moves and chance events in the notation of the game, including the opening.
    `movers` contains a player number for each. A chance event has the number of the player who
    moved before it.
    """

    # Empty, because these games always begin at the same position.
    start = ""

    def __init__(self, settings: GameSettings, opening: Opening, seed: str) -> None:
        """Play the opening. `seed` determines the chance events.

        Raise ValueError if the opening contains an illegal move. `play` and `game_result` raise
        GameFailedError if the code of the game fails.
        """
        self._settings = settings
        self._history = GameHistory(new_game(settings))
        self._game = self._history.game
        self.moves, self.movers = self._history.moves, self._history.movers
        self._random = Random(seed)
        for text in opening.moves:
            self._history.play(text)
        self._play_chance_moves()

    @property
    def mover(self) -> int:
        return self._game.turn

    @property
    def turn(self) -> int:
        return side_of_player(self._game.turn)

    @property
    def position(self) -> str:
        return str(self._game)

    def play(self, text: str) -> tuple[str, str]:
        """Make a move, and return its text twice because games have only one notation."""
        with _wrap_errors(self._settings):
            written = self._history.play(text)
            self._play_chance_moves()
        return written, written

    def game_result(self) -> GameResult | None:
        with _wrap_errors(self._settings):
            outcome = self._game.outcome()
        if outcome is None:
            if len(self.moves) < MAX_PLIES:
                return None
            return draw(Termination.MAX_MOVES, f"{MAX_PLIES} plies")
        if isinstance(self._game, Go):
            outcome = self._game.score(dead_stones(self._game))
        detail = score_text(outcome) if abs(outcome) not in (0, 1) else ""
        if outcome == 0:
            return draw(Termination.RULES)
        return win(BLACK if outcome > 0 else WHITE, Termination.RULES, detail)

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return a draw if the limit on the number of moves is reached, otherwise None."""
        return adjudicator.adjudicate_length(1 + len(self.moves) // 2)

    def _play_chance_moves(self) -> None:
        while self._game.turn == CHANCE:
            self._history.push(draw_event(self._game, self._random.random()))  # type: ignore[arg-type]


class GameFailedError(Exception):
    """Raised if the code of a game raises an exception. The message names the game."""


@contextmanager
def _wrap_errors(settings: GameSettings) -> Iterator[None]:
    """Convert the game's exceptions to GameFailedError, except ValueError for an illegal move."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise GameFailedError(f"game {settings}: {describe(error)}") from error


def side_of_player(player: int) -> int:
    """Return the side of a player. Player 0 is Black, and side 0 is White."""
    return BLACK if player == 0 else WHITE


def random_opening(settings: GameSettings, plies: int, seed: str) -> Opening:
    """Return `plies` random moves that do not end the game, without avoidable passes.

    Raise SettingsError after 1000 failed attempts.
    """
    random = Random(seed)
    for _ in range(ATTEMPTS):
        game = new_game(settings)
        with _wrap_errors(settings):
            moves = [_play_at_random(game, random) for _ in range(plies) if game.outcome() is None]
            if game.outcome() is None:
                return Opening("", tuple(moves))
    raise SettingsError(f"game {settings}: {plies} random plies end the game (reduce --plies)")


def read_openings(settings: GameSettings, text: str, name: str) -> Iterator[Opening]:
    """Yield the openings in a text file, one move sequence per line. `#` starts a comment.

    Raise SettingsError, which names the line, if a move is illegal or the game is already over.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        moves = line.partition("#")[0].split()
        if not moves:
            continue
        game = new_game(settings)
        try:
            for move in moves:
                game.play(parse_move(game, move))
        except ValueError as error:
            raise SettingsError(f"{name}, line {number}: {error}") from None
        if game.outcome() is not None:
            raise SettingsError(f"{name}, line {number}: the game is already over")
        yield Opening("", tuple(moves))


def _play_at_random(game: NotatedGame[Any], random: Random) -> str:
    move: Any
    if game.turn == CHANCE:
        move = draw_event(game, random.random())  # type: ignore[arg-type]
    else:
        moves = list(game.moves())
        move = random.choice([m for m in moves if game.text(m) != "pass"] or moves)
    text = game.text(move)
    game.play(move)
    return text
