"""The GTP proxy: one answer per command, and games that continue at another server."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.remote.gtp import GtpProxy


def say(proxy, line, answer, now=0.0):
    """Send a command and the server's answer; return what the front end receives."""
    proxy.on_frontend_line(line, now)
    replies = [
        reply for text in answer.split("\n") for reply in proxy.on_server_line(text, now).frontend
    ]
    return replies + list(proxy.on_server_line("", now).frontend)


def talk(*pairs):
    proxy = GtpProxy(timeout=30.0)
    proxy.on_connected(0.0)
    for line, answer in pairs:
        assert say(proxy, line, answer) == [f"{answer}\n"]
    return proxy


def again(proxy, now=0.0):
    proxy.on_disconnected(now)
    return list(proxy.on_connected(now).server)


def test_answers_are_forwarded_with_their_ids():
    proxy = talk(("1 name", "=1 Kempelen"), ("list_commands", "= name\nplay"))
    assert say(proxy, "7 nonsense", "?7 unknown command") == ["?7 unknown command\n"]
    assert proxy.on_server_line("= more", 0.0).frontend == ()
    assert proxy.on_frontend_line("# a comment", 0.0).server == ()
    assert not proxy.has_pending()


def test_settings_and_moves_are_replayed_after_reconnect():
    proxy = talk(
        ("komi 6.5", "="), ("boardsize 9", "="), ("clear_board", "="), ("komi 7.5", "="),
        ("kata-set-rule ko SIMPLE", "="), ("kata-set-rules japanese", "="),
        ("kata-set-rule tax SEKI", "="), ("kata-set-param maxVisits 10", "="),
        ("5 play b E5", "=5"), ("genmove w", "= C3"), ("play b J9", "? illegal move"),
        ("genmove b", "= PASS"), ("reg_genmove w", "= A1"), ("genmove w", "= resign"),
    )  # fmt: skip
    assert again(proxy) == [
        "boardsize 9", "komi 7.5", "kata-set-rules japanese", "kata-set-rule tax SEKI",
        "kata-set-param maxVisits 10", "play b E5", "play w C3", "play b PASS",
    ]  # fmt: skip
    assert not proxy.has_pending()
    for _ in range(8):
        assert (
            proxy.on_server_line("=", 0.0).frontend == proxy.on_server_line("", 0.0).frontend == ()
        )
    assert say(proxy, "9 play w D4", "=9") == ["=9\n"]


@pytest.mark.parametrize("count", ["9" * 5000, "-1", "x", "\N{SUPERSCRIPT TWO}"])
def test_invalid_number_of_undone_moves_does_not_end_the_session(count):
    proxy = talk(("play b E5", "="), (f"gg-undo {count}", "="))
    assert again(proxy) in ([], ["play b E5"])


def test_set_position_is_replayed_after_reconnect():
    proxy = talk(
        ("play b E5", "="), ("set_position b C3 w D4", "="), ("play b C4", "="),
    )  # fmt: skip
    assert again(proxy) == ["set_position b C3 w D4", "play b C4"]


def test_settings_changed_after_loadsgf_are_replayed_after_it():
    proxy = talk(
        ("komi 0.5", "="), ("loadsgf /x.sgf", "= black"), ("komi 6.5", "="), ("undo", "="),
        ("kata-set-rules japanese", "="), ("kata-set-param maxVisits 10", "="),
    )  # fmt: skip
    assert again(proxy) == [
        "komi 6.5", "kata-set-rules japanese", "kata-set-param maxVisits 10",
        "loadsgf /x.sgf", "komi 6.5", "undo", "kata-set-rules japanese",
    ]  # fmt: skip


def test_options_of_leela_zero_and_sets_of_parameters_are_replayed():
    proxy = talk(
        ("lz-setoption name Visits value 5", "="), ("lz-setoption name Pondering value true", "="),
        ("lz-setoption name Visits value 9", "="), ("lz-setoption", "=\noption name Visits"),
        ('kata-set-params {"maxVisits": 7}', "="), ('kata-set-params {"maxVisits": 8}', "="),
    )  # fmt: skip
    assert again(proxy) == [
        "lz-setoption name Pondering value true", "lz-setoption name Visits value 9",
        "lz-setoption", 'kata-set-params {"maxVisits": 8}',
    ]  # fmt: skip


