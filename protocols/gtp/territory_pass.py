"""Passing instead of a move that only loses a point under territory rules.

The searches use area scoring, in which a stone in the player's own territory costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agent.backends import quick_dead_stone_judge
from agent.games.stones import PASS
from agent.kernel.backend import CompiledBackend
from agent.limits import Info, Limits, Result, SideClock
from agent.search.backend import GameBackend
from protocols.gtp.go_board import GtpGoBoard

# A probe of PROBE_PLAYOUTS decides whether to pass. The probe and the judgement of dead stones each
# get the fraction PROBE_SHARE of the move's time. That time is estimated as the main time /
# MAIN_TIME_DIVISOR.
PROBE_PLAYOUTS, PROBE_SHARE, MAIN_TIME_DIVISOR = 5000, 0.1, 40
MIN_PROBE_PLAYOUTS, MAX_PASS_COST = 100, 0.2
# The number of playouts in agent.go.dead_stones, which can only be imported with the kernels.
_JUDGING_PLAYOUTS = 2000


def without_probe_time(clock: SideClock, movetime: float | None) -> tuple[SideClock, float | None]:
    """Return the time limits of a search after which a probe and a judgement may follow."""
    search_share = 1 - 2 * PROBE_SHARE
    if clock.overtime:
        period = search_share * clock.overtime.seconds
        clock = replace(clock, overtime=replace(clock.overtime, seconds=period))
    return clock, None if movetime is None else search_share * movetime


def pass_instead_of_wasted_move(
    board: GtpGoBoard,
    player: int,
    result: Result[Any],
    limits: Limits[Any],
    backend: GameBackend[Any] | CompiledBackend[Any],
    threads: int,
    probe: Callable[[float], Info[Any] | None],
) -> Result[Any]:
    """Return the result of a search, or a pass if the chosen move would only lose a point.

    `limits` and `threads` are those of the search. `probe` searches for the opponent, after a pass,
    for a number of seconds.
    """
    move, info = result.move, result.info
    if not board.rules.territory or board.game.capture_dead_stones:
        return result
    pass_allowed = not limits.search_moves or PASS in limits.search_moves
    if move is None or move == PASS or not pass_allowed or info is None:
        return result
    if info.expected_outcome is None or info.ownership is None:
        return result
    if not board.is_wasted_move(player, move, info.ownership):
        return result
    seconds = PROBE_SHARE * _move_time(limits)
    reply = probe(seconds)
    result = replace(result, planned_time=None)  # The probe has taken longer than planned.
    if reply is None or reply.expected_outcome is None or reply.ownership is None:
        return result
    if (
        reply.nodes < MIN_PROBE_PLAYOUTS
        or info.expected_outcome + reply.expected_outcome > MAX_PASS_COST
    ):
        return result
    before = board.territory_lead(player, player, info.ownership)
    after = board.territory_lead(player, 1 - player, reply.ownership)
    # The judgement runs on one thread, while the probe ran on all threads.
    judging = _JUDGING_PLAYOUTS * threads * reply.time
    if after < before or judging > seconds * reply.nodes:
        return result
    # The opponent may pass too, so the final score must match the search's expectation. The quick
    # judge only uses playouts, whose time is known.
    statuses = quick_dead_stone_judge(backend, board.game)(board.game)
    end = -board.result(statuses) if player else board.result(statuses)
    return replace(result, move=PASS) if end == before else result


def _move_time(limits: Limits[Any]) -> float:
    clock = limits.clock
    if clock is None:
        return 0.0
    if clock.time <= 0 and clock.overtime is not None:
        return clock.overtime.seconds / clock.overtime.moves
    seconds = clock.time / MAIN_TIME_DIVISOR + clock.increment
    return seconds if limits.movetime is None else min(seconds, limits.movetime)
