"""What a process of its own for a user's Python evaluation would cost, in nodes a second (POSIX).

python benchmarks/evaluation_process.py

Positions go to a child through shared memory; both sides look for so long whether the other has
answered, then wait at a pipe until they are woken (--spins 0: at once).
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
from children import spawn
from report import POSITIONS, parser, show

PIECE_VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 300,
    chess.BISHOP: 300,
    chess.ROOK: 500,
    chess.QUEEN: 900,
}
ASKED, ANSWERED, VALUE, CHILD_SLEEPS, ENGINE_SLEEPS = range(5)  # words of the shared memory
POSITION = 512  # bytes before the position
PAGE = 4096
LAYOUT = struct.Struct("=8Q120x6q8x")  # of the kernel's position, its boards and clocks


def evaluate(board: chess.Board) -> int:
    """Evaluate as the README's first example does."""
    own, enemy = board.turn, not board.turn
    return sum(
        PIECE_VALUES[kind] * (len(board.pieces(kind, own)) - len(board.pieces(kind, enemy)))
        for kind in PIECE_VALUES
    )


def wait(words: memoryview, place: int, number: int, sleeps: int, pipe: int, spins: int) -> None:
    """Wait until a word is that number."""
    while words[place] != number:
        for _ in range(spins):
            if words[place] == number:
                return
        words[sleeps] = 1
        if words[place] != number:
            os.read(pipe, 1)
        words[sleeps] = 0


def serve(memory: int, requests: int, answers: int, spins: int) -> None:
    """Be the child: answer until the engine is gone."""
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
    """Start a child; give what asks it for the value of the position at an address."""
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
    """Measure and compare, in turns."""
    arguments = parser(__doc__)
    arguments.add_argument("--nodes", type=int, default=20_000, help="of each search")
    arguments.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    arguments.add_argument("--spins", type=int, default=2000, help="looks before a side waits")
    arguments.add_argument("--serve", type=int, nargs=4, help="be the child")
    options = arguments.parse_args()
    if options.serve:
        serve(*options.serve)

    from agent.chess.board.records import Position, Worker
    from agent.chess.evaluation import evaluators
    from agent.chess.search.alphabeta_search import AlphaBetaSearch
    from agent.evaluation import Evaluation
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
