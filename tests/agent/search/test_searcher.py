"""Any algorithm behind the player's interface, and players of any game."""

import threading
import time
from math import inf

import pytest

from agent.agent import DEFAULT_REPORT_INTERVAL, Agent, ReportInterval
from agent.backends import create_backend
from agent.game import parse_move
from agent.games import catalogue
from agent.games.chance import draw_event
from agent.games.go import Go
from agent.games.pig import Pig
from agent.games.position_adapter import GamePositionAdapter
from agent.games.tic_tac_toe import TicTacToe
from agent.kernel.backend import SearchConfig
from agent.limits import Limits, Overtime, SideClock
from agent.search.catalogue import algorithms
from agent.search.defaults import MCTS, default_algorithm, make_search
from agent.search.search import SearchResult
from agent.search.searcher import GameSearcher
from tests.waiting import PATIENCE


class Recorder:
    """A listener that records its calls."""

    def __init__(self):
        self.infos, self.errors, self.results, self.progresses = [], [], [], []
        self.info, self.error = self.infos.append, self.errors.append
        self.result = self.results.append

    def progress(self, progress, seconds):
        self.progresses.append(progress)


@pytest.fixture
def ask():
    """Let a player search once. Return the result and the listener."""
    players = []

    def think(
        game,
        name,
        limits,
        lines=1,
        report_interval=DEFAULT_REPORT_INTERVAL,
        prepare=None,
        **options,
    ):
        kind = catalogue.find(
            options.pop("kind", type(game).__module__.split(".")[-1].replace("_", "-"))
        )
        recorder = Recorder()
        search_config = SearchConfig(playouts=options.pop("playouts", None), seed=1)
        source = create_backend(
            kind,
            lambda: game,
            recorder.error,
            algorithm=name,
            search_config=search_config,
            **options,
        )
        player = Agent(source, recorder, GamePositionAdapter())
        players.append(player)
        search = player.prepare_search(game, limits, lines, recorder, report_interval)

        def run(job):
            if prepare is not None:
                prepare(job)
            search.run(job)

        player.submit(run, long_running=True)
        assert player.wait(PATIENCE)
        assert len(recorder.results) == 1
        return recorder.results[0], recorder

    yield think
    assert all(player.close(PATIENCE) for player in players)


def searcher(game, name, game_name, **options):
    return GameSearcher(make_search(name, game, catalogue.evaluation(game_name), seed=1, **options))


@pytest.mark.parametrize("name", [MCTS, *algorithms()])
def test_every_algorithm_plays_an_immediate_win(ask, name):
    game = TicTacToe()
    for text in ("a3", "a2", "b3", "b2"):
        game.play(parse_move(game, text))
    before = game.key()
    result, recorder = ask(game, name, Limits(movetime=20.0), playouts=500)
    assert game.text(result.move) == "c3"
    assert game.key() == before
    assert recorder.errors == []


def plies_to_win(game, winner):
    """Return the plies until the winner wins against the longest defence, or infinity."""
    outcome = game.outcome()
    if outcome is not None:
        return 0 if outcome == (-1 if winner else 1) else inf
    plies = []
    for move in list(game.moves()):
        game.play(move)
        plies.append(1 + plies_to_win(game, winner))
        game.undo()
    return min(plies) if game.turn == winner else max(plies)


@pytest.mark.parametrize("name", ["alpha-beta", "alpha-beta+table", "pvs", "mtd-f", "sss-star"])
def test_each_move_shortens_the_win(name):
    """X wins after O took an edge. Every move of X shortens the game, whatever O plays."""
    game = TicTacToe()
    for text in ("b2", "b3"):
        game.play(parse_move(game, text))
    searches = searcher(game, name, "tic-tac-toe")
    asked = 0

    def play_on():
        nonlocal asked
        plies = plies_to_win(game, 0)
        if game.turn == 0:
            asked += 1
            *_, last = searches.search(game, Limits())
            game.play(last.pv[0])
            assert plies_to_win(game, 0) == plies - 1
            play_on()
            game.undo()
        elif plies:
            for move in list(game.moves()):
                game.play(move)
                play_on()
                game.undo()

    play_on()
    assert asked > 10


