"""Windows: an engine ends together with its children."""

import ctypes
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from protocols.client.job_object import JobObject
from protocols.client.process import EngineProcess


@pytest.fixture
def kernel32(monkeypatch: pytest.MonkeyPatch) -> Mock:
    found = Mock()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: found, raising=False)
    return found


def test_process_is_assigned_to_a_kill_on_close_job(kernel32: Mock) -> None:
    job = JobObject.of(77)
    assert job is not None
    assert kernel32.OpenProcess.call_args.args[2] == 77
    handle, kind, _, size = kernel32.SetInformationJobObject.call_args.args
    assert (handle, kind) == (kernel32.CreateJobObjectW.return_value, 9)
    assert size == 144 or ctypes.sizeof(ctypes.c_void_p) != 8
    opened = kernel32.OpenProcess.return_value
    kernel32.AssignProcessToJobObject.assert_called_once_with(handle, opened)
    kernel32.CloseHandle.assert_called_once_with(opened)
    job.end()
    kernel32.TerminateJobObject.assert_called_once_with(handle, 1)
    job.close()
    job.close()
    assert [call.args for call in kernel32.CloseHandle.call_args_list] == [(opened,), (handle,)]


@pytest.mark.parametrize(
    "step", ["CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject"]
)
def test_failed_job_creation_returns_none(kernel32: Mock, step: str) -> None:
    getattr(kernel32, step).return_value = 0
    assert JobObject.of(77) is None


@pytest.mark.skipif(sys.platform == "win32", reason="of other systems")
def test_no_job_object_on_other_systems() -> None:
    assert JobObject.of(77) is None


@pytest.mark.skipif(sys.platform != "win32", reason="starts a .bat file")
async def test_kill_ends_engine_started_by_a_bat_file(tmp_path: Path) -> None:
    beating = tmp_path / "beating"
    (tmp_path / "engine.py").write_text(
        "import sys, time\n"
        "print('here', flush=True)\n"
        "while True:\n"
        f"    open({str(beating)!r}, 'a').write('.')\n"
        "    time.sleep(0.1)\n"
    )
    engine = tmp_path / "engine.bat"
    engine.write_text(f'@"{sys.executable}" "{tmp_path / "engine.py"}"\n')
    process = await EngineProcess.start(str(engine))
    assert await process.read_line() == "here"
    await process.kill()
    time.sleep(0.5)
    size = beating.stat().st_size
    time.sleep(0.5)
    assert beating.stat().st_size == size
