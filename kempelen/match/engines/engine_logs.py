import re
from collections import defaultdict
from pathlib import Path
from typing import TextIO

from protocols.client.process import IoLog

# Maximum length of a name in characters. File names are limited to 255 bytes, and a UTF-8 character
# has up to 4 bytes.
LOG_NAME_LENGTH = 60


class EngineLogs:
    """Log files, one per engine, with all lines that the engine receives and sends."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._files: dict[str, TextIO] = defaultdict()
        if directory is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)

    def log_for(self, name: str) -> IoLog | None:
        """Return the log of an engine, or None if logging is off."""
        if self._directory is None:
            return None
        if name not in self._files:
            file = re.sub(r"[^\w.-]", "_", name)[:LOG_NAME_LENGTH] + ".log"
            self._files[name] = (Path(self._directory) / file).open("a", encoding="utf-8")
        return IoLog(self._files[name])

    def close(self) -> None:
        for file in self._files.values():
            file.close()
