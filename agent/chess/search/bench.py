"""The benchmark, which searches fixed positions to a fixed depth.

The node count is the same on every machine, and changes with every functional change of the search.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import chess

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.evaluation_types import Evaluation
from agent.limits import Info, Limits
from agent.threads.one_shot_event import OneShotEvent

DEPTH = 14

# Openings, middlegames and endgames of different types.
POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "r1bqkb1r/pp3ppp/2np1n2/4p1B1/3NP3/2N5/PPP2PPP/R2QKB1R w KQkq - 0 7",
    "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w - - 0 7",
    "rnbqkb1r/pp2pppp/3p1n2/2p5/3PP3/5N2/PPP2PPP/RNBQKB1R w KQkq - 1 4",
    "r1b2rk1/2q1bppp/p2p1n2/np2p3/3PP3/2P2N1P/PPBN1PP1/R1BQR1K1 b - - 2 13",
    "2r2rk1/pb2qppp/1pn1pn2/3p4/2PP4/P1NBPN2/1B2QPPP/2R2RK1 w - - 0 14",
    "r2q1rk1/pp1bppbp/2np1np1/8/3NP3/2N1BP2/PPPQ2PP/2KR1B1R w - - 4 10",
    "6k1/5pp1/p3q2p/1p2P3/2pP4/P1Q4P/1P3PP1/6K1 b - - 0 30",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/4kpp1/3p1b2/p6P/2B5/6P1/6K1 b - - 2 47",
    "4r1k1/1p3ppp/p1p5/3n4/3P4/1P4P1/P2N1P1P/2R3K1 w - - 0 24",
    "8/pp2k1p1/4p2p/3pP2P/3P1KP1/1P6/P7/8 w - - 0 36",
)


def run(depth: int = DEPTH, stop: OneShotEvent | None = None) -> Iterator[Info[chess.Move]]:
    """Search each benchmark position to `depth`, and yield the last `Info` of each search.

    The search uses one thread and default settings. `Info.time` is in seconds.
    """
    search = AlphaBetaSearch()
    search.clear_stop()
    if stop is not None:
        stop.add_callback(search.stop)
    for fen in POSITIONS:
        search.new_game()
        began = time.perf_counter()
        *_, last = search.search(chess.Board(fen), Limits(depth=depth))
        yield replace(last, time=time.perf_counter() - began)
        if stop is not None and stop.is_set():
            return


def nodes_per_second(seconds: float, evaluation: Evaluation | None = None) -> float:
    """Return the speed of a single-threaded search, measured for `seconds` in total.

    Raise `EvaluationError` if the evaluation fails or cannot be compiled.
    """
    search = AlphaBetaSearch(evaluation=evaluation)
    nodes, spent = 0, 0.0
    for fen in POSITIONS:
        search.new_game()
        began = time.perf_counter()
        with _stop_after(search, seconds / len(POSITIONS)):
            for _ in search.search(chess.Board(fen), Limits()):
                pass
        spent += time.perf_counter() - began
        nodes += search.progress().nodes
    return nodes / spent


@contextmanager
def _stop_after(search: AlphaBetaSearch, seconds: float) -> Iterator[None]:
    search.clear_stop()
    timer = threading.Timer(seconds, search.stop)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # so that the timer cannot stop the next search
