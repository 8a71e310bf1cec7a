import threading
import time

import chess
import pytest

from agent import agent as agent_module
from agent.agent import Agent, AgentError, ReportInterval
from agent.chess.engine.board_adapter import BoardAdapter
from agent.clock import SearchClock
from agent.limits import Cp, Info, Limits, Mate, Progress, SideClock
from tests.support import board_after
from tests.waiting import PATIENCE, until


class Recorder:
    """A Listener that records all events in order."""

    def __init__(self):
        self.events = []
        self.changed = threading.Condition()

    def _note(self, *event):
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def info(self, info):
        self._note("info", info)

    def progress(self, progress, seconds):
        self._note("progress", progress)

    def error(self, message):
        self._note("error", message)

    def result(self, result):
        self._note("result", result)

    def of(self, kind):
        return [event[1] for event in self.events if event[0] == kind]

    def wait_for(self, kind, number=1):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.of(kind)) >= number, PATIENCE)


class Searcher:
    """Yields the infos of a script, then waits for the stop if `hang` is set."""

    runs_user_code = False

    def __init__(self, *script, hang=False, error=None):
        self.script = script
        self.hang = hang
        self.error = error
        self.stopped = threading.Event()

    def clear_stop(self):
        self.stopped.clear()

    def stop(self):
        self.stopped.set()

    def progress(self):
        return Progress(nodes=12345)

    def search(self, board, limits, lines=1):
        yield from self.script
        if self.error:
            raise self.error
        if self.hang:
            assert self.stopped.wait(PATIENCE)

    def get_searcher(self, clock, stop):
        return self

    def abandon(self, thread):
        return None


def line(depth, moves, score=10, **rest):
    return Info(depth, Cp(score), tuple(map(chess.Move.from_uci, moves.split())), **rest)


@pytest.fixture
def play():
    players = []

    def start(source, **options):
        recorder = Recorder()
        players.append(Agent(source, recorder, BoardAdapter(), **options))
        return players[-1], recorder

    yield start
    for player in players:
        assert player.close(PATIENCE)


def moves(recorder):
    return [result.move and result.move.uci() for result in recorder.of("result")]


def test_the_last_exact_line_is_played(play):
    player, recorder = play(Searcher(line(1, "e2e4"), line(2, "d2d4 d7d5")))
    player.go(chess.Board(), Limits(depth=2))
    assert player.wait(PATIENCE)
    (result,) = recorder.of("result")
    assert (result.move.uci(), result.ponder.uci()) == ("d2d4", "d7d5")
    assert recorder.events[-1] == ("result", result)
    assert recorder.events[-2] == ("info", result.info)


def test_plays_the_line_of_an_incomplete_iteration(play):
    player, recorder = play(Searcher(line(1, "e2e4"), line(2, "d2d4", complete=False)))
    player.go(chess.Board(), Limits())
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["d2d4"]


@pytest.mark.parametrize(("bound", "expected"), [("lowerbound", "d2d4"), ("upperbound", "e2e4")])
def test_last_info_before_the_answer_is_exact(play, bound, expected):
    player, recorder = play(Searcher(line(1, "e2e4"), line(2, "d2d4", bound=bound)))
    player.go(chess.Board(), Limits())
    assert player.wait(PATIENCE)
    last = recorder.of("info")[-1]
    assert moves(recorder) == [expected] == [last.pv[0].uci()]
    assert last.bound == ""
    assert recorder.events[-2][0] == "info"


def test_bound_of_the_best_move_does_not_replace_its_exact_line(play):
    player, recorder = play(Searcher(line(1, "e2e4 e7e5"), line(2, "e2e4", 50, bound="lowerbound")))
    player.go(chess.Board(), Limits())
    assert player.wait(PATIENCE)
    (result,) = recorder.of("result")
    assert result.ponder.uci() == "e7e5"
    assert (result.info.depth, result.info.score) == (1, Cp(10))


def test_first_of_several_lines_is_played(play):
    script = [line(1, "e2e4"), line(1, "d2d4", multipv=2)]
    player, recorder = play(Searcher(*script))
    player.go(chess.Board(), Limits(), lines=2)
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]
    assert recorder.of("info")[-1].multipv == 1


