"""Which stones of a position are dead, by many compiled playouts: see agent.games.life."""

from agent.games.go import Go
from agent.games.life import Statuses
from agent.games.stones import BLACK, WHITE
from agent.go.ownership import Ownership
from agent.go.playout import many_playouts
from agent.go.rules import StoneBoard

PLAYOUTS = 2000


def statuses(game: Go, playouts: int = PLAYOUTS, seed: int = 1) -> Statuses:
    """Return every chain of the position, as its vertices, with its status.

    Both players begin half of the playouts, which are those of the search.
    """
    board = StoneBoard()
    board.seed(seed)
    board.load(game)
    ownership = Ownership([board])
    ownership.begin(game)
    for colour in (BLACK, WHITE):
        board.worker.root.turn = colour
        many_playouts(board.worker, playouts // 2, 1)
    return ownership.statuses()
