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
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.catalogue import algorithms
from kempelen.lab import problems, step
from kempelen.lab.recordings import record_search
from kempelen.lab.recordings.recording import Recording
from kempelen.lab.spanish_messages import error_message

DEPTHS = (1, 5)
# The most nodes and seconds of a search.
MAX_NODES, MAX_SECONDS = 2000, 2.0
# The game whose tree a visitor may write; the most characters, nodes and levels of that.
TREE = "tree"
MAX_TEXT_LENGTH, MAX_TREE_NODES, MAX_TREE_DEPTH = 20_000, 2000, 40


@cache
def choices() -> dict[str, Any]:
    """Return the games with the algorithms that play them, and what else a visitor may say.

    depth: the least and the greatest. tree: the game that has a tree in place of a depth, and the
    most characters of that.
    """
    kinds = [AlgorithmSpec(name, kind, {}) for name, kind in algorithms().items()]
    games = {
        name: [each.text for each in kinds if each.supports(game)]
        for name in catalogue.builtin_names()
        for game in (catalogue.new_game(name),)
    }
    return {"games": games, "depth": DEPTHS, "tree": [TREE, MAX_TEXT_LENGTH]}


def render_page(request: Mapping[str, str]) -> str:
    """Return a page that shows the steps.

    Raises ValueError, in the visitor's language, for what is not among the choices.
    """
    language = "es" if request.get("language") == "es" else "en"
    try:
        recording = _record(request, language)
    except ValueError as error:
        raise ValueError(error_message(error, language)) from None
    return step.render_page(recording, language, is_served=True)


def _record(request: Mapping[str, str], language: str) -> Recording:
    game, algorithm, depth = (request.get(each, "") for each in ("game", "algorithm", "depth"))
    if game not in catalogue.builtin_names() or algorithm not in algorithms():
        raise ValueError("there is no such game or algorithm")
    chosen = AlgorithmSpec(algorithm, algorithms()[algorithm], {})
    if not chosen.supports(catalogue.new_game(game)):
        raise ValueError(f"{algorithm} does not play {game}")
    parser = ArgumentParser()
    problems.configure(parser)
    words = ["--game", game]
    if game != TREE:  # which is searched to its leaves
        if depth not in map(str, range(DEPTHS[0], DEPTHS[1] + 1)):
            raise ValueError(f"the depth is from {DEPTHS[0]} to {DEPTHS[1]}")
        words += ["--depth", depth]
    arguments = parser.parse_args(words)
    arguments.lang = language
    at = problems.problem_from(arguments)
    text = request.get("tree", "").strip() if game == TREE else ""
    if text:
        if len(text) > MAX_TEXT_LENGTH:
            raise ValueError(f"the text of a tree has {MAX_TEXT_LENGTH} characters at most")
        tree = parse_tree(text, MAX_TREE_NODES, MAX_TREE_DEPTH)
        at = replace(at, game=tree, scale=tree.max_utility() or 1)
    return record_search.record_search(at, chosen, max_nodes=MAX_NODES, seconds=MAX_SECONDS)
