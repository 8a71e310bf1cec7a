"""Tournaments as a broker tells of them, for who looks on: see spectators.py."""

from __future__ import annotations

from typing import Any

from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from tournament.broadcast import Receiver

# Bytes of one message: the standings of many players, or a long game. Tournaments of one broker.
LARGEST_MESSAGE = 1 << 24
MOST_TOURNAMENTS = 50


class BrokerSpectator:
    """Looks at one tournament that a broker tells of."""

    def __init__(self, receiver: Receiver, connection: Connection) -> None:
        self._receiver = receiver
        self._connection = connection
        self.state = receiver.state
        self.games = receiver.games
        self.runner = ""
        self.problem = ""
        self.trusted = False

    def poll(self) -> None:
        """Take how the broker and the run are; what it tells is taken in as it comes."""
        self.runner = self._receiver.runner
        self.problem = ""
        if self._connection.away:
            self.problem = f"broker {self._connection.broker}: {self._connection.problem}"

    def close(self) -> None:
        """Nothing is held: the connection is that of all."""


class BrokerSpectators:
    """Looks at all tournaments that a broker tells of, as they are heard of."""

    def __init__(self, broker: Broker) -> None:
        self.found: list[BrokerSpectator] = []
        self._receivers: dict[str, Receiver] = {}
        self.connection = Connection(
            broker,
            subscriptions=[Receiver("+").subscription],
            on_message=self._receive,
            watchful=True,
            largest=LARGEST_MESSAGE,
        )

    def close(self) -> None:
        """Disconnect."""
        self.connection.close()

    def _receive(self, topic: str, payload: dict[str, Any] | None) -> None:
        name = topic.removeprefix(topics.tournament("")).split("/", 1)[0]
        receiver = self._receivers.get(name)
        if receiver is None:
            if len(self._receivers) >= MOST_TOURNAMENTS:
                return
            receiver = self._receivers[name] = Receiver(name)
        receiver.receive(topic, payload)
        if receiver.state.status and all(each.state is not receiver.state for each in self.found):
            self.found.append(BrokerSpectator(receiver, self.connection))
