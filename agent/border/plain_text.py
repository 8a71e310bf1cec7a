"""Text from outside as it may be shown: what an engine says, a player's name, a file's words.

Such text may hold escape codes that a terminal would obey, line breaks that would end a table's
row or a tag, marks that turn the direction of all that follows, or halves of characters that
cannot be written at all. Whatever is not seen is written as Python writes it in a string.
"""

# Characters of a name, and of anything else that is shown on one line.
NAME_LENGTH = 100
LINE_LENGTH = 1000
# Lines of a text.
MOST_LINES = 100


def plain(text: str, most: int = LINE_LENGTH) -> str:
    """Return text on one line, of at most `most` characters, all of them seen."""
    shown = text[: most + 1].strip()
    if not shown.isprintable():
        shown = "".join(map(_seen, shown))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def plain_name(text: str) -> str:
    """Return a name on one line, without repeated spaces."""
    return plain(" ".join(text[: 10 * NAME_LENGTH].split()), NAME_LENGTH)


def plain_lines(text: str) -> str:
    """Return text of several lines, each of which is plain and keeps its indentation."""
    lines = text[: MOST_LINES * LINE_LENGTH].split("\n")[:MOST_LINES]
    return "\n".join(_indent(line) + plain(line) for line in lines)


def _indent(line: str) -> str:
    return " " * min(len(line) - len(line.lstrip(" ")), LINE_LENGTH)


def _seen(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode()
