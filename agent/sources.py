"""Who searches in a game other than by the chess engine: an algorithm, for a player to drive."""

from collections.abc import Callable
from typing import Any

from agent.evaluation import HANDCRAFTED
from agent.game import Game
from agent.games.catalogue import Kind
from agent.search.search import Search
from agent.search.source import Evaluate, GameSource
from agent.search.suiting import default_algorithm, make_search


def source_for(
    kind: Kind,
    position: Callable[[], Game[Any]],
    report: Callable[[str], None],
    *,
    algorithm: str | None = None,
    evaluation: str = HANDCRAFTED.name,
    playouts: int | None = None,
    seed: int | None = None,
) -> GameSource[Any]:
    """Return what a player of a kind of game searches with.

    position: returns the game as it stands, to which the algorithm is suited. algorithm: as
    `agent.search.configuration` reads it; what suits the game without it. evaluation: whose it is,
    as in `agent.evaluation`. playouts: the most for a move. report: told what the user should know.

    Raises ValueError or EvaluationError for what cannot be.
    """

    def make(evaluate: Evaluate) -> Search[Any]:
        game = position()
        text = algorithm or default_algorithm(game)
        return make_search(text, game, evaluate, seed, playouts)

    users = None
    if evaluation != HANDCRAFTED.name:
        users = evaluation, kind.evaluation(evaluation)
    return GameSource(make, kind.evaluate, users, report)
