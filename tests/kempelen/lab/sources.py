"""Extract the messages and help texts of the lab's sources without running them."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Sources whose errors can reach a user of the lab. The rest of chess belongs to the engine.
FOLDERS = ("agent/search", "agent/learning", "agent/games", "kempelen/lab")
FILES = (
    "agent/evaluation.py",
    "agent/game.py",
    "agent/io/user_code.py",
    "kempelen/console/game_arguments.py",
    "kempelen/console/game_options.py",
    "kempelen/console/argument_types.py",
    "kempelen/training/game_trainer.py",
)


def sources() -> list[Path]:
    """Return the sources whose messages can reach a user of the lab."""
    folders = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    folders = [file for file in folders if not file.name.startswith("opponent_")]
    return folders + [ROOT / file for file in FILES]


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Generate each text that a file raises, with its line. Arguments are written as {}."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            for text in _written(node.exc.args[0]):
                yield node.lineno, text


def help_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Generate each text that a file passes to argparse, with its line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("help", "metavar", "description"):
                    for text in _written(keyword.value):
                        yield node.lineno, text


def _written(node: ast.expr) -> Iterator[str]:
    """Generate the possible texts of an expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            each.value if isinstance(each, ast.Constant) else "{}" for each in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from _written(node.body)
        yield from _written(node.orelse)
