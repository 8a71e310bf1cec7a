"""Search backends for all games: compiled searches, and the Python searches of `agent.search`."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.connect_four.backend import compiled_backend as connect_four
from agent.connect_four.parts import fits as fits_connect_four
from agent.evaluation_loading import load_with_timeout
from agent.evaluation_types import HANDCRAFTED, Evaluation
from agent.game import Game
from agent.games import chain_status
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.catalogue import GameType
from agent.games.chain_status import ShouldContinue, StatusEstimator
from agent.games.connect_four import ConnectFour
from agent.games.go import Go
from agent.go.backend import compiled_backend as go
from agent.go.parts import fits as fits_go
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, CompiledBackend, SearchConfig
from agent.machine import usable_memory
from agent.search import stone_fate
from agent.search.algorithm_spec import parse
from agent.search.algorithms.mcts import UCT
from agent.search.backend import Evaluate, GameBackend
from agent.search.defaults import default_algorithm, make_search
from agent.search.searcher import GameSearcher
from agent.search.stone_fate import FateSearch

if TYPE_CHECKING:
    from agent.go.life_and_death import RegionSearch

Report = Callable[[str], None]
BackendFactory = Callable[
    [GameBackend[Any], Evaluation, SearchConfig, Report], CompiledBackend[Any]
]

# Maximum wait of an untimed request for compiled code that is already cached.
_LOAD_TIMEOUT_S = 3.0

# For each game class with a compiled search: a function that checks whether the board is supported,
# and the backend factory. Subclasses are not included, since their rules may differ.
_COMPILED_BACKENDS: dict[type[Any], tuple[Callable[[Any], bool], BackendFactory]] = {
    ConnectFour: (fits_connect_four, connect_four),
    Go: (fits_go, go),
}


def create_backend(
    kind: GameType,
    position: Callable[[], Game[Any]],
    report: Report,
    *,
    algorithm: str | None = None,
    evaluation: str = HANDCRAFTED.name,
    search_config: SearchConfig = DEFAULT_SEARCH_CONFIG,
) -> GameBackend[Any] | CompiledBackend[Any]:
    """Return the search backend for an agent.

    - `position`: returns the current game, from which the default algorithm is chosen.
    - `report`: receives messages for the user.
    - `algorithm`: a specification for `agent.search.algorithm_spec`, or None for the default.
    - `evaluation`: the name of an evaluation (see `agent.evaluation`).
    - `search_config`: the resources and settings of a compiled search. Python searches use only
      `seed`, `playouts` and `at_once`.

    Raise ValueError if the algorithm is invalid or there is not enough memory. Raise
    EvaluationError if the evaluation is invalid.
    """

    def make(evaluate: Evaluate) -> GameSearcher[Any]:
        game = position()
        if batched is not None and evaluate is not kind.evaluate:
            evaluate = batched.with_evaluate(evaluate)
        return GameSearcher(
            make_search(named(game), game, evaluate, search_config.seed, search_config.playouts)
        )

    def named(game: Game[Any]) -> str:
        return algorithm or default_algorithm(game, bool(chosen.batch))

    chosen = load_with_timeout(evaluation)
    users: tuple[str, Callable[..., Any]] | None = None
    # The compiled searches evaluate one position at a time.
    compiled = None if algorithm or chosen.batch else _backend_factory(kind, position())
    batched: BatchEvaluation | None = None
    if chosen.python is not None or (chosen.jitted is not None and compiled is None):
        function = kind.adapt_evaluation(chosen)
        if isinstance(function, BatchEvaluation):
            batched = function
        users = chosen.name, batched.evaluate if batched is not None else function
        if chosen.batch and not issubclass(parse(named(position())).search_class, UCT):
            report(
                f"evaluation {chosen.name}: batched ({chosen.batch} positions per call), but this "
                "search evaluates one position at a time, which is slow (use the algorithm mcts)"
            )
        chosen = replace(chosen, python=function)
    if compiled is not None and search_config.megabytes << 20 > usable_memory():
        raise ValueError(
            f"not enough memory for a search of {search_config.megabytes} MB "
            "(choose less with --memory)"
        )
    at_once = search_config.at_once or compiled is None  # report invalid settings now
    runs_user_code = chosen.is_function or kind.is_user_defined
    plain = GameBackend(
        make, kind.evaluate, users, report, at_once=at_once, runs_user_code=runs_user_code
    )
    return plain if compiled is None else compiled(plain, chosen, search_config, report)


def wait_until_loaded(source: GameBackend[Any] | CompiledBackend[Any]) -> None:
    """Wait up to 3 seconds for the compiled search to load, but do not wait for compilation."""
    if isinstance(source, CompiledBackend):
        source.wait_until_loaded(_LOAD_TIMEOUT_S)


def dead_stone_judge(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go, should_continue: ShouldContinue
) -> StatusEstimator:
    """Return a function that estimates which stones are dead in a game of Go.

    The function uses compiled playouts and searches if `source` has loaded them, and Python
    playouts otherwise. It stops searching when `should_continue` returns False.
    """
    wait_until_loaded(source)
    if _can_judge_compiled(source, game):
        from agent.go.dead_stones import chain_statuses

        return partial(chain_statuses, should_continue=should_continue)
    return chain_status.chain_statuses


def quick_dead_stone_judge(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go
) -> StatusEstimator:
    """Return a faster `dead_stone_judge` that uses playouts but no searches."""
    if _can_judge_compiled(source, game):
        from agent.go.dead_stones import playout_chain_statuses

        return playout_chain_statuses
    return chain_status.chain_statuses


def stone_fate_search(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go, should_continue: ShouldContinue
) -> FateSearch:
    """Return a function that searches whether stones live in a game of Go.

    The search is compiled if `source` has loaded it, and in Python otherwise. It stops when
    `should_continue` returns False.
    """
    wait_until_loaded(source)
    if _can_judge_compiled(source, game):
        from agent.go import life_and_death

        return life_and_death.fate_search(game, should_continue)
    return stone_fate.fate_search(game, should_continue)


def region_search(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go, player: int, region: Iterable[int]
) -> "RegionSearch | None":
    """Return a compiled search of a region of the board, or None if it is not loaded."""
    wait_until_loaded(source)
    if not _can_judge_compiled(source, game):
        return None
    from agent.go import life_and_death

    return life_and_death.RegionSearch(game, player, region)


def _can_judge_compiled(source: GameBackend[Any] | CompiledBackend[Any], game: Go) -> bool:
    return isinstance(source, CompiledBackend) and source.loaded and fits_go(game)


def has_compiled_search(kind: GameType, game: Game[Any]) -> bool:
    return _backend_factory(kind, game) is not None


def _backend_factory(kind: GameType, game: Game[Any]) -> BackendFactory | None:
    if kind.game_class not in _COMPILED_BACKENDS:
        return None
    fits, make = _COMPILED_BACKENDS[kind.game_class]
    return make if fits(game) else None
