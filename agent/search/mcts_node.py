"""Nodes of the tree in Monte Carlo tree search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, TypeVar

from agent.game import ChanceGame

Move = TypeVar("Move")


@dataclass(slots=True)
class Node(Generic[Move]):
    """A node of a Monte Carlo search tree. Rewards range from -1 to 1.

    Rewards are for the player who moved to the node, or who moved before the chance event.

    - `draws`: the number of visits with a reward of 0.
    - `proven`: the exact reward, or None if the solver does not know it.
    - `rave_visits`, `rave_total`: statistics of playouts in which the move was played later.
    - `prior`: the probability that the evaluation assigns to the move, or None.
    - `probability`: the probability of a chance event, or None for a player's move.
    """

    move: Move
    player: int
    visits: int = 0
    total: float = 0
    draws: int = 0
    rave_visits: int = 0
    rave_total: float = 0
    proven: float | None = None
    prior: float | None = None
    probability: float | None = None
    children: "list[Node[Move]]" = field(default_factory=list)

    @property
    def is_chance_node(self) -> bool:
        return bool(self.children) and self.children[0].probability is not None

    def mean(self) -> float:
        """Return the mean reward, or 0 if the node is unvisited."""
        return self.total / self.visits if self.visits else 0


def chance_children(game: ChanceGame[Move], player: int) -> list[Node[Move]]:
    """Return a node for each event at a chance node. `player` made the move to the chance node."""
    return [
        Node(event, player, probability=probability)
        for event, probability in game.chance_outcomes()
    ]


def sample_event(events: Sequence[Node[Move]], sample: float) -> Node[Move]:
    """Return the event selected by `sample`, a uniform random number in [0, 1)."""
    for event in events:
        sample -= event.probability or 0.0
        if sample < 0:
            return event
    return events[-1]


def add_virtual_losses(path: list[Node[Any]], losses: int) -> None:
    """Add `losses` virtual losses to all nodes of a path. A negative number removes losses."""
    for node in path:
        node.visits += losses
        node.total -= losses


def mean_reward_for(player: int, node: Node[Any]) -> float:
    return node.mean() if node.player == player else -node.mean()


def for_player0(player: int, reward: float) -> float:
    """Convert a reward of `player` to one of player 0, or the reverse."""
    return -reward if player else reward


def update_proven(node: Node[Any]) -> None:
    """Set the proven reward of a node if one child is a proven win or all children are proven.

    A chance node is proven only if all its events have the same proven reward.
    """
    proven = [child.proven for child in node.children]
    if node.is_chance_node:
        if proven[0] is not None and all(reward == proven[0] for reward in proven):
            node.proven = proven[0]
        return
    best = max((reward for reward in proven if reward is not None), default=-inf)
    if best >= 1 or None not in proven:
        node.proven = best if node.player == node.children[0].player else -best
