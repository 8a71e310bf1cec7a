"""Which algorithm plays a game, and with which settings, where the user has not said."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.game import ChanceGame, Game, SupportsPlayouts
from agent.games.tree import Tree
from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.mcts import UCT, UNLIMITED, as_batch_evaluation
from agent.search.search import Search
from agent.search.terminal_scoring import WIN_SCALE, TerminalScoring

MCTS = "mcts"
# With what every algorithm plays that knows these techniques.
DEFAULT_TECHNIQUES = {"table": 500_000, "ratings": True, "killers": True, "history": True}
# The settings of tree search by playouts that the game makes: a move's own mean outweighs those of
# the playouts in which it came later from about 500 visits on, and a move that was not tried looks
# a little better than its mean in such playouts.
GAME_PLAYOUT_OPTIONS = {"rave": 500, "exploration": 0.1, "urgency": 0.3}
# Outcomes differ from a draw by half a point at least: all wins are worth the same.
FULL_WIN_SCALE = 0.5
# For all others a quick win is better than a slow one, by less than anything else matters.
PREFER_QUICK_WINS = TerminalScoring(ply_penalty=1e-6, scale=WIN_SCALE)


def make_search(
    text: str,
    game: Game[Any],
    evaluate: Callable[[Any], float],
    seed: int | None = None,
    playouts: int | None = None,
) -> Search[Any]:
    """Return an algorithm, as `agent.search.algorithm_spec` reads it, to play a game with.

    What is not written suits the game. But of the techniques of alpha-beta and its like a text
    that names any names all. playouts: the most for a move, whatever is written. Raises ValueError
    if there is no such algorithm or technique, or it cannot play such a game.
    """
    spec = algorithm_spec.parse(text)
    scale = game.max_utility() or 1 if isinstance(game, Tree) else FULL_WIN_SCALE
    judged = as_batch_evaluation(evaluate) is not None or "network" in spec.options
    return _with_defaults(spec, game, playouts, judged).new(
        game, evaluate, scale=scale, ending=PREFER_QUICK_WINS, seed=seed
    )


def _with_defaults(
    spec: AlgorithmSpec, game: Game[Any], playouts: int | None, judged: bool
) -> AlgorithmSpec:
    """Return the algorithm with settings that suit a game.

    judged: a batched evaluation, or a network, judges what else would be played out.
    """
    if not issubclass(spec.search_class, UCT):
        defaults = {} if spec.options else spec.supported_options(DEFAULT_TECHNIQUES)
    else:
        if playouts is not None:
            spec = replace(spec, options=spec.options | {"playouts": playouts})
        own = isinstance(game, SupportsPlayouts) and not judged
        defaults = {"playouts": UNLIMITED, **(GAME_PLAYOUT_OPTIONS if own else {"solver": True})}
    return replace(spec, options=defaults | spec.options)


def default_algorithm(game: Game[Any], judged: bool = False) -> str:
    """Return the name of the algorithm that suits a game best.

    judged: a batched evaluation judges its positions.
    """
    if isinstance(game, ChanceGame):
        return "expectiminimax"
    return MCTS if judged or isinstance(game, SupportsPlayouts) else "alpha-beta"
