"""Cost of running a user's Python evaluation in a separate process, in nodes per second (POSIX).

    python benchmarks/evaluation_process.py

Positions go to a child process through shared memory. A waiting side first polls, then sleeps on a
pipe until the other side wakes it. With --spins 0 it sleeps at once.
"""

import ctypes
import mmap
import os
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import chess
from child_processes import spawn
from report import POSITIONS, parser, show

PIECE_VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 300,
    chess.BISHOP: 300,
    chess.ROOK: 500,
    chess.QUEEN: 900,
}
# Indices of words in the shared memory.
ASKED, ANSWERED, VALUE, CHILD_SLEEPS, ENGINE_SLEEPS = range(5)
POSITION = 512  # byte offset of the position in the shared memory
PAGE = 4096
LAYOUT = struct.Struct("=8Q120x6q8x")  # bitboards and clocks of the kernel's position


def evaluate(board: chess.Board) -> int:
    """Return the value of the README's first evaluation example."""
    own, enemy = board.turn, not board.turn
    return sum(
        PIECE_VALUES[kind] * (len(board.pieces(kind, own)) - len(board.pieces(kind, enemy)))
        for kind in PIECE_VALUES
    )


def wait(words: memoryview, place: int, number: int, sleeps: int, pipe: int, spins: int) -> None:
    """Wait until `words[place]` equals `number`: poll `spins` times, then sleep on the pipe."""
    while words[place] != number:
        for _ in range(spins):
            if words[place] == number:
                return
        words[sleeps] = 1
        if words[place] != number:
            os.read(pipe, 1)
        words[sleeps] = 0


def serve(memory: int, requests: int, answers: int, spins: int) -> None:
    """Run the child process: evaluate positions until the engine closes the pipe."""
    page = mmap.mmap(memory, PAGE)
    words = memoryview(page).cast("q")
    number = 0
    while True:
        number += 1
        wait(words, ASKED, number, CHILD_SLEEPS, requests, spins)
        board = chess.Board(None)
        fields = LAYOUT.unpack_from(page, POSITION)
        board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings = fields[
            :6
        ]
        board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK] = fields[6:8]
        board.occupied = fields[6] | fields[7]
        board.castling_rights, turn, en_passant, board.halfmove_clock, _, board.fullmove_number = (
            fields[8:]
        )
        board.turn = turn == 0
        board.ep_square = None if en_passant == 64 else en_passant
        words[VALUE] = evaluate(board)
        words[ANSWERED] = number
        if words[ENGINE_SLEEPS]:
            os.write(answers, b"x")


@contextmanager
def child(spins: int) -> Iterator[Callable[[int], int]]:
    """Start a child; yield a function that evaluates the position at an address."""
    with tempfile.TemporaryFile() as file:
        file.truncate(PAGE)
        page = mmap.mmap(file.fileno(), PAGE)
        words = memoryview(page).cast("q")
        target = ctypes.addressof(ctypes.c_char.from_buffer(page)) + POSITION
        its_requests, our_requests = os.pipe()
        our_answers, its_answers = os.pipe()
        descriptors = file.fileno(), its_requests, its_answers
        command = [sys.executable, __file__, "--serve", *map(str, (*descriptors, spins))]
        process = spawn(command, pass_fds=descriptors)

        def ask(address: int) -> int:
            ctypes.memmove(target, address, LAYOUT.size)
            number = words[ASKED] + 1
            words[ASKED] = number
            if words[CHILD_SLEEPS]:
                os.write(our_requests, b"x")
            wait(words, ANSWERED, number, ENGINE_SLEEPS, our_answers, spins)
            return int(words[VALUE])

        try:
            yield ask
        finally:
            process.kill()
            process.wait()


def main() -> int:
    """Measure and compare; the variants take turns."""
    arguments = parser(__doc__)
    arguments.add_argument("--nodes", type=int, default=20_000, help="nodes per search")
    arguments.add_argument(
        "--rounds", type=int, default=5, help="number of runs, whose median is reported"
    )
    arguments.add_argument(
        "--spins", type=int, default=2000, help="number of polls before a side sleeps"
    )
    arguments.add_argument("--serve", type=int, nargs=4, help="run as the child process")
    options = arguments.parse_args()
    if options.serve:
        serve(*options.serve)

    from agent.chess.board.records import Position, Worker
    from agent.chess.search.alphabeta_search import AlphaBetaSearch
    from agent.evaluation import Evaluation
    from agent.kernel import evaluators
    from agent.kernel.record import dtype_of, offset_of
    from agent.limits import Limits
    from agent.threads.background_call import MonitoredFunction

    assert LAYOUT.size == dtype_of(Position).itemsize
    positions = offset_of(Worker, "positions")

    def searcher(ask: Callable[[int], int] | None) -> AlphaBetaSearch:
        search = AlphaBetaSearch(
            evaluation=Evaluation("README", python=MonitoredFunction(evaluate))
        )
        if ask is not None:
            call = evaluators._C_TYPE(
                lambda worker, ply: ask(worker + positions + ply * LAYOUT.size)
            )
            search._evaluator._callback = call  # type: ignore[attr-defined]
            search._evaluator.address = ctypes.cast(call, ctypes.c_void_p).value or 0
        return search

    with child(options.spins) as spinning, child(0) as sleeping:
        searches = {
            "in the engine's process": searcher(None),
            f"a process of its own, {options.spins} looks": searcher(spinning),
            "a process of its own, woken each time": searcher(sleeping),
        }
        speeds: dict[str, list[float]] = {name: [] for name in searches}
        for _ in range(options.rounds):
            for name, search in searches.items():
                nodes, began = 0, time.perf_counter()
                for fen in POSITIONS:
                    search.new_game()
                    infos = list(search.search(chess.Board(fen), Limits(nodes=options.nodes)))
                    nodes += infos[-1].nodes
                speeds[name].append(nodes / (time.perf_counter() - began))
    first = statistics.median(next(iter(speeds.values())))
    rows = [
        (name, round(statistics.median(found)), round(max(found)), statistics.median(found) / first)
        for name, found in speeds.items()
    ]
    columns = ("where the function runs", "median", "best", "of the first")
    show("nodes a second with a Python evaluation", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
