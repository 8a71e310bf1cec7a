"""Who searches in a game other than by the chess engine, for a player to drive.

A compiled search where there is one and no other is asked for, else an algorithm of agent.search.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.compiled.source import CompiledSource
from agent.connect_four.parts import fits
from agent.connect_four.source import compiled_source
from agent.evaluation import HANDCRAFTED, Evaluation, load
from agent.game import Game
from agent.games.catalogue import Kind
from agent.games.connect_four import ConnectFour
from agent.search.searcher import GameSearcher
from agent.search.source import Evaluate, GameSource
from agent.search.suiting import default_algorithm, make_search

Compiled = Callable[[GameSource[Any], Evaluation, Callable[[str], None]], CompiledSource[Any]]

# Which boards a compiled search can play on, and its source; by the class of the plain game, which
# is its oracle: a class derived from that may have other rules.
_COMPILED: dict[type[Any], tuple[Callable[[Any], bool], Compiled]] = {
    ConnectFour: (fits, compiled_source)
}


def source_for(
    kind: Kind,
    position: Callable[[], Game[Any]],
    report: Callable[[str], None],
    *,
    algorithm: str | None = None,
    evaluation: str = HANDCRAFTED.name,
    playouts: int | None = None,
    seed: int | None = None,
) -> GameSource[Any] | CompiledSource[Any]:
    """Return what a player of a kind of game searches with.

    position: returns the game as it stands, to which the algorithm is suited. algorithm: as
    `agent.search.configuration` reads it; what suits the game without it. evaluation: whose it is,
    as in `agent.evaluation`. playouts: the most for a move. report: told what the user should know.

    Raises ValueError or EvaluationError for what cannot be.
    """

    def make(evaluate: Evaluate) -> GameSearcher[Any]:
        game = position()
        text = algorithm or default_algorithm(game)
        return GameSearcher(make_search(text, game, evaluate, seed, playouts))

    compiled = None if algorithm else _compiled(kind, position())
    chosen, users = load(evaluation), None
    if chosen.python is not None or (chosen.jitted is not None and compiled is None):
        function = kind.adapted(chosen)
        chosen, users = replace(chosen, python=function), (chosen.name, function)
    plain = GameSource(make, kind.evaluate, users, report)
    return plain if compiled is None else compiled(plain, chosen, report)


def _compiled(kind: Kind, game: Game[Any]) -> Compiled | None:
    """Return what makes the source of a compiled search for such a game, if there is one."""
    if kind.game not in _COMPILED:
        return None
    plays, make = _COMPILED[kind.game]
    return make if plays(game) else None