def test_stop_right_after_go_is_not_lost(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    for number in range(1, 51):
        player.go(chess.Board(), Limits(infinite=True))
        player.stop()
        recorder.wait_for("result", number)
    assert len(moves(recorder)) == 50


class SlowStarter(Searcher):
    """Begins its first iteration, and completes it when the gate opens, unless it is stopped."""

    def __init__(self):
        super().__init__()
        self.begun, self.gate = threading.Event(), threading.Event()

    def search(self, board, limits, lines=1):
        self.begun.set()
        while not self.gate.wait(0.001):
            if self.stopped.is_set():
                return
        yield line(1, "d2d4")


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(movetime=0.001)])
def test_stopped_search_completes_its_first_iteration(play, monkeypatch, limits):
    monkeypatch.setattr(agent_module, "FIRST_LINE_TIMEOUT_S", PATIENCE)
    searcher = SlowStarter()
    player, recorder = play(searcher)
    player.go(chess.Board(), limits)
    player.stop()
    assert searcher.begun.wait(PATIENCE)
    assert not player.wait(0.02)
    assert not searcher.stopped.is_set()
    searcher.gate.set()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["d2d4"]


def test_first_iteration_that_takes_too_long_is_stopped(play, monkeypatch):
    monkeypatch.setattr(agent_module, "FIRST_LINE_TIMEOUT_S", 0.01)
    player, recorder = play(SlowStarter())
    player.go(chess.Board(), Limits(movetime=0.001))
    assert player.wait(PATIENCE)
    assert chess.Move.from_uci(moves(recorder)[0]) in chess.Board().legal_moves


def test_each_go_is_answered_once_and_in_order(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    for _ in range(20):
        player.go(chess.Board(), Limits(infinite=True))
    player.stop()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"] * 20


def test_a_search_with_limits_completes_before_the_next_begins(play, monkeypatch):
    restarted = []
    monkeypatch.setattr(SearchClock, "restart", lambda clock: restarted.append(clock.limited))
    source = Searcher(line(1, "e2e4"), hang=True)
    player, recorder = play(source)
    player.go(chess.Board(), Limits(depth=20))
    player.go(chess.Board(), Limits(movetime=60.0))
    recorder.wait_for("info")
    assert not recorder.of("result")
    source.stop()
    recorder.wait_for("info", 2)
    assert restarted == [True]  # The time of the second begins now.
    player.stop()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"] * 2
    player.go(chess.Board(), Limits(infinite=True))
    player.go(chess.Board(), Limits(movetime=0.02))
    assert player.wait(PATIENCE)
    assert len(restarted) == 1  # A search does not wait for one that it stops.


def test_time_limit_stops_a_search_that_does_not_end(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    player.go(chess.Board(), Limits(movetime=0.05))
    assert player.wait(PATIENCE)
    player.go(chess.Board(), Limits(clock=SideClock(0.1)))
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"] * 2


def test_ponderhit_starts_the_clock(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    player.go(chess.Board(), Limits(clock=SideClock(0.1), ponder=True))
    recorder.wait_for("info")
    assert not player.wait(0.3)
    player.ponderhit()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]


def test_ponderhit_of_a_running_job_starts_the_clock(play):
    # `go` may add its own callback only after the search has begun to wait for the ponderhit.
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    limits = Limits(movetime=0.02, ponder=True)
    search = player.prepare_search(chess.Board(), limits, 1, recorder)
    job = player.submit(search.run)
    recorder.wait_for("info")
    job.ponderhit.set()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]


def test_ponderhit_before_the_search_starts_is_not_lost(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    gate = threading.Event()
    player.submit(lambda job: gate.wait(PATIENCE))
    player.go(chess.Board(), Limits(movetime=0.02, ponder=True))
    player.ponderhit()
    gate.set()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]


def test_result_is_reported_even_if_the_listener_fails(play):
    class Failing(Recorder):
        def info(self, info):
            raise OSError("broken pipe")

        def error(self, message):
            super().error(message)
            raise OSError("broken pipe")

    player, _ = play(Searcher(line(1, "e2e4")))
    player.listener = recorder = Failing()
    player.go(chess.Board(), Limits(depth=1))
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]
    assert "OSError: broken pipe" in recorder.of("error")[0]


