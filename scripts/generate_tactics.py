#!/usr/bin/env python3
"""Generate tactical Go positions in GNU Go's regression format, for `kempelen suite`.

In most positions, a fight takes place on a few points. All other points belong to chains with two
eyes, so moves there gain nothing. The komi makes the fight decide the game: the side to move wins
with the right move and loses by passing. Each answer is proved. A solver that shares no code with
the engine searches the fight to the end of the game, with positional superko.

Ladders and nets are on open boards, and a capture reader proves them. Their komi lies between GNU
Go's score estimates with the stones captured and with the stones saved.

    scripts/generate_tactics.py --output tests/data/go
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.games.go import COLUMNS
from agent.games.stones import BLACK, WHITE, Stones, iter_bits, shape

# Maximum number of nodes per search. Positions that need more are skipped.
NODE_LIMIT = 60_000
MAX_READING_PLIES = 60
X, O = 0, 1  # noqa: E741 - the signs of diagrams

Point = tuple[int, int]  # column and row, counted from 0 at the upper left corner
Grid = dict[Point, str]  # "X" or "O"; missing points are empty


class NodeLimitError(Exception):
    """A search exceeds its node limit."""


def adjacent_points(point: Point, size: int) -> Iterator[Point]:
    """Yield the orthogonal neighbours of a point."""
    for column, row in ((0, 1), (1, 0), (-1, 0), (0, -1)):
        beside = point[0] + column, point[1] + row
        if min(beside) >= 0 and max(beside) < size:
            yield beside


def neighbourhood(point: Point, size: int) -> Iterator[Point]:
    """Yield the orthogonal and diagonal neighbours of a point."""
    for step in product((-1, 0, 1), repeat=2):
        other = point[0] + step[0], point[1] + step[1]
        if step != (0, 0) and min(other) >= 0 and max(other) < size:
            yield other


class Fight:
    """A local fight with X to move. All stones outside the fight are safe.

    Sets of points are bit sets of indices into `cells`. A final position is scored for X: the area
    of X minus that of O on the points. With crucial stones, the side that captures some gets all
    points, and the score is 0 if both pass.

    grid: all stones on the board.
    points: the points of the fight.
    crucial: stones of X and of O whose capture ends the fight.
    """

    def __init__(
        self,
        size: int,
        grid: Grid,
        points: Iterable[Point],
        crucial: tuple[set[Point], set[Point]],
        budget: int,
    ) -> None:
        self.cells = sorted(points)
        place = {point: number for number, point in enumerate(self.cells)}
        self.all = (1 << len(self.cells)) - 1
        self.beside = [0] * len(self.cells)
        # The points next to safe stones of X and of O.
        self.safe = [0, 0]
        for point, number in place.items():
            for other in adjacent_points(point, size):
                if other in place:
                    self.beside[number] |= 1 << place[other]
                else:
                    self.safe["XO".index(grid[other])] |= 1 << number
        self.start = tuple(
            sum(1 << place[p] for p in self.cells if grid.get(p) == sign) for sign in "XO"
        )
        self.crucial = [sum(1 << place[p] for p in stones) for stones in crucial]
        self.most = len(self.cells)
        self._budget = budget
        self._nodes = 0
        self._known: dict[tuple[int, int, int, int], bool] = {}
        self._threshold = 0.0

    def grown(self, seed: int, within: int) -> int:
        """Return the points of `within` that are connected with `seed`."""
        found, edge = 0, seed
        while edge:
            found |= edge
            more = 0
            while edge:
                lowest = edge & -edge
                more |= self.beside[lowest.bit_length() - 1]
                edge ^= lowest
            edge = more & within & ~found
        return found

    def border(self, chain: int) -> int:
        """Return a set of points together with all adjacent points."""
        found = chain
        for number in iter_bits(chain):
            found |= self.beside[number]
        return found

    def play(self, sets: tuple[int, int], player: int, number: int) -> tuple[int, int] | None:
        """Return the stones of X and O after a move, or None for suicide."""
        bit = 1 << number
        own, other = sets[player] | bit, sets[1 - player]
        for beside in iter_bits(self.beside[number] & other):
            chain = self.grown(1 << beside, other)
            if other >> beside & 1 and self._has_no_liberties(chain, own | other, 1 - player):
                other &= ~chain
        if self._has_no_liberties(self.grown(bit, own), own | other, player):
            return None
        return (own, other) if player == X else (other, own)

    def _has_no_liberties(self, chain: int, stones: int, player: int) -> bool:
        return not (self.border(chain) & ~stones or chain & self.safe[player])

    def final_score(self, sets: tuple[int, int]) -> float:
        """Return the score of a final position for X."""
        if any(self.crucial):
            for player in (X, O):
                if self.crucial[player] & ~sets[player]:
                    return -self.most if player == X else self.most
            return 0
        area = [sets[X].bit_count(), sets[O].bit_count()]
        free = self.all & ~(sets[X] | sets[O])
        while free:
            empty = self.grown(free & -free, free)
            reach = self.border(empty)
            touched = [bool(reach & sets[p] or empty & self.safe[p]) for p in (X, O)]
            if touched[X] != touched[O]:
                area[touched[O]] += empty.bit_count()
            free &= ~empty
        return area[X] - area[O]

    def is_over(self, sets: tuple[int, int]) -> bool:
        """Return whether a crucial stone has been captured."""
        return any(self.crucial[player] & ~sets[player] for player in (X, O))

    def wins(self, sets: tuple[int, int], player: int, path: set[tuple[int, int]]) -> bool:
        """Return whether X scores more than the threshold with `player` to move. See `beats`."""
        return self._search(sets, player, 0, path)[0]

    def beats(self, threshold: float, sets: tuple[int, int], player: int) -> bool:
        """Return whether X scores more than `threshold` from this position.

        Raises NodeLimitError if the search is too large.
        """
        if threshold != self._threshold:
            self._known, self._threshold = {}, threshold
        self._nodes = 0
        return self.wins(sets, player, {self.start, sets})

    def _search(
        self, sets: tuple[int, int], player: int, passed: int, path: set[tuple[int, int]]
    ) -> tuple[bool, bool]:
        """Return whether X exceeds the threshold, and whether superko affected the result.

        Results that depend on the path are not stored in the table.
        """
        if self.is_over(sets):
            return self.final_score(sets) > self._threshold, False
        key = (*sets, player, passed)
        if key in self._known:
            return self._known[key], False
        self._nodes += 1
        if self._nodes > self._budget:
            raise NodeLimitError
        goal, repeated = player == X, False
        for after in self._followers(sets, player):
            if after is None:
                if passed:
                    found = self.final_score(sets) > self._threshold
                    by_way = False
                else:
                    found, by_way = self._search(sets, 1 - player, 1, path)
            elif after in path:
                repeated = True
                continue
            else:
                path.add(after)
                found, by_way = self._search(after, 1 - player, 0, path)
                path.discard(after)
            repeated |= by_way
            if found == goal:
                if not by_way:
                    self._known[key] = goal
                return goal, by_way
        if not repeated:
            self._known[key] = not goal
        return not goal, repeated

    def _followers(self, sets: tuple[int, int], player: int) -> Iterator[tuple[int, int] | None]:
        """Yield the positions after each move, with None for a pass. Promising moves come first."""
        ahead = (self.final_score(sets) > self._threshold) == (player == X)
        if ahead:
            yield None
        later = []
        for number in iter_bits(self.all & ~(sets[X] | sets[O])):
            after = self.play(sets, player, number)
            if after is None:
                continue
            if after[1 - player] != sets[1 - player]:
                yield after
            else:
                later.append(after)
        yield from later
        if not ahead:
            yield None

    def value(self, sets: tuple[int, int], player: int) -> int:
        """Return X's score from this position with `player` to move."""
        low, high = -self.most, self.most
        while low < high:
            middle = (low + high) // 2
            if self.beats(middle + 0.5, sets, player):
                low = middle + 1
            else:
                high = middle
        return low

    def legal(self) -> Iterator[tuple[Point, tuple[int, int]]]:
        """Yield X's legal moves in the initial position, each with the position after it."""
        for number in iter_bits(self.all & ~(self.start[X] | self.start[O])):
            after = self.play(self.start, X, number)
            if after is not None:
                yield self.cells[number], after


