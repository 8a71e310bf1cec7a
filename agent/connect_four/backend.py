"""Search backend for Connect Four."""

from collections.abc import Callable

from agent.connect_four.parts import CONNECT_FOUR
from agent.evaluation_types import HANDCRAFTED, Evaluation
from agent.games.connect_four import ConnectFour, evaluate
from agent.kernel.backend import CompiledBackend, SearchConfig
from agent.kernel.backend import compiled_backend as compiled
from agent.limits import Limits
from agent.search.backend import GameBackend, PersistentSearcher


def compiled_backend(
    plain: GameBackend[int],
    evaluation: Evaluation,
    search_config: SearchConfig,
    report: Callable[[str], None],
) -> CompiledBackend[int]:
    """Return a backend that uses the compiled search, or `plain` until the code is loaded."""

    def make(user_evaluation: Evaluation | None) -> PersistentSearcher[int]:
        from agent.connect_four.search import ConnectFourSearch

        return ConnectFourSearch(search_config.megabytes, user_evaluation or HANDCRAFTED)

    def trial_search(search: PersistentSearcher[int]) -> None:
        list(search.search(ConnectFour(), Limits(depth=1)))

    return compiled(
        CONNECT_FOUR,
        "Connect Four search",
        plain,
        evaluation,
        evaluate,
        make,
        trial_search,
        report,
        at_once=search_config.at_once,
    )
