"""The tables of a match in every format."""

from io import StringIO

from rich.console import Console, Group

from kempelen.console.settings_codec import encode
from kempelen.match.bracket_table import bracket_table
from kempelen.match.display import standings_view, view
from kempelen.match.live.live_state import LiveState
from kempelen.match.pairing.formats import Format
from kempelen.match.rating.standings import summarise
from tests.kempelen.match.support import engine, settings
from tests.kempelen.match.test_standings import outcome, played


def shown(summary):
    console = Console(width=120, file=StringIO())
    console.print(Group(*standings_view(encode(summary))))
    return console.file.getvalue()


def test_table_and_summary_line_of_two_players_agree():
    chosen = settings(engine("A"), engine("B"), games=2)
    outcomes = [outcome(1, 1, "1-0"), outcome(1, 2, "1/2-1/2")]
    first, second, line = shown(summarise(chosen, outcomes)).splitlines()[1:4]
    assert first.split() == ["1", "A", "+56", "326", "1.5", "2", "1", "1", "0", "0"]
    assert second.split()[:4] == ["2", "B", "-56", "326"]
    assert "Elo +55.7 ± 325.7" in line
    assert "LOS 63.1%" in line


def test_a_swiss_table_shows_byes_and_tie_breaks():
    chosen = settings(*map(engine, "ABC"), format=Format.SWISS, rounds=2, games=2)
    *_, (_, summary) = played(chosen, lambda key, game: 1.0 if key.first == 2 else 0.5)
    heading, first, second, *_ = shown(summary).splitlines()
    assert heading.split()[:7] == ["player", "points", "byes", "Buchholz", "S-B", "Elo", "±"]
    assert first.split()[:6] == ["1", "C", "4", "2", "5", "10"]
    assert second.split()[:6] == ["2", "B", "3", "2", "4", "7"]


def test_a_knockout_shows_its_bracket_and_names_its_winner():
    chosen = settings(*map(engine, "ABC"), format=Format.KNOCKOUT, games=2)
    (_, first), (_, second) = played(chosen, lambda key, game: 1.0 if game == 1 else 0.5)
    assert "winner" not in shown(first)
    text = shown(second)
    lines = [line.split() for line in text.splitlines()]
    assert ["semi-finals", "A", "bye", "A"] in lines
    assert ["B", "1.5", "-", "0.5", "C", "B"] in lines
    assert ["final", "A", "1.5", "-", "0.5", "B", "A"] in lines
    assert "winner: A\n" in text


def test_names_in_a_bracket_are_plain_text():
    match = {"first": "[/b]x", "second": "[red]", "first_points": 1, "second_points": 0}
    console = Console(width=120, file=StringIO())
    console.print(bracket_table([[{**match, "winner": None}]]))
    assert console.file.getvalue().splitlines()[1].split() == [
        "final",
        "[/b]x",
        "1",
        "-",
        "0",
        "[red]",
    ]


def test_view_shows_standings_of_an_earlier_release():
    chosen = settings(engine("A"), engine("B"), games=2)
    summary = encode(summarise(chosen, [outcome(1, 1, "1-0"), outcome(1, 2, "1/2-1/2")]))
    for name in ("format", "bracket", "winner"):
        del summary[name]
    del summary["comparison"]["estimate"]
    for row in summary["rows"]:
        for name in ("byes", "buchholz", "sonneborn_berger"):
            del row[name]
    state = LiveState()
    state.snapshots["standings"] = summary
    console = Console(width=120, file=StringIO())
    console.print(view(state))
    assert "A against B: +1 =1 -0" in console.file.getvalue()


def test_elo_zero_is_not_negative():
    chosen = settings(engine("A"), engine("B"), games=2)
    text = shown(summarise(chosen, [outcome(1, 1, "1-0"), outcome(1, 2, "1-0")]))
    first, second, line = text.splitlines()[1:4]
    assert first.split()[2] == second.split()[2] == "+0"
    assert "Elo +0.0 ± " in line
