import os
import sqlite3
import subprocess
import sys

import pytest

from agent.agent import AgentError
from agent.chess.engine.learning import ChessLearningAdapter
from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import LearnedMoveDatabase, LearningDatabaseError
from agent.learning.position_learner import PositionLearner
from tests.systems import posix_only


def lesson(move="e2e4", found=-100.0, **more):
    return LearnedMove(
        "chess engine", "start", move, f"after {move}", "e7e5", 30.0, found, 8, **more
    )


@pytest.fixture
def file(tmp_path):
    return LearnedMoveDatabase(tmp_path / "experience.db")


def test_file_is_created_with_first_lesson(file):
    assert file.read_all() == file.read_new() == []
    assert not file.path.exists()
    file.add([lesson()])
    assert LearnedMoveDatabase(file.path).read_all() == [lesson()]


def test_repeated_lessons_are_averaged(file):
    file.add([lesson()])
    file.add([lesson(found=0.0)])
    (known,) = file.read_all()
    assert (known.predicted, known.found, known.times) == (30, -50, 2)
    for _ in range(3):
        file.add([lesson(found=0.0)])
    (known,) = file.read_all()
    assert known.found == -100 / 16  # old outcomes fade
    file.add([lesson(found=-100, times=5)], later=False)
    (known,) = file.read_all()
    assert (known.found, known.times) == ((-100 / 16 - 100) / 2, 10)


def test_news_returns_lessons_written_since_last_call(file):
    other = LearnedMoveDatabase(file.path)
    file.add([lesson("e2e4"), lesson("d2d4")])
    assert {each.move for each in other.read_new()} == {"e2e4", "d2d4"}
    assert other.read_new() == []
    file.add([lesson("d2d4")])
    assert [(each.move, each.times) for each in other.read_new()] == [("d2d4", 2)]
    file.prune(1)
    file.path.unlink()
    file.add([lesson("c2c4")])
    assert [each.move for each in other.read_new()] == ["c2c4"]


def test_least_useful_lessons_are_pruned(tmp_path):
    file = LearnedMoveDatabase(tmp_path / "small.db", max_moves=3)
    file.add([lesson("a2a3", times=2)])
    for move in ("b2b3", "c2c3", "d2d3"):
        file.add([lesson(move)])
    assert {each.move for each in file.read_all()} == {"a2a3", "c2c3", "d2d3"}
    file.add_use_counts([(lesson("c2c3").key, 4)])
    assert file.prune(1) == 2
    assert [(each.move, each.used) for each in file.read_all()] == [("c2c3", 4)]
    assert file.prune(1) == 0


WRITER = """
import sys
from agent.chess.engine.learning import ChessLearningAdapter
from agent.learning.learned_move import LearnedMove
from agent.learning.position_learner import PositionLearner
from agent.learning.learned_move_database import LearnedMoveDatabase
file = LearnedMoveDatabase(sys.argv[1])
for number in range(40):
    move = LearnedMove("g", f"{sys.argv[2]} {number}", "m", "a", "r", 1, 0, 1)
    file.add([move, LearnedMove("g", "shared", "m", "a", "r", 1, 0, 1)])
"""


