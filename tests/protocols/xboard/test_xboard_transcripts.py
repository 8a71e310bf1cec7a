from pathlib import Path

import pytest

from tests.transcripts import hold, read_cases

CASES = read_cases(Path(__file__).parents[2] / "data" / "xboard-transcripts.txt")


@pytest.mark.parametrize("name", CASES)
def test_xboard_session_matches_transcript(name, conversation):
    hold(CASES[name], conversation)
