"""Resources shared by the sessions of a process: memory budget, tablebases, books, networks."""

import gc
import queue
import threading

import pytest

from agent.memory_budget import MemoryBudget
from agent.threads.one_shot_event import wait_for_any
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from protocols.permissions import Permissions
from protocols.session_context import SessionContext
from protocols.uci.protocol import UciProtocol
from tests.waiting import PATIENCE

SHARE = Permissions(megabytes=16)


def test_budget_grants_free_memory_but_at_least_the_minimum():
    budget = MemoryBudget(20)
    assert budget.reserve(16, 1) == 16
    assert budget.reserve(16, 1) == 4
    assert budget.free == 0
    assert budget.reserve(16, 1) == 1
    assert budget.free == 0
    with pytest.raises(MemoryError, match="not enough memory for 5 MB: all sessions share 20 MB"):
        budget.resize(4, 5)
    budget.resize(16, 8)
    budget.resize(4, 11)
    assert budget.free == 0
    for part in (8, 11, 1):
        budget.release(part)
    assert budget.free == 20


class Sessions:
    def __init__(self, megabytes):
        self.budget = MemoryBudget(megabytes)
        self.made = []

    def begin(self):
        heard = queue.Queue()
        uci = UciProtocol(
            "test",
            "",
            heard.put,
            lambda _: None,
            session_context=SessionContext(SHARE, budget=self.budget),
        )
        self.made.append(uci)
        return uci, heard

    def ready(self):
        uci, heard = self.begin()
        ask(uci, "uci", "isready")
        wait_for_any(uci.session.engine.ready, timeout=PATIENCE)
        return uci, heard


def ask(uci, *lines):
    """Send lines, and wait until all jobs are done. Return the immediate replies."""
    replies = []
    for line in lines:
        replies += uci.handle_line(line)
    assert uci.session.agent.wait(PATIENCE)
    return replies


def received(heard):
    return [heard.get() for _ in range(heard.qsize())]


@pytest.fixture
def sessions():
    made = []

    def make(megabytes):
        made.append(Sessions(megabytes))
        return made[-1]

    yield make
    for each in made:
        for uci in each.made:
            assert uci.close(PATIENCE)


def test_uci_session_takes_memory_on_search_and_frees_it_on_close(sessions):
    some = sessions(64)
    uci, heard = some.ready()
    assert some.budget.free == 64
    assert not uci.session.engine._searchers
    ask(uci, "go depth 2")
    assert some.budget.free == 48
    assert uci.session.engine._searchers["alphabeta"]._table.megabytes == 16
    assert received(heard)[-1].startswith("bestmove")
    ask(uci, "setoption name Hash value 4")
    assert some.budget.free == 60
    assert uci.close(PATIENCE)
    assert some.budget.free == 64


def test_hash_beyond_the_budget_is_refused_with_a_message(sessions):
    some = sessions(24)
    (first, _), (second, heard) = some.ready(), some.ready()
    ask(first, "go depth 2")
    ask(second, "setoption name Hash value 16")
    assert received(heard)[-1] == (
        "info string not enough memory for 16 MB: all sessions share 24 MB (choose 8 or less)"
    )
    ask(second, "go depth 2")
    lines = received(heard)
    assert "info string hash table: 8 MB available (other sessions use the rest)" in lines
    assert lines[-1].startswith("bestmove")
    assert some.budget.free == 0
    third, heard = some.ready()
    ask(third, "go depth 2")
    assert "info string hash table: 1 MB available (other sessions use the rest)" in received(heard)


def test_sessions_share_endgame_tables_and_opening_book(sessions):
    some = sessions(64)
    pair = [some.ready()[0] for _ in range(2)]
    for uci in pair:
        ask(uci, "go movetime 100")
    one, other = pair
    assert one.session.engine._builtin_tablebase is not None
    assert one.session.engine._builtin_tablebase is other.session.engine._builtin_tablebase
    (book,), (same,) = one.session.book._books, other.session.book._books
    assert book is same
    one.session.book.close()
    ask(other, "position startpos moves e2e4", "go movetime 100")
    assert book.reader[0].weight  # still open
    assert one.close(PATIENCE)
    ask(other, "position startpos", "go movetime 100")


def test_network_file_is_loaded_once_until_it_changes(tmp_path):
    from agent.chess.evaluation.loading import load
    from tests.random_network import random_network

    file = tmp_path / "net.nnue"
    random_network(32, seed=1).write(file)
    one, other = load(f"nnue:{file}"), load(f"nnue:{file}")
    assert one.network is other.network
    random_network(32, seed=2).write(file)
    assert load(f"nnue:{file}").network is not one.network


def test_closed_sessions_leave_no_engines_threads_or_memory(sessions):
    some = sessions(64)
    uci, _ = some.ready()
    ask(uci, "go depth 2")
    assert uci.close(PATIENCE)
    some.made.clear()
    del uci
    gc.collect()

    def engines():
        return sum(type(item).__name__ == "ChessBackend" for item in gc.get_objects())

    before, threads = engines(), threading.active_count()
    for _ in range(5):
        uci, _ = some.ready()
        ask(uci, "go depth 2")
        assert uci.close(PATIENCE)
        some.made.clear()
    del uci
    gc.collect()
    assert engines() <= before
    assert threading.active_count() <= threads
    assert some.budget.free == 64


def test_go_session_takes_memory_from_the_budget_on_search():
    budget, sent = MemoryBudget(24), queue.Queue()
    session_context = SessionContext(SHARE, budget=budget)
    settings = Settings(algorithm="mcts", seconds=0.01)
    sessions = [
        GtpProtocol("t", "1", sent.put, lambda _: None, settings, session_context) for _ in range(2)
    ]

    def say(gtp, line):
        for _ in gtp.handle_line(line):
            pass
        assert gtp.drain(PATIENCE)
        return sent.get().strip()

    one, other = sessions
    assert say(one, "kata-get-param memory") == "= 16"
    assert budget.free == 24
    assert say(one, "reg_genmove b").startswith("=")
    assert budget.free == 8
    assert say(other, "kata-set-param memory 12").startswith("? not enough memory for 12 MB")
    assert say(other, "kata-get-param memory") == "= 16"
    assert say(other, "reg_genmove b").startswith("=")
    assert say(other, "kata-get-param memory") == "= 8"
    assert say(one, "kata-set-param memory 4") == "="
    assert budget.free == 12
    for each in sessions:
        assert each.close(PATIENCE)
    assert budget.free == 24
