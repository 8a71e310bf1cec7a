"""What a fault report says: notes of all checks, none of which can end the others.

This module imports the standard library alone, so that it works in a broken installation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong, and what helps. broken: no search, or no game, without that."""

    what: str
    remedy: str
    broken: bool


class Diagnosis:
    """What was found so far. Paths of the user's own are written with ~."""

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, Any]] = {}
        self.problems: list[Problem] = []
        self._homes = _homes()

    @property
    def broken(self) -> bool:
        """Whether something does not work."""
        return any(complaint.broken for complaint in self.problems)

    def add_note(self, name: str, text: str, /, **details: Any) -> None:
        """Note something for people, and in detail for programs."""
        self.notes[name] = {"text": self.redact(text), **self._redact_all(details)}

    def add_problem(self, what: str, remedy: str, *, broken: bool = False) -> None:
        """Note something that is wrong."""
        self.problems.append(Problem(self.redact(what), self.redact(remedy), broken))

    def run_checks(self, checks: Mapping[str, Callable[[Diagnosis], None]]) -> None:
        """Make checks, by the names of what they look at; one that fails is noted as such."""
        for name, look in checks.items():
            try:
                look(self)
            except Exception as error:  # noqa: BLE001 - the others are to be made all the same
                text = f"{type(error).__name__}: {error}"
                self.add_note(name, text)
                remedy = "install it anew, with its packages, into an environment of its own"
                self.add_problem(f"{name}: {text}", remedy, broken=True)

    def redact(self, text: str) -> str:
        """Return a text without the name of the user that paths may hold."""
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
    """Return how the user's folder may be written, longest first."""
    try:
        home = Path.home()
        names = {str(home), str(home.resolve())}
    except (RuntimeError, OSError):  # a user without a home
        return []
    return sorted((name for name in names if len(name) > 1), key=len, reverse=True)
