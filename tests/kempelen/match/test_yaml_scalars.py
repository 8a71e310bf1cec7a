"""Unquoted YAML values that YAML would convert to another type."""

import json

import pytest

from kempelen.console.settings_codec import SettingsError, decode, encode
from kempelen.console.yaml_scalars import load
from kempelen.match.config.engine_settings import Restart
from kempelen.match.config.time_control import TimeControl
from kempelen.match.config.tournament_file import read_tournament
from protocols.client.engine import EngineOptionError
from protocols.client.uci import Option

TWO = "engines: [{command: a}, {command: b}]\n"


def read(tmp_path, text):
    (tmp_path / "cup.yaml").write_text(text)
    return read_tournament(str(tmp_path / "cup.yaml"))


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("restart: on", "restart", Restart.ON),
        ("restart: off", "restart", Restart.OFF),
        ("restart: On", "restart", None),
        ("name: 12", "name", "12"),
        ("name: 1.10", "name", "1.10"),
        ("name: 007", "name", "007"),
        ("name: 1e3", "name", "1e3"),
        ("name: no", "name", "no"),
        ("name: Yes", "name", "Yes"),
        ("name: true", "name", "true"),
        ("name: 12:30", "name", "12:30"),
        ("name: 2024-01-01", "name", "2024-01-01"),
        ("command: 7", "command", "7"),
        ("arguments: [on, 1.10, 0x10]", "arguments", ("on", "1.10", "0x10")),
        ("environment: {OMP: 010, X: off}", "environment", {"OMP": "010", "X": "off"}),
        ("time: 10", "time", TimeControl(base=10.0)),
        ("time: .5", "time", TimeControl(base=0.5)),
        ("time: 1:30", "time", TimeControl(base=90.0)),
        ("time: {base: 1:30}", "time", TimeControl(base=90.0)),
        ("time: {nodes: 1_000}", "time", TimeControl(nodes=1000)),
        ("time: {nodes: 1e3}", "time", TimeControl(nodes=1000)),
        ("time: {nodes: yes}", "time", None),
        ("time: {nodes: true}", "time", None),
        ("start_limit: 1:00", "start_limit", 60.0),
        ("options: {Hash: 16}", "options", {"Hash": 16}),
        ("options: {Ponder: on}", "options", {"Ponder": "on"}),
        ("options: {Ponder: true, Own: False}", "options", {"Ponder": True, "Own": False}),
        ("options: {Style: no}", "options", {"Style": "no"}),
        ("options: {Seed: 007, Book: 1.5}", "options", {"Seed": "007", "Book": 1.5}),
        ("options: {Day: 2024-01-01, File: '12'}", "options", {"Day": "2024-01-01", "File": "12"}),
    ],
)  # fmt: skip
def test_unquoted_yaml_engine_entries_are_parsed(tmp_path, entry, path, expected):
    text = f"time: {{nodes: 5}}\nengines:\n  - {{command: a, {entry}}}\n  - {{command: b}}\n"
    text = text.replace("command: a, command", "command")
    if expected is None:
        with pytest.raises(SettingsError, match=path):
            read(tmp_path, text)
        return
    engine = read(tmp_path, text).engines[0]
    assert getattr(engine, path) == expected
    plain = json.loads(json.dumps(encode(engine)))
    assert decode(type(engine), plain) == engine


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("name: no", "name", "no"),
        ("chess960: on", "chess960", True),
        ("chess960: Off", "chess960", False),
        ("chess960: yes", "chess960", True),
        ("chess960: 1", "chess960", True),
        ("chess960: maybe", "chess960", None),
        ("seed: 12345678901234567891", "seed", 12345678901234567891),
        ("openings: {file: 1.10}", "openings.file", "1.10"),
        ("adjudication: {resign: {twosided: on}}", "adjudication.resign.twosided", True),
        ("game: {name: go, options: {size: 9, komi: 7.50, wrap: on}}", "game.options",
         {"size": 9, "komi": 7.5, "wrap": True}),
    ],
)  # fmt: skip
def test_unquoted_yaml_tournament_entries_are_parsed(tmp_path, entry, path, expected):
    text = f"time: 1\n{TWO}{entry}\n"
    if entry.startswith("game"):
        text = text.replace("command: a", "command: a, protocol: gtp")
        text = text.replace("command: b", "command: b, protocol: gtp")
    if expected is None:
        with pytest.raises(SettingsError, match=path):
            read(tmp_path, text)
        return
    value = read(tmp_path, text)
    for name in path.split("."):
        value = getattr(value, name)
    assert value == expected
    assert type(value) is type(expected)
    json.dumps(encode(value))


def test_quoted_values_nulls_and_tags_follow_yaml():
    text = "{a: '10', b: [1, null, ~, x], c: {d: !!str 5}}"
    assert load(text) == {"a": "10", "b": ["1", None, None, "x"], "c": {"d": "5"}}


@pytest.mark.parametrize("word", ["true", "True", "on", "yes", "1"])
def test_check_option_converts_true_words(word):
    assert Option("Ponder", "check").check(word) == "true"


@pytest.mark.parametrize("word", ["false", "Off", "no", "0"])
def test_check_option_converts_false_words(word):
    assert Option("Ponder", "check").check(word) == "false"


def test_check_option_rejects_other_words():
    with pytest.raises(EngineOptionError, match=r"Ponder.*'ture'"):
        Option("Ponder", "check").check("ture")
    assert Option("Style", "combo", choices=("on", "off")).check("on") == "on"
