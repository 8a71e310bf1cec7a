"""Payloads are validated like by the jsonschema package."""

import json
import math

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.mqtt import payloads, topics

SCHEMA = json.loads(topics.schema_text())
KINDS = list(SCHEMA["$defs"])
VALIDATORS = {
    kind: jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{kind}"}) for kind in KINDS
}
VALID = {
    "request": {
        "id": "1",
        "reply_to": "kempelen/v1/replies/me",
        "game": "g",
        "kind": {"name": "go", "options": {"size": 9, "komi": 6.5}},
        "fen": None,
        "moves": ["e2e4"],
        "limit": 5,
        "limits": {"depth": 3, "white": {"time": 1.5}},
    },
    "reply": {
        "id": "1",
        "move": "e2e4",
        "ponder": None,
        "time": 0.5,
        "info": {"depth": 3, "cp": -5, "mate": None, "nodes": 7, "pv": ["e2e4"]},
    },
    "bot": {
        "name": "b", "state": "online", "engine": "e", "run": "r", "connection": 1,
        "kind": {"name": "go", "options": {"size": 9}},
    },
    "kind": {"name": "go", "options": {"size": 9}},
    "info": {
        "run": "r", "sequence": 3, "board": 1, "pair": "1.1-2.1", "game": 1, "ply": 3,
        "side": "white", "depth": 5, "cp": 12, "mate": None, "nodes": 9, "time": 0.1, "pv": [],
    },
    "board": {
        "run": "r", "sequence": 4, "board": 0, "pair": "1.1-2.1", "game": 2, "white": "A",
        "black": "B", "variant": "atomic", "chess960": True, "fen": "", "moves": ["g1f3"],
        "position": "", "turn": "black", "white_clock": 1.5, "black_clock": None, "last": "Nf3",
        "result": "1-0", "termination": "king exploded", "detail": "", "white_said": None,
        "black_said": None, "scores": [None],
    },
    "record": {
        "run": "r", "sequence": 5, "pair": "1.1-2.1", "game": 1, "white": "A", "black": "B",
        "variant": "3check", "chess960": False, "fen": "", "opening": [], "moves": [{"move": "e4"}],
        "result": "*", "termination": "unfinished", "detail": "", "started": "",
    },
}  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["e2e4", "online", "busy", "kempelen/v1/replies/x", "1-0", "a\n"])
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["time", "cp", "id", "run", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def same_verdict(kind, value):
    valid = VALIDATORS[kind].is_valid(value)
    found = payloads.find_error(kind, value)
    assert (found == "") == valid, (kind, value, found)
    return valid


@given(st.sampled_from(KINDS), JSON)
def test_any_value_is_validated_like_jsonschema(kind, value):
    same_verdict(kind, value)


@given(st.sampled_from(list(VALID)), st.data())
def test_changed_payload_is_validated_like_jsonschema(kind, data):
    payload = json.loads(json.dumps(VALID[kind]))
    assert same_verdict(kind, payload)
    container, key = payload, data.draw(st.sampled_from(list(payload)))
    while isinstance(container[key], dict) and data.draw(st.booleans()):
        container = container[key]
        key = data.draw(st.sampled_from(list(container)))
    if data.draw(st.booleans()):
        del container[key]
    else:
        container[key] = data.draw(JSON)
    same_verdict(kind, payload)


@pytest.mark.parametrize(
    ("topic", "valid"),
    [
        ("kempelen/v1/replies/me", True),
        ("kempelen/v1/replies/me/and you/ü", True),
        ("kempelen/v1/replies/", False),
        ("kempelen/v1/replies/+", False),
        ("kempelen/v1/replies/a/#", False),
        ("kempelen/v1/replies/a\n", False),
        ("kempelen/v1/replies/a\0", False),
        ("kempelen/v1/replies/\ud800", False),
        ("kempelen/v1/replies/\uffff", False),
        ("kempelen/v1/replies/" + "x" * 201, False),
        ("kempelen/v1/tournaments/t/status", False),
        ("$SYS/broker", False),
        ("$share/g/kempelen/v1/replies/me", False),
        ("x/kempelen/v1/replies/me", False),
    ],
)
def test_reply_topics_are_validated(topic, valid):
    assert same_verdict("reply_topic", topic) == valid


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("go", True), ("tic-tac-toe", True), ("Chomp", True), ("Ajedrez_más", True), ("", False),
        ("FILE.py:Class", False), ("/etc/passwd", False), ("a b", False), ("go\n", False),
        ("\x1b[31m", False), ("\ud800", False), ("x" * 101, False),
    ],
)  # fmt: skip
def test_game_names_are_validated(name, valid):
    assert same_verdict("kind", {"name": name}) == valid


@pytest.mark.parametrize("kind", ["board", "record"])
@pytest.mark.parametrize(
    ("name", "value"),
    [("variant", None), ("variant", "x" * 41), ("chess960", "false"), ("detail", 1)],
)
def test_rules_and_reason_of_game_are_validated(kind, name, value):
    assert not same_verdict(kind, VALID[kind] | {name: value})


@pytest.mark.parametrize(
    "data",
    [
        b"", b"null", b"[]", b"1", b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}',
        b"\xff\xfe{}",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": "' + b"x" * 2000 + b'"}', "text", None,
    ],
)  # fmt: skip
def test_decode_rejects_invalid_payloads(data):
    max_bytes = 1000 if isinstance(data, bytes) and b"xxx" in data else 1 << 20
    assert payloads.decode(data, max_bytes) is None


def test_payload_round_trips():
    payload = {"a": [1, 0.5, None, True, "ü\ud800"], "b": {}}
    assert payloads.decode(payloads.encode(payload), 1000) == payload
    with pytest.raises(ValueError, match="not JSON compliant"):
        payloads.encode({"a": math.nan})


def test_problem_names_the_invalid_field():
    request = {**VALID["request"], "moves": ["e2e4", 5], "limits": {"nodes": 2.5}}
    assert payloads.find_error("request", request) == "moves: [2] must be string (got 5)"
    request["moves"] = ["e2 e4"]
    assert "'e2 e4' does not match" in payloads.find_error("request", request)
    request["moves"] = []
    assert payloads.find_error("request", request) == "limits: nodes: must be integer (got 2.5)"
    assert payloads.find_error("request", {}) == "missing id, reply_to, limits"