@dataclass(frozen=True)
class Tactic:
    """A position with its answer.

    mover: "X" or "O".
    komi: X wins with more points than this.
    wrong: the answers are moves to avoid.
    prelude: moves that are played after the stones are placed.
    """

    name: str
    size: int
    grid: Grid
    mover: str
    answers: tuple[Point, ...]
    komi: float
    wrong: bool = False
    prelude: tuple[tuple[str, Point], ...] = ()

    def turned(self, symmetry: int) -> Tactic:
        """Return the position under one of the eight board symmetries."""
        last = self.size - 1

        def turn(point: Point) -> Point:
            column, row = point
            if symmetry & 1:
                column = last - column
            if symmetry & 2:
                row = last - row
            return (row, column) if symmetry & 4 else (column, row)

        return Tactic(
            self.name, self.size, {turn(p): s for p, s in self.grid.items()}, self.mover,
            tuple(map(turn, self.answers)), self.komi, self.wrong,
            tuple((s, turn(p)) for s, p in self.prelude),
        )  # fmt: skip

    def lines(self, number: int, black: str) -> Iterator[str]:
        """Yield the lines of a test. `black` says whether X or O plays Black."""
        colour = {black: "black", "XO"[black == "X"]: "white"}
        signs = {black: "X", "XO"[black == "X"]: "O"}

        def text(point: Point) -> str:
            return f"{COLUMNS[point[0]]}{self.size - point[1]}"

        yield f"# {self.name}; Black is X, {colour[self.mover]} to move"
        for row in range(self.size):
            cells = (self.grid.get((column, row), ".") for column in range(self.size))
            yield "# " + " ".join(signs.get(cell, cell) for cell in cells)
        yield f"boardsize {self.size}"
        yield "clear_board"
        yield f"komi {self.komi if black == 'X' else -self.komi:g}"
        for point, sign in sorted(self.grid.items(), key=lambda each: (each[0][1], each[0][0])):
            yield f"play {colour[sign]} {text(point)}"
        for sign, point in self.prelude:
            yield f"play {colour[sign]} {text(point)}"
        yield f"{number} reg_genmove {colour[self.mover]}"
        yield f"#? [{'!' * self.wrong}{'|'.join(sorted(map(text, self.answers)))}]"
        yield ""


