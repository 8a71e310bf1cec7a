"""Conversations with an engine in a data file, and how they are held."""

import re


def read_cases(file):
    """The cases of a file, by name: their lines, without comments and empty lines."""
    cases = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            case = cases[line.replace("[", "").replace("]", "")] = []
        elif line and not line.startswith("#"):
            case.append(line)
    return cases


def hold(case, conversation):
    """Say what a case says, and hear what it expects, and nothing more."""
    skipping = False
    for line in case:
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
