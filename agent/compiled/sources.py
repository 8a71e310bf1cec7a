"""Which sources make the kernels: whatever could change compiled code names the cache's folder.

A source makes a kernel if it uses `agent.compiled.kernel`, or is imported, directly or not, by one
that does: a constant may come from anywhere. Imports within functions do not count, since compiled
functions take nothing from there.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

_AGENT = Path(__file__).parents[1]
_KERNEL = b"agent.compiled.kernel"
_IMPORT = re.compile(
    rb"^from (agent[\w.]*) import (\([^)]*\)|[^\n]*)|^import (agent[\w.]*)", re.MULTILINE
)


@cache
def sources_digest() -> str:
    """Hash the kernels' sources: games of two kernels with one digest are the same games."""
    digest = hashlib.sha256()
    for name, content in sorted(kernel_sources(_AGENT).items()):
        digest.update(name + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def kernel_sources(package: Path) -> dict[bytes, bytes]:
    """Return the sources of a package `agent` that make kernels, by the names of their modules."""
    contents = {
        ".".join(("agent", *path.relative_to(package).with_suffix("").parts)).encode(): (
            path.read_bytes()
        )
        for path in package.rglob("*.py")
    }
    waiting = [
        name
        for name, content in contents.items()
        if b"agent.compiled" in content and _KERNEL in _imports(content)
    ]
    found = set(waiting)
    while waiting:
        new = (_imports(contents[waiting.pop()]) & contents.keys()) - found
        found |= new
        waiting += new
    return {name: contents[name] for name in found}


def _imports(source: bytes) -> set[bytes]:
    """Return the modules of the package that a source imports, and what may be such modules."""
    names = set()
    for package, imported, module in _IMPORT.findall(source):
        names.add(module or package)
        names.update(package + b"." + name for name in re.findall(rb"\w+", imported))
    return names
