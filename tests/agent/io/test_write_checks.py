"""Checks of output files."""

import errno
import os
from pathlib import Path

import pytest

from agent.io.files import open_file
from agent.io.write_checks import require_writable
from tests.systems import needs_links


@needs_links
def test_invalid_output_paths_are_rejected(tmp_path: Path) -> None:
    read, link, hard, new = (tmp_path / name for name in ("read", "link", "hard", "new"))
    read.write_text("what is read")
    link.symlink_to(read)
    hard.hardlink_to(read)
    (tmp_path / "dangling").symlink_to(new)
    (tmp_path / "astray").symlink_to(tmp_path / "none" / "new")
    require_writable([new, tmp_path / "other"], [read], ValueError)
    for targets, reason in (
        ([read], "read: is an input file"),
        ([new, link], "link: is an input file"),
        ([hard], "hard: is an input file"),
        ([new, tmp_path / "dangling"], "dangling: given for two outputs"),
        ([new, tmp_path / ".." / tmp_path.name / "new"], "new: given for two outputs"),
        ([tmp_path], "is a folder"),
        ([tmp_path / "none" / "new"], "new: its folder does not exist"),
        ([tmp_path / "astray"], "astray: its folder does not exist"),
        (["ne\0w"], r"'ne\\x00w': invalid file name"),
    ):
        with pytest.raises(ValueError, match=reason):
            require_writable(targets, [read, "no\0name"], ValueError)


@pytest.mark.parametrize("exists", [True, False])
def test_missing_write_permission_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    target = tmp_path / "new"
    if exists:
        target.touch()
    for refused in [target, tmp_path] if exists else [tmp_path]:
        monkeypatch.setattr(os, "access", lambda name, mode, refused=refused: name != str(refused))
        with pytest.raises(ValueError, match="new: no write permission"):
            require_writable([str(target)], [], ValueError)


def test_null_device_needs_no_writable_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda name, mode: name == os.devnull)
    require_writable([os.devnull], [], ValueError)


def test_regular_option_rejects_devices(tmp_path: Path) -> None:
    require_writable([tmp_path / "new", __file__], [], ValueError, regular=True)
    with pytest.raises(ValueError, match="not a regular file"):
        require_writable([os.devnull], [], ValueError, regular=True)


def test_windows_nul_device_needs_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "realpath", lambda path: f"\\\\.\\{path}/nul")
    monkeypatch.setattr(os.path, "exists", lambda path: True)
    monkeypatch.setattr(os.path, "isfile", lambda path: False)
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    require_writable(["nul"], [], ValueError)
    with pytest.raises(ValueError, match="nul: not a regular file"):
        require_writable(["nul"], [], ValueError, regular=True)


def test_permission_error_on_folder_becomes_is_a_directory_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path, flags: int, mode: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)
    with pytest.raises(PermissionError):
        open_file(tmp_path / "file")