@pytest.mark.thorough
def test_concurrent_writers_lose_no_lessons(file):
    """A killed writer leaves only complete transactions."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, file.path, name]) for name in "abc"]
    victim = subprocess.Popen([sys.executable, "-c", WRITER, file.path, "victim"])
    while not any(each.position.startswith("victim") for each in file.read_all()):
        assert victim.poll() in (None, 0)
    victim.kill()
    victim.wait()
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = file.read_all()
    of_victim = sum(each.position.startswith("victim") for each in found)
    (shared,) = (each for each in found if each.position == "shared")
    assert len(found) == 3 * 40 + of_victim + 1
    assert shared.times == 3 * 40 + of_victim


def test_file_locked_by_another_program_is_reported(file):
    file.add([lesson()])
    file.busy_timeout = 0.01
    held = sqlite3.connect(file.path)
    held.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LearningDatabaseError, match="the file is in use by another program"):
        file.add([lesson()])
    held.close()
    file.add([lesson()])


def test_unusable_files_are_rejected_and_kept(file, tmp_path):
    file.add([lesson(str(number)) for number in range(500)])
    content = bytearray(file.path.read_bytes())
    content[4096 * 3 : 4096 * 6] = os.urandom(4096 * 3)
    file.path.write_bytes(content)
    with pytest.raises(
        LearningDatabaseError, match=r"experience\.db: .*file is damaged; restore it"
    ):
        LearnedMoveDatabase(file.path)
    assert file.path.read_bytes() == content
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE lesson (x)")
    database.close()
    with pytest.raises(LearningDatabaseError, match="not an experience file"):
        LearnedMoveDatabase(other)
    with pytest.raises(LearningDatabaseError, match="folder does not exist"):
        LearnedMoveDatabase(tmp_path / "none" / "x")
    with pytest.raises(LearningDatabaseError, match="Is a directory"):
        LearnedMoveDatabase(tmp_path)
    newer = LearnedMoveDatabase(tmp_path / "newer.db")
    newer.add([lesson()])
    with sqlite3.connect(newer.path) as database:
        database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(LearningDatabaseError, match="another version"):
        LearnedMoveDatabase(newer.path)


def assert_change_is_rejected(file, change):
    with sqlite3.connect(file.path) as database:
        database.execute(f"UPDATE lesson SET {change}")
    database.close()
    with pytest.raises(LearningDatabaseError, match="file is damaged; restore it"):
        LearnedMoveDatabase(file.path)


@pytest.mark.parametrize("change", ["found = 9e999", "predicted = -9e999", "times = 0"])
def test_invalid_lesson_values_are_rejected(file, change):
    file.add([lesson()])
    assert_change_is_rejected(file, change)


@posix_only("~name expands to a folder there")
def test_unknown_home_folder_is_reported(tmp_path):
    with pytest.raises(AgentError, match=r"~nobody-at-all/x: folder does not exist"):
        PositionLearner(ChessLearningAdapter()).open_file("~nobody-at-all/x")


def test_missing_lesson_table_is_reported_as_damage(file):
    file.add([lesson()])
    with sqlite3.connect(file.path) as database:
        database.execute("DROP TABLE lesson")
    database.close()
    with pytest.raises(
        LearningDatabaseError, match=r"no such table: lesson .the file is damaged; restore it"
    ):
        LearnedMoveDatabase(file.path)


@pytest.mark.parametrize(
    "hostile",
    [
        "ALTER TABLE lesson RENAME TO old; CREATE VIEW lesson AS WITH RECURSIVE endless (x) AS "
        "(SELECT 1 UNION ALL SELECT x FROM endless) SELECT 'a' AS game, 'b' AS position, "
        "'c' AS move, 'd' AS after, 'e' AS reply, 1.0 AS predicted, 1.0 AS found, 1 AS depth, "
        "1 AS times, 0 AS used, 1 AS stamp FROM endless WHERE x > 1",
        "CREATE TRIGGER forget AFTER INSERT ON lesson BEGIN DELETE FROM lesson; END",
        "DROP INDEX by_stamp; CREATE INDEX by_stamp ON lesson (hex(zeroblob(9)))",
        "ALTER TABLE lesson ADD COLUMN more ANY AS (hex(zeroblob(500000000)))",
    ],
    ids=["view", "trigger", "index", "column"],
)
def test_file_with_statements_of_others_is_rejected(file, hostile):
    """They would run without end, or delete what is learned."""
    file.add([lesson()])
    with sqlite3.connect(file.path) as database:
        database.executescript(hostile)
    database.close()
    with pytest.raises(LearningDatabaseError, match="not an experience file"):
        LearnedMoveDatabase(file.path)


def test_statistics_of_sqlite_are_accepted(file):
    file.add([lesson()])
    with sqlite3.connect(file.path) as database:
        database.execute("ANALYZE")
    database.close()
    assert LearnedMoveDatabase(file.path).read_all() == [lesson()]


@pytest.mark.parametrize("name", ["times", "used", "stamp", "depth"])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_counts_that_would_overflow_are_rejected(file, name, value):
    file.add([lesson()])
    assert_change_is_rejected(file, f"{name} = {value}")
