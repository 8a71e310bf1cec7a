r"""Generate tests/data/perft-suite.txt: positions with unusual rules, and Stockfish's leaf counts.

    python scripts/generate_perft.py tests/data/perft-suite.txt
    python scripts/generate_perft.py tests/data/perft-suite.txt --recount

Positions come from random games. Features that are rare in games come from random boards with few
pieces. The name of a position says which feature it has. Stockfish counts the leaves, up to the
greatest depth within a limit. The same seed gives the same positions. --recount keeps the positions
of the file.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType

import chess

MAX_PLIES = 160
# Avoid positions close to the fifty-move rule, and positions with too few moves.
MAX_HALFMOVE_CLOCK = 40
MIN_MOVES = 2
FIELDS = "# name | Chess960 (0 or 1) | FEN | leaves at depth 1, 2, ...\n"

PositionSource = Callable[[random.Random], Iterator[chess.Board]]
PositionTest = Callable[[chess.Board], bool]


class Referee:
    """Stockfish as the reference for leaf counts."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.name = self._ask("uci", "id name").removeprefix("id name ")

    def __enter__(self) -> Referee:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate("quit\n")

    def perft(self, board: chess.Board, depth: int) -> int:
        """Return the number of leaves at `depth`."""
        self._say(f"setoption name UCI_Chess960 value {'true' if board.chess960 else 'false'}")
        self._say(f"position fen {fen(board)}")
        return int(self._ask(f"go perft {depth}", "Nodes searched").split()[-1])

    def counts(self, board: chess.Board, most: int) -> list[int]:
        """Return the leaf counts at depth 1, 2, ... until the next count is 0 or above `most`."""
        found: list[int] = []
        for depth in count(1):
            # Skip a depth whose estimated count is far above the limit.
            if len(found) > 1 and found[-1] ** 2 > 3 * most * found[-2]:
                break
            leaves = self.perft(board, depth)
            if not 0 < leaves <= most:
                break
            found.append(leaves)
        return found

    def _say(self, line: str) -> None:
        assert self._process.stdin
        print(line, file=self._process.stdin, flush=True)

    def _ask(self, line: str, start: str) -> str:
        assert self._process.stdout
        self._say(line)
        for answer in self._process.stdout:
            if answer.startswith(start):
                return answer.rstrip("\n")
        raise ChildProcessError(f"Stockfish ended at {line!r}")


def fen(board: chess.Board) -> str:
    """Return the FEN with the en passant square, even if no pawn can capture there."""
    return board.fen(shredder=board.chess960, en_passant="fen")


# Sources of positions.


def _game(board: chess.Board, chance: random.Random) -> Iterator[chess.Board]:
    """Play random moves, preferring captures; yield the board after each from a random ply on."""
    first = chance.randrange(4, MAX_PLIES)
    for ply in range(2 * MAX_PLIES):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves:
            break
        # Rare features are more frequent if kings stay at home and pieces are captured.
        likely = [m for m in moves if board.piece_type_at(m.from_square) != chess.KING] or moves
        captures = [m for m in likely if board.is_capture(m)]
        board.push(chance.choice(captures if captures and chance.random() < 0.2 else likely))
        if ply >= first:
            yield board


def game(chance: random.Random) -> Iterator[chess.Board]:
    """Yield positions of a random game from the start position."""
    return _game(chess.Board(), chance)


def chess960_game(chance: random.Random) -> Iterator[chess.Board]:
    """Yield positions of a random game from a Chess960 start position."""
    return _game(chess.Board.from_chess960_pos(chance.randrange(960)), chance)


def _scatter(board: chess.Board, names: str, chance: random.Random) -> None:
    for name in names:
        piece = chess.Piece.from_symbol(name)
        free = chess.SquareSet(~board.occupied)
        if piece.piece_type == chess.PAWN:
            free &= ~chess.SquareSet(chess.BB_BACKRANKS)
        board.set_piece_at(chance.choice(list(free)), piece)


def few_pieces(chance: random.Random) -> Iterator[chess.Board]:
    """Yield boards with kings, pawns and pieces on random squares."""
    board = chess.Board(None)
    _scatter(board, "Kk" + "".join(chance.choices("PPPpppQRBNqrbn", k=10)), chance)
    board.turn = chance.random() < 0.5
    yield board


def many_pieces(chance: random.Random) -> Iterator[chess.Board]:
    """Yield boards with kings, many pieces and few pawns on random squares."""
    board = chess.Board(None)
    _scatter(board, "Kk" + "".join(chance.choices("QQRBNPqqrbnp", k=10)), chance)
    board.turn = chance.random() < 0.5
    yield board


