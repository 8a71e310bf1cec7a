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
from protocols.client.uci import PlayResult, SearchRequest
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.broker_monitor import (
    BROKER_TIMEOUT_S,
    BrokerMonitor,
    Notify,
    PausableStopwatch,
    PeerPresence,
)
from protocols.mqtt.connection import Connection
from protocols.mqtt.request_codec import (
    CHESS_VARIANT,
    Variant,
    encode_request,
    encode_variant,
    incompatibility,
    parse_reply,
)

# Within so many seconds a bot finds the broker again that is back.
BOT_RETURN_TIMEOUT_S = 5.0
# More bots than this are not heard of.
MAX_KNOWN_BOTS = 10_000


@dataclass
class _BotStatus:
    """A bot as its status shows it. kind: the game; mark: its run, and which connection of that."""

    online: asyncio.Event = field(default_factory=asyncio.Event)
    presence: PeerPresence = field(default_factory=PeerPresence)
    run_mark: tuple[Any, Any] | None = None
    kind: Mapping[str, Any] = field(default_factory=lambda: encode_variant(CHESS_VARIANT))
    return_timer: asyncio.TimerHandle | None = None


@dataclass
class _PendingRequest:
    """A request that waits for its reply."""

    name: str
    reply: "asyncio.Future[dict[str, Any]]"


class BotClient:
    """Asks bots for moves."""

    def __init__(
        self, broker: Broker, *, patience: float = BROKER_TIMEOUT_S, tell: Notify | None = None
    ) -> None:
        """Connect, with a reply topic of its own.

        patience: seconds for which the broker may be away; tell: takes sentences about it.
        """
        self._loop = asyncio.get_running_loop()
        self._monitor = BrokerMonitor(broker, patience=patience, tell=tell)
        self._monitor.on_change = self._on_broker_change
        self._replies = topics.replies(secrets.token_hex(8))
        self._pending: dict[str, _PendingRequest] = {}
        self._bots: dict[str, _BotStatus] = {}
        self._connection = Connection(
            broker,
            subscriptions=[self._replies, topics.bot("+", "status")],
            on_message=self._on_message,
            on_broker_change=self._monitor.on_connection_change,
            on_rejected=lambda *refusal: self._monitor.call_in_loop(self._on_rejected, *refusal),
            keep_session=True,
            use_heartbeat=True,
        )

    async def wait_for_broker(self) -> None:
        """Return when the broker is there, or raise BrokerLostError."""
        await self._monitor.wait_for_broker()

    async def wait_for_bot(self, name: str, limit: float, variant: Variant = CHESS_VARIANT) -> None:
        """Return when the bot is online; EngineTimeoutError after `limit` seconds.

        EngineOptionError if it plays another game, or with other options.
        """
        broker = self._monitor.presence
        online = asyncio.ensure_future(self._bot(name).online.wait())
        try:
            await self._monitor.wait_for(online, broker, PausableStopwatch(broker), limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name} is not online after {limit:g} s") from None
        finally:
            online.cancel()
        if found := incompatibility(self._bot(name).kind, variant):
            raise EngineOptionError(f"bot {name} {found}")

    async def request_move(
        self,
        name: str,
        game: str,
        request: SearchRequest,
        limit: float,
        variant: Variant = CHESS_VARIANT,
    ) -> PlayResult:
        """Return the bot's move; EngineTimeoutError after `limit` seconds, or its own error."""
        number = secrets.token_hex(8)
        question = _PendingRequest(name, self._loop.create_future())
        self._pending[number] = question
        presence = self._bot(name).presence
        watch = PausableStopwatch(presence)
        payload = {"id": number, "reply_to": self._replies, "game": game, "limit": limit}
        payload |= encode_request(request, variant)
        try:
            self._connection.publish_persistent(number, topics.bot(name, "requests"), payload)
            await self._monitor.wait_for(question.reply, presence, watch, limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name}: no answer within {limit:.3g} s") from None
        finally:
            self._connection.cancel_persistent(number)
            del self._pending[number]
        return parse_reply(question.reply.result(), name, watch.elapsed)

    async def close(self) -> None:
        """Disconnect."""
        for bot in self._bots.values():
            if bot.return_timer is not None:
                bot.return_timer.cancel()
        await asyncio.to_thread(self._connection.close)

    def _bot(self, name: str) -> _BotStatus:
        if name not in self._bots:
            bot = self._bots[name] = _BotStatus()
            if self._monitor.presence.present:
                bot.presence.set_present()
        return self._bots[name]

    def _on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Take a message, in the connection's thread."""
        if payload is None:
            return
        if topic == self._replies:
            self._monitor.call_in_loop(self._on_reply, payload)
        elif not payloads.find_error("bot", payload):
            self._monitor.call_in_loop(self._on_status, topic.split("/")[-2], payload)

    def _on_reply(self, payload: dict[str, Any]) -> None:
        number = payload.get("id")
        question = self._pending.get(number) if isinstance(number, str) else None
        if question is not None and not question.reply.done():
            question.reply.set_result(payload)

    def _on_status(self, name: str, payload: dict[str, Any]) -> None:
        """Take a bot's status; one that is back is asked again what it has not answered."""
        if payload.get("claim") or (name not in self._bots and len(self._bots) >= MAX_KNOWN_BOTS):
            return
        bot = self._bot(name)
        if payload["state"] != "online":
            bot.online.clear()
            return
        bot.kind = payload.get("kind", encode_variant(CHESS_VARIANT))
        bot.online.set()
        run_mark = payload.get("run"), payload.get("connection")
        if run_mark != bot.run_mark or run_mark[0] is None:
            self._mark_present(bot)
            for number, question in self._pending.items():
                if question.name == name:
                    self._connection.republish(number)
        bot.run_mark = run_mark

    def _on_broker_change(self, connected: bool, since: float) -> None:
        for bot in self._bots.values():
            if bot.return_timer is not None:
                bot.return_timer.cancel()
            if connected:
                bot.return_timer = self._loop.call_later(
                    BOT_RETURN_TIMEOUT_S, self._mark_present, bot
                )
            else:
                bot.online.clear()
                bot.presence.set_absent(since)

    def _mark_present(self, bot: _BotStatus) -> None:
        if self._monitor.presence.present:
            bot.presence.set_present()

    def _on_rejected(self, topic: str, reason: str) -> None:
        for question in self._pending.values():
            if topics.bot(question.name, "requests") == topic and not question.reply.done():
                error = EngineError(
                    f"bot {question.name}: the broker does not let us ask: {reason}"
                )
                question.reply.set_exception(error)
