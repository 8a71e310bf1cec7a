"""Valid requests are checked by the rules of the game."""

import copy
import json
import random
import re
import time
from pathlib import Path

import chess
import pytest

from agent.games import catalogue
from agent.games.catalogue import GameError
from agent.games.variants import ChessRules
from agent.limits import SideClock
from protocols.client.uci import SearchRequest
from protocols.mqtt import payloads
from protocols.mqtt.request_codec import (
    GameVariant,
    RequestError,
    encode_request,
    encode_variant,
    public_name,
)
from protocols.mqtt.request_parser import ChessRequestParser, GameRequestParser
from tests.protocols.mqtt.support import request

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
CHOMP = f"{Path(__file__).parents[2] / 'data/games/chomp.py'}:Chomp"


def read(payload, positions=None):
    """Return the parsed search request."""
    return (positions or ChessRequestParser()).parse(payload, time.monotonic() + 60)[0]


def test_chess_request_round_trips():
    clocks = SideClock(1.5, 0.5), SideClock(2.0, 0.0)
    asked = SearchRequest(None, ("e2e4", "e7e5"), *clocks, moves_to_go=3, movers=(0, 1))
    assert read(request(**encode_request(asked))) == asked
    black = SearchRequest(None, ("e2e4",), depth=3, side=1, mover=1, movers=(0,))
    assert read(request(**encode_request(black))) == black


@pytest.mark.parametrize(
    ("changes", "position"),
    [
        ({"fen": chess.STARTING_FEN.replace(" ", "\n")}, f"fen {chess.STARTING_FEN}"),
        ({"fen": CASTLING, "moves": ["e1h1"]}, f"fen {CASTLING} moves e1g1"),
        ({"fen": "  8/8/8/8/8/k7/7q/K7   b"}, "fen 8/8/8/8/8/k7/7q/K7 b - - 0 1"),
        ({}, "startpos"),
    ],
)
def test_position_is_normalized_for_the_engine(changes, position):
    assert read(request(**changes)).position_line() == f"position {position}"


def test_chess960_keeps_its_castling_notation():
    asked = read(request(fen=CASTLING, moves=["e1h1"], chess960=True))
    assert asked.position_line() == (f"position fen {CASTLING.replace('KQkq', 'HAha')} moves e1h1")
    assert encode_request(asked, GameVariant(rules=ChessRules(chess960=True)))["chess960"] is True
    assert "chess960" not in encode_request(asked)


@pytest.mark.parametrize(
    ("variant", "fen", "moves"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1", ("N@f3", "e8e7")),
        ("3check", "4k3/8/8/8/8/8/8/R3K3 w Q - 3+2 0 1", ("e1c1",)),
        ("antichess", "8/4P3/8/8/8/8/8/k7 w - - 0 1", ("e7e8k",)),
    ],
)
def test_variant_request_round_trips(variant, fen, moves):
    side = len(moves) % 2
    asked = SearchRequest(
        fen, moves, depth=3, side=side, mover=side, movers=tuple(range(len(moves)))
    )
    game = GameVariant(rules=ChessRules(variant))
    parsed = ChessRequestParser().parse(
        request(**encode_request(asked, game)), time.monotonic() + 60
    )
    assert parsed == (asked, game)
    assert "variant" not in encode_request(asked)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"moves": ["e2e5"]}, "illegal uci"),
        ({"moves": ["e2e4", "0000"]}, r"move 2: invalid move '0000' \(expected UCI notation\)"),
        ({"moves": ["P@e4"]}, "move 1: invalid move 'P@e4'"),
        ({"moves": ["E2E4"]}, "move 1: invalid move 'E2E4'"),
        ({"kind": {"name": "go"}}, "^kind: this bot plays chess, not go$"),
        ({"kind": {"name": "chess", "options": {"size": 8}}}, "chess has no options"),
        ({"limits": {"playouts": 5}}, "playouts not supported"),
        ({"moves": ["e2e4", "e2e4"]}, "illegal uci"),
        ({"fen": "nonsense"}, "fen"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "fen: illegal position"),
        ({"fen": "8/8/8/8/8/k7/8/K6q w - - 0 1"}, "game is already over"),
        ({"variant": "losers"}, r"variant: unknown 'losers' \(expected one of: chess, crazyhouse"),
        ({"variant": "crazyhouse", "moves": ["P@e4"]}, "illegal uci"),
        ({"variant": "koth", "fen": "8/8/8/4K3/8/8/8/k7 b - - 0 1"}, "game is already over"),
        ({"limits": {"moves_to_go": 5}}, "limits"),
        ({"limits": {"white": {"time": 5}}}, "limits"),
    ],
)
def test_invalid_chess_requests_are_rejected(changes, message):
    with pytest.raises(RequestError, match=message):
        read(request(**changes))