def chess960_home(chance: random.Random) -> Iterator[chess.Board]:
    """Yield boards with kings and rooks on castling squares, and other pieces anywhere."""
    board = chess.Board(None, chess960=True)
    for rank, names in ((0, "KRR"), (56, "krr")):
        files = sorted(chance.sample(range(8), 3))
        king = 1 if chance.random() < 0.5 else chance.choice((0, 2))
        for i, file in enumerate(files):
            name = names[0] if i == king else names[1]
            board.set_piece_at(rank + file, chess.Piece.from_symbol(name))
        castling = [chess.BB_SQUARES[rank + file] for i, file in enumerate(files) if i != king]
        if king == 1:
            board.castling_rights |= castling[0] | castling[1]
        else:
            board.castling_rights |= chance.choice(castling)
    _scatter(board, "".join(chance.choices("PPppQBNqbnRr", k=8)), chance)
    yield board if chance.random() < 0.5 else board.mirror()


def pawn_just_moved(chance: random.Random) -> Iterator[chess.Board]:
    """Yield boards with a pawn that has just advanced two squares beside an enemy pawn."""
    board = chess.Board(None)
    file = chance.randrange(8)
    beside = chance.choice([f for f in (file - 1, file + 1) if 0 <= f < 8])
    board.set_piece_at(chess.square(file, 4), chess.Piece.from_symbol("p"))
    board.set_piece_at(chess.square(beside, 4), chess.Piece.from_symbol("P"))
    board.ep_square = chess.square(file, 5)
    _scatter(board, "Kk" + "".join(chance.choices("PpQRBNqrbn", k=6)), chance)
    yield board if chance.random() < 0.5 else board.mirror()


# Features of positions.


@dataclass(frozen=True)
class Castling:
    """The conditions of one castling move.

    free: no piece is in the way.
    safe: no square on the king's way is attacked.
    legal: castling is legal.
    """

    king: chess.Square
    rook: chess.Square
    free: bool
    safe: bool
    legal: bool


def castlings(board: chess.Board) -> Iterator[Castling]:
    """Yield the castling moves that the side to move has the right to."""
    king = board.king(board.turn)
    assert king is not None
    rank = king & 56
    for rook in chess.scan_forward(board.clean_castling_rights() & board.occupied_co[board.turn]):
        short = rook > king
        target, rook_target = (rank + 6, rank + 5) if short else (rank + 2, rank + 3)
        way = range(min(king, target), max(king, target) + 1)
        rook_way = range(min(rook, rook_target), max(rook, rook_target) + 1)
        yield Castling(
            king,
            rook,
            all(s in (king, rook) or not board.piece_at(s) for s in {*way, *rook_way}),
            not any(board.is_attacked_by(not board.turn, square) for square in way),
            any(
                board.is_castling(move) and (move.to_square > move.from_square) == short
                for move in board.legal_moves
            ),
        )


def castles_both_ways(board: chess.Board) -> bool:
    """Return whether both castling moves are legal."""
    return [c.legal for c in castlings(board)] == [True, True]


def castles(board: chess.Board) -> bool:
    """Return whether castling is legal and the opponent has castling rights."""
    return any(c.legal for c in castlings(board)) and bool(
        board.clean_castling_rights() & board.occupied_co[not board.turn]
    )


def castling_attacked(board: chess.Board) -> bool:
    """Return whether only an attack on the king's way prevents castling."""
    return not board.is_check() and any(c.free and not c.safe for c in castlings(board))


def castling_uncovers(board: chess.Board) -> bool:
    """Return whether castling is illegal because the rook shields the king."""
    return any(c.free and c.safe and not c.legal for c in castlings(board))


def moves_one_piece(board: chess.Board) -> bool:
    """Return whether a legal castling move leaves the king or the rook on its square."""
    return any(
        castling.legal
        and (
            castling.king & 7 == (6 if castling.rook > castling.king else 2)
            or castling.rook & 7 == (5 if castling.rook > castling.king else 3)
        )
        for castling in castlings(board)
    )


def inner_rook(board: chess.Board) -> bool:
    """Return whether a rook may castle although another rook is farther out on its side."""
    return any(
        any(
            other < c.rook < c.king or c.king < c.rook < other
            for other in board.pieces(chess.ROOK, board.turn) & chess.BB_RANKS[c.rook >> 3]
        )
        for c in castlings(board)
    )


def loses_a_right(board: chess.Board) -> bool:
    """Return whether a rook with castling rights can be captured."""
    rooks = board.clean_castling_rights() & board.occupied_co[not board.turn]
    return any(rooks & chess.BB_SQUARES[move.to_square] for move in board.legal_moves)


def en_passant(board: chess.Board) -> bool:
    """Return whether an en passant capture is legal."""
    return board.has_legal_en_passant()


def en_passant_pinned(board: chess.Board) -> bool:
    """Return whether an en passant capture is illegal because it would expose the king."""
    return not board.is_check() and board.has_pseudo_legal_en_passant() and not en_passant(board)


def en_passant_evades(board: chess.Board) -> bool:
    """Return whether a pawn that gives check can be captured en passant."""
    return board.is_check() and en_passant(board)


def promotes(board: chess.Board) -> bool:
    """Return whether pawns can promote, also by a capture."""
    moves = [move for move in board.legal_moves if move.promotion]
    return len(moves) >= 8 and any(board.is_capture(move) for move in moves)


def promotes_with_check(board: chess.Board) -> bool:
    """Return whether an underpromotion to a knight gives check."""
    return any(m.promotion == chess.KNIGHT and board.gives_check(m) for m in board.legal_moves)


