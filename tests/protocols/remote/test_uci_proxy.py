"""The UCI proxy: what it replays to another server, and what it answers without one."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.remote.proxy import NOTHING
from protocols.remote.uci import UciProxy


def talk(*lines, up=True, now=0.0):
    """Return a proxy after the handshake and some lines of the front end."""
    proxy = UciProxy(timeout=30.0)
    proxy.on_frontend_line("uci", now)
    proxy.on_connected(now)
    proxy.on_server_line("uciok", now)
    proxy.on_server_line("readyok", now)
    for line in lines:
        proxy.on_frontend_line(line, now)
    if not up:
        proxy.on_disconnected(now)
    return proxy


def again(proxy, now=0.0):
    proxy.on_disconnected(now)
    return list(proxy.on_connected(now).server)


def test_first_server_receives_earlier_commands():
    proxy = UciProxy(timeout=30.0)
    for line in ("uci", "d", "isready"):
        assert proxy.on_frontend_line(line, 0.0) == NOTHING
    assert proxy.on_connected(0.1).server == ["uci", "isready", "isready", "d"]
    assert proxy.on_server_line("id name X", 0.1).frontend == ("id name X",)
    assert proxy.on_server_line("uciok", 0.1).frontend == ("uciok",)
    # The proxy's own isready, that of the front end, and one too many.
    for expected in ((), ("readyok",), ()):
        assert proxy.on_server_line("readyok", 0.1).frontend == expected
    assert not proxy.has_pending()


def test_settings_and_position_are_replayed_silently():
    proxy = talk(
        "setoption name Hash value 32", "setoption name Threads value 2", "debug on",
        "setoption name hash value 64", "setoption name Clear Hash", "ucinewgame",
        "position startpos moves e2e4",
    )  # fmt: skip
    assert again(proxy) == [
        "uci", "debug on", "setoption name Threads value 2", "setoption name hash value 64",
        "ucinewgame", "isready", "position startpos moves e2e4",
    ]  # fmt: skip
    for line in ("id name X", "option name Hash", "info string said before", "uciok", "readyok"):
        assert proxy.on_server_line(line, 0.0).frontend == ()
    assert proxy.on_server_line("info string new", 0.0).frontend == ("info string new",)


def test_messages_about_new_options_are_shown():
    """An option that is set before the connection is made, or while it is lost."""
    unknown = "info string unknown option: 'Foo'"
    proxy = UciProxy(timeout=30.0)
    proxy.on_frontend_line("uci", 0.0)
    proxy.on_frontend_line("setoption name Foo value 1", 0.0)
    assert "setoption name Foo value 1" in proxy.on_connected(0.0).server
    for line in ("uciok", unknown):
        assert proxy.on_server_line(line, 0.0).frontend == (line,)
    assert proxy.on_server_line("readyok", 0.0).frontend == ()
    again(proxy)  # the message was shown before
    for line in ("uciok", unknown, "readyok"):
        assert proxy.on_server_line(line, 0.0).frontend == ()
    proxy.on_disconnected(0.0)
    proxy.on_frontend_line("setoption name Bar value 1", 0.0)
    proxy.on_connected(0.0)
    assert proxy.on_server_line("uciok", 0.0).frontend == ()
    assert proxy.on_server_line("info string Bar", 0.0).frontend == ("info string Bar",)


@pytest.mark.parametrize("line", ["setoption name Foo", "setoption Foo"])
def test_options_without_value_are_sent_when_connected(line):
    proxy = talk("ucinewgame", up=False)
    proxy.on_frontend_line(line, 0.0)
    assert proxy.on_connected(0.0).server[-1] == line
    assert line not in again(proxy)


@pytest.mark.parametrize(
    ("position", "go", "expected"),
    [
        ("position startpos", "go wtime 5000 btime 4000 winc 10 binc 20",
         "go wtime 3500 btime 4000 winc 10 binc 20"),
        ("position startpos moves e2e4", "go wtime 5000 btime 4000", "go wtime 5000 btime 2500"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R b - - 0 1", "go wtime 5000 btime 4000",
         "go wtime 5000 btime 2500"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R b - - 0 1 moves e8d8", "GO WTIME 5000 BTIME 4000",
         "GO WTIME 3500 BTIME 4000"),
        ("position startpos", "go movetime 2000", "go movetime 500"),
        ("position startpos", "go wtime 1000 btime 1000", "go wtime 1 btime 1000"),
        ("position startpos", "go depth 7", "go depth 7"),
        ("position startpos", "go infinite", "go infinite"),
        ("position startpos", "go ponder wtime 5000 btime 4000", "go ponder wtime 5000 btime 4000"),
    ],
)  # fmt: skip
def test_search_is_resent_with_remaining_time(position, go, expected):
    proxy = talk(position, go)
    lines = again(proxy, 1.5)
    assert lines[-2:] == [position, expected]
    assert proxy.on_server_line("bestmove e2e4", 2.0).frontend == ("bestmove e2e4",)
    assert proxy.on_server_line("bestmove e2e4", 2.0).frontend == ()


def test_ponder_clock_starts_at_ponderhit():
    proxy = talk("position startpos", "go ponder wtime 5000 btime 4000")
    proxy.on_frontend_line("ponderhit", 10.0)
    assert again(proxy, 11.0)[-1] == "go wtime 4000 btime 4000"


def test_position_set_during_search_is_replayed_after_go():
    proxy = talk("position startpos", "go infinite", "position startpos moves e2e4")
    assert again(proxy)[-3:] == ["position startpos", "go infinite", "position startpos moves e2e4"]


def test_pending_isready_is_answered_by_next_server():
    proxy = talk("isready", "isready")
    assert again(proxy)[-3:] == ["isready"] * 3
    proxy.on_server_line("uciok", 0.0)
    proxy.on_frontend_line("isready", 0.0)
    for expected in ((), *[("readyok",)] * 3, ()):
        assert proxy.on_server_line("readyok", 0.0).frontend == expected


@pytest.mark.parametrize(
    ("go", "due"),
    [
        ("go wtime 1000 btime 9000", 0.8),
        ("go wtime 60000 btime 9000", 59.7),
        ("go movetime 500", 0.5),
        ("go depth 5", 0.25 + 30.0),
        ("go infinite", inf),
        ("go ponder wtime 1000 btime 1000", inf),
    ],
)
def test_search_deadline_without_server_follows_limits(go, due):
    proxy = talk("position startpos", go)
    proxy.on_disconnected(0.25)
    assert proxy.deadline() == pytest.approx(due)


def test_best_known_move_is_played_without_server():
    proxy = talk("position startpos moves e2e4", "go wtime 1000 btime 1000")
    proxy.on_server_line("info depth 3 multipv 1 score cp 3 pv c7c5 g1f3", 0.1)
    proxy.on_server_line("info depth 3 multipv 2 score cp 3 pv a7a5 g1f3", 0.1)
    proxy.on_disconnected(0.2)
    assert proxy.on_timeout(0.5, "no server").frontend == []
    text, answer = proxy.on_timeout(0.8, "no server").frontend
    assert text.startswith("info string no server")
    assert answer == "bestmove c7c5"
    assert not proxy.has_pending()
    assert proxy.deadline() == inf
    assert again(proxy)[-1] == "position startpos moves e2e4"


@pytest.mark.parametrize("heard", ["", "info pv e2e4", "info depth 1 pv  ", "info pv h9h9"])
def test_legal_move_is_played_without_usable_search_output(heard):
    fen = "k7/8/8/8/8/8/5q2/7K w - - 0 1"  # without a legal move
    proxy = talk(f"position fen {fen} moves", "go movetime 10")
    proxy.on_server_line(heard, 0.0)
    proxy.on_disconnected(0.0)
    assert proxy.on_timeout(0.1, "no server").frontend[-1] == "bestmove (none)"
    proxy = talk("position fen k7/8/8/8/8/8/6q1/7K w - - 0 1", "go movetime 10", up=False)
    assert proxy.on_timeout(0.1, "no server").frontend[-1] == "bestmove h1g2"


@pytest.mark.parametrize(
    ("variant", "fen", "heard", "answer"),
    [
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1", "info depth 1 pv N@f3", "N@f3"),
        ("koth", "7k/8/8/8/8/4K3/8/8 w - - 0 1", "info depth 1 pv e3e5", "e3e4 e3d4"),
        ("3check", "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "", "a1a8"),
    ],
)
def test_move_without_server_is_legal_in_the_variant(variant, fen, heard, answer):
    proxy = talk(
        f"setoption name UCI_Variant value {variant}", f"position fen {fen}", "go movetime 10"
    )
    proxy.on_server_line(heard, 0.0)
    proxy.on_disconnected(0.0)
    move = proxy.on_timeout(0.1, "no server").frontend[-1].removeprefix("bestmove ")
    assert move in answer.split()


def test_unknown_variant_is_forwarded_and_changes_nothing():
    known = "setoption name UCI_Variant value King of the Hill"
    unknown = "setoption name UCI_Variant value losers"
    position = "position fen 7k/8/8/8/8/4K3/8/8 w - - 0 1"
    proxy = talk(known, position)
    assert proxy.on_frontend_line(unknown, 0.0).server == (unknown,)
    assert again(proxy) == ["uci", known, "isready", position]
    proxy.on_disconnected(0.0)
    assert proxy.on_frontend_line(unknown, 0.0) == NOTHING
    # The next server names it, after the replayed commands.
    assert list(proxy.on_connected(0.0).server) == ["uci", known, "isready", position, unknown]
    proxy.on_frontend_line("go movetime 10", 0.0)
    proxy.on_disconnected(0.0)
    answer = proxy.on_timeout(0.1, "no server").frontend[-1]
    assert answer in ("bestmove e3e4", "bestmove e3d4")  # the hill


def test_position_of_another_variant_is_not_replayed():
    variant = "setoption name UCI_Variant value atomic"
    assert again(talk("position startpos moves e2e4", variant)) == ["uci", variant, "isready"]
    assert again(talk(variant, "position startpos moves e2e4", variant))[-1].startswith("position")


def test_stop_without_server_is_answered_immediately():
    proxy = talk("position startpos", "go infinite", up=False)
    proxy.on_frontend_line("stop", 5.0)
    assert proxy.deadline() == 5.0
    assert proxy.on_timeout(5.0, "no server").frontend[-1].startswith("bestmove ")


def test_go_during_search_leaves_two_answers_due():
    proxy = talk("position startpos", "go infinite", "go movetime 100")
    proxy.on_disconnected(0.0)
    assert proxy.on_timeout(0.0, "no server").frontend[-1].startswith("bestmove ")
    assert proxy.has_pending()
    assert proxy.on_timeout(0.1, "no server").frontend[-1].startswith("bestmove ")
    assert not proxy.has_pending()


def test_clock_of_a_waiting_search_starts_after_the_first_answer():
    proxy = talk("position startpos", "go movetime 1000", "position startpos moves e2e4")
    proxy.on_frontend_line("go movetime 500", 0.5)
    assert again(proxy, 0.75)[-4:] == [
        "position startpos",
        "go movetime 250",
        "position startpos moves e2e4",
        "go movetime 500",
    ]
    assert proxy.on_server_line("bestmove d2d4", 1.0).frontend == ("bestmove d2d4",)
    assert again(proxy, 1.25)[-1] == "go movetime 250"
    proxy.on_disconnected(1.25)
    assert proxy.deadline() == 1.5
    assert proxy.on_timeout(1.5, "no server").frontend[-1].startswith("bestmove ")
    assert not proxy.has_pending()


def test_options_between_searches_are_replayed_between_them():
    first, second = (f"setoption name MultiPV value {lines}" for lines in (1, 2))
    other = "setoption name Hash value 8"
    proxy = talk(other, first, "go depth 3", second, "go depth 4", first)
    lines = again(proxy)
    assert lines[1:3] == [other, first]
    assert lines[-4:] == ["go depth 3", second, "go depth 4", first]
    proxy.on_server_line("bestmove e2e4", 0.0)
    assert again(proxy)[-2:] == ["go depth 4", first]


@pytest.mark.parametrize("go", ["go", "go infinite", "go ponder depth 3", "go infinite depth 3"])
def test_a_search_without_limits_is_stopped_by_the_next(go):
    proxy = talk("position startpos", go, "go movetime 1000")
    assert again(proxy, 0.5)[-4:] == [go, "stop", "position startpos", "go movetime 500"]


def test_only_searches_without_limits_are_stopped_at_the_end_of_input():
    assert talk("position startpos", "go depth 3", "go depth 4").stop() == NOTHING
    assert talk("position startpos", "go depth 3", "go infinite").stop().server == ("stop",)


def test_isready_without_server_is_answered_after_delay():
    proxy = talk(up=False)
    proxy.on_frontend_line("isready", 1.0)
    assert proxy.deadline() == 3.0
    assert proxy.on_timeout(3.0, "no server").frontend == [
        "info string ready, but without a server: no server",
        "readyok",
    ]


def test_silent_server_is_waited_for_until_deadline():
    proxy = talk("position startpos", "go wtime 1000 btime 1000")
    assert proxy.deadline() == pytest.approx(0.99)
    assert talk("position startpos", "go wtime 20 btime 1000").deadline() == pytest.approx(0.018)
    assert talk("position startpos", "go depth 3").deadline() == inf
    proxy.on_server_line("info depth 2 multipv 1 pv d2d4 d7d5", 0.1)
    server, frontend, disconnect = proxy.on_timeout(1.0, "silent")
    assert server == ("stop",)
    assert frontend[-1] == "bestmove d2d4"
    assert not disconnect
    proxy.on_frontend_line("go movetime 100", 1.5)
    for line in ("info depth 3 pv e2e4", "bestmove e2e4"):
        assert proxy.on_server_line(line, 1.5).frontend == ()
    assert proxy.on_server_line("bestmove c2c4", 1.5).frontend == ("bestmove c2c4",)


def test_silent_server_is_dropped():
    proxy = talk("position startpos", "go wtime 1000 btime 1000")
    assert not proxy.on_timeout(1.0, "silent").disconnect
    assert proxy.deadline() == 4.0
    assert proxy.on_timeout(4.0, "silent") == ((), [], True)
    proxy.on_disconnected(4.0)
    assert proxy.deadline() == inf


def test_giving_up_answers_pending_search():
    proxy = talk("position startpos", "go infinite", up=False)
    frontend = proxy.abort("refused").frontend
    assert frontend[0] == "info string refused"
    assert frontend[-1].startswith("bestmove ")


def test_no_older_position_is_played_after_a_refused_or_overlong_one():
    proxy = talk("position startpos moves e2e4", "position bad", "go depth 3", up=False)
    assert proxy.abort("refused").frontend[-1] == "bestmove (none)"

    proxy = talk("position startpos moves e2e4")
    server, frontend, _ = proxy.on_overlong_line(0.0)
    assert (server, frontend) == (("position",), ("info string line too long; ignored",))
    proxy.on_frontend_line("go depth 3", 0.0)
    assert again(proxy)[-2:] == ["position", "go depth 3"]
    assert proxy.abort("refused").frontend[-1] == "bestmove (none)"


TEXT = (
    "uci isready setoption name Hash value 3 ucinewgame position startpos moves e2e4 fen go wtime "
    "100 btime x depth infinite ponder stop ponderhit debug on perft d uciok readyok bestmove info "
    "pv multipv 1 option id \x00 é"
)
WORDS = st.sampled_from(TEXT.split())
LINES = st.lists(WORDS, max_size=7).map(" ".join)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["ask", "answer", "lose", "overdue"]), LINES)))
def test_every_go_is_answered_exactly_once(events):
    proxy = talk()
    now, gos, answers = 0.0, 0, 0
    for kind, line in events:
        now += 1.0
        if kind == "ask":
            before = len(proxy._pending)
            proxy.on_frontend_line(line, now)
            gos += len(proxy._pending) - before
        elif kind == "answer":
            answers += sum(
                each.startswith("bestmove") for each in proxy.on_server_line(line, now).frontend
            )
        elif kind == "lose":
            proxy.on_disconnected(now)
            if line:
                proxy.on_connected(now)
        else:
            frontend = proxy.on_timeout(now, "no server").frontend
            answers += sum(each.startswith("bestmove") for each in frontend)
            if proxy.on_timeout(now, "").disconnect:
                proxy.on_disconnected(now)
                proxy.on_timeout(now, "")  # may answer isready
            assert proxy.deadline() > now
    proxy.on_disconnected(now)
    frontend = proxy.abort("over").frontend
    assert answers + sum(each.startswith("bestmove") for each in frontend) == gos
