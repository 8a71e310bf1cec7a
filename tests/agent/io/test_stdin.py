"""Detached standard input."""

import subprocess
import sys

import pytest

from tests.support import ROOT

# Prints what descriptor 0 provides while a thread reads the detached input.
TAKEN = """
import os, threading
from agent.io.stdin import detach_stdin
source = detach_stdin()
thread = threading.Thread(target=lambda: print(os.read(source, 9)))
thread.start()
print(os.read(0, 9), flush=True)
thread.join()
"""
ENDING = """
import time
from agent.io.stdin import exit_with_parent
exit_with_parent()
import numpy
print("loaded", flush=True)
time.sleep(600)
"""


def run(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


def test_other_readers_see_empty_standard_input() -> None:
    with run(TAKEN) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == "b''\n"
        assert process.communicate("hello", timeout=60)[0] == "b'hello'\n"


def test_libraries_load_while_waiting_for_parent_to_exit() -> None:
    """On Windows, libraries of NumPy query standard input while they load."""
    with run(ENDING) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == "loaded\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="closes a descriptor before the program starts")
def test_a_closed_standard_input_is_empty() -> None:
    code = "from agent.io.stdin import *; print(os.read(detach_stdin(), 9))"
    command = f'exec "$0" -c "import os; {code}" <&-'
    result = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, cwd=ROOT)
    assert result.stdout == b"b''\n"
