"""What a user is told where a file cannot be read."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def convert_read_errors(
    path: str | os.PathLike[str], error: Callable[[str], Exception]
) -> Iterator[None]:
    """Raise `error` of a message that names the file, for what keeps the block from reading it.

    That is an OSError, or text that is not UTF-8.
    """
    try:
        yield
    except OSError as reason:
        raise error(f"cannot read {path}: {reason.strerror}") from None
    except UnicodeDecodeError:
        raise error(f"cannot read {path}: it is not UTF-8 text") from None
