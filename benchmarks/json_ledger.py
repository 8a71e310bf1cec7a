"""A ledger for benchmarks that run for hours: a JSON object a line, found again by its key.

Runs add up, an interrupted one goes on, and a line that was cut off in the middle is played again.
"""

import json
from pathlib import Path
from typing import Any


class JsonLedger:
    """What has been measured with some settings. file: none keeps it in memory only."""

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
        """Tell whether a number has been done."""
        return number in self._entries

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return what was found under a number; KeyError if it has not been done."""
        return self._entries[number]

    def add(self, number: int, found: dict[str, Any]) -> None:
        """Keep what was found under a number."""
        self._entries[number] = found
        if self._file:
            entry = {"settings": self._settings, "number": number, "found": found}
            text = self._file.read_text("utf-8") if self._file.exists() else ""
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n" * (bool(text) and not text.endswith("\n")))
                file.write(json.dumps(entry) + "\n")

    def first(self, count: int) -> list[dict[str, Any]]:
        """Return what is known of the numbers below a count, in order."""
        return [self._entries[number] for number in range(count) if number in self._entries]
