"""Play won endgames against the best defence, and verify tablebase values.

    python benchmarks/endgames.py --games 200 --positions 100000

The engine plays random won positions with its own tablebases. It must win within the fifty-move
rule against a defender that delays the mate as long as possible. Then the value of random positions
in every table must match the values after their moves. Passes (exit status 0) if all checks
succeed. Build the tables first: `kempelen tablebase build`.

With --syzygy and a folder of Syzygy tables for 3 and 4 pieces, the random positions must also have
the same outcome as in these tables. The source distribution of the `chess` package has such a
folder, data/syzygy/regular.

With --nodes, the engine plays without tables, with N nodes per move. The won games are then only
counted.
"""

import random
import sys
import time
from collections.abc import Iterator

import chess
import chess.syzygy
from report import parser, show

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.endgames.root_probe import Tablebases
from agent.chess.endgames.table_index import EndgameType, endgame_from_name
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.limits import Limits
from openings.endgame_tables import open_tables

ENDGAMES = ("KBNK", "KQKR", "KBBK")
DEPTH = 8  # search depth if several moves are equally good by the tables


def positions(ending: EndgameType, chance: random.Random) -> Iterator[chess.Board]:
    """Yield random legal positions of an ending, without end."""
    pieces = [chess.Piece(chess.KING, True), chess.Piece(chess.KING, False)] + [
        chess.Piece((code - 1) % 5 + 1, code < 6) for code in ending.codes
    ]
    while True:
        board = chess.Board(None)
        board.turn = chance.random() < 0.5
        for square, piece in zip(chance.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, piece)
        if board.is_valid():
            yield board


def defend(own: BuiltinTablebase, board: chess.Board, chance: random.Random) -> chess.Move:
    """Return a random move among those that save the game or delay the mate longest."""
    worth = {}
    for move in board.legal_moves:
        board.push(move)
        value = own.probe(board)
        board.pop()
        assert value is not None
        worth[move] = 500 if value == 0 else value + 1000 * (value % 2)
    longest = max(worth.values())
    return chance.choice([move for move, value in worth.items() if value == longest])


def is_over(board: chess.Board) -> bool:
    """Return whether a game has ended or a draw can be claimed in the current position."""
    return board.is_game_over() or board.is_repetition(3) or board.halfmove_clock >= 100


def win(
    search: AlphaBetaSearch,
    limits: Limits[chess.Move],
    own: BuiltinTablebase,
    board: chess.Board,
    chance: random.Random,
) -> bool:
    """Play a won position; return whether the engine mates in time."""
    search.new_game()
    attacker = board.turn
    while not is_over(board):
        if board.turn == attacker:
            search.clear_stop()
            *_, info = search.search(board, limits)
            board.push(info.pv[0])
        else:
            board.push(defend(own, board, chance))
    return board.is_checkmate() and board.turn != attacker


def outcome(value: int | None) -> int:
    """Return 1 for a win, 0 for a draw, -1 for a loss of the side to move."""
    assert value is not None
    return 0 if value == 0 else 1 if value % 2 == 0 else -1


def outcome_by(syzygy: chess.syzygy.Tablebase, board: chess.Board) -> int:
    """Return 1, 0 or -1 like `outcome`, from Syzygy tables and without the fifty-move rule."""
    if board.is_stalemate():
        return 0
    found = syzygy.probe_wdl(board)
    return (found > 0) - (found < 0)


def main() -> int:
    """Play, compare, and report."""
    options = parser(__doc__)
    options.add_argument("--games", type=int, default=200, help="number of games per ending")
    options.add_argument("--positions", type=int, default=100_000, help="total number of positions")
    options.add_argument("--nodes", type=int, help="play without tablebases, with N nodes per move")
    options.add_argument(
        "--syzygy", metavar="FOLDER", help="compare with the Syzygy tablebases in FOLDER"
    )
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    tables, problems = open_tables()
    if problems or any(name not in tables for name in ENDGAMES):
        print(
            *problems, "build the tables first: kempelen tablebase build", sep="\n", file=sys.stderr
        )
        return 2
    own = BuiltinTablebase(tables)
    search = AlphaBetaSearch()
    limits: Limits[chess.Move] = Limits(depth=DEPTH)
    if arguments.nodes:
        limits = Limits(nodes=arguments.nodes)
    else:
        search.set_tablebases(Tablebases(own))
    chance = random.Random(arguments.seed)
    rows = []
    failed = False
    for name in ENDGAMES:
        starts = (
            board
            for board in positions(endgame_from_name(name), chance)
            if board.turn and (own.probe(board) or 1) % 2 == 0
        )
        began = time.perf_counter()
        games = [
            (board, win(search, limits, own, board, chance))
            for _, board in zip(range(arguments.games), starts, strict=False)
        ]
        won = sum(done for _, done in games)
        plies = [len(board.move_stack) for board, _ in games]
        seconds = time.perf_counter() - began
        rows.append((name, arguments.games, won, max(plies), seconds / sum(plies)))
        failed |= won < arguments.games
    columns = ("ending", "games", "won", "longest, plies", "s a ply")
    show("won against the best defence", columns, rows, arguments.json)
    if arguments.nodes:
        return 0
    wrong = []
    syzygy = chess.syzygy.open_tablebase(arguments.syzygy) if arguments.syzygy else None
    each = -(-arguments.positions // len(tables.names))
    for name in tables.names:
        for _, board in zip(range(each), positions(endgame_from_name(name), chance), strict=False):
            value = own.probe(board)
            if value != own.probe_by_moves(board):
                wrong.append(board.fen())
            if syzygy and outcome(value) != outcome_by(syzygy, board):
                wrong.append(f"{board.fen()}: another outcome by Syzygy")
    print(f"{each * len(tables.names)} positions of {len(tables.names)} tables: {len(wrong)} wrong")
    for fen in wrong[:10]:
        print(fen)
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
