"""Elo difference of two settings of the Go search, which play each other.

    python benchmarks/go_duel.py nakade=0 --games 400 --playouts 500 --ledger duels.jsonl
    python benchmarks/go_duel.py learned=50 --against learned=0 --time 0.1
    python benchmarks/go_duel.py --size 13 --their-network none --time 0.1

All games run in this process. A pair of games starts from the same random opening with colours
swapped. Each game has its own random seeds, so that the games differ. A game ends when both sides
consider it decided (see kempelen.training.go_selfplay). A ledger contains one line per pair. To
continue, run the same command again.
"""

from __future__ import annotations

import argparse
import hashlib
import threading
from collections import Counter
from functools import cache
from pathlib import Path
from unittest import mock

from harness import JsonLedger, add_concurrency, elo_of_pairs, even_count, parser, show

import agent.go.search
from agent.games.go import Go
from agent.go.network_file import SHIPPED, GoNetwork, NetworkError, read
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Limits
from kempelen.training.go_selfplay import MEGABYTES, play_game, random_opening

RANDOM_PLIES = 4
UNLIMITED_PLAYOUTS = 1 << 40  # playout limit if moves are limited by time
NO_NETWORK = "none"
CREATION_LOCK = threading.Lock()


class TimedSearch(GoSearch):
    """A search that stops after a number of seconds."""

    seconds = 0.0

    def clear_stop(self) -> None:
        """Allow the next search to run."""
        super().clear_stop()
        timer = threading.Timer(self.seconds, self.stop)
        timer.daemon = True
        timer.start()


def settings_of(texts: list[str]) -> dict[str, float]:
    """Parse settings in the form NAME=VALUE."""
    return {name: float(value) for name, _, value in (text.partition("=") for text in texts)}


@cache
def read_network(file: str) -> GoNetwork | None:
    """Read a side's network, if it has one."""
    return None if file == NO_NETWORK else read(Path(file))


def make_search(
    arguments: argparse.Namespace, side: int, settings: dict[str, float], seed: int
) -> GoSearch:
    """Create the search of one side for one game."""
    search_config = SearchConfig(megabytes=MEGABYTES, seed=seed, settings=settings)
    network = read_network((arguments.network, arguments.their_network)[side])
    # The search reads its network when it is created. One lock, because the patch is global.
    with (
        CREATION_LOCK,
        mock.patch.object(agent.go.search, "shipped_network", return_value=(network, "")),
    ):
        if arguments.time is None:
            return GoSearch(search_config)
        search = TimedSearch(search_config)
    search.seconds = arguments.time
    return search


def playouts_of(arguments: argparse.Namespace) -> list[int]:
    """Return the playouts per move of both sides."""
    if arguments.time:
        return [UNLIMITED_PLAYOUTS] * 2
    return [arguments.playouts, arguments.their_playouts or arguments.playouts]


def play_pair(arguments: argparse.Namespace, number: int) -> tuple[int, list[str]]:
    """Play a pair of games. Return the first side's half points, and the moves of both games."""
    sides = [settings_of(arguments.settings), settings_of(arguments.against)]
    limits: list[Limits[int]] = [Limits(nodes=playouts) for playouts in playouts_of(arguments)]
    points, texts = 0, []
    for colour in range(2):
        game = Go(arguments.size, arguments.komi)
        first = random_opening(arguments.size, RANDOM_PLIES, f"{arguments.seed}/{number}")
        for move in first:
            game.play(move)
        seed = (arguments.seed << 32) + 4 * number + 2 * colour
        players = [(side ^ colour, seed + side) for side in range(2)]
        searches = [make_search(arguments, side, sides[side], number) for side, number in players]
        moves: list[int] = []
        result = play_game(searches, game, [limits[side] for side, _ in players], moves)
        points += 2 * (result == (-1 if colour else 1))
        texts.append(" ".join(map(str, first + moves)))
    return points, texts


def key_of(arguments: argparse.Namespace) -> str:
    """Return the key of a duel in the ledger."""
    playouts = " : ".join(map(str, dict.fromkeys(playouts_of(arguments))))
    limit = f"{arguments.time} s" if arguments.time else f"{playouts} playouts"
    first = " ".join([*sorted(arguments.settings), network_name(arguments.network)])
    second = " ".join([*sorted(arguments.against), network_name(arguments.their_network)])
    size = f"{arguments.size}x{arguments.size} komi {arguments.komi:g}"
    return f"{first} : {second}, {limit}, {size}, seed {arguments.seed}"


def network_name(file: str) -> str:
    """Return what the key of a duel says of a side's network."""
    network = read_network(file)
    if network is None:
        return f"network={file}"
    digest = hashlib.sha256(network.parameters.tobytes()).hexdigest()[:8]
    return f"network={Path(file).name} ({digest})"


def main(arguments: argparse.Namespace) -> None:
    """Play and report."""
    key = key_of(arguments)
    found = JsonLedger(arguments.ledger, {"duel": key}).collect(
        arguments.games // 2, lambda number: play_pair(arguments, number), arguments.concurrency
    )
    counts = Counter(points for points, _ in found)
    distinct = len({game for _, games in found for game in games})
    title, _, limit = key.partition(", ")
    columns = ("settings", "games", "distinct", "won", "Elo")
    share = sum(points for points, _ in found) / (4 * len(found))
    elo = elo_of_pairs([counts[points] for points in range(5)])
    row = (title, 2 * len(found), distinct, f"{share:.1%}", elo)
    show(limit, columns, [row], arguments.json)


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument(
        "settings", nargs="*", metavar="NAME=VALUE", help="settings of the first side"
    )
    options.add_argument("--against", nargs="*", default=[], metavar="NAME=VALUE")
    options.add_argument("--games", type=even_count, default=200)
    options.add_argument("--playouts", type=int, default=500, help="playouts per move")
    options.add_argument("--their-playouts", type=int, help="of the second side, if different")
    for name in ("--network", "--their-network"):
        options.add_argument(
            name,
            default=str(SHIPPED),
            metavar="FILE",
            help=f"network of a side, or {NO_NETWORK} (default: the shipped one)",
        )
    options.add_argument("--time", type=float, help="seconds per move, instead of a playout limit")
    options.add_argument("--size", type=int, default=9)
    options.add_argument("--komi", type=float, default=7.5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ledger", type=Path, help="store the games in FILE, or continue with it")
    add_concurrency(options)
    chosen = options.parse_args()
    try:
        for side in (chosen.network, chosen.their_network):
            read_network(side)
    except NetworkError as problem:
        options.error(str(problem))
    main(chosen)
