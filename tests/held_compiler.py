"""What compiles kernels in place of a process, for as long as a test wants."""

import threading

from tests.waiting import PATIENCE


class HeldCompiler:
    """Stands for the process that compiles: it ends when told to, or when killed."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.killed = False

    def __enter__(self) -> "HeldCompiler":
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.ended.is_set()

    def wait(self) -> None:
        assert self.ended.wait(PATIENCE)

    def kill(self) -> None:
        self.killed = True
        self.ended.set()