def test_searches_that_play_no_move_are_not_replayed():
    proxy = talk(
        ("play b E5", "="), ("kata-search w", "= C3"), ("restricted_genmove w C3", "= C3"),
        ("gogui-setup w A1", "="),
    )  # fmt: skip
    for name in ("kata-search_analyze", "kata-search_analyze_cancellable"):
        assert say(proxy, f"{name} w", "=\ninfo move C3\nplay C3")[0] == "="
    assert again(proxy) == ["play b E5", "gogui-setup w A1"]


def test_undone_moves_are_not_replayed():
    proxy = talk(
        ("play b E5", "="), ("play w C3", "="), ("undo", "="), ("play w C4", "="),
        ("play b D4", "="), ("gg-undo 2", "="), ("fixed_handicap 2", "= C3 G7"),
    )  # fmt: skip
    assert again(proxy) == ["play b E5", "fixed_handicap 2"]
    talk_on = talk(("place_free_handicap 2", "= C3 G7"), ("undo", "="))
    assert again(talk_on) == ["set_free_handicap C3 G7", "undo"]
    assert again(talk(("play b E5", "="), ("loadsgf /x.sgf", "= black"))) == ["loadsgf /x.sgf"]
    assert again(talk(("play b E5", "="), ("boardsize 5", "="))) == ["boardsize 5"]
    resized = talk(("boardsize 5", "="), ("play b E5", "="), ("rectangular_boardsize 9 13", "="))
    assert again(resized) == ["rectangular_boardsize 9 13"]


def test_genmove_is_resent_with_remaining_time():
    proxy = talk(("time_settings 60 0 0", "="), ("play b E5", "="))
    proxy.on_frontend_line("time_left w 20 0", 1.0)
    proxy.on_server_line("=", 1.0)
    proxy.on_server_line("", 1.0)
    proxy.on_frontend_line("3 genmove w", 2.0)
    assert proxy.deadline() == inf
    assert again(proxy, 5.0) == [
        "time_settings 60 0 0", "play b E5", "time_left b 60.00 0", "time_left w 17.00 0",
        "3 genmove w",
    ]  # fmt: skip
    proxy.on_disconnected(6.0)
    assert proxy.deadline() == pytest.approx(21.7)
    assert proxy.on_timeout(21.7, "no server").frontend == ["?3 no server\n"]
    assert not proxy.has_pending()


