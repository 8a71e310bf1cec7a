"""Atomic replacement of files, durable if requested."""

import contextlib
import errno
import os
import sys
from pathlib import Path

import pytest

from agent.chess.evaluation import nnue_format
from agent.evaluation import SHIPPED_NETWORK
from agent.io import files
from agent.io.files import name_in_errors, replace_atomically
from tests.systems import needs_links


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "kept"
    found.write_bytes(b"old")
    return found


@pytest.mark.parametrize("durable", [False, True])
def test_durable_file_is_synced_before_replacement(
    path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    synced = []

    def sync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_size, path.read_bytes()))

    monkeypatch.setattr(os, "fsync", sync)
    replace_atomically(path, b"the new one", durable=durable)
    assert path.read_bytes() == b"the new one"
    assert synced == [(len(b"the new one"), b"old")] * durable
    assert [*path.parent.iterdir()] == [path]


@needs_links
def test_file_planted_under_the_temporary_name_is_not_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)  # zeros: the name can be predicted
    victim = path.with_name("victim")
    victim.write_bytes(b"other")
    path.with_name(f"kept.{bytes(8).hex()}.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        replace_atomically(path, b"new")
    assert (path.read_bytes(), victim.read_bytes()) == (b"old", b"other")


def test_temporary_names_differ_and_new_files_have_the_mode(path: Path) -> None:
    names = set()
    for _ in range(2):
        with files.atomic_writer(path, mode=0o600) as file:
            names.add(file.name)
            assert path.read_bytes() == b"old"
            file.write(b"old")
    assert len(names) == 2
    assert [*path.parent.iterdir()] == [path]
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_temporary_file_of_failed_writer_is_removed(path: Path) -> None:
    with contextlib.suppress(KeyError), files.atomic_writer(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert [*path.parent.iterdir()] == [path]


def test_failed_sync_keeps_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        replace_atomically(path, b"new", durable=True)
    assert path.read_bytes() == b"old"
    assert [*path.parent.iterdir()] == [path]


def test_replacement_error_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        replace_atomically(tmp_path, b"new")
    assert str(raised.value) == f"[Errno {errno.EISDIR}] Is a directory: {str(tmp_path)!r}"

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "file"
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as found:
        replace_atomically(path, b"new", durable=True)
    assert found.value.filename == str(path)


def test_errors_without_errno_keep_their_message() -> None:
    with pytest.raises(OSError, match=r"^choose another folder$"), name_in_errors("file"):
        raise OSError("choose another folder")


@needs_links
def test_symlink_is_kept_and_its_target_replaced(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (link := folder / "link").symlink_to(path)
    replace_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert [*folder.iterdir()] == [link]
    (dangling := folder / "dangling").symlink_to(tmp_path / "made")
    replace_atomically(dangling, b"new")
    assert (tmp_path / "made").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_named_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        replace_atomically(pipe, b"new")
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]


class Scanner:
    """Simulate a virus scanner: the first `times` replacements fail with PermissionError."""

    def __init__(self, file: Path, times: int) -> None:
        self._file = file
        self.times = times
        self._replace = os.replace

    def replace(self, source: str, target: str, **folders: int | None) -> None:
        if Path(target) == self._file and self.times:
            self.times -= 1
            raise PermissionError(errno.EACCES, "Access is denied", source)
        self._replace(source, target, **folders)


@pytest.fixture
def scanner(path: Path, monkeypatch: pytest.MonkeyPatch) -> Scanner:
    found = Scanner(path, 0)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "replace", found.replace)
    return found


def test_windows_retries_file_that_is_briefly_open(path: Path, scanner: Scanner) -> None:
    scanner.times = 3
    replace_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [*path.parent.iterdir()] == [path]


def test_windows_keeps_new_content_beside_file_in_use(
    path: Path, scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "REPLACE_TIMEOUT_S", 0.1)
    scanner.times = 1 << 20
    with pytest.raises(PermissionError, match="in use by another program") as raised:
        replace_atomically(path, b"new")
    kept = path.with_name("kept.new")
    assert f'move /Y "{kept}" "{path}"' in str(raised.value.strerror)
    assert (path.read_bytes(), kept.read_bytes()) == (b"old", b"new")
    assert sorted(path.parent.iterdir()) == [path, kept]


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_forbidden_replacement_is_not_retried(
    path: Path, scanner: Scanner, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "access", lambda path, mode: system == "linux")
    scanner.times = 2
    with pytest.raises(PermissionError, match="denied"):
        replace_atomically(path, b"new")
    assert scanner.times == 1
    assert [*path.parent.iterdir()] == [path]


def test_windows_discards_new_cache_file_if_old_is_in_use(
    path: Path, scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "REPLACE_TIMEOUT_S", 0.1)
    scanner.times = 1 << 20
    with pytest.raises(PermissionError, match="in use"):
        replace_atomically(path, b"new", keep=False)
    assert [*path.parent.iterdir()] == [path]


def test_windows_does_not_map_shipped_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapped file could not be replaced by an update while a front end has the engine open."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(nnue_format, "_map", None)
    assert nnue_format.read(SHIPPED_NETWORK, mapped=True).neurons > 0
