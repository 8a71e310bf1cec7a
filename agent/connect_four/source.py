"""What a player of Connect Four searches with."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.compiled.source import CompiledSource
from agent.connect_four.parts import CONNECT_FOUR
from agent.evaluation import Evaluation
from agent.games.connect_four import ConnectFour, evaluate
from agent.limits import Limits
from agent.search.source import GameSource, LearningSearcher
from agent.threads.left_behind import MOST_LEFT


def compiled_source(
    plain: GameSource[int], evaluation: Evaluation, report: Callable[[str], None]
) -> CompiledSource[int]:
    """Return what a player searches with: the compiled search, and `plain` until it is there.

    evaluation: a user's plain function takes the plain game, and reports errors by its name.
    """

    def make_search(function: Callable[[Any], float]) -> LearningSearcher[int]:
        from agent.connect_four.search import ConnectFourSearch

        if function is evaluate:
            return ConnectFourSearch()
        users = evaluation if evaluation.jitted else replace(evaluation, python=function)
        return ConnectFourSearch(evaluation=users)

    def make_source() -> GameSource[int]:
        # A first search takes longer than a fast game allows.
        list(make_search(evaluate).deepen(ConnectFour(), Limits(depth=1)))
        users = evaluation.python if evaluation.jitted is None else _in_the_kernel
        return GameSource(
            make_search,
            evaluate,
            None if users is None else (evaluation.name, users),
            report,
            # Compiled code that did not return once is not tried again.
            most_left=MOST_LEFT if evaluation.jitted is None else 0,
        )

    return CompiledSource(CONNECT_FOUR, "Connect Four search", plain, make_source, report)


def _in_the_kernel(game: Any) -> float:
    """Stand for an evaluation that only the kernel can call."""
    raise TypeError("a compiled evaluation takes no plain game")
