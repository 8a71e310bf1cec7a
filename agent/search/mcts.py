"""Monte Carlo tree search: playouts from the leaves of a tree that grows where they go well.

Source: 'Técnicas de IA, Tema 3.2', in its four phases; UCT by L. Kocsis and C. Szepesvári,
'Bandit based Monte-Carlo planning' (2006); UCB1 by P. Auer, N. Cesa-Bianchi and P. Fischer,
'Finite-time analysis of the multiarmed bandit problem' (2002); RAVE by S. Gelly and D. Silver,
'Combining online and offline knowledge in UCT' (2007); the solver by M. Winands, Y. Björnsson
and J.-T. Saito, 'Monte-Carlo tree search solver' (2008).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from random import Random
from typing import Any, Generic, Literal, TypeVar

from agent.experience.lesson import Lesson
from agent.game import CHANCE, Chance, Game, Simulated
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.chance import draw_event
from agent.limits import Info
from agent.search.counts import SearchStopped
from agent.search.ending import MOST
from agent.search.playout_tree import (
    Node,
    count_losses,
    drawn,
    events_of,
    for_first,
    mean_for,
    prove,
)
from agent.search.search import Found, Search, SearchOptions, in_cents

Move = TypeVar("Move")

FinalChoice = Literal["visits", "mean", "ucb"]

ENDLESS = 10**9  # plies, playouts
# Iterations end after FIRST_PLAYOUTS, times 2 for every so many PARTS.
FIRST_PLAYOUTS, PARTS = 16, 4
# Playouts that may be under way for each leaf of a batch: some come to the same leaf.
TRIES = 2


@dataclass(frozen=True, kw_only=True)
class UCTOptions(SearchOptions):
    """How UCT chooses in its tree and below it.

    playouts: the most of a search. scale: a utility of so much or more is a whole win.
    exploration: how much more a little-tried move is worth. threshold: the visits from which on
    a leaf is expanded. final: play the move of most visits (among equals of the greatest mean), of
    the greatest mean, or of the greatest upper bound. policy: the moves of a playout; without it
    the game's own playouts, where it has some and `depth` is beyond their end, or moves at random.
    solver: keep track of what is certain. rave: the visits at which a move's own mean counts as
    much as that of the playouts in which it came later; 0 leaves these out. urgency: the bound of
    a move that was not tried yet, above its mean in such playouts; infinite, all moves are tried
    once first. seed: what all that is random follows from.
    """

    playouts: int = 1000
    scale: float = 1
    exploration: float = sqrt(2)
    threshold: int = 1
    final: FinalChoice = "visits"
    policy: Callable[[Any, list[Any], Random], Any] | None = None
    solver: bool = False
    rave: float = 0
    urgency: float = inf
    seed: int | None = None


class UCT(Search[Move]):
    """UCT: MCTS that selects by upper confidence bounds at every node of the tree.

    A search makes its playouts, fewer if it is stopped or at its node limit: then it answers with
    what it has, and raises SearchStopped only if it has nothing. They go on to the end of the
    game, or to `depth`, where the evaluation takes over; no evaluation counts more than half of a
    win. But a batched evaluation judges every new leaf, in place of a playout: leaves are gathered
    by virtual loss (G. Chaslot, M. Winands and J. van den Herik, 'Parallel Monte-Carlo tree
    search', 2008), and where it tells priors, moves are chosen by PUCT (C. Rosin, 'Multi-armed
    bandits with episode context', 2011, in the form of AlphaZero).

    `counts.leaves` are the playouts, `counts.peak_open` the nodes of the tree.
    """

    name = "uct"
    options = UCTOptions
    exact = False
    many_lines = True

    def __init__(
        self, evaluate: Callable[[Any], float], options: UCTOptions = UCTOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self.playouts = options.playouts
        self.scale = options.scale
        self.exploration = options.exploration
        self.threshold = options.threshold
        self.final = options.final
        self.solver = options.solver
        self.rave = options.rave
        self.urgency = options.urgency
        self._policy = options.policy
        self._random = Random(options.seed)
        self._batch = batch_of(evaluate)
        # The tree of the last search, or of the one that is going on, for whoever looks on.
        self.tree: Node[Any] | None = None
        self._simulated: Simulated[Move] | None = None
        self._chance: Chance[Move] | None = None

    def search(self, game: Game[Move], depth: int) -> Found[Move]:
        """Return the move chosen, its mean reward, and the variation that was tried most."""
        leaf = self._plant(game, depth)
        if leaf is not None:
            return self._found(leaf, ())
        root = self._planted()
        self._make(game, depth, self.playouts)
        if not root.visits:
            raise SearchStopped
        if root.awaits_event:
            return self._found(mean_for(0, root), ())
        best = self.chosen(root)
        value = best.mean() if best.proven is None else best.proven
        return Found(value, tuple(self.line_from(root)))

    def iterations(self, game: Game[Move], deepest: int | None, lines: int) -> Iterator[Info[Move]]:
        """Make more and more playouts; yield how the best moves stand after each part of them.

        `deepest`: plies of a playout. It ends with `playouts`, and after a stop with the lines
        as they stand then.
        """
        depth = deepest or ENDLESS
        self._plant(game, depth)
        root = self._planted()
        part = made = 0
        complete = True
        while complete and made < self.playouts and root.proven is None:
            part += 1
            goal = min(int(FIRST_PLAYOUTS * 2.0 ** (part / PARTS)), self.playouts)
            complete = self._make(game, depth, goal - made)
            made = goal
            level = self.standing(lines)
            yield from (replace(info, depth=part, complete=complete) for info in level)

    def standing(self, lines: int | None = None) -> Sequence[Info[Move]]:
        """Return how the root's moves stand, the one to play first; the first `lines` of them."""
        root = self.tree
        if root is None or not root.children or not root.visits or root.awaits_event:
            return ()
        best = self.chosen(root)
        others = [child for child in root.children if child is not best]
        others.sort(key=lambda child: (child.visits, child.mean()), reverse=True)
        return [
            Info(
                depth=0,
                score=in_cents(child.mean() if child.proven is None else child.proven),
                pv=(child.move, *self.line_from(child)),
                pv_visits=(child.visits, *(node.visits for node in self._nodes_from(child))),
                seldepth=self.counts.seldepth,
                multipv=number,
                nodes=self.counts.nodes,
                effort=child.visits / root.visits,
                visits=child.visits,
                expected=child.mean() if child.proven is None else child.proven,
            )
            for number, child in enumerate((best, *others)[:lines], 1)
        ]

    def _root(self, game: Game[Move], depth: int) -> float:
        return self.search(game, depth).value

    def _believes(self, lesson: Lesson, depth: int) -> bool:
        """Believe every lesson: playouts go to the end, whatever is known on the way."""
        return True

    def _plant(self, game: Game[Move], depth: int) -> float | None:
        """Begin a new tree here; return the position's value instead if it is a leaf."""
        self.tree = None
        self._begin(game)
        leaf = self._leaf(game, depth, 0)
        if leaf is None:
            self._simulated = game if not self._policy and isinstance(game, Simulated) else None
            self._chance = game if isinstance(game, Chance) else None
            self.tree = self._tree(game)
        return leaf

    def _planted(self) -> "Node[Any]":
        assert self.tree is not None
        return self.tree

    def _make(self, game: Game[Move], depth: int, playouts: int) -> bool:
        """Make playouts, until the root is proven; return False if it was stopped before."""
        root = self._planted()
        made = 0
        try:
            while made < playouts and root.proven is None:
                if self._batch is None:
                    self._playout(game, root, depth)
                    made += 1
                else:
                    made += self._judge_leaves(game, root, depth, playouts - made, self._batch)
        except SearchStopped:
            return False
        return True

    def _tree(self, game: Game[Move]) -> "Node[Any]":
        """Return a new tree: the root with its children."""
        root = Node[Any](move=None, player=1 if game.turn == CHANCE else 1 - game.turn)
        self._grow(game, root, 0)
        return root

    def _playout(self, game: Game[Move], root: Node[Move], depth: int) -> None:
        """Go through the four phases once."""
        path = self._select(game, root)
        self._expand(game, path, depth)
        reward, played = self._simulate(game, path, depth)
        for _ in path[1:]:
            game.undo()
        self._backpropagate(path, reward, played)

    def _select(self, game: Game[Move], root: Node[Move]) -> list[Node[Move]]:
        """Phase 1: go down by the upper confidence bounds, to a leaf of the tree."""
        path = [root]
        while path[-1].children and path[-1].proven is None:
            self._go_on(game, path)
        return path

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        """Phase 2: let a leaf that was visited often enough have children; go to one of them."""
        leaf, ply = path[-1], len(path) - 1
        if leaf.visits < self.threshold or leaf.proven is not None or self._left(depth, path) <= 0:
            return
        if game.outcome() is None:
            self._grow(game, leaf, ply)
            self._go_on(game, path)

    def _left(self, depth: int, path: list[Node[Move]]) -> int:
        """Return how many moves of players are left of a depth at the end of a path."""
        if self._chance is None:
            return depth - len(path) + 1
        return depth - sum(node.probability is None for node in path[1:])

    def _simulate(
        self, game: Game[Move], path: list[Node[Move]], depth: int
    ) -> tuple[float, list[tuple[int, Move]]]:
        """Phase 3: play on to an end. Return player 0's reward, and who played which moves."""
        leaf = path[-1]
        if leaf.proven is not None:
            return for_first(leaf.player, leaf.proven), []
        played: list[tuple[int, Move]] = []
        ply = start = len(path) - 1
        left, chance = self._left(depth, path), self._chance
        while (value := self._leaf(game, left, ply)) is None:
            own = self._simulated
            if own is not None and left >= own.longest_playout:
                return self._own_playout(own)
            moves = list(game.moves())
            policy = self._policy
            move = policy(game, moves, self._random) if policy else self._random.choice(moves)
            played.append((game.turn, move))
            game.play(move)
            ply, left = ply + 1, left - 1
            while chance is not None and game.turn == CHANCE:
                game.play(draw_event(chance, self._random.random()))
                ply += 1
        reward = for_first(game.turn, self._reward(value))
        if self.solver and ply == start and game.outcome() is not None:
            leaf.proven = for_first(leaf.player, reward)
        for _ in range(ply - start):
            game.undo()
        return reward, played

    def _own_playout(self, game: Simulated[Move]) -> tuple[float, list[tuple[int, Move]]]:
        """Let the game play on; return player 0's reward, and who played which moves."""
        utility, played = game.playout(self._random)
        self.counts.nodes += len(played)
        self.counts.leaves += 1
        return self._reward(self._ending.value(utility, 0)), list(played)

    def _reward(self, value: float) -> float:
        """Return a leaf's value from -1 to 1: a win's by the scale, an evaluation's within half."""
        if self._valued or self._ending.is_end(value):
            return max(-1.0, min(1.0, self._ending.reported(value) / self.scale))
        return 0.5 * value / ((self._clear_lead or 0.5 * self.scale) + abs(value))

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        """Phase 4: add player 0's reward to every node of the path, each for its own player."""
        later = set(played)
        for node in reversed(path):
            node.visits += 1
            node.total += for_first(node.player, reward)
            if self.solver and node.children:
                prove(node)
            if self.rave:
                for child in () if node.awaits_event else node.children:
                    if (child.player, child.move) in later:
                        child.rave_visits += 1
                        child.rave_total += for_first(child.player, reward)
                if node.probability is None:
                    later.add((node.player, node.move))

    def _judge_leaves(
        self,
        game: Game[Move],
        root: Node[Move],
        depth: int,
        most: int,
        batch: BatchEvaluation,
    ) -> int:
        """Gather up to `most` leaves, or a batch, and judge them; return the playouts made.

        What is on its way counts as a loss, so that the next playouts go elsewhere; those that come
        to a leaf that waits already are taken back in the end.
        """
        waiting: dict[int, _Waiting[Move]] = {}
        made, stopped = 0, False
        ways: list[list[Node[Move]]] = []
        tries = min(most, TRIES * batch.size)
        try:
            while made + len(ways) < tries and len(waiting) < batch.size:
                path = self._select(game, root) if root.visits or root.awaits_event else [root]
                ply = len(path) - 1
                try:
                    self._visit(game, ply)
                except SearchStopped:  # the game is back at the root
                    stopped = True
                    break
                try:
                    reward = self._known_reward(game, path[-1], ply)
                    if reward is None and id(path[-1]) not in waiting:
                        legal = list(game.moves())
                        left = self._left(depth, path)
                        children = self._children(game, ply) if left > 0 else []
                        waiting[id(path[-1])] = _Waiting(
                            path, children, game.turn, legal, batch.take(game, legal)
                        )
                finally:
                    self._take_back(game, ply)
                if reward is None:
                    ways.append(path)
                    count_losses(path, 1)
                    if ply == 0:  # it has no priors yet
                        break
                else:
                    self._backpropagate(path, reward, [])
                    made += 1
            if waiting and not self.stopped:
                answer = batch.answer([each.taken for each in waiting.values()])
            else:
                answer = None
        finally:
            for path in ways:
                count_losses(path, -1)
        if answer is not None:
            self._learn(list(waiting.values()), *answer)
            made += len(waiting)
        if stopped or self.stopped:
            raise SearchStopped
        return made

    def _known_reward(self, game: Game[Move], leaf: Node[Move], ply: int) -> float | None:
        """Return player 0's reward of a leaf that is proven or ends the game, None of others."""
        if leaf.proven is not None:
            return for_first(leaf.player, leaf.proven)
        outcome = game.outcome()
        if outcome is None:
            return None
        self.counts.leaves += 1
        value = self._ending.value(-outcome if game.turn else outcome, ply)
        reward = for_first(game.turn, self._reward(value))
        if self.solver:
            leaf.proven = for_first(leaf.player, reward)
        return reward

    def _learn(self, waiting: "list[_Waiting[Move]]", values: Any, priors: Any | None) -> None:
        """Give leaves their values, and their moves as children.

        values: an array, by leaf; priors: one by leaf and move, or None.
        """
        for number, each in enumerate(waiting):
            self.counts.leaves += 1
            leaf = each.path[-1]
            if not leaf.children:
                self._open(leaf, each.children)
            if priors is not None:
                known = dict(zip(each.legal, map(float, priors[number]), strict=False))
                for child in leaf.children:
                    child.prior = known[child.move]
            value = max(-MOST, min(MOST, float(values[number])))
            reward = for_first(each.turn, self._reward(value))
            self._backpropagate(each.path, reward, [])

    def _open(self, leaf: Node[Move], children: "list[Node[Move]]") -> None:
        """Give a leaf its children."""
        leaf.children = children
        self.counts.peak_open += len(children)

    def _grow(self, game: Game[Move], node: Node[Move], ply: int) -> None:
        """Give a node its children: moves, or what may happen where chance is to move."""
        if self._chance is not None and game.turn == CHANCE:
            node.children = events_of(self._chance, node.player)
        else:
            node.children = self._children(game, ply)
        self.counts.peak_open += len(node.children)

    def _children(self, game: Game[Move], ply: int) -> "list[Node[Move]]":
        """Return a node for each move to try, in random order if no other is asked for."""
        moves = self._moves(game, ply)
        if self._simulated is not None:
            sensible = set(self._simulated.sensible())
            moves = [move for move in moves if move in sensible] or moves
        if self.ordering is None:
            self._random.shuffle(moves)
        return [Node(move, game.turn) for move in moves]

    def _go_on(self, game: Game[Move], path: list[Node[Move]]) -> None:
        """Play the move of the child with the greatest upper bound, and let chance play on."""
        parent, chance = path[-1], self._chance
        if chance is None or not parent.awaits_event:
            child = max(parent.children, key=lambda child: self._upper_bound(parent, child))
            game.play(child.move)
            path.append(child)
        while chance is not None and game.turn == CHANCE:
            if not path[-1].children:
                self._grow(game, path[-1], len(path) - 1)
            event = drawn(path[-1].children, self._random.random())
            game.play(event.move)
            path.append(event)

    def _upper_bound(self, parent: Node[Move], child: Node[Move]) -> float:
        """Return UCB1's bound of a child's mean reward: `urgency` until it has been tried.

        With a prior it is PUCT's, in which a move that was not tried counts as its parent does.
        """
        if child.proven is not None:
            return child.proven if child.proven >= 0 else -inf
        if child.prior is not None:
            mean = child.mean() if child.visits else mean_for(child.player, parent)
            spread = self.exploration * child.prior * sqrt(parent.visits)
            return mean + spread / (1 + child.visits)
        if not child.visits:
            return self.urgency + (child.rave_total / child.rave_visits if child.rave_visits else 0)
        mean = child.mean()
        if self.rave and child.rave_visits:
            weight = sqrt(self.rave / (3 * child.visits + self.rave))
            mean += weight * (child.rave_total / child.rave_visits - mean)
        return mean + self.exploration * sqrt(log(parent.visits) / child.visits)

    def chosen(self, node: Node[Move]) -> Node[Move]:
        """Return the child to play: by the final rule, but never against what is proven."""

        def merit(child: Node[Move]) -> tuple[bool, bool, float, float]:
            won = child.proven is not None and child.proven > 0
            lost = child.proven is not None and child.proven < 0
            if self.final == "visits":
                return won, not lost, child.visits, child.mean()
            if not child.visits:
                return won, not lost, -inf, 0
            if self.final == "mean":
                return won, not lost, child.mean(), child.visits
            return won, not lost, self._upper_bound(node, child), child.mean()

        return max(node.children, key=merit)

    def line_from(self, node: Node[Move]) -> Iterator[Move]:
        """Generate the moves chosen from here on, as far as they were tried."""
        return (chosen.move for chosen in self._nodes_from(node))

    def _nodes_from(self, node: Node[Move]) -> Iterator[Node[Move]]:
        while node.children and not node.awaits_event:
            node = self.chosen(node)
            if not node.visits:
                return
            yield node


class UCB1(UCT[Move]):
    """Flat Monte Carlo: UCB1 shares the playouts out among the root's moves; no tree grows."""

    name = "ucb1"

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        """Leave the tree as it is."""

    def _open(self, leaf: Node[Move], children: "list[Node[Move]]") -> None:
        """Leave the tree as it is."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Move]):
    """A leaf that waits to be judged.

    path: from the root to it. children: what it will have. turn: who is to move there. legal: the
    moves that may be made. taken: what the evaluation has taken of the position.
    """

    path: list[Node[Move]]
    children: list[Node[Move]]
    turn: int
    legal: list[Move]
    taken: Any


def batch_of(evaluate: Callable[[Any], float]) -> BatchEvaluation | None:
    """Return an evaluation that judges batches as what it is, None for any other."""
    return evaluate if isinstance(evaluate, BatchEvaluation) else None
