"""The file of a run that can go on: whole, or not there, and of one run alone.

It has a magic number, a SHA-256 of all that follows, the head's length, the head (JSON: what the
run is made with, and its figures), and what else the rest of the run follows from.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.border.files import open_file

_LENGTH_BYTES = 4


def write(path: Path, magic: bytes, head: dict[str, Any], content: bytes) -> None:
    """Write the file, to the disk; raises OSError, and leaves what was there, if that fails.

    head: has the settings as `made_with`.
    """
    said = json.dumps(head).encode()
    body = len(said).to_bytes(_LENGTH_BYTES, "little") + said + content
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.write(magic + hashlib.sha256(body).digest() + body)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(
    path: Path,
    magic: bytes,
    made_with: dict[str, Any],
    failure: Callable[[str], Exception],
    another: str,
) -> tuple[dict[str, Any], bytes] | None:
    """Return the head and the content of a file, None if there is none.

    Raises what `failure` makes of a message if the file is damaged, or of a run with other
    settings, which it names. another: how another file is named.
    """
    remedy = f"{another}, or remove this one"
    try:
        with open_file(path) as file:
            content = file.read()
    except FileNotFoundError:
        return None
    if not content.startswith(magic):
        raise failure(f"{path} is no checkpoint of ours: {remedy}")
    start = len(magic) + hashlib.sha256().digest_size
    digest, body = content[len(magic) : start], content[start:]
    if hashlib.sha256(body).digest() != digest:
        raise failure(f"{path} is damaged: remove it, to begin anew")
    end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    head = json.loads(body[_LENGTH_BYTES:end])
    before, now = head["made_with"], json.loads(json.dumps(made_with))
    changes = [
        f"{name} was {before.get(name)}, is {now.get(name)}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
    if changes:
        raise failure(f"{path} was begun otherwise ({'; '.join(changes)}): {remedy}")
    return head, body[end:]
