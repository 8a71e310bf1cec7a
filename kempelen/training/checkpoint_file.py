"""Checkpoint files of resumable runs, which are written atomically.

The file format is that of `agent.io.container`. The header contains the settings and the statistics
of the run, and the content contains the remaining state.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.io.config_diff import describe_changes
from agent.io.container import Container, ContainerFormat
from agent.io.files import open_file, replace_atomically


def write(path: Path, magic: bytes, head: dict[str, Any], content: bytes) -> None:
    """Write the file durably and atomically. Raise OSError on failure.

    `head` is the header. It must contain the settings under the key "made_with".
    """
    content = ContainerFormat(magic).pack(json.dumps(head), content)
    replace_atomically(path, content, durable=True)


def read(
    path: Path,
    magic: bytes,
    run_settings: dict[str, Any],
    failure: Callable[[str], Exception],
    another: str,
) -> tuple[dict[str, Any], memoryview] | None:
    """Return the header and the content of a file, or None if it does not exist.

    Raise `failure(message)` if the file is damaged or was written with other settings.

    `another` is advice for the error message, such as how to use another file.
    """
    remedy = f"{another}, or remove this one"
    try:
        with open_file(path) as file:
            container = Container(ContainerFormat(magic), memoryview(file.read()))
    except FileNotFoundError:
        return None
    if not container.has_magic:
        raise failure(f"{path}: not a checkpoint file; {remedy}")
    if not container.is_intact:
        raise failure(f"{path}: damaged; remove it to start again")
    try:
        head = json.loads(container.header)
        old_settings, new_settings = dict(head["made_with"]), json.loads(json.dumps(run_settings))
    except (ValueError, LookupError, TypeError, RecursionError):  # intact, but not a checkpoint
        raise failure(f"{path}: not a checkpoint file; {remedy}") from None
    if changed := describe_changes(old_settings, new_settings):
        raise failure(f"{path}: has other settings ({'; '.join(changed)}); {remedy}")
    return head, container.content
