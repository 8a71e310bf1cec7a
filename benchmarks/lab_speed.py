"""Nodes per second of the plain Python searches, compared with easyAI and OpenSpiel.

    pip install easyAI open_spiel    # optional, for their columns
    python benchmarks/lab_speed.py

Each program searches its own implementation of the game from the initial position. easyAI's games
are written in Python, OpenSpiel's in C++. A node is a position that the search visits. A playout is
a random game to its end. Nodes are counted in a second run, so that counting does not slow down the
other programs. Times are CPU seconds, so that other load on the machine matters little. easyAI's
SSS* is MTD with an initial guess of infinity, so it is compared with our MTD. OpenSpiel has
neither.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

from harness import parser, show, show_progress

from agent.games import catalogue
from agent.search.catalogue import algorithm

# By game: depth of alpha-beta, depth of MTD(f), and number of playouts.
TASKS = {"tic-tac-toe": (8, 8, 2000), "connect-four": (6, 6, 500), "othello": (4, 4, 100)}


def speed(run: Callable[[], Any], count: Callable[[], int]) -> float:
    """Return `count()` per second of `run()`, repeated for about a second."""
    run()
    runs, began = 0, process_time()
    while (seconds := process_time() - began) < 1:
        run()
        runs += 1
    return runs * count() / seconds


def ours(name: str, search_name: str, depth: int, **options: Any) -> float:
    """Return the nodes per second of our search, or the playouts per second for UCT."""
    kind = algorithm(search_name)
    search = kind(catalogue.evaluation(name), kind.options(**options))
    game = catalogue.new_game(name)

    def run() -> None:
        search.reset_stats()
        search.search(game, depth)

    return speed(run, lambda: search.counts.leaves if search_name == "uct" else search.counts.nodes)


def easy_ai(name: str, search_name: str, depth: int) -> float | None:
    """Return easyAI's nodes per second, or None if it is missing or lacks the search."""
    if search_name not in ("alpha-beta", "sss-star-mtd"):
        return None
    try:
        from easyAI import SSS, AI_Player, Negamax, TranspositionTable
        from easyAI.games.ConnectFour import ConnectFour
        from easyAI.games.Reversi import Reversi
        from easyAI.games.TicTacToe import TicTacToe
    except ImportError:
        return None
    classes = {"tic-tac-toe": TicTacToe, "connect-four": ConnectFour, "othello": Reversi}

    class Plain(classes[name]):  # type: ignore[misc]
        def ttentry(self) -> Any:
            return str(self.board), self.current_player

    class Counted(Plain):
        moves_made = 0

        def make_move(self, move: Any) -> None:
            Counted.moves_made += 1
            super().make_move(move)

    def run(kind: Any = Plain) -> None:
        if search_name == "alpha-beta":
            player = Negamax(depth)
        else:
            player = SSS(depth, tt=TranspositionTable())
        player(kind([AI_Player(player), AI_Player(player)]))

    run(Counted)
    return speed(run, lambda: Counted.moves_made)


def open_spiel(name: str, search_name: str, depth: int, playouts: int) -> float | None:
    """Return OpenSpiel's nodes or playouts per second, or None if it is missing."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import mcts, minimax
    except ImportError:
        return None
    game = pyspiel.load_game(
        {"tic-tac-toe": "tic_tac_toe", "connect-four": "connect_four"}.get(name, name)
    )
    if search_name == "uct":
        import numpy

        def playout() -> None:
            evaluator = mcts.RandomRolloutEvaluator(1, numpy.random.RandomState(1))
            bot = mcts.MCTSBot(game, 2**0.5, playouts, evaluator, solve=False)
            bot.mcts_search(game.new_initial_state())

        return speed(playout, lambda: playouts)
    if search_name != "alpha-beta":
        return None

    def run() -> None:
        minimax.alpha_beta_search(
            game, value_function=lambda state: 0, maximum_depth=depth, maximizing_player_id=0
        )

    nodes = 0
    original = minimax._alpha_beta

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal nodes
        nodes += 1
        return original(*arguments, **options)

    minimax._alpha_beta = counted
    run()
    minimax._alpha_beta = original
    return speed(run, lambda: nodes)


def main() -> None:
    """Measure and print the table."""
    options = parser(__doc__).parse_args()
    rows = []
    for name, (depth, mtd_depth, playouts) in TASKS.items():
        for search in ("alpha-beta", "mtd-f", "sss-star-mtd", "uct"):
            show_progress(f"{name}: {search}")
            if search == "uct":
                own = ours(name, search, 999, playouts=playouts, seed=1)
            else:
                own = ours(name, search, depth if search == "alpha-beta" else mtd_depth)
            theirs = easy_ai(name, search, depth), open_spiel(name, search, depth, playouts)
            ratios = (own / other if other else "-" for other in theirs)
            rows.append((name, search, own, *(other or "-" for other in theirs), *ratios))
    columns = ("game", "search", "Kempelen", "easyAI", "OpenSpiel", "x easyAI", "x OpenSpiel")
    show("positions a second (UCT: playouts a second)", columns, rows, options.json)


if __name__ == "__main__":
    main()
