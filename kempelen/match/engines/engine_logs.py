"""What is said to engines and what they say, as text files."""

import re
from collections import defaultdict
from pathlib import Path
from typing import TextIO

from protocols.client.process import IoLog

# Characters: a file's name may have 255 bytes, and a character four.
LOG_NAME_LENGTH = 60


class EngineLogs:
    """One text file for each engine of what is said to it and what it says."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._files: dict[str, TextIO] = defaultdict()
        if directory is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)

    def log_for(self, name: str) -> IoLog | None:
        """Return an engine's log, or None where none is asked for."""
        if self._directory is None:
            return None
        if name not in self._files:
            file = re.sub(r"[^\w.-]", "_", name)[:LOG_NAME_LENGTH] + ".log"
            self._files[name] = (Path(self._directory) / file).open("a", encoding="utf-8")
        return IoLog(self._files[name])

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
