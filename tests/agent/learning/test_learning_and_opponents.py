"""Sessions with an opponent model and learning at the same time."""

from dataclasses import replace

import pytest

from agent.agent import Pausable
from agent.chess.engine.levels import SkillLevel
from agent.chess.engine.limited_strength import LimitedStrengthSearch
from agent.clock import SearchClock
from agent.learning.learned_move_database import LearnedMoveDatabase
from agent.learning.opponent_database import OpponentDatabase
from agent.learning.opponent_game_record import GameRecord
from agent.limits import Limits
from agent.threads.one_shot_event import OneShotEvent
from tests.protocols.gtp.conftest import EngineSession as GtpConversation
from tests.protocols.uci.conftest import EngineSession, ScriptedEngine
from tests.protocols.xboard.conftest import XboardConversation
from tests.waiting import PATIENCE

# White can undo its knight move, and wants a draw against an opponent that always won.
POSITION = "position startpos moves g1f3 g8f6"
GO = "go wtime 60000 btime 60000 nodes 300"


class PausableEngine(ScriptedEngine):
    def __init__(self, report):
        super().__init__(report)
        self.scripted.threads = 3
        self.scripted.pause = lambda wait: wait()


class WeakEngine(ScriptedEngine):
    def get_searcher(self, clock, stop):
        return LimitedStrengthSearch(self.scripted, SkillLevel(5), seed=0)


@pytest.fixture
def files(tmp_path):
    habits = OpponentDatabase(tmp_path / "habits.jsonl")
    for _ in range(6):
        habits.add(GameRecord("Ann", ("e2e4", "e7e5"), 0, 0.0))
    return habits, LearnedMoveDatabase(tmp_path / "experience.db")


@pytest.fixture
def start(files):
    made = []

    def begin(*engine):
        talk = EngineSession(*engine)
        made.append(talk)
        talk.ask("setoption name OwnBook value false")
        talk.ask(f"setoption name HabitsFile value {files[0].path}")
        talk.ask(f"setoption name ExperienceFile value {files[1].path}")
        talk.ask("setoption name UCI_Opponent value none none human Ann", "ucinewgame")
        return talk

    yield begin
    for talk in made:
        assert talk.uci.close(PATIENCE)


def best(talk, position=POSITION, go=GO):
    lines = talk.ask(position, go)
    (move,) = [line.split()[1] for line in lines if line.startswith("bestmove")]
    return move, lines


def test_moves_chosen_by_habits_are_learned_from(start, files) -> None:
    habits, experience = files
    talk = start()
    assert best(talk)[0] == "f3g1"
    talk.uci.session.learning._predictions[-1].value = 900.0
    _, lines = best(talk, f"{POSITION} f3g1 a7a6")
    assert any("experience: f3g1 predicted 900, found" in line for line in lines)
    best(talk, f"{POSITION} f3g1 a7a6 a2a3 b7b6")
    best(talk, f"{POSITION} f3g1 a7a6 a2a3 b7b6 b2b3 c7c6")
    assert talk.uci.close(PATIENCE)
    assert len(habits.read("Ann")) == 7
    (lesson,) = experience.read_all()
    assert lesson.move == "f3g1"
    for _ in range(6):
        experience.add([replace(lesson, found=-1000.0)])
    again = start()
    assert best(again)[0] == "a2a3"
    again.ask("setoption name UCI_AnalyseMode value true")
    assert best(again)[0] == "a2a3"
    again.ask(f"setoption name ExperienceFile value {files[1].path}.other")
    again.ask("setoption name UCI_AnalyseMode value false", "ucinewgame")
    assert best(again)[0] == "f3g1"


def test_ponder_misses_and_analysis_are_not_learned(start) -> None:
    talk = start()
    talk.say(POSITION, "go ponder wtime 60000 btime 60000 nodes 300", "stop")
    assert sum(line.startswith("bestmove") for line in talk.rest()) == 1
    assert not any(thought.is_played() for thought in talk.uci.session.learning._predictions)
    talk.ask("ucinewgame", "setoption name UCI_AnalyseMode value true")
    talk.say(POSITION, "go infinite", "stop")
    assert sum(line.startswith("bestmove") for line in talk.rest()) == 1
    assert not talk.uci.session.learning._predictions


