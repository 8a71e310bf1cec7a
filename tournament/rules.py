"""The rules that games are checked by: what a referee is, and the one of chess.

The runner knows a game by its Referee alone. Chess has the `chess` package's rules, every other
game its own, in tournament.board_game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import chess

from agent.limits import Score
from openings.starts import Start as Opening

if TYPE_CHECKING:
    from tournament.adjudication import Adjudicator


class Termination(StrEnum):
    """Why a game ended. The words are those of the ledger."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    MATERIAL = "insufficient material"
    REPETITION = "threefold repetition"
    FIFTY_MOVES = "fifty-move rule"
    RULES = "end of the game"
    DRAW_ADJUDICATION = "draw by adjudication"
    RESIGN_ADJUDICATION = "win by adjudication"
    TABLES = "endgame tables"
    RESIGNATION = "resignation"
    MAX_MOVES = "maximum number of moves"
    TIME = "time forfeit"
    ILLEGAL_MOVE = "illegal move"
    NO_MOVE = "no move"
    CRASH = "engine died"
    HUNG = "engine hung"
    NOT_STARTED = "engine did not start"
    FAILED = "engine failed"
    WORKER_LOST = "worker lost"

    @property
    def tag(self) -> str:
        """The value of PGN's Termination tag."""
        return _TAGS.get(self, "normal")


_TAGS = {
    Termination.DRAW_ADJUDICATION: "adjudication",
    Termination.RESIGN_ADJUDICATION: "adjudication",
    Termination.TABLES: "adjudication",
    Termination.MAX_MOVES: "adjudication",
    Termination.TIME: "time forfeit",
    Termination.ILLEGAL_MOVE: "rules infraction",
    Termination.NO_MOVE: "rules infraction",
    Termination.CRASH: "abandoned",
    Termination.HUNG: "abandoned",
    Termination.NOT_STARTED: "abandoned",
    Termination.FAILED: "abandoned",
    Termination.WORKER_LOST: "abandoned",
}

WHITE, BLACK = 0, 1


@dataclass(frozen=True, slots=True)
class Ending:
    """A game's result (1-0, 0-1, 1/2-1/2, or * where none can be told) and its reason."""

    result: str
    termination: Termination
    detail: str = ""


def win(side: int, termination: Termination, detail: str = "") -> Ending:
    """Return the ending in which `side` (0 is White) wins."""
    return Ending("1-0" if side == WHITE else "0-1", termination, detail)


def draw(termination: Termination, detail: str = "") -> Ending:
    """Return an ending in a draw."""
    return Ending("1/2-1/2", termination, detail)


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

    def ending(self) -> Ending | None:
        """Return how the game has ended by the rules, or None while it goes on."""

    def adjudicate(
        self, adjudicator: "Adjudicator", scores: Sequence[Score | None], *, first: int
    ) -> Ending | None:
        """Return the ending that a rule of the adjudicator gives to the position, or None.

        scores, first: as Adjudicator.judge takes them.
        """


class Chess:
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

    def ending(self) -> Ending | None:
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
        self, adjudicator: "Adjudicator", scores: Sequence[Score | None], *, first: int
    ) -> Ending | None:
        """Return the ending that a rule gives to the position, or None."""
        return adjudicator.judge(self.board, scores, first=first)
