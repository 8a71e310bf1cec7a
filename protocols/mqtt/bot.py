"""A bot behind a broker: it answers requests for moves, one at a time, within its limits.

A request names the topic on which it wants its reply and an id that the reply repeats. Every
request gets exactly one reply: a move, or an error with a code: `bad_request` (it cannot be
understood), `busy` (too many wait), `time_limit` (its own limit ran out), `engine` (the engine
failed).
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import chess

from agent.limits import Cp, Info, Mate, SideClock
from protocols.client.engine import EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import Answer, SearchRequest
from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection

QUEUE_LIMIT = 16
LONGEST_SEARCH = 3600.0
DEFAULT_LIMIT = 60.0


class Thinker(Protocol):
    """What a bot thinks with."""

    async def new_game(self) -> None:
        """Forget the last game."""

    async def search(self, request: SearchRequest, limit: float) -> Answer:
        """Choose a move within `limit` seconds, or raise EngineError."""


class RequestError(ValueError):
    """A request that cannot be understood."""


class Bot:
    """Answers the requests that arrive under one name."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        description: str,
        think: Callable[[], Awaitable[Thinker]],
        *,
        queue_limit: int = QUEUE_LIMIT,
    ) -> None:
        """Prepare to answer as `name`.

        think: gives the engine to use, a fresh one after an engine's failure.
        """
        self._loop = asyncio.get_running_loop()
        self._think = think
        self._game = ""
        self._requests: asyncio.Queue[tuple[dict[str, Any], float]] = asyncio.Queue(queue_limit)
        self._status = topics.bot(name, "status")
        self._connection = Connection(
            broker,
            will=(self._status, {"name": name, "state": "lost"}),
            subscriptions=[topics.bot(name, "requests")],
            on_message=self._receive,
        )
        self._offline = {"name": name, "state": "offline"}
        self._connection.snapshot(
            self._status, {"name": name, "state": "online", "engine": description}
        )

    async def serve(self) -> None:
        """Answer until cancelled."""
        try:
            while True:
                request, arrived = await self._requests.get()
                await self._answer(request, arrived)
        finally:
            self._connection.snapshot(self._status, self._offline)
            await asyncio.to_thread(self._connection.close)

    def _receive(self, topic: str, payload: dict[str, Any] | None) -> None:
        if payload is not None and _reply_topic(payload) is not None:
            self._loop.call_soon_threadsafe(self._enqueue, payload)

    def _enqueue(self, request: dict[str, Any]) -> None:
        try:
            self._requests.put_nowait((request, time.monotonic()))
        except asyncio.QueueFull:
            self._fail(request, "busy", f"{self._requests.maxsize} requests wait already")

    async def _answer(self, payload: dict[str, Any], arrived: float) -> None:
        try:
            request, limit = parse_request(payload)
        except RequestError as error:
            self._fail(payload, "bad_request", str(error))
            return
        left = limit - (time.monotonic() - arrived)
        if left <= 0:
            self._fail(payload, "time_limit", f"waited longer than its {limit:g} s")
            return
        try:
            async with asyncio.timeout(left):
                answer = await self._search(str(payload.get("game", "")), request, left)
        except (EngineTimeoutError, TimeoutError):
            self._game = ""
            self._fail(payload, "time_limit", f"no move within {limit:g} s")
        except EngineError as error:
            self._game = ""
            self._fail(payload, "engine", str(error))
        else:
            self._reply(payload, encode_answer(answer))

    async def _search(self, game: str, request: SearchRequest, limit: float) -> Answer:
        engine = await self._think()
        if game != self._game or not game:
            await engine.new_game()
            self._game = game
        return await engine.search(request, limit)

    def _fail(self, request: Mapping[str, Any], code: str, message: str) -> None:
        self._reply(request, {"error": {"code": code, "message": message}})

    def _reply(self, request: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        topic = _reply_topic(request)
        if topic is not None:
            self._connection.message(topic, {"id": request.get("id"), **reply})


class BotClient:
    """Asks bots for moves."""

    def __init__(self, broker: Broker) -> None:
        """Connect, with a reply topic of its own."""
        self._loop = asyncio.get_running_loop()
        self._replies = topics.replies(secrets.token_hex(8))
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._online: dict[str, asyncio.Event] = {}
        self._connection = Connection(
            broker,
            subscriptions=[self._replies, topics.bot("+", "status")],
            on_message=lambda topic, payload: self._post(topic, payload),
        )

    async def wait_for(self, name: str, limit: float) -> None:
        """Return when the bot is online; EngineTimeoutError after `limit` seconds."""
        try:
            async with asyncio.timeout(limit):
                await self._online.setdefault(name, asyncio.Event()).wait()
        except TimeoutError:
            problem = f" (broker: {self._connection.problem})" if self._connection.problem else ""
            raise EngineTimeoutError(
                f"bot {name} is not online after {limit:g} s{problem}"
            ) from None

    async def ask(self, name: str, game: str, request: SearchRequest, limit: float) -> Answer:
        """Return the bot's move; EngineTimeoutError after `limit` seconds, or its own error."""
        number = secrets.token_hex(8)
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting[number] = future
        payload = {"id": number, "reply_to": self._replies, "game": game, "limit": limit}
        began = time.perf_counter()
        try:
            self._connection.message(
                topics.bot(name, "requests"), {**payload, **encode_request(request)}
            )
            async with asyncio.timeout(limit):
                reply = await future
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name}: no answer within {limit:.3g} s") from None
        finally:
            del self._waiting[number]
        return _parse_reply(reply, name, time.perf_counter() - began)

    async def close(self) -> None:
        """Disconnect."""
        await asyncio.to_thread(self._connection.close)

    def _post(self, topic: str, payload: dict[str, Any] | None) -> None:
        if payload is not None:
            self._loop.call_soon_threadsafe(self._receive, topic, payload)

    def _receive(self, topic: str, payload: dict[str, Any]) -> None:
        if topic == self._replies:
            future = self._waiting.get(str(payload.get("id")))
            if future is not None and not future.done():
                future.set_result(payload)
            return
        online = self._online.setdefault(topic.split("/")[-2], asyncio.Event())
        if payload.get("state") == "online":
            online.set()
        else:
            online.clear()


