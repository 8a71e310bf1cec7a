"""`kempelen warmup`: compile the kernels and fill the cache."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kempelen.console import warm_up

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def run(arguments: Namespace) -> int:
    """Compile what is not in the cache, and say how long it took."""
    from agent import warming
    from agent.kernel import cache_folder
    from agent.parts import PARTS

    began = time.perf_counter()
    warm = all(warming.is_warm(part) for part in PARTS)
    warm_up(*PARTS)
    done = "loaded from" if warm else "compiled into"
    print(f"kernel {done} {cache_folder()} in {time.perf_counter() - began:.1f} s")
    return 0
