"""Check that docs/guide/windows.md uses only tested commands and existing names."""

import re

from kempelen.cli import COMMANDS
from tests.pages import ROOT, Page

PAGE = Page("docs/guide/windows.md")
TEST = (ROOT / "scripts" / "test-on-windows").read_text(encoding="utf-8")
# Files of other programs: venv and pip.
OTHERS = (
    r"py -m venv [\w.-]+",
    r"[\w.-]+\\Scripts\\python -m pip install (--editable \.|\"\.\[web\]\")",
    r"uv tool install \"\.\[web\]\"",
)


def commands() -> list[str]:
    lines = [line for block in PAGE.having("powershell") for line in block.text.splitlines()]
    return [command for line in lines for command in line.split("; ")]


def test_every_command_is_known() -> None:
    assert commands()
    for command in commands():
        ours = re.fullmatch(r"[\w.-]+\\Scripts\\kempelen (\w+).*", command)
        assert ours or any(re.fullmatch(other, command) for other in OTHERS), command
        assert not ours or ours[1] in COMMANDS


def test_documented_features_are_tested_in_wine() -> None:
    for tried in ('"warmup", "alphabeta"', '"doctor"', "^uciok$", ".bat", "text/javascript"):
        assert tried in TEST


def test_commands_have_no_line_continuations() -> None:
    assert not re.search(r"[\\`]$", "\n".join(commands()), re.MULTILINE)
