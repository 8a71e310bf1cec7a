"""`kempelen warmup`: compile the Numba kernels and store them in the cache."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from kempelen.console.terminal import load_kernels, print_error

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    from agent.kernel.parts import OPTIONAL_PARTS, PARTS

    names = ", ".join((*PARTS, *OPTIONAL_PARTS))
    parser.add_argument(
        "parts",
        nargs="*",
        type=_parse_part,
        metavar="PART",
        help=f"part to compile: {names} (default: all but those of variants)",
    )


def _parse_part(text: str) -> str:
    from agent.kernel.parts import OPTIONAL_PARTS, PARTS

    if text not in PARTS and text not in OPTIONAL_PARTS:
        names = ", ".join((*PARTS, *OPTIONAL_PARTS))
        raise ArgumentTypeError(f"unknown part {text!r} (expected one of: {names})")
    return text


def run(arguments: Namespace) -> int:
    """Compile the kernels missing from the cache. Return 1 if the cache is not writable."""
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
            else f"{decorators.cache_folder()}: not all parts could be stored"
        )
    if problem is not None:
        print_error(problem, "kempelen warmup")
        return 1
    done = "compiled into" if decorators.compiled else "loaded from"
    print(f"kernel {done} {decorators.cache_folder()} in {time.perf_counter() - began:.1f} s")
    return 0


def _all_compiled(parts: list[str]) -> bool:
    from agent.kernel import compilation

    return all(map(compilation.is_cached, parts))
