"""The pages of steps that `kempelen web` makes when a visitor asks: a game, an algorithm, a depth.

Only what is shipped is searched, by names alone, and little of it: an algorithm's options may name
files, and a visitor shares the machine with all others.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import cache
from typing import Any

from agent.games import catalogue
from agent.search.catalogue import algorithms
from agent.search.configuration import Configuration
from agent.search.sss_star import SSSStar
from kempelen.lab import recorded, step, subject

DEPTHS = (1, 5)
# The most nodes and seconds of a search; every step of SSS* and DUAL* has a long list to tell.
MOST_NODES, MOST_WITH_LISTS, SECONDS = 2000, 300, 2.0


@cache
def choices() -> dict[str, Any]:
    """Return the games with the algorithms that play them, and the least and greatest depth."""
    kinds = [Configuration(name, kind, {}) for name, kind in algorithms().items()]
    games = {
        name: [each.text for each in kinds if each.plays(game)]
        for name in catalogue.built_in()
        for game in (catalogue.new_game(name),)
    }
    return {"games": games, "depth": DEPTHS}


def page(asked: Mapping[str, str]) -> str:
    """Return a page that shows the steps. Raises ValueError for what is not among the choices."""
    game, algorithm, depth = (asked.get(each, "") for each in ("game", "algorithm", "depth"))
    if game not in catalogue.built_in() or algorithm not in algorithms():
        raise ValueError("there is no such game or algorithm")
    chosen = Configuration(algorithm, algorithms()[algorithm], {})
    if not chosen.plays(catalogue.new_game(game)):
        raise ValueError(f"{algorithm} does not play {game}")
    if depth not in map(str, range(DEPTHS[0], DEPTHS[1] + 1)):
        raise ValueError(f"the depth is from {DEPTHS[0]} to {DEPTHS[1]}")
    parser = ArgumentParser()
    subject.configure(parser)
    arguments = parser.parse_args(["--game", game, "--depth", depth])
    arguments.lang = "es" if asked.get("language") == "es" else "en"
    at = subject.subject(arguments)
    most = MOST_WITH_LISTS if issubclass(chosen.kind, SSSStar) else MOST_NODES
    recording = recorded.record(at, chosen, most=most, seconds=SECONDS)
    return step.as_page(recording, arguments.lang)
