"""Tells a broker what happens: the live state's snapshots, and every move, result and thought."""

import re
import secrets
import time
from collections.abc import Sequence
from typing import Any

from kempelen.console.settings_codec import encode
from kempelen.match.live.events import Event, GameFinished, MovePlayed, SearchInfo
from kempelen.match.live.live_state import LiveState
from protocols.mqtt import payloads, topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.broker_monitor import Notify
from protocols.mqtt.connection import Connection

# Thoughts go out at most so often for each game, in seconds.
INFO_INTERVAL = 0.5


class MqttPublisher:
    """A listener that publishes one tournament. It never waits for the broker."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        tell: Notify | None = None,
        curve: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Connect; the will marks this runner as lost if it goes without a word.

        tell: takes a sentence, in another thread, when the broker refuses something. curve: of the
        games that have been played before.
        """
        self._broker = broker
        self._tell = tell
        self._name = name
        self._run = secrets.token_hex(4)
        self._sequence = 0
        self._state = LiveState(curve)
        self._last_published: dict[str, float] = {}
        self._runner = topics.tournament(name, "runner")
        self.connection = Connection(
            broker,
            will=(self._runner, {"run": self._run, "state": "lost"}),
            on_rejected=self._on_refused,
        )
        self.connection.publish_retained(self._runner, {"run": self._run, "state": "online"})

    def __call__(self, event: Event) -> None:
        """Publish what an event changes."""
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
                # Retained, so that who comes late can have every game.
                kept = self._game_topic(record.pair, record.game, "record")
                self.connection.publish_retained(kept, self._stamp(encode(record)))
        for snapshot in changed:
            self._publish(snapshot)

    def close(self) -> None:
        """Say goodbye and disconnect."""
        self.connection.publish_retained(self._runner, {"run": self._run, "state": "offline"})
        self.connection.close()

    @property
    def unpublished(self) -> str:
        """What has not been published, for a person; nothing if all has."""
        broker, connection = self._broker, self.connection
        missing = connection.pending_count + connection.dropped
        if refused := next(iter(connection.rejected.items()), None):
            return f"broker {broker} refused a part of the match, such as {': '.join(refused)}"
        problem = connection.error or "no connection"
        if not connection.published:
            return f"nothing of the match was published: broker {broker}: {problem}"
        if missing:
            return f"{missing} messages were not published: broker {broker}: {problem}"
        return ""

    def _on_refused(self, topic: str, reason: str) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell(f"broker {self._broker} refuses {topic}: {reason}")

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


class MqttSubscriber:
    """The other end: a tournament's live state and its games as the broker's messages give them."""

    def __init__(self, name: str) -> None:
        """Follow the tournament of this name, or the first that is heard of for `+`."""
        self.name = name
        self.state = LiveState()
        self.games: dict[str, dict[str, Any]] = {}
        self.runner = ""
        self.message_count = 0
        self._sequences: dict[str, tuple[str, int]] = {}

    @property
    def subscription(self) -> str:
        """The topics to subscribe to."""
        return topics.tournament(self.name, "#")

    def on_message(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Take a message; one that is not valid, or older than what is known, changes nothing."""
        parts = topic.removeprefix(topics.tournament("")).split("/", 1)
        if payload is None or len(parts) != 2:
            return
        name, part = parts
        if self.name == "+":
            self.name = name
        if name != self.name:
            return
        self.message_count += 1
        kind = _schema_name(part)
        if not kind or payloads.find_error(kind, payload):
            return
        if kind == "runner":
            self.runner = payload["state"]
        elif kind == "info":
            self._apply_search_info(payload)
        elif kind == "record":
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
            said = {key: payload[key] for key in ("depth", "cp", "mate", "nodes")}
            board[f"{payload['side']}_said"] = said


def _schema_name(part: str) -> str:
    """Return the schema's name for what a topic below a tournament's has, if we follow it."""
    if part in ("runner", "status", "standings", "curve"):
        return part
    if re.fullmatch(r"games/[0-9.-]{1,40}/record", part):
        return "record"
    if re.fullmatch(r"boards/[0-9]{1,4}", part):
        return "board"
    return "info" if part.endswith("/info") else ""
