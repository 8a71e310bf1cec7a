"""Rules of the house that import-linter's contracts cannot say."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.compiled.sources import kernel_sources
from tests.support import PACKAGES, ROOT

SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_numba_is_imported_only_where_kernels_are_made(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    if any(name.split(".")[0] in ("numba", "llvmlite") for name in imports(path)):
        kernels = {name.decode() for name in kernel_sources(ROOT / "agent")}
        makes_a_kernel = module in kernels or "agent.compiled.kernel" in imports(path)
        assert makes_a_kernel or module.startswith("agent.compiled.")
