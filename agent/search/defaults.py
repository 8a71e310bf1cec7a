"""Default search algorithm and options for playing a game."""

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
# Default options, applied to every algorithm that supports them.
DEFAULT_TECHNIQUES = {"table": 500_000, "ratings": True, "killers": True, "history": True}
# Options of MCTS with the game's own playouts. From about 500 visits on, a move's own mean
# outweighs its RAVE mean. An unvisited move is valued slightly above its RAVE mean.
GAME_PLAYOUT_OPTIONS = {"rave": 500, "exploration": 0.1, "urgency": 0.3}
# MCTS counts any win as a full win, because every win differs from a draw by at least 0.5.
FULL_WIN_SCALE = 0.5
# For all other algorithms, a quick win is better than a slow one. The difference is smaller than
# any other.
PREFER_QUICK_WINS = TerminalScoring(ply_penalty=1e-6, scale=WIN_SCALE)


def make_search(
    text: str,
    game: Game[Any],
    evaluate: Callable[[Any], float],
    seed: int | None = None,
    playouts: int | None = None,
) -> Search[Any]:
    """Return a search for playing a game.

    - `text`: an algorithm and its options, as in `algorithm_spec`. Options of MCTS have defaults
      for the game. Other algorithms have defaults only if `text` contains no options.
    - `playouts`: the maximum number of playouts per move. It overrides the number in `text`.

    Raise ValueError if the algorithm or an option is unknown, or if the game does not support it.
    """
    spec = algorithm_spec.parse(text)
    scale = game.max_utility() or 1 if isinstance(game, Tree) else FULL_WIN_SCALE
    has_batch_values = as_batch_evaluation(evaluate) is not None or "network" in spec.options
    return _with_defaults(spec, game, playouts, has_batch_values).new(
        game, evaluate, scale=scale, ending=PREFER_QUICK_WINS, seed=seed
    )


def _with_defaults(
    spec: AlgorithmSpec, game: Game[Any], playouts: int | None, has_batch_values: bool
) -> AlgorithmSpec:
    if not issubclass(spec.search_class, UCT):
        defaults = {} if spec.options else spec.supported_options(DEFAULT_TECHNIQUES)
    else:
        if playouts is not None:
            spec = replace(spec, options=spec.options | {"playouts": playouts})
        game_playouts = isinstance(game, SupportsPlayouts) and not has_batch_values
        techniques = GAME_PLAYOUT_OPTIONS if game_playouts else {"solver": True}
        defaults = {"playouts": UNLIMITED, **techniques}
    return replace(spec, options=defaults | spec.options)


def default_algorithm(game: Game[Any], judged: bool = False) -> str:
    """Return the default algorithm for a game.

    `judged` states whether positions are evaluated by a batched evaluation.
    """
    if isinstance(game, ChanceGame):
        return "expectiminimax"
    return MCTS if judged or isinstance(game, SupportsPlayouts) else "alpha-beta"
