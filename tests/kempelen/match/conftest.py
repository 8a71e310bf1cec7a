"""Fixtures of the tests of matches."""

import asyncio

import pytest

from tests.kempelen.match.support import play, quick_settings


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A ledger with a finished tournament of four games."""
    path = tmp_path_factory.mktemp("ledger") / "run.sqlite"
    asyncio.run(play(quick_settings(games=4), path=str(path)))
    return path
