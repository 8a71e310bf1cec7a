"""Reading captures in Go: whether one chain can be captured in a ladder, a net or a short race."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from agent.games.chain_status import ShouldContinue
from agent.games.stones import EMPTY, NO_VERTEX, PASS, Stones, iter_bits

# Maximum number of moves read for one ladder, and for one capture of any kind. At the limit the
# chain counts as escaping.
MAX_MOVES, MAX_CAPTURE_MOVES = 2000, 10_000
# Maximum depth, because each ply is a recursive call. A ladder across the board is shorter.
MAX_PLIES = 200
# A chain with more liberties is safe. There is one limit for each ply, and the last one is for all
# later plies.
LADDER_LIBERTIES = (2,)
MAX_LIBERTIES = (4, 4, 4, 4, 3, 3, 3, 3, 2)

# "lost": captured even if the owner moves first. "threatened": captured if the opponent moves
# first.
LadderStatus = Literal["free", "threatened", "lost"]


class Reading(NamedTuple):
    """The result of reading, with the codes of GNU Go, and the first move or PASS or NO_VERTEX.

    0: failure. 1: success. 2: success if the opponent may not retake a ko at once. 3: success if
    the player may retake a ko at once, after a threat.
    """

    code: int
    move: int


def always() -> bool:
    """Let a computation continue to its end."""
    return True


def ladders(
    stones: Stones, should_continue: ShouldContinue = always
) -> dict[tuple[int, ...], LadderStatus]:
    """Return the ladder status of each chain with one or two liberties, keyed by its vertices."""
    found: dict[tuple[int, ...], LadderStatus] = {}
    occupied = stones.shape.on_board & ~stones.sets[EMPTY]
    for head in sorted({stones.head[vertex] for vertex in iter_bits(occupied)}):
        if stones.liberties[head].bit_count() < 3:
            found[tuple(sorted(stones.chains[head]))] = ladder_status(stones, head, should_continue)
    return found


def ladder_status(
    stones: Stones, vertex: int, should_continue: ShouldContinue = always
) -> LadderStatus:
    """Return whether the chain at a vertex is "free", "threatened" or "lost" in a ladder.

    A threatened chain is captured if the opponent moves first, and a lost chain in any case.
    """
    create = partial(_CaptureReader, MAX_MOVES, LADDER_LIBERTIES, should_continue=should_continue)
    if create().attack(stones, vertex) == NO_VERTEX:
        return "free"
    if stones.liberties[stones.head[vertex]].bit_count() > 1:
        return "threatened"
    return "lost" if create().defend(stones, vertex) == NO_VERTEX else "threatened"


def read_attack(stones: Stones, vertex: int, should_continue: ShouldContinue = always) -> Reading:
    """Read whether the opponent can capture the chain at a vertex by moving first.

    This and the other functions stop when `should_continue` returns False. The chain then counts as
    escaping.
    """
    attacker = 3 - stones.board[vertex]
    return _read(attacker, lambda reader: reader.attack(stones, vertex), should_continue)


def read_defence(stones: Stones, vertex: int, should_continue: ShouldContinue = always) -> Reading:
    """Read whether the owner can save the chain at a vertex by moving first."""
    passed = stones.copy()
    passed.ko = NO_VERTEX
    if not read_attack(passed, vertex, should_continue).code:
        return Reading(1, PASS)
    return _read(
        stones.board[vertex], lambda reader: reader.find_defence(stones, vertex), should_continue
    )


def read_ladder(stones: Stones, vertex: int, should_continue: ShouldContinue = always) -> Reading:
    """Read whether the opponent can capture the chain at a vertex by moving first, in a ladder."""
    attacker = 3 - stones.board[vertex]
    return _read(
        attacker, lambda reader: reader.attack(stones, vertex), should_continue, LADDER_LIBERTIES
    )


def _read(
    player: int,
    read: Callable[[_CaptureReader], int],
    should_continue: ShouldContinue,
    max_liberties: Sequence[int] = MAX_LIBERTIES,
) -> Reading:
    create = partial(
        _CaptureReader, MAX_CAPTURE_MOVES, max_liberties, should_continue=should_continue
    )
    reader = create()
    move = read(reader)
    if not reader.met_ko:
        return Reading(int(move != NO_VERTEX), move)
    other = 3 - player if move else player
    again = read(create(ko_master=other))
    if move:
        return Reading(1 if again else 2, again or move)
    return Reading(3 if again else 0, again)


class _CaptureReader:
    """Reads whether one chain can be captured. After `max_moves` moves it counts as escaping.

    The chain is safe if it has more liberties than `max_liberties` allows at its ply. With at most
    two liberties, only ladders are read. `ko_master` is a colour that may retake a ko at once.
    """

    def __init__(
        self,
        max_moves: int,
        max_liberties: Sequence[int],
        ko_master: int = EMPTY,
        should_continue: ShouldContinue = always,
    ) -> None:
        self.met_ko = False  # whether the ko rule has excluded a move
        self._remaining_moves = max_moves
        self._max_liberties = max_liberties
        self._ko_master = ko_master
        self._should_continue = should_continue
        self._known: dict[tuple[int, ...], int] = {}

    def attack(self, stones: Stones, vertex: int, ply: int = 0) -> int:
        """Return a move with which the opponent, moving first, captures the chain, or NO_VERTEX."""
        free = stones.liberties[stones.head[vertex]]
        limit = self._max_liberties[min(ply, len(self._max_liberties) - 1)]
        if free.bit_count() > limit or ply > MAX_PLIES:
            return NO_VERTEX
        key = (*stones.sets, stones.ko, limit)
        if key not in self._known:
            self._known[key] = self._find_attack(stones, vertex, free, ply)
        return self._known[key]

    def _find_attack(self, stones: Stones, vertex: int, free: int, ply: int) -> int:
        attacker, captures = 3 - stones.board[vertex], not free & free - 1
        moves = list(iter_bits(free))
        if not captures and self._reads_nets(ply):
            # First the liberty where the chain would gain most. Then the moves of a net.
            moves.sort(key=lambda move: -self._gain(stones, move, free))
            moves += iter_bits(stones.shape.adjacent(free) & stones.sets[EMPTY] & ~free)
        for move, after in self._positions_after(stones, moves, attacker):
            if captures or self.defend(after, vertex, ply + 1) == NO_VERTEX:
                return move
        return NO_VERTEX

    def defend(self, stones: Stones, vertex: int, ply: int = 0) -> int:
        """Return a move that saves the chain, PASS if none is needed, or NO_VERTEX."""
        if stones.liberties[stones.head[vertex]].bit_count() > 1:
            passed = stones.copy()
            passed.ko = NO_VERTEX
            if self.attack(passed, vertex, ply + 1) == NO_VERTEX:
                return PASS
        return self.find_defence(stones, vertex, ply)

    def find_defence(self, stones: Stones, vertex: int, ply: int = 0) -> int:
        """Return a move that saves the chain, NO_VERTEX, or PASS if the limit is reached."""
        own = stones.board[vertex]
        for move, after in self._positions_after(stones, self._defences(stones, vertex, ply), own):
            if self.attack(after, vertex, ply + 1) == NO_VERTEX:
                return move
        return PASS if self._remaining_moves <= 0 else NO_VERTEX

    def _defences(self, stones: Stones, vertex: int, ply: int) -> Iterator[int]:
        """Generate the moves that may save a chain: captures, extensions, and near moves."""
        head, other = stones.head[vertex], 3 - stones.board[vertex]
        own = stones.chain_at(vertex)
        free = stones.liberties[head]
        captures = ataris = 0
        for beside in iter_bits(stones.shape.adjacent(own) & stones.sets[other]):
            their_liberties = stones.liberties[stones.head[beside]]
            if not their_liberties & their_liberties - 1:
                captures |= their_liberties
            elif their_liberties.bit_count() == 2:
                ataris |= their_liberties
        yield from iter_bits(captures)
        yield from iter_bits(free & ~captures)
        if free & free - 1 and self._reads_nets(ply):
            near = (stones.shape.adjacent(free) & stones.sets[EMPTY]) | ataris
            yield from iter_bits(near & ~free & ~captures)

    def _reads_nets(self, ply: int) -> bool:
        return ply < len(self._max_liberties) - 1

    @staticmethod
    def _gain(stones: Stones, move: int, free: int) -> int:
        return (stones.shape.adjacent(1 << move) & stones.sets[EMPTY] & ~free).bit_count()

    def _positions_after(
        self, stones: Stones, vertices: Iterable[int], colour: int
    ) -> Iterator[tuple[int, Stones]]:
        """Generate each legal move in `vertices` with the position after it, ignoring superko."""
        for vertex in vertices:
            if self._remaining_moves > 0 and not self._should_continue():
                self._remaining_moves = 0
            if self._remaining_moves <= 0:
                return
            if stones.is_suicide(vertex, colour):
                continue
            retakes = vertex == stones.ko and stones.captured_by(vertex, colour)
            if retakes and colour != self._ko_master:
                self.met_ko = True
                continue
            self._remaining_moves -= 1
            after = stones.copy()
            after.put(vertex, colour)
            yield vertex, after
