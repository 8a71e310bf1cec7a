"""WebSocket channels between pages and the server, which carry JSON objects.

A page that stops reading, or that sends far more than is handled, is disconnected. It then
reconnects and receives the full state.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.io.strict_json import loads_object
from agent.io.user_code import describe
from kempelen.console.translation import translate
from kempelen.web.layout import request_language
from kempelen.web.site_context import SiteContext
from protocols.server.admission import ConnectionSlot, RejectedError
from protocols.server.limits import CHARACTERS_PER_LINE
from protocols.server.network_session import CLOSE_TIMEOUT_S
from protocols.server.receive_queue import ReceiveQueue
from protocols.server.send_queue import SendQueue

# Maximum total size of the queued messages per page, to the page and from it.
MAX_UNSENT_BYTES = 1 << 20
MAX_UNHANDLED_BYTES = 1 << 20
# WebSocket close codes. After the first, a page does not reconnect.
CLOSE_REJECTED, CLOSE_RETRY = 4403, 4408

# Message fields that contain text for the visitor, by the kind of message.
TRANSLATED_FIELDS = {"error": ("text",), "refused": ("text",), "game": ("trouble",)}

OnMessage = Callable[[dict[str, Any]], Awaitable[None]]


class Channel:
    """A WebSocket connection to one page."""

    def __init__(self, socket: WebSocket, site: SiteContext, owner: str) -> None:
        self.owner = owner
        self.path_params = socket.path_params
        self.visitor = site.client_key(socket)
        self.language = request_language(socket)
        self.socket = socket
        self.site = site
        self._received = ReceiveQueue(MAX_UNHANDLED_BYTES)
        self._send_queue = SendQueue(self._abort, MAX_UNSENT_BYTES)
        self._task: asyncio.Task[None] | None = None
        self._last_activity = time.monotonic()  # of sending or receiving
        self._expired = False

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue an object for sending. Thread-safe. Never blocks."""
        self.send_text(_encode(message, self.language))

    def send_text(self, text: str) -> None:
        """Queue a JSON text for sending. Thread-safe. Never blocks."""
        self._last_activity = time.monotonic()
        self._send_queue.send(text)

    async def reject(self, reason: str) -> None:
        """Close the channel with an error message. The page does not reconnect."""
        await self.socket.close(CLOSE_REJECTED, reason)

    async def run(self, on_message: OnMessage) -> None:
        """Call `on_message` with each received object until the page disconnects."""
        self._task = asyncio.current_task()
        works = self._read(), self._write(), self._expire()
        background = {asyncio.create_task(work) for work in works}
        limiter = self.site.message_limiter
        try:
            async for text in self._received:
                cost = 1.0 + len(text or "") // CHARACTERS_PER_LINE
                await asyncio.sleep(limiter.reserve(self.visitor, time.monotonic(), cost))
                self.site.metrics.count("lines", "web")
                message = loads_object(text or "")
                if message is None:
                    self.send({"kind": "error", "text": "invalid request (expected a JSON object)"})
                else:
                    await on_message(message)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass
        except asyncio.CancelledError:
            if not (self._send_queue.overflowed or self._expired or self._received.ended):
                raise
        finally:
            self._send_queue.close()
            for task in background:
                task.cancel()

    async def _read(self) -> None:
        """Read ahead, so that a disconnection is noticed while a message is handled."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            while not self._received.full:
                self._received.put([await self._receive()])
                self._last_activity = time.monotonic()
        self._received.end()
        await asyncio.sleep(CLOSE_TIMEOUT_S)  # for messages that arrived before the disconnection
        self._abort()

    async def _receive(self) -> str:
        message = await self.socket.receive()
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect
        return message.get("text") or ""  # binary messages are invalid

    async def _write(self) -> None:
        while lines := await self._send_queue.get():
            try:
                for line in lines:
                    await self.socket.send_text(line.decode())
            except (WebSocketDisconnect, RuntimeError, OSError):
                return
            self._send_queue.mark_sent(lines)

    async def _expire(self) -> None:
        limits, started = self.site.limits, time.monotonic()
        while (
            end := min(self._last_activity + limits.idle_timeout, started + limits.max_session)
        ) > time.monotonic():
            await asyncio.sleep(end - time.monotonic())
        self._expired = True
        with contextlib.suppress(RuntimeError, OSError):
            await self.reject("session timed out; reload the page")
        self._abort()

    def _abort(self) -> None:
        if self._task is not None:
            self._task.cancel()


class ChannelGroup:
    """The channels of the viewers of one game or tournament."""

    def __init__(self) -> None:
        self.channels: set[Channel] = set()

    def broadcast(self, message: Mapping[str, Any]) -> None:
        """Send an object to all channels. It is encoded once per language."""
        texts: dict[str, str] = {}
        for channel in self.channels:
            if channel.language not in texts:
                texts[channel.language] = _encode(message, channel.language)
            channel.send_text(texts[channel.language])

    async def serve(
        self, channel: Channel, state: Callable[[], Mapping[str, Any]], on_message: OnMessage
    ) -> None:
        """Send `state()` to a channel, and then all broadcasts until the channel closes."""
        channel.send(state())
        self.channels.add(channel)
        try:
            await channel.run(on_message)
        finally:
            self.channels.discard(channel)


async def ignore_message(message: dict[str, Any]) -> None:
    """Ignore a message, for pages that only receive."""


async def serve_channel(
    socket: WebSocket, site: SiteContext, serve: Callable[[Channel], Awaitable[None]]
) -> None:
    """Admit a page as a session, and run `serve` until the page disconnects."""
    host, port = socket.client or ("?", 0)
    slot = site.admission.open_slot(host)
    site.metrics.count("connections", socket.scope["scheme"])
    try:
        try:
            owner = _admit(socket, site, slot)
        except RejectedError as error:
            slot.end_session()
            site.log_rejection(socket, error)
            await socket.accept()
            await socket.close(
                CLOSE_REJECTED if error.code in ("token", "end") else CLOSE_RETRY, str(error)
            )
            return
        await socket.accept()
        await _serve(Channel(socket, site, owner), f"{host}:{port}", serve)
    except (WebSocketDisconnect, RuntimeError, OSError):
        pass  # the page disconnected before it was admitted
    finally:
        slot.close()


async def _serve(channel: Channel, peer: str, serve: Callable[[Channel], Awaitable[None]]) -> None:
    site = channel.site
    session_id = next(site.session_ids)
    site.metrics.count("sessions_begun", "web")
    site.log.write_limited("began", session=session_id, name=channel.owner, peer=peer)
    try:
        await serve(channel)
    except Exception as error:  # noqa: BLE001 - other channels must go on
        site.log.write_limited(
            "failed", session=session_id, name=channel.owner, error=describe(error)
        )
        with contextlib.suppress(RuntimeError):
            await channel.socket.close(CLOSE_RETRY, "internal server error; see the server log")
    finally:
        site.metrics.count("sessions_ended", "closed")
        site.log.write_limited("ended", session=session_id, name=channel.owner)


def _admit(socket: WebSocket, site: SiteContext, slot: ConnectionSlot) -> str:
    if site.shutting_down:
        raise RejectedError("end", "the server is shutting down")
    slot.check_limits()
    owner = site.owner(socket.cookies)
    if not owner:
        raise RejectedError("token", "sign in with your token")
    slot.admit(owner)
    return owner


def _encode(message: Mapping[str, Any], language: str) -> str:
    """Encode an object as JSON, with its error texts translated to `language`."""
    translated: dict[str, Any] = {
        key: translate(value, language)
        for key in TRANSLATED_FIELDS.get(message.get("kind", ""), ())
        if (value := message.get(key))
    }
    if problem := message.get("state", {}).get("problem"):  # the problem of a tournament
        translated["state"] = {**message["state"], "problem": translate(problem, language)}
    return json.dumps({**message, **translated})
