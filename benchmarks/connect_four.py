"""Search speed of the compiled Connect Four, compared with plain Python alpha-beta.

    python benchmarks/connect_four.py [--depth 10] [--positions 20] [--no-cold] [--json FILE]

Both search the same positions, 4 to 16 random moves into the game, to the same depth. They use
iterative deepening from an empty table and the game's own evaluation, as in play over GTP. Both
must find the same values. The benchmark then measures the compiled search with the same evaluation
as a user's plain Python function. Times are CPU seconds, so that other load on the machine matters
little.

Finally, the benchmark measures two times from the start of `kempelen gtp`: until its first move
with a limit of 0.1 s, and until the search is compiled. Both are measured with the existing cache
and with an empty one.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from random import Random
from time import perf_counter, process_time
from typing import Any

from report import KEMPELEN, parser, show

from agent.connect_four.parts import CONNECT_FOUR
from agent.connect_four.search import ConnectFourSearch
from agent.evaluation import Evaluation
from agent.games.connect_four import ConnectFour, evaluate
from agent.kernel.decorators import CACHE_VARIABLE
from agent.limits import Limits
from agent.search.defaults import make_search
from agent.search.searcher import GameSearcher

# Tolerance between values, because the compiled search rounds them to three digits.
TOLERANCE = 0.001


def positions(number: int) -> Iterator[ConnectFour]:
    """Yield unfinished positions after random moves."""
    chance = Random(1)
    while number:
        game = ConnectFour()
        for _ in range(chance.randrange(4, 17)):
            if game.outcome() is None:
                game.play(chance.choice(game.moves()))
        if game.outcome() is None:
            number -= 1
            yield game


def run(search: Any, games: list[ConnectFour], depth: int) -> tuple[int, float, list[float]]:
    """Return the nodes, the seconds, and the expected outcome that each search found."""
    nodes, seconds, values = 0, 0.0, []
    list(search.search(ConnectFour(), Limits(depth=2)))  # warm-up: the first search takes longer
    for game in games:
        search.new_game()
        search.clear_stop()
        began = process_time()
        *_, last = search.search(game, Limits(depth=depth))
        seconds += process_time() - began
        nodes += last.nodes
        values.append(last.expected_outcome)
    return nodes, seconds, values


def first_move(cache: str | None = None) -> float:
    """Return the seconds from program start to its first move."""
    command = [*KEMPELEN[:-1], "gtp", "--game", "connect-four", "--no-book", "--time", "0.1"]
    began = perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(cache),
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        engine.stdin.write("genmove b\n")
        engine.stdin.flush()
        answer = engine.stdout.readline()
        seconds = perf_counter() - began
        engine.stdin.write("quit\n")
        engine.stdin.close()
        assert answer.startswith("= "), answer
    return seconds


def compilation(cache: str) -> float:
    """Return the seconds that compiling into the empty folder `cache` takes."""
    code = f"from agent.kernel import compilation; compilation.load({CONNECT_FOUR!r})"
    began = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(cache))
    return perf_counter() - began


def environment(cache: str | None) -> dict[str, str]:
    """Return this process's environment, with another compilation cache if one is given."""
    return {**os.environ, **({} if cache is None else {CACHE_VARIABLE: cache})}


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--depth", type=int, default=10, metavar="PLIES")
    arguments.add_argument("--positions", type=int, default=20, metavar="N")
    arguments.add_argument(
        "--no-cold", action="store_true", help="skip the measurements with an empty cache"
    )
    options = arguments.parse_args()
    games = list(positions(options.positions))
    searches = {
        "plain alpha-beta": GameSearcher(make_search("alpha-beta", ConnectFour(), evaluate)),
        "compiled": ConnectFourSearch(),
        "compiled, plain evaluation": ConnectFourSearch(
            evaluation=Evaluation("plain", python=evaluate)
        ),
    }
    found = {name: run(search, games, options.depth) for name, search in searches.items()}
    plain_nodes, plain_seconds, plain_values = found["plain alpha-beta"]
    rows = []
    for name, (nodes, seconds, values) in found.items():
        for value, expected in zip(values, plain_values, strict=True):
            assert abs(value - expected) <= TOLERANCE, f"{name} finds {value}, not {expected}"
        speed = nodes / seconds
        rows.append(
            (
                name,
                nodes,
                round(seconds, 3),
                round(speed),
                round(speed * plain_seconds / plain_nodes, 1),
                round(plain_seconds / seconds, 1),
            )
        )
    columns = ("search", "nodes", "seconds", "nodes a second", "times as many", "times as fast")
    show(f"Connect Four, depth {options.depth}", columns, rows, options.json)
    first_move()  # fills the cache if it is empty
    print(f"first move after {first_move():.2f} s")
    if options.no_cold:
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"on an empty cache after {first_move(folder):.2f} s")
        print(f"compiled in {compilation(folder):.1f} s")


if __name__ == "__main__":
    main()
