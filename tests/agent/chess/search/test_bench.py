"""The benchmark search: its positions, and stopping."""

import chess

from agent.chess.search.bench import POSITIONS, run
from agent.threads.one_shot_event import OneShotEvent


def test_bench_searches_every_position_once():
    boards = [chess.Board(fen) for fen in POSITIONS]
    assert all(board.is_valid() and any(board.legal_moves) for board in boards)
    infos = list(run(3))
    assert [info.depth for info in infos] == [3] * len(POSITIONS)
    for board, info in zip(boards, infos, strict=True):
        assert info.pv[0] in board.legal_moves
        assert info.nodes > 0


def test_stop_ends_bench_after_current_position():
    stop = OneShotEvent()
    infos = run(3, stop)
    next(infos)
    stop.set()
    assert list(infos) == []
