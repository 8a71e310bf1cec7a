import os
from collections.abc import Callable, Sequence

PathName = str | os.PathLike[str]


def require_writable(
    targets: Sequence[PathName],
    sources: Sequence[PathName],
    make_error: Callable[[str], Exception],
    *,
    regular: bool = False,
) -> None:
    """Raise `make_error(message)` for the first output file that is not allowed or not writable.

    A target must be in an existing folder. It must not be a folder, one of the sources, or the same
    file as another target. If `regular` is true, it must not be a device or pipe.
    """
    for index, target in enumerate(targets):
        if "\0" in os.fspath(target):
            raise make_error(f"{os.fspath(target)!r}: invalid file name")
        folder = os.path.dirname(os.path.realpath(target))
        exists = os.path.exists(target)
        device = exists and not os.path.isfile(target) and not os.path.isdir(target)
        if not device and not os.path.isdir(folder):  # Windows' `nul` is in no existing folder
            raise make_error(f"{target}: its folder does not exist")
        if os.path.isdir(target):
            raise make_error(f"{target}: is a folder (expected a file)")
        if regular and device:
            raise make_error(f"{target}: not a regular file")
        # To replace or lock a regular file, another file is created in its folder.
        required = [target] if exists else []
        if not device:
            required.append(folder)
        if not all(os.access(path, os.W_OK) for path in required):
            raise make_error(
                f"{target}: no write permission (for the file or its folder; change the "
                "permissions or choose another file)"
            )
        if any(_is_same_file(target, source) for source in sources):
            raise make_error(f"{target}: is an input file (choose another output file)")
        if any(_is_same_file(target, other) for other in targets[:index]):
            raise make_error(f"{target}: given for two outputs (choose two files)")


def _is_same_file(first: PathName, second: PathName) -> bool:
    if "\0" in os.fspath(second):  # the invalid name is reported when the file is opened
        return False
    try:
        return os.path.samefile(first, second)
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)
