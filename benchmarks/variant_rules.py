"""Check the rules of the variants of chess by perft and random games, with two other programs.

    pip download --no-deps --no-binary :all: pyffish && tar xf pyffish-*.tar.gz
    python benchmarks/variant_rules.py --pyffish pyffish-0.0.90 --ledger FILE

The kernel is compared with Fairy-Stockfish, compiled by g++ from the sources in PyPI's package
pyffish (its functions for Python take milliseconds per position), and with the boards of
python-chess. Python-chess is slow, and plays a share of the games. With --ledger, an interrupted
run continues. Passes (exit status 0) if there are no differences.

A random game is a function of its number. It starts at the start position of the variant, and a
generator of random numbers (SplitMix64) chooses among the sorted legal moves. It ends by the rules,
including threefold repetition and the fifty-move rule. The programs compare a hash of the legal
moves of all positions, the length and the result. As programs disagree on insufficient material, it
does not end a game; when it occurs is compared with python-chess alone. The positions for perft are
from the same games.

Fairy-Stockfish has a fifty-move rule in crazyhouse, unlike lichess; it is switched off.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from subprocess import run
from typing import Any, NamedTuple

import chess
import numba
import numpy as np
from harness import Engine, JsonLedger, parser, show

from agent.chess.variants import variant_module
from agent.games.variants import VARIANTS, board_class, variant_outcome

SOURCE = Path(__file__).with_name("fairy_referee.cpp")
FLAGS = ["-O2", "-std=c++17", "-DALLVARS", "-DNNUE_EMBEDDING_OFF", "-DIS_64BIT", "-DNDEBUG"]
FLAGS += ["-pthread"]
CHUNK = 1000  # games per entry of the ledger
MAX_PLIES = 4000
# Numbers of leaves of the positions for perft. In some variants, few positions have so few.
LEAVES = range(10_000, 2_000_001)
MORE_LEAVES = range(10_000, 200_000_001)
VARIANTS_WITH_MORE_LEAVES = ("crazyhouse", "racingkings")
# Python-chess counts this many leaves in less than a minute, and more of them at a lower depth.
MAX_BOARD_LEAVES = 2_000_000

MASK = (1 << 64) - 1
UNFINISHED, WHITE_WINS, BLACK_WINS, DRAWN = range(4)
NEVER = -1


class Game(NamedTuple):
    """A random game: its length, a hash of its legal moves, and its result."""

    plies: int
    digest: int
    result: int


def board_game(variant: str, seed: int, max_plies: int) -> tuple[chess.Board, Game, int]:
    """Play a random game with python-chess.

    Return the last position, the game, and the first ply with insufficient material.
    """
    board, state, digest, result, material = board_class(variant)(), seed, 0, UNFINISHED, NEVER
    positions: Counter[str] = Counter()
    while board.ply() < max_plies:
        outcome = variant_outcome(board)
        moves = [] if outcome is not None else sorted((_code(m), m) for m in board.legal_moves)
        positions[board.epd()] += 1
        if not moves:
            outcome = outcome or (-1 if board.is_check() and outcome is None else 0)
            result = _result(outcome, board.turn)
            break
        if material == NEVER and board.is_insufficient_material():
            material = board.ply()
        if board.is_fifty_moves() or positions[board.epd()] == 3:
            result = DRAWN
            break
        for number in (*(code for code, _ in moves), len(moves)):
            digest = ((digest ^ number) * 0x100000001B3) & MASK
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        board.push(moves[((z ^ z >> 31) >> 33) % len(moves)][1])
    return board, Game(board.ply(), digest, result), material


def _code(move: chess.Move) -> int:
    if move.drop:
        return move.drop - 1 | move.to_square << 6 | 8 << 12
    return move.from_square | move.to_square << 6 | (move.promotion or 1) - 1 << 12


def _result(outcome: int, turn: chess.Color) -> int:
    if outcome == 0:
        return DRAWN
    return WHITE_WINS if (outcome > 0) == turn else BLACK_WINS


def kernel_game(variant: str) -> Callable[[int, int], tuple[Game, int]]:
    """Return a function that plays a random game like `board_game`, in the kernel."""
    board = variant_module(variant, "board.kernel_board")
    records = variant_module(variant, "board.records")
    movegen = variant_module(variant, "board.movegen")
    position = variant_module(variant, "board.position")
    endings = variant_module(variant, "board.endings")
    rules = variant_module(variant, "board.rules")
    position_at, frame_at, generate = records.position_at, records.frame_at, movegen.generate
    castling_squares, advance_root = movegen.castling_squares, position.advance_root
    is_repetition, has_no_mate = position.is_repetition, position.is_insufficient_material
    variant_result = endings.variant_result
    NOT_OVER, WON, LOST = endings.NOT_OVER, endings.WON, endings.LOST  # noqa: N806
    ENDS_EARLY, POCKETS = rules.ENDS_EARLY, rules.POCKETS  # noqa: N806
    FORCED_CAPTURES = rules.FORCED_CAPTURES  # noqa: N806
    ALL, ALL_SQUARES = board.ALL, board.ALL_SQUARES  # noqa: N806
    KIND_MASK, DROP = records.KIND_MASK, records.DROP  # noqa: N806
    KING_PROMOTION, FLAG_MASK = records.KING_PROMOTION, records.FLAG_MASK  # noqa: N806
    PROMOTION, CASTLING = records.PROMOTION, records.CASTLING  # noqa: N806
    FIFTY_MOVES, MAX_MOVES = records.FIFTY_MOVES, records.MAX_MOVES  # noqa: N806
    U64 = np.uint64  # noqa: N806

    @numba.njit
    def code(move):  # type: ignore[no-untyped-def]
        start, target = move & 63, move >> 6 & 63
        if POCKETS and move & KIND_MASK == DROP:
            return start | target << 6 | 8 << 12
        if FORCED_CAPTURES and move & KIND_MASK == KING_PROMOTION:
            return start | target << 6 | 5 << 12
        if move & FLAG_MASK == PROMOTION:
            return start | target << 6 | (move >> 12 & 3) + 1 << 12
        if move & FLAG_MASK == CASTLING:
            return start | castling_squares(start, target)[0] << 6
        return start | target << 6

    @numba.njit(nogil=True)
    def play(worker, seed, max_plies):  # type: ignore[no-untyped-def]
        moves = np.empty(MAX_MOVES, np.int64)
        state, digest = U64(seed), U64(0)
        plies, outcome, material = 0, 0, NEVER
        root, frame = position_at(worker, 0), frame_at(worker, 0)
        while True:
            if plies == max_plies:
                return plies, digest, UNFINISHED, material
            if ENDS_EARLY:
                result = variant_result(root)
                if result != NOT_OVER:
                    outcome = 1 if result == WON else -1 if result == LOST else 0
                    break
            n = generate(root, frame, 0, ALL, ALL_SQUARES, False)
            if n == 0:
                outcome = 1 if FORCED_CAPTURES else -1 if root.checkers else 0
                break
            if material == NEVER and has_no_mate(root):
                material = plies
            if (not POCKETS and root.halfmoves >= FIFTY_MOVES) or is_repetition(worker, 0):
                break
            for i in range(n):
                move = np.int64(frame.moves[i])
                moves[i] = code(move) << 16 | move
            moves[:n].sort()
            for i in range(n):
                digest = (digest ^ U64(moves[i] >> 16)) * U64(0x100000001B3)
            digest = (digest ^ U64(n)) * U64(0x100000001B3)
            state += U64(0x9E3779B97F4A7C15)
            z = (state ^ state >> U64(30)) * U64(0xBF58476D1CE4E5B9)
            z = (z ^ z >> U64(27)) * U64(0x94D049BB133111EB)
            chosen = np.int64((z ^ z >> U64(31)) >> U64(33)) % n
            advance_root(worker, moves[chosen] & 0xFFFF)
            plies += 1
        if outcome == 0:
            return plies, digest, DRAWN, material
        white = (outcome > 0) == (root.turn == 0)
        return plies, digest, WHITE_WINS if white else BLACK_WINS, material

    kernel_board, start = board.KernelBoard(), board_class(variant)()

    def game(seed: int, max_plies: int) -> tuple[Game, int]:
        kernel_board.load(start)
        plies, digest, result, material = play(kernel_board.worker, seed, max_plies)
        return Game(plies, int(digest), result), material

    return game


class FairyStockfish:
    """The rules of Fairy-Stockfish in a child process.

    folder: the source distribution of pyffish. The program is compiled there on first use.
    """

    def __init__(self, folder: Path) -> None:
        program = folder / SOURCE.stem
        if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
            others = ("main.cpp", "pyffish.cpp", "ffishjs.cpp")
            sources = [each for each in (folder / "src").rglob("*.cpp") if each.name not in others]
            command = ["g++", *FLAGS, f"-I{folder / 'src'}", SOURCE, *sources, "-o", program]
            run(command, check=True)
        self._engine = Engine([str(program.resolve())])

    def request_games(self, variant: str, first: int, count: int, max_plies: int) -> None:
        """Start to play games. The results must be read with `game`."""
        self._engine.say(f"games {variant} {first} {count} {max_plies}")

    def game(self) -> Game:
        return Game(*map(int, self._engine.read("").split()))

    def perft(self, board: chess.Board, depth: int) -> int:
        self._engine.say(f"perft {type(board).uci_variant} {depth} {board.fen()}")
        return int(self._engine.read(""))


def board_perft(board: chess.Board, depth: int, counted: dict[tuple[str, int], int]) -> int:
    """Count leaves with python-chess. Positions that are in `counted` are not counted again."""
    key = board.epd(), depth
    if key not in counted:
        if variant_outcome(board) is not None:
            counted[key] = 0
        elif depth == 1:
            counted[key] = board.legal_moves.count()
        else:
            leaves = 0
            for move in list(board.legal_moves):
                board.push(move)
                leaves += board_perft(board, depth - 1, counted)
                board.pop()
            counted[key] = leaves
    return counted[key]


@cache
def perft_positions(variant: str, count: int, depth: int) -> list[chess.Board]:
    """Return the start position, and positions of random games with a moderate number of leaves."""
    perft = variant_module(variant, "board.kernel_board").perft
    accepted = MORE_LEAVES if variant in VARIANTS_WITH_MORE_LEAVES else LEAVES
    boards, seed = [board_class(variant)()], 0
    while len(boards) <= count:
        seed += 1
        board, _, _ = board_game(variant, seed, 4 + seed % 80)
        if _has_leaves(perft, board, depth, accepted):
            boards.append(board.copy(stack=False))
    return boards


def _has_leaves(
    perft: Callable[[chess.Board, int], int], board: chess.Board, depth: int, accepted: range
) -> bool:
    """Return whether the number of leaves is accepted. Count no huge trees to know that."""
    leaves = 0
    for shallower in range(1, depth + 1):
        leaves = perft(board, shallower)
        if leaves >= accepted.stop:
            return False
    return leaves in accepted


def compare_perft(
    variant: str, number: int, count: int, depth: int, fairy: FairyStockfish | None
) -> dict[str, Any]:
    """Count the leaves of a position with all programs."""
    board = perft_positions(variant, count, depth)[number].copy()
    perft = variant_module(variant, "board.kernel_board").perft
    own = {each: perft(board, each) for each in range(1, depth + 1)}
    board_depth = max(
        each for each, leaves in own.items() if leaves <= MAX_BOARD_LEAVES or number == 0
    )
    others = [("python-chess", board_depth, board_perft(board, board_depth, {}))]
    if fairy is not None:
        others.append(("Fairy-Stockfish", depth, fairy.perft(board, depth)))
    differences = [
        f"{variant}, {board.fen()}: perft {each} is {own[each]}, by {name} {leaves}"
        for name, each, leaves in others
        if leaves != own[each]
    ]
    return {"leaves": own[depth], "depth": board_depth, "differences": differences}


def compare_games(
    variant: str,
    seeds: range,
    share: int,
    play: Callable[[int, int], tuple[Game, int]],
    fairy: FairyStockfish | None,
) -> dict[str, Any]:
    """Play games with all programs. Python-chess plays the first one of each `share` games."""
    plies, checked, differences = 0, Counter[str](), []
    results: Counter[str] = Counter()
    if fairy is not None:
        fairy.request_games(variant, seeds[0], len(seeds), MAX_PLIES)
    for seed in seeds:
        own, material = play(seed, MAX_PLIES)
        plies += own.plies
        results[("unfinished", "1-0", "0-1", "draw")[own.result]] += 1
        if fairy is not None and (found := fairy.game()) != own:
            differences.append(f"{variant}, game {seed}: {own}, Fairy-Stockfish {found}")
        if seed % share == 0:
            board, found, others_material = board_game(variant, seed, MAX_PLIES)
            checked.update(games=1, plies=board.ply())
            if (found, others_material) != (own, material):
                text = f"{own} {material}, python-chess {found} {others_material}"
                differences.append(f"{variant}, game {seed}: {text}")
    return {"plies": plies, "checked": checked, "results": results, "differences": differences}


def main() -> int:
    """Compare, and return 1 if there are differences."""
    arguments = parser(__doc__)
    arguments.add_argument("--variant", choices=VARIANTS[1:], help="one (default: all)")
    arguments.add_argument("--depth", type=int, default=5, help="depth of perft")
    arguments.add_argument("--positions", type=int, default=20, help="positions for perft")
    arguments.add_argument("--games", type=int, default=100_000, help="random games")
    arguments.add_argument(
        "--share", type=int, default=100, metavar="N",
        help="python-chess plays one of N games (default: %(default)s)",
    )  # fmt: skip
    arguments.add_argument("--pyffish", type=Path, metavar="FOLDER", help="sources of pyffish")
    arguments.add_argument("--ledger", type=Path, metavar="FILE", help="ledger of the results")
    options = arguments.parse_args()
    fairy = FairyStockfish(options.pyffish) if options.pyffish else None
    chunk = max(1, min(CHUNK, options.games))
    rows, differences = [], []
    for variant in [options.variant] if options.variant else VARIANTS[1:]:
        play = kernel_game(variant)
        settings = {"variant": variant, "fairy": fairy is not None, "plies": MAX_PLIES}
        games = JsonLedger(
            options.ledger, settings | {"games": chunk, "share": options.share}
        ).collect(
            -(-options.games // chunk),
            lambda number, variant=variant, play=play: compare_games(
                variant, range(chunk * number, chunk * (number + 1)), options.share, play, fairy
            ),
        )
        perfts = JsonLedger(
            options.ledger,
            settings | {"depth": options.depth, "positions": options.positions},
        ).collect(
            options.positions + 1,
            lambda number, variant=variant: compare_perft(
                variant, number, options.positions, options.depth, fairy
            ),
        )
        found = [text for each in (*perfts, *games) for text in each["differences"]]
        results = sum((Counter(each["results"]) for each in games), Counter())
        checked = sum((Counter(each["checked"]) for each in games), Counter())
        rows.append((
            variant,
            sum(each["leaves"] for each in perfts),
            len(games) * chunk,
            sum(each["plies"] for each in games),
            results["unfinished"],
            checked["games"],
            len(found),
        ))  # fmt: skip
        differences += found
    columns = ("variant", "leaves", "games", "positions", "unfinished", "by python-chess",
               "differences")  # fmt: skip
    show("Rules of variants", columns, rows, options.json)
    for text in differences[:20]:
        print(text)
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
