"""Encode and decode move requests and replies as JSON payloads."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules
from agent.io.sanitize import sanitize_line, sanitize_name
from agent.io.strict_json import quote_value
from agent.limits import Cp, Info, Mate, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import payloads

DEFAULT_TIMEOUT_S = 60.0
# Longer error messages are truncated.
MAX_ERROR_LENGTH = 300
CHESS = "chess"
# Game options that can be set in an engine before a game.
ADJUSTABLE_OPTIONS = ("size", "komi")
# Search limits other than time limits.
COUNT_LIMITS = ("nodes", "depth", "playouts")


class BotUnavailableError(EngineError):
    """The bot cannot answer now: it is too busy, or its engine does not start."""


# Other codes of a bot's error reply mean that its engine failed, or that the request is invalid.
ERROR_CLASSES: Mapping[str, type[EngineError]] = {
    "time_limit": EngineTimeoutError,
    "busy": BotUnavailableError,
    "not_started": BotUnavailableError,
}


class RequestError(ValueError):
    """A request is invalid. The message is one short printable line."""

    def __init__(self, text: str) -> None:
        super().__init__(sanitize_line(text, MAX_ERROR_LENGTH))


@dataclass(frozen=True, slots=True)
class GameVariant:
    """A game with its options, and the rules of a game of chess. The default is standard chess."""

    name: str = CHESS
    options: Mapping[str, Any] = field(default_factory=dict)
    rules: ChessRules = STANDARD_RULES


CHESS_VARIANT = GameVariant()


def public_name(game: str) -> str:
    """Return a game's name, or CLASS for a game of the form FILE.py:CLASS."""
    return game.rpartition(":")[2]


def options_equal(value: Any, other: Any) -> bool:
    """Return whether two option values are equal in JSON. A tuple equals a list."""
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(options_equal, value, other))
    return bool(value == other)


def incompatibility(kind: Mapping[str, Any], variant: GameVariant) -> str:
    """Return why a bot of the given kind cannot play a variant, or "" if it can play it."""
    plays = sanitize_name(kind["name"])
    if plays != variant.name:
        return f"plays {plays}, not {variant.name}"
    own_options = kind.get("options", {})
    for name, value in variant.options.items():
        if name not in own_options or name in ADJUSTABLE_OPTIONS:
            continue
        own = own_options[name]
        if not options_equal(value, own):
            return sanitize_line(
                f"plays {plays} with {name}={quote_value(own)}, not {quote_value(value)}",
                MAX_ERROR_LENGTH,
            )
    return ""


def encode_variant(variant: GameVariant) -> dict[str, Any]:
    """Return a game and its options as JSON, without options that JSON cannot represent."""
    return {"name": variant.name, "options": _plain_options(variant.options)}


def encode_request(request: SearchRequest, variant: GameVariant = CHESS_VARIANT) -> dict[str, Any]:
    """Return a request's game, position and limits as JSON."""
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
    rules: dict[str, Any] = {"chess960": True} if variant.rules.chess960 else {}
    if variant.rules.variant != STANDARD:
        rules["variant"] = variant.rules.variant
    return {"fen": request.fen, "moves": list(request.moves), **rules, "limits": limits}


def time_limit(payload: Mapping[str, Any], max_seconds: float) -> float:
    """Return a request's time limit in seconds, at most `max_seconds`.

    Raise RequestError if the move time exceeds `max_seconds`.
    """
    movetime = payload["limits"].get("movetime", 0)
    if movetime > max_seconds:
        raise RequestError(f"movetime: must be at most {max_seconds:g} s (got {movetime:g})")
    return min(float(payload.get("limit", DEFAULT_TIMEOUT_S)), max_seconds)


def parse_limits(limits: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the limits of a valid request as arguments for SearchRequest.

    Raise RequestError if limits are missing or not in `known`. Time limits are always supported.
    """
    if unsupported := [name for name in COUNT_LIMITS if name in limits and name not in known]:
        supported = ", ".join(("movetime", "white and black clocks", *sorted(known)))
        raise RequestError(
            f"limits: {', '.join(unsupported)} not supported (this bot supports {supported})"
        )
    white, black = _clock(limits.get("white")), _clock(limits.get("black"))
    counts = {name: _integer(limits.get(name)) for name in COUNT_LIMITS}
    movetime = limits.get("movetime")
    if (white is None or black is None) and movetime is None and not any(counts.values()):
        expected = ", ".join(("movetime", *sorted(known)))
        raise RequestError(f"limits: missing (expected {expected}, or white and black clocks)")
    return {
        "white": white,
        "black": black,
        "moves_to_go": _integer(limits.get("moves_to_go")),
        "movetime": movetime,
        **counts,
    }


def encode_answer(answer: PlayResult) -> dict[str, Any]:
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
    """Return the move in a bot's reply. Raise EngineError if it is an error or invalid."""
    if problem := payloads.find_error("reply", reply):
        raise EngineError(f"bot {name}: invalid reply: {problem[:MAX_ERROR_LENGTH]}")
    error: Any = reply.get("error")
    if not payloads.find_error("error", error):  # An invalid error beside a move is ignored.
        error_class = ERROR_CLASSES.get(error["code"], EngineError)
        raise error_class(f"bot {name}: {error['code']}: {error['message'][:MAX_ERROR_LENGTH]}")
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
    """Convert an integral JSON number such as 5.0 to an integer."""
    return None if number is None else int(number)


def _plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    def is_plain(value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(map(is_plain, value))
        return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))

    return {name: value for name, value in options.items() if is_plain(value)}
