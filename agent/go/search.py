"""The compiled search of Go as a player drives it: playouts in growing numbers, then a choice.

The move with the most visits is played. The tree is kept for the next move as far as it hangs
below the new position, and when the pool is full, what was visited least is dropped.
"""

import threading
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from agent.evaluation_types import Evaluation
from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.kernel_board import KernelBoard, from_kernel_move, to_kernel_move
from agent.go.mcts import (
    ANNEX_WORDS,
    SCORE_SUM,
    SCORE_UNITS_PER_POINT,
    expand_root,
    run_simulations,
)
from agent.go.ownership import Ownership
from agent.go.playout import run_playouts
from agent.go.records import BOARD_CELLS, MAX_TREE_PLIES, Worker
from agent.go.settings import EVALUATION_SHARE, SETTING_INDEX, check_setting
from agent.kernel.backend import DEFAULT_SEARCH_CONFIG, SearchConfig
from agent.kernel.bits import U64
from agent.kernel.evaluators import Evaluator
from agent.kernel.game_follower import GameFollower
from agent.kernel.mcts_tree import NO_NODE, ROOT
from agent.kernel.node_pool import NodePool
from agent.kernel.playouts import MAX_VISITS, grow_tree, playout_goals
from agent.kernel.scaled_evaluation import make_user_evaluator
from agent.kernel.worker_pool import ParallelSearch, WorkerPool
from agent.limits import Info, Limits, MoveRestriction, Progress
from agent.search.search import to_cp

# More than any search of a move can make.
MAX_LEVEL = 64
# More lines than any position has.
_ALL_LINES = BOARD_CELLS
# Parts of a level at which a clock may end it.
STEPS_PER_LEVEL = 8
# A move is kept in mind from one search to the next for so many plies.
_MAX_REUSE_PLIES = 4
# To pass, the mover must win so surely, from -1 to 1.
MIN_PASS_VALUE = 0.5
_MIN_PLAYOUTS = 200  # playouts before it is asked whether the game is over
_PASS_CHECK_PLAYOUTS = 200  # in which the other begins


