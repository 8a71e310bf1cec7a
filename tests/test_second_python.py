"""The run under a second Python, where there is none: `.ci/run` has it otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "second-python"


@pytest.mark.skipif(os.name != "posix", reason="a script for bash")
@pytest.mark.parametrize("second", [sys.executable, "no-python-at-all"])
def test_missing_or_same_version_python_is_rejected(second: str) -> None:
    """A Python with the same version does not count as a second Python."""
    environment = {**os.environ, "PYTHON": sys.executable, "SECOND_PYTHON": second}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    message = f"second-python: {second}: not a supported second Python (expected 3.11 to 3.14"
    assert done.stderr.startswith(message)
    assert "SECOND_PYTHON=PROGRAM make second-python" in done.stderr
