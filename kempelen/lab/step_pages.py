"""Create the pages of `kempelen web` that show a search step by step.

Requests name a built-in game and an algorithm, or contain a tree. They cannot set algorithm
options, because some options are file names.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from agent.games import catalogue
from agent.games.tree import parse_tree
from agent.io.message import Message
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.catalogue import REMARKS, algorithms
from kempelen.console.translation import LANGUAGES, error_message, translate
from kempelen.lab import problems, step
from kempelen.lab.recordings import record_search
from kempelen.lab.recordings.recording import Recording

DEPTHS = (1, 5)
MAX_NODES, MAX_SECONDS = 2000, 2.0
# The game with trees entered by visitors, and the limits in characters, nodes and levels.
TREE = "tree"
MAX_TEXT_LENGTH, MAX_TREE_NODES, MAX_TREE_DEPTH = 20_000, 2000, 40


@cache
def choices() -> dict[str, Any]:
    """Return the games with their supported algorithms, and the limits of requests.

    "depth" holds the minimum and maximum depth. "tree" holds the name of the game whose
    trees visitors enter as text, and the maximum length of this text in characters. "remarks"
    tells apart algorithms with similar names, by language.
    """
    specs = [AlgorithmSpec(name, kind, {}) for name, kind in algorithms().items()]
    games = {
        name: [spec.text for spec in specs if spec.supports(game)]
        for name in catalogue.builtin_names()
        for game in (catalogue.new_game(name),)
    }
    remarks = {
        language: {name: translate(f"  {name}: {text}", language) for name, text in REMARKS.items()}
        for language in LANGUAGES
    }
    return {
        "games": games,
        "depth": DEPTHS,
        "tree": [TREE, MAX_TEXT_LENGTH],
        "remarks": remarks,
    }


def render_page(request: Mapping[str, str]) -> str:
    """Return an HTML page with the steps of the requested search.

    Raise ValueError, with a message in the visitor's language, if the request is invalid.
    """
    language = "es" if request.get("language") == "es" else "en"
    try:
        recording = _record(request, language)
    except ValueError as error:
        raise ValueError(error_message(error, language)) from None
    return step.render_page(recording, language, is_served=True)


def _record(request: Mapping[str, str], language: str) -> Recording:
    game, algorithm, depth = (request.get(key, "") for key in ("game", "algorithm", "depth"))
    if game not in catalogue.builtin_names() or algorithm not in algorithms():
        raise ValueError("unknown game or algorithm")
    spec = AlgorithmSpec(algorithm, algorithms()[algorithm], {})
    if not spec.supports(catalogue.new_game(game)):
        raise ValueError(Message("{}: does not support {}", algorithm, game))
    parser = ArgumentParser()
    problems.configure(parser)
    words = ["--game", game]
    if game != TREE:  # trees are searched to the leaves
        if depth not in map(str, range(DEPTHS[0], DEPTHS[1] + 1)):
            raise ValueError(Message("depth: must be from {} to {}", DEPTHS[0], DEPTHS[1]))
        words += ["--depth", depth]
    arguments = parser.parse_args(words)
    arguments.lang = language
    problem = problems.problem_from(arguments)
    text = request.get("tree", "").strip() if game == TREE else ""
    if text:
        if len(text) > MAX_TEXT_LENGTH:
            raise ValueError(Message("tree: too long (at most {} characters)", MAX_TEXT_LENGTH))
        tree = parse_tree(text, MAX_TREE_NODES, MAX_TREE_DEPTH)
        problem = replace(
            problem, game=tree, depth=problems.UNLIMITED_DEPTH, scale=tree.max_utility() or 1
        )
    return record_search.record_search(problem, spec, max_nodes=MAX_NODES, seconds=MAX_SECONDS)
