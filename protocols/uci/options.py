"""The options of the engine: what they are called, what they take, and what they change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from protocols.uci.values import UciError, read_number, shorten

LONGEST_STRING = 1000

Value = int | bool | str | None
Owner = TypeVar("Owner", contravariant=True)


@dataclass(frozen=True, slots=True)
class Option(Generic[Owner]):
    """One option; `kind` is button, check, spin, combo or string, in UCI's words.

    change: gets the owner and the new value, which has been checked. choices: of a combo.
    """

    name: str
    kind: str
    change: Callable[[Owner, Any], None]
    default: Value = None
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the line that declares this option."""
        words = [f"option name {self.name} type {self.kind}"]
        if self.kind == "spin":
            words.append(f"default {self.default} min {self.least} max {self.most}")
        elif self.kind == "check":
            words.append(f"default {'true' if self.default else 'false'}")
        elif self.kind == "combo":
            words.append(f"default {self.default}")
            words += [f"var {choice}" for choice in self.choices]
        elif self.kind == "string":
            words.append(f"default {self.default or '<empty>'}")
        return " ".join(words)

    def _read_string(self, text: str) -> str:
        if len(text) > LONGEST_STRING or not text.isprintable():
            raise UciError(f"{self.name} takes up to {LONGEST_STRING} printable characters")
        return text

    def _read_choice(self, text: str) -> str:
        if text.lower() not in self.choices:
            raise UciError(f"{self.name} takes {', '.join(self.choices)}, not {shorten(text)}")
        return text.lower()

    def read(self, text: str | None) -> Value:
        """Return the value that a text stands for; raise UciError if it is not allowed."""
        if self.kind == "button":
            return None
        if self.kind == "string":
            return self._read_string("" if text in (None, "<empty>") else text)
        if self.kind == "check":
            if text is None or text.lower() not in ("true", "false"):
                raise UciError(f"{self.name} takes true or false, not {shorten(text or '')}")
            return text.lower() == "true"
        if self.kind == "combo":
            return self._read_choice(text or "")
        number = read_number(text or "")
        if number is None or not self.least <= number <= self.most:
            raise UciError(
                f"{self.name} takes a number from {self.least} to {self.most}, "
                f"not {shorten(text or '')}"
            )
        return number


def find(options: tuple[Option[Owner], ...], name: str) -> Option[Owner]:
    """Return the option of that name, in upper or lower case; raise UciError if there is none."""
    for option in options:
        if option.name.lower() == " ".join(name.lower().split()):
            return option
    raise UciError(f"no such option: {shorten(name)}")
