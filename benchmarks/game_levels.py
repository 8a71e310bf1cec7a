"""Strength of the levels of games other than chess, each against the next weaker one.

    python benchmarks/game_levels.py connect-four othello checkers go --games 40

The levels play as on the pages. They stop at their number of nodes, so the load of the machine has
no effect. Each random opening is played twice, with the colours swapped.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from harness import even_count, parser, show

from agent.backends import wait_until_loaded
from agent.games.catalogue import find
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG
from agent.search.limited_strength import GAME_LEVELS
from protocols.client.in_process_game import InProcessGameClient
from protocols.client.uci import SearchRequest
from protocols.gtp.session import Settings
from protocols.session_context import STANDALONE

OPENING_PLIES = 4
MAX_PLIES = 300
OPTIONS = {"go": {"size": 9}}
SECONDS = 600.0  # a limit that no move reaches


def settings(name: str, level: int, seed: int) -> Settings:
    """Return the settings of the opponent on the pages."""
    return Settings(
        game=name,
        options=OPTIONS.get(name, {}),
        search_config=replace(DEFAULT_SEARCH_CONFIG, seed=seed, megabytes=16),
        book=False,
        resigns=False,
        level=level,
    )


async def play(name: str, levels: Sequence[int], seed: int) -> float:
    """Play a game from a random opening, and return the score of the first player."""
    start: Any = find(name).new(**OPTIONS.get(name, {}))
    rng, moves, movers = Random(seed), [], []

    def follow(text: str) -> None:
        move = next(move for move in start.moves() if start.text(move).lower() == text.lower())
        moves.append(start.text(move))
        movers.append(start.turn)
        start.play(move)

    for _ in range(OPENING_PLIES):
        follow(rng.choice([text for text in map(start.text, start.moves()) if text != "pass"]))
    players = []
    for index, level in enumerate(levels):
        chosen = settings(name, level, 2 * seed + index)
        players.append(InProcessGameClient(chosen, STANDALONE, lambda text: None))
        await players[-1].start()
        wait_until_loaded(players[-1]._session.backend)
        await players[-1].new_game()
    while start.outcome() is None and len(moves) < MAX_PLIES:
        request = SearchRequest(
            None,
            tuple(moves),
            movers=tuple(movers),
            side=start.turn,
            mover=start.turn,
            movetime=SECONDS,
        )
        follow((await players[start.turn].search(request, SECONDS)).move)
    for player in players:
        await player.close()
    outcome = start.outcome() or 0.0
    return 0.5 if outcome == 0 else float(outcome > 0)


async def compare(name: str, strong: int, weak: int, games: int) -> float:
    """Return the points of a level against another one."""
    points = 0.0
    for seed in range(games // 2):
        points += await play(name, (strong, weak), seed)
        points += 1 - await play(name, (weak, strong), seed)
    return points


def main() -> None:
    """Compare the levels of each game."""
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="+", metavar="GAME")
    arguments.add_argument("--games", type=even_count, default=40, help="games per pair of levels")
    arguments.add_argument(
        "--levels", type=int, nargs="+", default=range(1, len(GAME_LEVELS)),
        help="levels to compare with the next weaker one",
    )  # fmt: skip
    options = arguments.parse_args()
    rows = []
    for name in options.names:
        for level in options.levels:
            points = asyncio.run(compare(name, level, level - 1, options.games))
            share = points / options.games
            error = 196 * math.sqrt(share * (1 - share) / options.games)
            rows.append(
                (name, level, f"{points:g}/{options.games}", f"{100 * share:.0f} ± {error:.0f} %")
            )
            print(*rows[-1], flush=True)
    show("levels", ("game", "level", "points against the level below", "share"), rows, options.json)


if __name__ == "__main__":
    main()
