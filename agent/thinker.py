"""Any algorithm of agent.search over any game, for so many seconds: it thinks until told to stop.

Monte Carlo tree search makes playouts as long as there is time. Every other algorithm searches 1,
2, 3, ... plies deep, and the last depth that it has finished says what to play.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from math import inf, sqrt
from typing import Any, Generic, TypeVar

from agent.game import Chance, Game, Simulated
from agent.latch import Latch
from agent.player import describe
from agent.search.catalogue import algorithm
from agent.search.counts import SearchStopped
from agent.search.mcts import UCT, Node
from agent.search.ordering import Ordering
from agent.search.search import Search
from agent.search.table import Table

Move = TypeVar("Move")

MCTS = "mcts"
# A search to some depth that has taken this share of the time is not followed by a deeper one.
LATEST = 0.4
DEEPEST = 200
ENDLESS = 10**9  # playouts, plies
TABLE_ENTRIES = 500_000
# The settings of tree search by playouts: a move's own mean outweighs those of the playouts in
# which it came later from about so many visits on.
RAVE = 500
EXPLORATION = 0.1
# A move that was not tried looks a little better than its mean in such playouts.
URGENCY = 0.3
# Outcomes differ from a draw by half a point at least: all wins are worth the same.
WHOLE_WIN = 0.5


@dataclass(frozen=True, slots=True)
class Thought(Generic[Move]):
    """One move of the position and what is known of it.

    visits: playouts, or nodes of the search. value: for the mover; of playouts their mean, from
    -1 to 1. line: the move and what follows it.
    """

    visits: int
    value: float
    line: tuple[Move, ...]

    @property
    def move(self) -> Move:
        """The move itself."""
        return self.line[0]


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to think: seconds; plies, playouts or nodes, where a number is given."""

    seconds: float = inf
    depth: int | None = None
    playouts: int | None = None
    nodes: int | None = None


class Thinker(Generic[Move]):
    """One algorithm with its settings, and how it is driven by a clock.

    report: told of what goes wrong; there is a move all the same.
    """

    def __init__(self, search: Search[Move], report: Callable[[str], None]) -> None:
        self._search = search
        self._report = report

    def think(
        self,
        game: Game[Move],
        plan: Plan,
        stop: Latch,
        listen: Callable[[Sequence[Thought[Move]]], None] | None = None,
        interval: float = inf,
    ) -> Thought[Move]:
        """Return the best move found; there must be a legal one, and a player to move.

        The position is the same afterwards. Ends early when `stop` is set, or when there is
        nothing more to find. listen: told the best moves, best first, every `interval` seconds.
        """
        search = self._search
        search.stopped = False
        search.node_limit = inf if plan.nodes is None else plan.nodes
        search.forget_counts()
        over = threading.Event()
        stop.then(lambda: setattr(search, "stopped", True))
        driver = _Playouts(search, game) if isinstance(search, UCT) else _Depths(search, game)
        watch = threading.Thread(
            target=self._watch, args=(driver, plan.seconds, over, listen, interval), daemon=True
        )
        watch.start()
        try:
            driver.run(plan)
        except SearchStopped:
            pass
        except Exception as error:  # noqa: BLE001 - a user's evaluation failed; play on
            self._report(describe(error))
        finally:
            over.set()
            watch.join()
        found = driver.thoughts()
        if not found:
            return Thought(0, 0.0, (_any_move(game),))
        if listen:
            listen(found)
        return found[0]

    def _watch(
        self,
        driver: _Playouts[Move] | _Depths[Move],
        seconds: float,
        over: threading.Event,
        listen: Callable[[Sequence[Thought[Move]]], None] | None,
        interval: float,
    ) -> None:
        """End the search when its time is up; meanwhile tell what it has found."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            pause = min(left, interval if listen else inf, threading.TIMEOUT_MAX)
            if over.wait(max(pause, 0.001)):
                return
            if listen and (thoughts := driver.thoughts()):
                listen(thoughts)
        self._search.stopped = True


class _Playouts(Generic[Move]):
    """Tree search by playouts."""

    def __init__(self, search: UCT[Move], game: Game[Move]) -> None:
        self._search = search
        self._game = game

    def run(self, plan: Plan) -> None:
        self._search.playouts = ENDLESS if plan.playouts is None else plan.playouts
        self._search.search(self._game, ENDLESS if plan.depth is None else plan.depth)

    def thoughts(self) -> list[Thought[Move]]:
        root: Node[Any] | None = self._search.tree
        children = [] if root is None else [child for child in root.children if child.visits]
        children.sort(key=lambda child: (child.visits, child.mean()), reverse=True)
        if root is not None and children:
            best = self._search.chosen(root)
            children = [best, *(child for child in children if child is not best)]
        return [
            Thought(child.visits, child.mean(), (child.move, *self._search.line_from(child)))
            for child in children
        ]


class _Depths(Generic[Move]):
    """Search to greater and greater depth."""

    def __init__(self, search: Search[Move], game: Game[Move]) -> None:
        self._search = search
        self._game = game
        self._best: Thought[Move] | None = None

    def run(self, plan: Plan) -> None:
        began = time.monotonic()
        for depth in range(1, (plan.depth or DEEPEST) + 1):
            before = self._search.counts.nodes
            self._search.counts.seldepth = 0
            found = self._search.search(self._game, depth)
            nodes = self._search.counts.nodes - before
            if found.move is not None:
                self._best = Thought(nodes, found.value, found.pv)
            whole_tree = self._search.counts.seldepth < depth
            if whole_tree or time.monotonic() - began > LATEST * plan.seconds:
                return

    def thoughts(self) -> list[Thought[Move]]:
        return [] if self._best is None else [self._best]


def make_search(
    name: str, game: Game[Any], evaluate: Callable[[Any], float], seed: int | None = None
) -> Search[Any]:
    """Return an algorithm by its name, or MCTS, with settings that suit a game.

    Raises ValueError if there is no such algorithm, or it cannot play such a game.
    """
    kind = algorithm("uct" if name == MCTS else name)
    if isinstance(game, Chance) and kind.name != "expectiminimax":
        raise ValueError(f"{name} plays no games of chance; expectiminimax does")
    if issubclass(kind, UCT):
        simulated = isinstance(game, Simulated)
        return kind(
            evaluate,
            scale=WHOLE_WIN,
            rave=RAVE if simulated else 0,
            exploration=EXPLORATION if simulated else sqrt(2),
            urgency=URGENCY if simulated else inf,
            solver=not simulated,
            seed=seed,
        )
    options: dict[str, Any] = {}
    known = signature(kind).parameters
    if "table" in known:
        options["table"] = Table(TABLE_ENTRIES)
    if "ordering" in known:
        options["ordering"] = Ordering(ratings=True, killers=True, history=True)
    return kind(evaluate, **options)


def default_algorithm(game: Game[Any]) -> str:
    """Return the name of the algorithm that suits a game best."""
    if isinstance(game, Chance):
        return "expectiminimax"
    return MCTS if isinstance(game, Simulated) else "alpha-beta"


def _any_move(game: Game[Move]) -> Move:
    moves: Iterable[Move] = game.sensible() if isinstance(game, Simulated) else game.moves()
    return next(iter(moves))


def draw_event(game: Chance[Move], number: float) -> Move:
    """Return the event of a position of chance that a number from 0 to 1 stands for."""
    events = list(game.chances())
    for event, probability in events:
        number -= probability
        if number < 0:
            return event
    return events[-1][0]
