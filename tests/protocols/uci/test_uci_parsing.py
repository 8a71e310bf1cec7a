import pytest

from protocols.uci.parsing import (
    MAX_NUMBER,
    MAX_SEARCH_MOVES,
    GoCommand,
    PositionCommand,
    SetOptionCommand,
    UciError,
    parse_depth,
    parse_go,
    parse_position,
    parse_set_option,
    parse_switch,
    shorten,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("name Hash value 32", SetOptionCommand("Hash", "32")),
        ("NAME clear HASH", SetOptionCommand("clear HASH", None)),
        ("name Debug Log File value C:\\My  Files\\a value.log", None),
        ("name Debug Log File value <empty>", SetOptionCommand("Debug Log File", "<empty>")),
        ("name Debug Log File value", SetOptionCommand("Debug Log File", "")),
        ("name value value value", SetOptionCommand("value", "value")),
    ],
)
def test_setoption_arguments_are_parsed(text, value):
    expected = value or SetOptionCommand("Debug Log File", "C:\\My  Files\\a value.log")
    assert parse_set_option(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("startpos", PositionCommand(None, ())),
        ("startpos moves", PositionCommand(None, ())),
        ("startpos moves e2e4 E7E5", PositionCommand(None, ("e2e4", "e7e5"))),
        ("fen 8/8 w - -", PositionCommand("8/8 w - -", ())),
        ("fen 8/8 w - - 0 1 moves a1a2", PositionCommand("8/8 w - - 0 1", ("a1a2",))),
    ],
)
def test_position_arguments_are_parsed(text, value):
    assert parse_position(text) == value


@pytest.mark.parametrize("text", ["", "moves e2e4", "startpos e2e4", "fen", "fen moves e2e4"])
def test_invalid_position_arguments_are_rejected(text):
    with pytest.raises(UciError, match="expected: position"):
        parse_position(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", GoCommand()),
        (
            "wtime 1 btime 2 winc 3 binc 4 movestogo 5",
            GoCommand({"wtime": 1, "btime": 2, "winc": 3, "binc": 4, "movestogo": 5}),
        ),
        ("infinite", GoCommand(infinite=True)),
        ("ponder movetime 100.7", GoCommand({"movetime": 100}, ponder=True)),
        (
            "searchmoves e2e4 d2d4 depth 3",
            GoCommand({"depth": 3}, search_moves=("e2e4", "d2d4")),
        ),
        ("wtime -50", GoCommand({"wtime": 0})),
        ("nodes 99999999999999999999999", GoCommand({"nodes": MAX_NUMBER})),
        ("nodes " + "9" * 5000, GoCommand({"nodes": MAX_NUMBER})),
    ],
)
def test_go_arguments_are_parsed(text, value):
    assert parse_go(text) == value


@pytest.mark.parametrize(
    ("text", "numbers", "problems"),
    [
        ("depth", {"depth": 0}, 1),
        ("depth nodes 5", {"depth": 0, "nodes": 5}, 1),
        ("depth x nodes 5", {"depth": 0, "nodes": 5}, 1),
        ("depth nan", {"depth": 0}, 1),
        ("depth 3 please", {"depth": 3}, 1),
        ("a b c d e f", {}, 4),
    ],
)
def test_invalid_go_arguments_are_reported(text, numbers, problems):
    go = parse_go(text)
    assert go.numbers == numbers
    assert len(go.problems) == problems


def test_switch_and_depth_are_parsed():
    assert parse_switch(" ON ")
    assert not parse_switch("off")
    assert parse_depth("") is None
    assert parse_depth("7") == 7
    for parse, text in ((parse_switch, "1"), (parse_depth, "0"), (parse_depth, "x")):
        with pytest.raises(UciError, match="expected"):
            parse(text)


def test_shorten_quotes_and_truncates_input():
    assert shorten("a\r\nb") == "'a b'"
    assert len(shorten("x" * 1_000_000)) == 62


def test_searchmoves_are_limited_and_later_arguments_parsed():
    words = " ".join(map(str, range(5000)))
    go = parse_go(f"searchmoves e2e4 e2e4 {words} movetime 100")
    assert go.search_moves[:3] == ("e2e4", "0", "1")
    assert len(go.search_moves) == MAX_SEARCH_MOVES
    assert go.numbers == {"movetime": 100}
