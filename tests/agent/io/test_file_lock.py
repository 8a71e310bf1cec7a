"""File locks: one holder at a time, in this process and in others."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.io.file_lock import lock_file, lock_path
from tests.systems import needs_links

HOLD = """
import sys
from agent.io.file_lock import lock_path
held = lock_path(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_lock_has_one_holder_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "games.sqlite")
    with lock_path(path) as held:
        assert held.name == path + ".lock"
        with pytest.raises(BlockingIOError):
            lock_path(path)
    lock_path(path).close()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = str(tmp_path / "games.sqlite")
    line = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            lock_path(path)
        process.kill()
    lock_path(path).close()


def test_file_that_cannot_be_locked_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("a") as first:
        lock_file(first)
        second = path.open("a")
        with pytest.raises(BlockingIOError):
            lock_file(second)
        assert second.closed


def test_lock_in_missing_folder_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock_path(str(tmp_path / "missing" / "games.sqlite"))


@needs_links
def test_symlink_and_target_share_a_lock(tmp_path: Path) -> None:
    path, link = tmp_path / "games.sqlite", tmp_path / "link"
    link.symlink_to(path)
    with lock_path(str(path)), pytest.raises(BlockingIOError):
        lock_path(str(link))
