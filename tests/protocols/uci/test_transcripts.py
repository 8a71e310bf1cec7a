import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data" / "uci-transcripts.txt"


def read_cases():
    cases = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            case = cases[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            case.append(line)
    return cases


CASES = read_cases()


@pytest.mark.parametrize("name", CASES)
def test_transcript(name, conversation):
    skipping = False
    for line in CASES[name]:
        mark, text = line[:1], line[2:]
        if mark == ">":
            assert not skipping, "a case cannot skip before it speaks"
            conversation.say(text)
        elif line == "...":
            skipping = True
        else:
            heard = conversation.hear()
            while skipping and not matches(mark, text, heard):
                heard = conversation.hear()
            assert matches(mark, text, heard), f"expected {text!r}, heard {heard!r}"
            skipping = False
    assert conversation.rest() == []


def matches(mark, text, heard):
    assert mark in "<~", f"cannot read this mark: {mark}"
    return heard == text if mark == "<" else re.fullmatch(text, heard) is not None
