"""Counterfactual regret minimisation (CFR) for games with hidden information.

In each iteration, both players walk through the whole game. At each information set, the regret of
a move grows by what it would have gained over the current strategy, weighted by the probability
that chance and the opponent lead there. The next strategy plays moves in proportion to their
positive regrets. The average of all strategies approaches an equilibrium.

Sources: M. Zinkevich, M. Johanson, M. Bowling and C. Piccione, 'Regret minimization in games with
incomplete information' (2007); O. Tammelin, 'Solving large imperfect information games using CFR+'
(2014).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isfinite
from typing import Any

from agent.game import CHANCE
from agent.games.hidden.hidden_game import HiddenInformationGame
from agent.io.message import Message

# Probabilities of the moves by information set.
Strategy = Mapping[str, Sequence[float]]

MAX_NODES = 300_000
# In place of a player at the end of the game.
_OVER = -1


@dataclass(slots=True)
class GameNode:
    """A node of the game tree. `chances` are the probabilities of the children of a chance node.

    `utility` is that of player 0 at the end of the game. `information` is the information set of
    the player to move.
    """

    player: int
    information: str = ""
    children: "list[GameNode]" = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    utility: float = 0.0


@dataclass(slots=True)
class InformationSet:
    """What CFR knows about an information set. The lists have one number per move.

    `values` are the counterfactual values of the moves in the last iteration.
    """

    player: int
    moves: tuple[str, ...]
    regrets: list[float]
    strategy: list[float]
    strategy_sum: list[float]
    values: list[float]

    def match_regrets(self) -> None:
        """Play each move in proportion to its positive regret, or all equally if none has any."""
        positive = [max(regret, 0.0) for regret in self.regrets]
        total = sum(positive)
        count = len(positive)
        self.strategy = [each / total if total else 1 / count for each in positive]

    def average(self) -> tuple[float, ...]:
        """Return the average strategy."""
        total = sum(self.strategy_sum)
        count = len(self.moves)
        return tuple(each / total if total else 1 / count for each in self.strategy_sum)


class RegretMinimizer:
    """CFR with alternating updates. With `plus`, it is CFR+.

    CFR+ never keeps negative regrets, and later strategies count more in the average.
    """

    def __init__(self, game: HiddenInformationGame[Any], *, plus: bool = False) -> None:
        self.plus = plus
        self.iterations = 0
        self.sets: dict[str, InformationSet] = {}
        self.node_count = 0
        self.root = self._expand(game)

    def iterate(self) -> None:
        """Update the regrets and strategies of both players."""
        self.iterations += 1
        for player in (0, 1):
            mine = [each for each in self.sets.values() if each.player == player]
            for each in mine:
                each.values = [0.0] * len(each.moves)
            self._update(self.root, player, 1.0, 1.0)
            for each in mine:
                if self.plus:
                    each.regrets = [max(regret, 0.0) for regret in each.regrets]
                each.match_regrets()

    def average_strategy(self) -> dict[str, tuple[float, ...]]:
        """Return the average strategy of all iterations, which approaches an equilibrium."""
        return {name: each.average() for name, each in self.sets.items()}

    def _update(self, node: GameNode, player: int, own: float, others: float) -> float:
        """Return the value for `player`, and update the regrets of their information sets.

        `own` is the probability that the player's moves lead to the node, `others` that chance and
        the opponent do.
        """
        if node.player == _OVER:
            return node.utility if player == 0 else -node.utility
        if node.player == CHANCE:
            return sum(
                chance * self._update(child, player, own, others * chance)
                for child, chance in zip(node.children, node.chances, strict=True)
            )
        known = self.sets[node.information]
        strategy = known.strategy
        if node.player != player:
            return sum(
                chance * self._update(child, player, own, others * chance)
                for child, chance in zip(node.children, strategy, strict=True)
            )
        values = [
            self._update(child, player, own * chance, others)
            for child, chance in zip(node.children, strategy, strict=True)
        ]
        value = sum(chance * each for chance, each in zip(strategy, values, strict=True))
        weight = own * self.iterations if self.plus else own
        for move, each in enumerate(values):
            known.values[move] += others * each
            known.regrets[move] += others * (each - value)
            known.strategy_sum[move] += weight * strategy[move]
        return value

    def _expand(self, game: HiddenInformationGame[Any]) -> GameNode:
        self.node_count += 1
        if self.node_count > MAX_NODES:
            raise ValueError(Message("more than {} nodes (use a smaller game)", MAX_NODES))
        outcome = game.outcome()
        if outcome is not None:
            if not isfinite(outcome):
                raise ValueError(Message("outcome must be a finite number (got {!r})", outcome))
            return GameNode(_OVER, utility=outcome)
        moves = list(game.moves())
        node = GameNode(game.turn)
        if game.turn == CHANCE:
            events = list(game.chance_outcomes())
            moves, node.chances = [event for event, _ in events], [each for _, each in events]
            if min(node.chances, default=0) < 0 or not isclose(sum(node.chances), 1, abs_tol=1e-6):
                raise ValueError(
                    Message("chances must be at least 0 and add up to 1 (got {})", node.chances)
                )
        else:
            # A player may have the same information as the other player, such as equal dice.
            node.information = f"{game.turn + 1}: {game.information()}"
            texts = tuple(map(game.text, moves))
            known = self.sets.get(node.information)
            if known is None:
                count = len(moves)
                known = self.sets[node.information] = InformationSet(
                    game.turn,
                    texts,
                    [0.0] * count,
                    [1 / count] * count,
                    [0.0] * count,
                    [0.0] * count,
                )
            if known.moves != texts:
                raise ValueError(
                    Message("{}: positions with different legal moves", node.information)
                )
        for move in moves:
            game.play(move)
            node.children.append(self._expand(game))
            game.undo()
        return node


def expected_value(root: GameNode, strategy: Strategy) -> float:
    """Return the value for player 0 if both players follow the strategy."""
    if root.player == _OVER:
        return root.utility
    chances = root.chances if root.player == CHANCE else strategy[root.information]
    return sum(
        chance * expected_value(child, strategy)
        for child, chance in zip(root.children, chances, strict=True)
    )


def exploitability(root: GameNode, strategy: Strategy) -> float:
    """Return the mean profit of a best response to each player's strategy, 0 in an equilibrium."""
    return (best_response_value(root, strategy, 0) + best_response_value(root, strategy, 1)) / 2


