"""Nodes a second of the compiled Connect Four, beside plain alpha-beta on the plain game.

    python benchmarks/connect_four.py [--depth 10] [--positions 20] [--no-cold] [--json FILE]

Both search the same positions, 4 to 16 random moves into the game, to the same depth, by
progressive deepening from an empty table and with the game's own evaluation, as they play over
GTP; and both must find the same values. Then the compiled search with that evaluation as a user's
plain function. Seconds are the processor's, so that what else the machine does matters little.

At last the seconds from the start of `kempelen gtp` to its first move, which has 0.1 s, and until
the search is compiled: on this cache, and on an empty one.
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

# By how much values may differ, which the compiled search rounds to three digits.
TOLERANCE = 0.001


def positions(number: int) -> Iterator[ConnectFour]:
    """Generate positions that are not over."""
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
    """Return nodes, seconds, and what each search expects."""
    nodes, seconds, values = 0, 0.0, []
    list(search.search(ConnectFour(), Limits(depth=2)))  # the first takes longer
    for game in games:
        search.new_game()
        search.clear_stop()
        began = process_time()
        *_, last = search.search(game, Limits(depth=depth))
        seconds += process_time() - began
        nodes += last.nodes
        values.append(last.expected)
    return nodes, seconds, values


def first_move(cache: str | None = None) -> float:
    """Return the seconds from the start of the program to its first move."""
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
    """Return the seconds that the compilation takes, on an empty cache in that folder."""
    code = f"from agent.kernel import warming; warming.load({CONNECT_FOUR!r})"
    began = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment(cache))
    return perf_counter() - began


def environment(cache: str | None) -> dict[str, str]:
    """Return this process's environment, with another cache if one is given."""
    return {**os.environ, **({} if cache is None else {CACHE_VARIABLE: cache})}


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--depth", type=int, default=10, metavar="PLIES")
    arguments.add_argument("--positions", type=int, default=20, metavar="N")
    arguments.add_argument("--no-cold", action="store_true", help="leave out the empty cache")
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
    first_move()  # fills the cache, where it is empty
    print(f"first move after {first_move():.2f} s")
    if options.no_cold:
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"on an empty cache after {first_move(folder):.2f} s")
        print(f"compiled in {compilation(folder):.1f} s")


if __name__ == "__main__":
    main()
