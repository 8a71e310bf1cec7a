"""`kempelen doctor`: its checks, and that no failing check stops it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.kernel import cache_inventory
from agent.kernel.code_cache import CACHE_VARIABLE
from agent.kernel.decorators import cache_folder
from agent.kernel.parts import PARTS
from kempelen.cli import main
from kempelen.diagnostics import checks
from kempelen.diagnostics.diagnosis import Diagnosis
from openings.data_folders import DATA_VARIABLE, table_folder


def problems(diagnosis):
    return [each.what for each in diagnosis.problems]


@pytest.fixture
def another_cache(tmp_path, monkeypatch):
    """Use an empty folder as the cache."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    cache_folder.cache_clear()
    yield tmp_path / "cache"
    cache_folder.cache_clear()


def test_json_report_is_complete_and_hides_passwords(capsys, monkeypatch, warm_cache):
    monkeypatch.setattr(checks, "SEARCH_SECONDS", 0.1)
    monkeypatch.setenv("KEMPELEN_MQTT_PASSWORD", "sesame")
    status = main(["doctor", "--json"])
    printed = capsys.readouterr()
    message = json.loads(printed.out)
    found = message["found"]
    assert found.keys() >= {
        *("kempelen", "Python", "system", "packages", "extras", "processor", "features", "cores"),
        *("memory", "cache", "compiled", "book", "tables", "environment", "search"),
    }
    assert status == any(each["broken"] for each in message["wrong"]) == 0
    assert found["search"]["nodes_a_second"] > 1000
    assert found["compiled"] == {
        "text": ", ".join(PARTS), "complete": list(PARTS), "missing": [],
    }  # fmt: skip
    assert found["packages"]["versions"]["numba"]
    assert found["book"]["entries"] > 1000
    assert found["tables"]["shipped"] == ["KBNK", "KPK", "KQK", "KRK"]
    assert found["environment"]["variables"]["KEMPELEN_MQTT_PASSWORD"] == "(set)"
    assert "sesame" not in printed.out


def test_text_report_has_a_line_per_check_and_a_verdict(capsys, monkeypatch):
    monkeypatch.setattr(
        "kempelen.commands.doctor.CHECKS",
        {
            "one": lambda diagnosis: diagnosis.add_note("one", "fine \x1b[31m"),
            "other": lambda diagnosis: diagnosis.add_note("other thing", "well"),
        },
    )
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == (
        "one          fine \\x1b[31m\nother thing  well\n\nnothing is broken\n"
    )


def test_failing_check_does_not_stop_the_others(capsys, monkeypatch):
    def fails(diagnosis):
        raise ImportError(f"no numba in {Path.home() / 'lib'}")

    monkeypatch.setattr(
        "kempelen.commands.doctor.CHECKS",
        {"first": fails, "second": lambda diagnosis: diagnosis.add_note("second", "seen")},
    )
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "first   ImportError: no numba in ~" in text
    assert "second  seen" in text
    assert "\nbroken: first: ImportError" in text
    assert "nothing is broken" not in text


def test_home_folder_is_shown_as_a_tilde(monkeypatch, tmp_path):
    home = tmp_path / "jane"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    diagnosis = Diagnosis()
    diagnosis.add_note("a", f"{home}, {home / 'x'}, {home}s", place=home / "y", more=[str(home)])
    assert diagnosis.notes["a"] == {
        "text": f"~, {Path('~') / 'x'}, {home}s", "place": str(Path("~") / "y"), "more": ["~"],
    }  # fmt: skip
    diagnosis.add_problem(f"{home} is full", f"rm {home}")
    assert (diagnosis.problems[0].what, diagnosis.problems[0].remedy) == ("~ is full", "rm ~")


@pytest.fixture(params=["warm_cache", "another_cache"])
def any_cache(request):
    request.getfixturevalue(request.param)


def test_failing_search_is_reported_with_its_error(monkeypatch, tmp_path, any_cache):
    package = tmp_path / "numba"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('Numba needs another NumPy')\n")
    monkeypatch.syspath_prepend(tmp_path)
    diagnosis = Diagnosis()
    checks.check_search(diagnosis)
    assert diagnosis.broken
    assert "ImportError: Numba needs another NumPy (exit status 1)" in problems(diagnosis)[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
        ("import time; time.sleep(60)", "timeout after 0.5 s"),
    ],
)
def test_killed_or_hanging_search_is_reported(monkeypatch, warm_cache, code, message):
    monkeypatch.setattr(checks, "_SEARCH", code)
    monkeypatch.setattr(checks, "SUBPROCESS_TIMEOUT", 0.5 if "sleep" in code else 60)
    diagnosis = Diagnosis()
    checks.check_search(diagnosis)
    assert message in diagnosis.notes["search"]["text"]
    assert diagnosis.broken


