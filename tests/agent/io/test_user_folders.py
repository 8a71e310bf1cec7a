"""The user's folders, also for a user without a home folder."""

import os
import tempfile
from pathlib import Path

import pytest

from agent.evaluation import EvaluationError
from agent.evaluation_types import check
from agent.io.user_code import source_file
from agent.io.user_folders import NoHomeFolderError, private_temporary_folder, user_folder
from agent.kernel import code_cache
from agent.kernel.code_cache import CACHE_VARIABLE
from agent.kernel.decorators import cache_folder
from kempelen.cli import main
from kempelen.diagnostics import checks
from kempelen.diagnostics.diagnosis import Diagnosis
from openings.data_folders import DATA_VARIABLE
from openings.endgame_tables import open_builtin_tablebase, open_tables
from tests.systems import module_or_skip

pwd = module_or_skip("pwd")


@pytest.fixture
def homeless(monkeypatch, tmp_path):
    """Be a user id without an account, and without HOME, as in a container."""

    def unknown(user):
        raise KeyError(f"getpwuid(): uid not found: {user}")

    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", CACHE_VARIABLE, DATA_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    cache_folder.cache_clear()
    yield tmp_path
    cache_folder.cache_clear()
    assert list((tmp_path / "work").iterdir()) == []  # such as a folder named "~"


@pytest.mark.parametrize("kind", ["data", "cache"])
@pytest.mark.parametrize("named", [None, "~/kempelen"])
def test_unknown_home_folder_is_an_error_that_names_the_variable(
    homeless, monkeypatch, kind, named
):
    if named:
        monkeypatch.setenv("KEMPELEN_X_DIR", named)
    with pytest.raises(NoHomeFolderError, match=r"home folder is unknown \(set KEMPELEN_X_DIR"):
        user_folder("KEMPELEN_X_DIR", kind)
    monkeypatch.setenv("KEMPELEN_X_DIR", str(homeless / "x"))
    assert user_folder("KEMPELEN_X_DIR", kind) == homeless / "x"


def test_unexpanded_path_of_platformdirs_is_not_used(homeless, monkeypatch):
    monkeypatch.setattr(
        "platformdirs.user_data_path", lambda *_, **__: Path("~/.local/share/kempelen")
    )
    with pytest.raises(NoHomeFolderError):
        user_folder(DATA_VARIABLE, "data")


def test_kernel_is_cached_in_a_private_temporary_folder_without_a_home_folder(homeless):
    folder = cache_folder()
    assert folder.parent == homeless / f"kempelen-{os.getuid()}"
    assert code_cache.write_problem(folder) is None
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_temporary_folder_of_another_user_is_not_trusted(homeless):
    folder = cache_folder()
    folder.parent.mkdir()
    folder.parent.chmod(0o777)
    assert CACHE_VARIABLE in code_cache.write_problem(folder)


def test_working_folder_is_used_if_no_folder_is_writable(homeless, monkeypatch):
    def fails():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", fails)
    assert private_temporary_folder().parent == homeless / "work"


def test_shipped_tables_are_used_from_memory_without_a_home_folder(homeless):
    tables, problems = open_tables()
    assert {"KQK", "KRK"} <= set(tables.names)
    assert problems == []
    reports = []
    assert open_builtin_tablebase(reports.append) is open_builtin_tablebase(reports.append)
    assert reports == []


def test_doctor_names_the_variable_without_a_home_folder(homeless):
    diagnosis = Diagnosis()
    diagnosis.run_checks({"data": checks.check_data})
    assert not diagnosis.broken
    (problem,) = diagnosis.problems
    assert DATA_VARIABLE in problem.remedy
    assert diagnosis.notes["tables"]["text"].endswith("KBNK KPK KQK KRK")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (["tablebase", "build", "KQK"], 1),
        (["tablebase", "check"], 1),
        (["web", "--no-browser", "--address", "127.0.0.1:0"], 2),
    ],
)
def test_commands_that_need_the_data_folder_name_the_variable(homeless, capsys, line, status):
    assert main(line) == status
    message = f"kempelen {line[0]}: the home folder is unknown (set {DATA_VARIABLE} to a folder)\n"
    assert message in capsys.readouterr().err


def test_unexpandable_paths_of_users_are_missing_files(homeless):
    assert source_file("~/mine.py") == Path("~/mine.py")
    assert source_file("~nobody-here/mine.py") == Path("~nobody-here/mine.py")
    with pytest.raises(EvaluationError, match="does not exist"):
        check("~nobody-here/mine.py:evaluate")
