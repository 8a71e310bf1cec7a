"""A dialogue in UCI: what another server is told, and what is answered without one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.remote.proxy import NOTHING
from protocols.remote.uci import UciProxy


def talk(*lines, up=True, now=0.0):
    """A dialogue whose front end has introduced itself, and said these lines."""
    made = UciProxy(timeout=30.0)
    made.on_frontend_line("uci", now)
    made.on_connected(now)
    made.on_server_line("uciok", now)
    made.on_server_line("readyok", now)
    for line in lines:
        made.on_frontend_line(line, now)
    if not up:
        made.on_disconnected(now)
    return made


def again(made, now=0.0):
    made.lost(now)
    return list(made.resume(now).server)


def test_first_server_receives_earlier_commands():
    made = UciProxy(timeout=30.0)
    for line in ("uci", "d", "isready"):
        assert made.on_frontend_line(line, 0.0) == NOTHING
    assert made.on_connected(0.1).server == ["uci", "isready", "d"]
    assert made.on_server_line("id name X", 0.1).frontend == ("id name X",)
    assert made.on_server_line("uciok", 0.1).frontend == ("uciok",)
    assert made.on_server_line("readyok", 0.1).frontend == ("readyok",)
    assert made.on_server_line("readyok", 0.1).frontend == ()
    assert not made.has_pending()


def test_settings_and_position_are_replayed_silently():
    made = talk(
        "setoption name Hash value 32", "setoption name Threads value 2", "debug on",
        "setoption name hash value 64", "setoption name Clear Hash", "ucinewgame",
        "position startpos moves e2e4",
    )  # fmt: skip
    assert again(made) == [
        "uci", "debug on", "setoption name Threads value 2", "setoption name hash value 64",
        "ucinewgame", "isready", "position startpos moves e2e4",
    ]  # fmt: skip
    for line in ("id name X", "option name Hash", "info string said before", "uciok", "readyok"):
        assert made.on_server_line(line, 0.0).frontend == ()
    assert made.on_server_line("info string new", 0.0).frontend == ("info string new",)


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
    made = talk(position, go)
    lines = again(made, 1.5)
    assert lines[-2:] == [position, expected]
    assert made.on_server_line("bestmove e2e4", 2.0).frontend == ("bestmove e2e4",)
    assert made.on_server_line("bestmove e2e4", 2.0).frontend == ()


def test_ponder_clock_starts_at_ponderhit():
    made = talk("position startpos", "go ponder wtime 5000 btime 4000")
    made.on_frontend_line("ponderhit", 10.0)
    assert again(made, 11.0)[-1] == "go wtime 4000 btime 4000"


def test_position_set_during_search_is_replayed_after_go():
    made = talk("position startpos", "go infinite", "position startpos moves e2e4")
    assert again(made)[-3:] == ["position startpos", "go infinite", "position startpos moves e2e4"]


def test_pending_isready_is_answered_by_next_server():
    made = talk("isready", "isready")
    assert again(made)[-1] == "isready"
    made.on_server_line("uciok", 0.0)
    made.on_frontend_line("isready", 0.0)
    assert made.on_server_line("readyok", 0.0).frontend == ("readyok", "readyok")
    assert made.on_server_line("readyok", 0.0).frontend == ("readyok",)
    assert made.on_server_line("readyok", 0.0).frontend == ()


@pytest.mark.parametrize(
    ("go", "due"),
    [
        ("go wtime 1000 btime 9000", 0.8),
        ("go wtime 60000 btime 9000", 59.7),
        ("go movetime 500", 0.5),
        ("go depth 5", 0.25 + 30.0),
        ("go infinite", None),
        ("go ponder wtime 1000 btime 1000", None),
    ],
)
def test_search_deadline_without_server_follows_limits(go, due):
    made = talk("position startpos", go)
    made.on_disconnected(0.25)
    assert made.deadline() == (None if due is None else pytest.approx(due))


def test_best_known_move_is_played_without_server():
    made = talk("position startpos moves e2e4", "go wtime 1000 btime 1000")
    made.on_server_line("info depth 3 multipv 1 score cp 3 pv c7c5 g1f3", 0.1)
    made.on_server_line("info depth 3 multipv 2 score cp 3 pv a7a5 g1f3", 0.1)
    made.on_disconnected(0.2)
    assert made.on_timeout(0.5, "no server").frontend == []
    text, answer = made.on_timeout(0.8, "no server").frontend
    assert text.startswith("info string no server")
    assert answer == "bestmove c7c5"
    assert not made.has_pending()
    assert made.deadline() is None
    assert again(made)[-1] == "position startpos moves e2e4"


@pytest.mark.parametrize("heard", ["", "info pv e2e4", "info depth 1 pv  ", "info pv h9h9"])
def test_legal_move_is_played_without_usable_search_output(heard):
    fen = "k7/8/8/8/8/8/5q2/7K w - - 0 1"  # one legal move: none; two: see below
    made = talk(f"position fen {fen} moves", "go movetime 10")
    made.on_server_line(heard, 0.0)
    made.on_disconnected(0.0)
    assert made.on_timeout(0.1, "no server").frontend[-1] == "bestmove (none)"
    made = talk("position fen k7/8/8/8/8/8/6q1/7K w - - 0 1", "go movetime 10", up=False)
    assert made.on_timeout(0.1, "no server").frontend[-1] == "bestmove h1g2"


def test_stop_without_server_is_answered_immediately():
    made = talk("position startpos", "go infinite", up=False)
    made.on_frontend_line("stop", 5.0)
    assert made.deadline() == 5.0
    assert made.on_timeout(5.0, "no server").frontend[-1].startswith("bestmove ")


def test_go_during_search_leaves_two_answers_due():
    made = talk("position startpos", "go infinite", "go movetime 100")
    made.on_disconnected(0.0)
    assert made.on_timeout(0.0, "no server").frontend[-1].startswith("bestmove ")
    assert made.has_pending()
    assert made.on_timeout(0.1, "no server").frontend[-1].startswith("bestmove ")
    assert not made.has_pending()


def test_isready_without_server_is_answered_after_delay():
    made = talk(up=False)
    made.on_frontend_line("isready", 1.0)
    assert made.deadline() == 3.0
    assert made.on_timeout(3.0, "no server").frontend == [
        "info string ready, but no server",
        "readyok",
    ]


def test_silent_server_is_waited_for_until_deadline():
    made = talk("position startpos", "go wtime 1000 btime 1000")
    assert made.deadline() == pytest.approx(0.99)
    assert talk("position startpos", "go wtime 20 btime 1000").deadline() == pytest.approx(0.018)
    assert talk("position startpos", "go depth 3").deadline() is None
    made.on_server_line("info depth 2 multipv 1 pv d2d4 d7d5", 0.1)
    server, frontend, disconnect = made.on_timeout(1.0, "silent")
    assert server == ("stop",)
    assert frontend[-1] == "bestmove d2d4"
    assert not disconnect
    made.on_frontend_line("go movetime 100", 1.5)
    for line in ("info depth 3 pv e2e4", "bestmove e2e4"):
        assert made.on_server_line(line, 1.5).frontend == ()
    assert made.on_server_line("bestmove c2c4", 1.5).frontend == ("bestmove c2c4",)


def test_silent_server_is_dropped():
    made = talk("position startpos", "go wtime 1000 btime 1000")
    assert not made.on_timeout(1.0, "silent").disconnect
    assert made.deadline() == 4.0
    assert made.on_timeout(4.0, "silent") == ((), [], True)
    made.on_disconnected(4.0)
    assert made.deadline() is None


def test_giving_up_answers_pending_search():
    made = talk("position startpos", "go infinite", up=False)
    frontend = made.abort(0.0, "refused")[1]
    assert frontend[0] == "info string refused"
    assert frontend[-1].startswith("bestmove ")


TEXT = (
    "uci isready setoption name Hash value 3 ucinewgame position startpos moves e2e4 fen go wtime "
    "100 btime x depth infinite ponder stop ponderhit debug on perft d uciok readyok bestmove info "
    "pv multipv 1 option id \x00 é"
)
WORDS = st.sampled_from(TEXT.split())
LINES = st.lists(WORDS, max_size=7).map(" ".join)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["asked", "told", "lost", "overdue"]), LINES)))
def test_every_go_is_answered_exactly_once(events):
    made = talk()
    now, gos, answers = 0.0, 0, 0
    for kind, line in events:
        now += 1.0
        if kind == "asked":
            before = len(made._searches)
            made.on_frontend_line(line, now)
            gos += len(made._searches) - before
        elif kind == "told":
            answers += sum(
                each.startswith("bestmove") for each in made.on_server_line(line, now).frontend
            )
        elif kind == "lost":
            made.on_disconnected(now)
            if line:
                made.on_connected(now)
        else:
            frontend = made.on_timeout(now, "no server").frontend
            answers += sum(each.startswith("bestmove") for each in frontend)
            if made.on_timeout(now, "").disconnect:
                made.on_disconnected(now)
            assert made.deadline() is None or made.deadline() > now
    made.on_disconnected(now)
    frontend = made.abort(now, "over").frontend
    assert answers + sum(each.startswith("bestmove") for each in frontend) == gos
