"""Hashes of the sources of compiled code, and of weight files.

The sources are the modules that import `agent.kernel.decorators`, and all modules that these import
directly or indirectly. Imports inside functions do not count, because compiled functions cannot use
the imported names.
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
# Weight files that affect the moves played.
NETWORK_WEIGHTS, PATTERN_WEIGHTS = "chess/shipped.nnue", "go/pattern_weights.json"
GO_NETWORK = "go/shipped.network"


@cache
def sources_digest() -> str:
    """Return a hash of all sources of compiled code, which determine the moves played."""
    digest = hashlib.sha256()
    for name, content in sorted(kernel_sources(_AGENT).items()):
        digest.update(name + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def weights_digest(*names: str) -> str:
    """Return a hash of weight files, given by paths relative to the package `agent`."""
    digest = hashlib.sha256()
    for name in names:
        try:
            content = (_AGENT / name).read_bytes()
        except OSError:
            content = b""
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]


def kernel_sources(package: Path) -> dict[bytes, bytes]:
    """Return the sources of compiled code in the folder `package`, by module name."""
    contents = dict(_module_sources(package))
    pending = [
        name
        for name, content in contents.items()
        if b"agent.kernel" in content and _KERNEL in _imports(content)
    ]
    names = set(pending)
    while pending:
        new = (_imports(contents[pending.pop()]) & contents.keys()) - names
        names |= new
        pending += new
    return {name: contents[name] for name in names}


def dependents(folder: Path, package: str, module: str) -> set[str]:
    """Return `module` and the modules of `package` that import it, directly or indirectly."""
    imports = {name: _imports(source) for name, source in _module_sources(folder, package)}
    names = {module.encode()}
    while new := {name for name, imported in imports.items() if imported & names} - names:
        names |= new
    return {name.decode() for name in names}


def _module_sources(folder: Path, package: str = "agent") -> Iterator[tuple[bytes, bytes]]:
    for inner_folder, _, files in os.walk(folder):
        inner = Path(inner_folder).relative_to(folder).parts
        for file in files:
            if file.endswith(".py"):
                with open(os.path.join(inner_folder, file), "rb", buffering=0) as source:
                    yield ".".join((package, *inner, file[:-3])).encode(), source.read()


def _imports(source: bytes) -> set[bytes]:
    names = set()
    for package, imported, module in _IMPORT.findall(b"\n" + source):
        names.add(module or package)
        names.update(package + b"." + name for name in re.findall(rb"\w+", imported))
    return names
