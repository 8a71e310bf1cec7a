"""AlphaZero: tree search in which a learned network says what leaves are worth and moves promise.

Source: D. Silver et al., 'A general reinforcement learning algorithm that masters chess, shogi, and
Go through self-play' (2018), and of 'AlphaGo' in 'Técnicas de IA, Tema 3.2'. `kempelen lab learn`
makes the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from agent.game import CHANCE, Game
from agent.games.batch_evaluation import BatchEvaluation
from agent.search.algorithms.mcts import UCT, UCTOptions
from agent.search.mcts_node import Node

Move = TypeVar("Move")


@dataclass(frozen=True, kw_only=True)
class AlphaZeroOptions(UCTOptions):
    """How AlphaZero chooses.

    network: a file of `kempelen lab learn`; without one the evaluation judges leaves if it judges
    batches, else playouts do, and all moves are alike before they are tried. at_once: leaves that
    the network judges together.
    """

    exploration: float = 1.5
    network: str = ""
    at_once: int = 1


class AlphaZero(UCT[Move]):
    """PUCT at every node: a move's prior decides how soon, and how often, it is tried.

    A network's values count in full, since it has learned how games end: they are expected rewards.
    """

    name = "alphazero"
    options = AlphaZeroOptions

    def __init__(
        self, evaluate: Callable[[Any], float], options: AlphaZeroOptions = AlphaZeroOptions()
    ) -> None:
        self._values_are_rewards = _is_learned(evaluate) if not options.network else True
        super().__init__(_network(options) if options.network else evaluate, options)

    def _reward(self, value: float) -> float:
        """Return a leaf's value from -1 to 1: what a network expects is a reward already."""
        if self._values_are_rewards and not self._scoring.is_decisive(value):
            return max(-1.0, min(1.0, value))
        return super()._reward(value)

    def _children(self, game: Game[Move], ply: int) -> list[Node[Move]]:
        """Return a node for each move to try, all alike until a network tells them apart."""
        children = super()._children(game, ply)
        if game.turn != CHANCE:
            for child in children:
                child.prior = 1 / len(children)
        return children


def _network(options: AlphaZeroOptions) -> BatchEvaluation:
    """Return what judges leaves; EvaluationError, naming the file, if it cannot be used."""
    from agent.games import learned_evaluation  # lazy import: brings in NumPy

    return learned_evaluation.load(options.network).in_batches(max(options.at_once, 1))


def _is_learned(evaluate: Callable[[Any], float]) -> bool:
    """Tell whether an evaluation is a learned network."""
    return isinstance(evaluate, BatchEvaluation) and evaluate.values_are_rewards
