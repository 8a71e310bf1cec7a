"""The options of the engine: what they are called, what they take, and what they change."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from protocols.permissions import UNBOUNDED, Permissions, refusal
from protocols.uci.values import UciError, read_number, shorten

LONGEST_STRING = 1000

Value = int | bool | str | None
Owner = TypeVar("Owner", contravariant=True)


@dataclass(frozen=True, slots=True)
class Option(Generic[Owner]):
    """One option; `kind` is button, check, spin, combo or string, in UCI's words.

    change: gets the owner and the new value, which has been checked. choices: of a combo.
    trusted: it names a file, runs code or changes what other sessions use, see
    protocols.permissions; own: values of it that do not. share: what of a session's permissions
    bounds it, and granted: that bound. refused: it is not for this session.
    """

    name: str
    kind: str
    change: Callable[[Owner, Any], None]
    default: Value = None
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    trusted: bool = False
    own: tuple[str, ...] = ()
    share: Literal["", "megabytes", "threads"] = ""
    granted: int = UNBOUNDED
    refused: bool = False

    def line(self) -> str:
        """Return the line that declares this option."""
        words = [f"option name {self.name} type {self.kind}"]
        if self.kind == "spin":
            assert isinstance(self.default, int)
            default, most = min(self.default, self.granted), min(self.most, self.granted)
            words.append(f"default {default} min {self.least} max {most}")
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
        known = {choice.lower(): choice for choice in self.choices}
        if text.lower() not in known:
            raise UciError(f"{self.name} takes {', '.join(self.choices)}, not {shorten(text)}")
        return known[text.lower()]

    def take(self, text: str | None) -> tuple[Value, str]:
        """Return the value that a text stands for, and what to say of it, "" for nothing.

        Raises UciError if it is not allowed; what is more than the session is granted becomes that.
        """
        own = ("", "<empty>", *map(str.lower, self.own))
        if self.refused and (self.kind != "string" or (text or "").lower() not in own):
            raise UciError(refusal(self.name))
        value = self.read(text)
        if self.kind == "spin" and isinstance(value, int) and value > self.granted:
            return self.granted, f"{self.name} is at most {self.granted} here"
        return value, ""

    def permitted(self, permissions: Permissions) -> "Option[Owner]":
        """Return the option as a session with these permissions has it.

        Where values are offered by a name it is a choice between these.
        """
        granted: int = getattr(permissions, self.share) if self.share else UNBOUNDED
        if permissions.trusted or not self.trusted:
            return replace(self, granted=granted)
        offered = permissions.offered(self.name)
        if self.kind != "string" or not offered:
            return replace(self, refused=True)
        values = {name: name for name in self.own} | dict(offered)
        default = self.default if self.default in self.own else next(iter(values))
        return replace(
            self,
            kind="combo",
            default=default,
            choices=tuple(values),
            change=lambda owner, name: self.change(owner, values[name]),
        )

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
