import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def convert_read_errors(
    path: str | os.PathLike[str], error: Callable[[str], Exception]
) -> Iterator[None]:
    """Convert an OSError raised in the block to `error(message)`."""
    try:
        yield
    except OSError as reason:
        raise error(f"cannot read {path}: {reason.strerror}") from None
