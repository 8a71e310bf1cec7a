"""Load user code named by `module:name` or `FILE.py:name`."""

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
from agent.io.message import Message, MessageError

# Kempelen's top-level packages. They shadow modules of the same name beside a user's file.
PACKAGES = ("agent", "protocols", "openings", "kempelen")

_folders: set[str] = set()  # folders of all user files that were run
_path_entries: set[str] = set()  # folders that were added to sys.path
_imported: set[str] = set()  # modules imported by the last user file


class UserCodeError(MessageError, ValueError):
    """Raised if user code fails to load. The message is meant for the user."""


def split_spec(spec: str, noun: str) -> tuple[str, str]:
    """Split `location:name`. Raise UserCodeError with a message about `noun` if it is invalid."""
    location, colon, name = spec.strip().rpartition(":")
    if not colon or not location or not name.isidentifier():
        raise UserCodeError(
            "{} {!r}: invalid name (expected 'module:name' or 'FILE.py:name')",
            Message(noun),
            spec.strip(),
        )
    return location, name


def is_file_name(location: str) -> bool:
    """Return whether `location` ends with `.py`, ignoring case."""
    return location.strip().lower().endswith(".py")


def check_readable(location: str, noun: str) -> None:
    """Raise UserCodeError if `location` is an unreadable .py file. Modules are not checked."""
    if is_file_name(location):
        _read_file(Path(location), noun)


def source_file(location: str) -> Path | None:
    """Return the source file of a module or .py file, or None.

    The parent packages of a module are imported.
    """
    if is_file_name(location):
        return Path(os.path.expanduser(location))
    _add_working_directory()
    spec = None
    with contextlib.suppress(Exception, SystemExit):  # parent packages may raise anything
        spec = importlib.util.find_spec(location)
    return Path(spec.origin) if spec and spec.has_location and spec.origin else None


def load_module(location: str, noun: str) -> ModuleType:
    """Import a module or run a .py file, and reload it if it was loaded before.

    Raise UserCodeError on failure. Its message says what `noun` (such as "evaluation") failed to
    load, and at which line.
    """
    return _load_file(Path(location), noun) if is_file_name(location) else _import(location, noun)


def describe(error: BaseException) -> str:
    """Return the type and message of an error, with the line in the user's file."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__:
            lines.append((file, trace.tb_lineno))
        trace = trace.tb_next
    # Prefer lines of user code over lines of the libraries that it calls.
    lines = [line for line in lines if not is_library(line[0])] or lines
    name, message = type(error).__name__, Message(error_message(error))
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        file = os.path.basename(error.filename)
        message = Message("{} ({}, line {})", error.msg, file, error.lineno)
    if not lines:
        return Message("{}: {}", name, message)
    return Message("{}: {} ({}, line {})", name, message, Path(lines[-1][0]).name, lines[-1][1])


def is_keyboard_interrupt(error: BaseException) -> TypeGuard[KeyboardInterrupt]:
    """Return whether the error is a real Ctrl-C, which Python raises only in the main thread."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and isinstance(error, KeyboardInterrupt)


def error_message(error: BaseException) -> str:
    """Return `str(error)`, or a placeholder if `str` raises an error."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - __str__ may be user code
        return "no message available"


def is_library(file: str) -> bool:
    """Return whether a file belongs to Python, an installed package or Kempelen."""
    from sysconfig import get_paths  # lazy import: slow to load

    paths = get_paths()
    folders = [Path(paths[name]) for name in ("stdlib", "purelib", "platlib")]
    return any(map(Path(file).is_relative_to, (*folders, Path(__file__).parents[1])))


def _read_file(path: Path, noun: str) -> tuple[Path, bytes]:
    path = Path(os.path.expanduser(path)).resolve()
    try:
        return path, read_bytes(path)
    except FileNotFoundError:
        raise UserCodeError("{} file {} does not exist", Message(noun), path) from None
    except OSError as error:
        raise UserCodeError("{} file {} cannot be read: {}", Message(noun), path, error) from None


def _load_file(path: Path, noun: str) -> ModuleType:
    path, source = _read_file(path, noun)
    _reject_hidden_neighbours(path, source, noun)
    _add_file_folder(str(path.parent))
    name = f"kempelen_{noun}_{path.stem}"
    # Name the loader explicitly, because Python does not recognize the suffix .PY.
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise UserCodeError("{} file {} is not a Python file", Message(noun), path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    known = set(sys.modules)
    try:
        # Bypass the loader's bytecode cache, which misses changes within one second.
        exec(compile(source, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        raise UserCodeError(
            "{} file {} failed: {}", Message(noun), path, describe(error)
        ) from error
    finally:
        _imported.update(set(sys.modules) - known)
    return module


def _reject_hidden_neighbours(path: Path, source: bytes, noun: str) -> None:
    """Raise UserCodeError if the file imports a neighbour with the name of a Kempelen package."""
    hidden = {package: found for package in PACKAGES if (found := _neighbour(path, package))}
    if not hidden:
        return
    imported = _imported_packages(source)
    for package, neighbour in hidden.items():
        if package in imported:
            raise UserCodeError(
                "{} file {}: cannot import {} from its folder ('{}' is a package of "
                "Kempelen; rename {})",
                Message(noun),
                path,
                neighbour.name,
                package,
                neighbour.name,
            )


def _neighbour(path: Path, package: str) -> Path | None:
    module, folder = path.with_name(f"{package}.py"), path.with_name(package)
    if module.is_file():
        return module if module != path else None
    return folder if (folder / "__init__.py").is_file() else None


def _imported_packages(source: bytes) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def _add_file_folder(folder: str) -> None:
    """Add a folder to `sys.path`, and unload modules from the folders of earlier user files."""
    for name in [name for name in _imported if _module_folder(name.partition(".")[0]) in _folders]:
        sys.modules.pop(name, None)
    _imported.clear()
    _folders.add(folder)
    if folder in _path_entries and folder in sys.path:
        sys.path.remove(folder)
    if folder not in sys.path:
        indices = [index for index, entry in enumerate(sys.path) if entry in _path_entries]
        sys.path.insert(min(indices, default=len(sys.path)), folder)
        _path_entries.add(folder)
    importlib.invalidate_caches()


def _module_folder(name: str) -> str | None:
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
        raise UserCodeError(
            "{} module {} failed: {}", Message(noun), name, describe(error)
        ) from error


def _add_working_directory() -> None:
    """Add the working directory to `sys.path`, because Python omits it for installed commands."""
    if "" not in sys.path and "." not in sys.path:
        sys.path.append("")
    importlib.invalidate_caches()
