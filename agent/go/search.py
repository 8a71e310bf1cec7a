"""The compiled search of Go as a player drives it: playouts in growing numbers, then a choice.

The move with the most visits is played. The tree is kept for the next move as far as it hangs
below the new position, and when the pool is full, what was visited least is dropped.
"""

import threading
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from agent.compiled.bits import U64
from agent.compiled.crew import Crew, CrewLed
from agent.compiled.evaluators import Evaluator
from agent.compiled.game_follower import GameFollower
from agent.compiled.growth import MOST_VISITS, goals, grow
from agent.compiled.node_pool import NodePool
from agent.compiled.source import USUAL_MEANS, Means
from agent.compiled.tree import NO_NODE, ROOT
from agent.compiled.valued_evaluation import users_evaluator
from agent.evaluation import Evaluation
from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.mcts import ANNEX_WORDS, POINT, POINTS, open_root
from agent.go.mcts import grow as make_playouts
from agent.go.ownership import Ownership
from agent.go.playout import many_playouts
from agent.go.records import CELLS, DEEPEST, Worker
from agent.go.rules import StoneBoard, from_move, to_move
from agent.go.settings import EVALUATION_SHARE, NUMBERS, check
from agent.limits import Info, Limits, Progress, Restriction
from agent.search.search import in_cents

# More than any search of a move can make.
DEEPEST_LEVEL = 64
# More lines than any position has.
_ALL_LINES = CELLS
# Parts of a level at which a clock may end it.
PARTS = 8
# A move is kept in mind from one search to the next for so many plies.
_REMEMBERED = 4
# To pass, the mover must win so surely, from -1 to 1.
CONFIDENT = 0.5
_FEWEST = 200  # playouts before it is asked whether the game is over
_PLAYOUTS_TO_PASS = 200  # in which the other begins


