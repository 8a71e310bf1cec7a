"""Monte Carlo tree search (MCTS), which evaluates moves by playouts from a growing tree.

Sources: the four phases in the lecture notes 'Técnicas de IA, Tema 3.2'; UCT by L. Kocsis and C.
Szepesvári, 'Bandit based Monte-Carlo planning' (2006); UCB1 by P. Auer, N. Cesa-Bianchi and P.
Fischer, 'Finite-time analysis of the multiarmed bandit problem' (2002); RAVE by S. Gelly and D.
Silver, 'Combining online and offline knowledge in UCT' (2007); the solver by M. Winands, Y.
Björnsson and J.-T. Saito, 'Monte-Carlo tree search solver' (2008); virtual losses by G. Chaslot, M.
Winands and J. van den Herik, 'Parallel Monte-Carlo tree search' (2008); PUCT by C. Rosin,
'Multi-armed bandits with episode context' (2011), in the form of AlphaZero.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from random import Random
from typing import Any, Generic, Literal, TypeVar

from agent.game import CHANCE, ChanceGame, Game, SupportsPlayouts
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.chance import draw_event
from agent.learning.learned_move import LearnedMove
from agent.limits import Info
from agent.search.mcts_node import (
    Node,
    add_virtual_losses,
    chance_children,
    for_player0,
    mean_reward_for,
    sample_event,
    update_proven,
)
from agent.search.search import Search, SearchOptions, SearchResult, to_cp
from agent.search.stats import SearchStopped
from agent.search.terminal_scoring import MAX_EVALUATION

Move = TypeVar("Move")

FinalMoveRule = Literal["visits", "mean", "ucb"]

UNLIMITED = 10**9  # plies or playouts
# The first iteration ends after about FIRST_PLAYOUTS playouts. Over each REPORTS_PER_DOUBLING
# iterations, the number of playouts doubles.
FIRST_PLAYOUTS, REPORTS_PER_DOUBLING = 16, 4
# A move with at least MIN_SETTLED_VISITS visits, of which this share are draws, is a settled draw.
# With RAVE, one in DETOUR_INTERVAL playouts looks for something better.
MIN_SETTLED_VISITS, SETTLED_SHARE, DETOUR_INTERVAL = 64, 0.9, 8
# Maximum number of playouts per leaf in a batch. Several playouts may reach the same pending leaf.
MAX_PLAYOUTS_PER_LEAF = 2


@dataclass(frozen=True, kw_only=True)
class UCTOptions(SearchOptions):
    """Options for UCT.

    - `playouts`: the maximum number of playouts per search.
    - `scale`: the utility that counts as a full win.
    - `exploration`: the weight of the bonus for moves with few visits.
    - `threshold`: the number of visits at which a leaf is expanded.
    - `final`: the rule that chooses the move to play: most visits, greatest mean reward or greatest
      confidence bound.
    - `policy`: a function that chooses the moves of playouts. By default, the game's own playouts
      are used if it has any, otherwise random moves.
    - `solver`: whether to propagate proven wins and losses up the tree.
    - `rave`: the number of visits at which a move's mean reward and RAVE mean have equal weight, or
      0 to disable RAVE.
    - `urgency`: the value of a move without visits, to which its RAVE mean is added. If it is
      infinite, every move is tried once first.
    """

    playouts: int = 1000
    scale: float = 1
    exploration: float = sqrt(2)
    threshold: int = 1
    final: FinalMoveRule = "visits"
    policy: Callable[[Any, list[Any], Random], Any] | None = None
    solver: bool = False
    rave: float = 0
    urgency: float = inf
    seed: int | None = None


class UCT(Search[Move]):
    """Monte Carlo tree search that selects moves by upper confidence bounds at every node.

    A playout ends at the end of the game or at `depth`, where the position is evaluated. An
    evaluation counts as at most half of a win. With a batched evaluation, new leaves are evaluated
    without playouts. If it returns priors, moves are selected by PUCT.

    A stopped search returns its best result so far, or raises SearchStopped if it has no result.
    `counts.leaves` counts playouts, and `counts.peak_open` counts the nodes of the tree.
    """

    name = "uct"
    options = UCTOptions
    exact = False
    meaning = "mean reward"
    supports_multipv = True

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
        self._batch = as_batch_evaluation(evaluate)
        # Tree of the last or current search, for observers.
        self.tree: Node[Any] | None = None
        # In a playout, the index in its path of the last node with a detour, or -1.
        self._detour = -1
        self._simulated: SupportsPlayouts[Move] | None = None
        self._chance: ChanceGame[Move] | None = None

    def search(self, game: Game[Move], depth: int) -> SearchResult[Move]:
        """Return the mean reward or proven value of the best move, and the principal variation."""
        leaf = self._start_tree(game, depth)
        if leaf is not None:
            return self._result(leaf, ())
        root = self._current_root()
        self._run_playouts(game, depth, self.playouts)
        if not root.visits:
            raise SearchStopped
        if root.is_chance_node:
            return self._result(mean_reward_for(0, root), ())
        best = self.final_child(root)
        value = best.mean() if best.proven is None else best.proven
        pv = tuple(self.pv_from(root))
        if self.tracer is not None and pv:
            self.tracer.counted(root)
        return SearchResult(value, pv)

    def iterations(
        self, game: Game[Move], max_depth: int | None, lines: int
    ) -> Iterator[Info[Move]]:
        """Run batches of playouts of increasing size, and yield the `lines` best lines after each.

        `max_depth` is the maximum number of plies in a playout.
        """
        depth = max_depth or UNLIMITED
        self._start_tree(game, depth)
        root = self._current_root()
        part = made = 0
        complete = True
        while complete and made < self.playouts and root.proven is None:
            part += 1
            goal = min(int(FIRST_PLAYOUTS * 2.0 ** (part / REPORTS_PER_DOUBLING)), self.playouts)
            complete = self._run_playouts(game, depth, goal - made)
            made = goal
            level = self.current_lines(lines)
            yield from (replace(info, depth=part, complete=complete) for info in level)

    def current_lines(self, lines: int | None = None) -> Sequence[Info[Move]]:
        """Return the statistics of up to `lines` root moves, sorted from best to worst."""
        root = self.tree
        if root is None or not root.children or not root.visits or root.is_chance_node:
            return ()
        best = self.final_child(root)
        others = [child for child in root.children if child is not best]
        others.sort(key=lambda child: (child.visits, child.mean()), reverse=True)
        return [
            Info(
                depth=0,
                score=to_cp(child.mean() if child.proven is None else child.proven),
                pv=(child.move, *self.pv_from(child)),
                pv_visits=(child.visits, *(node.visits for node in self._pv_nodes(child))),
                seldepth=self.counts.seldepth,
                multipv=index,
                nodes=self.counts.nodes,
                effort=child.visits / root.visits,
                visits=child.visits,
                expected_outcome=child.mean() if child.proven is None else child.proven,
            )
            for index, child in enumerate((best, *others)[:lines], 1)
        ]

    def _root(self, game: Game[Move], depth: int) -> float:
        return self.search(game, depth).value

    def _trusts(self, lesson: LearnedMove, depth: int) -> bool:
        return True

    def _start_tree(self, game: Game[Move], depth: int) -> float | None:
        self.tree = None
        self._begin(game)
        leaf = self._leaf(game, depth, 0)
        if leaf is None:
            self._simulated = (
                game if not self._policy and isinstance(game, SupportsPlayouts) else None
            )
            self._chance = game if isinstance(game, ChanceGame) else None
            self.tree = self._tree(game)
        return leaf

    def _current_root(self) -> "Node[Any]":
        assert self.tree is not None
        return self.tree

    def _run_playouts(self, game: Game[Move], depth: int, playouts: int) -> bool:
        root = self._current_root()
        made = 0
        try:
            while made < playouts and root.proven is None:
                if self._batch is None:
                    self._run_playout(game, root, depth)
                    made += 1
                else:
                    made += self._evaluate_leaves(game, root, depth, playouts - made, self._batch)
        except SearchStopped:
            return False
        return True

    def _tree(self, game: Game[Move]) -> "Node[Any]":
        root = Node[Any](move=None, player=1 if game.turn == CHANCE else 1 - game.turn)
        self._add_children(game, root, 0)
        return root

    def _run_playout(self, game: Game[Move], root: Node[Move], depth: int) -> None:
        path = self._select(game, root)
        selected = len(path)
        self._expand(game, path, depth)
        if self.tracer is not None:
            self.tracer.reached(path[-1], expanded=len(path) > selected)
        reward, played = self._simulate(game, path, depth)
        for _ in path[1:]:
            game.undo()
        self._backpropagate(path, reward, played)

    def _select(self, game: Game[Move], root: Node[Move]) -> list[Node[Move]]:
        """Phase 1, selection: descend to a leaf of the tree by upper confidence bounds."""
        path = [root]
        self._detour = -1
        while path[-1].children and path[-1].proven is None:
            self._descend(game, path)
        return path

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        """Phase 2, expansion: add children to a leaf with enough visits, and descend to one."""
        leaf, ply = path[-1], len(path) - 1
        if (
            leaf.visits < self.threshold
            or leaf.proven is not None
            or self._remaining_depth(depth, path) <= 0
        ):
            return
        if game.outcome() is None:
            self._add_children(game, leaf, ply)
            self._descend(game, path)

    def _remaining_depth(self, depth: int, path: list[Node[Move]]) -> int:
        if self._chance is None:
            return depth - len(path) + 1
        return depth - sum(node.probability is None for node in path[1:])

    def _simulate(
        self, game: Game[Move], path: list[Node[Move]], depth: int
    ) -> tuple[float, list[tuple[int, Move]]]:
        """Phase 3, simulation: return player 0's reward and the (player, move) pairs played."""
        leaf = path[-1]
        if leaf.proven is not None:
            return for_player0(leaf.player, leaf.proven), []
        played: list[tuple[int, Move]] = []
        ply = start = len(path) - 1
        remaining, chance = self._remaining_depth(depth, path), self._chance
        while (value := self._leaf(game, remaining, ply)) is None:
            simulated = self._simulated
            if simulated is not None and remaining >= simulated.max_playout_length:
                return self._game_playout(simulated)
            moves = list(game.moves())
            policy = self._policy
            move = policy(game, moves, self._random) if policy else self._random.choice(moves)
            played.append((game.turn, move))
            game.play(move)
            ply, remaining = ply + 1, remaining - 1
            while chance is not None and game.turn == CHANCE:
                game.play(draw_event(chance, self._random.random()))
                ply += 1
        reward = for_player0(game.turn, self._reward(value))
        if self.tracer is not None:
            self.tracer.simulated(game)
        if self.solver and ply == start and game.outcome() is not None:
            leaf.proven = for_player0(leaf.player, reward)
        for _ in range(ply - start):
            game.undo()
        return reward, played

    def _game_playout(self, game: SupportsPlayouts[Move]) -> tuple[float, list[tuple[int, Move]]]:
        utility, played = game.playout(self._random)
        self.counts.nodes += len(played)
        self.counts.leaves += 1
        return self._reward(self._scoring.value(utility, 0)), list(played)

    def _reward(self, value: float) -> float:
        if self._has_terminal_values or self._scoring.is_decisive(value):
            return max(-1.0, min(1.0, self._scoring.unscaled(value) / self.scale))
        return 0.5 * value / ((self._clear_lead or 0.5 * self.scale) + abs(value))

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        """Phase 4, backpropagation: add the reward of player 0 to all nodes of the path.

        Up to a detour, the reward is that of the settled draw.
        """
        later = set(played)
        for index in range(len(path) - 1, -1, -1):
            node, settled = path[index], index <= self._detour
            node.visits += 1
            node.total += 0 if settled else for_player0(node.player, reward)
            node.draws += settled or reward == 0
            if self.solver and node.children:
                update_proven(node)
            if self.rave:
                for child in () if node.is_chance_node else node.children:
                    if (child.player, child.move) in later:
                        child.rave_visits += 1
                        child.rave_total += for_player0(child.player, reward)
                if node.probability is None:
                    later.add((node.player, node.move))
        if self.tracer is not None:
            self.tracer.backed_up(path, reward, len(played))

    def _evaluate_leaves(
        self,
        game: Game[Move],
        root: Node[Move],
        depth: int,
        limit: int,
        batch: BatchEvaluation,
    ) -> int:
        """Evaluate a batch of up to `limit` leaves, and return the number of completed playouts."""
        waiting: dict[int, _PendingLeaf[Move]] = {}
        made, stopped = 0, False
        pending_paths: list[list[Node[Move]]] = []
        tries = min(limit, MAX_PLAYOUTS_PER_LEAF * batch.batch_size)
        try:
            while made + len(pending_paths) < tries and len(waiting) < batch.batch_size:
                path = self._select(game, root) if root.visits or root.is_chance_node else [root]
                ply = len(path) - 1
                try:
                    self._visit(game, ply)
                except SearchStopped:  # the game is already restored to the root
                    stopped = True
                    break
                try:
                    reward = self._terminal_reward(game, path[-1], ply)
                    if self.tracer is not None:
                        self.tracer.reached(path[-1], judged=reward is None)
                    if reward is None and id(path[-1]) not in waiting:
                        legal = list(game.moves())
                        remaining = self._remaining_depth(depth, path)
                        children = self._children(game, ply) if remaining > 0 else []
                        waiting[id(path[-1])] = _PendingLeaf(
                            path, children, game.turn, legal, batch.encode(game, legal)
                        )
                finally:
                    self._undo_to_root(game, ply)
                if reward is None:
                    pending_paths.append(path)
                    add_virtual_losses(path, 1)
                    if ply == 0:  # the root has no priors yet
                        break
                else:
                    self._backpropagate(path, reward, [])
                    made += 1
            if waiting and not self.stopped:
                evaluated = batch.evaluate([leaf.encoded for leaf in waiting.values()])
            else:
                evaluated = None
        finally:
            for path in pending_paths:
                add_virtual_losses(path, -1)
        if evaluated is not None:
            self._backup_leaves(list(waiting.values()), *evaluated)
            made += len(waiting)
        if stopped or self.stopped:
            raise SearchStopped
        return made

    def _terminal_reward(self, game: Game[Move], leaf: Node[Move], ply: int) -> float | None:
        if leaf.proven is not None:
            return for_player0(leaf.player, leaf.proven)
        outcome = game.outcome()
        if outcome is None:
            return None
        self.counts.leaves += 1
        value = self._scoring.value(-outcome if game.turn else outcome, ply)
        reward = for_player0(game.turn, self._reward(value))
        if self.solver:
            leaf.proven = for_player0(leaf.player, reward)
        return reward

    def _backup_leaves(
        self, waiting: "list[_PendingLeaf[Move]]", values: Any, priors: Any | None
    ) -> None:
        """Add the children of evaluated leaves to the tree, and back up the values."""
        for index, pending in enumerate(waiting):
            self.counts.leaves += 1
            leaf = pending.path[-1]
            if not leaf.children:
                self._attach_children(leaf, pending.children)
            if priors is not None:
                prior_of = dict(zip(pending.legal, map(float, priors[index]), strict=False))
                for child in leaf.children:
                    child.prior = prior_of[child.move]
            value = max(-MAX_EVALUATION, min(MAX_EVALUATION, float(values[index])))
            reward = for_player0(pending.turn, self._reward(value))
            self._backpropagate(pending.path, reward, [])

    def _attach_children(self, leaf: Node[Move], children: "list[Node[Move]]") -> None:
        leaf.children = children
        self.counts.peak_open += len(children)

    def _add_children(self, game: Game[Move], node: Node[Move], ply: int) -> None:
        if self._chance is not None and game.turn == CHANCE:
            node.children = chance_children(self._chance, node.player)
        else:
            node.children = self._children(game, ply)
        self.counts.peak_open += len(node.children)

    def _children(self, game: Game[Move], ply: int) -> "list[Node[Move]]":
        moves = self._moves(game, ply)
        if self._simulated is not None:
            candidate_moves = set(self._simulated.candidate_moves())
            moves = [move for move in moves if move in candidate_moves] or moves
        if self.ordering is None:
            self._random.shuffle(moves)
        return [Node(move, game.turn) for move in moves]

    def _descend(self, game: Game[Move], path: list[Node[Move]]) -> None:
        parent, chance = path[-1], self._chance
        if chance is None or not parent.is_chance_node:
            child = max(parent.children, key=lambda child: self.upper_bound(parent, child))
            if self._makes_detour(parent, child):
                child = min(parent.children, key=lambda child: child.visits)
                self._detour = len(path) - 1
            if self.tracer is not None:
                self.tracer.selected(parent, child)
            game.play(child.move)
            path.append(child)
        while chance is not None and game.turn == CHANCE:
            if not path[-1].children:
                self._add_children(game, path[-1], len(path) - 1)
            event = sample_event(path[-1].children, self._random.random())
            if self.tracer is not None:
                self.tracer.drawn(event)
            game.play(event.move)
            path.append(event)

    def _makes_detour(self, parent: Node[Move], best: Node[Move]) -> bool:
        """Return whether to try the least visited move instead of a settled draw.

        With RAVE, exploration is too weak for that, because the value of a settled draw stays 0.
        """
        return (
            self.rave > 0
            and self._batch is None
            and best.visits >= MIN_SETTLED_VISITS
            and best.draws >= SETTLED_SHARE * best.visits
            and parent.visits % DETOUR_INTERVAL == 0
        )

    def upper_bound(self, parent: Node[Move], child: Node[Move]) -> float:
        """Return the UCB1 bound on a child's reward, or the PUCT bound if the child has a prior."""
        if child.proven is not None:
            return child.proven if child.proven >= 0 else -inf
        if child.prior is not None:
            mean = child.mean() if child.visits else mean_reward_for(child.player, parent)
            bonus = self.exploration * child.prior * sqrt(parent.visits)
            return mean + bonus / (1 + child.visits)
        if not child.visits:
            return self.urgency + (child.rave_total / child.rave_visits if child.rave_visits else 0)
        mean = child.mean()
        if self.rave and child.rave_visits:
            weight = sqrt(self.rave / (3 * child.visits + self.rave))
            mean += weight * (child.rave_total / child.rave_visits - mean)
        return mean + self.exploration * sqrt(log(parent.visits) / child.visits)

    def final_child(self, node: Node[Move]) -> Node[Move]:
        """Return the child to play by the `final` option. Proven wins rank first, losses last."""

        def merit(child: Node[Move]) -> tuple[bool, bool, float, float]:
            won = child.proven is not None and child.proven > 0
            lost = child.proven is not None and child.proven < 0
            if self.final == "visits":
                return won, not lost, child.visits, child.mean()
            if not child.visits:
                return won, not lost, -inf, 0
            if self.final == "mean":
                return won, not lost, child.mean(), child.visits
            return won, not lost, self.upper_bound(node, child), child.mean()

        return max(node.children, key=merit)

    def pv_from(self, node: Node[Move]) -> Iterator[Move]:
        """Generate the chosen moves from this node down to the first unvisited node."""
        return (pv_node.move for pv_node in self._pv_nodes(node))

    def _pv_nodes(self, node: Node[Move]) -> Iterator[Node[Move]]:
        while node.children and not node.is_chance_node:
            node = self.final_child(node)
            if not node.visits:
                return
            yield node


class UCB1(UCT[Move]):
    """Flat Monte Carlo search, which distributes its playouts among the root moves by UCB1."""

    name = "ucb1"

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        """Do nothing, because the tree does not grow."""

    def _attach_children(self, leaf: Node[Move], children: "list[Node[Move]]") -> None:
        """Do nothing, because the tree does not grow."""


@dataclass(frozen=True, slots=True)
class _PendingLeaf(Generic[Move]):
    """A leaf that waits for its evaluation. `legal` is in the order of the priors."""

    path: list[Node[Move]]
    children: list[Node[Move]]
    turn: int
    legal: list[Move]
    encoded: Any


def as_batch_evaluation(evaluate: Callable[[Any], float]) -> BatchEvaluation | None:
    """Return the evaluation if it is batched, otherwise None."""
    return evaluate if isinstance(evaluate, BatchEvaluation) else None
