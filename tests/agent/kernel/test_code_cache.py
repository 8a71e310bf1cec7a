"""The code cache: files that others could have written are never executed."""

import hashlib
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba
import pytest

from agent.connect_four.parts import CONNECT_FOUR
from agent.kernel import code_cache, compilation, decorators
from agent.kernel.kernel_loader import KernelLoader
from agent.threads.one_shot_event import wait_for_any
from kempelen.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders have no POSIX owners")

STRANGER = 12345
SIGNATURE = numba.int32(numba.int32)


def double(x: int) -> int:
    return 2 * x


class Planted:
    """Creates a folder when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._trace),)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def folder(tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with a manipulated file for `double`."""
    folder = tmp_path / "base" / "kernel"
    payload = pickle.dumps(Planted(trace))
    code_cache.write(folder, "double.pickle", hashlib.sha256(payload).digest() + payload)
    code_cache.write(folder, f"complete-{CONNECT_FOUR}", b"")
    for module in (decorators, compilation):
        monkeypatch.setattr(module, "cache_folder", lambda: folder)
    return folder


def test_files_in_own_cache_folder_are_trusted(folder: Path, trace: Path) -> None:
    with pytest.raises(TypeError):  # the unpickled object is not a compiled function
        decorators.c_function(SIGNATURE, double, "double")
    assert trace.exists()
    assert compilation.is_cached(CONNECT_FOUR)


def give_to(uid: int, path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, uid, -1)


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("where", ["", "kernel", "kernel/double.pickle"])
@pytest.mark.parametrize("reason", [0o020, 0o002, 0o022, STRANGER])
def test_files_writable_by_others_are_not_loaded(
    where: str, reason: int, folder: Path, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder.parent / where
    if reason == STRANGER:
        give_to(STRANGER, path)
    else:
        path.chmod(path.stat().st_mode | reason)
    for _ in range(2):
        assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert not trace.exists()
    output = capsys.readouterr().err
    assert output.count("so its compiled code is not used") == 1
    assert f"{path}: " in output
    writable_folder = reason != STRANGER and path.is_dir()
    assert (f"chmod go-w {path}" if writable_folder else "delete it") in output
    assert "KEMPELEN_CACHE_DIR" in output
    assert compilation.is_cached(CONNECT_FOUR) == (where == "kernel/double.pickle")


def test_untrusted_cache_file_is_replaced(folder: Path) -> None:
    (folder / "double.pickle").chmod(0o666)
    decorators.c_function(SIGNATURE, double, "double")
    decorators.loaded.clear()
    assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert decorators.loaded == ["double"]


@pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can be another user"
)
def test_cache_filled_by_root_is_trusted() -> None:
    """As in the container image, where another user runs code compiled by root."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        code_cache.write(base / "kernel", "file", b"code")
        assert modes(base / "kernel", base / "kernel" / "file") == [0o755, 0o644]
        read = (
            "import os, sys; from pathlib import Path; from agent.kernel import code_cache;"
            f"os.setuid({STRANGER}); folder = Path({str(base / 'kernel')!r});"
            "assert code_cache.write_problem(folder) is not None;"
            "assert code_cache.read(folder, 'file') == b'code'"
        )
        assert subprocess.run([sys.executable, "-c", read], timeout=60).returncode == 0


def modes(*paths: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


@pytest.mark.parametrize("mask", [0o022, 0o002, 0])
def test_new_cache_files_are_not_writable_by_others(mask: int, tmp_path: Path) -> None:
    folder = tmp_path / "above" / "base" / "kernel"
    before = os.umask(mask)
    try:
        code_cache.write(folder, "file", b"code")
        code_cache.lock(folder).close()
    finally:
        os.umask(before)
    assert modes(folder.parent, folder) == [0o700, 0o700]
    assert modes(folder / "file") == [0o644]
    assert code_cache.read(folder, "file") == b"code"
    assert code_cache.write_problem(folder) is None


def test_kernel_is_not_stored_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=1 << 20))
    problem = code_cache.write_problem(tmp_path / "base" / "kernel")
    assert problem is not None
    assert "disk full (set KEMPELEN_CACHE_DIR to another folder)" in problem


def test_nothing_is_written_to_folder_writable_by_others(folder: Path) -> None:
    folder.parent.chmod(0o777)
    with pytest.raises(code_cache.UntrustedCacheError):
        code_cache.write(folder, "new", b"")
    with pytest.raises(code_cache.UntrustedCacheError):
        code_cache.write(folder.parent / "another", "new", b"")
    with pytest.raises(code_cache.UntrustedCacheError):
        code_cache.lock(folder)
    folder.parent.chmod(0o700)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"complete-{CONNECT_FOUR}",
        "double.pickle",
    ]
    assert not (folder.parent / "another").exists()


def test_old_cache_folder_permissions_are_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(code_cache.CACHE_VARIABLE, raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "kempelen")
    (tmp_path / "kempelen").mkdir()
    (tmp_path / "kempelen").chmod(0o775)
    folder = decorators.cache_folder.__wrapped__()
    assert code_cache.write_problem(folder) is None
    assert modes(folder.parent) == [0o755]


def test_warmup_rejects_untrusted_cache_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.parent.chmod(0o777)
    assert main(["warmup"]) == 1
    output = capsys.readouterr()
    assert f"chmod go-w {folder.parent}" in output.err
    assert output.out == ""


def test_warmup_rejects_impossible_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for module in (decorators, compilation):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "file" / "kernel")
    assert main(["warmup"]) == 1
    assert (
        f"{tmp_path / 'file' / 'kernel'}: cannot cache compiled code: " in capsys.readouterr().err
    )


def test_untrusted_cache_is_reported_once_and_code_still_loads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No child process compiles, because its code could not be loaded from the cache."""
    folder.parent.chmod(0o777)
    monkeypatch.setattr(compilation, "PARTS", {"toy": ("agent.kernel.parts",)})
    monkeypatch.setattr(
        compilation, "compile_in_child", lambda part: pytest.fail("child process started")
    )
    reports: list[str] = []
    first = KernelLoader("toy", "kernel", "playing without it", reports.append)
    second = KernelLoader("toy", "search", "playing otherwise", reports.append, requires=first)
    for loader in (first, second):
        loader.start()
        wait_for_any(loader.ready, timeout=60)
        assert loader.is_loaded
    assert len([line for line in reports if f"chmod go-w {folder.parent}" in line]) == 1
