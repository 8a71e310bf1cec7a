"""Compare network outputs during searches with a NumPy reference implementation.

    python benchmarks/network_exactness.py [--evaluations N] [--network FILE] [--json]

Alpha-beta and Monte Carlo tree search on two threads search positions of random games. Every second
position is Chess960, and every third one is close to promotion. The network's score of each
evaluated position is compared with plain NumPy, which has no incremental state.
"""

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import chess
import numpy as np
from random_network import random_network

from agent.chess.board.packed_position import packed_dtype
from agent.chess.board.packing import pack, packed_type
from agent.chess.board.records import position_at
from agent.chess.evaluation.nnue import network_score_function
from agent.chess.evaluation.nnue_format import NnueNetwork, read
from agent.chess.evaluation.nnue_reference import evaluate_batch
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.evaluation import Evaluation
from agent.kernel.atomic_columns import INT64, atomic_adder
from agent.kernel.intrinsics import U64, at_address, external_table
from agent.limits import Limits

NODES = 20_000  # nodes per search
PROMOTING = "8/PPP1k3/8/8/8/8/3K1ppp/8 w - - 0 1"

# Address of the records, capacity, and number of records.
_PLACES = np.zeros(3, np.uint64)
_place = external_table("kempelen_recorded_evaluations", _PLACES)
_count_place = np.array([_PLACES.ctypes.data + 16], np.uint64)
_count_at = external_table("kempelen_recorded_count", _count_place)
_add = atomic_adder(INT64)
_record_at = at_address(packed_type)


def recorded(network: NnueNetwork) -> Evaluation:
    """Return an evaluation that calls the network and records positions and scores."""
    judge = network_score_function(network.neurons)

    def evaluate(worker: Any, ply: Any) -> Any:
        value = judge(worker, ply)
        number = _add(_count_at(0), 0, 1)
        if number < _place(1):
            record = _record_at(_place(0) + U64(32 * number))
            pack(record, position_at(worker, ply))
            record.score = min(max(value, -32000), 32000)
        return value

    return Evaluation(f"recorded {network.neurons}", jitted=evaluate, network=network)


def board(number: int) -> chess.Board:
    """Return the start position of search `number`."""
    generator = random.Random(number)
    if number % 3 == 2:
        start = chess.Board(PROMOTING)
    else:
        start = chess.Board.from_chess960_pos(generator.randrange(960))
        if number % 2:
            start = chess.Board()
    for _ in range(generator.randrange(20)):
        moves = list(start.legal_moves)
        if not moves:
            break
        start.push(generator.choice(moves))
    return start if any(start.legal_moves) else board(number + 1_000_003)


def compare(network: NnueNetwork, evaluations: int) -> dict[str, int]:
    """Search until `evaluations` evaluations are recorded; count the differences."""
    records = np.zeros(evaluations, packed_dtype)
    _PLACES[:] = records.ctypes.data, evaluations, 0
    evaluation = recorded(network)
    searches = [
        make(megabytes=16, threads=2, evaluation=evaluation)
        for make in (AlphaBetaSearch, MctsSearch)
    ]
    number = 0
    while int(_PLACES[2]) < evaluations:
        search = searches[number % 2]
        search.clear_stop()
        for _ in search.search(board(number), Limits(nodes=NODES)):
            pass
        number += 1
        if sys.stderr.isatty():
            print(f"\r{int(_PLACES[2])} of {evaluations}", end="", file=sys.stderr)
    expected = np.clip(evaluate_batch(network, records), -32000, 32000)
    return {
        "searches": number,
        "evaluations": evaluations,
        "differ": int((expected != records["score"]).sum()),
        "different_scores": len(np.unique(expected)),
    }


def main() -> None:
    """Record, compare and print. Exits with status 1 if any score differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    parser.add_argument("--network", type=Path, help="network file (default: random weights)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    network = read(arguments.network) if arguments.network else random_network()
    found = compare(network, arguments.evaluations)
    if arguments.json:
        print(json.dumps(found))
    else:
        print(
            f"{network.shape}: of {found['evaluations']} evaluations in {found['searches']} "
            f"searches {found['differ']} differ ({found['different_scores']} different scores)"
        )
    sys.exit(bool(found["differ"]))


if __name__ == "__main__":
    main()
