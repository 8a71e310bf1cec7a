"""The page on the architecture is the house as it stands."""

import ast
import functools
import re
import runpy
from collections import defaultdict

import pytest

from tests.pages import ROOT, Page
from tests.support import PACKAGES

PAGE = Page("docs/architecture.md")
DRAW = str(ROOT / "scripts" / "draw-house")
# Values local to a module, whose classes may share a name; what does something has its own.
SHARED = {"Command", "Entry", "Node", "Option", "Settings", "State"}
# What the kernel of every compiled game works in, each in a module of that name.
RECORDS = {"Frame", "Position", "Worker"}
MADE_BY_TOOLS = {"build", "dist", "shared"}


@functools.cache
def classes() -> dict[str, list[str]]:
    """The files in which the product defines each class."""
    found = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


WORDS = re.findall(r"^\| ([\w, ]+) \| `(\w+)` \| `([\w/.]+)` \| .+ \|$", PAGE.text, re.MULTILINE)


def drawn_folders() -> list[str]:
    """The folders of the page's list, from the root."""
    (block,) = PAGE.having("folders")
    found: list[str] = []
    for line in block.text.splitlines():
        if match := re.match(r"( *)([\w-]+)/ ", line):
            depth = len(match[1]) // 2
            found.append("/".join([*found_parents(found, depth), match[2]]))
    return found


def found_parents(found: list[str], depth: int) -> list[str]:
    """What the last folder of the list is in, so many folders deep."""
    return found[-1].split("/")[:depth] if depth else []


def standing_folders() -> set[str]:
    """The folders that there are: those at the root, and the packages and pages within."""
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
    assert block.text == runpy.run_path(DRAW)["drawing"](), "run scripts/draw-house"


@pytest.mark.thorough
def test_imports_between_packages_have_no_cycles() -> None:
    draw = runpy.run_path(DRAW)
    arrows = draw["imported"]()
    assert arrows
    assert not [here for here, _ in arrows if here in draw["reached"](here, arrows)]
    assert not [
        (here, there)
        for here, there in arrows - draw["reduced"](arrows)
        if there not in draw["reached"](here, draw["reduced"](arrows))
    ]


def test_glossary_rows_are_parsed_and_unique() -> None:
    rows = [line for line in PAGE.text.partition("## The words")[2].splitlines() if "| `" in line]
    assert len(rows) == len(WORDS) > 30
    assert len({word for word, _, _ in WORDS}) == len(WORDS)
    assert len({name for _, name, _ in WORDS}) == len(WORDS)


def test_each_glossary_term_has_one_class() -> None:
    defined = {(name, place): classes().get(name) for _, name, place in WORDS}
    assert not {key: found for key, found in defined.items() if found != [key[1]]}


def test_only_listed_class_names_are_shared() -> None:
    shared = {name: places for name, places in classes().items() if len(places) > 1}
    records = {name for name in RECORDS if all("/records.py" in each for each in classes()[name])}
    assert shared.keys() <= SHARED | records, shared
    (sentence,) = re.findall(r"local to a module may share one: (.*?)\. ", PAGE.text)
    assert set(re.findall(r"`(\w+)`", sentence)) == SHARED
    (sentence,) = re.findall(r"are named alike: (.*?)\.\n", PAGE.text)
    assert set(re.findall(r"`(\w+)`", sentence)) == RECORDS


def test_classes_and_methods_named_on_page_exist() -> None:
    names = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?`", PAGE.prose())
    assert names
    for name, member in names:
        assert name in classes(), name
        if member:
            source = (ROOT / classes()[name][0]).read_text(encoding="utf-8")
            (node,) = (
                each
                for each in ast.walk(ast.parse(source))
                if isinstance(each, ast.ClassDef) and each.name == name
            )
            assert member in {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
