"""Errors of a user's code, told with the line that the user can do something about."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.border.user_code import UserCodeError, describe, load_module


def raised(function: Any, *arguments: Any) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        function(*arguments)
    return caught.value


def test_the_line_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f():\n    return g()\n\ndef g():\n    return 1 // 0\n")
    error = raised(load_module(str(file), "evaluation").f)
    assert describe(error).startswith("ZeroDivisionError: ")
    assert describe(error).endswith(" (mine.py, line 5)")


def test_what_the_file_calls_is_not_where_the_error_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import json, chess\n"
        "def reads():\n    return json.loads('{')\n"
        "def looks():\n    return chess.Board('nonsense')\n"
    )
    module = load_module(str(file), "evaluation")
    assert describe(raised(module.reads)).endswith(" (mine.py, line 3)")
    assert describe(raised(module.looks)).endswith(" (mine.py, line 5)")


def test_an_error_of_libraries_alone_names_their_line() -> None:
    error = raised(json.loads, "{")
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # without the frame of this file
    assert "(decoder.py, line " in describe(error)


def test_an_error_without_a_trace() -> None:
    assert describe(ValueError("bad")) == "ValueError: bad"


def test_a_file_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import json\njson.loads('{')\n")
    with pytest.raises(UserCodeError, match=r"JSONDecodeError: .*\(mine\.py, line 2\)"):
        load_module(str(file), "game")
