"""What a player of Go searches with."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from agent.compiled.source import CompiledSource, Means
from agent.compiled.source import compiled_source as compiled
from agent.evaluation import Evaluation
from agent.games.go import Go, evaluate
from agent.go.parts import GO
from agent.limits import Limits
from agent.search.source import GameSource, LearningSearcher

# The seeds of a session's games lie so far from those of another seed.
_MOST_GAMES = 1_000_000


def compiled_source(
    plain: GameSource[int], evaluation: Evaluation, means: Means, report: Callable[[str], None]
) -> CompiledSource[int]:
    """Return what a player searches with: the compiled search, and `plain` until it is there.

    means: with a seed, each game of a session has other random numbers, but the same every time.
    """
    games = count()
    if evaluation.python is not None and means.threads > 1:
        report("the evaluation is plain Python: one thread searches")
        means = replace(means, threads=1)

    def make(users: Evaluation | None) -> LearningSearcher[int]:
        from agent.go.search import GoSearch

        if means.seed is None:
            return GoSearch(means, users)
        return GoSearch(replace(means, seed=means.seed * _MOST_GAMES + next(games)), users)

    def try_out(search: LearningSearcher[int]) -> None:
        from agent.go.pattern_weights import shipped

        if wrong := shipped()[1]:
            report(f"{wrong}; the Go search plays without what was learned")
        list(search.deepen(Go(), Limits(nodes=1)))

    return compiled(
        GO,
        "Go search",
        plain,
        evaluation,
        evaluate,
        make,
        try_out,
        report,
        at_once=means.at_once,
    )
