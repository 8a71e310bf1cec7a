"""The cache name of a compiled evaluation changes with every edit."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from agent.io.user_code import load_module
from agent.kernel.user_evaluation import code_digest

PARTS = """
import numpy as np
from enum import IntEnum
import parts_of_evaluation as parts

class Worth(IntEnum):
    PAWN = {worth}
    ROOK = 500

TABLES = tuple(np.arange(3000) + {table} for _ in range(2))
PAIR = (1, (2, {pair}))
SCALE = np.float64({scale})


def helper(value):
    return value + {helper}


def evaluate(worker, ply):
    def inner(value):
        return value * {inner}

    total = helper(Worth.PAWN) + inner(TABLES[1][0]) + PAIR[0] + SCALE + parts.VALUE
    return np.abs(total)
"""
NUMBERS = {"worth": 100, "table": 1, "pair": 3, "scale": 1.5, "helper": 7, "inner": 2}


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("parts_of_evaluation")
    vars(module).update(VALUE=1, OTHER=1)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def digest(folder: Path, **numbers: float) -> str:
    file = folder / "evaluation.py"
    file.write_text(PARTS.format(**NUMBERS | numbers))
    return code_digest(load_module(str(file), "evaluation").evaluate)


@pytest.mark.parametrize("edited", NUMBERS)
def test_editing_used_code_changes_digest(edited: str, tmp_path: Path, parts: ModuleType) -> None:
    before = digest(tmp_path)
    assert digest(tmp_path) == before
    assert digest(tmp_path, **{edited: 9}) != before


def test_only_used_module_values_change_digest(tmp_path: Path, parts: ModuleType) -> None:
    before = digest(tmp_path)
    vars(parts)["OTHER"] = 2
    assert digest(tmp_path) == before
    vars(parts)["VALUE"] = 2
    assert digest(tmp_path) != before


def test_array_type_and_shape_change_digest() -> None:
    def made(table: object) -> str:
        return code_digest(lambda: table)

    assert made(np.zeros(8, np.int64)) != made(np.zeros(8, np.float64))
    assert made(np.zeros((2, 4))) != made(np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("def evaluate(worker, ply, bonus=40): return bonus", ("40", "95")),
        ("def evaluate(worker, ply, *, bonus=40): return bonus", ("40", "95")),
        ("from math import floor as cut\ndef evaluate(w, p): return cut(p)", ("floor", "ceil")),
        ("from numpy import floor as cut\ndef evaluate(w, p): return cut(p)", ("floor", "ceil")),
        ("from numba import int32 as t\ndef evaluate(w, p): return t(p)", ("int32", "int64")),
        ("import math as m\ndef evaluate(w, p): return m.sqrt(p)", ("import math", "import cmath")),
    ],
)
def test_default_values_and_imports_change_digest(
    text: str, edit: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "evaluation.py"

    def made(text: str) -> str:
        file.write_text(text)
        return code_digest(load_module(str(file), "evaluation").evaluate)

    assert made(text) == made(text) != made(text.replace(*edit))