def best_response_value(root: GameNode, strategy: Strategy, player: int) -> float:
    """Return the value for `player` of the best response to the other player's strategy."""
    # The nodes of each information set, with the probability that the others lead there.
    nodes: dict[str, list[tuple[GameNode, float]]] = {}
    choices: dict[str, int] = {}

    def collect(node: GameNode, reach: float) -> None:
        if node.player == player:
            nodes.setdefault(node.information, []).append((node, reach))
            for child in node.children:
                collect(child, reach)
        elif node.player != _OVER:
            chances = node.chances if node.player == CHANCE else strategy[node.information]
            for child, chance in zip(node.children, chances, strict=True):
                collect(child, reach * chance)

    def value(node: GameNode) -> float:
        if node.player == _OVER:
            return node.utility if player == 0 else -node.utility
        if node.player == player:
            return value(node.children[choice(node.information)])
        chances = node.chances if node.player == CHANCE else strategy[node.information]
        return sum(
            chance * value(child) for child, chance in zip(node.children, chances, strict=True)
        )

    def choice(information: str) -> int:
        if information not in choices:
            alike = nodes[information]
            totals = [
                sum(reach * value(node.children[move]) for node, reach in alike)
                for move in range(len(alike[0][0].children))
            ]
            choices[information] = totals.index(max(totals))
        return choices[information]

    collect(root, 1.0)
    return value(root)