def test_wrapped_search_can_be_paused(start) -> None:
    talk = start(PausableEngine)
    best(talk)
    agent, clock = talk.uci.session.agent, SearchClock(Limits(nodes=1), 0.0, False)
    searcher = agent.source.get_searcher(clock, OneShotEvent())
    for wrap in agent.wrappers:
        searcher = wrap(searcher, clock)
    assert isinstance(searcher, Pausable)
    assert searcher.threads == 3
    waits = []
    searcher.pause(lambda: waits.append(1))
    assert waits == [1]


def test_limited_strength_moves_are_not_learned(start) -> None:
    talk = start(WeakEngine)
    best(talk)
    assert talk.uci.session.opponent.draw_value > 0
    assert not talk.uci.session.learning._predictions


def test_limited_strength_without_opponent_is_not_learned(files) -> None:
    talk = EngineSession(WeakEngine)
    talk.ask("setoption name OwnBook value false")
    talk.ask(f"setoption name ExperienceFile value {files[1].path}")
    best(talk)
    assert talk.uci.session.learning.active
    assert not talk.uci.session.learning._predictions
    assert talk.uci.close(PATIENCE)


@pytest.fixture
def xboard(files):
    talk = XboardConversation()
    talk.ask("xboard", "protover 2", "option OwnBook=0", f"option HabitsFile={files[0].path}")
    talk.ask(f"option ExperienceFile={files[1].path}", "new", "name Ann", "sd 3")
    yield talk
    assert talk.uci.close(PATIENCE)


def test_xboard_result_updates_habits_and_experience(xboard, files) -> None:
    for move in ("e2e4", "d2d4", "c2c4", "b2b4"):
        xboard.ask(f"usermove {move}")
    xboard.ask("result 1-0 {Black resigns}")
    assert len(files[0].read("Ann")) == 7
    (lesson,) = files[1].read_all()
    assert lesson.found == -1000


@pytest.mark.parametrize(("result", "found"), [("0-1", [-1000]), ("0-1 forfeit", []), ("*", [])])
def test_uci_result_updates_habits_and_experience(start, files, result, found) -> None:
    talk = start()
    moves = ""
    for reply in ("a7a6", "b7b6", "c7c6", "d7d6", ""):
        moves += f" {best(talk, f'{POSITION}{moves}')[0]} {reply}"
    talk.ask(f"setoption name GameResult value {result}")
    kept = [game for game in files[0].read("Ann") if len(game.moves) > 2]
    assert [(game.points, game.forfeit) for game in kept] == (
        [] if result == "*" else [(0.0, "forfeit" in result)]
    )
    assert [lesson.found for lesson in files[1].read_all()] == found


def test_hint_does_not_affect_recorded_game(xboard, files) -> None:
    for move in ("e2e4", "d2d4", "c2c4", "b2b4"):
        xboard.ask(f"usermove {move}")
        xboard.xboard.ponder_move = None
        assert any(line.startswith("Hint: ") for line in xboard.ask("hint"))
    xboard.ask("result 1-0 {Black resigns}")
    assert len(files[0].read("Ann")) == 7
    assert len(files[1].read_all()) == 1


def test_gtp_game_updates_habits_and_experience(files) -> None:
    habits, experience = files
    talk = GtpConversation(
        game="tic-tac-toe", algorithm="alpha-beta", book=False, depth=1,
        habits=str(habits.path), experience=str(experience.path),
    )  # fmt: skip
    talk.say("kempelen-opponent Ann", "clear_board")
    talk.rest()
    while talk.gtp.session.board.game.outcome() is None:
        ours = talk.gtp.session.board.turn == 0
        talk.say("genmove b" if ours else f"play w {talk.gtp.session.board.legal_moves()[-1]}")
        talk.rest()
    assert talk.gtp.close(PATIENCE)
    (game,) = habits.read("Ann", "tic-tac-toe")
    assert game.points == 0.0
    assert -1.0 in [lesson.found for lesson in experience.read_all()]
