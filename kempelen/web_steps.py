"""The pages of steps that `kempelen web` makes when a visitor asks: a game, an algorithm, a depth.

Only what is shipped is searched, by names alone, or a tree that the visitor has written, and little
of it: an algorithm's options may name files, and a visitor shares the machine with all others.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from agent.games import catalogue
from agent.games.tree import parse_tree
from agent.search.catalogue import algorithms
from agent.search.configuration import Configuration
from kempelen.lab import recorded, step, subject
from kempelen.lab.messages import explained
from kempelen.lab.recording import Recording

DEPTHS = (1, 5)
# The most nodes and seconds of a search.
MOST_NODES, SECONDS = 2000, 2.0
# The game whose tree a visitor may write; the most characters, nodes and levels of that.
TREE = "tree"
MOST_TEXT, MOST_IN_TREE, MOST_LEVELS = 20_000, 2000, 40


@cache
def choices() -> dict[str, Any]:
    """Return the games with the algorithms that play them, and what else a visitor may say.

    depth: the least and the greatest. tree: the game that has a tree in place of a depth, and the
    most characters of that.
    """
    kinds = [Configuration(name, kind, {}) for name, kind in algorithms().items()]
    games = {
        name: [each.text for each in kinds if each.plays(game)]
        for name in catalogue.built_in()
        for game in (catalogue.new_game(name),)
    }
    return {"games": games, "depth": DEPTHS, "tree": [TREE, MOST_TEXT]}


def page(asked: Mapping[str, str]) -> str:
    """Return a page that shows the steps.

    Raises ValueError, in the visitor's language, for what is not among the choices.
    """
    language = "es" if asked.get("language") == "es" else "en"
    try:
        recording = _recorded(asked, language)
    except ValueError as error:
        raise ValueError(explained(error, language)) from None
    return step.as_page(recording, language, is_served=True)


def _recorded(asked: Mapping[str, str], language: str) -> Recording:
    game, algorithm, depth = (asked.get(each, "") for each in ("game", "algorithm", "depth"))
    if game not in catalogue.built_in() or algorithm not in algorithms():
        raise ValueError("there is no such game or algorithm")
    chosen = Configuration(algorithm, algorithms()[algorithm], {})
    if not chosen.plays(catalogue.new_game(game)):
        raise ValueError(f"{algorithm} does not play {game}")
    parser = ArgumentParser()
    subject.configure(parser)
    words = ["--game", game]
    if game != TREE:  # which is searched to its leaves
        if depth not in map(str, range(DEPTHS[0], DEPTHS[1] + 1)):
            raise ValueError(f"the depth is from {DEPTHS[0]} to {DEPTHS[1]}")
        words += ["--depth", depth]
    arguments = parser.parse_args(words)
    arguments.lang = language
    at = subject.subject(arguments)
    text = asked.get("tree", "").strip() if game == TREE else ""
    if text:
        if len(text) > MOST_TEXT:
            raise ValueError(f"the text of a tree has {MOST_TEXT} characters at most")
        tree = parse_tree(text, MOST_IN_TREE, MOST_LEVELS)
        at = replace(at, game=tree, scale=tree.greatest() or 1)
    return recorded.record(at, chosen, most=MOST_NODES, seconds=SECONDS)
