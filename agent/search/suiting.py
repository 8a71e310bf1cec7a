"""Which algorithm plays a game, and with which settings, where the user has not said."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.game import Chance, Game, Simulated
from agent.games.tree import Tree
from agent.search import configuration
from agent.search.configuration import Configuration
from agent.search.ending import OUTRANKING, Ending
from agent.search.mcts import ENDLESS, UCT, batch_of
from agent.search.search import Search

MCTS = "mcts"
# With what every algorithm plays that knows these techniques.
TECHNIQUES = {"table": 500_000, "ratings": True, "killers": True, "history": True}
# The settings of tree search by playouts that the game makes: a move's own mean outweighs those of
# the playouts in which it came later from about 500 visits on, and a move that was not tried looks
# a little better than its mean in such playouts.
WITH_OWN_PLAYOUTS = {"rave": 500, "exploration": 0.1, "urgency": 0.3}
# Outcomes differ from a draw by half a point at least: all wins are worth the same.
WHOLE_WIN = 0.5
# For all others a quick win is better than a slow one, by less than anything else matters.
QUICKEST = Ending(step=1e-6, unit=OUTRANKING)


def make_search(
    text: str,
    game: Game[Any],
    evaluate: Callable[[Any], float],
    seed: int | None = None,
    playouts: int | None = None,
) -> Search[Any]:
    """Return an algorithm, as `agent.search.configuration` reads it, to play a game with.

    What is not written suits the game. But of the techniques of alpha-beta and its like a text
    that names any names all. playouts: the most for a move, whatever is written. Raises ValueError
    if there is no such algorithm or technique, or it cannot play such a game.
    """
    written = configuration.read(text)
    scale = game.greatest() or 1 if isinstance(game, Tree) else WHOLE_WIN
    judged = batch_of(evaluate) is not None or "network" in written.options
    return _suited(written, game, playouts, judged).new(
        game, evaluate, scale=scale, ending=QUICKEST, seed=seed
    )


def _suited(
    written: Configuration, game: Game[Any], playouts: int | None, judged: bool
) -> Configuration:
    """Return the algorithm with settings that suit a game.

    judged: a batched evaluation, or a network, judges what else would be played out.
    """
    if not issubclass(written.kind, UCT):
        suits = {} if written.options else written.among(TECHNIQUES)
    else:
        if playouts is not None:
            written = replace(written, options=written.options | {"playouts": playouts})
        own = isinstance(game, Simulated) and not judged
        suits = {"playouts": ENDLESS, **(WITH_OWN_PLAYOUTS if own else {"solver": True})}
    return replace(written, options=suits | written.options)


def default_algorithm(game: Game[Any], judged: bool = False) -> str:
    """Return the name of the algorithm that suits a game best.

    judged: a batched evaluation judges its positions.
    """
    if isinstance(game, Chance):
        return "expectiminimax"
    return MCTS if judged or isinstance(game, Simulated) else "alpha-beta"