@pytest.mark.parametrize("name", [MCTS, "alpha-beta"])
def test_stops_at_once_with_a_legal_move(ask, name):
    game = Go(19)
    began = time.monotonic()
    result, _ = ask(game, name, Limits(), prepare=lambda job: job.stop.set())
    assert result.move in game.moves()
    assert time.monotonic() - began < 30


def test_time_limit_ends_the_search(ask):
    began = time.monotonic()
    result, _ = ask(Go(9), MCTS, Limits(clock=SideClock(0.0, overtime=Overtime(0.1))))
    assert 0.05 <= time.monotonic() - began < 20
    assert result.planned_time <= 0.1


def test_lines_are_reported_in_order_of_visits(ask):
    game = Go(5)
    result, recorder = ask(game, MCTS, Limits(), lines=100, playouts=300)
    last = [info for info in recorder.infos if info.depth == recorder.infos[-1].depth]
    visits = {info.pv[0]: info.visits for info in last}
    assert result.move == max(visits, key=visits.get)
    assert sum(visits.values()) == 300
    order = [info.visits for info in last[: len(visits)]]
    assert order == sorted(order, reverse=True)


def test_progress_contains_the_current_lines(ask):
    def stop_later(job):
        threading.Timer(0.5, job.stop.set).start()

    _, recorder = ask(
        Go(5),
        MCTS,
        Limits(infinite=True),
        report_interval=ReportInterval(0.02, 0.02),
        prepare=stop_later,
    )
    seen = [sum(line.visits for line in progress.lines) for progress in recorder.progresses]
    assert len(seen) > 2
    assert seen == sorted(seen)


def test_default_algorithm_depends_on_the_game():
    assert default_algorithm(Go(5)) == MCTS
    assert default_algorithm(TicTacToe()) == "alpha-beta"
    assert default_algorithm(Pig()) == "expectiminimax"
    with pytest.raises(ValueError, match="use expectiminimax or uct"):
        make_search("alpha-beta", Pig(), lambda game: 0)


def test_draw_event_follows_the_probabilities():
    game = Pig()
    game.play("roll")
    assert [draw_event(game, number / 6 + 0.01) for number in range(6)] == list("123456")
    assert draw_event(game, 1.0) == "6"


def test_default_options_depend_on_the_game():
    game, evaluate = TicTacToe(), catalogue.evaluation("tic-tac-toe")
    assert make_search("alpha-beta", game, evaluate).table is not None
    assert make_search("alpha-beta+killers", game, evaluate).table is None
    assert make_search("mcts", game, evaluate).solver
    assert not make_search("mcts+solver=false", game, evaluate).solver
    assert make_search("mcts", Go(5), catalogue.evaluation("go")).rave > 0
    assert make_search("mcts", catalogue.new_game("tree"), lambda tree: 0).scale == 16


@pytest.mark.parametrize(("more", "most"), [({}, 40), ({"playouts": 15}, 15)])
def test_configured_playouts_are_an_upper_limit(more, most):
    game = Go(5)
    *_, last = searcher(game, "mcts+playouts=40", "go", **more).search(game, Limits(), 1)
    search = searcher(game, "mcts+playouts=40", "go", **more)._search
    infos = list(search.iterations(game, None, 100))
    assert sum(info.visits for info in infos if info.depth == infos[-1].depth) == most
    assert last.pv[0] == infos[-len([i for i in infos if i.depth == infos[-1].depth])].pv[0]


def test_forced_move_is_played_without_delay(ask):
    game = TicTacToe()
    for text in ("b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1"):
        game.play(parse_move(game, text))
    result, _ = ask(game, "minimax", Limits(clock=SideClock(3600.0)))
    assert result.move == parse_move(game, "c1")


def test_sleeping_evaluation_is_abandoned(ask, tmp_path):
    file = tmp_path / "sleepy.py"
    file.write_text("import time\ndef f(game):\n    time.sleep(3)\n    return 0\n")
    game = TicTacToe()
    began = time.monotonic()
    result, recorder = ask(game, "alpha-beta", Limits(movetime=0.05), evaluation=f"{file}:f")
    assert time.monotonic() - began < 2.5
    assert result.move in game.moves()
    assert [message for message in recorder.errors if "did not return in time" in message]


