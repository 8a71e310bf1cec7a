"""The points of handicap stones."""

from __future__ import annotations

from protocols.gtp.messages import GtpError

INVALID_NUMBER = "invalid number of stones"


def star_points(width: int, height: int, count: int) -> list[tuple[int, int]]:
    """Return the columns and rows of `count` handicap stones, in the order that GTP defines.

    A board can have 2 to 9 stones if both edges are odd and at least 9, or else 2 to 4 stones if
    both edges are at least 7. Raise `GtpError` for any other count. GTP's rule for square boards is
    applied to each edge.
    """
    if not handicap_fits(width, height, count):
        raise GtpError(INVALID_NUMBER)
    (left, middle, right), (low, half, high) = _star_lines(width), _star_lines(height)
    points = [(left, low), (right, high), (left, high), (right, low)][: min(count, 4)]
    if count > 5:
        points += [(left, half), (right, half)]
    if count > 7:
        points += [(middle, low), (middle, high)]
    if count in (5, 7, 9):
        points.append((middle, half))
    return points


def _star_lines(edge: int) -> tuple[int, int, int]:
    near = 3 if edge > 12 else 2
    return near, edge // 2, edge - 1 - near


def handicap_fits(width: int, height: int, count: int) -> bool:
    edges = width, height
    has_nine_points = all(edge >= 9 and edge % 2 for edge in edges)
    return min(edges) >= 7 and 2 <= count <= (9 if has_nine_points else 4)
