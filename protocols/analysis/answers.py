"""What a search has found, as the objects that answer a query.

Rates and points are those of the viewer: of Black, White, or whoever is to move.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from agent.games.go import Go
from agent.games.stones import EMPTY, NOWHERE, PASS
from agent.limits import Info
from protocols.analysis.query import Query
from protocols.gtp.bounds import least_rate

DIGITS = 6
PLAYERS = "BW"

Lines = Sequence[Info[int]]


def text(value: dict[str, Any]) -> str:
    """Return an object as one line."""
    return json.dumps(value, separators=(",", ":"))


def error(message: str, name: str | None = None, field: str | None = None) -> dict[str, Any]:
    """Return what says that a query, or a field of it, is wrong."""
    return {"error": message, **_about(name, field)}


def warning(message: str, name: str, field: str) -> dict[str, Any]:
    """Return what says that a field is passed over; the query is answered all the same."""
    return {"warning": message, **_about(name, field)}


def failure(query: Query, turn: int, message: str, field: str | None = None) -> dict[str, Any]:
    """Return what says that one position could not be analysed."""
    return {**error(message, query.id, field), "turnNumber": turn}


def no_results(query: Query, turn: int) -> dict[str, Any]:
    """Return what answers for a position that was given up before it was analysed."""
    return {"id": query.id, "isDuringSearch": False, "noResults": True, "turnNumber": turn}


def found(query: Query, turn: int, game: Go, lines: Lines, during: bool) -> dict[str, Any]:
    """Return what is known of a position by lines, the best first, of which some were visited.

    during: the search goes on.
    """
    mover = game.turn
    tried = visited(lines)
    ours = query.viewer in (None, mover)
    alike = 1 / max(len(game.sensible()), 1)
    answer: dict[str, Any] = {
        "id": query.id,
        "turnNumber": turn,
        "isDuringSearch": during,
        "moveInfos": [
            {
                "move": game.text(line.pv[0]),
                "visits": line.visits,
                "edgeVisits": line.visits,
                "weight": line.visits,
                "edgeWeight": line.visits,
                "playSelectionValue": line.visits,
                **_worth(line.expected or 0.0, line.lead, line.visits, ours),
                "prior": _rounded(alike if line.prior is None else line.prior),
                "order": order,
                "pv": [game.text(move) for move in line.pv[: query.pv_length + 1]],
                **_beside(query, line, ours),
            }
            for order, line in enumerate(tried)
        ],
        "rootInfo": {
            "currentPlayer": PLAYERS[mover],
            "visits": sum(line.visits for line in tried),
            **_worth(*_mean(tried), ours),
            **_hashes(game),
        },
    }
    owners = lines[0].owners if query.ownership else None
    if owners is not None:
        answer["ownership"] = _seen(owners, ours)
    if query.policy:
        answer["policy"] = _policy(game, lines, alike)
    return answer


def visited(lines: Lines) -> Lines:
    """Return the lines that were visited."""
    return [line for line in lines if line.visits and line.pv]


def _beside(query: Query, line: Info[int], ours: bool) -> dict[str, Any]:
    """Return what a query wants to know of a move beside the usual, as far as it is known."""
    found: dict[str, Any] = {}
    if query.pv_visits and line.pv_visits:
        visits = list(line.pv_visits[: query.pv_length + 1])
        found |= {"pvVisits": visits, "pvEdgeVisits": visits}  # alike in a tree
    if query.moves_ownership and line.owners_after is not None:
        found["ownership"] = _seen(line.owners_after, ours)
    return found


def _seen(owners: Sequence[float], ours: bool) -> list[float]:
    return [_rounded(owner if ours else -owner) for owner in owners]


def _worth(expected: float, lead: float | None, visits: int, ours: bool) -> dict[str, float]:
    """Return what the viewer may hope for. ours: he is to move."""
    rate = (expected + 1) / 2
    least = least_rate(rate, visits)
    found = {
        "winrate": rate if ours else 1 - rate,
        "lcb": least if ours else 1 - least,
        "utility": expected if ours else -expected,
        "utilityLcb": 2 * least - 1 if ours else 1 - 2 * least,
    }
    if lead is not None:
        points = lead if ours else -lead
        found |= {"scoreLead": points, "scoreMean": points, "scoreSelfplay": points}
    return {name: _rounded(value) for name, value in found.items()}


def _mean(lines: Lines) -> tuple[float, float | None, int]:
    """Return what the mover may hope for, his lead if it is known, and the visits of all lines."""
    visits = sum(line.visits for line in lines)
    expected = sum(line.visits * (line.expected or 0.0) for line in lines) / visits
    counted = [line for line in lines if line.lead is not None]
    if not counted:
        return expected, None, visits
    lead = sum(line.visits * (line.lead or 0.0) for line in counted)
    return expected, lead / sum(line.visits for line in counted), visits


def _policy(game: Go, lines: Lines, alike: float) -> list[float]:
    """Return how promising each point looked, rows from above, and the pass; -1 where illegal.

    All together they are 1, whatever moves the search may not have looked at.
    """
    policy = dict.fromkeys(game.moves(), 0.0)
    priors = {line.pv[0]: line.prior or 0.0 for line in lines if line.pv}
    total = sum(priors.values())
    if total > 0:
        policy |= {move: prior / total for move, prior in priors.items()}
    else:
        policy |= dict.fromkeys(game.sensible(), alike)
    return [_rounded(policy.get(vertex, -1)) for vertex in (*_from_above(game), PASS)]


def _from_above(game: Go) -> Iterator[int]:
    """Generate the vertices of the board, rows from above."""
    vertex = game.stones.shape.vertex
    for row in reversed(range(game.height)):
        yield from (vertex(column, row) for column in range(game.width))


def _hashes(game: Go) -> dict[str, str]:
    """Return a hash of the stones, the mover and the ko, and one that is the same if turned."""
    stones, width, height = game.stones, game.width, game.height
    board = list(_from_above(game))
    signs = bytes(
        EMPTY + 4 if vertex == stones.ko != NOWHERE else stones.board[vertex] for vertex in board
    )
    turned = []
    for _ in range(2):
        for _ in range(4):
            turned.append(_hash(signs, width, height, game.turn))
            # A quarter turn: the columns from the left, each from below.
            signs = b"".join(signs[column::width][::-1] for column in range(width))
            width, height = height, width
        signs = b"".join(
            signs[row * width :][:width][::-1] for row in range(height)
        )  # its mirror image
    return {"thisHash": turned[0], "symHash": min(turned)}


def _hash(signs: bytes, width: int, height: int, turn: int) -> str:
    return blake2b(signs + bytes([width, height, turn]), digest_size=16).hexdigest().upper()


def _about(name: str | None, field: str | None) -> dict[str, str]:
    return {
        **({} if field is None else {"field": field}),
        **({} if name is None else {"id": name}),
    }


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0  # never -0.0
