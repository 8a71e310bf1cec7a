"""Tells a broker what happens: the live state's snapshots, and every move, result and thought."""

import secrets
import time
from typing import Any

from protocols.mqtt import topics
from protocols.mqtt.broker import Broker
from protocols.mqtt.connection import Connection
from tournament.events import Event, GameFinished, MovePlayed, SearchInfo
from tournament.live import LiveState
from tournament.values import encode

# Thoughts go out at most so often for each game, in seconds.
INFO_INTERVAL = 0.5


class Broadcast:
    """A listener that publishes one tournament. It never waits for the broker."""

    def __init__(self, broker: Broker, name: str) -> None:
        """Connect; the will marks this runner as lost if it goes without a word."""
        self._name = name
        self._run = secrets.token_hex(4)
        self._sequence = 0
        self._state = LiveState()
        self._told: dict[str, float] = {}
        self._runner = topics.tournament(name, "runner")
        self.connection = Connection(
            broker, will=(self._runner, {"run": self._run, "state": "lost"})
        )
        self.connection.snapshot(self._runner, {"run": self._run, "state": "online"})

    def __call__(self, event: Event) -> None:
        """Publish what an event changes."""
        changed = self._state.apply(event)
        match event:
            case MovePlayed(pair=pair, game=game):
                self.connection.message(self._game(pair, game, "moves"), self._stamp(encode(event)))
            case SearchInfo(pair=pair, game=game):
                self._hint(self._game(pair, game, "info"), event)
            case GameFinished(board=board, record=record):
                names = ("pair", "game", "white", "black", "result", "detail")
                result = {name: getattr(record, name) for name in names}
                result |= {"board": board, "termination": str(record.termination)}
                self._told.pop(self._game(record.pair, record.game, "info"), None)
                topic = self._game(record.pair, record.game, "result")
                self.connection.message(topic, self._stamp(result))
        for snapshot in changed:
            self._publish(snapshot)

    def close(self) -> None:
        """Say goodbye and disconnect."""
        self.connection.snapshot(self._runner, {"run": self._run, "state": "offline"})
        self.connection.close()

    def _publish(self, snapshot: str) -> None:
        payload = self._stamp(self._state.snapshots[snapshot])
        self.connection.snapshot(topics.tournament(self._name, snapshot), payload)

    def _hint(self, topic: str, event: SearchInfo) -> None:
        now = time.monotonic()
        if now - self._told.get(topic, -1e9) >= INFO_INTERVAL:
            self._told[topic] = now
            self.connection.hint(topic, self._stamp(encode(event)))

    def _game(self, pair: str, game: int, part: str) -> str:
        return topics.tournament(self._name, "games", f"{pair}.{game}", part)

    def _stamp(self, payload: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        return {**payload, "run": self._run, "sequence": self._sequence}


class Receiver:
    """The other end: a tournament's live state as the broker's messages give it."""

    def __init__(self, name: str) -> None:
        """Follow the tournament of this name, or the first that is heard of for `+`."""
        self.name = name
        self.state = LiveState()
        self.runner = ""
        self.heard = 0
        self._sequences: dict[str, tuple[str, int]] = {}

    @property
    def subscription(self) -> str:
        """The topics to subscribe to."""
        return topics.tournament(self.name, "#")

    def receive(self, topic: str, payload: dict[str, Any] | None) -> None:
        """Take a message; those that are older than what is known already change nothing."""
        parts = topic.removeprefix(topics.tournament("")).split("/", 1)
        if payload is None or len(parts) != 2:
            return
        name, part = parts
        if self.name == "+":
            self.name = name
        if name != self.name:
            return
        self.heard += 1
        if part == "runner":
            self.runner = str(payload.get("state", ""))
        elif part in ("status", "standings") or part.startswith("boards/"):
            if self._is_new(part, payload):
                self.state.snapshots[part] = payload
        elif part.endswith("/info"):
            self._think(payload)

    def _is_new(self, part: str, payload: dict[str, Any]) -> bool:
        run, sequence = str(payload.get("run")), int(payload.get("sequence", 0))
        known_run, known = self._sequences.get(part, ("", -1))
        if run == known_run and sequence <= known:
            return False
        self._sequences[part] = (run, sequence)
        return True

    def _think(self, payload: dict[str, Any]) -> None:
        board = self.state.snapshots.get(f"boards/{payload.get('board')}", {})
        same = all(board.get(key) == payload.get(key) for key in ("pair", "game"))
        if same and "side" in payload:
            said = {key: payload.get(key) for key in ("depth", "cp", "mate", "nodes")}
            board[f"{payload['side']}_said"] = said