def test_start_position_only_engine_rejects_fen_and_chess960():
    positions = ChessRequestParser(from_start=True)
    assert read(request(moves=["e2e4"]), positions).mover == 1
    for changes in ({"fen": CASTLING}, {"chess960": True}, {"variant": "koth"}):
        with pytest.raises(RequestError, match=f"{next(iter(changes))}: not supported"):
            read(request(**changes), positions)


GO = {"name": "go"}


def go(**options):
    return GameRequestParser("go", options, {"playouts"})


def about_go(moves="", options=None, **changes):
    kind = GO if options is None else {**GO, "options": options}
    return request(**{"kind": kind, "moves": moves.split(), "limits": {"movetime": 1}, **changes})


def test_go_request_round_trips():
    variant = GameVariant("go", {"size": 9, "komi": 6.5})
    clocks = SideClock(60, 1), SideClock(50, 1)
    asked = SearchRequest(None, ("C3", "pass"), *clocks, side=1, mover=0, movers=(0, 1), playouts=9)
    found = go().parse(request(**encode_request(asked, variant)), time.monotonic() + 60)
    assert found == (asked, variant)
    assert read(about_go("c3"), go()) == SearchRequest(
        None, ("C3",), movetime=1, side=0, mover=1, movers=(0,)
    )


def test_example_in_mqtt_guide_is_valid():
    page = (Path(__file__).parents[3] / "docs/guide/mqtt.md").read_text()
    block = page.split("```json\n")[1].split("```")[0]
    asked, *replies = map(json.loads, re.split(r"\n(?=\{)", block.strip()))
    assert payloads.find_error("request", asked) == ""
    assert read(asked, go(size=13)).moves == ("E5", "pass")
    assert [payloads.find_error("reply", reply) for reply in replies] == ["", ""]
    with pytest.raises(RequestError, match=replies[1]["error"]["message"]):
        read(asked, GameRequestParser("othello", {}))


