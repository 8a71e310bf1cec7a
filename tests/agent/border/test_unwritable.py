"""What is refused beforehand of files that are to be written."""

from pathlib import Path

import pytest

from agent.border.unwritable import require_writable


def test_what_must_not_be_written_is_refused(tmp_path: Path) -> None:
    read, link, hard, new = (tmp_path / name for name in ("read", "link", "hard", "new"))
    read.write_text("what is read")
    link.symlink_to(read)
    hard.hardlink_to(read)
    (tmp_path / "dangling").symlink_to(new)
    require_writable([new, tmp_path / "other"], [read], ValueError)
    for targets, reason in (
        ([read], "read is read here: choose another"),
        ([new, link], "link is read here"),
        ([hard], "hard is read here"),
        ([new, tmp_path / "dangling"], "dangling is to be written twice"),
        ([new, tmp_path / ".." / tmp_path.name / "new"], "new is to be written twice"),
        ([tmp_path], "is a folder: name a file in it"),
        ([tmp_path / "none" / "new"], "new: its folder does not exist"),
    ):
        with pytest.raises(ValueError, match=reason):
            require_writable(targets, [read], ValueError)
