"""`kempelen warmup`: compile the kernels and fill the cache."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from kempelen.console import warm_up

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Compile what is not in the cache, and say how long it took; 1 if it cannot be kept."""
    from agent.compiled import kernel, warming
    from agent.compiled.parts import PARTS

    began = time.perf_counter()
    problem = None if _all_warm() else warming.problem()
    if problem is None:
        warm_up(*PARTS)
        problem = None if _all_warm() else f"not all could be kept in {kernel.cache_folder()}"
    if problem is not None:
        print(f"kempelen warmup: {problem}", file=sys.stderr)
        return 1
    done = "compiled into" if kernel.compiled else "loaded from"
    print(f"kernel {done} {kernel.cache_folder()} in {time.perf_counter() - began:.1f} s")
    return 0


def _all_warm() -> bool:
    from agent.compiled import warming
    from agent.compiled.parts import PARTS

    return all(map(warming.is_warm, PARTS))
