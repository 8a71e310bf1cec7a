from pathlib import Path

import pytest

from tests.transcripts import hold, read_cases

CASES = read_cases(Path(__file__).parents[2] / "data" / "analysis-transcripts.txt")


@pytest.mark.parametrize("name", CASES)
def test_engine_output_matches_transcript(name, start):
    hold(CASES[name], start())
