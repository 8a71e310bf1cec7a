"""Ladder reading: whether a sequence of ataris captures a chain."""

from agent.go.board import greater_liberty, is_legal, only_liberty, play, self_atari_size
from agent.go.records import (
    MAX_DEFENCES,
    MAX_LADDER_PLIES,
    NO_VERTEX,
    Board,
    Worker,
    board_at,
    copy_board,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import int64

MAX_LADDER_NODES = 300  # positions per query; at the limit the chain counts as safe


@kernel
def _play_on_next_board(worker: Worker, ply: int, move: int) -> Board:
    child = board_at(worker, ply + 1)
    copy_board(child, board_at(worker, ply))
    play(child, move)
    return child


@kernel
def _find_defences(worker: Worker, ply: int, head: int) -> int:
    """Write moves that may save a chain in atari to `worker.defences`. Return their number."""
    board = board_at(worker, ply)
    colour = int64(board.colours[head])
    count, first = 0, ply * MAX_DEFENCES
    stone = head
    while True:
        for side in range(4):
            beside = stone + board.neighbour_offsets[side]
            if board.colours[beside] != 3 - colour:
                continue
            enemy = int64(board.chain_heads[beside])
            if board.liberties[enemy] != 1 or count >= MAX_DEFENCES - 1:
                continue
            move = only_liberty(board, enemy)
            is_new = is_legal(board, move, colour)
            for i in range(count):
                if worker.defences[first + i] == move:
                    is_new = False
            if is_new:
                worker.defences[first + count] = move
                count += 1
        stone = int64(board.next_in_chain[stone])
        if stone == head:
            break
    move = only_liberty(board, head)
    if is_legal(board, move, colour):
        worker.defences[first + count] = move
        count += 1
    return count


@entry_point(int64(Worker, int64, int64))
def _can_escape_from(worker: Worker, ply: int, stone: int) -> int:
    worker.ladder_nodes += 1
    if worker.ladder_nodes > MAX_LADDER_NODES or ply > MAX_LADDER_PLIES - 4:
        return 1
    board = board_at(worker, ply)
    colour = int64(board.colours[stone])
    for i in range(_find_defences(worker, ply, int64(board.chain_heads[stone]))):
        child = _play_on_next_board(worker, ply, int64(worker.defences[ply * MAX_DEFENCES + i]))
        head = int64(child.chain_heads[stone])
        liberties = int64(child.liberties[head])
        if liberties > 2:
            return 1
        if liberties < 2:
            continue
        safe = True
        greater = greater_liberty(child, head)
        lesser = int64(child.liberty_sums[head]) - greater
        for side in range(2):
            move = greater if side else lesser
            if not is_legal(child, move, 3 - colour):
                continue
            _play_on_next_board(worker, ply + 1, move)
            if _can_escape_from(worker, ply + 2, stone) == 0:
                safe = False
                break
        if safe:
            return 1
    return 0


@entry_point(int64(Worker, Board, int64))
def can_escape(worker: Worker, board: Board, stone: int) -> int:
    """Return 1 if the chain of `stone` escapes from atari by moving first, otherwise 0."""
    first = board_at(worker, int64(0))
    copy_board(first, board)
    first.turn = int64(board.colours[stone])
    worker.ladder_nodes = 0
    return _can_escape_from(worker, 0, stone)


@entry_point(int64(Worker, Board, int64))
def find_ladder_attack(worker: Worker, board: Board, stone: int) -> int:
    """Return a move that captures a chain with two liberties in a ladder, or NO_VERTEX."""
    head = int64(board.chain_heads[stone])
    attacker = 3 - int64(board.colours[stone])
    greater = greater_liberty(board, head)
    lesser = int64(board.liberty_sums[head]) - greater
    for side in range(2):
        move = greater if side else lesser
        if not is_legal(board, move, attacker) or self_atari_size(board, move, attacker) > 0:
            continue
        first = board_at(worker, int64(0))
        copy_board(first, board)
        first.turn = attacker
        _play_on_next_board(worker, int64(0), move)
        worker.ladder_nodes = 0
        if _can_escape_from(worker, 1, stone) == 0:
            return move
    return int64(NO_VERTEX)
