"""What a player of Go searches with."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from agent.evaluation_types import Evaluation
from agent.games.go import Go, evaluate
from agent.go.parts import GO
from agent.kernel.backend import CompiledBackend, SearchConfig
from agent.kernel.backend import compiled_backend as compiled
from agent.limits import Limits
from agent.search.backend import GameBackend, PersistentSearcher

# The seeds of a session's games lie so far from those of another seed.
_MAX_GAMES = 1_000_000


def compiled_backend(
    plain: GameBackend[int],
    evaluation: Evaluation,
    search_config: SearchConfig,
    report: Callable[[str], None],
) -> CompiledBackend[int]:
    """Return what a player searches with: the compiled search, and `plain` until it is there.

    means: with a seed, each game of a session has other random numbers, but the same every time.
    """
    games = count()
    if evaluation.python is not None and search_config.threads > 1:
        report("the evaluation is plain Python: one thread searches")
        search_config = replace(search_config, threads=1)

    def make(users: Evaluation | None) -> PersistentSearcher[int]:
        from agent.go.search import GoSearch

        if search_config.seed is None:
            return GoSearch(search_config, users)
        return GoSearch(
            replace(search_config, seed=search_config.seed * _MAX_GAMES + next(games)), users
        )

    def trial_search(search: PersistentSearcher[int]) -> None:
        from agent.go.pattern_weights import shipped_weights

        if wrong := shipped_weights()[1]:
            report(f"{wrong}; the Go search plays without what was learned")
        list(search.search(Go(), Limits(nodes=1)))

    return compiled(
        GO,
        "Go search",
        plain,
        evaluation,
        evaluate,
        make,
        trial_search,
        report,
        at_once=search_config.at_once,
    )
