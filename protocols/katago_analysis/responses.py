"""Format search results as JSON replies to queries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from agent.games.go import Go
from agent.games.stones import EMPTY, NO_VERTEX, PASS
from agent.limits import Info
from protocols.gtp.analysis import RootInfo, winrate
from protocols.gtp.confidence_bounds import lower_confidence_bound
from protocols.katago_analysis.query import Query

DIGITS = 6
PLAYERS = "BW"

Lines = Sequence[Info[int]]


def to_json_line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))


def error(message: str, name: str | None = None, field: str | None = None) -> dict[str, Any]:
    return {"error": message, **_reference_fields(name, field)}


def warning(message: str, name: str, field: str) -> dict[str, Any]:
    return {"warning": message, **_reference_fields(name, field)}


def failure(query: Query, turn: int, message: str, field: str | None = None) -> dict[str, Any]:
    return {**error(message, query.id, field), "turnNumber": turn}


def no_results(query: Query, turn: int) -> dict[str, Any]:
    """Return the reply for a position whose analysis was terminated or produced no visits."""
    return {"id": query.id, "isDuringSearch": False, "noResults": True, "turnNumber": turn}


def analysis_result(
    query: Query, turn: int, game: Go, lines: Lines, is_during_search: bool
) -> dict[str, Any]:
    """Return the reply for an analysed position. The best line comes first in `lines`.

    At least one line must have visits.
    """
    mover = game.turn
    visited = visited_lines(lines)
    root = RootInfo.from_lines(visited)
    ours = query.perspective in (None, mover)
    uniform_prior = 1 / max(len(game.candidate_moves()), 1)
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
                **_evaluation_fields(winrate(line), line.lead, line.visits, ours),
                "prior": _rounded(uniform_prior if line.prior is None else line.prior),
                "order": order,
                "pv": [game.text(move) for move in line.pv[: query.pv_length + 1]],
                **_extra_fields(query, line, ours),
            }
            for order, line in enumerate(visited)
        ],
        "rootInfo": {
            "currentPlayer": PLAYERS[mover],
            "visits": root.visits,
            **_evaluation_fields(root.winrate, root.lead, root.visits, ours),
            **_hashes(game),
        },
    }
    owners = lines[0].ownership if query.ownership else None
    if owners is not None:
        answer["ownership"] = _ownership_for_viewer(owners, ours)
    if query.policy:
        answer["policy"] = _policy(game, lines, uniform_prior)
    return answer


def visited_lines(lines: Lines) -> Lines:
    return [line for line in lines if line.visits and line.pv]


def _extra_fields(query: Query, line: Info[int], ours: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if query.pv_visits and line.pv_visits:
        visits = list(line.pv_visits[: query.pv_length + 1])
        fields |= {"pvVisits": visits, "pvEdgeVisits": visits}  # equal in a tree
    if query.moves_ownership and line.moves_ownership is not None:
        fields["ownership"] = _ownership_for_viewer(line.moves_ownership, ours)
    return fields


def _ownership_for_viewer(owners: Sequence[float], ours: bool) -> list[float]:
    return [_rounded(owner if ours else -owner) for owner in owners]


def _evaluation_fields(
    rate: float, lead: float | None, visits: int, ours: bool
) -> dict[str, float]:
    lcb = lower_confidence_bound(rate, visits)
    if not ours:
        rate, lcb = 1 - rate, 1 - lcb
    fields = {"winrate": rate, "lcb": lcb, "utility": 2 * rate - 1, "utilityLcb": 2 * lcb - 1}
    if lead is not None:
        points = lead if ours else -lead
        fields |= {"scoreLead": points, "scoreMean": points, "scoreSelfplay": points}
    return {name: _rounded(value) for name, value in fields.items()}


def _policy(game: Go, lines: Lines, uniform_prior: float) -> list[float]:
    """Return the prior of each point from the top left, then of the pass. Illegal moves have -1."""
    policy = dict.fromkeys(game.moves(), 0.0)
    priors = {line.pv[0]: line.prior or 0.0 for line in lines if line.pv}
    total = sum(priors.values())
    if total > 0:
        policy |= {move: prior / total for move, prior in priors.items()}
    else:
        policy |= dict.fromkeys(game.candidate_moves(), uniform_prior)
    return [_rounded(policy.get(vertex, -1)) for vertex in (*_vertices_top_down(game), PASS)]


def _vertices_top_down(game: Go) -> Iterator[int]:
    vertex = game.stones.shape.vertex
    for row in reversed(range(game.height)):
        yield from (vertex(column, row) for column in range(game.width))


def _hashes(game: Go) -> dict[str, str]:
    """Return a hash of the position, and a hash that is equal for all its symmetric positions."""
    stones, width, height = game.stones, game.width, game.height
    board = list(_vertices_top_down(game))
    points = bytes(
        EMPTY + 4 if vertex == stones.ko != NO_VERTEX else stones.board[vertex] for vertex in board
    )
    hashes = []
    for _ in range(2):
        for _ in range(4):
            hashes.append(_hash(points, width, height, game.turn))
            # Rotate by 90 degrees: take the columns from the left, each from the bottom.
            points = b"".join(points[column::width][::-1] for column in range(width))
            width, height = height, width
        # Mirror.
        points = b"".join(points[row * width :][:width][::-1] for row in range(height))
    return {"thisHash": hashes[0], "symHash": min(hashes)}


def _hash(points: bytes, width: int, height: int, turn: int) -> str:
    return blake2b(points + bytes([width, height, turn]), digest_size=16).hexdigest().upper()


def _reference_fields(name: str | None, field: str | None) -> dict[str, str]:
    return {
        **({} if field is None else {"field": field}),
        **({} if name is None else {"id": name}),
    }


def _rounded(value: float) -> float:
    return round(value, DIGITS) + 0.0  # Turns -0.0 into 0.0.
