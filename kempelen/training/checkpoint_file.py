"""Checkpoint files of resumable runs, in the format of `agent.io.container`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.io.config_diff import describe_changes
from agent.io.container import Container, ContainerFormat
from agent.io.files import open_file, replace_atomically
from agent.io.message import Message, MessageError


class TrainingError(MessageError, ValueError):
    """Raised if training is not possible. The message says how to fix the problem."""


def write(path: Path, magic: bytes, head: dict[str, Any], content: bytes) -> None:
    """Write a checkpoint durably and atomically. `head["made_with"]` must be the settings."""
    content = ContainerFormat(magic).pack(json.dumps(head), content)
    replace_atomically(path, content, durable=True)


def read(
    path: Path, magic: bytes, run_settings: dict[str, Any], another: str
) -> tuple[dict[str, Any], memoryview] | None:
    """Return the header and the content of a file, or None if it does not exist.

    Raise TrainingError if the file is damaged or has other settings than `run_settings`. The
    message contains the advice `another`, such as "use another checkpoint".
    """
    remedy = Message("{}, or remove this one", Message(another))
    try:
        with open_file(path) as file:
            container = Container(ContainerFormat(magic), memoryview(file.read()))
    except FileNotFoundError:
        return None
    if not container.has_magic:
        raise TrainingError("{}: not a checkpoint file; {}", path, remedy)
    if not container.is_intact:
        raise TrainingError("{}: damaged; remove it to start again", path)
    try:
        head = json.loads(container.header)
        old_settings, new_settings = dict(head["made_with"]), json.loads(json.dumps(run_settings))
    except (ValueError, LookupError, TypeError, RecursionError):  # intact, but not a checkpoint
        raise TrainingError("{}: not a checkpoint file; {}", path, remedy) from None
    if changed := describe_changes(old_settings, new_settings):
        changes = Message("; ".join(["{}"] * len(changed)), *changed)
        raise TrainingError("{}: has other settings ({}); {}", path, changes, remedy)
    return head, container.content
