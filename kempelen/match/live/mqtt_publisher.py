"""Publish a tournament over MQTT, and rebuild its state from the messages."""

import re
import secrets
import time
from collections.abc import Sequence
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.live.events import (
    MAX_PV_PLIES,
    Event,
    GameFinished,
    MovePlayed,
    SearchInfo,
)
from kempelen.match.live.live_state import SEARCH_FIELDS, LiveState
from kempelen.match.records.game_record import encode_record
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.broker_monitor import Notify
from protocols.mqtt.connection import Connection

# Minimum seconds between two search reports of a game.
INFO_INTERVAL = 0.5
# Maximum size of a received message in bytes: standings with many players, or a long game.
MAX_MESSAGE_BYTES = 4 << 20
# Maximum size of all messages that a subscriber keeps, in bytes. In memory they are larger.
MAX_KEPT_BYTES = 128 << 20


class MqttPublisher:
    """An event listener that publishes one tournament without waiting for the broker."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        notify: Notify | None = None,
        curve: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Connect to the broker. If the connection is lost, an MQTT will marks the run as lost.

        `notify` is called in another thread with a message if the broker rejects a topic. `curve`
        is the Elo curve of earlier runs.
        """
        self._broker = broker
        self._notify = notify
        self._name = name
        self._run = secrets.token_hex(4)
        self._sequence = 0
        self._state = LiveState(curve)
        self._last_published: dict[str, float] = {}
        self._runner = topics.tournament(name, "runner")
        self.connection = Connection(
            broker,
            will=(self._runner, {"run": self._run, "state": "lost"}),
            on_rejected=self._on_rejected,
        )
        self.connection.publish_retained(self._runner, {"run": self._run, "state": "online"})

    def __call__(self, event: Event) -> None:
        changed = self._state.apply(event)
        match event:
            case MovePlayed(pair=pair, game=game):
                self.connection.publish(
                    self._game_topic(pair, game, "moves"), self._stamp(encode(event))
                )
            case SearchInfo(pair=pair, game=game):
                self._publish_search_info(self._game_topic(pair, game, "info"), event)
            case GameFinished(board=board, record=record):
                names = ("pair", "game", "white", "black", "result", "detail")
                result = {name: getattr(record, name) for name in names}
                result |= {"board": board, "termination": str(record.termination)}
                self._last_published.pop(self._game_topic(record.pair, record.game, "info"), None)
                topic = self._game_topic(record.pair, record.game, "result")
                self.connection.publish(topic, self._stamp(result))
                # Retained, so that late subscribers receive every game.
                topic = self._game_topic(record.pair, record.game, "record")
                self.connection.publish_retained(topic, self._stamp(encode_record(record)))
        for snapshot in changed:
            self._publish(snapshot)

    def close(self) -> None:
        """Publish that the runner is offline, and disconnect."""
        self.connection.publish_retained(self._runner, {"run": self._run, "state": "offline"})
        self.connection.close()

    @property
    def unpublished(self) -> str:
        """A warning that parts of the tournament were not published, or "" if all were."""
        broker, connection = self._broker, self.connection
        missing = connection.pending_count + connection.dropped
        if rejected := next(iter(connection.rejected.items()), None):
            return f"broker {broker}: rejected parts of the match, such as {': '.join(rejected)}"
        problem = connection.error or "no connection"
        if not connection.published:
            return f"broker {broker}: the match was not published: {problem}"
        if missing:
            return f"broker {broker}: {missing} messages were not published: {problem}"
        return ""

    def _on_rejected(self, topic: str, reason: str) -> None:
        # Report only the first rejection, because each further move would cause another one.
        notify, self._notify = self._notify, None
        if notify is not None:
            notify(f"broker {self._broker}: rejected topic {topic}: {reason}")

    def _publish(self, snapshot: str) -> None:
        payload = self._stamp(self._state.snapshots[snapshot])
        self.connection.publish_retained(topics.tournament(self._name, snapshot), payload)

    def _publish_search_info(self, topic: str, event: SearchInfo) -> None:
        now = time.monotonic()
        if now - self._last_published.get(topic, -1e9) >= INFO_INTERVAL:
            self._last_published[topic] = now
            self.connection.publish_best_effort(topic, self._stamp(encode(event)))

    def _game_topic(self, pair: str, game: int, part: str) -> str:
        return topics.tournament(self._name, "games", f"{pair}.{game}", part)

    def _stamp(self, payload: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        return {**payload, "run": self._run, "sequence": self._sequence}


class MessageQuota:
    """Counts the bytes of the messages that subscribers keep, as a broker may send any number."""

    def __init__(self) -> None:
        self.exceeded = False
        self._sizes: dict[tuple[str, str], int] = {}
        self._total = 0

    def replace(self, name: str, part: str, payload: dict[str, Any]) -> bool:
        """Count a message in place of the last one. Return False if it would exceed the quota."""
        size = len(payloads.encode(payload))
        total = self._total + size - self._sizes.get((name, part), 0)
        if total > MAX_KEPT_BYTES:
            self.exceeded = True
            return False
        self._sizes[name, part], self._total = size, total
        return True


class MqttSubscriber:
    """Rebuilds the state and the games of a tournament from MQTT messages."""

    def __init__(self, name: str, quota: MessageQuota | None = None) -> None:
        """Follow a tournament. The name `+` selects the first tournament that sends a message.

        Messages beyond the quota, which several tournaments may share, are ignored.
        """
        self.name = name
        self.quota = quota or MessageQuota()
        self.state = LiveState()
        self.games: dict[str, dict[str, Any]] = {}
        self.runner = ""
        self.message_count = 0
        self._sequences: dict[str, tuple[str, int]] = {}

    @property
    def subscription(self) -> str:
        return topics.tournament(self.name, "#")

    def on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Apply a message. Invalid and outdated messages are ignored."""
        parts = topic.removeprefix(topics.tournament("")).split("/", 1)
        if payload is None or len(parts) != 2:
            return
        name, part = parts
        if self.name == "+":
            self.name = name
        if name != self.name:
            return
        self.message_count += 1
        schema = _schema_name(part)
        if not schema or payloads.find_error(schema, payload):
            return
        if schema == "runner":
            self.runner = payload["state"]
        elif schema == "info":
            self._apply_search_info(payload)
        elif not self.quota.replace(name, part, payload):
            return
        elif schema == "record":
            self.games[part.removeprefix("games/").removesuffix("/record")] = payload
        elif self._is_new(part, payload):
            self.state.snapshots[part] = payload

    def _is_new(self, part: str, payload: dict[str, Any]) -> bool:
        run, sequence = payload["run"], payload["sequence"]
        known_run, known = self._sequences.get(part, ("", -1))
        if run == known_run and sequence <= known:
            return False
        self._sequences[part] = (run, sequence)
        return True

    def _apply_search_info(self, payload: dict[str, Any]) -> None:
        board = self.state.snapshots.get(f"boards/{payload['board']}", {})
        if all(board.get(key) == payload[key] for key in ("pair", "game")):
            info = {key: payload[key] for key in SEARCH_FIELDS}
            info["pv"] = payload["pv"][:MAX_PV_PLIES]
            board[f"{payload['side']}_said"] = info


def _schema_name(part: str) -> str:
    if part in ("runner", "status", "standings", "curve"):
        return part
    if re.fullmatch(r"games/[0-9.-]{1,40}/record", part):
        return "record"
    if re.fullmatch(r"boards/[0-9]{1,4}", part):
        return "board"
    return "info" if part.endswith("/info") else ""
