"""Who searches in a game other than by the chess engine, for a player to drive.

A compiled search where there is one and no other is asked for, else an algorithm of agent.search.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agent.compiled.source import USUAL_MEANS, CompiledSource, Means
from agent.connect_four.parts import fits as fits_connect_four
from agent.connect_four.source import compiled_source as connect_four
from agent.evaluation import HANDCRAFTED, Evaluation
from agent.evaluation_loading import load_in_time
from agent.game import Game
from agent.games import life
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.catalogue import Kind
from agent.games.connect_four import ConnectFour
from agent.games.go import Go
from agent.games.life import GoOn, Judge
from agent.go.parts import fits as fits_go
from agent.go.source import compiled_source as go
from agent.machine import physical_memory
from agent.search.configuration import read
from agent.search.mcts import UCT
from agent.search.searcher import GameSearcher
from agent.search.source import Evaluate, GameSource
from agent.search.suiting import default_algorithm, make_search

Report = Callable[[str], None]
Compiled = Callable[[GameSource[Any], Evaluation, Means, Report], CompiledSource[Any]]

# Seconds that what no clock limits may wait for compiled code that is in the cache.
_PATIENCE = 3.0

# Which boards a compiled search can play on, and its source; by the class of the plain game, which
# is its oracle: a class derived from that may have other rules.
_COMPILED: dict[type[Any], tuple[Callable[[Any], bool], Compiled]] = {
    ConnectFour: (fits_connect_four, connect_four),
    Go: (fits_go, go),
}


def source_for(
    kind: Kind,
    position: Callable[[], Game[Any]],
    report: Report,
    *,
    algorithm: str | None = None,
    evaluation: str = HANDCRAFTED.name,
    means: Means = USUAL_MEANS,
) -> GameSource[Any] | CompiledSource[Any]:
    """Return what a player of a kind of game searches with.

    position: returns the game as it stands, to which the algorithm is suited. algorithm: as
    `agent.search.configuration` reads it; what suits the game without it. evaluation: whose it is,
    as in `agent.evaluation`. means: what it may use; a plain search uses one thread, and no memory
    but what it needs. report: told what the user should know.

    Raises ValueError or EvaluationError for what cannot be.
    """

    def make(evaluate: Evaluate) -> GameSearcher[Any]:
        game = position()
        if batched is not None and evaluate is not kind.evaluate:
            evaluate = batched.through(evaluate)
        return GameSearcher(make_search(named(game), game, evaluate, means.seed, means.playouts))

    def named(game: Game[Any]) -> str:
        return algorithm or default_algorithm(game, bool(chosen.batch))

    chosen = load_in_time(evaluation)
    users: tuple[str, Callable[..., Any]] | None = None
    # The compiled searches ask about one position after the other.
    compiled = None if algorithm or chosen.batch else _compiled(kind, position())
    batched: BatchEvaluation | None = None
    if chosen.python is not None or (chosen.jitted is not None and compiled is None):
        function = kind.adapted(chosen)
        if isinstance(function, BatchEvaluation):
            batched = function
        users = chosen.name, batched.answer if batched is not None else function
        if chosen.batch and not issubclass(read(named(position())).kind, UCT):
            report(
                f"evaluation {chosen.name} judges {chosen.batch} positions at once, but this "
                "search asks for one at a time, which is slow: choose the algorithm mcts"
            )
        chosen = replace(chosen, python=function)
    if compiled is not None and means.megabytes << 20 > physical_memory():
        raise ValueError(f"no memory for a search of {means.megabytes} MB: choose less (--memory)")
    at_once = means.at_once or compiled is None  # which tells what cannot be
    plain = GameSource(make, kind.evaluate, users, report, at_once=at_once)
    return plain if compiled is None else compiled(plain, chosen, means, report)


def settle(source: GameSource[Any] | CompiledSource[Any]) -> None:
    """Wait for the compiled search, a few seconds at most, unless it must be compiled first."""
    if isinstance(source, CompiledSource):
        source.settle(_PATIENCE)


def judge_of(source: GameSource[Any] | CompiledSource[Any], game: Go, go_on: GoOn) -> Judge:
    """Return who tells which stones of a game of Go are dead.

    Compiled playouts and searches where they need not be compiled first, plain playouts otherwise.
    go_on: asked by the searches, which take long.
    """
    settle(source)
    if _judges_compiled(source, game):
        from agent.go.life import statuses

        return partial(statuses, go_on=go_on)
    return life.statuses


def quick_judge_of(source: GameSource[Any] | CompiledSource[Any], game: Go) -> Judge:
    """Return who tells the same by playouts alone, in the time that they take."""
    if _judges_compiled(source, game):
        from agent.go.life import quick_statuses

        return quick_statuses
    return life.statuses


def _judges_compiled(source: GameSource[Any] | CompiledSource[Any], game: Go) -> bool:
    return isinstance(source, CompiledSource) and source.loaded and fits_go(game)


def has_compiled(kind: Kind, game: Game[Any]) -> bool:
    """Tell whether there is a compiled search for such a game."""
    return _compiled(kind, game) is not None


def _compiled(kind: Kind, game: Game[Any]) -> Compiled | None:
    """Return what makes the source of a compiled search for such a game, if there is one."""
    if kind.game not in _COMPILED:
        return None
    plays, make = _COMPILED[kind.game]
    return make if plays(game) else None
