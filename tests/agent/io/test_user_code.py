"""Loading of user code, and error messages with a line of the user's file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import agent.evaluation
from agent.io.user_code import PACKAGES, UserCodeError, describe, load_module


def raised(function: Any, *arguments: Any) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        function(*arguments)
    return caught.value


def test_error_names_line_in_user_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f():\n    return g()\n\ndef g():\n    return 1 // 0\n")
    error = raised(load_module(str(file), "evaluation").f)
    assert describe(error).startswith("ZeroDivisionError: ")
    assert describe(error).endswith(" (mine.py, line 5)")


def test_library_error_names_calling_line_in_user_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import json, chess\n"
        "def reads():\n    return json.loads('{')\n"
        "def looks():\n    return chess.Board('nonsense')\n"
    )
    module = load_module(str(file), "evaluation")
    assert describe(raised(module.reads)).endswith(" (mine.py, line 3)")
    assert describe(raised(module.looks)).endswith(" (mine.py, line 5)")


def test_error_only_in_library_names_library_line() -> None:
    error = raised(json.loads, "{")
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # without the frame of this file
    assert "(decoder.py, line " in describe(error)


def test_error_without_traceback_names_no_line() -> None:
    assert describe(ValueError("bad")) == "ValueError: bad"


def test_load_error_names_line_in_user_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import json\njson.loads('{')\n")
    with pytest.raises(UserCodeError, match=r"JSONDecodeError: .*\(mine\.py, line 2\)"):
        load_module(str(file), "game")


def test_each_file_imports_modules_from_its_own_folder(tmp_path: Path) -> None:
    """Two versions of an evaluation, each with its weights in a file in the same folder."""
    for name, bias in (("old", 1), ("new", 2)):
        (tmp_path / name / "parts_of_it").mkdir(parents=True)
        (tmp_path / name / "weights_beside_it.py").write_text(f"BIAS = {bias}\n")
        (tmp_path / name / "parts_of_it" / "__init__.py").write_text("")
        (tmp_path / name / "parts_of_it" / "inner.py").write_text(f"INNER = {10 * bias}\n")
        (tmp_path / name / "it.py").write_text(
            "from weights_beside_it import BIAS\nfrom parts_of_it.inner import INNER\n"
        )
    found = []
    for name in ("old", "new", "old"):
        module = load_module(str(tmp_path / name / "it.py"), "evaluation")
        found.append((module.BIAS, module.INNER))
    assert found == [(1, 10), (2, 20), (1, 10)]
    (tmp_path / "old" / "weights_beside_it.py").write_text("BIAS = 333\n")
    assert load_module(str(tmp_path / "old" / "it.py"), "evaluation").BIAS == 333


def test_installed_modules_are_not_reloaded() -> None:
    before = sys.modules["agent.evaluation"], agent.evaluation.EvaluationError, json.dumps
    for name in ("agent.evaluation", "json", "chess"):
        assert load_module(name, "evaluation") is sys.modules[name]
    assert before == (sys.modules["agent.evaluation"], agent.evaluation.EvaluationError, json.dumps)


def test_file_extension_may_be_uppercase(tmp_path: Path) -> None:
    """Old Windows programs write the suffix so. It is not a module."""
    file = tmp_path / "MY_EVAL.PY"
    file.write_text("def f():\n    return 7\n")
    assert load_module(str(file), "evaluation").f() == 7
    with pytest.raises(UserCodeError, match=r"OTHER\.PY does not exist"):
        load_module(str(tmp_path / "OTHER.PY"), "evaluation")


@pytest.mark.parametrize("name", ["training", "match", "web", "tournament", "opponents", "lab"])
def test_neighbour_may_have_the_name_of_an_inner_package(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("BONUS = 10\n")
    (tmp_path / "mine.py").write_text(f"from {name} import BONUS\n")
    assert load_module(str(tmp_path / "mine.py"), "evaluation").BONUS == 10


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("line", ["import {}", "from {} import BONUS", "import os, {}.inner"])
def test_neighbour_with_our_name_is_a_clear_error(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / f"{name}.py").write_text("BONUS = 10\n")
    (tmp_path / "mine.py").write_text(line.format(name))
    with pytest.raises(
        UserCodeError, match=f"cannot import {name}.py from its folder .*rename {name}.py"
    ):
        load_module(str(tmp_path / "mine.py"), "evaluation")


def test_neighbouring_package_with_our_name_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "__init__.py").touch()
    (tmp_path / "mine.py").write_text("def f():\n    import agent\n")
    with pytest.raises(UserCodeError, match="rename agent"):
        load_module(str(tmp_path / "mine.py"), "evaluation")


def test_neighbour_with_our_name_that_is_not_imported_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("raise RuntimeError\n")
    (tmp_path / "agents").mkdir()
    (tmp_path / "mine.py").write_text("import agents\nBONUS = 3\n")
    assert load_module(str(tmp_path / "mine.py"), "evaluation").BONUS == 3
