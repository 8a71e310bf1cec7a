"""The Spanish catalogue, and the templates of messages in sources, found without running them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from kempelen.console.translation import CATALOGUES, DOMAIN

ROOT = Path(__file__).parents[2]
PO_FILE = CATALOGUES / "es" / "LC_MESSAGES" / f"{DOMAIN}.po"


@cache
def spanish() -> Catalog:
    with PO_FILE.open("rb") as file:
        return read_po(file, locale="es")


def is_translated(template: str) -> bool:
    """Return whether a template has a translation, or no words to translate."""
    texts = [text for text, *_ in Formatter().parse(template)]
    return template in spanish() or not any(map(str.isalpha, "".join(texts)))


def raised_templates(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the template of each message that a file raises or creates.

    An f-string, which cannot be translated, is yielded as its source.
    """
    for node in _nodes(file):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            yield from _templates(node.exc.args[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message":
            yield from _templates(node.args[0])


def help_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the template of each text that a file passes to argparse."""
    for node in _nodes(file):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("help", "metavar", "description"):
                    yield from _templates(keyword.value)


def miscounted_templates(file: Path) -> Iterator[tuple[int, str]]:
    """Yield messages whose number of arguments differs from that of the placeholders."""
    for node in _nodes(file):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if not (name == "Message" or name.endswith("Error")) or not node.args:
            continue
        template, *arguments = node.args
        starred = any(isinstance(argument, ast.Starred) for argument in arguments)
        if isinstance(template, ast.Constant) and isinstance(template.value, str) and not starred:
            count = len(placeholders(template.value))
            if count and count != len(arguments):
                yield node.lineno, template.value


def placeholders(template: str) -> list[tuple[str, str, str]]:
    """Return the name, the format and the conversion of each placeholder."""
    parts = [part for part in Formatter().parse(template) if part[1] is not None]
    return [(name, form or "", conversion or "") for _, name, form, conversion in parts]


def _nodes(file: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def _templates(node: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield the possible texts of an expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        yield node.lineno, ast.unparse(node)
    elif isinstance(node, ast.IfExp):
        yield from _templates(node.body)
        yield from _templates(node.orelse)
