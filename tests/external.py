"""External programs and files that some tests need, and the Debian packages that have them.

A test declares what it needs by `@pytest.mark.needs("stockfish")`, or by using a fixture of
FIXTURES. If the program is missing, the test is skipped, or fails if the environment variable CI is
set. Undeclared programs are replaced on PATH by stubs that fail, so a missing declaration is
noticed even where the program is installed.

`python3 -m tests.external` prints the packages. It needs no pytest: it runs before installation.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGES = {
    "buildah": "buildah",
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "debootstrap": "debootstrap",
    "gnugo": "gnugo",
    "mosquitto": "mosquitto",
    "mosquitto_passwd": "mosquitto",
    "phalanx": "phalanx",
    "stockfish": "stockfish",
    "xboard": "xboard",
    "xvfb-run": "xvfb",
    "/usr/share/games/gnuchess/book.bin": "gnuchess-book",
    "/usr/share/pychess/pychess_book.bin": "pychess",
    "/usr/share/gaviotatb/gtb4": "gaviotatb",
}
FIXTURES = {
    "browser": ("chromium", "chromedriver"),
    "built": ("buildah", "debootstrap"),
    "composed": ("mosquitto", "mosquitto_passwd"),
    "mosquitto": ("mosquitto", "mosquitto_passwd"),
    "referee": ("stockfish",),
}
DEBIAN_FOLDERS = ("/usr/games", "/usr/sbin")  # may be missing from PATH

_STUB = """#!/bin/sh
name=${0##*/}
echo "$name is not declared (expected @pytest.mark.needs(\\"$name\\") on the test)" >&2
exit 127
"""
_path = os.environ.get("PATH", "")
_declared: dict[str, str] = {}


def find(name: str) -> str | None:
    """Return the path of an installed program or file, None if it is missing."""
    if os.path.isabs(name):
        return name if os.path.exists(name) else None
    return shutil.which(name, path=os.pathsep.join([_path, *DEBIAN_FOLDERS]))


def installed(name: str) -> str:
    """Return the path of an installed program; raise FileNotFoundError if it is missing."""
    path = find(name)
    if path is None:
        raise FileNotFoundError(f"{name}: not installed (run scripts/install-debian-packages)")
    return path


def program(name: str) -> str:
    """Return the path of a program or file that the running test has declared."""
    assert name in _declared, f"expected @pytest.mark.needs({name!r}) on the test"
    return _declared[name]


def missing(names: Iterable[str]) -> list[str]:
    """Return those of the names that are not installed."""
    return [name for name in names if find(name) is None]


class ProgramPath:
    """PATH as a test sees it: declared programs first, stubs for all others of PACKAGES."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if os.name == "nt":
            return
        for name in PACKAGES:
            if not os.path.isabs(name):
                stub = folder / "undeclared" / name
                stub.parent.mkdir(exist_ok=True)
                stub.write_text(_STUB)
                stub.chmod(stub.stat().st_mode | stat.S_IXUSR)

    def declare(self, names: Iterable[str]) -> None:
        """Put these programs on PATH, and no others of PACKAGES."""
        _declared.clear()
        folders = [str(self._folder / "undeclared")]
        for name in sorted(set(names)):
            path = _declared[name] = installed(name)
            if not os.path.isabs(name) and os.name != "nt":
                link = self._folder / "declared" / name / name
                if not link.is_symlink():
                    link.parent.mkdir(parents=True)
                    link.symlink_to(path)
                folders.insert(0, str(link.parent))
        os.environ["PATH"] = os.pathsep.join([*folders, _path])


if __name__ == "__main__":
    sys.stdout.write("".join(f"{package}\n" for package in sorted(set(PACKAGES.values()))))
