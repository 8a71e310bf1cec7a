"""What not every system has: modules, signals, and marks for the tests that need them."""

import signal
import sys
from importlib import import_module
from typing import Any

import pytest

WINDOWS = sys.platform == "win32"


def posix_only(reason: str) -> pytest.MarkDecorator:
    """Skip a test on Windows; the reason says what it uses that is missing there."""
    return pytest.mark.skipif(WINDOWS, reason=reason)


def posix_module(name: str) -> Any:
    """Import a module of POSIX systems; on Windows, return one that skips the test that uses it."""
    return _Missing(name) if WINDOWS else import_module(name)


def posix_signal(name: str) -> int:
    """Return a signal of POSIX systems; on Windows SIGTERM, for tests that are skipped there."""
    return getattr(signal, name, signal.SIGTERM)


class _Missing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"uses the module {self._name}, which Windows lacks")
