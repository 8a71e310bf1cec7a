"""The option `ExperienceFile` with the compiled engine."""

import threading

import pytest

from agent.learning.learned_move_database import LearnedMoveDatabase
from protocols.permissions import LOCAL, Permissions
from protocols.session_context import SessionContext
from protocols.uci.chess_session import MAX_PENDING
from protocols.uci.protocol import UciProtocol


class Talk:
    def __init__(self, permissions=LOCAL):
        self.heard = []
        session_context = SessionContext(permissions)
        self.uci = UciProtocol(
            "x", "y", self.heard.append, lambda path: None, session_context=session_context
        )

    def say(self, *lines):
        for line in lines:
            self.heard += list(self.uci.handle_line(line))
        assert self.uci.session.agent.wait(60)
        heard, self.heard[:] = list(self.heard), []
        return heard

    def best(self, position, limit="nodes 3000"):
        lines = self.say(f"position {position}", f"go {limit}")
        (best,) = (line.split()[1] for line in lines if line.startswith("bestmove"))
        return best, lines


@pytest.fixture
def talk():
    made = []

    def start(*arguments):
        made.append(Talk(*arguments))
        made[-1].say("isready")
        return made[-1]

    yield start
    for each in made:
        each.uci.close(20)


def test_learned_mistake_is_avoided_only_with_experience_file(talk, tmp_path):
    file = tmp_path / "My experience.db"
    first = talk()
    before = first.best("startpos")
    first.say(f"setoption name ExperienceFile value {file}", "ucinewgame")
    move, lines = first.best("startpos")
    assert (move, lines[-1]) == (before[0], before[1][-1])
    # Make the predicted value much higher than the next one.
    board_after = f"startpos moves {move} a7a6"
    first.uci.session.learning._predictions[-1].value = 900.0
    _, told = first.best(board_after)
    assert any(line.startswith(f"info string experience: {move} predicted 900") for line in told)
    (lesson,) = LearnedMoveDatabase(file).read_all()
    assert (lesson.move, lesson.reply) == (move, "a7a6")

    def again(session, *settings):
        session.say(*settings, "ucinewgame")
        return session.best("startpos")[0]

    other = talk()
    file_option = f"setoption name ExperienceFile value {file}"
    off = "setoption name ExperienceFile value"
    bad = LearnedMoveDatabase(file)
    for _ in range(6):  # until the learned value is a loss
        bad.add([lesson.__class__(**{**_fields(lesson), "found": -1000.0})])
    assert again(other, file_option) != move
    assert again(other, "setoption name UCI_AnalyseMode value true") == move
    assert again(other, "setoption name UCI_AnalyseMode value false") != move
    assert again(other, off) == move


def _fields(lesson):
    return {name: getattr(lesson, name) for name in lesson.__slots__}


def test_damaged_file_is_reported_and_engine_still_plays(talk, tmp_path):
    file = tmp_path / "damaged.db"
    file.write_bytes(b"SQLite format 3\0" + bytes(1000))
    session = talk()
    (told,) = session.say(f"setoption name ExperienceFile value {file}")
    assert str(file) in told
    assert "damaged" in told
    assert not session.uci.session.learning.active
    assert session.best("startpos")[0]
    assert file.read_bytes() == b"SQLite format 3\0" + bytes(1000)


def test_untrusted_session_cannot_set_experience_file(talk, tmp_path):
    session = talk(Permissions())
    assert not any("ExperienceFile" in line for line in session.say("uci"))
    (told,) = session.say(f"setoption name ExperienceFile value {tmp_path / 'file'}")
    assert told == "info string ExperienceFile: not available on this server"
    assert not session.uci.session.learning.active


@pytest.mark.thorough
def test_untrusted_session_has_pending_command_limit(talk):
    uci = talk(Permissions()).uci
    held = threading.Event()
    uci.session.agent.submit(lambda job: held.wait(20.0), long_running=True)
    told = {reply for _ in range(2 * MAX_PENDING) for reply in uci.handle_line("eval")}
    assert told == {"info string too many pending commands; ignored: eval"}
    assert len(uci.session.agent.pending()) == MAX_PENDING
    assert list(uci.handle_line("isready")) == ["readyok"]
    uci.session.agent.stop()
    held.set()
    assert uci.session.agent.wait(60.0)


def test_searches_of_an_untrusted_session_complete_before_more_are_queued(talk):
    lines = talk(Permissions()).say(*["go depth 7"] * (2 * MAX_PENDING))
    assert sum(line.startswith("info depth 7 ") for line in lines) == 2 * MAX_PENDING
    assert sum(line.startswith("bestmove") for line in lines) == 2 * MAX_PENDING
