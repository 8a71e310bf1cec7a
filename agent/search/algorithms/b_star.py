"""B*: prove which move is best by closing bounds around every move, best first.

Source: H. Berliner, 'The B* tree search algorithm: a best-first proof procedure' (1979); the
listing of 'Técnicas de IA, Tema 3.2'.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, TypeVar

from agent.game import Game, HasValueBounds
from agent.search.search import Search, SearchOptions
from agent.search.tree_cursor import Label, TreeCursor

Move = TypeVar("Move")

# A pessimistic and an optimistic bound of a position's value for its mover.
Bounds = tuple[float, float]
Strategy = Literal["prove-best", "disprove-rest", "widest"]


@dataclass(slots=True)
class Node:
    """A node of the tree: the bounds are for whoever moved to it."""

    label: Label
    parent: "Node | None"
    pessimistic: float
    optimistic: float
    children: "list[Node]" = field(default_factory=list)

    def tighten(self) -> bool:
        """Take from the children what they say of the bounds; tell whether it changed them."""
        pessimistic = max(self.pessimistic, -max(child.optimistic for child in self.children))
        optimistic = min(self.optimistic, -max(child.pessimistic for child in self.children))
        changed = (pessimistic, optimistic) != (self.pessimistic, self.optimistic)
        self.pessimistic, self.optimistic = pessimistic, optimistic
        return changed

    def is_closed(self) -> bool:
        """Tell whether the bounds have met, or contradict each other."""
        return self.pessimistic >= self.optimistic

    def width(self) -> float:
        """Return how far the bounds are apart."""
        return self.optimistic - self.pessimistic


@dataclass(frozen=True, kw_only=True)
class BStarOptions(SearchOptions):
    """What B* knows of positions, and how it goes about its proof.

    bounds: the bounds of a position that is not a leaf, as evaluations; without it the utilities
    between which a `Bounded` game lies, and of any other nothing is known. strategy: what to do
    at the root. "prove-best" raises the pessimistic bound of the most promising move,
    "disprove-rest" lowers the optimistic bound of the next, "widest" takes of these two the one
    whose bounds are further apart.
    """

    bounds: Callable[[Any], Bounds] | None = None
    strategy: Strategy = "widest"


class BStar(Search[Move]):
    """B*: stop as soon as one move's pessimistic bound reaches all others' optimistic bounds.

    An only move has no others: its bounds are closed, so that it has a value. The value found is
    the best move's pessimistic bound.
    `counts.peak_open` is the size of the tree in memory.
    """

    name = "b-star"
    options = BStarOptions
    exact = False

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
        cursor.go_to(())
        self._pv_table[0] = (cursor.moves[()][best.label[0] - 1],)
        return best.pessimistic

    def _expand(self, game: Game[Move], cursor: TreeCursor[Move], node: Node, depth: int) -> None:
        """Give a node its children, each with its own bounds."""
        moves = cursor.moves[node.label] = self._moves(game, len(node.label))
        for number, move in enumerate(moves, 1):
            game.play(move)
            node.children.append(self._node(game, (*node.label, number), node, depth))
            game.undo()
        self.counts.peak_open += len(moves)

    def _node(self, game: Game[Move], label: Label, parent: Node | None, depth: int) -> Node:
        """Visit a position; the bounds of a leaf are its value."""
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
        """Return the bounds of a position that is not a leaf."""
        if self._bounds is not None:
            return self._bounds(game)
        if not isinstance(game, HasValueBounds):
            return -inf, inf
        least, greatest = game.bounds()
        return self._scoring.value(least, ply), self._scoring.value(greatest, ply)

    def _choose(self, best: Node, other: Node) -> Node:
        """Return where to go on from the root; never a settled node, which has no more to tell."""
        if best.is_closed() or other.is_closed():
            return other if best.is_closed() else best
        if self._strategy == "widest":
            return best if best.width() >= other.width() else other
        return best if self._strategy == "prove-best" else other


def _optimism(node: Node) -> Bounds:
    return node.optimistic, node.pessimistic
