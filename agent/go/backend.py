"""Search backend for Go: the compiled search, with the Python search as fallback."""

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

# Distance between the first game seeds of consecutive session seeds.
_MAX_GAMES = 1_000_000


def compiled_backend(
    plain: GameBackend[int],
    evaluation: Evaluation,
    search_config: SearchConfig,
    report: Callable[[str], None],
) -> CompiledBackend[int]:
    """Return a backend that uses the compiled search, or `plain` until the code is loaded.

    With a seed, each game of a session gets different but reproducible random numbers.
    """
    games = count()
    if evaluation.python is not None and search_config.threads > 1:
        report("the evaluation is a Python function; using one search thread")
        search_config = replace(search_config, threads=1)

    def make(user_evaluation: Evaluation | None) -> PersistentSearcher[int]:
        from agent.go.search import GoSearch

        if search_config.seed is None:
            return GoSearch(search_config, user_evaluation)
        seed = search_config.seed * _MAX_GAMES + next(games)
        return GoSearch(replace(search_config, seed=seed), user_evaluation)

    def trial_search(search: PersistentSearcher[int]) -> None:
        from agent.go.network_file import shipped_network
        from agent.go.pattern_weights import shipped_weights

        if problem := shipped_weights()[1]:
            report(f"{problem}; the Go search runs without learned patterns")
        if problem := shipped_network()[1]:
            report(f"{problem}; the Go search runs without its network")
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
