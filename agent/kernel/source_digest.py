"""Which sources make the kernels: whatever could change compiled code names the cache's folder.

A source makes a kernel if it uses `agent.kernel.decorators`, or is imported, directly or not, by one
that does: a constant may come from anywhere. Imports within functions do not count, since compiled
functions take nothing from there.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_AGENT = Path(__file__).parents[1]
_KERNEL = b"agent.kernel.decorators"
_IMPORT = re.compile(rb"\nfrom (agent[\w.]*) import (\([^)]*\)|[^\n]*)|\nimport (agent[\w.]*)")
# The weights that ship, and decide moves beside the kernels.
NETWORK_WEIGHTS, PATTERN_WEIGHTS = "chess/shipped.nnue", "go/pattern_weights.json"


@cache
def sources_digest() -> str:
    """Hash the kernels' sources: games of two kernels with one digest are the same games."""
    digest = hashlib.sha256()
    for name, content in sorted(kernel_sources(_AGENT).items()):
        digest.update(name + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def weights_digest(*names: str) -> str:
    """Hash files of weights that ship, named from the package; what is not there counts as such."""
    digest = hashlib.sha256()
    for name in names:
        try:
            content = (_AGENT / name).read_bytes()
        except OSError:
            content = b""
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]


def kernel_sources(package: Path) -> dict[bytes, bytes]:
    """Return the sources of a package `agent` that make kernels, by the names of their modules."""
    contents = dict(_module_sources(package))
    waiting = [
        name
        for name, content in contents.items()
        if b"agent.kernel" in content and _KERNEL in _imports(content)
    ]
    found = set(waiting)
    while waiting:
        new = (_imports(contents[waiting.pop()]) & contents.keys()) - found
        found |= new
        waiting += new
    return {name: contents[name] for name in found}


def _module_sources(package: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names of all modules of the package, and their sources."""
    for folder, _, files in os.walk(package):
        inner = Path(folder).relative_to(package).parts
        for file in files:
            if file.endswith(".py"):
                with open(os.path.join(folder, file), "rb", buffering=0) as source:
                    yield ".".join(("agent", *inner, file[:-3])).encode(), source.read()


def _imports(source: bytes) -> set[bytes]:
    """Return the modules of the package that a source imports, and what may be such modules."""
    names = set()
    for package, imported, module in _IMPORT.findall(b"\n" + source):
        names.add(module or package)
        names.update(package + b"." + name for name in re.findall(rb"\w+", imported))
    return names
