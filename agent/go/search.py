import threading
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from agent.evaluation_types import Evaluation
from agent.games.chain_status import dead_from_statuses, stones_with_status
from agent.games.go import Go, without_stones
from agent.games.stones import BLACK, PASS, WHITE
from agent.go.kernel_board import KernelBoard, from_kernel_move, to_kernel_move
from agent.go.mcts import (
    ANNEX_WORDS,
    NETWORK_WORDS,
    SCORE_SUM,
    SCORE_UNITS_PER_POINT,
    expand_root,
    run_simulations,
)
from agent.go.network_file import shipped_network
from agent.go.ownership import SETTLED_SHARE, Ownership
from agent.go.playout import run_playouts
from agent.go.records import BOARD_CELLS, MAX_TREE_PLIES, Worker
from agent.go.settings import EVALUATION_SHARE, SETTING_INDEX, check_setting
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from agent.kernel.bits import U64
from agent.kernel.evaluators import Evaluator
from agent.kernel.game_follower import GameReplayer
from agent.kernel.mcts_tree import NO_NODE, ROOT
from agent.kernel.node_pool import NodePool
from agent.kernel.playouts import MAX_VISITS, grow_tree, playout_goals
from agent.kernel.scaled_evaluation import make_user_evaluator
from agent.kernel.worker_pool import ParallelSearch, WorkerPool
from agent.limits import Info, Limits, MoveRestriction, Progress
from agent.search.search import to_cp

# Larger than the level that any search reaches.
MAX_LEVEL = 64
# Larger than the number of moves in any position.
_ALL_LINES = BOARD_CELLS
# Number of time checks per level.
STEPS_PER_LEVEL = 8
# The tree is reused if the new position is at most this many plies after the old root.
_MAX_REUSE_PLIES = 4
# Minimum expected outcome (-1 to 1) for considering a pass.
MIN_PASS_VALUE = 0.5
_MIN_PLAYOUTS = 200  # minimum before a pass is considered
_PASS_CHECK_PLAYOUTS = 200  # number of playouts with the opponent moving first
# On a finished board, a vertex with a mean owner closer to 0 may still change hands.
_FINISHED_SHARE = 0.5


