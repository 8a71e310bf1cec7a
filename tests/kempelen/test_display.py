"""The display of a tournament."""

from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from agent.io.sanitize import sanitize_line, sanitize_name
from kempelen.console.plain_table import PlainTable
from kempelen.console.terminal import print_error
from kempelen.match.display import view
from kempelen.match.game.game_result import Termination
from kempelen.match.live.events import (
    GameFinished,
    GameStarted,
    MovePlayed,
    Notice,
    StandingsChanged,
    Status,
    TournamentFinished,
    TournamentStarted,
)
from kempelen.match.live.live_state import LiveState
from kempelen.match.rating.standings import outcome_from_record, summarise
from kempelen.match.records.game_record import GameRecord
from tests.kempelen.match.support import engine
from tests.kempelen.match.support import settings as settings_of
from tests.support import ANY_TEXT

WIDE = 20_000


def shown(renderable, width=100):
    console = Console(width=width, file=StringIO())
    console.print(renderable)
    return console.file.getvalue()


def seen(position):
    state = LiveState()
    state.apply(GameStarted(1, "1.1-2.1", 1, "A", "B", "", (), position, "white", None, None))
    return shown(view(state, diagrams=True))


def test_view_draws_boards_of_chess_and_other_games():
    assert "♜ ♞ ♝" in seen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert ". X O" in seen(". X O\n. . .\n. . .")


def is_plain(output):
    return all(line.isprintable() for line in output.split("\n"))


@pytest.mark.thorough
@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=10, max_size=10))
def test_untrusted_text_is_shown_as_plain_text(words):
    name, white, black, move, position, pair, detail, reason, notice, time = words
    state = LiveState()
    chosen = settings_of(engine(), engine(name="x"), engine(name="y"))
    record = GameRecord(
        "1.1-2.1", 1, white, black, "", (), (), "1-0", Termination.CRASH, detail, time
    )
    summary = summarise(chosen, [outcome_from_record(record)])
    for event in [
        TournamentStarted(name, "round-robin", (white, black), time, 1, 2, 0),
        GameStarted(1, pair, 1, white, black, "", (), position, "black", 1.0, 1.0),
        MovePlayed(
            1, pair, 1, 1, "white", move, move, position, "white", *[None] * 4, 0.1, 1.0, 1.0
        ),
        StandingsChanged(summary),
        GameFinished(1, record),
        Notice(notice),
        TournamentFinished(Status.FAILED, summary, reason),
    ]:
        state.apply(event)
    # A broker may send any names.
    state.standings["players"] = [white, black, name]
    for row, player in zip(state.standings["rows"], (white, black, name), strict=True):
        row["name"] = player
    assert is_plain(shown(view(state, diagrams=True)))
    output = shown(view(state, diagrams=True), WIDE)
    assert is_plain(output)
    for word in (white, black, name, move, notice):
        assert sanitize_line(word) in output


@given(ANY_TEXT, ANY_TEXT)
def test_table_cells_and_headings_are_plain_text(heading, cell):
    table = PlainTable(heading)
    table.add_row(cell)
    output = shown(table, WIDE)
    assert is_plain(output)
    assert sanitize_line(heading) in output
    assert sanitize_line(cell) in output


@given(ANY_TEXT)
def test_player_names_are_plain_and_distinct(name):
    chosen = settings_of(engine(name=name), engine(name=name + "\x00"))
    first, second = (each.name for each in chosen.engines)
    assert first == (sanitize_name(name) or "python")
    assert first != second
    assert is_plain(first + second)


def test_error_message_escapes_control_characters(capsys):
    print_error("no [/b]x:\n  \x1b[31m\udcff", "kempelen suite")
    assert capsys.readouterr().err == "kempelen suite: no [/b]x:\n  \\x1b[31m\\udcff\n"
