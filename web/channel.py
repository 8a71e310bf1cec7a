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

from agent.border.user_code import describe
from protocols.server.door import NOBODY, Guest, RefusedError
from protocols.server.limits import Bucket
from protocols.server.outbox import Outbox
from web.messages import said
from web.shell import language_of
from web.site import Site

# So many bytes may wait for one page.
MOST_UNREAD = 1 << 20
# Why a channel is closed, for the page: what makes no sense to try again, and what does.
REFUSED, AGAIN = 4403, 4408

# By the kind of an object: what of it says to a person what went wrong.
TROUBLES = {"error": ("text",), "refused": ("text",), "game": ("trouble",)}

Heard = Callable[[dict[str, Any]], Awaitable[None]]


class Channel:
    """What one page is told, and what it says."""

    def __init__(self, socket: WebSocket, site: Site, owner: str) -> None:
        self.owner = owner
        self.visitor = site.visitor(socket)
        self.language = language_of(socket)
        self._socket = socket
        self._site = site
        self._outbox = Outbox(self._cut_off, MOST_UNREAD)
        self._task: asyncio.Task[None] | None = None
        self._used = time.monotonic()  # when it was last told something, or has said something
        self._expired = False

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send an object, after those before it. From any thread; never waits."""
        self.pass_on(_written(message, self.language))

    def pass_on(self, text: str) -> None:
        """Send an object that is written already, as `tell`."""
        self._used = time.monotonic()
        self._outbox.send(text)

    async def refuse(self, reason: str) -> None:
        """End it, and tell the page why it is not to come again."""
        await self._socket.close(REFUSED, reason)

    async def run(self, heard: Heard) -> None:
        """Hand what comes to `heard`, object by object, until the page is gone."""
        self._task = asyncio.current_task()
        beside = {asyncio.create_task(each) for each in (self._write(), self._expire())}
        bucket = Bucket(self._site.limits.lines_a_second, time.monotonic())
        try:
            while True:
                text = await self._receive()
                self._used = time.monotonic()
                await asyncio.sleep(bucket.wait(time.monotonic()))
                self._site.metrics.count("lines", "web")
                message = _read(text)
                if message is None:
                    self.tell({"kind": "error", "text": "an object of JSON is expected"})
                else:
                    await heard(message)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass
        except asyncio.CancelledError:
            if not self._outbox.overflown and not self._expired:
                raise
        finally:
            self._outbox.close()
            for task in beside:
                task.cancel()

    async def _receive(self) -> str:
        """Return what the page says next. Raises WebSocketDisconnect at its end."""
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect
        return message.get("text") or ""  # what is sent as bytes says nothing

    async def _write(self) -> None:
        while lines := await self._outbox.take():
            try:
                for line in lines:
                    await self._socket.send_text(line.decode())
            except (WebSocketDisconnect, RuntimeError, OSError):
                return
            self._outbox.written(lines)

    async def _expire(self) -> None:
        """End it when its time is over, or when nothing has happened for too long."""
        limits, began = self._site.limits, time.monotonic()
        while (end := min(self._used + limits.idle, began + limits.longest)) > time.monotonic():
            await asyncio.sleep(end - time.monotonic())
        self._expired = True
        with contextlib.suppress(RuntimeError, OSError):
            await self.refuse("this page was open for too long; load it again")
        self._cut_off()

    def _cut_off(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Audience:
    """All channels on which one thing is told, each object encoded once in each language."""

    def __init__(self) -> None:
        self.channels: set[Channel] = set()

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tell all."""
        texts: dict[str, str] = {}
        for channel in self.channels:
            if channel.language not in texts:
                texts[channel.language] = _written(message, channel.language)
            channel.pass_on(texts[channel.language])

    async def attend(
        self, channel: Channel, state: Callable[[], Mapping[str, Any]], heard: Heard
    ) -> None:
        """Let a channel hear all from now on, after how things stand now, until its end."""
        channel.tell(state())
        self.channels.add(channel)
        try:
            await channel.run(heard)
        finally:
            self.channels.discard(channel)


async def nothing_heard(message: dict[str, Any]) -> None:
    """Take what a page says that is only to listen."""


async def open_channel(
    socket: WebSocket, site: Site, serve: Callable[[Channel], Awaitable[None]]
) -> None:
    """Let a page in, count it as a session, and serve it by `serve` until it is gone."""
    host, port = socket.client or ("?", 0)
    guest = site.door.knock(host)
    site.metrics.count("connections", socket.scope["scheme"])
    try:
        try:
            owner = _admitted(socket, site, guest)
        except RefusedError as error:
            guest.finish()
            site.note_refusal(socket, error)
            await socket.accept()
            await socket.close(REFUSED if error.kind in ("token", "end") else AGAIN, str(error))
            return
        await socket.accept()
        await _serve(socket, site, owner, f"{host}:{port}", serve)
    except (WebSocketDisconnect, RuntimeError, OSError):
        pass  # the page was gone before it was let in, or before it was told why not
    finally:
        guest.leave()


async def _serve(
    socket: WebSocket,
    site: Site,
    owner: str,
    peer: str,
    serve: Callable[[Channel], Awaitable[None]],
) -> None:
    """Serve a page that was let in until it is gone."""
    number = next(site.numbers)
    site.metrics.count("sessions_begun", "web")
    site.log.note("began", session=number, name=owner, peer=peer)
    try:
        await serve(Channel(socket, site, owner))
    except Exception as error:  # noqa: BLE001 - one channel is not all
        site.log.note("failed", session=number, error=describe(error))
        with contextlib.suppress(RuntimeError):
            await socket.close(AGAIN, "the server failed; its log says how")
    finally:
        site.metrics.count("sessions_ended", "closed")
        site.log.note("ended", session=number, name=owner)


def _admitted(socket: WebSocket, site: Site, guest: Guest) -> str:
    """Return whose a channel is. Raises RefusedError."""
    if site.ending:
        raise RefusedError("end", "the server ends")
    guest.check()
    owner = site.owner(socket.cookies)
    if not owner:
        raise RefusedError("token", "sign in with your token")
    if owner == NOBODY:
        guest.admit()
    else:
        guest.admit_as(owner)
    return owner


def _written(message: Mapping[str, Any], language: str) -> str:
    """Write an object, with what it says of troubles in the language of who is told."""
    worded: dict[str, Any] = {
        key: said(value, language)
        for key in TROUBLES.get(message.get("kind", ""), ())
        if (value := message.get(key))
    }
    if problem := message.get("state", {}).get("problem"):  # of a tournament
        worded["state"] = {**message["state"], "problem": said(problem, language)}
    return json.dumps({**message, **worded})


def _read(text: str) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