@pytest.mark.thorough
def test_looping_game_is_abandoned_and_restored(ask, tmp_path):
    file = tmp_path / "endless.py"
    file.write_text(
        "from agent.games.tic_tac_toe import TicTacToe\n"
        "class Endless(TicTacToe):\n"
        "    def outcome(self):\n"
        "        while len(list(self.moves())) < 7:\n"
        "            pass\n"
        "        return super().outcome()\n"
    )
    game = catalogue.new_game(f"{file}:Endless")
    result, recorder = ask(game, "alpha-beta", Limits(movetime=0.05), kind=f"{file}:Endless")
    assert game.key() == TicTacToe().key()
    assert result.move in game.moves()
    assert [message for message in recorder.errors if "did not end in time" in message]


@pytest.mark.parametrize(("played", "best"), [("", "B2"), ("A2 A1", "B1")])
def test_zero_node_go_move_avoids_the_edge_and_captures(played, best):
    """Not on the first line of an empty board, and a capture if there is one."""
    game = Go(5)
    for text in played.split():
        game.play(parse_move(game, text))
    (info,) = searcher(game, "mcts", "go", playouts=10).search(game, Limits(nodes=0))
    assert game.text(info.pv[0]) == best


@pytest.mark.parametrize("name", ["alpha-beta", "pvs", "sss-star", "mcts"])
def test_smallest_node_limit_finds_an_immediate_win(name):
    game = TicTacToe()
    for text in ("a3", "a2", "b3", "b2"):
        game.play(parse_move(game, text))
    before = game.key()
    *_, info = searcher(game, name, "tic-tac-toe").search(game, Limits(nodes=1))
    assert game.text(info.pv[0]) == "c3"
    assert game.key() == before


def test_node_count_never_falls_during_a_search():
    game = catalogue.find("nim").new()
    game.play(parse_move(game, "c5"))
    searcher = GameSearcher(make_search("alpha-beta", game, catalogue.find("nim").evaluate))
    counts = [info.nodes for info in searcher.search(game, Limits())]
    assert len(counts) > 1
    assert counts == sorted(counts)


def searched(name, moves, depth, lines=1):
    """Return the position after `moves`, and the lines of the last iteration."""
    game = catalogue.find(name).new()
    for text in moves.split():
        game.play(parse_move(game, text))
    evaluate = catalogue.find(name).evaluate
    searcher = GameSearcher(make_search("alpha-beta", game, evaluate, seed=1))
    infos = list(searcher.search(game, Limits(depth=depth), lines))
    return game, [info for info in infos if info.depth == infos[-1].depth]


@pytest.mark.parametrize(("name", "depth"), [("othello", 4), ("checkers", 4), ("tic-tac-toe", 9)])
def test_alpha_beta_reports_lines_with_the_values_of_their_moves(name, depth):
    game, lines = searched(name, "", depth, lines=4)
    moves = [info.pv[0] for info in lines]
    assert [info.multipv for info in lines] == [1, 2, 3, 4]
    assert len(set(moves)) == 4
    values = {}
    for move in game.moves():
        searcher = GameSearcher(make_search("alpha-beta", game, catalogue.find(name).evaluate))
        *_, info = searcher.search(game, Limits(depth=depth, search_moves=(move,)))
        values[move] = info.score.value
    assert [info.score.value for info in lines] == sorted(values.values(), reverse=True)[:4]
    assert [values[move] for move in moves] == [info.score.value for info in lines]


def test_alpha_beta_ranks_a_small_win_above_a_high_evaluation():
    win, lead = SearchResult(2.0, (0,), decided=True), SearchResult(30.0, (1,))
    loss = SearchResult(-2.0, (2,), decided=True)
    assert sorted([lead, loss, win], key=lambda result: result.rank) == [loss, lead, win]


@pytest.mark.parametrize("depth", [2, 3, 4, 5])
def test_even_positions_have_even_expectations_at_every_depth(depth):
    for name in ("othello", "checkers"):
        _, (info,) = searched(name, "", depth)
        assert abs(info.expected_outcome) < 0.25, name


@pytest.mark.parametrize("depth", [5, 6])
def test_giving_a_corner_or_a_man_away_loses_as_much_as_a_blunder(depth):
    opening = "d3 c3 c4 c5 b6 e3 d6 c6 f6"
    for name, moves, bad in (("othello", opening, "g7"), ("checkers", "11-15 22-17", "12-16")):
        _, (before,) = searched(name, moves, depth)
        _, (after,) = searched(name, f"{moves} {bad}", depth)
        assert before.expected_outcome + after.expected_outcome > 0.3, name
