"""The xboard proxy: games continue at another server, with either side to move."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.remote.proxy import NOTHING
from protocols.remote.xboard import SYNC_PING, XboardProxy

START = ("xboard", "protover 2")


def talk(*lines, now=0.0):
    proxy = XboardProxy(timeout=30.0)
    for line in START:
        proxy.on_frontend_line(line, now)
    proxy.on_connected(now)
    for line in ("feature ping=1 usermove=1 done=0", "feature done=1", f"pong {SYNC_PING}"):
        proxy.on_server_line(line, now)
    for line in lines:
        if line.startswith("< "):
            proxy.on_server_line(line[2:], now)
        else:
            proxy.on_frontend_line(line, now)
    return proxy


def again(proxy, now=0.0):
    """Return what another server receives, without the common start."""
    proxy.on_disconnected(now)
    lines = list(proxy.on_connected(now).server)
    assert lines[: len(START)] == list(START)
    return lines[len(START) :]


def test_only_features_of_first_server_are_forwarded():
    proxy = XboardProxy(timeout=30.0)
    assert proxy.on_frontend_line("xboard", 0.0) == NOTHING
    assert proxy.on_frontend_line("protover 2", 0.0).frontend == ("feature done=0",)
    assert list(proxy.on_connected(0.0).server) == [*START, f"ping {SYNC_PING}"]
    for line in ("feature ping=1", "feature done=1"):
        assert proxy.on_server_line(line, 0.0).frontend == (line,)
    assert proxy.on_server_line(f"pong {SYNC_PING}", 0.0).frontend == ()
    assert again(proxy) == [f"ping {SYNC_PING}"]
    for line in ("feature done=1", "Error (what)", f"pong {SYNC_PING}"):
        assert proxy.on_server_line(line, 0.0).frontend == ()
    assert proxy.on_server_line("Error (what)", 0.0).frontend == ("Error (what)",)


def test_messages_about_new_options_are_shown():
    """An option that is set before the connection is made."""
    unknown = "Error (unknown option: 'Foo'): option Foo=1"
    proxy = XboardProxy(timeout=30.0)
    for line in (*START, "option Foo=1"):
        proxy.on_frontend_line(line, 0.0)
    assert "option Foo=1" in proxy.on_connected(0.0).server
    for line in ("feature done=1", unknown):
        assert proxy.on_server_line(line, 0.0).frontend == (line,)
    for line in ("1 2 3 4 e2e4", f"pong {SYNC_PING}"):
        assert proxy.on_server_line(line, 0.0).frontend == ()
    again(proxy)  # the message was shown before
    assert proxy.on_server_line(unknown, 0.0).frontend == ()


@pytest.mark.parametrize("number", ["9" * 400, "9" * 5000, "--5", "x"])
def test_clock_of_any_size_is_accepted(number):
    proxy = talk("force", f"time {number}", f"otim {number}", "go")
    assert proxy.deadline() > 0
    assert again(proxy, 1.0)


def test_settings_are_replayed_after_reconnect():
    proxy = talk(
        "option Hash=32", "new", "level 40 5 0", "post", "easy", "st 5", "memory 64", "sd 4",
        "option Hash=64", "hard", "nopost", "accepted done", "hint",
    )  # fmt: skip
    assert again(proxy) == [
        "option Hash=64", "new", "st 5", "memory 64", "sd 4", "hard", "nopost", f"ping {SYNC_PING}",
    ]  # fmt: skip
    assert "sd 4" not in again(talk("new", "sd 4", "new"))
    assert again(talk("new", "variant fischerandom"))[:2] == ["new", "variant fischerandom"]


def test_holdings_are_replayed_with_their_position():
    start = ("new", "variant crazyhouse")
    position = ("setboard 4k3/8/8/8/8/8/8/4K3 w - - 0 1", "holding [Q] [n]")
    assert again(talk(*start, *position, "usermove Q@e4", "holding [] [n]")) == [
        *start, "force", *position, "usermove Q@e4", f"ping {SYNC_PING}", "go",
    ]  # fmt: skip
    assert position[1] not in again(talk(*start, *position, position[0]))


def test_unknown_variant_is_forwarded_and_changes_nothing():
    proxy = talk("new", "variant king of the hill", "force", "usermove e2e4")
    assert proxy.on_frontend_line("variant losers", 0.0).server == ("variant losers",)
    replayed = ["new", "variant king of the hill", "force", "usermove e2e4", f"ping {SYNC_PING}"]
    assert again(proxy) == replayed
    proxy.on_disconnected(0.0)
    assert proxy.on_frontend_line("variant losers", 0.0) == NOTHING
    assert list(proxy.on_connected(0.0).server) == [*START, *replayed, "variant losers"]


def test_variant_replaces_the_game():
    moves = ("force", "setboard 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "usermove h1h2")
    variant = "variant crazyhouse"
    assert again(talk("new", *moves, variant)) == ["new", variant, "force", f"ping {SYNC_PING}"]


def test_move_without_server_is_legal_in_the_variant():
    proxy = talk("new", "variant king of the hill", "setboard 7k/8/8/8/8/4K3/8/8 w - - 0 1")
    proxy.on_frontend_line("st 1", 0.0)
    proxy.on_frontend_line("go", 0.0)
    proxy.on_disconnected(0.0)
    answer = proxy.on_timeout(9.0, "no server").frontend[-1]
    assert answer in ("move e3e4", "move e3d4")


def test_engine_to_move_resumes_with_remaining_time():
    proxy = talk("new", "level 0 1 0", "time 6000", "otim 5500", "usermove e2e4")
    assert again(proxy, 1.5) == [
        "new", "level 0 1 0", "force", "usermove e2e4", f"ping {SYNC_PING}",
        "time 5850", "otim 5500", "go",
    ]  # fmt: skip
    proxy.on_server_line(f"pong {SYNC_PING}", 1.5)
    assert proxy.on_server_line("move e7e5", 2.0).frontend == ("move e7e5",)
    assert not proxy.has_pending()


def test_server_resumes_play_after_next_user_move():
    proxy = talk("new", "usermove e2e4", "< move e7e5")
    assert again(proxy) == ["new", "force", "usermove e2e4", "usermove e7e5", f"ping {SYNC_PING}"]
    assert proxy.on_frontend_line("time 500", 0.0).server == ("time 500",)
    assert proxy.on_frontend_line("usermove g1f3", 0.0).server == ["usermove g1f3", "go"]
    assert proxy.has_pending()
    proxy.on_server_line(f"pong {SYNC_PING}", 0.0)
    proxy.on_server_line("move b8c6", 0.0)
    assert proxy.on_frontend_line("usermove f1b5", 0.0).server == ["usermove f1b5"]


def test_new_game_and_force_mode_are_replayed():
    assert again(talk("new")) == ["new", f"ping {SYNC_PING}"]
    assert again(talk("new", "go"))[-2:] == [f"ping {SYNC_PING}", "go"]
    assert again(talk("new", "force")) == ["new", "force", f"ping {SYNC_PING}"]
    proxy = talk("new", "force", "e2e4", "usermove e7e5")
    assert again(proxy) == ["new", "force", "usermove e2e4", "usermove e7e5", f"ping {SYNC_PING}"]
    assert proxy.on_frontend_line("usermove g1f3", 0.0).server == ["usermove g1f3"]
    assert not proxy.has_pending()
    assert proxy.on_frontend_line("go", 0.0).server == ("go",)


def test_undone_and_illegal_moves_are_not_replayed():
    proxy = talk(
        "new", "force", "setboard 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "usermove h1h8", "undo",
        "usermove h1h7", "usermove h7h8", "remove", "usermove O-O", "usermove e8e1",
        "< Illegal move: e8e1",
    )  # fmt: skip
    assert again(proxy) == [
        "new", "force", "setboard 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "usermove O-O",
        f"ping {SYNC_PING}",
    ]  # fmt: skip


def test_analysis_resumes_after_reconnect():
    assert again(talk("new", "force", "usermove e2e4", "analyze"))[-2:] == [
        f"ping {SYNC_PING}", "analyze",
    ]  # fmt: skip
    assert again(talk("new", "analyze", "exit"))[-2:] == ["force", f"ping {SYNC_PING}"]


def test_pings_are_answered_once():
    proxy = talk("ping 7")
    assert again(proxy)[-2:] == [f"ping {SYNC_PING}", "ping 7"]
    proxy.on_server_line(f"pong {SYNC_PING}", 0.0)
    assert proxy.on_server_line("pong 7", 0.0).frontend == ("pong 7",)
    assert proxy.on_server_line("pong 7", 0.0).frontend == ()
    proxy.on_disconnected(0.0)
    proxy.on_frontend_line("ping 8", 1.0)
    assert proxy.deadline() == 3.0
    assert proxy.on_timeout(3.0, "no server").frontend == ["pong 8"]


@pytest.mark.parametrize(
    ("lines", "due"),
    [
        (("time 100",), 0.8), (("time 6000",), 59.7), (("st 2",), 2.0), ((), 30.25),
        (("st 5", "?"), 0.0),
    ],
)  # fmt: skip
def test_move_deadline_without_server_follows_clock(lines, due):
    proxy = talk("new", *(line for line in lines if line != "?"), "usermove e2e4")
    if "?" in lines:
        proxy.on_frontend_line("?", 0.0)
    proxy.on_disconnected(0.25)
    assert proxy.deadline() == pytest.approx(due)


@pytest.mark.parametrize("heard", ["3 20 100 500 g8f6 b1c3", "  3& 20 100 500 1... Nf6 2. Nc3"])
def test_best_known_move_is_played_without_server(heard):
    proxy = talk("new", "time 100", "usermove e2e4", f"< {heard}")
    proxy.on_disconnected(0.0)
    assert proxy.on_timeout(0.5, "no server").frontend == []
    note, move = proxy.on_timeout(0.9, "no server").frontend
    assert note.startswith("# no server")
    assert move == "move g8f6"
    assert again(proxy)[-4:] == ["force", "usermove e2e4", "usermove g8f6", f"ping {SYNC_PING}"]
    assert proxy.on_frontend_line("usermove d2d4", 2.0).server == ["usermove d2d4", "go"]


def test_legal_move_is_played_without_server_or_search_output():
    proxy = talk("new", "setboard k7/8/8/8/8/8/6q1/7K w - - 0 1", "st 1", "go")
    proxy.on_disconnected(0.0)
    assert proxy.on_timeout(1.0, "no server").frontend[-1] == "move h1g2"
    assert proxy.on_timeout(9.0, "no server").frontend == []


def test_giving_up_reports_error_and_plays_move():
    proxy = talk("new", "time 100", "go")
    frontend = proxy.abort("wrong token").frontend
    assert frontend[-1] == "tellusererror wrong token"
    assert any(line.startswith("move ") for line in frontend)


TEXT = (
    "new force go usermove e2e4 e7e5 undo remove time 100 otim st 3 level 0 1 setboard analyze "
    "exit ping pong 7 ? move Illegal feature done=1 protover 2 result 1-0 resign variant x"
)
LINES = st.lists(st.sampled_from(TEXT.split()), max_size=4).map(" ".join)
KINDS = st.sampled_from(
    ["on_frontend_line", "on_server_line", "on_disconnected", "on_connected", "overdue"]
)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(KINDS, LINES)))
def test_overdue_move_is_made_at_most_once(events):
    proxy, now = talk(), 0.0
    for kind, line in events:
        now += 1.0
        thought = bool(proxy._pending)
        if kind in ("on_frontend_line", "on_server_line"):
            getattr(proxy, kind)(line, now)
        elif kind == "overdue":
            _, frontend, disconnect = proxy.on_timeout(now, "no server")
            assert disconnect == proxy._connected
            moves = [each for each in frontend if each.startswith("move ")]
            assert len(moves) <= thought
            assert not moves or not proxy._pending
            assert proxy.deadline() > now
        else:
            getattr(proxy, kind)(now)