class GoSearch(ParallelSearch[KernelBoard]):
    """Monte Carlo tree search with several threads on one tree. Implements `Searcher`.

    A move is a vertex or PASS. The search reuses the subtree of a new position. `evaluation` is an
    optional user evaluation of leaves. Raise ValueError if a setting is invalid, and MemoryError if
    there is not enough memory.
    """

    def __init__(
        self,
        search_config: SearchConfig = DEFAULT_SEARCH_CONFIG,
        evaluation: Evaluation | None = None,
    ) -> None:
        self._search_config = search_config
        self._workers = WorkerPool(KernelBoard, search_config.threads)
        self._network = shipped_network()[0] if evaluation is None else None
        words = ANNEX_WORDS + (NETWORK_WORDS if self._network else 0)
        self._pool = NodePool(search_config.megabytes, words)
        self._tree_lock = threading.Lock()
        self._game = Go()
        self._root_moves: tuple[int, ...] = ()  # allowed root moves; empty if all are allowed
        # Identifies the root position. None if the tree must not be reused.
        self._key: tuple[Hashable, Hashable] | None = None
        self._followers: dict[int, GameReplayer[int]] = {}
        self._evaluator: Evaluator | None = None
        if evaluation is not None:
            self._evaluator = make_user_evaluator(evaluation, Worker, self._game_at, self.stop)
        self._started = 0.0
        self._ownership = Ownership(self._workers)
        # Board for the check whether to pass. The result is None until the check was made.
        self._pass_board = KernelBoard()
        self._may_pass: bool | None = None
        self._seed()
        for name, value in search_config.settings.items():
            self.set(name, value)

    def set(self, name: str, value: float) -> None:
        """Change a setting. Raise ValueError if it is unknown or out of range."""
        check_setting(name, value)
        for board in self._workers:
            board.worker.settings[SETTING_INDEX[name]] = value

    def score_only(self, vertices: Iterable[int]) -> None:
        """Score only these vertices, and clear the tree."""
        scored = set(vertices)
        for board in self._workers:
            for vertex in range(BOARD_CELLS):
                board.worker.scored_vertices[vertex] = int(vertex in scored)
        self._forget()

    def root_visits(self) -> list[tuple[int, int]]:
        """Return the moves of the root and their visits, after a search."""
        pool = self._pool
        return [
            (from_kernel_move(pool.move(child)), pool.visits(child))
            for child in pool.children(ROOT)
        ]

    def owners(self) -> list[float]:
        """Return the mean final owner (1 is Black) of each point, in rows from the bottom."""
        shape, owners = self._game.stones.shape, self._ownership.mean_owners()
        return [
            float(owners[shape.vertex(column, row)])
            for row in range(shape.height)
            for column in range(shape.width)
        ]

    @property
    def supports_multipv(self) -> bool:
        return True

    @property
    def nodes(self) -> int:
        return self._pool.playouts

    def save(self) -> None:
        """Do nothing, because there is no learned data."""

    def new_game(self) -> None:
        self._forget()
        self._seed()

    def _forget(self) -> None:
        self._pool.clear()
        self._key = None

    def _seed(self) -> None:
        first = self._search_config.seed
        if first is None:
            first = time.monotonic_ns()
        for i, board in enumerate(self._workers):
            board.seed(first * 1_000_003 + i)

    def progress(self) -> Progress[int]:
        with self._tree_lock:
            has_children = self._pool.playouts and self._pool.children(ROOT)
            lines = self._lines(MAX_LEVEL, _ALL_LINES) if has_children else []
        return Progress(
            nodes=self._pool.playouts,
            hashfull=self._pool.permille_used(),
            seldepth=self._seldepth(),
            lines=tuple(lines),
        )

    def _seldepth(self) -> int:
        # At the start of a search, no worker may be active yet.
        return max((int(board.worker.seldepth) for board in self._workers.active), default=0)

    def search(self, position: Go, limits: Limits[int], lines: int = 1, /) -> Iterator[Info[int]]:
        """Search with playouts. In infinite analysis, the configured playout limit is ignored."""
        self._started = time.perf_counter()
        self._set_root(position, limits)
        self._workers.begin(lambda board: self._prepare(board, position, limits))
        self._workers.add_workers(len(self._workers))
        pool = self._pool
        max_playouts = min(MAX_VISITS - pool.visits(ROOT), limits.nodes or MAX_VISITS)
        if self._search_config.playouts and not limits.infinite:
            max_playouts = min(max_playouts, self._search_config.playouts)
        last: Info[int] | None = None
        try:
            for depth, goal in playout_goals(
                limits.depth or MAX_LEVEL, max_playouts, STEPS_PER_LEVEL
            ):
                grow_tree(pool, self._workers, goal, self._play_out, self._tree_lock)
                if self._may_pass is None and pool.playouts >= _MIN_PLAYOUTS:
                    self._may_pass = self._should_pass()
                if not pool.children(ROOT):  # stopped before the first playout
                    expand_root(self._workers.first.worker, pool.tree)
                level = self._lines(depth, lines)
                if self._workers.interrupted:
                    yield from (replace(line, complete=False) for line in level)
                    return
                yield replace(level[0], effort=_best_move_share(last, level[0]))
                yield from level[1:]
                last = level[0]
        finally:
            self._workers.end()
            self._raise_error()

    def _set_root(self, position: Go, limits: Limits[int]) -> None:
        with self._tree_lock:
            self._root_moves = limits.search_moves
            restricted = bool(limits.search_moves or limits.restrictions)
            root = NO_NODE if restricted else self._find_node(position)
            self._pool.begin_search(root)
            self._game, self._followers = position, {}
            self._key = None if restricted else (self._rules_of(position), position.key())
            self._ownership.reset(position, moves=limits.moves_ownership)
            self._may_pass = None

    @staticmethod
    def _rules_of(game: Go) -> Hashable:
        return game.size, game.komi, game.rules, game.capture_dead_stones

    def _find_node(self, game: Go) -> int:
        if self._key is None:
            return NO_NODE
        rules, key = self._key
        if rules != self._rules_of(game):
            return NO_NODE
        moves = game.moves_since(key, _MAX_REUSE_PLIES)
        if moves is None:
            return NO_NODE
        return self._pool.find_node(moves, from_kernel_move)

    def _prepare(self, board: KernelBoard, position: Go, limits: Limits[int]) -> None:
        worker = board.worker
        board.load(position)
        if (network := self._network) is not None:
            # The network learned the score of the whole area.
            scores_area = not worker.territory and np.asarray(worker.scored_vertices).all()
            fits = network.fits(position) and scores_area
            board.use_network(network.shape, network.parameters if fits else None, position)
        worker.nodes = worker.seldepth = 0
        worker.evaluate = U64(self._evaluator.address if self._evaluator else 0)
        restrictions = list(limits.restrictions)
        if limits.search_moves:
            only = frozenset(limits.search_moves)
            restrictions.append(MoveRestriction(position.turn, only, allowed=True))
        worker.restricted = int(bool(restrictions))
        worker.banned[:] = 0
        for restriction in restrictions:
            _apply_restriction(board, restriction)
        worker.stop = 0

    def _play_out(self, board: KernelBoard, number: int) -> None:
        run_simulations(board.worker, self._pool.tree)
        if board.worker.failure:
            self.stop()

    def _game_at(self, address: int, ply: int) -> Go:
        follower = self._followers.get(address)
        if follower is None:
            follower = self._followers[address] = GameReplayer(self._game)
        worker = next(board.worker for board in self._workers if board.address == address)
        line = [from_kernel_move(int(move)) for move in worker.played_moves[:ply]]
        game: Go = follower.at(line)
        return game

    def _raise_error(self) -> None:
        if self._evaluator is None:
            return
        error = self._evaluator.pop_error([board.worker for board in self._workers])
        if error is not None:
            self._forget()  # the tree contains invalid values
            raise error

    def _lines(self, depth: int, lines: int) -> list[Info[int]]:
        pool = self._pool
        ranking = self._ranking()
        if not ranking:  # the game is over, or the node pool is full
            moves = self._first_moves()
            return [Info(depth=depth, score=to_cp(0.0), pv=(moves[0],))]
        playouts = max(pool.playouts, 1)
        visit_lead = None
        if len(ranking) > 1:
            visit_lead = (pool.visits(ranking[0]) - pool.visits(ranking[1])) / playouts
        if self._may_pass:
            passing = [node for node in ranking if pool.move(node) == to_kernel_move(PASS)]
            ranking = passing + [node for node in ranking if node not in passing]
        black = self._game.turn == 0
        settings = self._workers.first.worker.settings
        uses_playouts = self._evaluator is None or settings[EVALUATION_SHARE] < 1
        infos = []
        for number, node in enumerate(ranking[:lines], 1):
            visits = pool.visits(node)
            value = pool.mean(node) if visits else -pool.mean(ROOT) if pool.visits(ROOT) else 0.0
            value = max(-1.0, min(1.0, value))
            lead = None
            if visits and uses_playouts:
                lead = int(pool.extra_words[node, SCORE_SUM]) / SCORE_UNITS_PER_POINT / visits
                lead = lead if black else -lead
            line = list(pool.best_line(node))
            infos.append(
                Info(
                    depth=depth,
                    score=to_cp(value),
                    pv=tuple(from_kernel_move(pool.move(child)) for child in line),
                    pv_visits=tuple(pool.visits(child) for child in line),
                    seldepth=self._seldepth(),
                    multipv=number,
                    nodes=pool.playouts,
                    time=time.perf_counter() - self._started,
                    hashfull=pool.permille_used(),
                    visits=visits,
                    expected_outcome=value,
                    visit_lead=visit_lead if number == 1 else None,
                    prior=pool.prior(node),
                    lead=lead,
                    ownership=self._ownership.rows() if number == 1 and uses_playouts else None,
                    moves_ownership=(
                        self._ownership.rows_after(pool.move(node)) if uses_playouts else None
                    ),
                )
            )
        return infos

    def _first_moves(self) -> Sequence[int]:
        return self._root_moves or self._game.candidate_moves()

    def _ranking(self) -> list[int]:
        pool = self._pool
        return sorted(
            pool.children(ROOT),
            key=lambda child: (
                not self._loses_by_pass(child),
                pool.visits(child),
                pool.prior(child),
            ),
            reverse=True,
        )

    def _loses_by_pass(self, child: int) -> bool:
        """Return whether a root move is a pass that ends the game with a loss."""
        pool = self._pool
        return bool(
            self._game.passes
            and pool.move(child) == to_kernel_move(PASS)
            and pool.visits(child)
            and pool.mean(child) <= -1
        )

    def _should_pass(self) -> bool:
        """Return whether to pass, because the game is won even if the opponent moves next.

        All vertices must be settled, unless the opponent has just passed.
        """
        game, board, worker = self._game, self._pass_board, self._workers.first.worker
        answers_pass = game.last_move == PASS and bool(np.asarray(worker.scored_vertices).all())
        if worker.restricted or (game.capture_dead_stones and not answers_pass):
            return False
        if game.rules.tax == "ALL":  # not considered below
            return False
        value = -self._pool.mean(ROOT)  # the root has the view of the side that moved last
        if value < (0 if answers_pass else MIN_PASS_VALUE):
            return False
        board.load(game)
        board.worker.root.turn = 3 - board.worker.root.turn
        ownership = Ownership([board])
        ownership.reset(game)
        run_playouts(board.worker, _PASS_CHECK_PLAYOUTS, 1)
        if answers_pass and self._is_finished_and_won(ownership):
            return True
        if game.capture_dead_stones or value < MIN_PASS_VALUE or ownership.secured_score() <= 0:
            return False
        return game.passes > 0 or ownership.is_settled()

    def _is_finished_and_won(self, ownership: Ownership) -> bool:
        """Return whether all borders are closed except in seki, and the score is a win.

        If one side has no living stones, no border is open, so all vertices must be settled. Dead
        stones must not remain if they have to be captured.
        """
        game, statuses, owners = self._game, ownership.chain_statuses(), ownership.mean_owners()
        dead, seki = dead_from_statuses(statuses), stones_with_status("seki", statuses)
        points = game.score(dead, seki)
        score = -points if game.turn else points
        if score <= 0 or (game.capture_dead_stones and dead):
            return False
        rest = without_stones(game.stones, dead)
        black, white = rest.areas()
        in_seki = seki | rest.shape.adjacent(seki)
        if rest.shape.on_board & ~(black | white | in_seki):
            return False
        both_live = rest.sets[BLACK] and rest.sets[WHITE]
        share = _FINISHED_SHARE if both_live else SETTLED_SHARE
        return all(
            in_seki >> vertex & 1 or abs(owners[vertex]) >= share
            for vertex in game.stones.shape.vertices
        )


def _apply_restriction(board: KernelBoard, restriction: MoveRestriction[int]) -> None:
    banned = np.asarray(board.worker.banned)[restriction.player * BOARD_CELLS :][:BOARD_CELLS]
    moves = [to_kernel_move(move) for move in restriction.moves]
    is_banned = np.full(BOARD_CELLS, restriction.allowed)
    is_banned[moves] = not restriction.allowed
    plies = min(restriction.plies, MAX_TREE_PLIES + 1)
    np.maximum(banned, np.where(is_banned, plies, 0), out=banned, casting="unsafe")


def _best_move_share(last: Info[int] | None, now: Info[int]) -> float | None:
    """Return the share of new playouts that began with the best move, or None if it changed."""
    if last is None or last.pv[0] != now.pv[0] or now.nodes <= last.nodes:
        return None
    return (now.visits - last.visits) / (now.nodes - last.nodes)
