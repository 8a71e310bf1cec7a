"""Games other than chess: their referee, over the Game interface, and where they begin.

Player 0 of a game moves first and is Black, as in Go and over GTP; 1-0 is a win of White, as
everywhere. Go is scored by area, without the stones that look dead, when both have passed.
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
    """One game as its referee sees it; chance is played by the referee.

    moves: all moves and events from the start, the opening's too, in the game's notation.
    movers: who made each, by the number of the player; an event counts as of whoever brought
    it about.
    """

    # The position from which the moves go on: always the start of the game.
    start = ""

    def __init__(self, settings: GameSettings, opening: Opening, seed: str) -> None:
        """Set the opening up; an illegal move in it raises ValueError. seed: of chance.

        Here and later an error in the game's own code raises GameFailedError.
        """
        self._settings = settings
        self._course = GameHistory(new_game(settings))
        self._game = self._course.game
        self.moves, self.movers = self._course.moves, self._course.movers
        self._random = Random(seed)
        for text in opening.moves:
            self._course.play(text)
        self._play_chance_moves()

    @property
    def mover(self) -> int:
        """The player to move, by number: 0 moves first."""
        return self._game.turn

    @property
    def turn(self) -> int:
        """The side to move: 0 is White."""
        return side_of_player(self._game.turn)

    @property
    def position(self) -> str:
        """The board as text."""
        return str(self._game)

    def play(self, text: str) -> tuple[str, str]:
        """Make a move and return its text, twice; ValueError if it is illegal."""
        with _wrap_errors(self._settings):
            written = self._course.play(text)
            self._play_chance_moves()
        return written, written

    def game_result(self) -> GameResult | None:
        """Return how the game has ended by its rules, or None while it goes on."""
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
        """Return the verdict that a rule gives to the position, or None."""
        return adjudicator.adjudicate_length(1 + len(self.moves) // 2)

    def _play_chance_moves(self) -> None:
        while self._game.turn == CHANCE:
            self._course.push(draw_event(self._game, self._random.random()))  # type: ignore[arg-type]


class GameFailedError(Exception):
    """A game's own code failed; the message names the game and the error."""


@contextmanager
def _wrap_errors(settings: GameSettings) -> Iterator[None]:
    """Report errors of a game's code; a ValueError is what an illegal move raises."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise GameFailedError(f"game {settings}: {describe(error)}") from error


def side_of_player(player: int) -> int:
    """Return the side of a player by number: who moves first is Black."""
    return BLACK if player == 0 else WHITE


def random_opening(settings: GameSettings, plies: int, seed: str) -> Opening:
    """Return an opening of moves made at random, after which the game goes on.

    Nobody passes in it. Raises SettingsError if there is none.
    """
    random = Random(seed)
    for _ in range(ATTEMPTS):
        game = new_game(settings)
        with _wrap_errors(settings):
            moves = [_play_at_random(game, random) for _ in range(plies) if game.outcome() is None]
            if game.outcome() is None:
                return Opening("", tuple(moves))
    raise SettingsError(f"game {settings}: {plies} random plies end it; ask for fewer by --plies")


def read_openings(settings: GameSettings, text: str, name: str) -> Iterator[Opening]:
    """Generate the openings of a file: one a line, moves by spaces, # before a comment.

    Raises SettingsError, naming the line, for one that cannot be played or ends the game.
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
            raise SettingsError(f"{name}, line {number}: the game is over")
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
