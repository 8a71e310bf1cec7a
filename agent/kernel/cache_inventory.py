from dataclasses import dataclass
from pathlib import Path

from agent.kernel import code_cache, compilation
from agent.kernel.parts import PARTS


@dataclass(frozen=True, slots=True)
class CacheInventory:
    """The contents of the cache folder for compiled code. Sizes are in bytes.

    `complete` and `missing` are the parts that are completely cached and all others.
    `other_folders` belong to other versions of Kempelen or Python, or to other CPUs. `problem` says
    why code cannot be cached and how to fix this, or is None.
    """

    folder: Path
    size: int
    complete: tuple[str, ...]
    missing: tuple[str, ...]
    other_folders: tuple[Path, ...]
    other_folders_size: int
    problem: str | None


def take_inventory(folder: Path) -> CacheInventory:
    """Return the contents of the cache folder, which is created if it does not exist."""
    problem = code_cache.write_problem(folder)
    folders = sorted(folder.parent.glob("kernel-*")) if folder.parent.is_dir() else []
    others = tuple(other for other in folders if other != folder and other.is_dir())
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
    total = 0
    try:
        for path in folder.iterdir():
            total += path.lstat().st_size
    except OSError:  # deleted meanwhile, or not readable
        pass
    return total
