"""Requests for moves and their answers: our values as JSON has them, and back, checked."""

from collections.abc import Mapping
from typing import Any

import chess

from agent.limits import Cp, Info, Mate, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import Answer, SearchRequest
from protocols.mqtt import payloads

DEFAULT_LIMIT = 60.0
# An error's message is shown up to this length.
SHOWN = 300


class RequestError(ValueError):
    """A request that cannot be understood."""


def encode_request(request: SearchRequest, *, chess960: bool = False) -> dict[str, Any]:
    """Return a request's position and limits as JSON has them."""
    limits: dict[str, Any] = {
        name: value
        for name in ("movetime", "nodes", "depth", "moves_to_go")
        if (value := getattr(request, name)) is not None
    }
    for side, clock in (("white", request.white), ("black", request.black)):
        if clock is not None:
            limits[side] = {"time": clock.time, "increment": clock.increment}
    variant = {"chess960": True} if chess960 else {}
    return {"fen": request.fen, "moves": list(request.moves), **variant, "limits": limits}


def time_limit(payload: Mapping[str, Any], longest: float) -> float:
    """Return how many seconds a valid request may take, where none may take over `longest`."""
    movetime = payload["limits"].get("movetime", 0)
    if movetime > longest:
        raise RequestError(f"movetime {movetime:g}: this bot thinks {longest:g} s at most")
    return min(float(payload.get("limit", DEFAULT_LIMIT)), longest)


def parse_request(payload: Mapping[str, Any]) -> SearchRequest:
    """Return what a valid request asks for; RequestError if it is not to be had.

    The position and the moves are spelled as we spell them, so that no engine reads another
    position in them than was checked here.
    """
    chess960 = payload.get("chess960", False)
    fen = payload.get("fen")
    moves = []
    try:
        board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
        if not board.is_valid():
            raise RequestError(f"not a legal position: {fen}")
        start = None if fen is None else board.fen(shredder=chess960)
        for text in payload.get("moves", ()):
            move = board.parse_uci(text)
            moves.append(board.uci(move))
            board.push(move)
    except (ValueError, IndexError) as error:
        raise RequestError(str(error)) from None
    if not any(board.generate_legal_moves()):
        raise RequestError("the game is over: no legal move")
    limits = payload["limits"]
    request = SearchRequest(
        fen=start,
        moves=tuple(moves),
        white=_clock(limits.get("white")),
        black=_clock(limits.get("black")),
        moves_to_go=_whole(limits.get("moves_to_go")),
        movetime=limits.get("movetime"),
        nodes=_whole(limits.get("nodes")),
        depth=_whole(limits.get("depth")),
        side=0 if board.turn else 1,
    )
    clocks = request.white is not None and request.black is not None
    if not clocks and request.movetime is request.nodes is request.depth is None:
        raise RequestError("limits: give movetime, nodes, depth, or white and black clocks")
    return request


def encode_answer(answer: Answer) -> dict[str, Any]:
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


def parse_reply(reply: Mapping[str, Any], name: str, elapsed: float) -> Answer:
    """Return a bot's answer, which took so many seconds; EngineError if it has none."""
    if found := payloads.problem("reply", reply):
        raise EngineError(f"bot {name}: its reply is not valid: {found[:SHOWN]}")
    error: Any = reply.get("error")
    if not payloads.problem("error", error):  # beside a move it may be anything
        kind = EngineTimeoutError if error["code"] == "time_limit" else EngineError
        raise kind(f"bot {name}: {error['code']}: {error['message'][:SHOWN]}")
    return Answer(
        move=reply["move"],
        ponder=reply.get("ponder"),
        info=_info(reply["info"]),
        elapsed=elapsed,
    )


def _info(info: Mapping[str, Any] | None) -> Info[str] | None:
    if info is None:
        return None
    cp, mate = _whole(info.get("cp")), _whole(info.get("mate"))
    if cp is None and mate is None:
        return None
    return Info(
        depth=_whole(info.get("depth")) or 0,
        score=Mate(mate) if mate is not None else Cp(cp or 0),
        pv=tuple(info.get("pv", ())),
        nodes=_whole(info.get("nodes")) or 0,
    )


def _clock(clock: Mapping[str, Any] | None) -> SideClock | None:
    return None if clock is None else SideClock(clock["time"], clock.get("increment", 0.0))


def _whole(number: float | None) -> int | None:
    """Return a number that is whole as an int; JSON has 5.0 for 5 too."""
    return None if number is None else int(number)
