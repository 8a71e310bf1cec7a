"""Any algorithm of agent.search over any game, for so many seconds: it thinks until told to stop.

Monte Carlo tree search makes playouts as long as there is time. Every other algorithm searches 1,
2, 3, ... plies deep, and the last depth that it has finished says what to play.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from typing import Any, Generic, TypeVar

from agent.game import Chance, Game, Simulated
from agent.games.tree import Tree
from agent.player import describe
from agent.search import configuration
from agent.search.configuration import Configuration
from agent.search.counts import SearchStopped
from agent.search.ending import OUTRANKING, Ending
from agent.search.mcts import UCT, Node
from agent.search.search import Search
from agent.threads.latch import Latch

Move = TypeVar("Move")

MCTS = "mcts"
# A search to some depth that has taken this share of the time is not followed by a deeper one.
LATEST = 0.4
DEEPEST = 200
ENDLESS = 10**9  # playouts, plies
# With what every algorithm plays that knows these techniques.
TECHNIQUES = {"table": 500_000, "ratings": True, "killers": True, "history": True}
# The settings of tree search by playouts that the game makes: a move's own mean outweighs those of
# the playouts in which it came later from about 500 visits on, and a move that was not tried looks
# a little better than its mean in such playouts.
WITH_OWN_PLAYOUTS = {"rave": 500, "exploration": 0.1, "urgency": 0.3}
# Outcomes differ from a draw by half a point at least: all wins are worth the same.
WHOLE_WIN = 0.5
# For all others a quick win is better than a slow one, by less than anything else matters.
QUICKEST = Ending(step=1e-6, unit=OUTRANKING)


@dataclass(frozen=True, slots=True)
class Thought(Generic[Move]):
    """One move of the position and what is known of it.

    visits: playouts, or nodes of the search. value: for the mover; of playouts their mean, from
    -1 to 1. line: the move and what follows it. estimated: the value is an evaluation, on whatever
    scale.
    """

    visits: int
    value: float
    line: tuple[Move, ...]
    estimated: bool = False

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
        if listen is None and (only := _only_move(game)):
            return Thought(0, 0.0, only)
        search = self._search
        search.stopped = False
        search.node_limit = inf if plan.nodes is None else plan.nodes
        search.forget_counts()
        over = threading.Event()
        ends = time.monotonic() + plan.seconds
        stop.then(lambda: setattr(search, "stopped", True))
        driver = _Playouts(search, game) if isinstance(search, UCT) else _Depths(search, game)
        watch = threading.Thread(
            target=self._watch, args=(driver, ends, over, listen, interval), daemon=True
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

    def keep(self) -> None:
        """Write what was learned for good to its file; what goes wrong is reported."""
        try:
            self._search.keep()
        except (OSError, ValueError) as error:
            self._report(str(error))

    def _watch(
        self,
        driver: _Playouts[Move] | _Depths[Move],
        ends: float,
        over: threading.Event,
        listen: Callable[[Sequence[Thought[Move]]], None] | None,
        interval: float,
    ) -> None:
        """End the search when its time is up; meanwhile tell what it has found."""
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
        if plan.playouts is not None:
            self._search.playouts = plan.playouts
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
        knows_nothing = False
        for depth in range(1, (plan.depth or DEEPEST) + 1):
            counts = self._search.counts
            nodes, hits, counts.seldepth = counts.nodes, counts.table_hits, 0
            found = self._search.search(self._game, depth)
            nodes, hits = counts.nodes - nodes, counts.table_hits - hits
            if found.move is not None:
                self._best = Thought(nodes, found.value, found.pv, not found.decided)
            if time.monotonic() - began > LATEST * plan.seconds:
                return
            # A search that did not come to its horizon has seen all there is, unless it owes
            # that to what it remembers of shallower ones.
            ended = counts.seldepth < depth
            if ended and (knows_nothing or not hits):
                return
            knows_nothing = ended and nodes > 1
            if knows_nothing:
                self._search.reset()

    def thoughts(self) -> list[Thought[Move]]:
        return [] if self._best is None else [self._best]


def make_search(
    text: str, game: Game[Any], evaluate: Callable[[Any], float], seed: int | None = None
) -> Search[Any]:
    """Return an algorithm, as `agent.search.configuration` reads it, to play a game with.

    What is not written suits the game. But of the techniques of alpha-beta and its like a text
    that names any names all. Raises ValueError if there is no such algorithm or technique, or it
    cannot play such a game.
    """
    written = configuration.read(text)
    scale = game.greatest() or 1 if isinstance(game, Tree) else WHOLE_WIN
    return _suited(written, game).new(game, evaluate, scale=scale, ending=QUICKEST, seed=seed)


def _suited(written: Configuration, game: Game[Any]) -> Configuration:
    """Return the algorithm with settings that suit a game."""
    if not issubclass(written.kind, UCT):
        suits = {} if written.options else written.among(TECHNIQUES)
    else:
        own = isinstance(game, Simulated)
        suits = {"playouts": ENDLESS, **(WITH_OWN_PLAYOUTS if own else {"solver": True})}
    return replace(written, options=suits | written.options)


def default_algorithm(game: Game[Any]) -> str:
    """Return the name of the algorithm that suits a game best."""
    if isinstance(game, Chance):
        return "expectiminimax"
    return MCTS if isinstance(game, Simulated) else "alpha-beta"


def _any_move(game: Game[Move]) -> Move:
    return next(iter(_sensible(game)))


def _only_move(game: Game[Move]) -> tuple[Move, ...]:
    """Return the move that there is no choice but to make; () if there is a choice."""
    first = tuple(islice(_sensible(game), 2))
    return first if len(first) == 1 else ()


def _sensible(game: Game[Move]) -> Iterable[Move]:
    return game.sensible() if isinstance(game, Simulated) else game.moves()


def draw_event(game: Chance[Move], number: float) -> Move:
    """Return the event of a position of chance that a number from 0 to 1 stands for."""
    events = list(game.chances())
    for event, probability in events:
        number -= probability
        if number < 0:
            return event
    return events[-1][0]
