"""The compiled search over GTP: it is the default, and supports user evaluations."""

import time

import pytest

from agent.connect_four.search import ConnectFourSearch
from agent.evaluation import EvaluationError
from agent.games.connect_four import ConnectFour
from agent.kernel.backend import CompiledBackend
from agent.search.backend import GameBackend
from agent.search.searcher import GameSearcher
from protocols.gtp.session import GtpSession, Settings
from tests.waiting import PATIENCE

OWN = """
import time
from agent.kernel.intrinsics import U64, count
from agent.connect_four.records import position_at
from agent.evaluation import evaluator

def right(game):
    return edge(game, 1 - game.turn) - edge(game, game.turn)

def edge(game, player):
    return -(game.discs(player) >> 42).bit_count()

@evaluator
def compiled_right(worker, ply):
    position = position_at(worker, ply)
    other = position.own ^ position.taken
    return count(position.own >> U64(42)) - count(other >> U64(42))

@evaluator
def untyped(worker, ply):
    return "much"

def breaks(game):
    return 1 / 0

def sleeps(game):
    time.sleep(60)
"""


@pytest.fixture
def ready(start):
    """Start a session of Connect Four without a book, and wait for the compiled search."""

    def ready(**options):
        talk = start(game="connect-four", book=False, **{"seconds": 20.0, **options})
        talk.await_compiled()
        return talk

    return ready


def play(talk, moves):
    for number, move in enumerate(moves):
        assert talk.answer(f"play {'bw'[number % 2]} {move}") == "=\n\n"


def test_compiled_search_is_the_default(ready):
    talk = ready(depth=10)
    assert talk.answer("genmove b").strip("= \n") in set("1234567")
    assert isinstance(talk.searcher, ConnectFourSearch)
    assert talk.searcher.progress().seldepth >= 9


@pytest.mark.parametrize(
    "options", [{"algorithm": "alpha-beta", "depth": 2}, {"algorithm": "mcts", "playouts": 10}]
)
def test_python_algorithms_can_be_selected(start, options):
    talk = start(game="connect-four", book=False, **options)
    assert talk.answer("genmove b").strip("= \n") in set("1234567")
    assert type(talk.gtp.session.backend) is GameBackend


def test_oversized_board_uses_python_search():
    """The game's options determine the board."""
    for width, source in ((7, CompiledBackend), (9, GameBackend)):
        settings = Settings(game="connect-four", options={"width": width})
        assert type(GtpSession("", "", print, print, settings).backend) is source


def test_connect_four_subclass_uses_python_search(start, tmp_path):
    file = tmp_path / "pop_out.py"
    file.write_text(
        "from agent.games.connect_four import ConnectFour\n"
        "class PopOut(ConnectFour):\n    '''Not quite the same.'''\n"
    )
    talk = start(game=f"{file}:PopOut", depth=2)
    assert type(talk.gtp.session.backend) is GameBackend


def test_plays_a_complete_game(ready):
    talk = ready(nodes=3000)
    game = ConnectFour()
    while game.outcome() is None:
        text = talk.answer(f"genmove {'bw'[game.turn]}").strip("= \n")
        game.play(int(text) - 1)
    score = {1: "B+1", -1: "W+1", 0: "0"}[game.outcome()]
    assert talk.answer("final_score") == f"= {score}\n\n"
    assert talk.answer("genmove b") == "? the game is over\n\n"


def test_plays_winning_move_and_blocks_opponents_win(ready):
    talk = ready(depth=8)
    play(talk, "112233")
    assert talk.answer("genmove b") == "= 4\n\n"
    talk.answer("clear_board")
    play(talk, "11223")
    assert talk.answer("genmove w") == "= 4\n\n"


def test_search_follows_undo_and_clear_board(ready):
    talk = ready(depth=4)
    play(talk, "112233")
    assert talk.answer("reg_genmove b") == "= 4\n\n"
    assert talk.answer("undo") == "=\n\n"
    assert talk.answer("reg_genmove w") == "= 4\n\n"
    assert talk.answer("clear_board") == "=\n\n"
    assert talk.answer("reg_genmove b").strip("= \n") in set("1234567")


@pytest.mark.thorough
def test_analysis_reports_all_moves_until_input(ready):
    talk = ready(seconds=0.5)
    play(talk, "44")
    talk.say("lz-analyze b 5")
    assert talk.hear() == "="
    lines = talk.hear().split("info move ")[1:]
    assert {line.split()[0] for line in lines} == set("1234567")
    rates = [int(line.split("winrate ")[1].split()[0]) for line in lines]
    assert rates == sorted(rates, reverse=True)
    began = time.monotonic()
    assert talk.answer("name").endswith("= Kempelen\n\n")
    assert time.monotonic() - began < 5
    talk.say("kata-genmove_analyze b 5 maxmoves 2")
    assert talk.rest()[-1].startswith("play ")


