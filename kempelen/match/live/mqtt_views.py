"""Views of tournaments that are published over MQTT."""

from __future__ import annotations

from typing import Any

from agent.io.message import Message
from kempelen.match.live.mqtt_publisher import MAX_MESSAGE_BYTES, MessageQuota, MqttSubscriber
from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection

MAX_TOURNAMENTS = 50
TOO_MUCH_DATA = Message("it sends too much data, of which a part is ignored")


class MqttTournamentView:
    """A TournamentView whose data come from MQTT messages."""

    def __init__(self, receiver: MqttSubscriber, connection: Connection) -> None:
        self._receiver = receiver
        self._connection = connection
        self.state = receiver.state
        self.games = receiver.games
        self.runner = ""
        self.problem = ""
        self.trusted = False

    def poll(self) -> None:
        """Update the connection state. Messages are applied when they arrive."""
        self.runner = self._receiver.runner
        self.problem = ""
        if self._connection.seconds_disconnected:
            self.problem = Message("broker {}: {}", self._connection.broker, self._connection.error)
        elif self._receiver.quota.exceeded:
            self.problem = Message("broker {}: {}", self._connection.broker, TOO_MUCH_DATA)

    def close(self) -> None:
        """Do nothing, because all views share the connection."""


class MqttTournamentViews:
    """The views of all tournaments on a broker. A view is added when its first status arrives."""

    def __init__(self, broker: Broker) -> None:
        self.views: list[MqttTournamentView] = []
        self._receivers: dict[str, MqttSubscriber] = {}
        self._quota = MessageQuota()
        self.connection = Connection(
            broker,
            subscriptions=[MqttSubscriber("+").subscription],
            on_message=self._on_message,
            use_heartbeat=True,
            max_payload=MAX_MESSAGE_BYTES,
        )

    def close(self) -> None:
        self.connection.close()

    def _on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        name = topic.removeprefix(topics.tournament("")).split("/", 1)[0]
        receiver = self._receivers.get(name)
        if receiver is None:
            if len(self._receivers) >= MAX_TOURNAMENTS:
                return
            receiver = self._receivers[name] = MqttSubscriber(name, self._quota)
        receiver.on_message(topic, payload)
        if receiver.state.status and all(view.state is not receiver.state for view in self.views):
            self.views.append(MqttTournamentView(receiver, self.connection))
