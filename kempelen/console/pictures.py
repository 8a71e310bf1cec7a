"""Pictures that commands draw with matplotlib: what can be asked for, and how they are written."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent.io.files import name_in_errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")


class PictureError(ValueError):
    """A picture that cannot be drawn; the message names the remedy."""


def check_picture(path: Path, extra: str = "lab", libraries: tuple[str, ...] = ()) -> Path:
    """Return a path to which a picture can be written, else raise PictureError.

    libraries: what draws beside matplotlib; extra: of Kempelen, which installs all of it.
    """
    for library in (*libraries, "matplotlib"):
        try:
            import_module(library)
        except ImportError as error:
            raise PictureError(
                f"{error.name} is not installed: pip install 'kempelen[{extra}]'"
            ) from None
    if path.suffix.lower() not in SUFFIXES:
        raise PictureError(f"{path} is no picture: its name must end in {', '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise PictureError(f"{path}: there is no folder {path.parent}")
    return path


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the text of an SVG stays text, and the same figure gives the same file."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kempelen"}):
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
        with name_in_errors(path):
            figure.savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)
