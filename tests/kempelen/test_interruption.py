"""Windows console events end a run as SIGTERM does on other systems."""

import asyncio
import ctypes
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from unittest.mock import Mock

import pytest

from kempelen.console import console_events
from kempelen.console.interruption import Interruption

Handler = Callable[[int], bool]
CTRL_C_EVENT = 0


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> list[Handler]:
    """Fake a Windows console; return its handlers."""
    handlers: list[Handler] = []
    kernel32 = Mock()
    kernel32.SetConsoleCtrlHandler = lambda handler, add: handlers.append(handler)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WINFUNCTYPE", lambda *types: lambda f: f, raising=False)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: kernel32, raising=False)
    monkeypatch.setattr(console_events, "CLOSE_GRACE_S", 0.0)
    return handlers


@pytest.mark.parametrize("event", [console_events.CTRL_BREAK_EVENT, *console_events.CLOSE_EVENTS])
def test_a_console_event_ends_a_run(console: list[Handler], event: int) -> None:
    interruption = Interruption()

    async def play() -> None:
        interruption.install_handlers()
        (handler,) = console
        assert not handler(CTRL_C_EVENT)  # Python's own
        thread = threading.Thread(target=handler, args=(event,))
        thread.start()
        try:
            await asyncio.sleep(60)
        finally:
            thread.join()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(play())
    assert interruption.signal_number == signal.SIGTERM


def test_console_event_after_the_run_is_ignored(console: list[Handler]) -> None:
    interruption = Interruption()

    async def play() -> None:
        interruption.install_handlers()

    asyncio.run(play())
    assert console[0](console_events.CTRL_CLOSE_EVENT)
    assert interruption.signal_number == signal.SIGINT


def has_console() -> bool:
    """Return whether Ctrl-Break can be sent: on Windows with a console, but not under Wine."""
    if sys.platform != "win32":
        return False
    return bool(ctypes.WinDLL("kernel32").GetConsoleProcessList((ctypes.c_uint32 * 1)(), 1))


@pytest.mark.skipif(not has_console(), reason="there is no console of Windows")
def test_ctrl_break_stops_the_server_cleanly() -> None:
    command = [sys.executable, "-m", "kempelen", "serve", "--address", "127.0.0.1:0"]
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, creationflags=group
    ) as server:
        try:
            assert server.stderr is not None
            assert "listening" in server.stderr.readline()
            server.send_signal(getattr(signal, "CTRL_BREAK_EVENT", 0))
            assert "stopped" in server.communicate(timeout=60)[1]
            assert server.returncode == 0
        finally:
            server.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="of other systems")
def test_console_handler_is_unused_outside_windows() -> None:
    console_events.on_console_close(lambda: pytest.fail("called"))