def safe_stones(size: int, area: set[Point], sign: str) -> Grid:
    """Return stones that fill an area except for eyes, so that each chain has two eyes.

    Raises ValueError if a chain would have fewer.
    """
    eyes: set[Point] = set()
    for point in sorted(area, key=lambda each: (each[1], each[0])):
        if all(other in area and other not in eyes for other in neighbourhood(point, size)):
            eyes.add(point)
    stones = area - eyes
    left = set(stones)
    while left:
        chain, edge = set(), {min(left)}
        while edge:
            chain |= edge
            edge = {o for p in edge for o in adjacent_points(p, size) if o in stones} - chain
        own = [eye for eye in eyes if all(o in chain for o in adjacent_points(eye, size))]
        if len(own) < 2:
            raise ValueError("an area without two eyes")
        left -= chain
    return dict.fromkeys(stones, sign)


def board(size: int, fought: Grid, points: set[Point], owner: Callable[[Point], str]) -> Grid:
    """Return a whole board: the stones of the fight, and safe stones on all other points."""
    grid = dict(fought)
    rest = [p for p in product(range(size), repeat=2) if p not in points]
    for sign in "XO":
        area = {p for p in rest if owner(p) == sign}
        grid |= safe_stones(size, area, sign)
    return grid


def balance(size: int, points: set[Point], owner: Callable[[Point], str]) -> int:
    """Return the number of X's safe points minus O's."""
    rest = [p for p in product(range(size), repeat=2) if p not in points]
    return sum(1 if owner(p) == "X" else -1 for p in rest)


