"""Tournaments as a broker tells of them, for who looks on: see spectators.py."""

from __future__ import annotations

from typing import Any

from kempelen.match.live.mqtt_publisher import MqttSubscriber
from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection

# Bytes of one message: the standings of many players, or a long game. Tournaments of one broker.
MAX_MESSAGE_SIZE = 1 << 24
MAX_TOURNAMENTS = 50


class MqttTournamentView:
    """Looks at one tournament that a broker tells of."""

    def __init__(self, receiver: MqttSubscriber, connection: Connection) -> None:
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
        if self._connection.seconds_disconnected:
            self.problem = f"broker {self._connection.broker}: {self._connection.error}"

    def close(self) -> None:
        """Nothing is held: the connection is that of all."""


class MqttTournamentViews:
    """Looks at all tournaments that a broker tells of, as they are heard of."""

    def __init__(self, broker: Broker) -> None:
        self.views: list[MqttTournamentView] = []
        self._receivers: dict[str, MqttSubscriber] = {}
        self.connection = Connection(
            broker,
            subscriptions=[MqttSubscriber("+").subscription],
            on_message=self._on_message,
            use_heartbeat=True,
            max_payload=MAX_MESSAGE_SIZE,
        )

    def close(self) -> None:
        """Disconnect."""
        self.connection.close()

    def _on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        name = topic.removeprefix(topics.tournament("")).split("/", 1)[0]
        receiver = self._receivers.get(name)
        if receiver is None:
            if len(self._receivers) >= MAX_TOURNAMENTS:
                return
            receiver = self._receivers[name] = MqttSubscriber(name)
        receiver.on_message(topic, payload)
        if receiver.state.status and all(each.state is not receiver.state for each in self.views):
            self.views.append(MqttTournamentView(receiver, self.connection))
