"""What is asked of files before long work that is to write them."""

import os
from collections.abc import Callable, Sequence

PathName = str | os.PathLike[str]


def require_writable(
    targets: Sequence[PathName],
    sources: Sequence[PathName],
    failure: Callable[[str], Exception],
    *,
    regular: bool = False,
) -> None:
    """Raise `failure` of a message that names the first target which must not be written.

    Each needs a folder that is there, and is none itself, no source and no other target; the system
    must let it be written.
    regular: neither devices nor pipes can be written, as where files are replaced.
    """
    for number, target in enumerate(targets):
        if "\0" in os.fspath(target):
            raise failure(f"{os.fspath(target)!r} cannot be the name of a file")
        folder = os.path.dirname(os.path.realpath(target))
        there = os.path.exists(target)
        device = there and not os.path.isfile(target) and not os.path.isdir(target)
        if not device and not os.path.isdir(folder):  # the folder of Windows' `nul` does not exist
            raise failure(f"{target}: its folder does not exist")
        if os.path.isdir(target):
            raise failure(f"{target} is a folder: name a file in it")
        if regular and device:
            raise failure(f"{target} is no regular file: name another")
        # What is no device is replaced, or locked, by a file beside it.
        needed = [target] if there else []
        if not device:
            needed.append(folder)
        if not all(os.access(each, os.W_OK) for each in needed):
            raise failure(
                f"{target} may not be written: change its rights and its folder's, or name another "
                "file"
            )
        if any(_is_same_file(target, source) for source in sources):
            raise failure(f"{target} is read here: choose another file to write")
        if any(_is_same_file(target, other) for other in targets[:number]):
            raise failure(f"{target} is to be written twice: choose two files")


def _is_same_file(one: PathName, other: PathName) -> bool:
    """Tell whether two names are of one file, which need not be there."""
    if "\0" in os.fspath(other):  # no name at all, which whoever reads it will say
        return False
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
