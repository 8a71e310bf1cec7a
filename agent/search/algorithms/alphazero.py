"""AlphaZero, a tree search guided by a neural network that returns values and move priors.

Sources: D. Silver et al., 'A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play' (2018); 'AlphaGo' in the lecture notes 'Técnicas de IA, Tema 3.2'.
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
    """Options for AlphaZero.

    - `network`: the path of a file written by `kempelen lab learn`. By default, leaves are
      evaluated by a batched evaluation or by playouts, and all moves start with equal priors.
    - `at_once`: the number of leaves that the network evaluates per call.
    """

    exploration: float = 1.5
    network: str = ""
    at_once: int = 1


class AlphaZero(UCT[Move]):
    """Monte Carlo tree search that selects moves by PUCT, with values and priors of a network.

    The values are expected game results from -1 to 1 and are not scaled.
    """

    name = "alphazero"
    options = AlphaZeroOptions

    def __init__(
        self, evaluate: Callable[[Any], float], options: AlphaZeroOptions = AlphaZeroOptions()
    ) -> None:
        self._values_are_rewards = _is_learned(evaluate) if not options.network else True
        super().__init__(_network(options) if options.network else evaluate, options)

    def _reward(self, value: float) -> float:
        if self._values_are_rewards and not self._scoring.is_decisive(value):
            return max(-1.0, min(1.0, value))
        return super()._reward(value)

    def _children(self, game: Game[Move], ply: int) -> list[Node[Move]]:
        children = super()._children(game, ply)
        if game.turn != CHANCE:
            for child in children:
                child.prior = 1 / len(children)
        return children


def _network(options: AlphaZeroOptions) -> BatchEvaluation:
    from agent.games import learned_evaluation  # lazy import: loads NumPy

    return learned_evaluation.load(options.network).in_batches(max(options.at_once, 1))


def _is_learned(evaluate: Callable[[Any], float]) -> bool:
    return isinstance(evaluate, BatchEvaluation) and evaluate.values_are_rewards
