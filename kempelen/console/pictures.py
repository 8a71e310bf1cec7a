"""Check output paths for pictures, and save matplotlib figures."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent.io.files import name_in_errors
from agent.io.message import MessageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")


class PictureError(MessageError, ValueError):
    """A picture could not be drawn. The message says how to fix the problem."""


def check_picture(path: Path, extra: str = "lab", libraries: tuple[str, ...] = ()) -> Path:
    """Return `path`, or raise PictureError if no picture can be written to it.

    `libraries` are required packages besides matplotlib. The optional dependency group `extra`
    installs them.
    """
    for library in (*libraries, "matplotlib"):
        try:
            import_module(library)
        except ImportError as error:
            from agent.io.requirements import install_command  # lazy import: needed for errors only

            raise PictureError(
                "{} is not installed: {}", error.name, install_command(extra)
            ) from None
    if path.suffix.lower() not in SUFFIXES:
        raise PictureError("{}: unknown picture format (expected {})", path, ", ".join(SUFFIXES))
    if not path.absolute().parent.is_dir():
        raise PictureError("{}: folder {} does not exist", path, path.parent)
    return path


def save(figure: Figure, path: Path) -> None:
    """Save a figure. Text in SVG files stays text, and equal figures give identical files."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kempelen"}):
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
        with name_in_errors(path):
            figure.savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)
