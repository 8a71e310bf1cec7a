"""The checks of `kempelen doctor`.

Only the standard library is imported at load time. Code that may crash runs in a child process.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from math import inf, isfinite
from mimetypes import MimeTypes
from pathlib import Path
from sysconfig import get_path

from kempelen import __version__
from kempelen.diagnostics.diagnosis import Diagnosis

# Duration of the benchmark search, and the timeout of its process, in seconds.
SEARCH_SECONDS = 2.0
SUBPROCESS_TIMEOUT = 120.0

# The CPU features that speed up the kernel most, by their LLVM names.
CPU_FEATURES = {
    "x86_64": {"AVX2": "avx2", "AVX-512": "avx512f", "BMI2": "bmi2", "POPCNT": "popcnt"},
    "aarch64": {"NEON": "neon", "SVE": "sve", "CSSC": "cssc"},
}
ARCHITECTURE_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}

_BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
"""
_COMPILE = f"""{_BEGIN}
import numba
numba.njit(lambda x: x + 1)(1)
"""
_SEARCH = f"""{_BEGIN}
from agent.chess.parts import ALPHABETA
from agent.kernel import compilation
compilation.load(ALPHABETA)
from agent.chess.search.bench import nodes_per_second
print(nodes_per_second(float(sys.argv[2])))
"""


def check_version(diagnosis: Diagnosis) -> None:
    folder = Path(__file__).parents[1]
    diagnosis.add_note(
        "kempelen", f"{__version__}, in {folder}", version=__version__, folder=folder
    )


def check_python(diagnosis: Diagnosis) -> None:
    from importlib.metadata import PackageNotFoundError, metadata

    from agent.io.requirements import satisfies

    number, kind = platform.python_version(), platform.python_implementation()
    text = f"{number} ({kind}), {sys.executable}"
    diagnosis.add_note("Python", text, version=number, kind=kind, program=sys.executable)
    try:
        needed = metadata("kempelen")["Requires-Python"] or ""
    except PackageNotFoundError:
        return
    if not satisfies(number, needed):
        diagnosis.add_problem(
            f"Python {number}: unsupported version (expected {needed})",
            "install it with another Python",
            broken=True,
        )


def check_system(diagnosis: Diagnosis) -> None:
    diagnosis.add_note("system", platform.platform(), machine=platform.machine())


def check_windows(diagnosis: Diagnosis) -> None:
    """On Windows, report the settings that GUIs and browsers rely on."""
    if sys.platform != "win32":
        return
    from kempelen.web.media_types import MEDIA_TYPES

    found = shutil.which("kempelen")
    beside = Path(get_path("scripts")) / "kempelen.exe"
    program = found or (str(beside) if beside.is_file() else None)
    diagnosis.add_note(
        "program", f"{program or 'missing'}{'' if found else ', not on PATH'}",
        program=program, on_path=found is not None,
    )  # fmt: skip
    if found is None:
        diagnosis.add_problem(
            "kempelen is not on PATH",
            "use py -m kempelen instead, and the full path of kempelen.exe in GUIs"
            + (f": {program}" if program else ""),
        )
    types = MimeTypes()
    types.read_windows_registry()
    others = {
        suffix: name
        for suffix, usual in MEDIA_TYPES.items()
        if (name := types.types_map[True].get(suffix, usual)) != usual
    }
    changed = ", ".join(f"{suffix} is {name}" for suffix, name in others.items())
    text = f"{changed} in the registry; kempelen web sends its own media types" if changed else ""
    diagnosis.add_note("file types", text or "default", changed=others)


def check_packages(diagnosis: Diagnosis) -> None:
    """Report the required packages and the optional dependency groups."""
    from importlib.metadata import PackageNotFoundError

    from agent.io.requirements import (
        install_command,
        installed_version,
        package_requirements,
        reinstall_remedy,
    )

    try:
        needed = package_requirements()
    except PackageNotFoundError:
        diagnosis.add_note("packages", "unknown: running from a source folder, not installed")
        return
    always = needed.pop("")
    versions = {each.name: each.installed for each in always}
    versions["llvmlite"] = installed_version("llvmlite")
    text = ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items())
    diagnosis.add_note("packages", text, versions=versions)
    for each in always:
        if not each.is_met:
            diagnosis.add_problem(
                f"{each}: {each.installed or 'missing'}",
                reinstall_remedy(f"pip install '{each}'"),
                broken=True,
            )
    there = {
        extra: {each.name: each.installed for each in those} for extra, those in needed.items()
    }
    lacking = {
        extra: missing
        for extra, those in needed.items()
        if (missing := [each.name for each in those if each.installed is None])
    }
    words = [extra for extra in needed if extra not in lacking]
    words += [f"not {extra} (missing: {' '.join(names)})" for extra, names in lacking.items()]
    diagnosis.add_note("extras", ", ".join(words) or "none", packages=there)
    for extra, those in needed.items():
        wrong = [
            f"{each} ({each.installed})" for each in those if each.installed and not each.is_met
        ]
        if wrong and extra not in lacking:
            diagnosis.add_problem(f"extra {extra} needs {', '.join(wrong)}", install_command(extra))
    recorded = installed_version("kempelen")
    if recorded != __version__:
        diagnosis.add_problem(
            f"version {__version__} is running, but {recorded} is installed",
            reinstall_remedy("reinstall kempelen"),
        )


