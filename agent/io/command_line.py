"""Command lines of programs that a user names, split by the rules of the system."""

import shlex
import sys
from collections.abc import Iterator


def split_command_line(text: str) -> list[str]:
    r"""Split a command line into its words; ValueError for a quotation that does not end.

    On Windows as its programs do: \ is part of a path, and stands for itself unless a double quote
    follows; only double quotes keep blanks. Elsewhere as a POSIX shell does.
    """
    return list(_windows_words(text)) if sys.platform == "win32" else shlex.split(text)


def _windows_words(text: str) -> Iterator[str]:
    r"""Yield the words of a command line by the rules of CommandLineToArgvW.

    2n of \ before a " stand for n of them, 2n + 1 for n and a plain ". Within quotes "" is a
    plain " too.
    """
    word: str | None = None  # None between words; "" is one in quotes
    quoted = False
    place = 0
    while place < len(text):
        slashes = len(text[place:]) - len(text[place:].lstrip("\\"))
        place += slashes
        character = text[place : place + 1]
        place += 1
        if character == '"':
            word = (word or "") + "\\" * (slashes // 2)
            if slashes % 2:
                word += '"'
            elif quoted and text[place : place + 1] == '"':
                word += '"'
                place += 1
            else:
                quoted = not quoted
            continue
        if slashes:
            word = (word or "") + "\\" * slashes
        if character.isspace() and not quoted:
            if word is not None:
                yield word
            word = None
        elif character:
            word = (word or "") + character
    if quoted:
        raise ValueError("No closing quotation")
    if word is not None:
        yield word
