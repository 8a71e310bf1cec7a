"""Local searches that decide contests: fights between chains of both colours without two eyes.

In a seki or a capturing race, random playouts often agree on a wrong result. These searches find
out whether a chain can be captured: the attacker must move, the defender may pass, and no position
may repeat. They are exact within the region of a contest, unless they exceed their limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent.games.go import Go
from agent.games.stones import BLACK, EMPTY, NO_VERTEX, PASS, WHITE, Stones, iter_bits
from agent.games.unconditional_life import unconditional_life

# The largest eye shape in which one move can prevent two eyes has six vertices.
MAX_NAKADE_SIZE = 6
# A region with a few enemy stones and this number of empty vertices, and two more for each of these
# stones, is large enough for two eyes.
_MAX_STRAY_STONES, _LARGE_REGION = 3, MAX_NAKADE_SIZE + 1
# Contests with more empty vertices are left to the playouts.
MAX_EMPTY_VERTICES = 12
MAX_DEPTH = 60
# Positions per search, and for all searches of a board. About 20,000 are searched in a second.
MAX_NODES, NODE_BUDGET = 10_000, 30_000
_NODES_PER_CHECK = 256


@dataclass(frozen=True, slots=True)
class Contest:
    """Chains, by their heads, and all empty vertices that are connected to their liberties."""

    chains: tuple[int, ...]
    empty: int


def find_contests(stones: Stones) -> list[Contest]:
    """Return the fights of chains of both colours that are not obviously alive, smallest first."""
    weak: set[int] = set()
    for colour in (BLACK, WHITE):
        heads = {stones.head[vertex] for vertex in iter_bits(stones.sets[colour])}
        weak |= heads - _obviously_alive(stones, colour, heads)
    contests, remaining = [], set(weak)
    while remaining:
        first = min(remaining)
        contest = _contest_around(stones, first, weak, joins_touching=True)
        if contest.empty.bit_count() > MAX_EMPTY_VERTICES:
            contest = _contest_around(stones, first, weak, joins_touching=False)
        remaining.difference_update(contest.chains)
        colours = {stones.board[head] for head in contest.chains}
        if len(colours) == 2 and contest.empty.bit_count() <= MAX_EMPTY_VERTICES:
            contests.append(contest)
    return sorted(contests, key=lambda contest: (contest.empty.bit_count(), contest.chains))


def _contest_around(stones: Stones, head: int, weak: set[int], *, joins_touching: bool) -> Contest:
    """Return the weak chains that share an empty region, or perhaps touch, beginning with one."""
    chains, new, empty = set[int](), {head}, 0
    while new:
        chains |= new
        for each in new:
            empty |= stones.liberties[each]
        empty |= stones.shape.flood_fill(empty, stones.sets[EMPTY])
        joined = {each for each in weak if stones.liberties[each] & empty}
        if joins_touching:
            for each in new:
                joined |= _enemies_near(stones, each) & weak
        new = joined - chains
    return Contest(tuple(sorted(chains)), empty)


def _obviously_alive(stones: Stones, colour: int, heads: set[int]) -> set[int]:
    """Return the chains that live unconditionally or border on a large region of their own.

    A chain with two ways to connect to such chains is alive too.
    """
    safe = unconditional_life(stones, colour).stones
    for region in stones.shape.regions(stones.shape.on_board & ~stones.sets[colour]):
        strays = (region & stones.sets[3 - colour]).bit_count()
        size = region.bit_count() - strays
        if strays <= _MAX_STRAY_STONES and size >= _LARGE_REGION + 2 * strays:
            safe |= stones.shape.adjacent(region) & stones.sets[colour]
    alive, before = {stones.head[vertex] for vertex in iter_bits(safe)}, -1
    while before != len(alive):
        before = len(alive)
        free = 0
        for head in alive:
            free |= stones.liberties[head]
        alive |= {head for head in heads if (stones.liberties[head] & free).bit_count() >= 2}
    return alive


def settle_contests(
    game: Go, should_continue: Callable[[], bool] = lambda: True
) -> dict[int, bool]:
    """Return whether chains live, by their heads, for those whose fate the searches prove.

    If the result depends on the side that moves first, that is the side to move in the first such
    contest, and the other side in the next one.
    """
    stones, player = game.stones, game.turn
    lives: dict[int, bool] = {}
    budget = NODE_BUDGET
    for contest in find_contests(stones):
        region = contest.empty
        for head in contest.chains:
            for vertex in stones.chains[head]:
                region |= 1 << vertex
        doomed: list[int] = []
        proved: list[int] = []
        is_unsettled = False
        for head in contest.chains:
            if not should_continue():
                return lives
            search = CaptureSearch(
                stones,
                head,
                region,
                min(budget, MAX_NODES),
                should_continue,
                _rivals(stones, head, contest),
            )
            dies = search.captures(attacker_first=True)
            if dies:
                dies = search.captures(attacker_first=False)
                if dies is False:
                    is_unsettled = True
                    dies = stones.board[head] != player + 1
            budget -= search.nodes
            if dies is not None:
                proved.append(head)
            if dies:
                doomed.append(head)
        dead = _dead_chains(stones, doomed)
        lives |= {head: head not in dead for head in proved}
        if is_unsettled:
            player = 1 - player
    return lives


def _rivals(stones: Stones, head: int, contest: Contest) -> tuple[int, ...]:
    """Return the chains that surround a chain, in the same contest and not smaller."""
    near = _enemies_near(stones, head)
    size = len(stones.chains[head])
    return tuple(
        each for each in contest.chains if each in near and len(stones.chains[each]) >= size
    )


def _enemies_near(stones: Stones, head: int) -> set[int]:
    """Return the enemy chains that touch a chain or its liberties."""
    chain = 0
    for vertex in stones.chains[head]:
        chain |= 1 << vertex
    near = stones.shape.adjacent(chain | stones.liberties[head])
    enemies = near & stones.sets[3 - stones.board[head]]
    return {stones.head[vertex] for vertex in iter_bits(enemies)}


def _dead_chains(stones: Stones, doomed: list[int]) -> set[int]:
    """Return the chains that are dead, of those that can be captured.

    Stones inside a dead group can often be captured, which does not save the group. Therefore the
    larger of two adjacent chains that can both be captured counts as dead.
    """
    dead: set[int] = set()
    for head in sorted(doomed, key=lambda each: (-len(stones.chains[each]), each)):
        if not dead & _enemies_near(stones, head):
            dead.add(head)
    return dead


class _LimitError(Exception):
    """A search has exceeded its number of positions, or was interrupted."""


class CaptureSearch:
    """Finds out whether the chain of the stone `target` can be captured by moves in `region`.

    A capture of a few stones does not count if one of the `rivals`, which are stones of the
    attacker, is captured in return, because the defender plays into the eye that is left, or was
    captured before. The rival's chain must have at least as many stones as were captured.
    """

    def __init__(
        self,
        stones: Stones,
        target: int,
        region: int,
        max_nodes: int,
        should_continue: Callable[[], bool],
        rivals: tuple[int, ...] = (),
    ) -> None:
        self.nodes = 0
        # By rival: the number of stones in its chain.
        self._rivals = {rival: len(stones.chains[stones.head[rival]]) for rival in rivals}
        self._stones, self._target, self._region = stones, target, region
        self._defender = stones.board[target]
        self._attacker = 3 - self._defender
        self._max_nodes, self._should_continue = max_nodes, should_continue
        # One stone of each chain outside the region to which the target may connect.
        friends = stones.shape.adjacent(region) & ~region & stones.sets[self._defender]
        self._friends = sorted({stones.head[vertex] for vertex in iter_bits(friends)})
        # By position and side to move: the result, the searched depth, and the best move.
        self._table: dict[tuple[int, int, int, bool], tuple[bool | None, int, int]] = {}
        self._successes: dict[int, int] = {}  # number of refutations by each vertex
        self._path: set[tuple[int, int]] = set()
        self._repetitions = 0
        self._losses: dict[tuple[int, int, int, int], bool] = {}  # by position and captured stones

    def captures(self, *, attacker_first: bool) -> bool | None:
        """Return whether the attacker captures the chain, or None if the limits are exceeded."""
        try:
            for depth in range(2, MAX_DEPTH, 2):
                result = self._search(self._stones, depth, attacks=attacker_first)
                if result is not None:
                    return result
        except _LimitError:
            self._path.clear()
        return None

    def _search(self, stones: Stones, depth: int, *, attacks: bool) -> bool | None:
        """Return whether the attacker captures. None: not within `depth` moves."""
        if not attacks and self._is_safe(stones):
            return False
        if depth <= 0:
            return None
        key = (stones.sets[BLACK], stones.sets[WHITE], stones.ko, attacks)
        result, searched, best = self._table.get(key, (None, 0, NO_VERTEX))
        if result is not None or searched >= depth:
            return result
        self.nodes += 1
        if self.nodes > self._max_nodes or (
            self.nodes % _NODES_PER_CHECK == 0 and not self._should_continue()
        ):
            raise _LimitError
        position, before = key[:2], self._repetitions
        is_new = position not in self._path  # not after a pass
        self._path.add(position)
        result, move = (
            self._attack(stones, depth, best) if attacks else self._defend(stones, depth, best)
        )
        if is_new:
            self._path.discard(position)
        # A result that depends on the moves before this position does not hold elsewhere.
        is_general = self._repetitions == before
        self._table[key] = (result, depth, move) if is_general else (None, 0, move)
        return result

    def _attack(self, stones: Stones, depth: int, best: int) -> tuple[bool | None, int]:
        result: bool | None = False
        for move in self._moves(stones, self._attacker, best):
            after = stones.copy()
            taken = after.put(move, self._attacker)
            if self._repeats(after):
                continue
            if after.board[self._target] == self._defender:
                outcome = self._search(after, depth - 1, attacks=False)
            else:
                outcome = len(taken) > MAX_NAKADE_SIZE or not self._loses_rival(after, len(taken))
            if outcome:
                self._successes[move] = self._successes.get(move, 0) + 1
                return True, move
            if outcome is None:
                result = None
        return result, NO_VERTEX

    def _loses_rival(self, stones: Stones, taken: int) -> bool:
        """Return whether the defender, who lost `taken` stones, captures a rival in return."""
        key = (stones.sets[BLACK], stones.sets[WHITE], stones.ko, taken)
        if key not in self._losses:
            self._losses[key] = any(
                self._loses(stones, rival)
                for rival, size in self._rivals.items()
                if taken <= (self._rival_size(stones, rival) or size)
            )
        return self._losses[key]

    def _rival_size(self, stones: Stones, rival: int) -> int:
        """Return the number of stones in a rival's chain, or 0 if it was captured."""
        held = stones.board[rival] == self._attacker
        return len(stones.chains[stones.head[rival]]) if held else 0

    def _loses(self, stones: Stones, rival: int) -> bool:
        if stones.board[rival] != self._attacker:
            return True
        search = CaptureSearch(
            stones, rival, self._region, self._max_nodes - self.nodes, self._should_continue
        )
        result = search.captures(attacker_first=True)
        self.nodes += search.nodes
        if result is None:
            raise _LimitError
        return result

    def _defend(self, stones: Stones, depth: int, best: int) -> tuple[bool | None, int]:
        result: bool | None = True
        for move in self._defences(stones, best):
            after = stones.copy()
            is_forcing = move == PASS
            if move == PASS:
                after.ko = NO_VERTEX
            else:
                taken = len(after.put(move, self._defender))
                if taken > MAX_NAKADE_SIZE:
                    return False, move
                if self._repeats(after):
                    continue
                is_forcing = taken > 0
            outcome = self._search(after, depth - 1, attacks=True)
            if outcome is False:
                self._successes[move] = self._successes.get(move, 0) + 1
                return False, move
            if outcome is None:
                result = None
                if not is_forcing:
                    break
        return result, NO_VERTEX

    def _defences(self, stones: Stones, best: int) -> Iterator[int]:
        """Generate captures, a pass and other moves. In atari, the pass comes last."""
        moves = list(self._moves(stones, self._defender, best))
        captures = [move for move in moves if stones.captured_by(move, self._defender)]
        others = [
            move
            for move in moves
            if move not in captures and not stones.is_own_eye(move, self._defender)
        ]
        if best == PASS:
            yield PASS
        yield from captures
        in_atari = stones.liberties[stones.head[self._target]].bit_count() == 1
        if in_atari:
            yield from others
        if best != PASS:
            yield PASS
        if not in_atari:
            yield from others

    def _moves(self, stones: Stones, colour: int, best: int) -> Iterator[int]:
        """Generate the legal moves in the region. Moves on liberties of the target come first."""
        liberties = stones.liberties[stones.head[self._target]]
        yield from sorted(
            (
                move
                for move in iter_bits(stones.sets[EMPTY] & self._region)
                if move != stones.ko and not stones.is_suicide(move, colour)
            ),
            key=lambda move: (
                move != best,
                -self._successes.get(move, 0),
                not liberties >> move & 1,
            ),
        )

    def _repeats(self, stones: Stones) -> bool:
        repeats = (stones.sets[BLACK], stones.sets[WHITE]) in self._path
        self._repetitions += repeats
        return repeats

    def _is_safe(self, stones: Stones) -> bool:
        """Return whether the target is connected to a chain outside, or has two eyes."""
        head = stones.head[self._target]
        if any(stones.head[friend] == head for friend in self._friends):
            return True
        eyes = 0
        for vertex in iter_bits(stones.liberties[head]):
            eyes += all(
                stones.board[beside] == self._defender and stones.head[beside] == head
                for beside in stones.shape.neighbours[vertex]
            )
        return eyes >= 2
