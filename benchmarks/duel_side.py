"""One side of `duel.py`: plays with the kernel of the source tree that it is started in.

Standard input receives requests, each a 4-byte number and a 100-byte text. The number -1 starts a
game from the FEN in the text. Any other number is the opponent's move (0 for none), to which this
side replies. Standard output receives one reply per request, and one at the start. A reply consists
of the state (1 draw, 2 the side to move is mated, else 0), the move, and its score in centipawns.
"""

import struct
import sys

import chess
import numba

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.position import advance_root
from agent.chess.board.records import Worker
from agent.chess.evaluation.evaluators import make_evaluator
from agent.chess.evaluation.loading import load
from agent.chess.search.selfplay import _outcome, _search_root, _SelfPlayState
from agent.kernel.decorators import entry_point
from agent.kernel.record import allocate
from agent.kernel.table_memory import TableMemory

REQUEST, REPLY = struct.Struct("<i100s"), struct.Struct("<iii")
BEGIN = -1
TABLE_NODES = 2500  # nodes per move for each megabyte of hash table


@entry_point(numba.int64(Worker, _SelfPlayState))
def answer(worker: Worker, play: _SelfPlayState) -> int:
    """Make play.move if it is set. If the game is not over, search and make a reply."""
    if play.move:
        advance_root(worker, play.move)
    outcome = _outcome(worker)
    if outcome == 0:
        _search_root(worker, play)
        advance_root(worker, play.move)
    return numba.int64(outcome)


def main(nodes: int, evaluation: str) -> None:
    """Serve requests until standard input ends.

    evaluation: as in the UCI option.
    """
    play, _ = allocate(_SelfPlayState)
    play.nodes = nodes
    table = TableMemory(2 + nodes // TABLE_NODES)
    evaluator = make_evaluator(load(evaluation), False, lambda: None)
    game = KernelBoard()
    reply = REPLY.pack(0, 0, 0)
    while True:
        sys.stdout.buffer.write(reply)
        sys.stdout.buffer.flush()
        request = sys.stdin.buffer.read(REQUEST.size)
        if len(request) < REQUEST.size:
            return
        number, text = REQUEST.unpack(request)
        if number == BEGIN:
            table.clear()
            game = KernelBoard()
            game.load(chess.Board(text.rstrip(b"\0").decode()))
            game.worker["selective"] = 1
            evaluator.attach(game)
            game.worker["table"] = table.address
            game.worker["table_clusters"] = table.clusters
            continue
        play["move"] = number
        state = answer(game.worker, play)
        reply = REPLY.pack(state, int(play["move"]), int(play["score"]))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
