"""A ledger for long benchmarks: one JSON object per line, keyed by settings and number.

Repeated runs add entries, and an interrupted run continues. An incomplete line is ignored, so that
its entry is measured again.
"""

import json
from pathlib import Path
from typing import Any


class JsonLedger:
    """The results that were measured with certain settings.

    file: the ledger file; None keeps the results in memory only.
    """

    def __init__(self, file: Path | None, settings: dict[str, Any]) -> None:
        self._file = file
        self._settings = settings
        self._entries: dict[int, dict[str, Any]] = {}
        for line in file.read_text("utf-8").splitlines() if file and file.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("settings") == settings:
                self._entries[entry["number"]] = entry["found"]

    def __contains__(self, number: int) -> bool:
        """Return whether there is a result for this number."""
        return number in self._entries

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return the result for a number. Raises KeyError if there is none."""
        return self._entries[number]

    def add(self, number: int, found: dict[str, Any]) -> None:
        """Store the result for a number."""
        self._entries[number] = found
        if self._file:
            entry = {"settings": self._settings, "number": number, "found": found}
            text = self._file.read_text("utf-8") if self._file.exists() else ""
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n" * (bool(text) and not text.endswith("\n")))
                file.write(json.dumps(entry) + "\n")

    def first(self, count: int) -> list[dict[str, Any]]:
        """Return the results for the numbers below `count`, in order. Missing ones are skipped."""
        return [self._entries[number] for number in range(count) if number in self._entries]
