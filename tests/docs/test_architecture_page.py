"""The page on the architecture describes the code as it is."""

import ast
import functools
import re
import runpy
from collections import defaultdict

import pytest

from tests.pages import ROOT, Page
from tests.support import PACKAGES

PAGE = Page("docs/architecture.md")
DRAW = str(ROOT / "scripts" / "draw-imports")
MADE_BY_TOOLS = {"build", "dist", "shared"}


@functools.cache
def classes() -> dict[str, list[str]]:
    """Return the files that define each class."""
    found = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


def methods(class_name: str) -> set[str]:
    """Return the methods of all classes of that name."""
    return {
        method.name
        for path in classes()[class_name]
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name == class_name
        for method in node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    }


WORDS = re.findall(r"^\| ([\w, ]+) \| `(\w+)` \| `([\w/.]+)` \| .+ \|$", PAGE.text, re.MULTILINE)


def drawn_folders() -> list[str]:
    """Return the folders listed on the page, relative to the root."""
    (block,) = PAGE.having("folders")
    found: list[str] = []
    for line in block.text.splitlines():
        if match := re.match(r"( *)([\w-]+)/ ", line):
            depth = len(match[1]) // 2
            found.append("/".join([*found_parents(found, depth), match[2]]))
    return found


def found_parents(found: list[str], depth: int) -> list[str]:
    """Return the first `depth` folders of the last path."""
    return found[-1].split("/")[:depth] if depth else []


def standing_folders() -> set[str]:
    """Return the existing folders: at the root, and packages and pages."""
    top = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] not in "._"]
    found = {path.name for path in top} - MADE_BY_TOOLS
    for package in PACKAGES:
        inner = (ROOT / package).rglob("__init__.py")
        found |= {str(path.parent.relative_to(ROOT)) for path in inner}
    return found | {
        str(path.relative_to(ROOT)) for path in (ROOT / "docs").iterdir() if path.is_dir()
    }


def test_listed_folders_match_repository() -> None:
    drawn = drawn_folders()
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == standing_folders()


@pytest.mark.thorough
def test_diagram_matches_imports() -> None:
    (block,) = PAGE.having("mermaid")
    assert block.text == runpy.run_path(DRAW)["diagram"](), "run scripts/draw-imports"


@pytest.mark.thorough
def test_imports_between_packages_have_no_cycles() -> None:
    draw = runpy.run_path(DRAW)
    arrows = draw["import_arrows"]()
    assert arrows
    assert not [start for start, _ in arrows if start in draw["reachable"](start, arrows)]
    reduced = draw["reduced"](arrows)
    assert not [
        (start, end)
        for start, end in arrows - reduced
        if end not in draw["reachable"](start, reduced)
    ]


def test_glossary_rows_are_parsed_and_unique() -> None:
    rows = [line for line in PAGE.text.partition("## Glossary")[2].splitlines() if "| `" in line]
    assert len(rows) == len(WORDS)
    assert 20 <= len(WORDS) <= 40
    assert len({word for word, _, _ in WORDS}) == len(WORDS)


def test_glossary_classes_exist() -> None:
    missing = [(name, path) for _, name, path in WORDS if path not in classes().get(name, [])]
    assert not missing


def test_classes_and_methods_named_on_page_exist() -> None:
    names = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?`", PAGE.prose())
    assert names
    for name, member in names:
        assert name in classes(), name
        if member:
            assert member in methods(name), f"{name}.{member}"
