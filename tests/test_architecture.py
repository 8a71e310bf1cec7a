"""Rules of the house that import-linter's contracts cannot say."""

import ast
from collections.abc import Iterator
from pathlib import Path

from agent.kernel.source_digest import kernel_sources
from tests.support import PACKAGES, ROOT

SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


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
