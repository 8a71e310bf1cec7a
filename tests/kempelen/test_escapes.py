"""Control characters in the texts of exceptions and user code do not reach the terminal."""

import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from kempelen import cli
from kempelen.console.old_names import CommandParser
from kempelen.lab import output
from tests import in_process

RED, SHOWN = "\x1b[31m", r"\x1b[31m"
GAME = f"""
from agent.games.tree import Tree

class Game(Tree):
    def __init__(self):
        raise ERROR("broken {SHOWN} game")
"""


def test_uncaught_exception_is_printed_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise KeyError(f"{RED}x") from RuntimeError(f"first {RED}\x07\nsecond")
    except KeyError as error:
        cli._print_traceback(KeyError, error)
    printed = capsys.readouterr().err
    assert printed.startswith("RuntimeError: first \\x1b[31m\\x07\nsecond\n")
    assert printed.endswith("\n")
    assert "Traceback (most recent call last):\n" in printed
    assert "\x1b" not in printed


def test_command_line_installs_hooks_for_uncaught_exceptions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "argv", ["kempelen", "perft", "1", "--fen", f"{RED}x"])
    assert cli.main() == 2
    assert sys.excepthook is cli._print_traceback

    def fail() -> None:
        raise ValueError(RED)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    printed = capsys.readouterr().err
    assert f"ValueError: {SHOWN}" in printed
    assert "\x1b" not in printed


def test_argument_error_is_printed_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        CommandParser(prog="x").error(f"file {RED}: broken")
    assert capsys.readouterr().err.endswith(f"x: error: file {SHOWN}: broken\n")


@pytest.mark.parametrize("kind", ["ValueError", "TypeError"])
def test_exception_of_a_users_game_is_printed_escaped(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "game.py"
    file.write_text(GAME.replace("ERROR", kind))
    done = in_process.run("lab", "run", "--game", f"{file}:Game", "--depth", "1")
    assert done.returncode == 2
    assert f"broken {SHOWN} game" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("terminal", [False, True])
def test_tables_and_lines_are_printed_escaped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    def console(**options: object) -> Console:
        return Console(**options, color_system=None, force_terminal=terminal)  # type: ignore[arg-type]

    monkeypatch.setattr(output, "Console", console)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    table = output.table("", "move", "text")
    table.add_row("  a", f"{RED}[b]b[/b]")
    output.print_plain(f"title {RED}", table, "last")
    printed = capsys.readouterr().out
    lines = [line.rstrip() for line in printed.splitlines()]
    assert [lines[0], lines[2].split(), lines[-1]] == [
        f"title {SHOWN}",
        ["a", f"{SHOWN}[b]b[/b]"],
        "last",
    ]
    assert "  a  " in lines[2]  # indented
    assert "\x1b" not in printed