def test_late_time_limit_does_not_stop_the_next_search(play, monkeypatch):
    source = Searcher(line(1, "e2e4"), hang=True)
    player, recorder = play(source)
    expired, resume, supervisors = threading.Event(), threading.Event(), []
    remaining = SearchClock.remaining

    def slow_remaining(clock):
        if clock.limited and threading.current_thread().name == "supervisor":
            supervisors.append(threading.current_thread())
            expired.set()
            assert resume.wait(PATIENCE)
            return 0.0
        return remaining(clock)

    monkeypatch.setattr(SearchClock, "remaining", slow_remaining)
    player.go(chess.Board(), Limits(movetime=60))
    assert expired.wait(PATIENCE)
    recorder.wait_for("info")
    source.stop()  # the search ends before its supervisor can stop it
    recorder.wait_for("result")
    player.go(chess.Board(), Limits(infinite=True))
    recorder.wait_for("info", 2)
    resume.set()
    supervisors[0].join(PATIENCE)
    assert not source.stopped.is_set()


def test_finished_infinite_search_waits_for_stop(play):
    player, recorder = play(Searcher(line(1, "e2e4")))
    player.go(chess.Board(), Limits(infinite=True))
    recorder.wait_for("info")
    assert not player.wait(0.05)
    player.stop()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]


@pytest.mark.parametrize(
    ("fen", "score"),
    [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Cp(0)), ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", Mate(0))],
)
def test_checkmate_and_stalemate_are_answered_without_a_move(play, fen, score):
    player, recorder = play(Searcher())
    player.go(chess.Board(fen), Limits(depth=1))
    assert player.wait(PATIENCE)
    assert recorder.of("info") == [Info(depth=0, score=score, pv=())]
    assert moves(recorder) == [None]


@pytest.mark.parametrize("script", [[], [line(1, "e2e4")]])
@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit])
def test_failed_search_reports_the_error_and_plays_a_legal_move(play, script, error):
    player, recorder = play(Searcher(*script, error=error("division by zero")))
    player.go(chess.Board(), Limits(depth=1))
    assert player.wait(PATIENCE)
    (message,) = recorder.of("error")
    assert f"{error.__name__}: division by zero" in message
    assert chess.Move.from_uci(moves(recorder)[0]) in chess.Board().legal_moves
    player.go(chess.Board(), Limits(depth=1))
    assert player.wait(PATIENCE)
    assert len(moves(recorder)) == 2


def test_missing_searcher_is_reported_and_a_move_is_played(play):
    class NoSearcher:
        runs_user_code = False

        def get_searcher(self, clock, stop):
            raise AgentError("no searcher")

        def abandon(self, thread):
            return None

    player, recorder = play(NoSearcher())
    player.go(chess.Board(), Limits(search_moves=(chess.Move.from_uci("h2h3"),)))
    assert player.wait(PATIENCE)
    assert recorder.of("error") == ["no searcher"]
    assert moves(recorder) == ["h2h3"]


class Stuck(Searcher):
    """Ignores the stop until the gate opens; may be abandoned."""

    runs_user_code = True

    def __init__(self, *script):
        super().__init__(*script)
        self.gate = threading.Event()
        self.abandoned = []

    def search(self, board, limits, lines=1):
        yield from self.script
        assert self.gate.wait(PATIENCE)
        yield line(9, "a2a3")

    def abandon(self, thread):
        self.abandoned.append(thread)
        return "it is stuck" if len(self.abandoned) > 1 else None


@pytest.fixture
def stuck():
    made = []

    def make(*script):
        made.append(Stuck(*script))
        return made[-1]

    yield make
    for searcher in made:
        searcher.gate.set()
        for thread in searcher.abandoned:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.mark.parametrize("script", [[], [line(1, "e2e4"), line(2, "d2d4", multipv=1)]])
@pytest.mark.parametrize("limits", [Limits(movetime=0.05), Limits(clock=SideClock(4.0))])
def test_hung_search_is_abandoned_and_answered(play, stuck, script, limits):
    searcher = stuck(*script)
    player, recorder = play(searcher)
    player.go(chess.Board(), limits)
    assert player.wait(PATIENCE)
    assert not searcher.gate.is_set()
    assert recorder.of("error") == ["it is stuck"]
    if script:
        assert moves(recorder) == ["d2d4"]
        assert recorder.events[-2][0] == "info", "an info comes directly before the result"
    else:
        assert chess.Move.from_uci(moves(recorder)[0]) in chess.Board().legal_moves
    count = len(recorder.events)
    searcher.gate.set()
    searcher.abandoned[0].join(PATIENCE)
    assert len(recorder.events) == count, "an abandoned search is silent"
    player.go(chess.Board(), Limits(depth=1))
    assert player.wait(PATIENCE)
    assert moves(recorder)[-1] == "a2a3"


