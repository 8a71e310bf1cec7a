"""Generate kempelen/training/data/positions.fen, on which `kempelen check-eval` tests evaluations.

    python scripts/generate_check_positions.py --output kempelen/training/data/positions.fen

The positions are diverse rather than typical. Most come from quick self-play games with some random
moves, equally many for each number of pieces. Others come from the bench and perft suites. The rest
are random positions with few pieces, and rare ones with many queens or a lone king. The same seed
gives the same file.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import chess

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.bench import POSITIONS
from agent.limits import Limits
from kempelen.match.config.settings import OpeningSettings
from kempelen.match.game import openings

ROOT = Path(__file__).parents[1]
GAMES = 200
NODES = 300
RANDOM_MOVES = 0.15
# Maximum number of positions per game, and per number of pieces.
PER_GAME = 4
PER_PIECES = 8
ENDGAME_MATERIAL = (
    *("KQk", "KRk", "KPk", "KBBk", "KBNk", "KQkq", "KQkr", "KRkr", "KRkb", "KRkn", "KPkp", "KNNkp"),
    *("KBkp", "KNkp", "KRPkr", "KBPkb", "KQPkq", "KPPkp", "KRBkr", "KNPkn", "KBPkn", "KPPPkppp"),
    *("KRPPkrp", "KBPPkbp", "KNPPkbp", "KQRkqr", "KRBPkrnp", "KQPPkqpp", "KQkrr", "KQkppp"),
)
UNUSUAL_POSITIONS = (
    "4k3/8/8/8/8/8/8/QQQQKQQQ w - - 0 1",
    "qqqqkqqq/8/8/8/8/8/8/4K3 w - - 0 1",
    "4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/8/4K3 w kq - 0 1",
    "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 1",
    "rnbqkbnr/8/8/8/8/8/8/RNBQKBNR w KQkq - 0 1",
    "1k6/PPPPPPPP/8/8/8/8/pppppppp/1K6 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/ppppp1pp/8/8/4Pp2/2N4P/PPPP1PP1/R1BQKBNR b KQkq e3 0 3",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "NNNN4/8/2k5/8/8/5K2/8/4bbbb b - - 12 90",
    "8/8/8/1k6/8/8/4K2p/8 b - - 99 140",
)


def from_games(chance: random.Random) -> Iterator[chess.Board]:
    """Yield positions of quick self-play games with some random moves."""
    starts = openings.load_openings(OpeningSettings())
    search = AlphaBetaSearch(megabytes=1)
    for _ in range(GAMES):
        board = chess.Board(chance.choice(starts).fen)
        search.new_game()
        path = []
        while board.outcome(claim_draw=True) is None and board.ply() < 250:
            if chance.random() < RANDOM_MOVES:
                move = chance.choice(sorted(board.legal_moves, key=chess.Move.uci))
            else:
                search.clear_stop()
                *_, last = search.search(board, Limits(nodes=NODES))
                move = last.pv[0]
            board.push(move)
            path.append(board.copy(stack=False))
        yield from chance.sample(path, min(PER_GAME, len(path)))


def random_placement(letters: str, chance: random.Random) -> chess.Board:
    """Return a legal position with these pieces on random squares. Capital letters are White's."""
    while True:
        board = chess.Board(None)
        for square, letter in zip(chance.sample(range(64), len(letters)), letters, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = chance.random() < 0.5
        if board.is_valid():
            return board


def candidates(chance: random.Random) -> Iterator[chess.Board]:
    """Yield positions from every source, rare types first."""
    perft = (ROOT / "tests" / "data" / "perft.txt").read_text().splitlines()
    fields = [line.split("|") for line in perft if not line.startswith("#")]
    usual = [fen.strip() for _, chess960, fen, *_ in fields if not int(chess960)]
    for fen in (*POSITIONS, *usual, *UNUSUAL_POSITIONS):
        yield chess.Board(fen)
    for letters in (*ENDGAME_MATERIAL, *map(str.swapcase, ENDGAME_MATERIAL)):
        yield random_placement(letters, chance)
    counts: Counter[int] = Counter()
    for board in from_games(chance):
        pieces = chess.popcount(board.occupied)
        counts[pieces] += 1
        if counts[pieces] <= PER_PIECES:
            yield board


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description="make the positions of kempelen check-eval")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found: dict[str, str] = {}
    for board in candidates(random.Random(arguments.seed)):
        if board.is_valid() and board.outcome() is None:
            found.setdefault(board.epd(), board.fen())
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text("".join(f"{fen}\n" for fen in found.values()))
    print(f"{len(found)} positions in {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
