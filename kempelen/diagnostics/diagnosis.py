"""The report of `kempelen doctor`, which needs only the standard library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.io.requirements import reinstall_remedy


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem and its remedy. `broken` means that searches or games fail."""

    what: str
    remedy: str
    broken: bool


class Diagnosis:
    """The notes and problems that the checks report, with the user's home folder replaced by ~."""

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, Any]] = {}
        self.problems: list[Problem] = []
        self._homes = _homes()

    @property
    def broken(self) -> bool:
        return any(problem.broken for problem in self.problems)

    def add_note(self, name: str, text: str, /, **details: Any) -> None:
        """Add a note with `text` for people and `details` for programs."""
        self.notes[name] = {"text": self.redact(text), **self._redact_all(details)}

    def add_problem(self, what: str, remedy: str, *, broken: bool = False) -> None:
        self.problems.append(Problem(self.redact(what), self.redact(remedy), broken))

    def run_checks(self, checks: Mapping[str, Callable[[Diagnosis], None]]) -> None:
        """Run the named checks. A check that raises an exception is reported as a problem."""
        for name, check in checks.items():
            try:
                check(self)
            except Exception as error:  # noqa: BLE001 - the other checks must still run
                text = f"{type(error).__name__}: {error}"
                self.add_note(name, text)
                remedy = "reinstall Kempelen and its packages in a new virtual environment"
                self.add_problem(f"{name}: {text}", reinstall_remedy(remedy), broken=True)

    def redact(self, text: str) -> str:
        """Return `text` with the home folder replaced by ~."""
        for home in self._homes:
            text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
        return text

    def _redact_all(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): self._redact_all(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._redact_all(item) for item in value]
        if isinstance(value, str | Path):
            return self.redact(str(value))
        return value


def _homes() -> list[str]:
    """Return all spellings of the home folder's path, longest first."""
    try:
        home = Path.home()
        names = {str(home), str(home.resolve())}
    except (RuntimeError, OSError):  # the user has no home folder
        return []
    return sorted((name for name in names if len(name) > 1), key=len, reverse=True)
