from pathlib import Path

import pytest

from tests.transcripts import hold, read_cases

DATA = Path(__file__).parents[2] / "data"
CASES = read_cases(DATA / "gtp-transcripts.txt")


def options(name):
    words = name.partition("|")[2].replace(",", " ").split()
    pairs = (word.split("=") for word in words)
    return {key: plain(value) for key, value in pairs}


def plain(value):
    try:
        return int(value)
    except ValueError:
        return float(value) if value.replace(".", "").isdigit() else value


@pytest.mark.parametrize("name", CASES)
def test_engine_output_matches_transcript(name, start):
    case = [line.replace("SGF/", f"{DATA / 'sgf'}/") for line in CASES[name]]
    hold([line.rstrip() for line in case], start(**options(name)))
