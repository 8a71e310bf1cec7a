"""Endgame tables that tests share."""

from pathlib import Path

import pytest

from agent.chess.ending_tables import Tables
from openings.tables import Build, open_tables, plan


@pytest.fixture(scope="session")
def table_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables that the package ships, and KQKR, built."""
    folder = tmp_path_factory.mktemp("tables")
    open_tables(folder)
    list(Build(plan(["KQKR"]), folder, threads=1).run())
    return folder


@pytest.fixture(scope="session")
def tables(table_folder: Path) -> Tables:
    opened, problems = open_tables(table_folder)
    assert problems == []
    return opened
