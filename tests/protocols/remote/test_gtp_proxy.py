"""A dialogue in GTP: each command is answered once, and a game goes on at another server."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.remote.gtp import GtpProxy


def say(made, line, answer, now=0.0):
    """Ask, and have the server answer; return what the front end hears."""
    made.asked(line, now)
    heard = [each for text in answer.split("\n") for each in made.told(text, now).frontend]
    return heard + list(made.told("", now).frontend)


def talk(*pairs):
    made = GtpProxy(timeout=30.0)
    made.on_connected(0.0)
    for line, answer in pairs:
        assert say(made, line, answer) == [f"{answer}\n"]
    return made


def again(made, now=0.0):
    made.lost(now)
    return list(made.resume(now).server)


def test_answers_are_forwarded_with_their_ids():
    made = talk(("1 name", "=1 Kempelen"), ("list_commands", "= name\nplay"))
    assert say(made, "7 nonsense", "?7 unknown command") == ["?7 unknown command\n"]
    assert made.on_server_line("= more", 0.0).frontend == ()
    assert made.on_frontend_line("# a comment", 0.0).server == ()
    assert not made.has_pending()


def test_settings_and_moves_are_replayed_after_reconnect():
    made = talk(
        ("komi 6.5", "="), ("boardsize 9", "="), ("clear_board", "="), ("komi 7.5", "="),
        ("kata-set-rule ko SIMPLE", "="), ("kata-set-rules japanese", "="),
        ("kata-set-rule tax SEKI", "="), ("kata-set-param maxVisits 10", "="),
        ("5 play b E5", "=5"), ("genmove w", "= C3"), ("play b J9", "? illegal move"),
        ("genmove b", "= PASS"), ("reg_genmove w", "= A1"), ("genmove w", "= resign"),
    )  # fmt: skip
    assert again(made) == [
        "boardsize 9", "komi 7.5", "kata-set-rules japanese", "kata-set-rule tax SEKI",
        "kata-set-param maxVisits 10", "play b E5", "play w C3", "play b PASS",
    ]  # fmt: skip
    assert not made.has_pending()
    for _ in range(8):
        assert made.on_server_line("=", 0.0).frontend == made.on_server_line("", 0.0).frontend == ()
    assert say(made, "9 play w D4", "=9") == ["=9\n"]


def test_set_position_is_replayed_after_reconnect():
    made = talk(
        ("play b E5", "="), ("set_position b C3 w D4", "="), ("play b C4", "="),
    )  # fmt: skip
    assert again(made) == ["set_position b C3 w D4", "play b C4"]


def test_settings_changed_after_loadsgf_are_replayed_after_it():
    made = talk(
        ("komi 0.5", "="), ("loadsgf /x.sgf", "= black"), ("komi 6.5", "="), ("undo", "="),
        ("kata-set-rules japanese", "="), ("kata-set-param maxVisits 10", "="),
    )  # fmt: skip
    assert again(made) == [
        "komi 6.5", "kata-set-rules japanese", "kata-set-param maxVisits 10",
        "loadsgf /x.sgf", "komi 6.5", "undo", "kata-set-rules japanese",
    ]  # fmt: skip


def test_undone_moves_are_not_replayed():
    made = talk(
        ("play b E5", "="), ("play w C3", "="), ("undo", "="), ("play w C4", "="),
        ("play b D4", "="), ("gg-undo 2", "="), ("fixed_handicap 2", "= C3 G7"),
    )  # fmt: skip
    assert again(made) == ["play b E5", "fixed_handicap 2"]
    talk_on = talk(("place_free_handicap 2", "= C3 G7"), ("undo", "="))
    assert again(talk_on) == ["set_free_handicap C3 G7", "undo"]
    assert again(talk(("play b E5", "="), ("loadsgf /x.sgf", "= black"))) == ["loadsgf /x.sgf"]
    assert again(talk(("play b E5", "="), ("boardsize 5", "="))) == ["boardsize 5"]
    resized = talk(("boardsize 5", "="), ("play b E5", "="), ("rectangular_boardsize 9 13", "="))
    assert again(resized) == ["rectangular_boardsize 9 13"]


def test_genmove_is_resent_with_remaining_time():
    made = talk(("time_settings 60 0 0", "="), ("play b E5", "="))
    made.on_frontend_line("time_left w 20 0", 1.0)
    made.on_server_line("=", 1.0)
    made.on_server_line("", 1.0)
    made.on_frontend_line("3 genmove w", 2.0)
    assert made.deadline() is None
    assert again(made, 5.0) == [
        "time_settings 60 0 0", "play b E5", "time_left b 60.00 0", "time_left w 17.00 0",
        "3 genmove w",
    ]  # fmt: skip
    made.on_disconnected(6.0)
    assert made.deadline() == pytest.approx(21.7)
    assert made.on_timeout(21.7, "no server").frontend == ["?3 no server\n"]
    assert not made.has_pending()


@pytest.mark.parametrize(
    ("setting", "gone", "left"),
    [
        ("time_settings 10 30 5", 4.0, "6.00 0"),
        ("time_settings 10 30 5", 15.0, "25.00 5"),
        ("kgs-time_settings byoyomi 10 30 3", 15.0, "30.00 3"),
        ("kgs-time_settings byoyomi 10 30 3", 45.0, "30.00 2"),
        ("kgs-time_settings absolute 10", 4.0, "6.00 0"),
        ("kgs-time_settings canadian 10 20 5", 12.0, "18.00 5"),
        ("kata-time_settings fischer 10 2", 4.0, "6.00 0"),
        ("kata-time_settings fischer-capped 10 2 12 -1", 4.0, "6.00 0"),
        ("time_left b 10 0", 4.0, "6.00 0"),
        ("time_left b 20 5", 4.0, "16.00 5"),
    ],
)
def test_remaining_time_is_computed_for_each_time_system(setting, gone, left):
    made = talk((setting, "="))
    made.on_frontend_line("genmove b", 0.0)
    assert f"time_left b {left}" in again(made, gone)


def test_clock_runs_without_time_left_commands():
    made = talk(("time_settings 60 0 0", "="))
    made.on_frontend_line("genmove b", 0.0)
    for line in ("= D4", ""):
        made.on_server_line(line, 7.0)
    assert "time_left b 53.00 0" in again(made)
    assert again(talk(("time_settings 0 1 0", "="))) == ["time_settings 0 1 0"]


@pytest.mark.parametrize("begins", ["clear_board", "boardsize 9", "loadsgf /x.sgf"])
def test_clocks_reset_for_new_game(begins):
    made = talk(("time_settings 60 0 0", "="))
    made.on_frontend_line("genmove b", 0.0)
    for line in ("= D4", ""):
        made.on_server_line(line, 50.0)
    say(made, begins, "=")
    assert "time_left b 60.00 0" in again(made)


def test_commands_wait_for_server_until_timeout():
    made = talk()
    made.on_disconnected(0.0)
    made.on_frontend_line("1 name", 1.0)
    made.on_frontend_line("2 version", 3.0)
    assert made.deadline() == 31.0
    assert made.on_timeout(31.0, "no server").frontend == ["?1 no server\n"]
    assert list(made.on_connected(32.0).server) == ["2 version"]
    assert made.on_server_line("=2 1", 32.0).frontend == ()
    assert made.on_server_line("", 32.0).frontend == ("=2 1\n",)


def test_partial_answer_is_discarded_after_disconnect():
    made = talk()
    made.on_frontend_line("list_commands", 0.0)
    made.on_server_line("= name", 0.0)
    assert again(made) == ["list_commands"]
    assert say_on(made, "= name", "play", "") == ["= name\nplay\n"]


def say_on(made, *lines):
    return [each for line in lines for each in made.told(line, 0.0).frontend]


def test_analysis_continues_as_one_answer_after_reconnect():
    made = talk()
    made.on_frontend_line("4 lz-analyze 10", 0.0)
    assert say_on(made, "=4", "info move D4") == ["=4", "info move D4"]
    assert again(made) == ["4 lz-analyze 10"]
    assert say_on(made, "=4", "info move D5", "") == ["info move D5", ""]
    assert not made.has_pending()


def test_move_from_interrupted_genmove_analyze_is_kept():
    made = talk()
    made.on_frontend_line("kata-genmove_analyze b 10", 0.0)
    assert say_on(made, "=", "info move D4", "play D4") == ["=", "info move D4", "play D4"]
    assert made.on_disconnected(0.0).frontend == ("",)
    assert list(made.on_connected(0.0).server) == ["play b D4"]


def test_rejected_replay_is_reported():
    made = talk(("play b E5", "="))
    made.on_frontend_line("genmove w", 0.0)
    again(made)
    say_on(made, "? illegal move", "")
    assert "play b E5: ? illegal move" in made.failure
    assert made.abort(0.0, made.failure).frontend[0].startswith("? the server cannot go on")


def test_endless_answer_is_an_error():
    made = talk()
    made.on_frontend_line("list_commands", 0.0)
    for number in range(20_000):
        made.on_server_line(str(number), 0.0)
        if made.failure:
            break
    assert "does not end" in made.failure


TEXT = (
    "1 name play genmove b w D4 pass undo gg-undo x 3 boardsize 9 time_left time_settings 10 0 "
    "lz-analyze kata-genmove_analyze list_commands # quit loadsgf set_free_handicap"
)
WORDS = st.sampled_from(TEXT.split())
LINES = st.lists(WORDS, max_size=4).map(" ".join)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["asked", "told", "lost", "due"]), LINES, st.booleans())))
def test_every_command_is_answered_exactly_once(events):
    made = talk()
    asked, answered, now = 0, 0, 0.0
    for kind, line, well in events:
        now += 20.0
        frontend = ()
        if kind == "asked":
            asked -= len(made._frontend_commands())
            made.on_frontend_line(line, now)
            asked += len(made._frontend_commands())
        elif kind == "told":
            for each in ("= " + line if well else "? " + line, *(["play D4"] * well), ""):
                frontend += tuple(made.on_server_line(each, now).frontend)
        elif kind == "lost":
            frontend = made.on_disconnected(now).frontend
            if well:
                made.on_connected(now)
        else:
            frontend = made.on_timeout(now, "no server").frontend
            assert made.deadline() is None or made.deadline() > now
        answered += len("\n".join([*frontend, ""]).split("\n\n")) - 1 if frontend else 0
    made.on_disconnected(now)
    assert asked - answered == len(made._frontend_commands())
