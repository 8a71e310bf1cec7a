"""Enforce the rules of a game. The result 1-0 means that White won."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import chess

from agent.game import CHANCE, NotatedGame
from agent.games.chain_status import dead_stones
from agent.games.fen import board_from_fen
from agent.games.game_state import MAX_PLIES, GameState
from agent.games.go import Go
from agent.games.plain_chess import PlainChess
from agent.games.variants import STANDARD_RULES, ChessRules, is_standard, variant_outcome
from agent.io.user_code import describe
from agent.limits import Info, Mate, Score
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import BLACK, WHITE, GameResult, Termination, draw, win
from openings.start_positions import StartPosition as Opening
from protocols.gtp.board import score_text


class Referee(GameState):
    """The referee of one game, which also draws chance events, such as dice rolls.

    Go is scored by area after two passes, and stones that are dead in random playouts are removed
    first.
    """

    start = ""  # the start position, or "" if the game has only one
    white = 1  # the player number of White: player 0 moves first and is Black, as in Go and GTP

    def __init__(self, game: NotatedGame[Any], opening: Opening, seed: str = "") -> None:
        """Play the opening. `seed` determines the chance events.

        Raise ValueError if the opening contains an illegal move.
        """
        super().__init__(game)
        self._random = Random(seed)
        self._chance_events = 0
        for text in opening.moves:
            super().play(text)
        self._play_chance_events()

    @property
    def turn(self) -> int:
        """The side to move, where 0 is White."""
        return WHITE if self.mover == self.white else BLACK

    @property
    def shown_moves(self) -> list[str]:
        """The moves in the notation for users."""
        return self.moves

    def play(self, text: str) -> str:
        """Make a move and all chance events after it. Raise ValueError if the move is illegal."""
        written = super().play(text)
        self._play_chance_events()
        return written

    def push(self, move: Any, player: int | None = None) -> None:
        self._chance_events += self.mover == CHANCE
        super().push(move, player)

    def game_result(self) -> GameResult | None:
        """Return the result by the rules, or None while the game continues."""
        game = self.game
        if isinstance(game, Go):
            return result_by_rules(self, lambda: game.score(dead_stones(game)))
        return result_by_rules(self)

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return the adjudicated result or None. See Adjudicator.adjudicate for the arguments."""
        return adjudicator.adjudicate_length(len(self.moves) - self._chance_events)

    def _play_chance_events(self) -> None:
        while self.mover == CHANCE:
            self.play_chance_event(self._sample())

    def _sample(self) -> float:
        return self._random.random()


class RefereedChess(PlainChess):
    def text(self, move: chess.Move) -> str:
        return self.board.uci(move)

    def __str__(self) -> str:
        return self.board.fen()


class ChessReferee(Referee):
    """The referee of one game of chess or of a variant. Moves are in UCI notation."""

    game: RefereedChess
    white = 0  # even if Black moves first

    def __init__(self, opening: Opening, rules: ChessRules = STANDARD_RULES) -> None:
        board = board_from_fen(opening.fen, rules)
        self.start = board.fen()
        self._sans: list[str] = []
        super().__init__(RefereedChess(board), opening)

    @property
    def board(self) -> chess.Board:
        return self.game.board

    @property
    def shown_moves(self) -> list[str]:
        return self._sans

    def parse(self, text: str) -> chess.Move:
        """Parse a UCI move in lower or upper case."""
        piece, drop, square = text.partition("@")
        move = self.board.parse_uci(
            f"{piece.upper()}{drop}{square.lower()}" if drop else text.lower()
        )
        if not move:
            raise ValueError(f"null move {text}")
        return move

    def push(self, move: chess.Move, player: int | None = None) -> None:
        san = self.board.san(move)
        super().push(move, player)
        self._sans.append(san)

    def undo(self) -> None:
        super().undo()
        self._sans.pop()

    def game_result(self) -> GameResult | None:
        return chess_result(self.board)

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        return adjudicator.adjudicate(self.board, scores, first=first, plies=len(self.moves))


def mate_pv_problem(board: chess.Board, info: Info[str] | None) -> str:
    """Return why the principal variation of a mate score does not show that mate, or ""."""
    if info is None or not isinstance(info.score, Mate) or info.bound:
        return ""
    moves = info.score.moves
    plies = 2 * moves - 1 if moves > 0 else -2 * moves
    if len(info.pv) != plies and is_standard(board):  # variants can end with either side to move
        return f"mate {moves}: the PV has {len(info.pv)} plies (expected {plies})"
    board = board.copy(stack=False)
    for text in info.pv:
        try:
            board.push_uci(text)
        except ValueError:
            return f"mate {moves}: illegal move {text[:20]!r} in the PV {' '.join(info.pv)}"
    is_over = board.is_checkmate() or variant_outcome(board) is not None
    return "" if is_over else f"mate {moves}: the PV does not end in checkmate"


def chess_result(board: chess.Board) -> GameResult | None:
    """Return the result by the rules of chess or the variant, or None while the game continues."""
    if (outcome := variant_outcome(board)) is not None:
        white_wins = (outcome > 0) == board.turn
        return win(BLACK - white_wins, Termination.RULES) if outcome else draw(Termination.RULES)
    if board.is_checkmate():
        return win(BLACK if board.turn == chess.WHITE else WHITE, Termination.CHECKMATE)
    if board.is_insufficient_material():
        return draw(Termination.MATERIAL)
    if not any(board.generate_legal_moves()):
        return draw(Termination.STALEMATE)
    if board.is_repetition(3):
        return draw(Termination.REPETITION)
    if board.is_fifty_moves():
        return draw(Termination.FIFTY_MOVES)
    return None


def result_by_rules(
    state: GameState, score: Callable[[], float] | None = None
) -> GameResult | None:
    """Return the result of a game other than chess, or None while the game continues.

    `score` returns the final points of player 0. By default, the outcome of the game is used.
    """
    points = state.game.outcome()
    if points is None:
        return draw(Termination.MAX_MOVES, f"{MAX_PLIES} plies") if state.too_long else None
    if score is not None:
        points = score()
    if points == 0:
        return draw(Termination.RULES)
    detail = score_text(points) if abs(points) != 1 else ""
    return win(BLACK if points > 0 else WHITE, Termination.RULES, detail)


class GameFailedError(Exception):
    """Raised if the code of a game raises an exception. The message names the game."""


@contextmanager
def wrap_errors(settings: GameSettings) -> Iterator[None]:
    """Convert the game's exceptions to GameFailedError, except ValueError for an illegal move."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise GameFailedError(f"game {settings}: {describe(error)}") from error
