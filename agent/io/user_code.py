"""Objects of the user's own code, by the words `module:name` or `FILE.py:name`."""

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from agent.io.files import read_bytes

# Our top-level packages, which a user's file cannot import its neighbours instead of.
PACKAGES = ("agent", "protocols", "openings", "kempelen")

# The folders of files that were run, those that became places of modules by it, and what modules
# the last file imported.
_folders: set[str] = set()
_path_entries: set[str] = set()
_imported: set[str] = set()


class UserCodeError(ValueError):
    """What was named cannot be loaded; the message names it and what is wrong."""


def split_spec(spec: str, noun: str) -> tuple[str, str]:
    """Split `place:name` and return both; `noun` is what an error calls the thing named."""
    location, colon, name = spec.strip().rpartition(":")
    if not colon or not location or not name.isidentifier():
        raise UserCodeError(f"{noun} {spec.strip()!r} is not 'module:name' or 'FILE.py:name'")
    return location, name


def is_file_name(location: str) -> bool:
    """Return whether this names a file, not a module. The suffix may be `.PY` on Windows."""
    return location.strip().lower().endswith(".py")


def check_readable(location: str, noun: str) -> None:
    """Raise UserCodeError if a file cannot be read; a module is not looked for."""
    if is_file_name(location):
        _read_file(Path(location), noun)


def source_file(location: str) -> Path | None:
    """Return the file that a place's code is in, None if there is none that is known.

    A module itself is not imported for it, but the packages around it are.
    """
    if is_file_name(location):
        return Path(location).expanduser()
    _add_working_directory()
    found = None
    with contextlib.suppress(Exception, SystemExit):  # of the packages' code
        found = importlib.util.find_spec(location)
    return Path(found.origin) if found and found.has_location and found.origin else None


def load_module(location: str, noun: str) -> ModuleType:
    """Import a module, or run a file whose name ends in .py, anew in either case.

    Raises UserCodeError, with the line of the user's file, if that fails.
    """
    return _load_file(Path(location), noun) if is_file_name(location) else _import(location, noun)


def describe(error: BaseException) -> str:
    """Say what happened, and on which line of the user's file."""
    places = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__:
            places.append((file, trace.tb_lineno))
        trace = trace.tb_next
    # What the user's code calls may have raised it, on a line that says nothing to the user.
    places = [location for location in places if not is_library(location[0])] or places
    where = f" ({Path(places[-1][0]).name}, line {places[-1][1]})" if places else ""
    return f"{type(error).__name__}: {error_message(error)}{where}"


def is_keyboard_interrupt(error: BaseException) -> TypeGuard[KeyboardInterrupt]:
    """Tell whether the keyboard interrupts, which the main thread is told of, whatever it does."""
    here = threading.current_thread() is threading.main_thread()
    return here and isinstance(error, KeyboardInterrupt)


def error_message(error: BaseException) -> str:
    """Return the message of an error, which may be of a class of the user's."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - that is the user's code as well
        return "its message cannot be shown"


def is_library(file: str) -> bool:
    """Tell whether a file is of Python, of an installed package or of this one."""
    from sysconfig import get_paths  # not at start-up, which it would lengthen

    paths = get_paths()
    folders = [Path(paths[name]) for name in ("stdlib", "purelib", "platlib")]
    return any(map(Path(file).is_relative_to, (*folders, Path(__file__).parents[1])))


def _read_file(path: Path, noun: str) -> tuple[Path, bytes]:
    path = Path(os.path.expanduser(path)).resolve()
    try:
        return path, read_bytes(path)
    except FileNotFoundError:
        raise UserCodeError(f"{noun} file {path} does not exist") from None
    except OSError as error:
        raise UserCodeError(f"{noun} file {path} cannot be read: {error.strerror}") from None


def _load_file(path: Path, noun: str) -> ModuleType:
    path, source = _read_file(path, noun)
    _reject_hidden_neighbours(path, source, noun)
    _add_file_folder(str(path.parent))
    name = f"kempelen_{noun}_{path.stem}"
    # By its loader: Python knows no file that ends in .PY.
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise UserCodeError(f"{noun} file {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    known = set(sys.modules)
    try:
        # Not through the loader's bytecode cache, which misses edits within one second.
        exec(compile(source, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        raise UserCodeError(f"{noun} file {path} failed: {describe(error)}") from error
    finally:
        _imported.update(set(sys.modules) - known)
    return module


def _reject_hidden_neighbours(path: Path, source: bytes, noun: str) -> None:
    """Raise UserCodeError if the file imports a neighbour that has the name of our package."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # reported when the file is run
    for package in PACKAGES:
        neighbour = path.with_name(f"{package}.py")
        if not neighbour.is_file():
            neighbour = path.with_name(package)
            if not (neighbour / "__init__.py").is_file():
                continue
        if neighbour != path and package in _imported_packages(tree):
            raise UserCodeError(
                f"{noun} file {path}: cannot import {neighbour.name} beside it "
                f"('{package}' is a package of Kempelen; rename {neighbour.name})"
            )


def _imported_packages(tree: ast.Module) -> set[str]:
    """Return the top-level names that a module imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def _add_file_folder(folder: str) -> None:
    """Let a file import those beside it, as a script would, but none instead of Python's or ours.

    What files imported from their folders before is forgotten: another folder has others by the
    same names, and they may have been edited.
    """
    for name in [name for name in _imported if _module_folder(name.partition(".")[0]) in _folders]:
        sys.modules.pop(name, None)
    _imported.clear()
    _folders.add(folder)
    if folder in _path_entries and folder in sys.path:
        sys.path.remove(folder)
    if folder not in sys.path:
        others = [location for location, each in enumerate(sys.path) if each in _path_entries]
        sys.path.insert(min(others, default=len(sys.path)), folder)
        _path_entries.add(folder)
    importlib.invalidate_caches()


def _module_folder(name: str) -> str | None:
    """Return the folder that a module or a package is in; None of ours, and if none is known."""
    file = Path(getattr(sys.modules.get(name), "__file__", None) or "")
    home = file.parents[1] if file.name == "__init__.py" else file.parent
    return None if home == Path(__file__).parents[2] else str(home)


def _import(name: str, noun: str) -> ModuleType:
    _add_working_directory()
    known = sys.modules.get(name)
    try:
        if known is not None and not is_library(getattr(known, "__file__", None) or ""):
            return importlib.reload(known)
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise UserCodeError(f"{noun} module {name} failed: {describe(error)}") from error


def _add_working_directory() -> None:
    """Let modules be found in the working directory too, which an installed command lacks."""
    if "" not in sys.path and "." not in sys.path:
        sys.path.append("")
    importlib.invalidate_caches()
