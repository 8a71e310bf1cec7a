from pathlib import Path

import pytest

from tests.transcripts import hold, read_cases

CASES = read_cases(Path(__file__).parents[2] / "data" / "uci-transcripts.txt")


@pytest.mark.parametrize("name", CASES)
def test_uci_session_matches_transcript(name, conversation):
    hold(CASES[name], conversation)
