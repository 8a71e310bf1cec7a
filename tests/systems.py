"""What not every system has: modules, signals, and marks for the tests that need them."""

import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

WINDOWS = sys.platform == "win32"


def posix_only(reason: str) -> pytest.MarkDecorator:
    """Skip a test on Windows; the reason says what it uses that is missing there."""
    return pytest.mark.skipif(WINDOWS, reason=reason)


def module_or_skip(name: str) -> Any:
    """Import a module. If Windows lacks it, return a stub that skips the test on first use."""
    try:
        return import_module(name)
    except (ImportError, AttributeError):
        if WINDOWS:
            return _Missing(name)
        raise


def _links_work() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "link"
        try:
            link.symlink_to(folder)
        except OSError:
            return False
        return link.is_symlink()


# On Windows, symbolic links need a privilege; in Wine they do not work.
needs_links = pytest.mark.skipif(not _links_work(), reason="there are no symbolic links")


def posix_signal(name: str) -> int:
    """Return a signal of POSIX systems; on Windows SIGTERM, for tests that are skipped there."""
    return getattr(signal, name, signal.SIGTERM)


class _Missing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"uses the module {self._name}, which is missing here")
