"""Asks bots for moves, by an id, again and again until they answer.

Time in which the broker is away is nobody's: a request waits for it, up to the patience that the
link has, and so does the clock of the bot that is asked. When the broker is back, a bot that has
not shown itself again gets a moment for that too.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.client.engine import EngineOptionError, EngineTimeoutError
from protocols.client.process import EngineError
from protocols.client.uci import Answer, SearchRequest
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from protocols.mqtt.link import PATIENCE, Link, Presence, Stopwatch, Tell
from protocols.mqtt.requests import (
    CHESS_VARIANT,
    Variant,
    difference,
    encode_kind,
    encode_request,
    parse_reply,
)

# Within so many seconds a bot finds the broker again that is back.
RETURN = 5.0
# More bots than this are not heard of.
KNOWN = 10_000


@dataclass
class _Known:
    """A bot as its status shows it. kind: the game; mark: its run, and which connection of that."""

    online: asyncio.Event = field(default_factory=asyncio.Event)
    presence: Presence = field(default_factory=Presence)
    mark: tuple[Any, Any] | None = None
    kind: Mapping[str, Any] = field(default_factory=lambda: encode_kind(CHESS_VARIANT))
    returning: asyncio.TimerHandle | None = None


@dataclass
class _Question:
    """A request that waits for its reply."""

    name: str
    reply: "asyncio.Future[dict[str, Any]]"


class BotClient:
    """Asks bots for moves."""

    def __init__(
        self, broker: Broker, *, patience: float = PATIENCE, tell: Tell | None = None
    ) -> None:
        """Connect, with a reply topic of its own.

        patience: seconds for which the broker may be away; tell: takes sentences about it.
        """
        self._loop = asyncio.get_running_loop()
        self._link = Link(broker, patience=patience, tell=tell)
        self._link.on_change = self._broker_changed
        self._replies = topics.replies(secrets.token_hex(8))
        self._questions: dict[str, _Question] = {}
        self._known: dict[str, _Known] = {}
        self._connection = Connection(
            broker,
            subscriptions=[self._replies, topics.bot("+", "status")],
            on_message=self._hear,
            on_link=self._link.report,
            on_refused=lambda *refusal: self._link.post(self._refused, *refusal),
            keep_session=True,
            watchful=True,
        )

    async def wait_for_broker(self) -> None:
        """Return when the broker is there, or raise BrokerLostError."""
        await self._link.wait_for_broker()

    async def wait_for(self, name: str, limit: float, variant: Variant = CHESS_VARIANT) -> None:
        """Return when the bot is online; EngineTimeoutError after `limit` seconds.

        EngineOptionError if it plays another game, or with other options.
        """
        broker = self._link.presence
        online = asyncio.ensure_future(self._bot(name).online.wait())
        try:
            await self._link.wait_for(online, broker, Stopwatch(broker), limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name} is not online after {limit:g} s") from None
        finally:
            online.cancel()
        if found := difference(self._bot(name).kind, variant):
            raise EngineOptionError(f"bot {name} {found}")

    async def ask(
        self,
        name: str,
        game: str,
        request: SearchRequest,
        limit: float,
        variant: Variant = CHESS_VARIANT,
    ) -> Answer:
        """Return the bot's move; EngineTimeoutError after `limit` seconds, or its own error."""
        number = secrets.token_hex(8)
        question = _Question(name, self._loop.create_future())
        self._questions[number] = question
        presence = self._bot(name).presence
        watch = Stopwatch(presence)
        payload = {"id": number, "reply_to": self._replies, "game": game, "limit": limit}
        payload |= encode_request(request, variant)
        try:
            self._connection.stand(number, topics.bot(name, "requests"), payload)
            await self._link.wait_for(question.reply, presence, watch, limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name}: no answer within {limit:.3g} s") from None
        finally:
            self._connection.withdraw(number)
            del self._questions[number]
        return parse_reply(question.reply.result(), name, watch.elapsed)

    async def close(self) -> None:
        """Disconnect."""
        for bot in self._known.values():
            if bot.returning is not None:
                bot.returning.cancel()
        await asyncio.to_thread(self._connection.close)

    def _bot(self, name: str) -> _Known:
        if name not in self._known:
            bot = self._known[name] = _Known()
            if self._link.presence.there:
                bot.presence.come()
        return self._known[name]

    def _hear(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Take a message, in the connection's thread."""
        if payload is None:
            return
        if topic == self._replies:
            self._link.post(self._answered, payload)
        elif not payloads.problem("bot", payload):
            self._link.post(self._showed, topic.split("/")[-2], payload)

    def _answered(self, payload: dict[str, Any]) -> None:
        number = payload.get("id")
        question = self._questions.get(number) if isinstance(number, str) else None
        if question is not None and not question.reply.done():
            question.reply.set_result(payload)

    def _showed(self, name: str, payload: dict[str, Any]) -> None:
        """Take a bot's status; one that is back is asked again what it has not answered."""
        if payload.get("claim") or (name not in self._known and len(self._known) >= KNOWN):
            return
        bot = self._bot(name)
        if payload["state"] != "online":
            bot.online.clear()
            return
        bot.kind = payload.get("kind", encode_kind(CHESS_VARIANT))
        bot.online.set()
        mark = payload.get("run"), payload.get("connection")
        if mark != bot.mark or mark[0] is None:
            self._came_back(bot)
            for number, question in self._questions.items():
                if question.name == name:
                    self._connection.repeat(number)
        bot.mark = mark

    def _broker_changed(self, there: bool, since: float) -> None:
        for bot in self._known.values():
            if bot.returning is not None:
                bot.returning.cancel()
            if there:
                bot.returning = self._loop.call_later(RETURN, self._came_back, bot)
            else:
                bot.online.clear()
                bot.presence.leave(since)

    def _came_back(self, bot: _Known) -> None:
        if self._link.presence.there:
            bot.presence.come()

    def _refused(self, topic: str, reason: str) -> None:
        for question in self._questions.values():
            if topics.bot(question.name, "requests") == topic and not question.reply.done():
                error = EngineError(
                    f"bot {question.name}: the broker does not let us ask: {reason}"
                )
                question.reply.set_exception(error)
