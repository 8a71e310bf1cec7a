"""Finished Go positions with seki and bent four, whose results are known from how they are made.

Three kinds of positions are built, placed anywhere on the board, reflected, and colours swapped:

- a group with one eye space, which contains enemy stones and two empty vertices that are liberties
  of both. One chain surrounds the eye space, and living stones surround that chain. If a move on
  one of the two vertices makes a shape that leaves one eye after its capture, or a bent four in the
  corner, the group is dead. Otherwise it is a seki.
- two groups along an edge that share one liberty and have one eye each: a seki.
- a chain between two groups that shares two liberties with one of them: a seki.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from agent.games.go import Go

Point = tuple[int, int]  # column and row, from 0
Shape = frozenset[Point]
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
SIZES = (9, 9, 13, 19)
# Columns at one side of the board that belong to the colour of the surrounded group: a wall, and
# territory with space for two eyes.
STRIP = 3
MIN_TERRITORY = 10  # empty vertices of the surrounding colour


@dataclass(frozen=True)
class Position:
    """A finished position, with the dead stones and the area score at komi 0.

    - `stones`: players and vertices, in an order in which they can be played.
    """

    kind: str
    game: Go
    stones: tuple[tuple[int, int], ...]
    dead: int

    @property
    def score(self) -> float:
        return self.game.score(self.dead)

    def commands(self) -> list[str]:
        """Return the GTP commands that set up the position, followed by two passes."""
        text = self.game.text
        stones = [f"play {('black', 'white')[player]} {text(at)}" for player, at in self.stones]
        first, second = ("white", "black") if self.game.turn else ("black", "white")
        passes = [f"play {first} pass", f"play {second} pass"]
        return [f"boardsize {self.game.size}", "clear_board", "komi 0", *stones, *passes]


def normal(shape: Shape) -> Shape:
    """Return the first of the shape's eight images, moved to the origin."""
    images = []
    for turn in range(8):
        points = [turned(point, turn) for point in shape]
        left, low = min(x for x, _ in points), min(y for _, y in points)
        images.append(sorted((x - left, y - low) for x, y in points))
    return frozenset(min(images))


def turned(point: Point, turn: int) -> Point:
    x, y = point
    x, y = (-x if turn & 1 else x), (-y if turn & 2 else y)
    return (y, x) if turn & 4 else (x, y)


def beside(point: Point) -> list[Point]:
    return [(point[0] + x, point[1] + y) for x, y in SIDES]


