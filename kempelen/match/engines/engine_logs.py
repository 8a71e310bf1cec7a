import re
from collections.abc import Callable
from pathlib import Path

from protocols.client.process import IoLog

# Maximum length of a name in characters. File names are limited to 255 bytes, and a UTF-8 character
# has up to 4 bytes.
LOG_NAME_LENGTH = 60


class EngineLogs:
    """Log files, one per engine, with all lines that the engine receives and sends."""

    def __init__(self, directory: str | None, report: Callable[[str], None]) -> None:
        """`report` is called with the first write error of each log."""
        self._directory = directory
        self._report = report
        self._logs: dict[str, IoLog] = {}
        if directory is not None:
            Path(directory).mkdir(parents=True, exist_ok=True)

    def log_for(self, name: str) -> IoLog | None:
        """Return the log of an engine, or None if logging is off."""
        if self._directory is None:
            return None
        if name not in self._logs:
            file = re.sub(r"[^\w.-]", "_", name)[:LOG_NAME_LENGTH] + ".log"
            path = Path(self._directory) / file
            self._logs[name] = IoLog(path.open("a", encoding="utf-8"), self._report)
        return self._logs[name]

    def close(self) -> None:
        for log in self._logs.values():
            log.close()
