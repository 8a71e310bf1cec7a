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
    GameVariant,
    encode_request,
    encode_variant,
    incompatibility,
    parse_reply,
)

# After the broker is back, a bot counts as absent if it is not online within this time.
BOT_RETURN_TIMEOUT_S = 5.0
# Additional bots, and statuses that are longer in JSON, are ignored.
MAX_KNOWN_BOTS = 1_000
MAX_STATUS_LENGTH = 1 << 16


@dataclass
class _BotStatus:
    """The last known status of a bot. `run_mark` identifies its run and connection."""

    online: asyncio.Event = field(default_factory=asyncio.Event)
    presence: PeerPresence = field(default_factory=PeerPresence)
    run_mark: tuple[Any, Any] | None = None
    kind: Mapping[str, Any] = field(default_factory=lambda: encode_variant(CHESS_VARIANT))
    return_timer: asyncio.TimerHandle | None = None


@dataclass
class _PendingRequest:
    name: str
    reply: "asyncio.Future[dict[str, Any]]"


class BotClient:
    """Requests moves from bots, and repeats each request until it is answered.

    While the broker is disconnected, the time limits of the bots are paused.
    """

    def __init__(
        self, broker: Broker, *, patience: float = BROKER_TIMEOUT_S, tell: Notify | None = None
    ) -> None:
        """Connect to the broker. `patience` is the timeout in seconds for a lost connection."""
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
        """Wait until the broker is connected. Raise BrokerLostError if the broker is lost."""
        await self._monitor.wait_for_broker()

    async def wait_for_bot(
        self, name: str, limit: float, variant: GameVariant = CHESS_VARIANT
    ) -> None:
        """Wait until a bot is online.

        Raise EngineTimeoutError after `limit` seconds, and EngineOptionError if the bot cannot play
        the game `variant`.
        """
        broker = self._monitor.presence
        online = asyncio.ensure_future(self._bot(name).online.wait())
        try:
            await self._monitor.wait_for(online, broker, PausableStopwatch(broker), limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name}: not online after {limit:g} s") from None
        finally:
            online.cancel()
        if problem := incompatibility(self._bot(name).kind, variant):
            raise EngineOptionError(f"bot {name} {problem}")

    async def request_move(
        self,
        name: str,
        game: str,
        request: SearchRequest,
        limit: float,
        variant: GameVariant = CHESS_VARIANT,
    ) -> PlayResult:
        """Return a bot's move.

        Raise EngineTimeoutError after `limit` seconds, and EngineError if the request is rejected.
        """
        request_id = secrets.token_hex(8)
        pending = _PendingRequest(name, self._loop.create_future())
        self._pending[request_id] = pending
        presence = self._bot(name).presence
        watch = PausableStopwatch(presence)
        payload = {"id": request_id, "reply_to": self._replies, "game": game, "limit": limit}
        payload |= encode_request(request, variant)
        try:
            self._connection.publish_persistent(request_id, topics.bot(name, "requests"), payload)
            await self._monitor.wait_for(pending.reply, presence, watch, limit)
        except TimeoutError:
            raise EngineTimeoutError(f"bot {name}: no answer within {limit:.3g} s") from None
        finally:
            self._connection.cancel_persistent(request_id)
            del self._pending[request_id]
        return parse_reply(pending.reply.result(), name, watch.elapsed)

    async def close(self) -> None:
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
        """Handle a message. Called in the connection's thread."""
        if payload is None:
            return
        if topic == self._replies:
            self._monitor.call_in_loop(self._on_reply, payload)
        elif not payloads.find_error("bot", payload):
            self._monitor.call_in_loop(self._on_status, topic.split("/")[-2], payload)

    def _on_reply(self, payload: dict[str, Any]) -> None:
        request_id = payload.get("id")
        pending = self._pending.get(request_id) if isinstance(request_id, str) else None
        if pending is not None and not pending.reply.done():
            pending.reply.set_result(payload)

    def _on_status(self, name: str, payload: dict[str, Any]) -> None:
        """Handle a bot's status. If the bot came back online, repeat its pending requests."""
        if payload.get("claim") or (name not in self._bots and len(self._bots) >= MAX_KNOWN_BOTS):
            return
        if len(name) + len(payloads.encode(payload)) > MAX_STATUS_LENGTH:
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
            for request_id, pending in self._pending.items():
                if pending.name == name:
                    self._connection.republish(request_id)
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
        for pending in self._pending.values():
            if topics.bot(pending.name, "requests") == topic and not pending.reply.done():
                error = EngineError(
                    f"bot {pending.name}: the broker does not allow requests: {reason}"
                )
                pending.reply.set_exception(error)