def test_hung_infinite_search_is_abandoned_on_stop(play, stuck):
    searcher = stuck(line(1, "e2e4"))
    player, recorder = play(searcher)
    player.go(chess.Board(), Limits(infinite=True))
    recorder.wait_for("info")
    assert not player.wait(0.05)
    assert searcher.abandoned == []
    player.stop()
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]


def test_hung_background_work_is_abandoned_on_stop(play, stuck):
    searcher = stuck()
    player, recorder = play(searcher)
    results = []
    player.submit(
        lambda job: results.append(player.run_user_code(job, lambda: 7)), long_running=True
    )
    player.submit(lambda job: player.run_user_code(job, lambda: 1 / 0), long_running=True)
    assert player.wait(PATIENCE)
    assert results == [7]
    assert "division by zero" in recorder.of("error")[0]
    wait = searcher.gate.wait
    player.submit(lambda job: player.run_user_code(job, lambda: wait(PATIENCE)), long_running=True)
    assert not player.wait(0.05)
    player.stop()
    assert player.wait(PATIENCE)
    assert recorder.of("error")[1] == "it is stuck"


def test_failing_listener_ends_the_search_with_an_answer(play, monkeypatch):
    monkeypatch.setattr(agent_module, "DEFAULT_REPORT_INTERVAL", ReportInterval(0.0))

    def fail(progress, seconds):
        raise RuntimeError("not me")

    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    monkeypatch.setattr(recorder, "progress", fail)
    player.go(chess.Board(), Limits(infinite=True))
    assert player.wait(PATIENCE)
    assert moves(recorder) == ["e2e4"]
    assert "not me" in recorder.of("error")[0]


