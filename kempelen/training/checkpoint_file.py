"""The file of a run that can go on: whole, or not there, and of one run alone.

It is a container (agent.io.container): its head is what the run is made with, and its figures,
its content what else the rest of the run follows from.
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
    """Write the file, to the disk; raises OSError, and leaves what was there, if that fails.

    head: has the settings as `run_settings`.
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
    """Return the head and the content of a file, None if there is none.

    Raises what `failure` makes of a message if the file is damaged, or of a run with other
    settings, which it names. another: how another file is named.
    """
    remedy = f"{another}, or remove this one"
    try:
        with open_file(path) as file:
            kept = Container(ContainerFormat(magic), memoryview(file.read()))
    except FileNotFoundError:
        return None
    if not kept.has_magic:
        raise failure(f"{path} is no checkpoint of ours: {remedy}")
    if not kept.is_intact:
        raise failure(f"{path} is damaged: remove it, to begin anew")
    try:
        head = json.loads(kept.header)
        before, now = dict(head["run_settings"]), json.loads(json.dumps(run_settings))
    except (ValueError, LookupError, TypeError, RecursionError):  # whole, but not as we write it
        raise failure(f"{path} is no checkpoint of ours: {remedy}") from None
    if changed := describe_changes(before, now):
        raise failure(f"{path} was begun otherwise ({'; '.join(changed)}): {remedy}")
    return head, kept.content
