"""The nodes of the tree that Monte Carlo tree search grows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, TypeVar

from agent.game import ChanceGame

Move = TypeVar("Move")


@dataclass(slots=True)
class Node(Generic[Move]):
    """A position in the tree. Its rewards, from -1 to 1, are those of whoever moved to it.

    To a position that an event of chance leads to, it is whoever moved before. proven: the reward
    that it is worth for certain, once the solver knows. rave_visits, rave_total: of playouts in
    which the move came later, not just here. prior: how promising the move looks beside the
    others, where an evaluation has said so. probability: of the event; None of a player's move.
    """

    move: Move
    player: int
    visits: int = 0
    total: float = 0
    rave_visits: int = 0
    rave_total: float = 0
    proven: float | None = None
    prior: float | None = None
    probability: float | None = None
    children: "list[Node[Move]]" = field(default_factory=list)

    @property
    def is_chance_node(self) -> bool:
        """Whether chance is to move here, as far as the tree has grown."""
        return bool(self.children) and self.children[0].probability is not None

    def mean(self) -> float:
        """Return the mean reward; 0 before the first visit."""
        return self.total / self.visits if self.visits else 0


def chance_children(game: ChanceGame[Move], player: int) -> list[Node[Move]]:
    """Return a node for each event of a position of chance, to which that player moved."""
    return [
        Node(event, player, probability=probability)
        for event, probability in game.chance_outcomes()
    ]


def sample_event(events: Sequence[Node[Move]], number: float) -> Node[Move]:
    """Return the event that a number from 0 to 1 stands for."""
    for event in events:
        number -= event.probability or 0.0
        if number < 0:
            return event
    return events[-1]


def add_virtual_losses(path: list[Node[Any]], losses: int) -> None:
    """Let all nodes on a way have more visits that are losses, or fewer."""
    for node in path:
        node.visits += losses
        node.total -= losses


def mean_reward_for(player: int, node: Node[Any]) -> float:
    """Return a node's mean reward, such as it is for a player."""
    return node.mean() if node.player == player else -node.mean()


def for_player0(player: int, reward: float) -> float:
    """Turn a player's reward into player 0's, or the other way round."""
    return -reward if player else reward


def update_proven(node: Node[Any]) -> None:
    """Prove a node whose children allow it: one of them wins, or all are proven.

    Before an event nothing is certain, unless it is the same after all of them.
    """
    proven = [child.proven for child in node.children]
    if node.is_chance_node:
        if proven[0] is not None and all(each == proven[0] for each in proven):
            node.proven = proven[0]
        return
    best = max((each for each in proven if each is not None), default=-inf)
    if best >= 1 or None not in proven:
        node.proven = best if node.player == node.children[0].player else -best
