"""What a player of Connect Four searches with."""

from collections.abc import Callable

from agent.compiled.source import CompiledSource, Means
from agent.compiled.source import compiled_source as compiled
from agent.connect_four.parts import CONNECT_FOUR
from agent.evaluation import HANDCRAFTED, Evaluation
from agent.games.connect_four import ConnectFour, evaluate
from agent.limits import Limits
from agent.search.source import GameSource, LearningSearcher


def compiled_source(
    plain: GameSource[int], evaluation: Evaluation, means: Means, report: Callable[[str], None]
) -> CompiledSource[int]:
    """Return what a player searches with: the compiled search, and `plain` until it is there.

    means: the memory is the transposition table's; it searches on one thread.
    """

    def make(users: Evaluation | None) -> LearningSearcher[int]:
        from agent.connect_four.search import ConnectFourSearch

        return ConnectFourSearch(means.megabytes, users or HANDCRAFTED)

    def try_out(search: LearningSearcher[int]) -> None:
        list(search.deepen(ConnectFour(), Limits(depth=1)))

    return compiled(
        CONNECT_FOUR,
        "Connect Four search",
        plain,
        evaluation,
        evaluate,
        make,
        try_out,
        report,
        at_once=means.at_once,
    )
