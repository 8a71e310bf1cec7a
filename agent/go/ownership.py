"""Whose each vertex will be, by how the playouts of some boards ended."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from agent.games.go import Go
from agent.games.life import Statuses, judged
from agent.games.stones import BLACK, WHITE
from agent.go.records import CELLS, NOWHERE
from agent.go.rules import StoneBoard

# A vertex is settled that is one side's in so much of all playouts, from 0 to 1.
SETTLED = 0.9


class Ownership:
    """What playouts say of each vertex of a position: from -1, White's, to 1, Black's."""

    def __init__(self, boards: Iterable[StoneBoard]) -> None:
        self._boards = boards
        self._game, self._by_moves = Go(), False

    def begin(self, game: Go, *, moves: bool = False) -> None:
        """Forget what was said of another position. moves: keep it apart by the first move too."""
        self._game, self._by_moves = game, moves
        for board in self._boards:
            board.note_owners(moves)
            board.worker.owned[:] = 0
            board.worker.finished = 0
            board.worker.points = 0.0

    def shares(self) -> npt.NDArray[np.float64]:
        """Return whose each vertex is, by its number."""
        total, playouts = np.zeros(CELLS), 0
        for board in self._boards:
            total += np.asarray(board.worker.owned, np.float64)
            playouts += int(board.worker.finished)
        return total / max(playouts, 1)

    def shown(self) -> tuple[float, ...]:
        """Return the same for the mover, of the board's vertices alone, rows from above."""
        return self._for_mover(self.shares())

    def shown_after(self, move: int) -> tuple[float, ...] | None:
        """Return the same of the playouts that began with a move of the kernel's.

        None if there is none, or if they are not kept apart.
        """
        if not self._by_moves:
            return None
        total = np.zeros(CELLS)
        for board in self._boards:
            total += board.owned_after[move]
        playouts = total[NOWHERE]
        return self._for_mover(total / playouts) if playouts else None

    def _for_mover(self, shares: npt.NDArray[np.float64]) -> tuple[float, ...]:
        shape = self._game.stones.shape
        sign = -1.0 if self._game.turn else 1.0
        return tuple(
            round(sign * float(shares[shape.vertex(column, row)]), 4)
            for row in reversed(range(shape.height))
            for column in range(shape.width)
        )

    def statuses(self) -> Statuses:
        """Return every chain, as its vertices, with its status."""
        board, shares = self._game.stones.board, self.shares()
        signs = [{BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in board]
        return judged(self._game, [(1 + sign * shares[at]) / 2 for at, sign in enumerate(signs)])

    def settled(self) -> bool:
        """Tell whether it is known of each vertex whose it will be."""
        shares = self.shares()
        return all(abs(shares[vertex]) >= SETTLED for vertex in self._game.stones.shape.vertices)

    def sure_points(self) -> float:
        """Return the points that the mover wins by if all that is not settled is the other's."""
        game, sign = self._game, -1.0 if self._game.turn else 1.0
        shares = sign * self.shares()
        vertices = game.stones.shape.vertices
        mine = sum(shares[vertex] >= SETTLED for vertex in vertices)
        return float(mine - (len(vertices) - mine) - sign * game.komi)
