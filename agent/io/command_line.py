import shlex
import sys
from collections.abc import Iterator


def split_command_line(text: str) -> list[str]:
    r"""Split a command line into words by the rules of the operating system.

    On Windows, a \ is literal unless it precedes a double quote, and only double quotes protect
    spaces. Raise ValueError if a closing quote is missing.
    """
    return list(_windows_words(text)) if sys.platform == "win32" else shlex.split(text)


def _windows_words(text: str) -> Iterator[str]:
    """Yield the words of a command line by the rules of the Windows function CommandLineToArgvW."""
    word: str | None = None  # None between words; "" for a word of empty quotes
    quoted = False
    index = 0
    while index < len(text):
        slashes = len(text[index:]) - len(text[index:].lstrip("\\"))
        index += slashes
        character = text[index : index + 1]
        index += 1
        if character == '"':
            word = (word or "") + "\\" * (slashes // 2)
            if slashes % 2:
                word += '"'
            elif quoted and text[index : index + 1] == '"':
                word += '"'
                index += 1
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