def test_analysis_of_decided_position_waits_for_input(ready):
    talk = ready()
    play(talk, "112233")
    talk.say("lz-analyze 1 maxmoves 1")
    assert talk.hear() == "="
    assert "info move 4" in talk.hear()
    time.sleep(0.05)
    assert talk.gtp.session.agent.busy
    talk.say("name")
    assert talk.rest()[-1] == "= Kempelen"


def test_node_limit_ends_the_search(ready):
    talk = ready(seconds=1000.0, nodes=2000)
    assert talk.answer("genmove b").startswith("= ")
    assert 500 < talk.searcher.progress().nodes <= 2000


@pytest.mark.parametrize("name", ["right", "compiled_right"])
def test_user_evaluation_determines_the_move(ready, own, name):
    talk = ready(depth=1, evaluation=f"{own}:{name}")
    for number in range(4):
        assert talk.answer(f"genmove {'bw'[number % 2]}") == "= 7\n\n"
    assert isinstance(talk.searcher, ConnectFourSearch)


def test_compiled_evaluation_requires_compiled_search(start, own):
    with pytest.raises(
        EvaluationError, match="compiled_right: compiled evaluations are not supported"
    ):
        start(game="connect-four", algorithm="alpha-beta", evaluation=f"{own}:compiled_right")


def test_uncompilable_evaluation_falls_back_to_python_search(ready, own):
    talk = ready(depth=2, evaluation=f"{own}:untyped")
    assert talk.answer("genmove b").startswith("= ")
    assert isinstance(talk.searcher, GameSearcher)
    (report,) = talk.reports
    assert report.startswith(
        "could not load the Connect Four search; using the Python search: evaluation "
    )
    assert "untyped cannot be compiled: it must always return a number" in report


def test_failing_evaluation_still_yields_a_move(ready, own):
    talk = ready(depth=4, evaluation=f"{own}:breaks")
    assert talk.answer("genmove b").startswith("= ")
    assert any("breaks failed: ZeroDivisionError" in report for report in talk.reports)


def test_hanging_evaluation_is_abandoned(ready, own):
    talk = ready(seconds=0.2, evaluation=f"{own}:sleeps")
    assert talk.answer("genmove b").startswith("= ")
    assert any("sleeps did not return in time" in report for report in talk.reports)
    assert talk.answer("genmove w").startswith("= ")


def test_python_search_plays_during_compilation(start, compiler):
    talk = start(game="connect-four", book=False, depth=3, seconds=20.0)
    assert talk.answer("genmove b").startswith("= ")
    assert isinstance(talk.searcher, GameSearcher)
    assert "compiling the Connect Four search (once, about a minute)" in talk.reports[0]
    compiler.ended.set()
    talk.await_compiled()
    assert talk.answer("genmove w").startswith("= ")
    assert isinstance(talk.searcher, ConnectFourSearch)


def test_closing_the_session_ends_compilation(start, compiler):
    talk = start(game="connect-four", book=False, depth=2)
    assert talk.answer("genmove b").startswith("= ")
    assert talk.gtp.close(PATIENCE)
    assert compiler.ended.is_set()


def test_go_analysis_reports_priors_score_and_ownership(start):
    talk = start(size=5, komi=0, seconds=20.0, playouts=600, algorithm=None)
    talk.await_compiled()
    answer = talk.answer(
        "kata-genmove_analyze b 1000 avoid b A1 1 ownership true rootInfo true minmoves 25"
    )
    line = answer.splitlines()[-3]
    infos, rest = line.split(" rootInfo ")
    root, owners = rest.split(" ownership ")
    moves = [info.split() for info in infos.split("info move ")[1:]]
    assert {move[0] for move in moves} == {
        f"{column}{row}" for column in "ABCDE" for row in range(1, 6)
    } - {"A1"} | {"pass"}
    priors = [float(move[move.index("prior") + 1]) for move in moves]
    assert len(set(priors)) > 1
    assert "scoreLead" in root
    assert len([float(owner) for owner in owners.split()]) == 25
    assert talk.answer("final_status_list alive").startswith("= ")
    assert talk.gtp.session.settings.algorithm is None


def test_compiled_playouts_determine_dead_stones(start, monkeypatch):
    from agent.games import chain_status

    talk = start(size=5, komi=0, algorithm=None)
    talk.await_compiled()
    monkeypatch.setattr(chain_status, "chain_statuses", None)  # the Python judge must not be used
    for row in "12345":
        talk.answer(f"gogui-play_sequence b B{row} b D{row}")
    talk.answer("play w E3")
    assert talk.answer("final_score") == "= B+25\n\n"
    assert talk.answer("final_status_list dead") == "= E3\n\n"