def test_missing_options_default_to_those_of_the_bot():
    positions = go(size=13)
    for options, size, komi in [
        (None, 13, None), ({"size": 13.0}, 13, None), ({"size": 9}, 9, None),
        ({"komi": 0}, 13, 0.0), ({}, 13, None), ({"komi": 7.5, "size": 19}, 19, None),
        ({"size": "9x13"}, "9x13", None), ({"size": "7X7"}, 7, None),
    ]:  # fmt: skip
        variant = positions.parse(about_go("a1", options), time.monotonic() + 60)[1]
        assert (variant.options["size"], variant.options.get("komi")) == (size, komi)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (about_go(kind={"name": "othello"}), "^kind: this bot plays go, not othello$"),
        (about_go(kind={"name": "Go"}), "plays go, not Go$"),
        (about_go(kind={"name": "chess"}), "plays go, not chess$"),
        (request(), r"^kind: this bot plays go, not chess \(`kind` names the game\)$"),
        (request(moves=["e2e4"], fen=CASTLING), r"not chess \(`kind` names the game\)"),
        (about_go(fen=CASTLING), "fen, chess960: for chess only"),
        (about_go(chess960=True), "fen, chess960: for chess only"),
        (about_go(variant="atomic"), "variant: for chess only"),
        (about_go("a1 b1 a1"), "^move 3: illegal move 'a1' .legal moves: "),
        (about_go("a1 e2e4"), "^move 2: illegal move 'e2e4'"),
        (about_go("a1 j9 z25"), "^move 3: illegal move 'z25'"),
        (about_go("resign"), "^move 1: illegal move 'resign'"),
        (about_go("pass pass"), "^the game is already over$"),
        (
            about_go("pass pass a1"),
            "^move 3: illegal move 'a1' .legal moves: none, the game is over",
        ),
        (about_go("pass " * 4001), r"^moves: too many \(at most 4000 plies, got 4001\)$"),
        (about_go(options={"size": 20}), r"^kind: size: must be from 1 to 19 \(got 20\)$"),
        (about_go(options={"size": 10**300}), r"size: must be from 1 to 19 \(got 1000"),
        (about_go(options={"size": -1}), r"size: must be from 1 to 19 \(got -1\)"),
        (about_go(options={"size": 9.5}), r"size: must be a whole number \(got 9.5\)"),
        (about_go(options={"size": "9\nquit"}), r"^kind: invalid board size .* \(expected 1 to 19"),
        (about_go(options={"size": "9x13\n"}), r"^kind: invalid board size .* \(expected 1 to 19"),
        (
            about_go(options={"size": "9x20"}),
            r"^kind: invalid board size '9x20' \(expected 1 to 19",
        ),
        (about_go(options={"size": [9, 13]}), "size: must be a whole number"),
        (about_go(options={"size": True}), r"size: must be a whole number \(got true\)"),
        (about_go(options={"komi": 1e300}), "komi: must be from -1000 to 1000"),
        (about_go(options={"komi": [7.5]}), "komi: must be from"),
        (
            about_go(options={"colour": 1}),
            r"^kind: go: unknown option colour \(known options: size, komi\)$",
        ),
        (about_go(limits={"nodes": 5}), r"nodes not supported \(this bot supports movetime, white"),
        (about_go(limits={"white": {"time": 5}}), "expected movetime, playouts, or white"),
    ],
)
def test_invalid_go_requests_are_rejected(payload, message):
    positions = go()
    with pytest.raises(RequestError, match=message) as caught:
        read(payload, positions)
    assert len(str(caught.value)) <= 300
    assert read(about_go("a1"), positions).moves == ("A1",)


def test_fixed_game_options_must_match_the_bot():
    positions = GameRequestParser("nim", {"misere": True}, {"nodes"})
    kind = {"name": "nim", "options": {"heaps": [3, 4, 5], "misere": True}}
    assert encode_variant(positions.variant) == {
        "name": "nim", "options": {"heaps": (3, 4, 5), "misere": True},
    }  # fmt: skip
    assert read(request(kind=kind), positions).moves == ()
    for name, value in [("heaps", [9, 9]), ("heaps", 10**9), ("misere", False)]:
        kind = {"name": "nim", "options": {name: value}}
        with pytest.raises(RequestError, match=f"kind: {name}: this bot plays nim with "):
            read(request(kind=kind), positions)
    tree = GameRequestParser("random-tree", {}, {"nodes"})
    with pytest.raises(RequestError, match="depth: this bot plays random-tree with 4, not 60"):
        read(request(kind={"name": "random-tree", "options": {"depth": 60}}), tree)


def test_othello_board_size_is_validated():
    positions = GameRequestParser("othello", {}, {"nodes"})
    for size, message in [
        (1000, "must be from 1 to 25"),
        (7, "game othello: board size must be even"),
    ]:
        with pytest.raises(RequestError, match=message):
            read(request(kind={"name": "othello", "options": {"size": size}}), positions)
    asked = request(kind={"name": "othello", "options": {"size": 6}})
    variant = positions.parse(asked, time.monotonic() + 60)[1]
    assert variant.options == {"size": 6}
    # The default size is sent again, in case the engine had another one.
    variant = positions.parse(request(kind={"name": "othello"}), time.monotonic() + 60)[1]
    assert variant.options == {"size": 8}