def proved(
    name: str,
    size: int,
    fought: Grid,
    points: set[Point],
    owner: Callable[[Point], str],
    crucial: tuple[set[Point], set[Point]] = (set(), set()),
    least: int = 4,
    budget: int = NODE_LIMIT,
    share: float = 0.5,
) -> Tactic | None:
    """Return the fight with X to move as a test, or None if it is unsuitable or too large.

    If passing is best, the test lists losing moves to avoid.

    least: minimum value of the answer in points.
    share: maximum fraction of the moves that may be answers.
    """
    try:
        grid = board(size, fought, points, owner)
    except ValueError:
        return None
    fight = Fight(size, grid, points, crucial, budget)
    moves = list(fight.legal())
    if any(
        fight._has_no_liberties(fight.grown(1 << n, s), sum(fight.start), p)
        for p, s in enumerate(fight.start)
        for n in iter_bits(s)
    ):
        return None
    if len(moves) < 2:
        return None
    try:
        passing = fight.value(fight.start, O)
        worths = {point: fight.value(after, O) for point, after in moves}
    except NodeLimitError:
        return None
    best = max(worths.values())
    if best > passing:
        threshold = (best + passing) / 2
        good = tuple(p for p, worth in worths.items() if worth > threshold)
        if best - passing < least or len(good) > share * len(moves) or len(good) > 4:
            return None
        answers, wrong, low, high = good, False, passing, best
    else:
        bad = tuple(p for p, worth in worths.items() if worth + least <= passing)
        if not bad or any(worths[p] < passing and p not in bad for p in worths):
            return None
        answers, wrong, low, high = bad, True, worths[bad[0]], passing
        low = max(worths[p] for p in bad)
    middle = low + (high - low) / 2
    komi = balance(size, points, owner) + int(middle // 1) + 0.5
    return Tactic(name, size, grid, "X", answers, komi, wrong)


def swapped(fought: Grid) -> Grid:
    """Return the stones with X and O exchanged."""
    return {p: "XO"[s == "X"] for p, s in fought.items()}


def polyominoes(number: int) -> set[frozenset[Point]]:
    """Return the polyominoes of `number` points, each once under symmetry."""
    found = {frozenset({(0, 0)})}
    for _ in range(number - 1):
        grown = set()
        for each in found:
            for column, row in each:
                for other in ((column + 1, row), (column - 1, row), (column, row + 1),
                              (column, row - 1)):  # fmt: skip
                    if other not in each:
                        grown.add(_canonical(each | {other}))
        found = grown
    return found


def _canonical(points: frozenset[Point]) -> frozenset[Point]:
    forms = []
    for symmetry in range(8):
        turned = []
        for column, row in points:
            c, r = (-column if symmetry & 1 else column), (-row if symmetry & 2 else row)
            turned.append((r, c) if symmetry & 4 else (c, r))
        left, top = min(c for c, _ in turned), min(r for _, r in turned)
        forms.append(sorted((c - left, r - top) for c, r in turned))
    return frozenset(min(forms))


def eye_spaces(chance: random.Random) -> Iterator[tuple[str, set[Point], set[Point], Grid]]:
    """Yield eye spaces: a name, the points, O's ring around them, and the ring as stones."""
    for number in (3, 4, 5, 6):
        shapes = sorted(map(sorted, polyominoes(number)))
        for space, (where, offset) in product(
            shapes, (("corner", (0, 0)), ("edge", (3, 0)), ("centre", (3, 2)))
        ):
            eyes = {(c + offset[0], r + offset[1]) for c, r in space}
            ring = {o for p in eyes for o in neighbourhood(p, 9)} - eyes
            yield f"{number} points, {where}", eyes, ring, dict.fromkeys(ring, "O")


def below(row: int) -> Callable[[Point], str]:
    """Return an owner function that gives O the rows from `row` on, and X the others."""
    return lambda point: "O" if point[1] >= row else "X"


def above(row: int) -> Callable[[Point], str]:
    """Return an owner function that gives X the rows from `row` on, and O the others."""
    return lambda point: "X" if point[1] >= row else "O"


def nakade(chance: random.Random) -> Iterator[Tactic | None]:
    """Yield eye spaces of 3 to 6 points, to kill and to make alive."""
    for name, eyes, ring, stones in eye_spaces(chance):
        points = eyes | ring
        if max(r for _, r in points) > 6:
            continue
        crucial: tuple[set[Point], set[Point]] = (set(), ring)
        yield proved(f"nakade: kill, {name}", 9, stones, points, below(7), crucial)
        yield proved(f"nakade: live, {name}", 9, swapped(stones), points, above(7), crucial[::-1])


def eye_positions(chance: random.Random) -> Iterator[Tactic | None]:
    """Yield groups whose two eyes must not be filled, and groups that need a second eye."""
    spots = [(0, 0), (2, 0), (4, 0), (1, 1), (3, 1), (3, 2), (5, 2), (1, 3), (0, 2)]
    for pair in combinations(spots, 2):
        eyes = set(pair)
        ring = {o for p in eyes for o in neighbourhood(p, 9)} - eyes
        stones = dict.fromkeys(ring, "X")
        if max(r for _, r in ring) > 6 or not _connected(ring):
            continue
        yield proved("two eyes: fill none", 9, stones, eyes | ring, above(7), (ring, set()))
    for number in range(60):
        spot = chance.choice(((0, 0), (2, 0), (0, 2), (3, 2)))
        wide, high = chance.choice(((3, 2), (4, 2), (3, 3), (2, 3)))
        inner = {(spot[0] + c, spot[1] + r) for c in range(wide) for r in range(high)}
        ring = {o for p in inner for o in neighbourhood(p, 9)} - inner
        if max(r for _, r in ring) > 6:
            continue
        killing = number % 2 == 1
        own, other = ("O", "X") if killing else ("X", "O")
        fought = dict.fromkeys(ring, own)
        for point in inner:
            sign = chance.choice((".", ".", own, other))
            if sign != ".":
                fought[point] = sign
        crucial: tuple[set[Point], set[Point]] = (set(), ring) if killing else (ring, set())
        name = "eyes: " + ("prevent the second" if killing else "make the second")
        owner = below(7) if killing else above(7)
        found = proved(name, 9, fought, inner | ring, owner, crucial)
        yield found if found and not found.wrong else None


def _connected(points: set[Point]) -> bool:
    found, edge = set(), {min(points)}
    while edge:
        found |= edge
        edge = {o for p in edge for o in adjacent_points(p, 99) if o in points} - found
    return found == points


def races(chance: random.Random) -> Iterator[Tactic | None]:
    """Yield capturing races by liberties: X's outside, O's outside, and shared."""

    def owner(point: Point) -> str:
        return "O" if point[1] <= 2 else "X"

    for own, theirs, shared in product(range(4), range(4), range(4)):
        ours = {(c, 2) for c in range(2, 7)}
        target = {(c, 3) for c in range(2, 7)}
        points = ours | target
        fought: Grid = dict.fromkeys(ours, "X") | dict.fromkeys(target, "O")
        for spot in ((6, 3), (2, 3), (4, 3))[:shared]:
            del fought[spot]
            target.discard(spot)
        points |= {(c, 1) for c in (2, 3, 4, 5)[:own]} | {(c, 4) for c in (3, 4, 5)[:theirs]}
        if shared == 3:  # O consists of two chains
            target = {(3, 3)}
        yield proved(
            f"race: {own} against {theirs} liberties, {shared} shared", 9, fought, points, owner,
            (ours, target), share=0.75,
        )  # fmt: skip


def random_fights(chance: random.Random, wanted: str) -> Iterator[Tactic | None]:
    """Yield random fights in a corner, at an edge or in the centre, whose answer is `wanted`."""
    while True:
        wide, high = chance.choice(((3, 3), (4, 3), (3, 4), (4, 2), (5, 2)))
        corner = chance.choice(((0, 0), (0, 0), (2, 0), (2, 2)))
        points = {(corner[0] + c, corner[1] + r) for c in range(wide) for r in range(high)}
        row = chance.choice((corner[1] + high, corner[1] + 1, 7))
        owner = chance.choice((below(row), above(row)))
        fought = {p: sign for p in points if (sign := chance.choice("XXXOOO...")) != "."}
        if not 2 <= len(points) - len(fought) <= 5:
            continue
        found = _fight_of_type(wanted, fought, points, owner)
        if found:
            yield found


def enclosed_groups(chance: random.Random, wanted: str) -> Iterator[Tactic | None]:
    """Yield random groups of O with stones and gaps in their eye space, by their answer."""
    while True:
        left, top = chance.choice(((0, 0), (2, 0), (0, 2), (3, 2)))
        wide, high = chance.choice(((3, 2), (4, 2), (3, 3), (2, 3), (5, 2)))
        inner = set(product(range(left, left + wide), range(top, top + high)))
        ring = {o for p in inner for o in neighbourhood(p, 9)} - inner
        gaps = {p: chance.choice("X.") for p in chance.sample(sorted(ring), 2)}
        group = ring - gaps.keys()
        if max(r for _, r in ring) > 6 or not _connected(group):
            continue
        signs = {p: chance.choice("OOX..") for p in sorted(inner)} | gaps
        fought = dict.fromkeys(group, "O") | {p: s for p, s in signs.items() if s != "."}
        found = _fight_of_type(wanted, fought, inner | ring, below(7), (set(), group))
        if found:
            yield found


def _fight_of_type(
    wanted: str,
    fought: Grid,
    points: set[Point],
    owner: Callable[[Point], str],
    crucial: tuple[set[Point], set[Point]] = (set(), set()),
) -> Tactic | None:
    """Return a fight whose answer has the wanted type, or None.

    Unsuitable fights are rejected before the search if possible.
    """
    try:
        grid = board(9, fought, points, owner)
        hints = [
            tactic_type(Tactic("", 9, grid, "X", (point,), 0)) for point in points - fought.keys()
        ]
    except (IndexError, ValueError):  # the board has stones without liberties
        return None
    if wanted not in hints:
        return None
    found = proved(wanted, 9, fought, points, owner, crucial, least=6, budget=NODE_LIMIT // 10)
    return found if found and not found.wrong and tactic_type(found) == wanted else None


def tactic_type(tactic: Tactic) -> str:
    """Return the type of X's only answer, such as "ko" or "snapback", or "" if it has no name."""
    if len(tactic.answers) != 1:
        return ""
    stones = position(tactic)
    move = vertex(tactic.size, tactic.answers[0])
    if stones.is_suicide(move, BLACK):
        return ""
    taken = stones.captured_by(move, BLACK).bit_count()
    after = stones.copy()
    after.put(move, BLACK)
    chain = after.head[move]
    free, alone = after.liberties[chain], len(after.chains[chain]) == 1
    if taken:
        if taken == 1 and alone and free.bit_count() == 1 and after.ko:
            return "ko"
        return "capture"
    if free.bit_count() == 1:
        place = free.bit_length() - 1
        if after.is_suicide(place, WHITE):
            return ""
        after.put(place, WHITE)
        if after.board[move] == 0 and not after.is_suicide(move, BLACK):
            again = after.captured_by(move, BLACK).bit_count()
            return "snapback" if again >= 2 else "throw-in"
        return ""
    for beside in after.shape.neighbours[move]:
        if after.board[beside] == WHITE and after.liberties[after.head[beside]].bit_count() == 1:
            place = after.liberties[after.head[beside]].bit_length() - 1
            if after.is_suicide(place, WHITE):
                return "connect and die"
            run = after.copy()
            run.put(place, WHITE)
            if run.liberties[run.head[place]].bit_count() == 1:
                return "connect and die"
            return ""
    for beside in stones.shape.neighbours[move]:
        if stones.board[beside] == BLACK and (
            stones.liberties[stones.head[beside]].bit_count() == 1
        ):
            return "escape"
    return ""


def position(tactic: Tactic) -> Stones:
    """Return the stones of a position as a `Stones` board, with X as Black."""
    stones = Stones(tactic.size, tactic.size)
    for point, sign in tactic.grid.items():
        stones.put(vertex(tactic.size, point), BLACK if sign == "X" else WHITE)
    return stones


def vertex(size: int, point: Point) -> int:
    """Convert a point to a vertex of the `Stones` board."""
    return shape(size, size).vertex(point[0], size - 1 - point[1])


def retaken(tactic: Tactic) -> Tactic:
    """Return a position after a ko capture, where recapturing at once is the move to avoid."""
    move = tactic.answers[0]
    (ban,) = (p for p in adjacent_points(move, tactic.size) if _is_taken(tactic, p))
    return Tactic(
        "ko: not to be taken back", tactic.size, tactic.grid, "O", (ban,), tactic.komi,
        wrong=True, prelude=(("X", move),),
    )  # fmt: skip


def _is_taken(tactic: Tactic, point: Point) -> bool:
    stones = position(tactic)
    move = vertex(tactic.size, tactic.answers[0])
    return bool(stones.captured_by(move, BLACK) >> vertex(tactic.size, point) & 1)


# Open boards.


def captures(stones: Stones, target: int, mover: int, plies: int = MAX_READING_PLIES) -> bool:
    """Return whether Black captures a white chain by successive ataris.

    mover: the side to move.
    """
    chain = stones.head[target]
    free = stones.liberties[chain]
    count = free.bit_count()
    if count > 2 or (count == 2 and mover == WHITE) or not plies:
        return False
    if mover == BLACK:
        if count == 1:
            place = free.bit_length() - 1
            return place != stones.ko
        for move in iter_bits(free):
            if not stones.is_suicide(move, BLACK):
                after = stones.copy()
                after.put(move, BLACK)
                if captures(after, target, WHITE, plies - 1):
                    return True
        return False
    moves = set(iter_bits(free))
    for stone in stones.chains[chain]:
        for beside in stones.shape.neighbours[stone]:
            if stones.board[beside] == BLACK:
                last = stones.liberties[stones.head[beside]]
                if last.bit_count() == 1:
                    moves.add(last.bit_length() - 1)
    for move in moves:
        if move != stones.ko and not stones.is_suicide(move, WHITE):
            after = stones.copy()
            after.put(move, WHITE)
            if not captures(after, target, BLACK, plies - 1):
                return False
    return True


def nets(stones: Stones, target: int, mover: int, plies: int) -> bool:
    """Return whether Black captures a white chain within `plies` by moves near the chain."""
    if stones.board[target] != WHITE:
        return True
    chain = stones.head[target]
    free = stones.liberties[chain]
    if mover == BLACK and free.bit_count() == 1:
        return free.bit_length() - 1 != stones.ko
    if plies <= 0 or free.bit_count() > 3:
        return False
    empty = stones.sets[0]
    if mover == BLACK:
        for move in iter_bits(free | stones.shape.adjacent(free) & empty):
            if not stones.is_suicide(move, BLACK):
                after = stones.copy()
                after.put(move, BLACK)
                if nets(after, target, WHITE, plies - 1):
                    return True
        return False
    moves = free | stones.shape.adjacent(free) & empty
    for black in iter_bits(stones.sets[BLACK]):
        last = stones.liberties[stones.head[black]]
        if last.bit_count() == 1:
            moves |= last
    for move in iter_bits(moves):
        if move != stones.ko and not stones.is_suicide(move, WHITE):
            after = stones.copy()
            after.put(move, WHITE)
            if not nets(after, target, BLACK, plies - 1):
                return False
    return True


# A corner group of O, whose only escape is a ladder. Capturing its last stone captures the group.
LARGE = "OOOX...../OOOX...../OOOO...../XXX......"
SMALL = "OOX....../OOX....../OOO....../XX......."
# Stones that balance the rest of the board, and ladder breakers.
BALANCE: dict[int, Grid] = {
    9: {(7, 1): "O", (6, 1): "O", (1, 7): "X"},
    13: {(9, 2): "O", (9, 5): "O", (2, 9): "X", (5, 10): "X"},
    19: {(15, 3): "O", (16, 9): "O", (3, 15): "X", (9, 16): "X", (15, 15): "O", (13, 15): "X"},
}
BREAKERS = {9: ((6, 6), (7, 6), (5, 6)), 13: ((8, 8),), 19: ((10, 10),)}


def stones_of(rows: str) -> Grid:
    """Return the stones of a diagram that shows the upper left part of a board."""
    return {
        (c, r): sign
        for r, row in enumerate(rows.split("/"))
        for c, sign in enumerate(row)
        if sign in "XO"
    }


def ladders(
    size: int, rows: str, target: Point, komi: tuple[float, float, float]
) -> dict[str, Tactic]:
    """Return ladders by name: to capture, not to run from, and to run from because broken.

    Raises ValueError if the capture reader disagrees.

    target: the last stone of O's chain.
    komi: the komi of each type.
    """
    attack, run = (target[0] + 1, target[1]), (target[0], target[1] + 1)
    grid = stones_of(rows) | BALANCE[size]
    found = {"ladder: capture": Tactic("ladder: capture", size, grid, "X", (attack,), komi[0])}
    _expect(found["ladder: capture"], target, {attack})
    found["ladder: do not run"] = Tactic(
        "ladder: do not run", size, grid | {attack: "X"}, "O", (run,), komi[1], wrong=True
    )
    for number, breaker in enumerate(BREAKERS[size]):
        name = f"ladder: broken, run {number + 1}"
        broken = grid | {breaker: "O"}
        _expect(Tactic("", size, broken, "X", (), 0), target, set())
        found[name] = Tactic(name, size, broken | {attack: "X"}, "O", (run,), komi[2])
    return found


def _expect(tactic: Tactic, target: Point, attacks: set[Point]) -> None:
    """Raise ValueError unless exactly the moves `attacks` start a working ladder."""
    stones, chain = position(tactic), vertex(tactic.size, target)
    for point in adjacent_points(target, tactic.size):
        move = vertex(tactic.size, point)
        if stones.board[move] == 0:
            after = stones.copy()
            after.put(move, BLACK)
            if captures(after, chain, WHITE) != (point in attacks):
                raise ValueError(f"{tactic.name}: {point}")


def open_nets() -> Iterator[Tactic]:
    """Yield nets. The ladder does not work, but a more distant move captures."""
    for rows in (
        "OOX....../OOXX...../OOO....../XX.......",
        "OOX....../OOX.X..../OOO....../XX......./.X.......",
    ):
        for more in ({(6, 6): "O", (7, 2): "O", (2, 7): "X"}, {(5, 5): "O", (7, 3): "O"}):
            grid, target = stones_of(rows) | more, vertex(9, (2, 2))
            bare = Tactic("net", 9, grid, "X", (), 3.5)
            stones = position(bare)
            close = {p for one in adjacent_points((2, 2), 9) for p in (one, *neighbourhood(one, 9))}
            close |= {p for one in set(close) for p in adjacent_points(one, 9)}
            answers = []
            for point in sorted(close - grid.keys()):
                after = stones.copy()
                after.put(vertex(9, point), BLACK)
                if nets(after, target, WHITE, 10) or captures(after, target, WHITE):
                    answers.append(point)
            yield Tactic("net", 9, grid, "X", tuple(answers), 3.5)


def open_boards() -> dict[str, list[tuple[Tactic, int]]]:
    """Return ladders and nets, each with the number of symmetric variants to write."""
    large = ladders(9, LARGE, (3, 2), (10.5, 38.5, -0.5))
    found = [
        (large["ladder: capture"], 16),
        (large["ladder: do not run"], 8),
        (large["ladder: broken, run 1"], 16),
        (large["ladder: broken, run 2"], 4),
    ]
    for others in (
        ladders(9, SMALL, (2, 2), (10.5, 20.5, -10.5)),
        ladders(13, LARGE, (3, 2), (15.5, 38.5, 5.5)),
        ladders(19, SMALL, (2, 2), (15.5, 33.5, 0.5)),
    ):
        found += [(each, 4) for each in others.values()]
    return {"ladders": found, "nets": [(each, 5) for each in open_nets()]}


def first_unseen(number: int, tactics: Iterable[Tactic | None], seen: set[str]) -> list[Tactic]:
    """Return the first `number` tactics that are new under symmetry, and add them to `seen`."""
    found = []
    for each in tactics:
        if each is None:
            continue
        form = min("".join(each.turned(s).lines(0, "X")) for s in range(8))
        if form not in seen:
            seen.add(form)
            found.append(each)
            if len(found) == number:
                break
    return found


def closed_boards(seed: int, report: Callable[[str], None]) -> dict[str, list[tuple[Tactic, int]]]:
    """Return the fights among safe stones, each with the number of symmetric variants to write."""
    seen: set[str] = set()
    chance = random.Random(seed)
    found: dict[str, list[Tactic]] = {}
    spaces = first_unseen(200, nakade(chance), seen)
    found["nakade"] = [each for each in spaces if not each.wrong]
    report("nakade")
    groups = first_unseen(120, eye_positions(chance), seen)
    needed = [each for each in groups if not each.wrong]
    found["eyes"] = needed + [each for each in groups if each.wrong][:16]
    found["eyes"] += [each for each in spaces if each.wrong][:8]
    report("eyes")
    fought = first_unseen(100, races(chance), seen)
    found["races"] = [each for each in fought if not each.wrong]
    found["seki"] = [each for each in fought if each.wrong] + first_unseen(
        12, seki_positions(chance), seen
    )
    report("races")
    for name, number in RANDOM_FIGHT_COUNTS.items():
        kind = random.Random(f"{seed} {name}")
        fights = enclosed_groups if name in ("ko", "throw-in") else random_fights
        found[f"{name}s"] = first_unseen(number, fights(kind, name), seen)
        report(name)
    forms = {"races": 2, "seki": 2, "snapbacks": 2}
    wanted = {name: [(t, forms.get(name, 1)) for t in tactics] for name, tactics in found.items()}
    wanted["kos"] += [(retaken(each), 1) for each in found["kos"][:6]]
    return wanted


# Number of random fights by the type of their answer.
RANDOM_FIGHT_COUNTS = {
    "capture": 14, "escape": 8, "connect and die": 14, "ko": 10, "snapback": 8, "throw-in": 14,
}  # fmt: skip


def seki_positions(chance: random.Random) -> Iterator[Tactic | None]:
    """Yield seki positions: stones of O in X's eye space that neither side should attack."""
    for _ in range(4000):
        number = chance.choice((4, 5, 6))
        space = sorted(chance.choice(sorted(map(sorted, polyominoes(number)))))
        offset = chance.choice(((0, 0), (3, 0), (3, 2)))
        inner = {(c + offset[0], r + offset[1]) for c, r in space}
        ring = {o for p in inner for o in neighbourhood(p, 9)} - inner
        if max(r for _, r in ring) > 6:
            continue
        inside = chance.sample(sorted(inner), number - chance.choice((2, 3)))
        fought = dict.fromkeys(ring, "X") | dict.fromkeys(inside, "O")
        found = proved("seki: leave it", 9, fought, inner | ring, above(7), (ring, set()))
        yield found if found and found.wrong else None


def write(folder: Path, seed: int, report: Callable[[str], None]) -> None:
    """Write one file for each type of position."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    for kind, wanted in (open_boards() | closed_boards(seed, report)).items():
        lines = [f"# Made by scripts/generate_tactics.py, seed {seed}.", ""]
        number = 0
        for tactic, forms in wanted:
            every = list(product(range(8), "XO"))
            chosen = every if forms == len(every) else sorted(chance.sample(every, forms))
            for symmetry, black in chosen:
                number += 1
                lines += tactic.turned(symmetry).lines(number, black)
        text = "\n".join(lines).rstrip() + "\n"
        (folder / f"{kind.replace(' ', '-')}.tst").write_text(text, "utf-8")
        report(f"{kind}: {number}")


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="the folder for the files")
    arguments = parser.parse_args()

    def report(text: str) -> None:
        if sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)

    write(arguments.output, arguments.seed, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
