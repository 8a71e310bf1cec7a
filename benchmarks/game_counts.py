"""Check counts and values of games against published ones, where this takes too long for a test.

    python benchmarks/game_counts.py [--only NAME] [--json]

Counting the positions of 4x4 tic-tac-toe needs about 1 GB of memory.
"""

import argparse
import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from agent.games.checkers import Checkers
from agent.games.connect_four import ConnectFour
from agent.games.othello import Othello
from agent.games.othello import evaluate as evaluate_othello
from agent.games.perft import count_positions, perft
from agent.games.tic_tac_toe import TicTacToe, evaluate
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.move_ordering import Ordering
from agent.search.transposition_table import TranspositionTable


def four_by_four_positions() -> tuple[int, int]:
    """Return the numbers of reachable and of terminal positions of 4x4 tic-tac-toe.

    Positions are enumerated ply by ply.
    """
    game = TicTacToe(4)
    lines = [line for through in game._lines_through for line in through]
    full = (1 << 16) - 1

    def won(marks: int) -> bool:
        return any(marks & line == line for line in lines)

    level, total, terminal = {(0, 0)}, 0, 0
    while level:
        total += len(level)
        following = set()
        for mine, theirs in level:
            if won(theirs) or mine | theirs == full:
                terminal += 1
                continue
            empty = full & ~(mine | theirs)
            while empty:
                square = empty & -empty
                empty ^= square
                following.add((theirs, mine | square))
        level = following
    return total, terminal


def finished(game: Any, plies: int) -> int:
    """Return the number of games that end after exactly `plies` moves.

    The published perft of Othello counts a final pass as an additional ply.
    """
    if plies == 0:
        return int(game.outcome() is not None)
    count = 0
    for move in game.moves():
        game.play(move)
        count += finished(game, plies - 1)
        game.undo()
    return count


def value(game: Any, evaluation: Callable[[Any], float]) -> float:
    """Return the value of a game, found by alpha-beta with a transposition table."""
    ordering = Ordering[Any](killers=True, history=True)
    options = AlphaBetaOptions(table=TranspositionTable(), ordering=ordering)
    search = AlphaBeta[Any](evaluation, options)
    return search.search(game, 99).value


TASKS: dict[str, tuple[Callable[[], Any], Any]] = {
    "tic-tac-toe 4x4: positions, terminal": (four_by_four_positions, (9_722_011, 659_392)),
    "tic-tac-toe 4x4: value": (lambda: value(TicTacToe(4), evaluate), 0),
    "connect-four: perft 8": (lambda: perft(ConnectFour(), 8), 5_673_234),
    "connect-four: perft 9": (lambda: perft(ConnectFour(), 9), 39_394_572),
    "connect-four: positions at ply 8": (lambda: count_positions(ConnectFour(), 8)[-1], 184_275),
    "connect-four: positions at ply 7": (lambda: count_positions(ConnectFour(), 7)[-1], 54_859),
    "checkers: perft 7": (lambda: perft(Checkers(), 7), 179_740),
    "checkers: perft 8": (lambda: perft(Checkers(), 8), 845_931),
    "checkers: perft 9": (lambda: perft(Checkers(), 9), 3_963_680),
    "othello: perft 8": (lambda: perft(Othello(), 8), 390_216),
    "othello: perft 9": (lambda: perft(Othello(), 9), 3_005_288),
    "othello: perft 10, with the games over after 9": (
        lambda: perft(Othello(), 10) + finished(Othello(), 9),
        24_571_284,
    ),
    "othello 4x4: value": (lambda: value(Othello(4), evaluate_othello), -8),
}


def main() -> int:
    """Measure and print the table. Return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="run only tasks whose name contains NAME")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    table = Table("what", "found", "known", "seconds")
    results = []
    for name, (task, known) in TASKS.items():
        if arguments.only not in name:
            continue
        if sys.stderr.isatty():
            print(name, file=sys.stderr)
        began = perf_counter()
        found = task()
        seconds = perf_counter() - began
        table.add_row(name, str(found), str(known), f"{seconds:.1f}")
        results.append({"what": name, "found": found, "known": known, "seconds": seconds})
    if arguments.json:
        print(json.dumps(results))
    else:
        Console(width=100).print(table)
    return int(any(result["found"] != result["known"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