def many_queens(board: chess.Board) -> bool:
    """Return whether there are four or more queens."""
    return chess.popcount(board.queens) >= 4


def checked(board: chess.Board) -> bool:
    """Return whether the side to move is in check and the check can be captured or blocked."""
    return board.is_check() and any(
        board.piece_type_at(move.from_square) != chess.KING for move in board.legal_moves
    )


def checked_twice(board: chess.Board) -> bool:
    """Return whether the side to move is in double check."""
    return len(board.checkers()) == 2


def pins(board: chess.Board) -> bool:
    """Return whether at least two pieces are pinned."""
    own = chess.SquareSet(board.occupied_co[board.turn])
    return sum(board.is_pinned(board.turn, square) for square in own) >= 2


def ends(board: chess.Board) -> bool:
    """Return whether a move gives mate or stalemate."""
    for move in list(board.legal_moves):
        board.push(move)
        over = not any(board.generate_legal_moves())
        board.pop()
        if over:
            return True
    return False


def anything(board: chess.Board) -> bool:
    """Return True for any position."""
    return True


CATEGORIES: tuple[tuple[str, int, PositionSource, PositionTest], ...] = (
    ("castling both ways", 6, game, castles_both_ways),
    ("castling", 6, game, castles),
    ("castling through an attack", 6, game, castling_attacked),
    ("rook that could castle taken", 4, game, loses_a_right),
    ("en passant", 4, game, en_passant),
    ("en passant among few", 4, pawn_just_moved, en_passant),
    ("en passant pinned", 6, pawn_just_moved, en_passant_pinned),
    ("en passant out of check", 4, pawn_just_moved, en_passant_evades),
    ("promotions", 4, game, promotes),
    ("promotions among few", 4, few_pieces, promotes),
    ("knight promoted with check", 4, few_pieces, promotes_with_check),
    ("many queens", 2, many_pieces, many_queens),
    ("check", 2, game, checked),
    ("double check", 4, game, checked_twice),
    ("double check among few", 2, few_pieces, checked_twice),
    ("two pins", 4, many_pieces, pins),
    ("the game's end", 2, few_pieces, ends),
    ("any", 2, game, anything),
    ("Chess960: castling both ways", 4, chess960_game, castles_both_ways),
    ("Chess960: castling", 4, chess960_game, castles),
    ("Chess960: castling through an attack", 4, chess960_game, castling_attacked),
    ("Chess960: castling uncovers the king", 4, chess960_home, castling_uncovers),
    ("Chess960: castling moves one piece", 4, chess960_home, moves_one_piece),
    ("Chess960: castling by an inner rook", 4, chess960_home, inner_rook),
    ("Chess960: rook that could castle taken", 2, chess960_game, loses_a_right),
    ("Chess960: en passant", 2, chess960_game, en_passant),
    ("Chess960: double check", 2, chess960_game, checked_twice),
)


def positions(seed: int) -> Iterator[tuple[str, chess.Board]]:
    """Yield names and positions, as many as wanted for each feature."""
    seen = set()
    for kind, wanted, source, test in CATEGORIES:
        chance = random.Random(f"{seed} {kind}")
        found = 0
        while found < wanted:
            board = next((b for b in source(chance) if _is_counted(b) and test(b)), None)
            if board is None or board.epd() in seen:
                continue
            found += 1
            seen.add(board.epd())
            yield f"{kind} {found}", board.copy(stack=False)


def _is_counted(board: chess.Board) -> bool:
    return (
        board.is_valid()
        and board.halfmove_clock <= MAX_HALFMOVE_CLOCK
        and board.legal_moves.count() >= MIN_MOVES
    )


def read(path: Path) -> Iterator[tuple[str, chess.Board]]:
    """Yield the names and positions of a file."""
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, chess960, text, _ = (field.strip() for field in line.split("|"))
            yield name, chess.Board(text, chess960=chess960 == "1")


def main(arguments: argparse.Namespace) -> int:
    """Count all positions, then write the file."""
    command = shutil.which("stockfish") or shutil.which("/usr/games/stockfish")
    if command is None:
        print("generate_perft: stockfish is not installed", file=sys.stderr)
        return 2
    cases = read(arguments.file) if arguments.recount else positions(arguments.seed)
    with Referee(command) as referee:
        lines = [f"# Made by scripts/generate_perft.py, counted by {referee.name}.\n", FIELDS]
        for name, board in cases:
            counts = " ".join(map(str, referee.counts(board, arguments.most)))
            lines.append(f"{name} | {board.chess960:d} | {fen(board)} | {counts}\n")
            if sys.stderr.isatty():
                print(f"\r{len(lines) - 2} positions", end="", file=sys.stderr)
    arguments.file.write_text("".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="make the suite of perft positions")
    options.add_argument("file", type=Path)
    options.add_argument("--recount", action="store_true", help="keep the file's positions")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--most", type=int, default=60_000_000, help="leaves of one position")
    sys.exit(main(options.parse_args()))
