"""Scores of final positions and of playouts, by the rules of the game.

Under territory scoring, the score of a playout is its area score, less the number of stones that
Black placed in excess of White's up to the leaf of the tree. From there on, both sides place
equally many stones.
"""

from agent.games.stones import BLACK, BORDER, EMPTY
from agent.go.playout import area_points, play_out, record_score, set_owner
from agent.go.records import Board, Worker, copy_board
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import int64

TAX_SEKI, TAX_ALL = 1, 2  # indices in agent.games.go_rules.TAX_RULES
MAX_GROUP_TAX = 2


@kernel
def _is_open(worker: Worker, board: Board, vertex: int, settled: bool) -> bool:
    colour = int64(board.colours[vertex])
    if colour == EMPTY:
        return True
    return settled and colour != BORDER and worker.last_owners[vertex] == 2 * colour - 3


@kernel
def region_points(worker: Worker, board: Board, settled: bool) -> int:
    """Return Black's points, where regions between stones belong to the colour around them.

    If `settled` is set, the stones that the last playout captured are dead, and its owners are
    kept. Otherwise all stones are alive, and the owners are set.
    """
    worker.mark += 1
    mark = worker.mark
    points = 0
    row = board.neighbour_offsets[0]
    for y in range(worker.height):
        for x in range(worker.width):
            vertex = (y + 1) * row + x + 1
            if worker.marks[vertex] == mark:
                continue
            worker.marks[vertex] = mark
            worker.queue[0] = vertex
            size, i, around = 1, 0, 0
            if not _is_open(worker, board, vertex, settled):
                around = int64(board.colours[vertex])
                i = size
            while i < size:
                inner = int64(worker.queue[i])
                i += 1
                for side in range(4):
                    beside = inner + board.neighbour_offsets[side]
                    if not _is_open(worker, board, beside, settled):
                        met = int64(board.colours[beside])
                        around |= met if met < BORDER else 0
                    elif worker.marks[beside] != mark:
                        worker.marks[beside] = mark
                        worker.queue[size] = beside
                        size += 1
            owner = 1 if around == BLACK else -1 if around == 3 - BLACK else 0
            for i in range(size):
                inner = int64(worker.queue[i])
                if settled:
                    points += owner * int64(worker.scored_vertices[inner])
                else:
                    points += set_owner(worker, inner, owner)
    return points


@kernel
def _tax_area(worker: Worker, board: Board, start: int, most: int) -> int:
    """Mark the area of one owner around a vertex. Return Black's points for up to `most` eyes."""
    mark, owner = worker.mark, int64(worker.last_owners[start])
    worker.marks[start] = mark
    worker.queue[0] = start
    size, i, eyes = 1, 0, 0
    while i < size:
        vertex = int64(worker.queue[i])
        i += 1
        if board.colours[vertex] == EMPTY:
            eyes += 1
        for side in range(4):
            beside = vertex + board.neighbour_offsets[side]
            if (
                board.colours[beside] != BORDER
                and worker.last_owners[beside] == owner
                and worker.marks[beside] != mark
            ):
                worker.marks[beside] = mark
                worker.queue[size] = beside
                size += 1
    return owner * min(eyes, most)


@kernel
def _tax(worker: Worker, board: Board) -> int:
    """Return Black's points that the rules take from the groups of a final position.

    A group is in seki if it touches a vertex without an owner, and has no points for eyes.
    """
    worker.mark += 1
    points, row, cells = 0, board.neighbour_offsets[0], worker.width * worker.height
    for y in range(worker.height):
        for x in range(worker.width):
            vertex = (y + 1) * row + x + 1
            if worker.last_owners[vertex] != 0:
                continue
            for side in range(4):
                beside = vertex + board.neighbour_offsets[side]
                if (
                    board.colours[beside] != BORDER
                    and worker.last_owners[beside] != 0
                    and worker.marks[beside] != worker.mark
                ):
                    points += _tax_area(worker, board, beside, cells)
    if worker.tax == TAX_ALL:
        for y in range(worker.height):
            for x in range(worker.width):
                vertex = (y + 1) * row + x + 1
                if worker.last_owners[vertex] != 0 and worker.marks[vertex] != worker.mark:
                    points += _tax_area(worker, board, vertex, MAX_GROUP_TAX)
    return points


@kernel
def _score(worker: Worker, board: Board, points: int) -> float:
    return record_score(worker, points) - worker.placed + 0.5 * board.button_owner


@kernel
def score_playout(worker: Worker, board: Board) -> float:
    """Return Black's score of the position at the end of a playout."""
    points = area_points(worker, board)
    if worker.tax:
        points -= _tax(worker, board)
    return _score(worker, board, points)


@kernel
def _territory_points(worker: Worker, board: Board) -> int:
    end = worker.ladder_boards[0]
    played = worker.played_count
    copy_board(end, board)
    end.passes = 0
    play_out(worker, end, True)
    worker.played_count = played  # the playout's moves are not part of the game
    area_points(worker, end)
    points = region_points(worker, board, True)
    return points - _tax(worker, end) if worker.tax else points


@kernel
def score_end(worker: Worker, board: Board) -> float:
    """Return Black's score of a position after two passes.

    All stones are alive under area scoring. Under territory scoring, a playout decides.
    """
    if worker.territory:
        return _score(worker, board, _territory_points(worker, board))
    points = region_points(worker, board, False)
    if worker.tax:
        points -= _tax(worker, board)
    return _score(worker, board, points)
