"""B*, which proves that a move is best by narrowing the bounds on the value of each move.

Sources: H. Berliner, 'The B* tree search algorithm: a best-first proof procedure' (1979); the
lecture notes 'Técnicas de IA, Tema 3.2'.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, TypeVar

from agent.game import Game, HasValueBounds
from agent.search.search import Search, SearchOptions
from agent.search.tree_cursor import Label, TreeCursor

Move = TypeVar("Move")

# Pessimistic and optimistic bound of a position's value for the player to move.
Bounds = tuple[float, float]
Strategy = Literal["prove-best", "disprove-rest", "widest"]


@dataclass(slots=True)
class Node:
    """A node of the tree. Its bounds are for the player who made the move to the node."""

    label: Label
    parent: "Node | None"
    pessimistic: float
    optimistic: float
    children: "list[Node]" = field(default_factory=list)

    def tighten(self) -> bool:
        """Narrow the bounds to those implied by the children. Return whether they changed."""
        pessimistic = max(self.pessimistic, -max(child.optimistic for child in self.children))
        optimistic = min(self.optimistic, -max(child.pessimistic for child in self.children))
        changed = (pessimistic, optimistic) != (self.pessimistic, self.optimistic)
        self.pessimistic, self.optimistic = pessimistic, optimistic
        return changed

    def is_closed(self) -> bool:
        """Return whether the bounds have met."""
        return self.pessimistic >= self.optimistic

    def width(self) -> float:
        """Return the difference between the bounds."""
        return self.optimistic - self.pessimistic


@dataclass(frozen=True, kw_only=True)
class BStarOptions(SearchOptions):
    """Options for B*.

    - `bounds`: a function that returns bounds on the value of an inner node, on the scale of the
      evaluation. The default is `HasValueBounds.bounds`, or infinite bounds in other games.
    - `strategy`: the root move to expand. "prove-best" raises the lower bound of the best move,
      "disprove-rest" lowers the upper bound of the second-best move, and "widest" chooses the move
      with the wider bounds of these two.
    """

    bounds: Callable[[Any], Bounds] | None = None
    strategy: Strategy = "widest"


class BStar(Search[Move]):
    """B* search, which stops when one move's lower bound reaches all other moves' upper bounds.

    The returned value is the lower bound of the best move. It is exact if there is only one legal
    move. `counts.peak_open` is the number of nodes in memory.
    """

    name = "b-star"
    options = BStarOptions
    exact = False
    meaning = "lower bound"

    def __init__(
        self, evaluate: Callable[[Any], float], options: BStarOptions = BStarOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self._bounds = options.bounds
        self._strategy = options.strategy

    def _root(self, game: Game[Move], depth: int) -> float:
        root = self._node(game, (), None, depth)
        if depth <= 0 or game.outcome() is not None:
            return -root.pessimistic
        cursor = TreeCursor(game)
        current = root
        while True:
            if not current.children:
                cursor.go_to(current.label)
                if self.tracer is not None:
                    self.tracer.expanding(root)
                self._expand(game, cursor, current, depth)
            best, *others = sorted(current.children, key=_optimism, reverse=True)
            if current.tighten() and current.parent is not None:
                current = current.parent
            elif current is not root:
                current = best
            elif best.is_closed() if not others else best.pessimistic >= others[0].optimistic:
                break
            else:
                current = self._choose(best, others[0]) if others else best
        if self.tracer is not None:
            self.tracer.narrowed(root)
        cursor.go_to(())
        self._pv_table[0] = (cursor.moves[()][best.label[0] - 1],)
        return best.pessimistic

    def _expand(self, game: Game[Move], cursor: TreeCursor[Move], node: Node, depth: int) -> None:
        moves = cursor.moves[node.label] = self._moves(game, len(node.label))
        for index, move in enumerate(moves, 1):
            game.play(move)
            node.children.append(self._node(game, (*node.label, index), node, depth))
            game.undo()
        self.counts.peak_open += len(moves)

    def _node(self, game: Game[Move], label: Label, parent: Node | None, depth: int) -> Node:
        ply = len(label)
        value = self._leaf(game, depth - ply, ply)
        if value is not None:
            return Node(label, parent, -value, -value)
        try:
            pessimistic, optimistic = self._interior_bounds(game, ply)
        except BaseException:
            self._undo_to_root(game, ply)
            raise
        return Node(label, parent, -optimistic, -pessimistic)

    def _interior_bounds(self, game: Game[Move], ply: int) -> Bounds:
        if self._bounds is not None:
            return self._bounds(game)
        if not isinstance(game, HasValueBounds):
            return -inf, inf
        lower, upper = game.bounds()
        return self._scoring.value(lower, ply), self._scoring.value(upper, ply)

    def _choose(self, best: Node, other: Node) -> Node:
        if best.is_closed() or other.is_closed():
            return other if best.is_closed() else best
        if self._strategy == "widest":
            return best if best.width() >= other.width() else other
        return best if self._strategy == "prove-best" else other


def _optimism(node: Node) -> Bounds:
    return node.optimistic, node.pessimistic
