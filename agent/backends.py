"""Who searches in a game other than by the chess engine, for a player to drive.

A compiled search where there is one and no other is asked for, else an algorithm of agent.search.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

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
from agent.machine import physical_memory
from agent.search.algorithm_spec import parse
from agent.search.algorithms.mcts import UCT
from agent.search.backend import Evaluate, GameBackend
from agent.search.defaults import default_algorithm, make_search
from agent.search.searcher import GameSearcher

Report = Callable[[str], None]
BackendFactory = Callable[
    [GameBackend[Any], Evaluation, SearchConfig, Report], CompiledBackend[Any]
]

# Seconds that what no clock limits may wait for compiled code that is in the cache.
_LOAD_TIMEOUT_S = 3.0

# Which boards a compiled search can play on, and its source; by the class of the plain game, which
# is its oracle: a class derived from that may have other rules.
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
    """Return what a player of a kind of game searches with.

    position: returns the game as it stands, to which the algorithm is suited. algorithm: as
    `agent.search.algorithm_spec` reads it; what suits the game without it. evaluation: whose it is,
    as in `agent.evaluation`. means: what it may use; a plain search uses one thread, and no memory
    but what it needs. report: told what the user should know.

    Raises ValueError or EvaluationError for what cannot be.
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
    # The compiled searches ask about one position after the other.
    compiled = None if algorithm or chosen.batch else _backend_factory(kind, position())
    batched: BatchEvaluation | None = None
    if chosen.python is not None or (chosen.jitted is not None and compiled is None):
        function = kind.adapt_evaluation(chosen)
        if isinstance(function, BatchEvaluation):
            batched = function
        users = chosen.name, batched.evaluate if batched is not None else function
        if chosen.batch and not issubclass(parse(named(position())).search_class, UCT):
            report(
                f"evaluation {chosen.name} judges {chosen.batch} positions at once, but this "
                "search asks for one at a time, which is slow: choose the algorithm mcts"
            )
        chosen = replace(chosen, python=function)
    if compiled is not None and search_config.megabytes << 20 > physical_memory():
        raise ValueError(
            f"no memory for a search of {search_config.megabytes} MB: choose less (--memory)"
        )
    at_once = search_config.at_once or compiled is None  # which tells what cannot be
    plain = GameBackend(make, kind.evaluate, users, report, at_once=at_once)
    return plain if compiled is None else compiled(plain, chosen, search_config, report)


def wait_until_loaded(source: GameBackend[Any] | CompiledBackend[Any]) -> None:
    """Wait for the compiled search, a few seconds at most, unless it must be compiled first."""
    if isinstance(source, CompiledBackend):
        source.wait_until_loaded(_LOAD_TIMEOUT_S)


def dead_stone_judge(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go, should_continue: ShouldContinue
) -> StatusEstimator:
    """Return who tells which stones of a game of Go are dead.

    Compiled playouts and searches where they need not be compiled first, plain playouts otherwise.
    should_continue: asked by the searches, which take long.
    """
    wait_until_loaded(source)
    if _can_judge_compiled(source, game):
        from agent.go.dead_stones import chain_statuses

        return partial(chain_statuses, should_continue=should_continue)
    return chain_status.chain_statuses


def quick_dead_stone_judge(
    source: GameBackend[Any] | CompiledBackend[Any], game: Go
) -> StatusEstimator:
    """Return who tells the same by playouts alone, in the time that they take."""
    if _can_judge_compiled(source, game):
        from agent.go.dead_stones import playout_chain_statuses

        return playout_chain_statuses
    return chain_status.chain_statuses


def _can_judge_compiled(source: GameBackend[Any] | CompiledBackend[Any], game: Go) -> bool:
    return isinstance(source, CompiledBackend) and source.loaded and fits_go(game)


def has_compiled_search(kind: GameType, game: Game[Any]) -> bool:
    """Tell whether there is a compiled search for such a game."""
    return _backend_factory(kind, game) is not None


def _backend_factory(kind: GameType, game: Game[Any]) -> BackendFactory | None:
    """Return what makes the source of a compiled search for such a game, if there is one."""
    if kind.game_class not in _COMPILED_BACKENDS:
        return None
    plays, make = _COMPILED_BACKENDS[kind.game_class]
    return make if plays(game) else None
