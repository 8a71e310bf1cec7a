"""Rules of the house that import-linter's contracts cannot say."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from agent.kernel.source_digest import kernel_sources
from tests.support import PACKAGES, ROOT

SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    """Generate the imported modules; `from a import b` may name the module a.b.

    A string that names a module counts as an import where the file calls `import_module`.
    """
    text = path.read_text(encoding="utf-8")
    by_name = "import_module(" in text
    for node in ast.walk(ast.parse(text)):
        if by_name and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{path} imports by a relative name"
            submodules = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from submodules
            if not all(map(is_module, submodules)):
                yield node.module


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def needs(root: Path) -> dict[str, set[str]]:
    """Return what each module of ours imports of ours."""
    graph = {}
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            graph[name] = set(imports(path)) - {name}
    return {name: needed & graph.keys() for name, needed in graph.items()}


def test_numba_is_imported_only_where_kernels_are_made() -> None:
    kernels = {name.decode() for name in kernel_sources(ROOT / "agent")}
    offenders = []
    for path in SOURCES:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        imported = set(imports(path))
        makes_a_kernel = module in kernels or "agent.kernel.decorators" in imported
        if makes_a_kernel or module.startswith("agent.kernel."):
            continue
        if any(name.split(".")[0] in ("numba", "llvmlite") for name in imported):
            offenders.append(module)
    assert len(SOURCES) > 500
    assert not offenders


@pytest.mark.thorough
def test_modules_have_no_import_cycles() -> None:
    graph = needs(ROOT)
    assert graph["kempelen.cli"]
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle


@pytest.mark.thorough
def test_pgn_is_read_by_one_module() -> None:
    """The list is in docs/architecture.md."""
    parsers = {"read_game", "read_headers", "skip_game", "MOVETEXT_REGEX"}
    parsing, reading = [], []
    for path in SOURCES:
        names = {
            getattr(node, "attr", getattr(node, "id", ""))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        }
        module = path.relative_to(ROOT).as_posix()
        if names & parsers:
            parsing.append(module)
        elif "openings.pgn.read_games" in set(imports(path)) or "read_games" in names:
            reading.append(module)
    assert parsing == ["openings/pgn.py"]
    documented = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert len(reading) == 5
    assert all(f"(`{module}`)" in documented for module in reading)


def test_import_cycle_is_detected() -> None:
    graph = needs(ROOT)
    graph["agent.limits"].add("kempelen.cli")
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()