@pytest.mark.thorough
def test_empty_cache_suggests_warmup(another_cache):
    diagnosis = Diagnosis()
    checks.check_cache(diagnosis)
    checks.check_search(diagnosis)
    assert diagnosis.notes["compiled"]["missing"] == list(PARTS)
    assert [each.remedy for each in diagnosis.problems] == ["run kempelen warmup"]
    assert not diagnosis.broken
    assert diagnosis.notes["search"]["text"].startswith("not measured: ")


@pytest.mark.skipif(os.name != "posix", reason="folders have no owners there")
def test_cache_writable_by_others_is_reported_as_broken(another_cache):
    another_cache.mkdir()
    another_cache.chmod(0o777)
    diagnosis = Diagnosis()
    checks.check_cache(diagnosis)
    assert diagnosis.broken
    assert f"chmod go-w {another_cache}" in diagnosis.problems[0].remedy


def test_full_disk_is_reported_as_broken(another_cache, monkeypatch):
    usage = shutil.disk_usage(Path.cwd())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=1000))
    diagnosis = Diagnosis()
    checks.check_cache(diagnosis)
    assert diagnosis.broken
    assert "disk full" in diagnosis.problems[0].remedy


def test_old_kernels_are_listed_with_a_removal_command(another_cache):
    kept = cache_folder()
    for name, size in (("kernel-old", 100), ("kernel-older", 200), (kept.name, 1000)):
        (another_cache / name).mkdir(parents=True, mode=0o700)
        (another_cache / name / "file").write_bytes(b"x" * size)
    (another_cache / "else").mkdir()
    another_cache.chmod(0o700)
    found = cache_inventory.take_inventory(kept)
    assert [folder.name for folder in found.other_folders] == ["kernel-old", "kernel-older"]
    assert (found.size, found.other_folders_size, found.problem) == (1000, 300, None)
    diagnosis = Diagnosis()
    checks.check_cache(diagnosis)
    note = diagnosis.notes["other kernels"]
    assert (note["folders"], note["size"]) == (2, 300)
    if os.name == "posix":
        command = note["text"].partition("to remove them: ")[2]
        assert subprocess.run(command, shell=True, check=False).returncode == 0
        assert sorted(path.name for path in another_cache.iterdir()) == ["else", kept.name]


def test_environment_variables_are_checked(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith(("KEMPELEN_", "NUMBA_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    monkeypatch.setenv("KEMPELEN_CACHE", "x")
    monkeypatch.setenv("KEMPELEN_TOKEN", "sesame")
    monkeypatch.setenv("KEMPELEN_IMAGE_EXTRAS", "mqtt")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    diagnosis = Diagnosis()
    checks.check_environment(diagnosis)
    assert diagnosis.notes["environment"]["variables"] == {
        DATA_VARIABLE: str(tmp_path), "KEMPELEN_CACHE": "(set)", "KEMPELEN_IMAGE_EXTRAS": "mqtt",
        "KEMPELEN_TOKEN": "(set)", "NUMBA_DISABLE_JIT": "1",
    }  # fmt: skip
    typo, disabled = diagnosis.problems
    assert "KEMPELEN_CACHE: unknown variable" in typo.what
    assert CACHE_VARIABLE in typo.remedy
    assert not typo.broken
    assert disabled.broken


def test_existing_endgame_tables_are_listed(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    table_folder().mkdir(parents=True)
    (table_folder() / "KQKR.dtm").write_bytes(b"x" * 64)
    diagnosis = Diagnosis()
    checks.check_data(diagnosis)
    assert diagnosis.notes["tables"]["tables"] == ["KQKR"]
    assert diagnosis.notes["tables"]["size"] == 64
    assert diagnosis.problems == []


@pytest.mark.parametrize("on_path", [True, False])
def test_windows_path_and_registry_are_checked(monkeypatch, tmp_path, on_path):
    program = tmp_path / "kempelen.exe"
    program.touch()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(checks, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: str(program) if on_path else None)

    def read(types):
        types.add_type("text/plain", ".js")

    monkeypatch.setattr(checks.MimeTypes, "read_windows_registry", read)
    diagnosis = Diagnosis()
    checks.check_windows(diagnosis)
    assert diagnosis.notes["program"]["on_path"] == on_path
    assert diagnosis.notes["program"]["program"] == str(program)
    assert diagnosis.notes["file types"]["changed"] == {".js": "text/plain"}
    assert problems(diagnosis) == ([] if on_path else ["kempelen is not on PATH"])


def test_doctor_imports_no_third_party_packages():
    code = (
        "import sys; from kempelen.commands import doctor;"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for package in ("numba", "llvmlite", "numpy", "chess", "yaml", "rich", "platformdirs"):
        assert f"'{package}'" not in done.stdout
