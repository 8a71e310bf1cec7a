"""Messages between a page and the server: a WebSocket that carries objects of JSON.

A `Channel` is one visitor's, an `Audience` all who look at one thing. Nobody waits for a visitor:
what one does not read is bounded, and who leaves too much is cut off; his page comes again by
itself, and is told all as it then stands.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.io.user_code import describe
from kempelen.web.layout import request_language
from kempelen.web.site_context import SiteContext
from kempelen.web.translations import translate
from protocols.server.admission import ANONYMOUS, ConnectionSlot, RejectedError
from protocols.server.limits import TokenBucket
from protocols.server.send_queue import SendQueue

# So many bytes may wait for one page.
MAX_UNSENT_BYTES = 1 << 20
# Why a channel is closed, for the page: what makes no sense to try again, and what does.
CLOSE_REJECTED, CLOSE_RETRY = 4403, 4408

# By the kind of an object: what of it says to a person what went wrong.
TRANSLATED_FIELDS = {"error": ("text",), "refused": ("text",), "game": ("trouble",)}

OnMessage = Callable[[dict[str, Any]], Awaitable[None]]


class Channel:
    """What one page is told, and what it says."""

    def __init__(self, socket: WebSocket, site: SiteContext, owner: str) -> None:
        self.owner = owner
        self.visitor = site.client_key(socket)
        self.language = request_language(socket)
        self._socket = socket
        self._site = site
        self._send_queue = SendQueue(self._abort, MAX_UNSENT_BYTES)
        self._task: asyncio.Task[None] | None = None
        self._last_activity = (
            time.monotonic()
        )  # when it was last told something, or has said something
        self._expired = False

    def send(self, message: Mapping[str, Any]) -> None:
        """Send an object, after those before it. From any thread; never waits."""
        self.send_text(_encode(message, self.language))

    def send_text(self, text: str) -> None:
        """Send an object that is written already, as `tell`."""
        self._last_activity = time.monotonic()
        self._send_queue.send(text)

    async def reject(self, reason: str) -> None:
        """End it, and tell the page why it is not to come again."""
        await self._socket.close(CLOSE_REJECTED, reason)

    async def run(self, on_message: OnMessage) -> None:
        """Hand what comes to `heard`, object by object, until the page is gone."""
        self._task = asyncio.current_task()
        background = {asyncio.create_task(each) for each in (self._write(), self._expire())}
        bucket = TokenBucket(self._site.limits.lines_a_second, time.monotonic())
        try:
            while True:
                text = await self._receive()
                self._last_activity = time.monotonic()
                await asyncio.sleep(bucket.reserve(time.monotonic()))
                self._site.metrics.count("lines", "web")
                message = _decode(text)
                if message is None:
                    self.send({"kind": "error", "text": "an object of JSON is expected"})
                else:
                    await on_message(message)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass
        except asyncio.CancelledError:
            if not self._send_queue.overflowed and not self._expired:
                raise
        finally:
            self._send_queue.close()
            for task in background:
                task.cancel()

    async def _receive(self) -> str:
        """Return what the page says next. Raises WebSocketDisconnect at its end."""
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect
        return message.get("text") or ""  # what is sent as bytes says nothing

    async def _write(self) -> None:
        while lines := await self._send_queue.get():
            try:
                for line in lines:
                    await self._socket.send_text(line.decode())
            except (WebSocketDisconnect, RuntimeError, OSError):
                return
            self._send_queue.mark_sent(lines)

    async def _expire(self) -> None:
        """End it when its time is over, or when nothing has happened for too long."""
        limits, began = self._site.limits, time.monotonic()
        while (
            end := min(self._last_activity + limits.idle, began + limits.longest)
        ) > time.monotonic():
            await asyncio.sleep(end - time.monotonic())
        self._expired = True
        with contextlib.suppress(RuntimeError, OSError):
            await self.reject("this page was open for too long; load it again")
        self._abort()

    def _abort(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Subscribers:
    """All channels on which one thing is told, each object encoded once in each language."""

    def __init__(self) -> None:
        self.channels: set[Channel] = set()

    def broadcast(self, message: Mapping[str, Any]) -> None:
        """Tell all."""
        texts: dict[str, str] = {}
        for channel in self.channels:
            if channel.language not in texts:
                texts[channel.language] = _encode(message, channel.language)
            channel.send_text(texts[channel.language])

    async def serve(
        self, channel: Channel, state: Callable[[], Mapping[str, Any]], on_message: OnMessage
    ) -> None:
        """Let a channel hear all from now on, after how things stand now, until its end."""
        channel.send(state())
        self.channels.add(channel)
        try:
            await channel.run(on_message)
        finally:
            self.channels.discard(channel)


async def ignore_message(message: dict[str, Any]) -> None:
    """Take what a page says that is only to listen."""


async def serve_channel(
    socket: WebSocket, site: SiteContext, serve: Callable[[Channel], Awaitable[None]]
) -> None:
    """Let a page in, count it as a session, and serve it by `serve` until it is gone."""
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
        await _serve(socket, site, owner, f"{host}:{port}", serve)
    except (WebSocketDisconnect, RuntimeError, OSError):
        pass  # the page was gone before it was let in, or before it was told why not
    finally:
        slot.close()


async def _serve(
    socket: WebSocket,
    site: SiteContext,
    owner: str,
    peer: str,
    serve: Callable[[Channel], Awaitable[None]],
) -> None:
    """Serve a page that was let in until it is gone."""
    number = next(site.session_ids)
    site.metrics.count("sessions_begun", "web")
    site.log.write("began", session=number, name=owner, peer=peer)
    try:
        await serve(Channel(socket, site, owner))
    except Exception as error:  # noqa: BLE001 - one channel is not all
        site.log.write("failed", session=number, error=describe(error))
        with contextlib.suppress(RuntimeError):
            await socket.close(CLOSE_RETRY, "the server failed; its log says how")
    finally:
        site.metrics.count("sessions_ended", "closed")
        site.log.write("ended", session=number, name=owner)


def _admit(socket: WebSocket, site: SiteContext, slot: ConnectionSlot) -> str:
    """Return whose a channel is. Raises RejectedError."""
    if site.shutting_down:
        raise RejectedError("end", "the server ends")
    slot.check_limits()
    owner = site.owner(socket.cookies)
    if not owner:
        raise RejectedError("token", "sign in with your token")
    if owner == ANONYMOUS:
        slot.admit_anonymous()
    else:
        slot.admit_as(owner)
    return owner


def _encode(message: Mapping[str, Any], language: str) -> str:
    """Write an object, with what it says of troubles in the language of who is told."""
    worded: dict[str, Any] = {
        key: translate(value, language)
        for key in TRANSLATED_FIELDS.get(message.get("kind", ""), ())
        if (value := message.get(key))
    }
    if problem := message.get("state", {}).get("problem"):  # of a tournament
        worded["state"] = {**message["state"], "problem": translate(problem, language)}
    return json.dumps({**message, **worded})


def _decode(text: str) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
