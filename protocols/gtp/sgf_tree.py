"""SGF text as trees of nodes.

The parser accepts what other programs write and accept: text before and between games, properties
without values, a first node without its semicolon, missing and additional parentheses, and a last
value that is cut off. Repeated properties of a node are merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.io.encoding_detection import decode_declared

LINE_LENGTH = 79  # soft limit for written lines
COLOURS = ("B", "W")  # properties of moves
_CHARSET = re.compile(rb"(?<![A-Za-z])CA\s*\[\s*([^\]\\]*?)\s*\]")
_START = re.compile(r"\(\s*(?=;|[A-Z][A-Za-z]*\s*\[)|\A\s*(?=;\s*[A-Z]+\s*\[)")
# A bracket alone is the start of a value that is cut off.
_TOKEN = re.compile(r"[();]|[A-Za-z0-9_]+|\[[^\]\\]*(?:\\.[^\]\\]*)*\]|\[", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:(\n)|(.))", re.DOTALL)


class Node:
    """A node of a game tree. The values in `properties` are escaped as in the file."""

    __slots__ = ("children", "parent", "properties")

    def __init__(self, parent: Node | None = None) -> None:
        self.parent = parent
        self.children: list[Node] = []
        self.properties: dict[str, list[str]] = {}
        if parent is not None:
            parent.children.append(self)

    def get(self, name: str) -> str:
        """Return the first value of a property that is not empty, or ""."""
        return next(filter(None, self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        """Return all values of a property."""
        return [
            _ESCAPE.sub(lambda match: match[2] or "", value).strip()
            for value in self.properties.get(name, ())
        ]

    def set(self, name: str, value: object) -> None:
        self.properties[name] = [escape(str(value))]

    @property
    def colour(self) -> str:
        """Return "B" or "W" if the node has a move, or "" if it has none."""
        return next((name for name in COLOURS if self.properties.get(name)), "")

    @property
    def comment(self) -> str:
        return "\n\n".join(filter(None, self.texts("C")))

    def add_comment(self, text: str) -> None:
        self.set("C", "\n\n".join(filter(None, (self.comment, text))))

    def main_line(self) -> Iterator[Node]:
        """Yield this node and its first descendants."""
        node = self
        yield node
        while node.children:
            node = node.children[0]
            yield node


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def decode_sgf(data: bytes) -> str:
    """Return the text of an SGF file. Its games may have different encodings, see property CA."""
    charsets = list(_CHARSET.finditer(data))
    names = [match[1].decode("latin-1") for match in charsets]
    if len(set(names)) < 2:
        return decode_declared(data, names[0] if names else "")
    starts = [0, *(max(data.rfind(b"(", 0, match.start()), 0) for match in charsets[1:]), len(data)]
    pairs = zip(starts, starts[1:], names, strict=False)
    return "".join(decode_declared(data[start:end], name) for start, end, name in pairs)


def parse(text: str) -> Iterator[Node]:
    """Yield the root node of each game in an SGF text."""
    position = 0
    while start := _START.search(text, position):
        game, position = _parse_game(text, start.start())
        yield game


def _parse_game(text: str, start: int) -> tuple[Node, int]:
    """Parse the game that starts at a position. Return its first node, and its end."""
    root: Node | None = None
    node: Node | None = None
    ancestors: list[Node | None] = []
    values: list[str] | None = None
    opened, awaits_node, is_first = start, False, False
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token[0] == "[":
            if token == "[":
                assert root is not None
                return root, len(text)
            if values is not None:
                values.append(token[1:-1])
            continue
        values = None
        if token == "(":
            ancestors.append(node)
            opened, awaits_node = match.start(), True
        elif token == ")":
            if len(ancestors) < 2:
                break
            node, awaits_node = ancestors.pop(), False
        else:
            if token == ";" or awaits_node:
                node, is_first, awaits_node = Node(node), awaits_node, False
                root = root or node
            assert node is not None
            if token == ";":
                continue
            name = re.sub("[a-z]", "", token) or token.upper()
            if name in COLOURS and node.colour not in ("", name):
                node = Node(node)  # two moves in one node
            if name in ("FF", "GM") and is_first and _follows_move(node):
                # The next game of a file in which the end of this game is missing.
                assert root is not None
                assert node.parent is not None
                node.parent.children.remove(node)
                return root, opened
            values = node.properties.setdefault(name, [])
    assert root is not None  # _START requires a node
    return root, match.end()


def _follows_move(node: Node) -> bool:
    return node.parent is not None and bool(node.parent.colour)


def serialise(root: Node) -> str:
    """Return a tree as SGF text, for a file in UTF-8."""
    charset = {"CA": ["UTF-8"]}
    waiting: list[Node | str] = [")", root, "("]
    lines, line = [], ""
    while waiting:
        item = waiting.pop()
        if isinstance(item, Node):
            properties = item.properties | charset if item is root else item.properties
            piece = ";" + "".join(
                name + "".join(f"[{value}]" for value in values)
                # FF comes first for readers that look at the beginning of a file only.
                for name, values in sorted(properties.items(), key=lambda each: each[0] != "FF")
                if values
            )
            if len(item.children) == 1:
                waiting.append(item.children[0])
            else:
                for child in reversed(item.children):
                    waiting += (")", child, "(")
        else:
            piece = item
        if line and len(line) + len(piece) > LINE_LENGTH:
            lines.append(line)
            line = ""
        line += piece
    return "\n".join([*lines, line, ""])
