"""What engines have said of positions, kept while a file is reviewed, so that nothing is lost."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import TextIO

from agent.border.files import LARGEST, read_text
from tournament.judgement import Assessment
from tournament.values import SettingsError, decode, encode

MOST_KEPT = 16 * LARGEST
DAMAGES = (ValueError, TypeError, LookupError, RecursionError)


class AssessmentFile:
    """Assessments by position, each written as it comes, to be gone on with after a break.

    A line that is cut short, as by the end of the power, is passed over, and one of a search with
    other limits is never asked for.
    """

    def __init__(self, path: Path | None, terms: str) -> None:
        """Take in what an earlier run has kept.

        path: where to keep them, in memory alone where there is none. terms: all that an
        assessment depends on beside its position: the engine and its limits.
        """
        self.path = path
        self._terms = terms
        self._known: dict[str, Assessment] = {}
        self._file: TextIO | None = None
        if path is None:
            return
        try:
            text = read_text(path, MOST_KEPT, errors="replace") if path.exists() else ""
            self._file = path.open("a", encoding="utf-8")
            if text and not text.endswith("\n"):
                self._file.write("\n")
        except OSError as error:
            raise SettingsError(f"cannot keep positions in {path}: {error.strerror}") from None
        for line in text.splitlines():
            self._take(line)

    def __len__(self) -> int:
        return len(self._known)

    def key(self, position: str) -> str:
        """Return the key of a position, which is told as text."""
        return hashlib.sha256(f"{self._terms}\n{position}".encode()).hexdigest()[:32]

    def get(self, key: str) -> Assessment | None:
        """Return what is known of a position."""
        return self._known.get(key)

    def add(self, key: str, assessment: Assessment) -> None:
        """Keep what has been found."""
        self._known[key] = assessment
        if self._file is not None:
            self._file.write(json.dumps({"key": key, "said": encode(assessment)}) + "\n")
            self._file.flush()

    def close(self, *, done: bool) -> None:
        """Close the file; remove it if all that it was kept for is done."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if done and self.path is not None:
                with contextlib.suppress(OSError):
                    self.path.unlink()

    def _take(self, line: str) -> None:
        with contextlib.suppress(*DAMAGES):
            entry = json.loads(line)
            self._known[str(entry["key"])] = decode(Assessment, entry["said"])
