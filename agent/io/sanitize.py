"""Make untrusted text safe to display, such as engine output and player names.

Untrusted text may contain terminal escape codes, line breaks, bidirectional control characters, or
lone surrogates. All nonprintable characters are escaped as in Python strings.
"""

# Limits in characters.
MAX_NAME_LENGTH = 100
MAX_LINE_LENGTH = 1000
MAX_LINES = 100


def sanitize_line(text: str, max_length: int = MAX_LINE_LENGTH) -> str:
    """Return the text as one printable line of at most `max_length` characters."""
    shown = text[: max_length + 1].strip()
    if not shown.isprintable():
        shown = "".join(map(_escape, shown))
    return shown if len(shown) <= max_length else shown[: max_length - 1] + "…"


def sanitize_name(text: str) -> str:
    """Return a name as one printable line, without repeated spaces."""
    return sanitize_line(" ".join(text[: 10 * MAX_NAME_LENGTH].split()), MAX_NAME_LENGTH)


def sanitize_lines(text: str) -> str:
    """Return the text with every line printable. Newlines and indentation are kept."""
    lines = text[: MAX_LINES * MAX_LINE_LENGTH].split("\n")[:MAX_LINES]
    return "\n".join(_indent(line) + sanitize_line(line) for line in lines)


def _indent(line: str) -> str:
    return " " * min(len(line) - len(line.lstrip(" ")), MAX_LINE_LENGTH)


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode()
