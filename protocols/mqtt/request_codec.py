"""Requests for moves and their answers: our values as JSON has them, and back, checked."""

import math
import reprlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import Cp, Info, Mate, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import payloads

DEFAULT_TIMEOUT_S = 60.0
# An error's message is shown up to this length.
MAX_ERROR_LENGTH = 300
CHESS = "chess"
# The options of a game that an engine is told at its beginning.
ADJUSTABLE_OPTIONS = ("size", "komi")
# Limits of a search that are counted, not timed.
COUNT_LIMITS = ("nodes", "depth", "playouts")


class RequestError(ValueError):
    """A request that cannot be understood; the message is short and plain."""

    def __init__(self, text: str) -> None:
        super().__init__(sanitize_line(text, MAX_ERROR_LENGTH))


@dataclass(frozen=True, slots=True)
class Variant:
    """What is played: chess, maybe Chess960, or another game with options of its class."""

    name: str = CHESS
    options: Mapping[str, Any] = field(default_factory=dict)
    chess960: bool = False


CHESS_VARIANT = Variant()


def public_name(game: str) -> str:
    """Return the name by which others ask for a game: of one of a file that of its class."""
    return game.rpartition(":")[2]


def options_equal(value: Any, other: Any) -> bool:
    """Tell whether two values of an option are the same for JSON, which has lists for tuples."""
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(options_equal, value, other))
    return bool(value == other)


def incompatibility(kind: Mapping[str, Any], variant: Variant) -> str:
    """Return what a bot of a kind, as its status shows it, cannot play of a variant, or nothing."""
    plays = sanitize_name(kind["name"])
    if plays != variant.name:
        return f"plays {plays}, not {variant.name}"
    own = kind.get("options", {})
    for name, value in variant.options.items():
        if name in own and name not in ADJUSTABLE_OPTIONS and not options_equal(value, own[name]):
            return sanitize_line(
                f"plays {plays} with {name}={reprlib.repr(own[name])}, not {reprlib.repr(value)}",
                MAX_ERROR_LENGTH,
            )
    return ""


def encode_variant(variant: Variant) -> dict[str, Any]:
    """Return a game and its options as JSON has them, as far as it can hold them."""
    return {"name": variant.name, "options": _plain_options(variant.options)}


def encode_request(request: SearchRequest, variant: Variant = CHESS_VARIANT) -> dict[str, Any]:
    """Return a request's game, position and limits as JSON has them."""
    limits: dict[str, Any] = {
        name: value
        for name in ("movetime", "moves_to_go", *COUNT_LIMITS)
        if (value := getattr(request, name)) is not None
    }
    for side, clock in (("white", request.white), ("black", request.black)):
        if clock is not None:
            limits[side] = {"time": clock.time, "increment": clock.increment}
    if variant.name != CHESS:
        return {"kind": encode_variant(variant), "moves": list(request.moves), "limits": limits}
    chess960 = {"chess960": True} if variant.chess960 else {}
    return {"fen": request.fen, "moves": list(request.moves), **chess960, "limits": limits}


def time_limit(payload: Mapping[str, Any], max_seconds: float) -> float:
    """Return how many seconds a valid request may take, where none may take over `longest`."""
    movetime = payload["limits"].get("movetime", 0)
    if movetime > max_seconds:
        raise RequestError(f"movetime {movetime:g}: this bot thinks {max_seconds:g} s at most")
    return min(float(payload.get("limit", DEFAULT_TIMEOUT_S)), max_seconds)


def parse_limits(limits: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the limits of a valid request as SearchRequest has them.

    known: those that the engine can be told beside times. RequestError for another, or for none.
    """
    if absent := [name for name in COUNT_LIMITS if name in limits and name not in known]:
        there = ", ".join(("movetime", "white and black clocks", *sorted(known)))
        raise RequestError(
            f"limits: the engine of this bot cannot be told {' or '.join(absent)}, but {there}"
        )
    white, black = _clock(limits.get("white")), _clock(limits.get("black"))
    counts = {name: _integer(limits.get(name)) for name in COUNT_LIMITS}
    movetime = limits.get("movetime")
    if (white is None or black is None) and movetime is None and not any(counts.values()):
        given = ", ".join(("movetime", *sorted(known)))
        raise RequestError(f"limits: give {given}, or white and black clocks")
    return {
        "white": white,
        "black": black,
        "moves_to_go": _integer(limits.get("moves_to_go")),
        "movetime": movetime,
        **counts,
    }


def encode_answer(answer: PlayResult) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    info = answer.info
    return {
        "move": answer.move,
        "ponder": answer.ponder,
        "time": answer.elapsed,
        "info": None
        if info is None
        else {
            "depth": info.depth,
            "cp": info.score.value if isinstance(info.score, Cp) else None,
            "mate": info.score.moves if isinstance(info.score, Mate) else None,
            "nodes": info.nodes,
            "pv": list(info.pv),
        },
    }


def parse_reply(reply: Mapping[str, Any], name: str, elapsed: float) -> PlayResult:
    """Return a bot's answer, which took so many seconds; EngineError if it has none."""
    if found := payloads.find_error("reply", reply):
        raise EngineError(f"bot {name}: its reply is not valid: {found[:MAX_ERROR_LENGTH]}")
    error: Any = reply.get("error")
    if not payloads.find_error("error", error):  # beside a move it may be anything
        kind = EngineTimeoutError if error["code"] == "time_limit" else EngineError
        raise kind(f"bot {name}: {error['code']}: {error['message'][:MAX_ERROR_LENGTH]}")
    return PlayResult(
        move=reply["move"],
        ponder=reply.get("ponder"),
        info=_info(reply["info"]),
        elapsed=elapsed,
    )


def _info(info: Mapping[str, Any] | None) -> Info[str] | None:
    if info is None:
        return None
    cp, mate = _integer(info.get("cp")), _integer(info.get("mate"))
    if cp is None and mate is None:
        return None
    return Info(
        depth=_integer(info.get("depth")) or 0,
        score=Mate(mate) if mate is not None else Cp(cp or 0),
        pv=tuple(info.get("pv", ())),
        nodes=_integer(info.get("nodes")) or 0,
    )


def _clock(clock: Mapping[str, Any] | None) -> SideClock | None:
    return None if clock is None else SideClock(clock["time"], clock.get("increment", 0.0))


def _integer(number: float | None) -> int | None:
    """Return a number that is whole as an int; JSON has 5.0 for 5 too."""
    return None if number is None else int(number)


def _plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are numbers, texts, switches, or lists of them."""

    def is_plain(value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(map(is_plain, value))
        return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))

    return {name: value for name, value in options.items() if is_plain(value)}
