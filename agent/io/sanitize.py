"""Make untrusted text printable by escaping terminal codes and other control characters."""

# Limits in characters.
MAX_NAME_LENGTH = 100
MAX_LINE_LENGTH = 1000
MAX_LINES = 100


def sanitize_line(text: str, max_length: int = MAX_LINE_LENGTH) -> str:
    """Return the text as one printable line of at most `max_length` characters.

    Return `text` itself if it needs no change, so that a `Message` can still be translated.
    """
    shown = text[: max_length + 1].strip()
    if not shown.isprintable():
        shown = "".join(map(_escape, shown))
    if len(shown) > max_length:
        return shown[: max_length - 1] + "…"
    return text if shown == text else shown


def sanitize_name(text: str) -> str:
    """Return a name as one printable line, without repeated spaces."""
    return sanitize_line(" ".join(text[: 10 * MAX_NAME_LENGTH].split()), MAX_NAME_LENGTH)


def sanitize_lines(text: str) -> str:
    """Return up to MAX_LINES lines of `text`, each printable. Indentation is kept."""
    lines = text[: MAX_LINES * MAX_LINE_LENGTH].split("\n")[:MAX_LINES]
    return "\n".join(_indent(line) + sanitize_line(line) for line in lines)


def escape_lines(text: str) -> str:
    """Return the text, of any length, with all control characters except newlines escaped."""
    return "\n".join(
        line if line.isprintable() else "".join(map(_escape, line)) for line in text.split("\n")
    )


def _indent(line: str) -> str:
    return " " * min(len(line) - len(line.lstrip(" ")), MAX_LINE_LENGTH)


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode()
