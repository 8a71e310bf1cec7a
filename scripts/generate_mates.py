r"""Generate tests/data/mates.epd: positions with a forced mate in 2 to 5, proved exhaustively.

    python scripts/generate_mates.py --each 30 --output tests/data/mates.epd

Half of the positions come from quick self-play games with some random moves. The other half are
random positions with few pieces. An ordinary search finds candidates. An exhaustive search then
proves them: all moves of the mating side against all replies, to the full length, without pruning.
A hash table stores proved positions by their 64-bit keys. `bm` lists every move with the shortest
mate, and `dm` is its length. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import numba
import numpy as np

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.movegen import ALL, generate
from agent.chess.board.position import make_move
from agent.chess.board.records import frame_at, position_at
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.kernel.intrinsics import U64
from agent.limits import Limits, Mate

LENGTHS = range(2, 6)
TABLE_BITS = 22
# Maximum number of visited positions per candidate.
NODE_LIMIT = 30_000_000
UNKNOWN = -1
# Maximum number of positions with the same pieces for each mate length.
SAME_PIECES = 2
ENDGAME_MATERIAL = (
    *("KQk", "KRk", "KQkr", "KQkb", "KQkn", "KRRk", "KBBk", "KBNk", "KRBk", "KRNk", "KRPk"),
    *("KQPkq", "KRPkr", "KRPkb", "KQNkr", "KRBkn", "KBBkp", "KPPkp", "KQkpp", "KRRkr", "KBPkp"),
    *("KRNkp", "KQBkq", "KNNkp", "KRBPkr", "KQPPkr", "KRPPkrp", "KBNPkpp", "KQRkqp", "KRRPkrr"),
)
SELF_PLAY_NODES = 400
RANDOM_MOVES = 0.12
CANDIDATE_NODES = 10_000
LAST_PLIES = 12

_EVERYWHERE = U64(0xFFFFFFFFFFFFFFFF)


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]  # compiled when first called
def _forces(worker: Any, ply: int, move: int, n: int, table: Any) -> int:
    """Return 1 if `move` at `ply` mates in at most `n` moves including itself, 0 if not.

    Returns UNKNOWN if the node limit is reached. A table entry contains the key of a position with
    the mating side to move. The 4 lowest bits hold a length (upper 3 bits), and whether the
    position is a mate in at most that length (last bit).
    """
    make_move(worker, ply, move)
    worker.nodes += 1
    if worker.nodes > worker.node_limit:
        return UNKNOWN
    reply_ply, next_ply, less = ply + 1, ply + 2, n - 1
    position, frame = position_at(worker, reply_ply), frame_at(worker, reply_ply)
    if n == 1 and position.checkers == U64(0):
        return 0
    count = generate(position, frame, 0, ALL, _EVERYWHERE, False)
    if count == 0:
        return 1 if position.checkers else 0
    if n == 1:
        return 0
    after, next_frame = position_at(worker, next_ply), frame_at(worker, next_ply)
    for i in range(count):
        make_move(worker, reply_ply, frame.moves[i])
        worker.nodes += 1
        key = after.key >> U64(4) << U64(4)
        place = np.int64(after.key & U64(len(table) - 1))
        entry = table[place]
        if entry >> U64(4) << U64(4) == key:
            known, length = np.int64(entry & U64(1)), np.int64(entry >> U64(1) & U64(7))
            if known == 1 and length <= less:
                continue
            if known == 0 and length >= less:
                return 0
        found = 0
        for j in range(generate(after, next_frame, 0, ALL, _EVERYWHERE, False)):
            found = _forces(worker, next_ply, next_frame.moves[j], less, table)
            if found != 0:
                break
        if found == UNKNOWN:
            return UNKNOWN
        table[place] = key | U64(less << 1) | U64(found)
        if found == 0:
            return 0
    return 1


class Prover:
    """Proves mates by exhaustive search."""

    def __init__(self) -> None:
        self._game = KernelBoard()
        self._table = np.zeros(1 << TABLE_BITS, np.uint64)

    def prove(self, board: chess.Board) -> tuple[int, list[chess.Move]] | None:
        """Return the length of the shortest mate and all moves that achieve it.

        Returns None if there is no mate in `LENGTHS`, if there is a shorter mate, or if the proof
        exceeds the node limit.
        """
        self._game.load(board)
        worker = self._game.worker
        worker["nodes"], worker["node_limit"] = 0, NODE_LIMIT
        moves = self._game.legal_moves()
        for n in range(1, LENGTHS.stop):
            answers = [int(_forces(worker, 0, move, n, self._table)) for move in moves]
            if UNKNOWN in answers:
                return None
            if 1 in answers:
                best = [
                    self._game.decode_move(m) for m, a in zip(moves, answers, strict=True) if a == 1
                ]
                return (n, best) if n in LENGTHS else None
        return None


def from_games(chance: random.Random, search: AlphaBetaSearch) -> Iterator[chess.Board]:
    """Yield the last positions of games that end in mate, with the winner to move."""
    while True:
        board = chess.Board()
        search.new_game()
        while not board.is_game_over(claim_draw=True) and len(board.move_stack) < 200:
            if len(board.move_stack) < 10 or chance.random() < RANDOM_MOVES:
                board.push(chance.choice(sorted(board.legal_moves, key=chess.Move.uci)))
                continue
            board.push(_look(search, board, SELF_PLAY_NODES)[0])
        if not board.is_checkmate():
            continue
        for back in range(LAST_PLIES):
            board.pop()
            if back % 2 == 0:
                yield board.copy(stack=False)


def _look(search: AlphaBetaSearch, board: chess.Board, nodes: int) -> tuple[chess.Move, Any]:
    search.clear_stop()
    *_, last = search.search(board, Limits(nodes=nodes))
    return last.pv[0], last.score


def from_few_pieces(chance: random.Random) -> Iterator[chess.Board]:
    """Yield random legal positions without castling rights."""
    while True:
        names = chance.choice(ENDGAME_MATERIAL)
        board = chess.Board(None)
        squares = chance.sample(range(64), len(names))
        for square, name in zip(squares, names, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(name))
        board.turn = chess.WHITE
        if chance.random() < 0.5:
            board = board.mirror()
        if board.is_valid():
            yield board


def pieces(board: chess.Board) -> str:
    """Return the pieces of the side to move and of the opponent, such as `KRP-KR`."""
    return "-".join(
        "".join(
            chess.piece_symbol(kind).upper() * len(board.pieces(kind, side))
            for kind in reversed(chess.PIECE_TYPES)
        )
        for side in (board.turn, not board.turn)
    )


def find(each: int, seed: int, report: Any) -> dict[int, list[str]]:
    """Return EPD lines by the length of the mate."""
    chance, search, prover = random.Random(seed), AlphaBetaSearch(), Prover()
    sources = from_games(chance, search), from_few_pieces(chance)
    found: dict[int, list[str]] = {n: [] for n in LENGTHS}
    taken: Counter[tuple[int, int]] = Counter()
    seen: Counter[tuple[int, str]] = Counter()
    while any(len(lines) < each for lines in found.values()):
        for number, source in enumerate(sources):
            board = next(source)
            score = _look(search, board, CANDIDATE_NODES)[1]
            if not isinstance(score, Mate) or score.moves < LENGTHS.start:
                continue
            if score.moves in found and taken[number, score.moves] >= -(-each // 2):
                continue
            proof = prover.prove(board)
            if proof is None:
                continue
            n, best = proof
            if taken[number, n] >= (each + 1 - number) // 2:
                continue
            if seen[n, pieces(board)] >= SAME_PIECES or seen[n, board.epd()]:
                continue
            taken[number, n] += 1
            seen[n, pieces(board)] += 1
            seen[n, board.epd()] += 1
            name = f"mate in {n}, {len(found[n]) + 1:02}: {pieces(board)}"
            best.sort(key=chess.Move.uci)
            found[n].append(board.epd(bm=best, dm=n, id=name))
            report(found)
    return found


def main(arguments: argparse.Namespace) -> int:
    """Write the file again after each position that is found."""

    def write(found: dict[int, list[str]]) -> None:
        lines = [f"{line}\n" for n in sorted(found) for line in found[n]]
        header = "# Made by scripts/generate_mates.py: mates in 2 to 5, proved exhaustively.\n"
        arguments.output.write_text(header + "".join(lines), "utf-8")
        if sys.stderr.isatty():
            print(f"\r{ {n: len(lines) for n, lines in found.items()} }", end="", file=sys.stderr)

    write(find(arguments.each, arguments.seed, write))
    return 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="make a suite of proved mates (EPD)")
    options.add_argument("--each", type=int, default=30, help="positions of each length")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--output", type=Path, required=True)
    sys.exit(main(options.parse_args()))
