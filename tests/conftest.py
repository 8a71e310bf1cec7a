"""Options of the test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--positions",
        type=int,
        default=20_000,
        help="random positions on which the kernel's rules are compared with the chess package's",
    )