@pytest.mark.parametrize(
    ("setting", "elapsed", "remaining"),
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
def test_remaining_time_is_computed_for_each_time_system(setting, elapsed, remaining):
    proxy = talk((setting, "="))
    proxy.on_frontend_line("genmove b", 0.0)
    assert f"time_left b {remaining}" in again(proxy, elapsed)


def test_remaining_periods_are_replayed():
    proxy = talk(("kgs-time_settings byoyomi 0 30 5", "="), ("time_left b 30 3", "="))
    assert "time_left b 30.00 3" in again(proxy)
    proxy.on_frontend_line("genmove b", 0.0)
    assert "time_left b 30.00 2" in again(proxy, 45.0)


def test_clock_runs_without_time_left_commands():
    proxy = talk(("time_settings 60 0 0", "="))
    proxy.on_frontend_line("genmove b", 0.0)
    for line in ("= D4", ""):
        proxy.on_server_line(line, 7.0)
    assert "time_left b 53.00 0" in again(proxy)
    assert again(talk(("time_settings 0 1 0", "="))) == ["time_settings 0 1 0"]


@pytest.mark.parametrize("begins", ["clear_board", "boardsize 9", "loadsgf /x.sgf"])
def test_clocks_reset_for_new_game(begins):
    proxy = talk(("time_settings 60 0 0", "="))
    proxy.on_frontend_line("genmove b", 0.0)
    for line in ("= D4", ""):
        proxy.on_server_line(line, 50.0)
    say(proxy, begins, "=")
    assert "time_left b 60.00 0" in again(proxy)


def test_commands_wait_for_server_until_timeout():
    proxy = talk()
    proxy.on_disconnected(0.0)
    proxy.on_frontend_line("1 name", 1.0)
    proxy.on_frontend_line("2 version", 3.0)
    assert proxy.deadline() == 31.0
    assert proxy.on_timeout(31.0, "no server").frontend == ["?1 no server\n"]
    assert list(proxy.on_connected(32.0).server) == ["2 version"]
    assert proxy.on_server_line("=2 1", 32.0).frontend == ()
    assert proxy.on_server_line("", 32.0).frontend == ("=2 1\n",)


def test_partial_answer_is_discarded_after_disconnect():
    proxy = talk()
    proxy.on_frontend_line("list_commands", 0.0)
    proxy.on_server_line("= name", 0.0)
    assert again(proxy) == ["list_commands"]
    assert say_on(proxy, "= name", "play", "") == ["= name\nplay\n"]


def say_on(proxy, *lines):
    return [reply for line in lines for reply in proxy.on_server_line(line, 0.0).frontend]


def test_analysis_continues_as_one_answer_after_reconnect():
    proxy = talk()
    proxy.on_frontend_line("4 lz-analyze 10", 0.0)
    assert say_on(proxy, "=4", "info move D4") == ["=4", "info move D4"]
    assert again(proxy) == ["4 lz-analyze 10"]
    assert say_on(proxy, "=4", "info move D5", "") == ["info move D5", ""]
    assert not proxy.has_pending()


def test_move_from_interrupted_genmove_analyze_is_kept():
    proxy = talk()
    proxy.on_frontend_line("kata-genmove_analyze b 10", 0.0)
    assert say_on(proxy, "=", "info move D4", "play D4") == ["=", "info move D4", "play D4"]
    assert proxy.on_disconnected(0.0).frontend == ("",)
    assert list(proxy.on_connected(0.0).server) == ["play b D4"]


def test_rejected_replay_is_reported():
    proxy = talk(("play b E5", "="))
    proxy.on_frontend_line("genmove w", 0.0)
    again(proxy)
    say_on(proxy, "? illegal move", "")
    assert "play b E5: ? illegal move" in proxy.failure
    assert proxy.abort(proxy.failure).frontend[0].startswith("? the server cannot resume")


def test_endless_answer_is_an_error():
    proxy = talk()
    proxy.on_frontend_line("list_commands", 0.0)
    for number in range(20_000):
        proxy.on_server_line(str(number), 0.0)
        if proxy.failure:
            break
    assert "answer too long" in proxy.failure


TEXT = (
    "1 name play genmove b w D4 pass undo gg-undo x 3 boardsize 9 time_left time_settings 10 0 "
    "lz-analyze kata-genmove_analyze list_commands # quit loadsgf set_free_handicap"
)
WORDS = st.sampled_from(TEXT.split())
LINES = st.lists(WORDS, max_size=4).map(" ".join)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["ask", "answer", "lose", "due"]), LINES, st.booleans())))
def test_every_command_is_answered_exactly_once(events):
    proxy = talk()
    asked, answered, now = 0, 0, 0.0
    for kind, line, well in events:
        now += 20.0
        frontend = ()
        if kind == "ask":
            asked -= len(proxy._pending)
            proxy.on_frontend_line(line, now)
            asked += len(proxy._pending)
        elif kind == "answer":
            for each in ("= " + line if well else "? " + line, *(["play D4"] * well), ""):
                frontend += tuple(proxy.on_server_line(each, now).frontend)
        elif kind == "lose":
            frontend = proxy.on_disconnected(now).frontend
            if well:
                proxy.on_connected(now)
        else:
            frontend = proxy.on_timeout(now, "no server").frontend
            assert proxy.deadline() > now
        answered += len("\n".join([*frontend, ""]).split("\n\n")) - 1 if frontend else 0
    proxy.on_disconnected(now)
    assert asked - answered == len(proxy._pending)


@pytest.mark.parametrize("command", ["showboard", "genmove b"])
def test_long_lines_of_an_answer_are_limited(command):
    proxy = talk(("play b E5", "="))
    proxy.on_frontend_line(command, 0.0)
    for line in ["=", *["x" * (1 << 20)] * 15]:
        proxy.on_server_line(line, 0.0)
        assert not proxy.failure
    proxy.on_server_line("x" * (1 << 20), 0.0)
    proxy.on_server_line("x", 0.0)
    assert "answer too long" in proxy.failure


def test_streamed_analysis_has_no_limit():
    proxy = talk(("play b E5", "="))
    proxy.on_frontend_line("lz-analyze", 0.0)
    for line in ["=", *["info move D4 visits 1"] * 12_000]:
        assert proxy.on_server_line(line, 0.0).frontend == (line,)
    assert not proxy.failure
