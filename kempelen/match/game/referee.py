"""The interface of referees, and the referee for chess. See game_referee for other games."""

from collections.abc import Sequence
from typing import Protocol

import chess

from agent.limits import Score
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import BLACK, WHITE, GameResult, Termination, draw, win
from openings.start_positions import StartPosition as Opening


class Referee(Protocol):
    """Enforces the rules of one game and keeps its state.

    `start` is the start position, or "" if the game has only one. `moves` includes the opening.
    `movers` contains the player number of each move, where player 0 moves first.
    """

    start: str
    moves: list[str]
    movers: list[int]

    @property
    def turn(self) -> int:
        """The side to move, where 0 is White."""

    @property
    def mover(self) -> int:
        """The number of the player to move."""

    @property
    def position(self) -> str:
        """The position as text."""

    def play(self, text: str) -> tuple[str, str]:
        """Make a move, and return it in protocol notation and in notation for users.

        Raise ValueError if the move is illegal.
        """

    def game_result(self) -> GameResult | None:
        """Return the result by the rules, or None while the game continues."""

    def adjudicate(
        self, adjudicator: Adjudicator, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return the adjudicated result or None. See Adjudicator.adjudicate for the arguments."""


class ChessReferee:
    """The referee of one game of chess or Chess960. Moves are in UCI notation."""

    def __init__(self, opening: Opening, *, chess960: bool = False) -> None:
        """Set up the opening. Raise ValueError if it contains an illegal move."""
        self.board = chess.Board(opening.fen, chess960=chess960)
        self.start = self.board.fen()
        self.moves: list[str] = []
        self.movers: list[int] = []
        for move in opening.moves:
            self.play(move)

    @property
    def turn(self) -> int:
        return WHITE if self.board.turn == chess.WHITE else BLACK

    @property
    def mover(self) -> int:
        """The number of the player to move. White is player 0, even if Black moves first."""
        return self.turn

    @property
    def position(self) -> str:
        return self.board.fen()

    def play(self, text: str) -> tuple[str, str]:
        """Make a UCI move in lower or upper case. Return it in UCI notation and in SAN."""
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
        return adjudicator.adjudicate(self.board, scores, first=first)