def test_custom_game_is_named_after_its_class():
    positions = GameRequestParser(CHOMP, {}, {"nodes"})
    assert positions.variant.name == public_name(CHOMP) == "Chomp"
    assert read(request(kind={"name": "Chomp"}), positions).side == 1
    with pytest.raises(RequestError, match=r"plays Chomp, not chomp\.py$"):
        read(request(kind={"name": "chomp.py"}), positions)
    assert "does not match" in payloads.find_error("kind", {"name": CHOMP})


def test_game_name_in_request_is_not_looked_up(monkeypatch):
    positions = go()
    monkeypatch.setattr(catalogue, "find", lambda name: pytest.fail(f"{name} is looked up"))
    with pytest.raises(RequestError, match="this bot plays go, not os"):
        read(about_go(kind={"name": "os"}), positions)


def test_chance_events_are_given_as_moves():
    positions = GameRequestParser("pig", {"target": 10}, {"nodes"})
    kind = {"name": "pig"}
    with pytest.raises(RequestError, match="missing chance event"):
        read(request(kind=kind, moves=["roll"]), positions)
    found = read(request(kind=kind, moves=["roll", "1"]), positions)
    assert (found.movers, found.mover, found.side) == ((0, 0), 1, 0)


def test_result_is_independent_of_earlier_requests():
    """A request gets the same result in any order of requests."""
    generator = random.Random(1)
    moves = ["a1", "b1", "C3", "pass", "d4", "e5", "b2", "a2"]
    positions = go(size=5)
    for _ in range(200):
        some = moves[: generator.randrange(len(moves) + 1)]
        if generator.random() < 0.2:
            some.append(generator.choice(["a1", "c3", "x", "e4"]))
        payload = about_go(" ".join(some), generator.choice([{}, {"size": 7}]))
        outcomes = []
        for reader in (positions, go(size=5)):
            try:
                outcomes.append(reader.parse(payload, time.monotonic() + 60))
            except RequestError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_reading_a_request_times_out():
    for positions, payload in [
        (ChessRequestParser(), request(moves=["e2e4"])),
        (go(), about_go("a1 b1")),
    ]:
        with pytest.raises(TimeoutError):
            positions.parse(payload, time.monotonic() - 1)


@pytest.mark.thorough
def test_mutated_go_requests_are_read_or_rejected_cleanly():
    generator = random.Random(2)
    strange = [
        None, True, -1, 0, 2.5, 10**300, "", "x" * 500, "a1\n", "go", "FILE.py:Class", "os", [],
        {}, [[1]] * 50, {"size": {}}, {"komi": None}, {"size": [9]}, {"": 1}, {"size": 19},
        "c3", "pass",
    ]  # fmt: skip
    positions, read_well, refused = go(), 0, []
    for _ in range(5000):
        payload = json.loads(json.dumps(about_go("c3 d4", {"size": 9, "komi": 6.5})))
        for _ in range(generator.randrange(1, 3)):
            container = payload
            while generator.random() < 0.6:
                inner = [v for v in _values(container) if isinstance(v, dict | list) and v]
                if not inner:
                    break
                container = generator.choice(inner)
            keys = list(container) if isinstance(container, dict) else range(len(container))
            container[generator.choice(list(keys))] = copy.deepcopy(generator.choice(strange))
        if payloads.find_error("request", payload):
            continue
        try:
            asked, variant = positions.parse(payload, time.monotonic() + 60)
        except RequestError as error:
            refused.append(str(error))
        else:
            read_well += 1
            assert all(move in ("C3", "D4", "pass") for move in asked.moves)
            assert variant.options["size"] in (9, 19)
    assert read_well > 50
    assert max(map(len, refused)) <= 300
    assert all(text.isprintable() for text in refused)


def _values(container):
    return list(container.values()) if isinstance(container, dict) else container


@pytest.mark.parametrize("options", [{"size": 26}, {"colour": 1}])
def test_invalid_bot_options_are_rejected(options):
    with pytest.raises(GameError, match="game go: "):
        go(**options)
