"""The rules that games are checked by; the `chess` package's for chess.

The runner knows a game by the members of Chess alone, so that another game's referee can take
its place.
"""

from dataclasses import dataclass
from enum import StrEnum

import chess

from tournament.openings import Opening


class Termination(StrEnum):
    """Why a game ended. The words are those of the ledger."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    MATERIAL = "insufficient material"
    REPETITION = "threefold repetition"
    FIFTY_MOVES = "fifty-move rule"
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


class Chess:
    """One game of chess, or Chess960, as its referee sees it.

    moves: all moves from the position `start`, the opening's too, as UCI text.
    """

    def __init__(self, opening: Opening, *, chess960: bool = False) -> None:
        """Set the opening up; an illegal move in it raises ValueError."""
        self.board = chess.Board(opening.fen, chess960=chess960)
        self.start = self.board.fen()
        self.moves: list[str] = []
        for move in opening.moves:
            self.play(move)

    @property
    def turn(self) -> int:
        """The side to move: 0 is White."""
        return WHITE if self.board.turn == chess.WHITE else BLACK

    @property
    def position(self) -> str:
        """The position as text."""
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
