"""The file of games against opponents: shared, limited in size, and safe for other files."""

import multiprocessing
import re
from pathlib import Path

import pytest

from agent.learning.opponent_database import HEADER, OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import GameRecord
from tests.systems import posix_only

GAME = GameRecord("Ann", ("e2e4", "e7e5"), 0, 1.0, scores=(30, None), seconds=(0.5,), lowest=0.05)


def game_of(name: str, points: float = 0.5) -> GameRecord:
    return GameRecord(name, ("d2d4",), 1, points)


@pytest.fixture
def file(tmp_path: Path) -> OpponentDatabase:
    return OpponentDatabase(tmp_path / "habits.jsonl")


def test_added_games_can_be_read(file: OpponentDatabase) -> None:
    assert file.read() == []
    file.add(GAME)
    file.add(game_of("Bob"))
    assert file.read() == [GAME, game_of("Bob")]
    assert file.read("ann") == [GAME]


def test_empty_file_contains_no_games(file: OpponentDatabase) -> None:
    file.path.touch()  # as another process may leave it for a moment
    assert file.read() == []
    file.add(GAME)
    assert file.read() == [GAME]


def test_forget_removes_games_of_opponent(file: OpponentDatabase) -> None:
    for name in ("Ann", "Bob", "ANN"):
        file.add(game_of(name))
    assert file.forget("Ann") == 2
    assert file.read() == [game_of("Bob")]
    assert file.forget("Ann") == 0


def _add_many(path: Path, name: str, count: int) -> None:
    for _ in range(count):
        OpponentDatabase(path).add(game_of(name))


@posix_only("it has no fork")
def test_several_processes_add_to_one_file(file: OpponentDatabase) -> None:
    context = multiprocessing.get_context("fork")
    names = ("Ann", "Bob", "Cid")
    writers = [context.Process(target=_add_many, args=(file.path, name, 40)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert {name: len(file.read(name)) for name in names} == dict.fromkeys(names, 40)


def test_oldest_games_are_dropped_when_file_is_too_large(tmp_path: Path) -> None:
    file = OpponentDatabase(tmp_path / "habits", max_bytes=4000)
    for number in range(100):
        file.add(game_of(f"player {number}"))
        assert file.path.stat().st_size <= 4400
    names = [game.opponent for game in file.read()]
    assert names == [f"player {number}" for number in range(100 - len(names), 100)]
    assert len(names) >= 5


def test_incomplete_last_line_is_ignored(file: OpponentDatabase) -> None:
    file.add(GAME)
    with open(file.path, "ab") as torn:
        torn.write(b'{"opponent":"Bo')
    assert file.read() == [GAME]
    file.add(game_of("Cid"))
    assert file.read() == [GAME, game_of("Cid")]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"opponent":""}',
        b'{"opponent":"A","moves":"e2e4","side":2,"points":1,"known":"told"}',
        b'{"opponent":"A","moves":"e2e4","side":0,"points":7,"known":"told"}',
        b'{"opponent":"A","moves":"e2e4","side":0,"points":1,"known":"told","scores":["x"]}',
        b'{"opponent":"A","moves":"e2e4","side":0,"points":1,"known":"told","seconds":[true]}',
        b'{"opponent":"A","moves":"e2e4 x","side":0,"points":1,"known":"told"}',
        b'{"opponent":"A","moves":"","side":0,"points":1,"known":"told","seconds":[Infinity]}',
        b'{"opponent":"A","moves":"","side":1.0,"points":1,"known":"told"}',
        b'{"opponent":"A","moves":"","side":true,"points":1,"known":"told"}',
        b'{"opponent":"A","moves":"","side":1,"points":1,"known":"told","lowest":%d}' % 10**400,
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_damaged_file_is_reported_and_unchanged(file: OpponentDatabase, line: bytes) -> None:
    file.add(GAME)
    content = file.path.read_bytes() + line + b"\n"
    file.path.write_bytes(content)
    with pytest.raises(OpponentDatabaseError, match=r"habits.jsonl, line 3: .*delete the line"):
        file.read()
    with pytest.raises(OpponentDatabaseError, match="line 3"):
        file.forget("Ann")
    assert file.path.read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"[Event]\n", b'{"kempelen": "habits", "version": 9}\n', HEADER[:9]]
)
def test_unrelated_file_is_not_overwritten(file: OpponentDatabase, content: bytes) -> None:
    file.path.write_bytes(content)
    for operation in (file.read, lambda: file.add(GAME), lambda: file.forget("Ann")):
        with pytest.raises(OpponentDatabaseError, match="not an opponents file"):
            operation()
    assert file.path.read_bytes() == content


def test_invalid_path_is_reported(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "habits"):
        with pytest.raises(OpponentDatabaseError, match=re.escape(str(path))):
            OpponentDatabase(path).add(GAME)


@posix_only("~name expands to a folder there")
def test_unknown_home_directory_is_reported() -> None:
    with pytest.raises(OpponentDatabaseError, match="~nobody-at-all/habits"):
        OpponentDatabase("~nobody-at-all/habits").add(GAME)