class GoSearch(ParallelSearch[KernelBoard]):
    """Monte Carlo tree search on one or more threads that share a tree: the player's Searcher.

    A position is a plain game of Go, a move its vertex or PASS. evaluation: a user's, which judges
    leaves, as far as the setting evaluation_share says; its plain function takes such a game.

    Raises ValueError for a setting of the means that is not, or beyond its bounds; MemoryError.
    """

    def __init__(
        self,
        search_config: SearchConfig = DEFAULT_SEARCH_CONFIG,
        evaluation: Evaluation | None = None,
    ) -> None:
        self._means = search_config
        self._workers = WorkerPool(KernelBoard, search_config.threads)
        self._pool = NodePool(search_config.megabytes, ANNEX_WORDS)
        self._tree_lock = threading.Lock()
        self._game = Go()
        self._root_moves: tuple[int, ...] = ()  # the moves to choose among at the root, if not all
        # Of the position at the root of the tree, if that is of use.
        self._key: tuple[int | str, float, Hashable] | None = None
        self._followers: dict[int, GameFollower[int]] = {}
        self._evaluator: Evaluator | None = None
        if evaluation is not None:
            self._evaluator = make_user_evaluator(evaluation, Worker, self._game_at, self.stop)
        self._started = 0.0
        self._ownership = Ownership(self._workers)
        # Where it is asked whether the game is over; the answer, once there are enough playouts.
        self._pass_board = KernelBoard()
        self._may_pass: bool | None = None
        self._seed()
        for name, value in search_config.settings.items():
            self.set(name, value)

    def set(self, name: str, value: float) -> None:
        """Give a setting another value; ValueError if there is none of that name, or bounds."""
        check_setting(name, value)
        for board in self._workers:
            board.worker.settings[SETTING_INDEX[name]] = value

    def score_only(self, vertices: Iterable[int]) -> None:
        """Let whose a vertex is count in the score for these vertices alone, as all do at first.

        What a tree has found so far is forgotten.
        """
        wanted = set(vertices)
        for board in self._workers:
            for vertex in range(BOARD_CELLS):
                board.worker.scored_vertices[vertex] = int(vertex in wanted)
        self._forget()

    @property
    def supports_multipv(self) -> bool:
        """Yes, it tells of as many lines as are asked for."""
        return True

    @property
    def nodes(self) -> int:
        """How many playouts the search has made."""
        return self._pool.playouts

    def save(self) -> None:
        """Write nothing: nothing is learned for good."""

    def new_game(self) -> None:
        """Forget everything that can change a search."""
        self._forget()
        self._seed()

    def _forget(self) -> None:
        self._pool.clear()
        self._key = None

    def _seed(self) -> None:
        """Begin the random numbers again, with others for each thread."""
        first = self._means.seed
        if first is None:
            first = time.monotonic_ns()
        for number, board in enumerate(self._workers):
            board.seed(first * 1_000_003 + number)

    # From any thread.

    def progress(self) -> Progress[int]:
        """Tell where the running search stands."""
        with self._tree_lock:
            opened = self._pool.playouts and self._pool.children(ROOT)
            lines = self._lines(MAX_LEVEL, _ALL_LINES) if opened else []
        return Progress(
            nodes=self._pool.playouts,
            hashfull=self._pool.permille_used(),
            seldepth=self._seldepth(),
            lines=tuple(lines),
        )

    def _seldepth(self) -> int:
        # For a moment at the beginning of a search nobody is at work yet.
        return max((int(board.worker.seldepth) for board in self._workers.active), default=0)

    # The search.

    def search(self, position: Go, limits: Limits[int], lines: int = 1, /) -> Iterator[Info[int]]:
        """Make more and more playouts, up to `limits.nodes`; see `Searcher`.

        The most that its means allow are those of a move: an analysis goes on.
        """
        self._started = time.perf_counter()
        self._set_root(position, limits)
        self._workers.begin(lambda board: self._prepare(board, position, limits))
        self._workers.add_workers(len(self._workers))
        pool = self._pool
        most = min(MAX_VISITS - pool.visits(ROOT), limits.nodes or MAX_VISITS)
        if self._means.playouts and not limits.infinite:
            most = min(most, self._means.playouts)
        last: Info[int] | None = None
        try:
            for depth, goal in playout_goals(limits.depth or MAX_LEVEL, most, STEPS_PER_LEVEL):
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
        """Make the position the root: its node in the tree, where there is one, or a new root."""
        with self._tree_lock:
            self._root_moves = limits.search_moves
            restricted = bool(limits.search_moves or limits.restrictions)
            root = NO_NODE if restricted else self._find_node(position)
            self._pool.begin_search(root)
            self._game, self._followers = position, {}
            self._key = None if restricted else self._key_of(position)
            self._ownership.reset(position, moves=limits.moves_ownership)
            self._may_pass = None

    @staticmethod
    def _key_of(game: Go) -> tuple[int | str, float, Hashable]:
        return game.size, game.komi, game.key()

    def _find_node(self, game: Go) -> int:
        """Return the position's node in the tree, NO_NODE if there is none of use."""
        if self._key is None:
            return NO_NODE
        size, komi, key = self._key
        if (size, komi) != (game.size, game.komi):
            return NO_NODE
        moves = game.moves_since(key, _MAX_REUSE_PLIES)
        if moves is None:
            return NO_NODE
        return self._pool.find_node(moves, from_kernel_move)

    def _prepare(self, board: KernelBoard, position: Go, limits: Limits[int]) -> None:
        worker = board.worker
        board.load(position)
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
        """Return the game at a leaf of a worker's, for a plain evaluation."""
        follower = self._followers.get(address)
        if follower is None:
            follower = self._followers[address] = GameFollower(self._game)
        worker = next(board.worker for board in self._workers if board.address == address)
        line = [from_kernel_move(int(move)) for move in worker.played_moves[:ply]]
        game: Go = follower.at(line)
        return game

    def _raise_error(self) -> None:
        if self._evaluator is None:
            return
        error = self._evaluator.pop_error([board.worker for board in self._workers])
        if error is not None:
            self._forget()  # the tree has values that mean nothing
            raise error

    # What it found.

    def _lines(self, depth: int, lines: int) -> list[Info[int]]:
        """Report the best moves of the root, as they stand."""
        pool = self._pool
        ranking = self._ranking()
        if not ranking:  # the game is over, or there is no room
            moves = self._first_moves()
            return [Info(depth=depth, score=to_cp(0.0), pv=(moves[0],))]
        playouts = max(pool.playouts, 1)
        ahead = None
        if len(ranking) > 1:
            ahead = (pool.visits(ranking[0]) - pool.visits(ranking[1])) / playouts
        if self._may_pass:
            passing = [node for node in ranking if pool.move(node) == to_kernel_move(PASS)]
            ranking = passing + [node for node in ranking if node not in passing]
        black = self._game.turn == 0
        settings = self._workers.first.worker.settings
        plays_out = self._evaluator is None or settings[EVALUATION_SHARE] < 1
        found = []
        for number, node in enumerate(ranking[:lines], 1):
            visits = pool.visits(node)
            value = pool.mean(node) if visits else -pool.mean(ROOT) if pool.visits(ROOT) else 0.0
            value = max(-1.0, min(1.0, value))
            lead = None
            if visits and plays_out:
                lead = int(pool.extra_words[node, SCORE_SUM]) / SCORE_UNITS_PER_POINT / visits
                lead = lead if black else -lead
            line = list(pool.best_line(node))
            found.append(
                Info(
                    depth=depth,
                    score=to_cp(value),
                    pv=tuple(from_kernel_move(pool.move(each)) for each in line),
                    pv_visits=tuple(pool.visits(each) for each in line),
                    seldepth=self._seldepth(),
                    multipv=number,
                    nodes=pool.playouts,
                    time=time.perf_counter() - self._started,
                    hashfull=pool.permille_used(),
                    visits=visits,
                    expected_outcome=value,
                    visit_lead=ahead if number == 1 else None,
                    prior=pool.prior(node),
                    lead=lead,
                    ownership=self._ownership.rows() if number == 1 and plays_out else None,
                    moves_ownership=(
                        self._ownership.rows_after(pool.move(node)) if plays_out else None
                    ),
                )
            )
        return found

    def _first_moves(self) -> Sequence[int]:
        return self._root_moves or self._game.candidate_moves()

    def _ranking(self) -> list[int]:
        """Return the children of the root, the one to play first."""
        pool = self._pool
        return sorted(
            pool.children(ROOT),
            key=lambda child: (pool.visits(child), pool.prior(child)),
            reverse=True,
        )

    def _should_pass(self) -> bool:
        """Tell whether to pass since the game is over, and won even if the other begins.

        After a pass it is enough to win what is settled then; else all must be.
        """
        game, board = self._game, self._pass_board
        if game.capture_dead_stones or self._workers.first.worker.restricted:
            return False
        if self._pool.mean(ROOT) > -MIN_PASS_VALUE:  # of whoever moved last
            return False
        board.load(game)
        board.worker.root.turn = 3 - board.worker.root.turn
        ownership = Ownership([board])
        ownership.reset(game)
        run_playouts(board.worker, _PASS_CHECK_PLAYOUTS, 1)
        return ownership.secured_score() > 0 and (game.passes > 0 or ownership.is_settled())


def _apply_restriction(board: KernelBoard, restriction: MoveRestriction[int]) -> None:
    """Ban from a worker's tree what is restricted."""
    banned = np.asarray(board.worker.banned)[restriction.player * BOARD_CELLS :][:BOARD_CELLS]
    moves = [to_kernel_move(move) for move in restriction.moves]
    chosen = np.full(BOARD_CELLS, restriction.allowed)
    chosen[moves] = not restriction.allowed
    plies = min(restriction.plies, MAX_TREE_PLIES + 1)
    np.maximum(banned, np.where(chosen, plies, 0), out=banned, casting="unsafe")


def _best_move_share(last: Info[int] | None, now: Info[int]) -> float | None:
    """Return what share of the playouts since the last report began with the best move.

    It is low where others look better by now than the move with the most visits.
    """
    if last is None or last.pv[0] != now.pv[0] or now.nodes <= last.nodes:
        return None
    return (now.visits - last.visits) / (now.nodes - last.nodes)