def check_processor(diagnosis: Diagnosis) -> None:
    from agent.kernel.cpu import cpu_features, cpu_name
    from agent.machine import cpu_model

    name, model, features = cpu_name(), cpu_model(), cpu_features()
    diagnosis.add_note(
        "processor", f"{model}; LLVM name {name}" if model else name, name=model, llvm=name
    )
    machine = platform.machine().lower()
    known = CPU_FEATURES.get(ARCHITECTURE_ALIASES.get(machine, machine), {})
    has = {word: feature in features for word, feature in known.items()}
    text = ", ".join(f"{word} {'yes' if present else 'no'}" for word, present in has.items())
    diagnosis.add_note("features", text or "unknown", of_note=has, all=sorted(features))


def check_cores(diagnosis: Diagnosis) -> None:
    from agent.machine import cpu_quota, usable_cores

    cores, usable, quota = os.cpu_count() or 1, usable_cores(), cpu_quota()
    text = f"{usable} of {cores} usable"
    if isfinite(quota):
        text += f"; the control group grants {quota:g}"
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if load is not None:
        text += f"; load average {load:.1f}"
    granted = quota if isfinite(quota) else None
    diagnosis.add_note("cores", text, usable=usable, machine=cores, granted=granted, busy=load)


def check_memory(diagnosis: Diagnosis) -> None:
    from agent.machine import memory_limit, physical_memory

    total, limit = physical_memory(), memory_limit()
    granted = limit if limit < total else inf
    text = f"{_format_size(total)}" if isfinite(total) else "unknown"
    if isfinite(granted):
        text += f"; the control group grants {_format_size(granted)}"
    details = {"physical": total, "granted": granted}
    finite = {name: size if isfinite(size) else None for name, size in details.items()}
    diagnosis.add_note("memory", text, **finite)


def check_cache(diagnosis: Diagnosis) -> None:
    """Report the cache folder for compiled code, and which parts are compiled."""
    from agent.chess.parts import ALPHABETA
    from agent.kernel.cache_inventory import take_inventory
    from agent.kernel.decorators import cache_folder

    found = take_inventory(cache_folder())
    base, playable = found.folder.parent, ALPHABETA in found.complete
    free = _free_bytes(base)
    text = f"{found.folder}, {_format_size(found.size)}"
    if free is not None:
        text += f"; {_format_size(free)} free"
    diagnosis.add_note("cache", text, folder=found.folder, size=found.size, free=free)
    complete = ", ".join(found.complete) or "nothing"
    missing = f"; not compiled yet: {', '.join(found.missing)}" if found.missing else ""
    parts = {"complete": found.complete, "missing": found.missing}
    diagnosis.add_note("compiled", f"{complete}{missing}", **parts)
    if found.other_folders:
        text = (
            f"{len(found.other_folders)}, {_format_size(found.other_folders_size)}, for other "
            "versions, Pythons or processors; to remove them: "
            f"{_removal_command(base, found.folder)}"
        )
        sizes = {"folders": len(found.other_folders), "size": found.other_folders_size}
        diagnosis.add_note("other kernels", text, **sizes)
    if found.problem and found.missing:
        lost = ", ".join(found.missing)
        diagnosis.add_problem(
            f"{lost}: compiled again at every start", found.problem, broken=not playable
        )
    elif not playable:
        diagnosis.add_problem(
            "the kernel is not compiled; until then, games are played in plain Python",
            "run kempelen warmup",
        )


