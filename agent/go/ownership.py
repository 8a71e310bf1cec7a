"""Ownership of the vertices at the end of playouts."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from agent.games.chain_status import Statuses, classify_chains
from agent.games.go import Go
from agent.games.stones import BLACK, WHITE
from agent.go.kernel_board import KernelBoard
from agent.go.playout import run_playouts
from agent.go.records import BOARD_CELLS, NO_VERTEX

# Owners of the vertices after playouts: 1 for Black, -1 for White. One row per playout, one column
# per vertex.
OwnerSamples = npt.NDArray[np.int8]

# A vertex is settled if its mean owner is at least this far from 0.
SETTLED_SHARE = 0.9


def sample_owners(game: Go, playouts: int, seed: int) -> OwnerSamples:
    """Return the owners after playouts, in which the players begin in turn."""
    board = KernelBoard()
    board.seed(seed)
    board.load(game)
    ends = np.zeros((playouts, BOARD_CELLS), np.int8)
    for i in range(playouts):
        board.worker.root.turn = WHITE if i % 2 else BLACK
        run_playouts(board.worker, 1, 1)
        ends[i] = np.asarray(board.worker.last_owners)
    return ends


class Ownership:
    """The mean final owner of each vertex over all playouts, from -1 (White) to 1 (Black)."""

    def __init__(self, boards: Iterable[KernelBoard]) -> None:
        self._boards = boards
        self._game, self._by_moves = Go(), False

    def reset(self, game: Go, *, moves: bool = False) -> None:
        """Clear the sums for a new position. `moves` enables separate sums for each first move."""
        self._game, self._by_moves = game, moves
        for board in self._boards:
            board.track_owners_by_move(moves)
            board.worker.owner_sums[:] = 0
            board.worker.playout_count = 0
            board.worker.score_sum = 0.0

    def mean_owners(self) -> npt.NDArray[np.float64]:
        total, playouts = np.zeros(BOARD_CELLS), 0
        for board in self._boards:
            total += np.asarray(board.worker.owner_sums, np.float64)
            playouts += int(board.worker.playout_count)
        return total / max(playouts, 1)

    def rows(self) -> tuple[float, ...]:
        """Return the mean owner (1 is the side to move) of each vertex, in rows from the top."""
        return self._for_mover(self.mean_owners())

    def rows_after(self, move: int) -> tuple[float, ...] | None:
        """Return `rows` for the playouts that began with the kernel move `move`, or None."""
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
        """Return the status of every chain, keyed by the vertices of the chain."""
        board, shares = self._game.stones.board, self.mean_owners()
        signs = [{BLACK: 1.0, WHITE: -1.0}.get(colour, 0.0) for colour in board]
        return classify_chains(
            self._game, [(1 + sign * shares[vertex]) / 2 for vertex, sign in enumerate(signs)]
        )

    def is_settled(self) -> bool:
        shares = self.mean_owners()
        return all(
            abs(shares[vertex]) >= SETTLED_SHARE for vertex in self._game.stones.shape.vertices
        )

    def secured_score(self) -> float:
        """Return the score of the side to move if the opponent gets all unsettled vertices."""
        game, sign = self._game, -1.0 if self._game.turn else 1.0
        shares = sign * self.mean_owners()
        vertices = game.stones.shape.vertices
        secured = sum(shares[vertex] >= SETTLED_SHARE for vertex in vertices)
        return float(secured - (len(vertices) - secured) - sign * game.area_komi)
