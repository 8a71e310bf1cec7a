"""A file that is appended to, and what other programs may do to it meanwhile."""

import os
from pathlib import Path

import pytest

from agent.io.append_file import AppendFile
from tests.systems import module_or_skip, posix_only

resource = module_or_skip("resource")

pytestmark = posix_only("Windows does not let others remove an open file")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "kept"
    found.write_bytes(b"begin, and a part of a li")
    return found


@pytest.mark.parametrize("when", ["before a write", "before the end", "twice"])
def test_removed_file_is_written_again(path: Path, when: str) -> None:
    with AppendFile(path, len(b"begin")) as file:
        file.write(b" one")
        if when != "before the end":
            path.unlink()
        file.write(b" two", durable=True)
        if when != "before a write":
            path.unlink()
    assert path.read_bytes() == b"begin one two"
    assert [*path.parent.iterdir()] == [path]


def test_file_that_replaced_it_is_not_touched(path: Path) -> None:
    file = AppendFile(path, len(b"begin"))
    file.write(b" one")
    path.unlink()
    path.write_bytes(b"other")
    with pytest.raises(OSError, match=r"replaced by another file.*its contents are in .*kept\.1\)"):
        file.write(b" two")
    file.close()
    assert path.read_bytes() == b"other"
    assert path.with_name("kept.1").read_bytes() == b"begin one"


def test_changed_file_is_reported(path: Path) -> None:
    file = AppendFile(path, len(b"begin"))
    os.truncate(path, 2)
    with pytest.raises(OSError, match="changed by another program while it was written"):
        file.write(b" one")
    with pytest.raises(OSError, match="changed by another program while it was written"):
        file.close()
    assert path.read_bytes() == b"be"


def test_failed_write_leaves_no_part(path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with AppendFile(path, len(b"begin")) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))
        try:
            with pytest.raises(OSError, match=r"File too large.*kept"):
                file.write(b" one")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == b"begin"
        file.write(b" two")
    assert path.read_bytes() == b"begin two"


def test_file_that_is_written_again_keeps_its_permissions(path: Path) -> None:
    path.chmod(0o600)
    with AppendFile(path, len(b"begin")):
        path.unlink()
    assert path.stat().st_mode & 0o777 == 0o600
