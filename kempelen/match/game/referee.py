"""Who sees to the rules of a game: what a referee is, and the one of chess.

The runner knows a game by its Referee alone. Chess has the `chess` package's rules, every other
game its own, in kempelen.match.game.game_referee.
"""

from collections.abc import Sequence
from typing import Protocol

import chess

from agent.limits import Score
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import BLACK, WHITE, GameResult, Termination, draw, win
from openings.start_positions import StartPosition as Opening


class Referee(Protocol):
    """One game as it is refereed: by its rules, from its opening on.

    start: the position that the moves go on from, "" where it is always the same. moves: all
    moves since, the opening's too, as text; movers: who made each, by number, 0 for who moves
    first in the game.
    """

    start: str
    moves: list[str]
    movers: list[int]

    @property
    def turn(self) -> int:
        """The side to move: 0 is White."""

    @property
    def mover(self) -> int:
        """The player to move, by number."""

    @property
    def position(self) -> str:
        """The position as text."""

    def play(self, text: str) -> tuple[str, str]:
        """Make a move; return its text and its notation for people. ValueError if illegal."""

    def game_result(self) -> GameResult | None:
        """Return how the game has ended by the rules, or None while it goes on."""

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return the verdict that a rule of the adjudicator gives to the position, or None.

        scores, first: as Adjudicator.judge takes them.
        """


class ChessReferee:
    """One game of chess, or Chess960, as its referee sees it; moves are UCI text."""

    def __init__(self, opening: Opening, *, chess960: bool = False) -> None:
        """Set the opening up; an illegal move in it raises ValueError."""
        self.board = chess.Board(opening.fen, chess960=chess960)
        self.start = self.board.fen()
        self.moves: list[str] = []
        self.movers: list[int] = []
        for move in opening.moves:
            self.play(move)

    @property
    def turn(self) -> int:
        """The side to move: 0 is White."""
        return WHITE if self.board.turn == chess.WHITE else BLACK

    @property
    def mover(self) -> int:
        """The player to move, by number: White's is 0."""
        return self.turn

    @property
    def position(self) -> str:
        """The position as FEN."""
        return self.board.fen()

    def play(self, text: str) -> tuple[str, str]:
        """Make a move and return its text and its notation for people (SAN).

        Upper case is read as lower case; anything else that is no legal move raises ValueError.
        """
        move = self.board.parse_uci(text.lower())
        if not move:
            raise ValueError(f"null move {text}")
        san = self.board.san(move)
        uci = self.board.uci(move)
        self.movers.append(self.mover)
        self.board.push(move)
        self.moves.append(uci)
        return uci, san

    def game_result(self) -> GameResult | None:
        """Return how the game has ended by the rules, or None while it goes on."""
        board = self.board
        if board.is_checkmate():
            return win(1 - self.turn, Termination.CHECKMATE)
        if board.is_insufficient_material():
            return draw(Termination.MATERIAL)
        if not any(board.generate_legal_moves()):
            return draw(Termination.STALEMATE)
        if board.is_repetition(3):
            return draw(Termination.REPETITION)
        if board.halfmove_clock >= 100:
            return draw(Termination.FIFTY_MOVES)
        return None

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return the verdict that a rule gives to the position, or None."""
        return adjudicator.adjudicate(self.board, scores, first=first)