def encode_request(request: SearchRequest) -> dict[str, Any]:
    """Return a request's position and limits as JSON has them."""
    limits: dict[str, Any] = {
        name: value
        for name in ("movetime", "nodes", "depth", "moves_to_go")
        if (value := getattr(request, name)) is not None
    }
    for side, clock in (("white", request.white), ("black", request.black)):
        if clock is not None:
            limits[side] = {"time": clock.time, "increment": clock.increment}
    return {"fen": request.fen, "moves": list(request.moves), "limits": limits}


def parse_request(payload: Mapping[str, Any]) -> tuple[SearchRequest, float]:
    """Return a request and its time limit in seconds, checked; RequestError says what is wrong."""
    fen, moves = payload.get("fen"), payload.get("moves", [])
    limits = payload.get("limits", {})
    if not isinstance(moves, list) or not isinstance(limits, dict):
        raise RequestError("moves is a list, limits an object")
    try:
        board = chess.Board(fen, chess960=bool(payload.get("chess960"))) if fen else chess.Board()
        if not board.is_valid():
            raise RequestError(f"not a legal position: {fen}")
        for move in moves:
            board.push_uci(str(move))
    except (ValueError, TypeError, AttributeError) as error:
        raise RequestError(str(error)) from None
    if not any(board.generate_legal_moves()):
        raise RequestError("the game is over: no legal move")
    request = SearchRequest(
        fen=fen or None,
        moves=tuple(str(move) for move in moves),
        white=_parse_clock(limits.get("white")),
        black=_parse_clock(limits.get("black")),
        moves_to_go=_whole(limits, "moves_to_go"),
        movetime=_seconds(limits, "movetime"),
        nodes=_whole(limits, "nodes"),
        depth=_whole(limits, "depth"),
    )
    limit = _seconds(payload, "limit") or DEFAULT_LIMIT
    if request.go_line() == "go":
        raise RequestError("limits: give movetime, nodes, depth, or white and black clocks")
    return request, min(limit, LONGEST_SEARCH)


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


def _parse_reply(reply: Mapping[str, Any], name: str, elapsed: float) -> Answer:
    error = reply.get("error")
    if isinstance(error, Mapping):
        kind = EngineTimeoutError if error.get("code") == "time_limit" else EngineError
        raise kind(f"bot {name}: {error.get('code')}: {error.get('message')}")
    return Answer(
        move=str(reply.get("move", "")),
        ponder=reply.get("ponder"),
        info=_parse_info(reply.get("info")),
        elapsed=elapsed,
    )


def _parse_info(info: object) -> Info[str] | None:
    if not isinstance(info, Mapping):
        return None
    cp, mate = info.get("cp"), info.get("mate")
    if not isinstance(cp, int) and not isinstance(mate, int):
        return None
    pv = info.get("pv")
    return Info(
        depth=_whole(info, "depth") or 0,
        score=Mate(mate) if isinstance(mate, int) else Cp(int(cp or 0)),
        pv=tuple(map(str, pv)) if isinstance(pv, list) else (),
        nodes=_whole(info, "nodes") or 0,
    )


def _parse_clock(clock: object) -> SideClock | None:
    if clock is None:
        return None
    if not isinstance(clock, Mapping):
        raise RequestError("a clock is an object with time and increment")
    return SideClock(_seconds(clock, "time") or 0.0, _seconds(clock, "increment") or 0.0)


def _seconds(values: Mapping[str, Any], name: str) -> float | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise RequestError(f"{name}: seconds are expected, not {value!r}")
    return float(value)


def _whole(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RequestError(f"{name}: a whole number is expected, not {value!r}")
    return value


def _reply_topic(request: Mapping[str, Any]) -> str | None:
    """Return where a request wants its reply, if that is a place for replies."""
    topic = request.get("reply_to")
    valid = isinstance(topic, str) and topic.startswith(topics.replies(""))
    return topic if valid and not set(str(topic)) & set("+#\0") else None