def test_caller_may_change_the_board_during_a_search(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    board = chess.Board("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1")
    player.go(board, Limits(infinite=True))
    board.push_uci("g5g6")
    player.stop()
    assert player.wait(PATIENCE)
    assert moves(recorder) != [None]


def test_queued_work_runs_in_order_and_reports_failures(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    order = []
    player.go(chess.Board(), Limits(infinite=True))
    player.submit(lambda job: order.append(len(moves(recorder))))
    player.submit(lambda job: 1 / 0)
    player.submit(lambda job: order.append("after"), long_running=True)
    assert player.busy
    player.stop()
    assert player.wait(PATIENCE)
    assert order == [1, "after"]
    assert not player.busy
    assert "ZeroDivisionError" in recorder.of("error")[0]


def test_job_is_marked_overtaken_when_another_is_queued(play):
    player, _ = play(Searcher(line(1, "e2e4")))
    seen = []

    def wait_politely(job):
        agent_module.wait_for_any(job.superseded, timeout=PATIENCE)
        seen.append((job.superseded.is_set(), job.stop.is_set()))

    player.submit(wait_politely)
    player.submit(lambda job: None)
    assert player.wait(PATIENCE)
    assert seen == [(True, False)]


def test_long_search_reports_progress(play, monkeypatch):
    monkeypatch.setattr(agent_module, "DEFAULT_REPORT_INTERVAL", ReportInterval(0.01, 0.01))
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    player.go(chess.Board(), Limits(infinite=True))
    recorder.wait_for("progress", 3)
    player.stop()
    assert player.wait(PATIENCE)
    assert recorder.of("progress")[0] == Progress(nodes=12345)
    assert recorder.events[-2][0] == "info", "an info comes directly before the result"


def test_close_answers_pending_searches_and_ends_threads(play):
    player, recorder = play(Searcher(line(1, "e2e4"), hang=True))
    before = threading.active_count()
    player.go(chess.Board(), Limits(infinite=True))
    player.go(chess.Board(), Limits(ponder=True))
    assert player.close(PATIENCE)
    assert moves(recorder) == ["e2e4"] * 2
    assert until(lambda: threading.active_count() == before)
    player.go(chess.Board(), Limits())
    assert moves(recorder) == ["e2e4"] * 2


def test_infos_contain_the_elapsed_time(play):
    player, recorder = play(Searcher(line(1, "e2e4")))
    began = time.monotonic()
    player.go(chess.Board(), Limits(depth=1))
    assert player.wait(PATIENCE)
    assert 0 < recorder.of("info")[0].time <= time.monotonic() - began


def clock(seconds, increment=0.0, **rest):
    return Limits(clock=SideClock(seconds, increment), **rest)


FIRST, NEXT = board_after("e2e4 e7e5"), board_after("e2e4 e7e5 g1f3 b8c6")
# The answer of the agent in the first position, and in others where it is legal.
ANSWER = line(1, "g1f3")


def reserve_after(play, *searches, newly=False):
    """Return the reserve after searches, each answered at once."""
    player, recorder = play(Searcher(ANSWER))
    for number, (board, limits) in enumerate(searches, 1):
        if newly and number == 2:
            player.new_game()
        player.go(board, limits)
        if limits.ponder and not limits.clock:
            player.ponderhit()
        if limits.ponder or limits.infinite:
            player.stop()
        recorder.wait_for("result", number)
    return player.lag_estimator.reserve(SideClock(60.0))


@pytest.mark.parametrize(
    ("later", "limits"),
    [
        (NEXT, clock(58.7)),
        (chess.Board(NEXT.fen()), clock(58.7)),  # a front end that sends a FEN without moves
        (NEXT, clock(58.7, ponder=True)),
    ],
)
def test_lag_is_learned_from_consecutive_clocks(play, later, limits):
    learned = reserve_after(play, (FIRST, clock(60.123, moves_to_go=2)), (later, limits))
    assert 1.0 < learned <= 1.423


def test_lag_is_learned_with_an_increment(play):
    learned = reserve_after(play, (FIRST, clock(9.123, 2.0)), (NEXT, clock(10.1, 2.0)))
    assert 0.7 < learned <= 1.023


@pytest.mark.parametrize(
    ("before", "later", "after"),
    [
        (clock(60.123), FIRST, clock(58.7)),  # the same once more
        (clock(60.123), board_after(""), clock(58.7)),  # taken back
        (clock(60.123), board_after("e2e4 e7e5 f1c4 b8c6"), clock(58.7)),  # another move
        (clock(60.123), board_after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"), clock(58.7)),  # jumped to
        (clock(60.123), NEXT, clock(90.7)),  # the clock was given time
        (clock(60.123), NEXT, clock(8.7)),  # the clock was set
        (clock(60.123, moves_to_go=1), NEXT, clock(60.122)),  # a time control in between
        (Limits(movetime=60.123), NEXT, clock(58.7)),
        (clock(60.123), NEXT, Limits(movetime=58.7)),
        (clock(60.123, ponder=True), NEXT, clock(58.7)),  # the move was not hit
        (clock(60.123, infinite=True), NEXT, clock(58.7, infinite=True)),
        (clock(60.123), NEXT, clock(60.122)),  # there was no lag
    ],
)
def test_lag_is_learned_from_consecutive_moves_only(play, before, later, after):
    assert reserve_after(play, (FIRST, before), (later, after)) < 0.01


def test_new_game_does_not_learn_lag_from_its_first_move(play):
    searches = (FIRST, clock(60.123)), (NEXT, clock(58.7))
    assert reserve_after(play, *searches, newly=True) == 0.0


def test_learned_lag_shrinks_time_budgets_in_the_next_game(play):
    seen = []

    class Source:
        runs_user_code = False

        def get_searcher(self, clock, stop):
            seen.append(clock.budget)
            return Searcher(ANSWER)

    player, recorder = play(Source())
    for number, (board, seconds) in enumerate([(FIRST, 1.0), (NEXT, 0.7), (FIRST, 1.0)], 1):
        if number == 3:
            player.new_game()
        player.go(board, clock(seconds, 0.01))
        recorder.wait_for("result", number)
    assert seen[2].hard < seen[0].hard
    assert seen[2].soft < seen[0].soft


def test_late_clock_thread_does_not_stop_the_next_search(play, monkeypatch):
    """A clock thread that wakes late must not affect the next search."""
    late = threading.Event()
    remaining = agent_module.SearchClock.remaining

    def hesitate(clock):
        seconds = remaining(clock)
        if clock.limited and threading.current_thread().name == "clock":
            assert late.wait(PATIENCE)
        return seconds

    monkeypatch.setattr(agent_module.SearchClock, "remaining", hesitate)
    searcher = Searcher(line(1, "e2e4"))
    player, recorder = play(searcher)
    player.go(chess.Board(), Limits(movetime=0.001))
    recorder.wait_for("result")
    searcher.hang = True
    player.go(chess.Board(), Limits(infinite=True))
    recorder.wait_for("info", 2)
    late.set()
    assert not searcher.stopped.wait(0.1)
    player.stop()
    recorder.wait_for("result", 2)
