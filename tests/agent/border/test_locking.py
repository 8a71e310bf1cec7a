"""Locks on files: one holder at a time, in this process and beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.border.locking import hold, lock
from tests.systems import needs_links

HOLD = """
import sys
from agent.border.locking import lock
held = lock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_lock_has_one_holder_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "games.sqlite")
    with lock(path) as held:
        assert held.name == path + ".lock"
        with pytest.raises(BlockingIOError):
            lock(path)
    lock(path).close()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = str(tmp_path / "games.sqlite")
    line = [sys.executable, "-c", HOLD, path]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            lock(path)
        process.kill()
    lock(path).close()


def test_file_that_cannot_be_locked_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("a") as first:
        hold(first)
        second = path.open("a")
        with pytest.raises(BlockingIOError):
            hold(second)
        assert second.closed


def test_lock_in_missing_folder_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock(str(tmp_path / "missing" / "games.sqlite"))


@needs_links
def test_symlink_and_target_share_a_lock(tmp_path: Path) -> None:
    path, link = tmp_path / "games.sqlite", tmp_path / "link"
    link.symlink_to(path)
    with lock(str(path)), pytest.raises(BlockingIOError):
        lock(str(link))
