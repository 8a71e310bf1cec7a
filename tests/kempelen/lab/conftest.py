"""Run the lab command in this process; return its exit status and output."""

import pytest

from kempelen.cli import main


@pytest.fixture
def lab(capsys, usual_recursion):
    def run(*arguments):
        try:
            status = main(["lab", *map(str, arguments)])
        except SystemExit as stop:
            status = stop.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run
