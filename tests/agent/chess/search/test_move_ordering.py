"""Move ordering, and the update of histories after a cutoff."""

from typing import Any

import chess
import numpy as np
import pytest
from numba.types import Array

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.records import MAX_MOVES, NO_MOVE, Worker, frame_at, position_at
from agent.chess.evaluation.evaluators import make_evaluator
from agent.chess.search.alphabeta import search
from agent.chess.search.move_ordering import (
    capture_history,
    next_move,
    quiet_history,
    record_tried_move,
    start_picking,
    update_histories,
)
from agent.evaluation import HANDCRAFTED
from agent.kernel.intrinsics import int64
from agent.kernel.scores import INFINITE
from agent.kernel.table_memory import TableMemory
from tests.support import compiled_when_called

DEPTH = 6
# The knight wins a pawn; the capture by the queen loses material.
CAPTURES = "4k3/p7/1p6/4p3/8/5N2/8/1Q2K3 w - - 0 1"

# All tests here compile a kernel.
pytestmark = pytest.mark.thorough


@compiled_when_called(Array(int64, 1, "C")(Worker, int64, int64))
def pick(worker: Worker, table_move: int, last: int) -> Any:
    """Pick and record moves until `last`, which causes a cutoff; return them."""
    picked = np.zeros(MAX_MOVES, np.int64)
    frame = frame_at(worker, 0)
    start_picking(worker, 0, table_move)
    count = 0
    while True:
        move = next_move(worker, 0, False)
        if move == NO_MOVE:
            break
        picked[count] = move
        count += 1
        record_tried_move(frame, move)
        if move == last:
            update_histories(worker, 0, move, DEPTH)
            break
    return picked[:count]


@compiled_when_called(int64(Worker, int64))
def quiet(worker: Worker, move: int) -> int:
    return quiet_history(worker, 0, move)


@compiled_when_called(int64(Worker, int64))
def capture(worker: Worker, move: int) -> int:
    return capture_history(worker, position_at(worker, 0), move)


class Node:
    """A position with empty histories, whose moves are picked."""

    def __init__(self) -> None:
        self._game = KernelBoard()
        self._game.load(chess.Board(CAPTURES))
        self.worker = self._game.worker
        self.worker["selective"] = 1

    def pick(self, last: int = NO_MOVE, table_move: int = NO_MOVE) -> list[int]:
        return list(map(int, pick(self.worker, table_move, last)))

    def search(self, excluded: int) -> list[int]:
        """Search all moves but one without pruning; return those that were recorded as tried."""
        self.worker["selective"] = 0
        table, evaluator = TableMemory(1), make_evaluator(HANDCRAFTED, False, lambda: None)
        self.worker["table"], self.worker["table_clusters"] = table.address, table.clusters
        self.worker["evaluate"] = evaluator.address
        self.worker["node_limit"] = 1_000_000
        self.worker["positions"][1] = self.worker["positions"][0]
        frame = self.worker["frames"][1]
        frame["excluded"] = excluded
        search(self.worker, 1, 2, -INFINITE, INFINITE, False)
        return list(map(int, frame["tried_moves"][: frame["tried_count"]]))

    def legal_moves(self) -> list[int]:
        return self._game.legal_moves()


def test_good_captures_come_first_and_losing_ones_last() -> None:
    order = Node().pick()
    names = [KernelBoard().decode_move(move).uci() for move in (order[0], order[-1])]
    assert names == ["f3e5", "b1b6"]
    assert sorted(order) == sorted(Node().legal_moves())


def test_only_tried_moves_lose_history() -> None:
    good, cutoff, *others, losing = Node().pick()
    node = Node()
    assert node.pick(last=cutoff) == [good, cutoff]
    assert quiet(node.worker, cutoff) > 0
    assert capture(node.worker, good) < 0
    assert capture(node.worker, losing) == 0
    assert not any(quiet(node.worker, move) for move in others)


def test_quiet_moves_lose_history_only_to_quiet_cutoffs() -> None:
    good, first, second, *others, losing = Node().pick()
    node = Node()
    node.pick(last=second)
    assert quiet(node.worker, first) < 0 < quiet(node.worker, second)
    node = Node()
    node.pick(last=losing)
    assert capture(node.worker, good) < 0 < capture(node.worker, losing)
    assert not any(quiet(node.worker, move) for move in (first, second, *others))


def test_failed_hash_move_loses_history() -> None:
    _, first, *_, third, _ = Node().pick()
    node = Node()
    assert node.pick(last=first, table_move=third)[0] == third
    assert quiet(node.worker, third) < 0


def test_excluded_move_is_not_tried() -> None:
    moves = Node().legal_moves()
    assert sorted(Node().search(NO_MOVE)) == sorted(moves)
    for excluded in moves:
        assert sorted(Node().search(excluded)) == sorted(set(moves) - {excluded})
