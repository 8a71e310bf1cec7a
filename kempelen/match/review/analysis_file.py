from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from agent.io import strict_json
from agent.io.file_lock import lock_file
from agent.io.files import MAX_FILE_SIZE
from agent.io.text_files import read_text
from kempelen.console.settings_codec import SettingsError, decode, encode
from kempelen.match.review.move_annotation import PositionEval

MAX_FILE_SIZE = 16 * MAX_FILE_SIZE
DECODE_ERRORS = (ValueError, TypeError, LookupError, RecursionError)


class AnalysisFile:
    """Position evaluations by key, appended to a file so that a review can be resumed.

    Keys depend on the engine and its limits. Truncated lines in the file are skipped.
    """

    def __init__(self, path: Path | None, search_key: str) -> None:
        """Read the file. If `path` is None, evaluations are kept only in memory.

        `search_key` is a text that identifies the engine and its limits. Raise SettingsError if the
        file cannot be opened, or if another process has it open.
        """
        self.path = path
        self._search_key = search_key
        self._evals: dict[str, PositionEval] = {}
        self._file: TextIO | None = None
        if path is None:
            return
        try:
            text = read_text(path, MAX_FILE_SIZE) if path.exists() else ""
            self._file = path.open("a", encoding="utf-8")
            lock_file(self._file)
            if text and not text.endswith("\n"):
                self._file.write("\n")
        except BlockingIOError:
            raise SettingsError(f"{path}: in use by another analysis (use another -o)") from None
        except OSError as error:
            raise SettingsError(f"{path}: could not save positions: {error.strerror}") from None
        for line in text.splitlines():
            self._read_line(line)

    def __len__(self) -> int:
        return len(self._evals)

    def keys(self, start: str, moves: Iterable[str]) -> list[str]:
        """Return the keys of the start position and of the position after each move.

        A key is a hash of the search key, of `start`, a text that identifies the start position,
        and of the moves. Each key continues the hash of the key before it.
        """
        digest = hashlib.sha256(f"{self._search_key}\n{start}".encode())
        keys = [digest.hexdigest()[:32]]
        for move in moves:
            digest.update(f" {move}".encode())
            keys.append(digest.hexdigest()[:32])
        return keys

    def get(self, key: str) -> PositionEval | None:
        return self._evals.get(key)

    def add(self, key: str, position_eval: PositionEval) -> None:
        """Store an evaluation and append it to the file."""
        self._evals[key] = position_eval
        if self._file is not None:
            self._file.write(json.dumps({"key": key, "said": encode(position_eval)}) + "\n")
            self._file.flush()

    def close(self, *, done: bool) -> None:
        """Close the file. If `done` is true, the review is complete and the file is removed."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if done and self.path is not None:
                with contextlib.suppress(OSError):
                    self.path.unlink()

    def _read_line(self, line: str) -> None:
        with contextlib.suppress(*DECODE_ERRORS):
            entry = strict_json.loads(line)
            self._evals[str(entry["key"])] = decode(PositionEval, entry["said"])
