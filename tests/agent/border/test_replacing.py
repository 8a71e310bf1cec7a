"""A file that is written anew: others see the old one or the new, on the disk too if need be."""

import errno
import os
from pathlib import Path

import pytest

from agent.border.files import naming, replace_atomically


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "kept"
    found.write_bytes(b"old")
    return found


@pytest.mark.parametrize("durable", [False, True])
def test_a_durable_file_is_on_the_disk_before_it_takes_the_place_of_another(
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


def test_a_file_that_cannot_be_brought_to_the_disk_leaves_the_old_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        replace_atomically(path, b"new", durable=True)
    assert path.read_bytes() == b"old"
    assert [*path.parent.iterdir()] == [path]


def test_the_file_is_named_where_the_disk_is_full_or_another_was_to_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        replace_atomically(tmp_path, b"new")
    assert str(raised.value) == f"[Errno {errno.EISDIR}] Is a directory: '{tmp_path}'"

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "file"
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as found:
        replace_atomically(path, b"new", durable=True)
    assert found.value.filename == str(path)


def test_errors_that_are_not_the_systems_say_what_they_say() -> None:
    with pytest.raises(OSError, match=r"^choose another folder$"), naming("file"):
        raise OSError("choose another folder")


def test_a_link_stays_and_what_it_leads_to_is_replaced(path: Path, tmp_path: Path) -> None:
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
def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="it is no regular file"):
        replace_atomically(pipe, b"new")
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]
