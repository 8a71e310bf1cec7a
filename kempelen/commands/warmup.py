"""`kempelen warmup`: compile the kernels and fill the cache."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from kempelen.console.terminal import load_kernels

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    from agent.kernel.parts import PARTS

    parser.add_argument(
        "parts",
        nargs="*",
        type=_parse_part,
        metavar="PART",
        help=f"what to compile: {', '.join(PARTS)} (all of them)",
    )


def _parse_part(text: str) -> str:
    from agent.kernel.parts import PARTS

    if text not in PARTS:
        raise ArgumentTypeError(f"there is no part {text!r}, only {', '.join(PARTS)}")
    return text


def run(arguments: Namespace) -> int:
    """Compile what is not in the cache, and say how long it took; 1 if it cannot be kept."""
    from agent.kernel import compilation, decorators
    from agent.kernel.parts import PARTS

    began = time.perf_counter()
    parts = arguments.parts or list(PARTS)
    problem = None if _all_compiled(parts) else compilation.cache_problem()
    if problem is None:
        load_kernels(*parts)
        problem = (
            None
            if _all_compiled(parts)
            else f"not all could be kept in {decorators.cache_folder()}"
        )
    if problem is not None:
        print(f"kempelen warmup: {problem}", file=sys.stderr)
        return 1
    done = "compiled into" if decorators.compiled else "loaded from"
    print(f"kernel {done} {decorators.cache_folder()} in {time.perf_counter() - began:.1f} s")
    return 0


def _all_compiled(parts: list[str]) -> bool:
    from agent.kernel import compilation

    return all(map(compilation.is_cached, parts))
