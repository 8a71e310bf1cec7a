"""Text from outside as it may be shown: what an engine says, a player's name, a file's words.

Such text may hold escape codes that a terminal would obey, line breaks that would end a table's
row or a tag, marks that turn the direction of all that follows, or halves of characters that
cannot be written at all. Whatever is not seen is written as Python writes it in a string.
"""

# Characters of a name, and of anything else that is shown on one line.
MAX_NAME_LENGTH = 100
MAX_LINE_LENGTH = 1000
# Lines of a text.
MAX_LINES = 100


def sanitize_line(text: str, max_length: int = MAX_LINE_LENGTH) -> str:
    """Return text on one line, of at most `most` characters, all of them seen."""
    shown = text[: max_length + 1].strip()
    if not shown.isprintable():
        shown = "".join(map(_escape, shown))
    return shown if len(shown) <= max_length else shown[: max_length - 1] + "…"


def sanitize_name(text: str) -> str:
    """Return a name on one line, without repeated spaces."""
    return sanitize_line(" ".join(text[: 10 * MAX_NAME_LENGTH].split()), MAX_NAME_LENGTH)


def sanitize_lines(text: str) -> str:
    """Return text of several lines, each of which is plain and keeps its indentation."""
    lines = text[: MAX_LINES * MAX_LINE_LENGTH].split("\n")[:MAX_LINES]
    return "\n".join(_indent(line) + sanitize_line(line) for line in lines)


def _indent(line: str) -> str:
    return " " * min(len(line) - len(line.lstrip(" ")), MAX_LINE_LENGTH)


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode()
