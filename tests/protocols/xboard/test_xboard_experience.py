"""Position learning from the results that xboard reports."""

import pytest

from agent.learning.learned_move_database import LearnedMoveDatabase


@pytest.fixture
def playing(conversation, tmp_path):
    file = tmp_path / "experience.db"
    conversation.ask(f"option ExperienceFile={file}", "new", "sd 1", "usermove e2e4")
    assert conversation.xboard.chess.agent.wait(20)
    return conversation, file


def found(conversation, file, line):
    conversation.ask(line)
    assert conversation.xboard.chess.agent.wait(20)
    return [lesson.found for lesson in LearnedMoveDatabase(file).read_all()]


def test_lost_game_adds_losing_lesson(playing):
    assert found(*playing, "result 1-0 {White mates}") == [-1000]


@pytest.mark.parametrize(
    "line",
    [
        "result 1-0 {Black forfeits on time}",
        "result 1-0 {Time forfeit}",
        "result 1-0 {Illegal move}",
        "result 1-0 {Black's connection stalls}",
        "result 1-0 {Black program exits unexpectedly}",
        "result * {}",
    ],
)
def test_result_not_decided_on_board_is_not_learned(playing, line):
    assert found(*playing, line) == []


def test_unplayed_move_is_not_blamed_for_loss(playing):
    conversation, file = playing
    conversation.ask("new", "post")
    conversation.say("st 100", "usermove e2e4")
    while not conversation.hear().split()[0].isdigit():
        pass
    assert found(conversation, file, "result 1-0 {Black resigns}") == []
