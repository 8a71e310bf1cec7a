"""A bot with a fake engine, and a client that sends anything."""

import asyncio
import secrets
from contextlib import asynccontextmanager

import chess

from agent.limits import Cp, Info
from protocols.client.uci import PlayResult
from protocols.mqtt import payloads, topics
from protocols.mqtt.bot import Bot
from protocols.mqtt.connection import Connection
from tests.waiting import eventually


class FakeBotEngine:
    """Plays the first legal move after a delay, and records the requests."""

    def __init__(self, delay=0.0):
        self.delay = delay
        self.requests = []
        self.variants = []

    async def get(self, variant):
        self.variants.append(variant)
        return self

    async def new_game(self):
        pass

    async def search(self, request, limit):
        self.requests.append(request)
        await asyncio.sleep(self.delay)
        board = chess.Board(request.fen or chess.STARTING_FEN)
        for move in request.moves:
            board.push_uci(move)
        move = min(move.uci() for move in board.legal_moves)
        return PlayResult(move, None, Info(1, Cp(7), pv=(move,), nodes=1), self.delay)


@asynccontextmanager
async def serving(broker, name="bot", thinker=None, **options):
    """Run a bot; `task` ends with it, `reports` has its messages."""
    reports = []
    thinker = thinker or FakeBotEngine()
    bot = Bot(broker, name, "tests", thinker.get, tell=reports.append, **options)
    bot.reports, bot.thinker = reports, thinker
    bot.task = asyncio.create_task(bot.serve())
    try:
        await eventually(lambda: bot.task.done() or any("online on" in text for text in reports))
        yield bot
    finally:
        bot.task.cancel()
        await asyncio.gather(bot.task, return_exceptions=True)


def request(**changes):
    """Return a valid payload of a request."""
    payload = {"id": "1", "reply_to": "kempelen/v1/replies/me", "limits": {"nodes": 5}, **changes}
    assert payloads.find_error("request", payload) == ""
    return payload


class Asker:
    """Sends anything to a bot, and keeps the replies."""

    def __init__(self, broker, name="bot"):
        self.topic = topics.replies(secrets.token_hex(4))
        self.requests = topics.bot(name, "requests")
        self.replies = []
        self.connection = Connection(
            broker,
            subscriptions=[self.topic],
            on_message=lambda topic, payload: self.replies.append(payload),
        )
        assert self.connection.connected.wait(10)

    def ask(self, number="1", **changes):
        limits = {"nodes": 1}
        payload = {"id": number, "reply_to": self.topic, "limits": limits, **changes}
        self.connection.publish(self.requests, payload)

    def send(self, data):
        """Send arbitrary bytes."""
        self.connection._messages.append((self.requests, data))
        self.connection._wake()

    async def reply(self, number="1"):
        def found():
            return [reply for reply in self.replies if reply["id"] == number]

        await eventually(found)
        return found()[0]

    async def close(self):
        await asyncio.to_thread(self.connection.close)