def around(shape: Shape) -> Shape:
    """Return the points at king's distance 1 from the shape."""
    near = {(x + dx, y + dy) for x, y in shape for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    return frozenset(near - shape)


def is_connected(shape: Shape) -> bool:
    found: set[Point] = set()
    new = set(list(shape)[:1])
    while new:
        found |= new
        new = {other for point in new for other in beside(point)} & shape - found
    return bool(shape) and len(found) == len(shape)


@cache
def polyominoes(size: int) -> tuple[Shape, ...]:
    """Return all connected shapes of `size` points, each in one of its images."""
    if size == 1:
        return (frozenset({(0, 0)}),)
    grown = {
        normal(shape | {point})
        for shape in polyominoes(size - 1)
        for place in shape
        for point in beside(place)
        if point not in shape
    }
    return tuple(sorted(grown, key=sorted))


def _shape(*rows: str) -> Shape:
    return normal(
        frozenset((x, y) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign == "#")
    )


# Shapes of four to six captured stones after which a move on the vital point prevents two eyes.
NAKADE = {_shape(*rows) for rows in (
    ("##", "##"), ("###", ".#."), ("###", "##."), (".#.", "###", ".#."), ("##.", "###", ".#."),
)}  # fmt: skip
BENT_FOUR = _shape("###", "#..")


def result_of(shape: Shape, size: int) -> str | None:
    """Return the result for a group that captures a shape and has no other eye.

    Return None for large shapes in the corner, for which the general rules do not hold.
    """
    corners = {(x, y) for x in (0, size - 1) for y in (0, size - 1)}
    if len(shape) < 4 or normal(shape) in NAKADE:
        return NAKADE_KILLS if len(shape) < 5 or not shape & corners else None
    if normal(shape) == BENT_FOUR:
        bend = next(point for point in shape if bends(shape, point))
        if bend in corners:
            return BENT_FOUR_KILLS
    return None if len(shape) > 4 and shape & corners else SEKI


def bends(shape: Shape, point: Point) -> bool:
    near = [other for other in beside(point) if other in shape]
    return len(near) == 2 and near[0][0] != near[1][0] and near[0][1] != near[1][1]


def eye_space(random: Random, size: int, kind: str) -> Position | None:
    """Return a position of this kind (see `result_of`), or None for an unsuitable choice."""
    space = random.choice(polyominoes(random.choice((5, 5, 5, 6, 6, 7))))
    turn = random.randrange(8)
    points = [turned(point, turn) for point in space]
    left, low = min(x for x, _ in points), min(y for _, y in points)
    width, height = (1 + max(point[axis] for point in points) for axis in (0, 1))
    columns = size - STRIP - 3 - (width - left)  # beside the space: its walls, and the strip's
    rows = size - 1 - (height - low)
    if columns < 0 or rows < 0:
        return None
    column = random.choice((0, 0, random.randint(0, columns)))
    row = random.choice((0, 0, random.randint(0, rows)))
    space = frozenset((x - left + column, y - low + row) for x, y in points)
    empty = frozenset(random.sample(sorted(space), 2))
    inner = space - empty
    board = frozenset((x, y) for x in range(size) for y in range(size))
    ring = around(space) & board
    wall = around(space | ring) & board
    if not is_connected(inner) or not is_connected(ring):
        return None
    if not all(set(beside(point)) & inner and set(beside(point)) & ring for point in empty):
        return None
    results = {result_of(inner | {point}, size) for point in empty}
    if None in results or next(each for each in RESULTS if each in results) != kind:
        return None
    black = inner | wall | {(size - STRIP - 1, y) for y in range(size)}
    white = ring | {(size - STRIP, y) for y in range(size)}
    territory = {point for point in board - space - black - white if point[0] < size - STRIP}
    if len(territory) < MIN_TERRITORY:
        return None
    dead = Shape() if kind == SEKI else ring
    return build(random, size, kind, (frozenset(black), frozenset(white)), empty, dead)


def one_eyed(random: Random, size: int) -> Position | None:
    """Return a seki of two groups along the lower edge that share one liberty."""
    first = random.randint(4, size - 5)
    last = random.randint(first + 3, size)  # the column after the white group
    white = {(x, y) for x in range(first, last) for y in (0, 1)}
    empty = frozenset({(0, 0), (first - 1, 0), (random.randrange(first + 1, last - 1), 0)})
    white -= empty
    white |= {(x, 2) for x in range(first)} | {(first - 1, y) for y in range(2, size)}
    black = {(x, 1) for x in range(first)} | {(x, 0) for x in range(1, first - 1)}
    black |= {(x, 2) for x in range(first, size)} | {(first, y) for y in range(2, size)}
    if last < size:
        black |= {(last, y) for y in (0, 1)}
    stones = frozenset(black), frozenset(white)
    return build(random, size, "one-eyed seki", stones, empty, Shape())


def between(random: Random, size: int) -> Position | None:
    """Return a seki of black stones at the upper edge, in white stones, that share two liberties.

    If White captures the black stones, both white groups are connected.
    """
    top, left = size - 1, random.randint(3, size - 4)
    gap = left + random.randint(1, min(3, size - 2 - left))  # the column of the shared liberties
    white = {(left - 2, y) for y in range(size)} | {(left - 1, top - 1), (left - 1, top)}
    white |= {(x, top - 2) for x in range(left, gap + 2)} | {(gap + 1, top - 1), (gap + 1, top)}
    black = {(x, y) for x in range(left, gap) for y in (top - 1, top)}
    black |= {(left - 1, y) for y in range(top - 1)}
    black |= {(x, top - 3) for x in range(left, min(gap + 3, size))}
    if gap + 2 < size:
        black |= {(gap + 2, y) for y in range(top - 3, size)}
    stones, empty = (frozenset(black), frozenset(white)), frozenset({(gap, top - 1), (gap, top)})
    return build(random, size, "seki between groups", stones, empty, Shape())


def build(
    random: Random, size: int, kind: str, stones: tuple[Shape, Shape], empty: Shape, dead: Shape
) -> Position | None:
    """Return a position in one of the symmetries of the board, perhaps with colours swapped.

    Territory is filled with stones, except for eyes and the vertices in `empty`. Return None if a
    chain has no liberties.
    """
    black, white = stones
    rest = {(x, y) for x in range(size) for y in range(size)} - black - white - empty
    for region in regions(rest):
        filled = region - eyes(random, region)
        if any(set(beside(point)) & black for point in region):
            black |= filled
        else:
            white |= filled
    turn, swap = random.randrange(8), random.randrange(2)
    game = Go(size, 0.0)

    def vertex(point: Point) -> int:
        x, y = point
        x, y = (size - 1 - x if turn & 1 else x), (size - 1 - y if turn & 2 else y)
        return game.stones.shape.vertex(*((y, x) if turn & 4 else (x, y)))

    # White's stones come first. In the other order, they would have no liberties meanwhile.
    placed = [(1 ^ swap, vertex(point)) for point in sorted(white)]
    placed += [(swap, vertex(point)) for point in sorted(black)]
    try:
        for player, at in placed:
            game.set_up(player, [at])
    except ValueError:
        return None
    game.set_turn(random.randrange(2))
    return Position(kind, game, tuple(placed), sum(1 << vertex(point) for point in dead))


def regions(points: set[Point]) -> list[Shape]:
    """Return the connected parts of `points`."""
    found, rest = [], set(points)
    while rest:
        region, new = set[Point](), {min(rest)}
        while new:
            region |= new
            new = {other for point in new for other in beside(point)} & rest - region
        rest -= region
        found.append(frozenset(region))
    return found


def eyes(random: Random, region: Shape) -> Shape:
    """Return points of the region that do not touch each other, at least two if possible."""
    found: set[Point] = set()
    for point in random.sample(sorted(region), len(region)):
        if not around(frozenset({point})) & found and (len(found) < 2 or random.random() < 0.5):
            found.add(point)
    return frozenset(found)


def positions(kind: str, seed: int = 1) -> Iterator[Position]:
    """Generate distinct positions of a kind, without end."""
    random, seen = Random(f"{kind}/{seed}"), set()
    while True:
        made = KINDS[kind](random, random.choice(SIZES))
        if made is not None and made.game.key() not in seen:
            seen.add(made.game.key())
            yield made


RESULTS = NAKADE_KILLS, BENT_FOUR_KILLS, SEKI = "nakade", "bent four", "seki in an eye"
KINDS: dict[str, Callable[[Random, int], Position | None]] = {
    SEKI: lambda random, size: eye_space(random, size, SEKI),
    BENT_FOUR_KILLS: lambda random, size: eye_space(random, size, BENT_FOUR_KILLS),
    "one-eyed seki": one_eyed,
    "seki between groups": between,
    NAKADE_KILLS: lambda random, size: eye_space(random, size, NAKADE_KILLS),
}