def check_data(diagnosis: Diagnosis) -> None:
    """Report the opening book and the endgame tablebases."""
    import openings
    from agent.io.requirements import reinstall_remedy
    from agent.io.user_folders import NoHomeFolderError
    from openings.data_folders import table_folder

    shipped = Path(openings.__file__).parent
    book = shipped / "kempelen.bin"
    entries = book.stat().st_size // 16 if book.is_file() else 0
    diagnosis.add_note("book", f"{entries:,} entries, in {book}", entries=entries, file=book)
    packed = sorted(path.name.partition(".")[0] for path in (shipped / "data").glob("*.dtm.xz"))
    if not entries or not packed:
        missing = "opening book" if not entries else "endgame tables"
        diagnosis.add_problem(
            f"the package lacks its {missing}",
            reinstall_remedy("reinstall kempelen"),
            broken=True,
        )
    try:
        folder = table_folder()
    except NoHomeFolderError as error:
        diagnosis.add_note("tables", f"none; included in the package: {' '.join(packed)}")
        diagnosis.add_problem("tables and games cannot be stored", str(error))
        return
    tables = sorted(folder.glob("*.dtm")) if folder.is_dir() else []
    size = sum(table.stat().st_size for table in tables)
    diagnosis.add_note(
        "tables",
        f"{len(tables)}, {_format_size(size)}, in {folder}; "
        f"included in the package: {' '.join(packed)}",
        folder=folder,
        tables=[table.stem for table in tables],
        size=size,
        shipped=packed,
    )
    if not _is_writable(folder):
        diagnosis.add_problem(
            f"{folder}: not writable, so tables cannot be stored",
            "set KEMPELEN_DATA_DIR to another folder",
        )


def check_environment(diagnosis: Diagnosis) -> None:
    """Report the environment variables of Kempelen and Numba, without secrets."""
    from agent.io.requirements import IMAGE_VARIABLES
    from agent.kernel.code_cache import CACHE_VARIABLE
    from openings.data_folders import DATA_VARIABLE
    from protocols.mqtt.broker import PASSWORD_VARIABLE, USER_VARIABLE
    from protocols.remote.credentials import TOKEN_VARIABLE

    paths = {CACHE_VARIABLE, DATA_VARIABLE}
    known = paths | {USER_VARIABLE, PASSWORD_VARIABLE, TOKEN_VARIABLE}
    found = {name: value for name, value in os.environ.items() if name.startswith("KEMPELEN_")}
    numba = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    shown = {
        name: value if name in (*paths, *IMAGE_VARIABLES) else "(set)"
        for name, value in sorted(found.items())
    } | dict(sorted(numba.items()))
    text = ", ".join(f"{name}={value}" for name, value in shown.items())
    diagnosis.add_note("environment", text or "none set", variables=shown)
    if unknown := sorted(found.keys() - known - {*IMAGE_VARIABLES}):
        diagnosis.add_problem(
            f"{', '.join(unknown)}: unknown variable", f"use one of {', '.join(sorted(known))}"
        )
    if numba.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        diagnosis.add_problem(
            "NUMBA_DISABLE_JIT is set, which disables compilation", "unset it", broken=True
        )


def check_search(diagnosis: Diagnosis) -> None:
    from agent.chess.parts import ALPHABETA
    from agent.io.requirements import reinstall_remedy
    from agent.kernel import compilation

    try:
        if not compilation.is_cached(ALPHABETA):
            _run_subprocess(_COMPILE)
            diagnosis.add_note("search", "not measured: the kernel is not compiled; Numba works")
            return
        speed = float(_run_subprocess(_SEARCH, str(SEARCH_SECONDS)).split()[-1])
    except RuntimeError as error:
        diagnosis.add_note("search", f"failed: {error}")
        packages = "numba llvmlite numpy"
        if "EvaluationError" in str(error):  # the included network is damaged
            packages = "--no-deps kempelen"
        diagnosis.add_problem(
            f"the search fails: {error}",
            reinstall_remedy(f"reinstall its packages: pip install --force-reinstall {packages}"),
            broken=True,
        )
        return
    text = f"{speed:,.0f} nodes per second, one thread, {SEARCH_SECONDS:g} s"
    diagnosis.add_note("search", text, nodes_a_second=speed, seconds=SEARCH_SECONDS)


def _run_subprocess(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, json.dumps(sys.path), *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SUBPROCESS_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"timeout after {SUBPROCESS_TIMEOUT:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        ended = _exit_reason(done.returncode)
        raise RuntimeError(f"{lines[-1]} ({ended})" if lines else ended)
    return done.stdout


def _exit_reason(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


def _removal_command(base: Path, kept: Path) -> str:
    if sys.platform == "win32" or shlex.quote(str(base)) != str(base):
        return f"delete all but {kept.name} in {base}"
    return f"find {base} -maxdepth 1 -name 'kernel-*' ! -name {kept.name} -exec rm -r {{}} +"


def _free_bytes(folder: Path) -> int | None:
    """Return the free disk space at a folder, or None if it is unknown."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _is_writable(folder: Path) -> bool:
    """Return whether files can be created in a folder, which need not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _format_size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


CHECKS: dict[str, Callable[[Diagnosis], None]] = {
    "kempelen": check_version,
    "Python": check_python,
    "system": check_system,
    "Windows": check_windows,
    "packages": check_packages,
    "processor": check_processor,
    "cores": check_cores,
    "memory": check_memory,
    "cache": check_cache,
    "data": check_data,
    "environment": check_environment,
    "search": check_search,
}
