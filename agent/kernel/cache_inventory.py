"""What lies in the cache of compiled code: whether all of this kernel, and how much else."""

from dataclasses import dataclass
from pathlib import Path

from agent.kernel import code_cache, compilation
from agent.kernel.parts import PARTS


@dataclass(frozen=True, slots=True)
class CacheInventory:
    """The cache folder as it is.

    folder: of this kernel, its size in bytes, and its parts that are whole and that are not.
    others: the folders beside it, which other versions, Pythons or processors have made, and their
    size. problem: why nothing can be kept, and the remedy.
    """

    folder: Path
    size: int
    complete: tuple[str, ...]
    missing: tuple[str, ...]
    other_folders: tuple[Path, ...]
    other_folders_size: int
    problem: str | None


def take_inventory(folder: Path) -> CacheInventory:
    """Look into the cache of this kernel; it is made if it is missing, as the engine would."""
    problem = code_cache.write_problem(folder)
    beside = sorted(folder.parent.glob("kernel-*")) if folder.parent.is_dir() else []
    others = tuple(other for other in beside if other != folder and other.is_dir())
    complete = tuple(filter(compilation.is_cached, PARTS))
    return CacheInventory(
        folder=folder,
        size=_size(folder),
        complete=complete,
        missing=tuple(part for part in PARTS if part not in complete),
        other_folders=others,
        other_folders_size=sum(map(_size, others)),
        problem=problem,
    )


def _size(folder: Path) -> int:
    """Return the size of a folder's files, of those that can be looked at."""
    total = 0
    try:
        for path in folder.iterdir():
            total += path.lstat().st_size
    except OSError:  # it is gone, or others' alone
        pass
    return total
