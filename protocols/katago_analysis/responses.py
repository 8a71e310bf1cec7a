"""What a search has found, as the objects that answer a query.

Rates and points are those of the viewer: of Black, White, or whoever is to move.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from agent.games.go import Go
from agent.games.stones import EMPTY, NO_VERTEX, PASS
from agent.limits import Info
from protocols.gtp.confidence_bounds import lower_confidence_bound
from protocols.katago_analysis.query import Query

DIGITS = 6
PLAYERS = "BW"

Lines = Sequence[Info[int]]


def to_json_line(value: dict[str, Any]) -> str:
    """Return an object as one line."""
    return json.dumps(value, separators=(",", ":"))


def error(message: str, name: str | None = None, field: str | None = None) -> dict[str, Any]:
    """Return what says that a query, or a field of it, is wrong."""
    return {"error": message, **_reference_fields(name, field)}


def warning(message: str, name: str, field: str) -> dict[str, Any]:
    """Return what says that a field is passed over; the query is answered all the same."""
    return {"warning": message, **_reference_fields(name, field)}


def failure(query: Query, turn: int, message: str, field: str | None = None) -> dict[str, Any]:
    """Return what says that one position could not be analysed."""
    return {**error(message, query.id, field), "turnNumber": turn}


def no_results(query: Query, turn: int) -> dict[str, Any]:
    """Return what answers for a position that was given up before it was analysed."""
    return {"id": query.id, "isDuringSearch": False, "noResults": True, "turnNumber": turn}


def analysis_result(
    query: Query, turn: int, game: Go, lines: Lines, is_during_search: bool
) -> dict[str, Any]:
    """Return what is known of a position by lines, the best first, of which some were visited.

    during: the search goes on.
    """
    mover = game.turn
    tried = visited_lines(lines)
    ours = query.perspective in (None, mover)
    alike = 1 / max(len(game.candidate_moves()), 1)
    answer: dict[str, Any] = {
        "id": query.id,
        "turnNumber": turn,
        "isDuringSearch": is_during_search,
        "moveInfos": [
            {
                "move": game.text(line.pv[0]),
                "visits": line.visits,
                "edgeVisits": line.visits,
                "weight": line.visits,
                "edgeWeight": line.visits,
                "playSelectionValue": line.visits,
                **_evaluation_fields(line.expected_outcome or 0.0, line.lead, line.visits, ours),
                "prior": _rounded(alike if line.prior is None else line.prior),
                "order": order,
                "pv": [game.text(move) for move in line.pv[: query.pv_length + 1]],
                **_extra_fields(query, line, ours),
            }
            for order, line in enumerate(tried)
        ],
        "rootInfo": {
            "currentPlayer": PLAYERS[mover],
            "visits": sum(line.visits for line in tried),
            **_evaluation_fields(*_mean(tried), ours),
            **_hashes(game),
        },
    }
    owners = lines[0].ownership if query.ownership else None
    if owners is not None:
        answer["ownership"] = _ownership_for_viewer(owners, ours)
    if query.policy:
        answer["policy"] = _policy(game, lines, alike)
    return answer


def visited_lines(lines: Lines) -> Lines:
    """Return the lines that were visited."""
    return [line for line in lines if line.visits and line.pv]


def _extra_fields(query: Query, line: Info[int], ours: bool) -> dict[str, Any]:
    """Return what a query wants to know of a move beside the usual, as far as it is known."""
    found: dict[str, Any] = {}
    if query.pv_visits and line.pv_visits:
        visits = list(line.pv_visits[: query.pv_length + 1])
        found |= {"pvVisits": visits, "pvEdgeVisits": visits}  # alike in a tree
    if query.moves_ownership and line.moves_ownership is not None:
        found["ownership"] = _ownership_for_viewer(line.moves_ownership, ours)
    return found


def _ownership_for_viewer(owners: Sequence[float], ours: bool) -> list[float]:
    return [_rounded(owner if ours else -owner) for owner in owners]


def _evaluation_fields(
    expected: float, lead: float | None, visits: int, ours: bool
) -> dict[str, float]:
    """Return what the viewer may hope for. ours: he is to move."""
    rate = (expected + 1) / 2
    least = lower_confidence_bound(rate, visits)
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
    expected = sum(line.visits * (line.expected_outcome or 0.0) for line in lines) / visits
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
        policy |= dict.fromkeys(game.candidate_moves(), alike)
    return [_rounded(policy.get(vertex, -1)) for vertex in (*_vertices_top_down(game), PASS)]


def _vertices_top_down(game: Go) -> Iterator[int]:
    """Generate the vertices of the board, rows from above."""
    vertex = game.stones.shape.vertex
    for row in reversed(range(game.height)):
        yield from (vertex(column, row) for column in range(game.width))


def _hashes(game: Go) -> dict[str, str]:
    """Return a hash of the stones, the mover and the ko, and one that is the same if turned."""
    stones, width, height = game.stones, game.width, game.height
    board = list(_vertices_top_down(game))
    signs = bytes(
        EMPTY + 4 if vertex == stones.ko != NO_VERTEX else stones.board[vertex] for vertex in board
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


def _reference_fields(name: str | None, field: str | None) -> dict[str, str]:
    return {
        **({} if field is None else {"field": field}),
        **({} if name is None else {"id": name}),
    }


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0  # never -0.0
