"""A broker that sends any number of messages of any size: memory and time stay bounded."""

import io
import time

import pytest
from rich.console import Console

from kempelen.commands.mqtt_watch import _render
from kempelen.match.live import mqtt_publisher
from kempelen.match.live.mqtt_publisher import MessageQuota, MqttSubscriber
from protocols.mqtt import topics

STATUS = {
    "name": "match", "format": "swiss", "players": [], "time": "", "boards": 1, "asked": 9,
    "played": 1, "state": "running", "reason": "", "since": "", "run": "a", "sequence": 1,
}  # fmt: skip
RECORD = {
    "pair": "1", "game": 1, "white": "a", "black": "b", "fen": "", "opening": [], "moves": [],
    "result": "1-0", "termination": "", "detail": "", "started": "", "run": "a", "sequence": 1,
}  # fmt: skip
ROW = {
    "name": "a", "elo": 1.0, "error": 1.0, "points": 1, "games": 1, "wins": 1, "draws": 0,
    "losses": 0, "failures": 0,
}  # fmt: skip
# A limit against hangs, in seconds.
LIMIT = 60.0


def render(receiver):
    console = Console(file=io.StringIO(), width=200)
    console.print(_render(receiver))
    return console.file.getvalue()


def send(receiver, part, payload):
    receiver.on_message(topics.tournament("match", part), payload)


def test_games_without_end_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(mqtt_publisher, "MAX_KEPT_BYTES", 100_000)
    receiver = MqttSubscriber("match")
    send(receiver, "status", STATUS)
    for number in range(300):
        send(receiver, f"games/{number}.1/record", RECORD | {"detail": "x" * 1000})
        send(receiver, f"boards/{number}", {"run": "a"})
    assert 50 < len(receiver.games) < 100
    assert "sends too much data" in render(receiver)
    kept = len(receiver.games)
    send(receiver, "games/0.1/record", RECORD)  # in place of a longer one
    assert receiver.games["0.1"]["detail"] == ""
    assert len(receiver.games) == kept


def test_tournaments_of_a_broker_share_the_memory(monkeypatch):
    monkeypatch.setattr(mqtt_publisher, "MAX_KEPT_BYTES", 5_000)
    quota = MessageQuota()
    receivers = [MqttSubscriber("match", quota) for _ in range(2)]
    for number in range(40):
        send(receivers[number % 2], f"games/{number}.1/record", RECORD)
    assert sum(len(receiver.games) for receiver in receivers) < 40
    assert quota.exceeded


@pytest.mark.thorough
def test_standings_with_many_players_are_drawn_in_time():
    receiver = MqttSubscriber("match")
    players = [f"player {number}" for number in range(3000)]
    standings = {
        "players": players, "asked": 9, "played": 1,
        "rows": [ROW | {"name": name} for name in players], "crosstable": [[None]] * 3000,
        "draw_ratio": None, "white_score": None, "distinct_games": 1, "without_result": 0,
        "terminations": {}, "comparison": None, "run": "a", "sequence": 2,
    }  # fmt: skip
    send(receiver, "status", STATUS)
    send(receiver, "standings", standings)
    began = time.monotonic()
    text = render(receiver)
    assert time.monotonic() - began < LIMIT
    assert "player 999 " in text
    assert "player 1000 " not in text


@pytest.mark.parametrize(
    "change", [{"elo": 10**400}, {"error": -(10**400)}, {"points": 1e308}, {"name": "\x1b[2J" * 99}]
)
def test_extreme_standings_are_drawn(change):
    receiver = MqttSubscriber("match")
    send(receiver, "status", STATUS | {"notices": ["\x1b]0;title\x07"] * 1000})
    standings = {
        "players": ["a"], "asked": 9, "played": 1, "rows": [ROW | change], "crosstable": [[1]],
        "draw_ratio": None, "white_score": None, "distinct_games": 1, "without_result": 0,
        "terminations": {}, "comparison": None, "run": "a", "sequence": 2,
    }  # fmt: skip
    send(receiver, "standings", standings)
    text = render(receiver)
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
