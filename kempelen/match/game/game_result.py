"""Game results and the reasons why games end."""

from dataclasses import dataclass
from enum import StrEnum


class Termination(StrEnum):
    """The reason why a game ended. The values are stored in ledgers and must not change."""

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
        """The value for the PGN tag Termination."""
        return _TAGS.get(self, "normal")

    @property
    def is_forfeit(self) -> bool:
        """Whether a player failed, for example by a crash, an illegal move or a loss on time."""
        return self.tag not in ("normal", "adjudication")


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
class GameResult:
    """The PGN result of a game (`*` for a game without a result) and the reason for it."""

    result: str
    termination: Termination
    detail: str = ""


def win(side: int, termination: Termination, detail: str = "") -> GameResult:
    """Return a win for `side`, where 0 is White."""
    return GameResult("1-0" if side == WHITE else "0-1", termination, detail)


def draw(termination: Termination, detail: str = "") -> GameResult:
    return GameResult("1/2-1/2", termination, detail)