class GoSearch(CrewLed[StoneBoard]):
    """Monte Carlo tree search on one or more threads that share a tree: the player's Searcher.

    A position is a plain game of Go, a move its vertex or PASS. evaluation: a user's, which judges
    leaves, as far as the setting evaluation_share says; its plain function takes such a game.

    Raises ValueError for a setting of the means that is not, or beyond its bounds; MemoryError.
    """

    def __init__(
        self,
        means: Means = USUAL_MEANS,
        evaluation: Evaluation | None = None,
    ) -> None:
        self._means = means
        self._crew = Crew(StoneBoard, means.threads)
        self._pool = NodePool(means.megabytes, ANNEX_WORDS)
        self._tidying = threading.Lock()
        self._game = Go()
        self._among: tuple[int, ...] = ()  # the moves to choose among at the root, if not all
        # Of the position at the root of the tree, if that is of use.
        self._key: tuple[int | str, float, Hashable] | None = None
        self._followers: dict[int, GameFollower[int]] = {}
        self._evaluator: Evaluator | None = None
        if evaluation is not None:
            self._evaluator = users_evaluator(evaluation, Worker, self._game_at, self.stop)
        self._started = 0.0
        self._ownership = Ownership(self._crew)
        # Where it is asked whether the game is over; the answer, once there are enough playouts.
        self._arbiter = StoneBoard()
        self._over: bool | None = None
        self._seed()
        for name, value in means.settings.items():
            self.set(name, value)

    def set(self, name: str, value: float) -> None:
        """Give a setting another value; ValueError if there is none of that name, or bounds."""
        check(name, value)
        for board in self._crew:
            board.worker.settings[NUMBERS[name]] = value

    def count(self, vertices: Iterable[int]) -> None:
        """Let whose a vertex is count in the score for these vertices alone, as all do at first.

        What a tree has found so far is forgotten.
        """
        wanted = set(vertices)
        for board in self._crew:
            for vertex in range(CELLS):
                board.worker.counted[vertex] = int(vertex in wanted)
        self._forget()

    @property
    def many_lines(self) -> bool:
        """Yes, it tells of as many lines as are asked for."""
        return True

    @property
    def nodes(self) -> int:
        """How many playouts the search has made."""
        return self._pool.playouts

    def keep(self) -> None:
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
        for number, board in enumerate(self._crew):
            board.seed(first * 1_000_003 + number)

    # From any thread.

    def progress(self) -> Progress[int]:
        """Tell where the running search stands."""
        with self._tidying:
            opened = self._pool.playouts and self._pool.children(ROOT)
            lines = self._lines(DEEPEST_LEVEL, _ALL_LINES) if opened else []
        return Progress(
            nodes=self._pool.playouts,
            hashfull=self._pool.permille_used(),
            seldepth=self._seldepth(),
            lines=tuple(lines),
        )

    def _seldepth(self) -> int:
        # For a moment at the beginning of a search nobody is at work yet.
        return max((int(board.worker.seldepth) for board in self._crew.at_work), default=0)

    # The search.

    def deepen(self, position: Go, limits: Limits[int], lines: int = 1, /) -> Iterator[Info[int]]:
        """Make more and more playouts, up to `limits.nodes`; see `Searcher`.

        The most that its means allow are those of a move: an analysis goes on.
        """
        self._started = time.perf_counter()
        self._take_root(position, limits)
        self._crew.begin(lambda board: self._prepare(board, position, limits))
        self._crew.employ(len(self._crew))
        pool = self._pool
        most = min(MOST_VISITS - pool.visits(ROOT), limits.nodes or MOST_VISITS)
        if self._means.playouts and not limits.infinite:
            most = min(most, self._means.playouts)
        last: Info[int] | None = None
        try:
            for depth, goal in goals(limits.depth or DEEPEST_LEVEL, most, PARTS):
                grow(pool, self._crew, goal, self._play_out, self._tidying)
                if self._over is None and pool.playouts >= _FEWEST:
                    self._over = self._is_over()
                if not pool.children(ROOT):  # stopped before the first playout
                    open_root(self._crew.first.worker, pool.tree)
                level = self._lines(depth, lines)
                if self._crew.halted:
                    yield from (replace(line, complete=False) for line in level)
                    return
                yield replace(level[0], effort=_effort(last, level[0]))
                yield from level[1:]
                last = level[0]
        finally:
            self._crew.end()
            self._raise_error()

    def _take_root(self, position: Go, limits: Limits[int]) -> None:
        """Make the position the root: its node in the tree, where there is one, or a new root."""
        with self._tidying:
            self._among = limits.search_moves
            restricted = bool(limits.search_moves or limits.restrictions)
            root = NO_NODE if restricted else self._find(position)
            self._pool.begin_at(root)
            self._game, self._followers = position, {}
            self._key = None if restricted else self._key_of(position)
            self._ownership.begin(position, moves=limits.owners_after)
            self._over = None

    @staticmethod
    def _key_of(game: Go) -> tuple[int | str, float, Hashable]:
        return game.size, game.komi, game.key()

    def _find(self, game: Go) -> int:
        """Return the position's node in the tree, NO_NODE if there is none of use."""
        if self._key is None:
            return NO_NODE
        size, komi, key = self._key
        if (size, komi) != (game.size, game.komi):
            return NO_NODE
        moves = game.moves_since(key, _REMEMBERED)
        if moves is None:
            return NO_NODE
        return self._pool.after(moves, from_move)

    def _prepare(self, board: StoneBoard, position: Go, limits: Limits[int]) -> None:
        worker = board.worker
        board.load(position)
        worker.nodes = worker.seldepth = 0
        worker.evaluate = U64(self._evaluator.address if self._evaluator else 0)
        restrictions = list(limits.restrictions)
        if limits.search_moves:
            only = frozenset(limits.search_moves)
            restrictions.append(Restriction(position.turn, only, allowed=True))
        worker.restricted = int(bool(restrictions))
        worker.banned[:] = 0
        for restriction in restrictions:
            _restrict(board, restriction)
        worker.stop = 0

    def _play_out(self, board: StoneBoard, number: int) -> None:
        make_playouts(board.worker, self._pool.tree)
        if board.worker.failure:
            self.stop()

    def _game_at(self, address: int, ply: int) -> Go:
        """Return the game at a leaf of a worker's, for a plain evaluation."""
        follower = self._followers.get(address)
        if follower is None:
            follower = self._followers[address] = GameFollower(self._game)
        worker = next(board.worker for board in self._crew if board.address == address)
        line = [from_move(int(move)) for move in worker.played[:ply]]
        game: Go = follower.at(line)
        return game

    def _raise_error(self) -> None:
        if self._evaluator is None:
            return
        error = self._evaluator.take_error([board.worker for board in self._crew])
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
            return [Info(depth=depth, score=in_cents(0.0), pv=(moves[0],))]
        playouts = max(pool.playouts, 1)
        ahead = None
        if len(ranking) > 1:
            ahead = (pool.visits(ranking[0]) - pool.visits(ranking[1])) / playouts
        if self._over:
            passing = [node for node in ranking if pool.move(node) == to_move(PASS)]
            ranking = passing + [node for node in ranking if node not in passing]
        black = self._game.turn == 0
        settings = self._crew.first.worker.settings
        plays_out = self._evaluator is None or settings[EVALUATION_SHARE] < 1
        found = []
        for number, node in enumerate(ranking[:lines], 1):
            visits = pool.visits(node)
            value = pool.mean(node) if visits else -pool.mean(ROOT) if pool.visits(ROOT) else 0.0
            value = max(-1.0, min(1.0, value))
            lead = None
            if visits and plays_out:
                lead = int(pool.annex[node, POINTS]) / POINT / visits
                lead = lead if black else -lead
            line = list(pool.line(node))
            found.append(
                Info(
                    depth=depth,
                    score=in_cents(value),
                    pv=tuple(from_move(pool.move(each)) for each in line),
                    pv_visits=tuple(pool.visits(each) for each in line),
                    seldepth=self._seldepth(),
                    multipv=number,
                    nodes=pool.playouts,
                    time=time.perf_counter() - self._started,
                    hashfull=pool.permille_used(),
                    visits=visits,
                    expected=value,
                    ahead=ahead if number == 1 else None,
                    prior=pool.prior(node),
                    lead=lead,
                    owners=self._ownership.shown() if number == 1 and plays_out else None,
                    owners_after=(
                        self._ownership.shown_after(pool.move(node)) if plays_out else None
                    ),
                )
            )
        return found

    def _first_moves(self) -> Sequence[int]:
        return self._among or self._game.sensible()

    def _ranking(self) -> list[int]:
        """Return the children of the root, the one to play first."""
        pool = self._pool
        return sorted(
            pool.children(ROOT),
            key=lambda child: (pool.visits(child), pool.prior(child)),
            reverse=True,
        )

    def _is_over(self) -> bool:
        """Tell whether to pass since the game is over, and won even if the other begins.

        After a pass it is enough to win what is settled then; else all must be.
        """
        game, board = self._game, self._arbiter
        if game.captures_all or self._crew.first.worker.restricted:
            return False
        if self._pool.mean(ROOT) > -CONFIDENT:  # of whoever moved last
            return False
        board.load(game)
        board.worker.root.turn = 3 - board.worker.root.turn
        ownership = Ownership([board])
        ownership.begin(game)
        many_playouts(board.worker, _PLAYOUTS_TO_PASS, 1)
        return ownership.sure_points() > 0 and (game.passes > 0 or ownership.settled())


def _restrict(board: StoneBoard, restriction: Restriction[int]) -> None:
    """Ban from a worker's tree what is restricted."""
    banned = np.asarray(board.worker.banned)[restriction.player * CELLS :][:CELLS]
    moves = [to_move(move) for move in restriction.moves]
    chosen = np.full(CELLS, restriction.allowed)
    chosen[moves] = not restriction.allowed
    plies = min(restriction.plies, DEEPEST + 1)
    np.maximum(banned, np.where(chosen, plies, 0), out=banned, casting="unsafe")


def _effort(last: Info[int] | None, now: Info[int]) -> float | None:
    """Return what share of the playouts since the last report began with the best move.

    It is low where others look better by now than the move with the most visits.
    """
    if last is None or last.pv[0] != now.pv[0] or now.nodes <= last.nodes:
        return None
    return (now.visits - last.visits) / (now.nodes - last.nodes)
