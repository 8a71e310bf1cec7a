"""Whose each vertex will be, by how the playouts of some boards ended."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from agent.games.chain_status import Statuses, classify_chains
from agent.games.go import Go
from agent.games.stones import BLACK, WHITE
from agent.go.kernel_board import KernelBoard
from agent.go.records import BOARD_CELLS, NO_VERTEX

# A vertex is settled that is one side's in so much of all playouts, from 0 to 1.
SETTLED_SHARE = 0.9


class Ownership:
    """What playouts say of each vertex of a position: from -1, White's, to 1, Black's."""

    def __init__(self, boards: Iterable[KernelBoard]) -> None:
        self._boards = boards
        self._game, self._by_moves = Go(), False

    def reset(self, game: Go, *, moves: bool = False) -> None:
        """Forget what was said of another position. moves: keep it apart by the first move too."""
        self._game, self._by_moves = game, moves
        for board in self._boards:
            board.track_owners_by_move(moves)
            board.worker.owner_sums[:] = 0
            board.worker.playout_count = 0
            board.worker.score_sum = 0.0

    def mean_owners(self) -> npt.NDArray[np.float64]:
        """Return whose each vertex is, by its number."""
        total, playouts = np.zeros(BOARD_CELLS), 0
        for board in self._boards:
            total += np.asarray(board.worker.owner_sums, np.float64)
            playouts += int(board.worker.playout_count)
        return total / max(playouts, 1)

    def rows(self) -> tuple[float, ...]:
        """Return the same for the mover, of the board's vertices alone, rows from above."""
        return self._for_mover(self.mean_owners())

    def rows_after(self, move: int) -> tuple[float, ...] | None:
        """Return the same of the playouts that began with a move of the kernel's.

        None if there is none, or if they are not kept apart.
        """
        if not self._by_moves:
            return None
        total = np.zeros(BOARD_CELLS)
        for board in self._boards:
            total += board.owner_sums_by_move[move]
        playouts = total[NO_VERTEX]
        return self._for_mover(total / playouts) if playouts else None

    def _for_mover(self, shares: npt.NDArray[np.float64]) -> tuple[float, ...]:
        shape = self._game.stones.shape
        sign = -1.0 if self._game.turn else 1.0
        return tuple(
            round(sign * float(shares[shape.vertex(column, row)]), 4)
            for row in reversed(range(shape.height))
            for column in range(shape.width)
        )

    def chain_statuses(self) -> Statuses:
        """Return every chain, as its vertices, with its status."""
        board, shares = self._game.stones.board, self.mean_owners()
        signs = [{BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in board]
        return classify_chains(
            self._game, [(1 + sign * shares[at]) / 2 for at, sign in enumerate(signs)]
        )

    def is_settled(self) -> bool:
        """Tell whether it is known of each vertex whose it will be."""
        shares = self.mean_owners()
        return all(
            abs(shares[vertex]) >= SETTLED_SHARE for vertex in self._game.stones.shape.vertices
        )

    def secured_score(self) -> float:
        """Return the points that the mover wins by if all that is not settled is the other's."""
        game, sign = self._game, -1.0 if self._game.turn else 1.0
        shares = sign * self.mean_owners()
        vertices = game.stones.shape.vertices
        mine = sum(shares[vertex] >= SETTLED_SHARE for vertex in vertices)
        return float(mine - (len(vertices) - mine) - sign * game.komi)
