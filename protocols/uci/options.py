"""The options of the engine: what they are called, what they take, and what they change."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from protocols.permissions import UNBOUNDED, Permissions, permission_denied_message
from protocols.uci.parsing import UciError, read_number, shorten

MAX_STRING_LENGTH = 1000

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
    type: str
    on_change: Callable[[Owner, Any], None]
    default: Value = None
    min: int = 0
    max: int = 0
    choices: tuple[str, ...] = ()
    requires_trust: bool = False
    safe_values: tuple[str, ...] = ()
    limited_by: Literal["", "megabytes", "threads"] = ""
    session_max: int = UNBOUNDED
    forbidden: bool = False

    def declaration_line(self) -> str:
        """Return the line that declares this option."""
        words = [f"option name {self.name} type {self.type}"]
        if self.type == "spin":
            assert isinstance(self.default, int)
            default, most = min(self.default, self.session_max), min(self.max, self.session_max)
            words.append(f"default {default} min {self.min} max {most}")
        elif self.type == "check":
            words.append(f"default {'true' if self.default else 'false'}")
        elif self.type == "combo":
            words.append(f"default {self.default}")
            words += [f"var {choice}" for choice in self.choices]
        elif self.type == "string":
            words.append(f"default {self.default or '<empty>'}")
        return " ".join(words)

    def _read_string(self, text: str) -> str:
        if len(text) > MAX_STRING_LENGTH or not text.isprintable():
            raise UciError(f"{self.name} takes up to {MAX_STRING_LENGTH} printable characters")
        return text

    def _read_choice(self, text: str) -> str:
        known = {choice.lower(): choice for choice in self.choices}
        if text.lower() not in known:
            raise UciError(f"{self.name} takes {', '.join(self.choices)}, not {shorten(text)}")
        return known[text.lower()]

    def parse_permitted(self, text: str | None) -> tuple[Value, str]:
        """Return the value that a text stands for, and what to say of it, "" for nothing.

        Raises UciError if it is not allowed; what is more than the session is granted becomes that.
        """
        own = ("", "<empty>", *map(str.lower, self.safe_values))
        if self.forbidden and (self.type != "string" or (text or "").lower() not in own):
            raise UciError(permission_denied_message(self.name))
        value = self.parse(text)
        if self.type == "spin" and isinstance(value, int) and value > self.session_max:
            return self.session_max, f"{self.name} is at most {self.session_max} here"
        return value, ""

    def for_permissions(self, permissions: Permissions) -> "Option[Owner]":
        """Return the option as a session with these permissions has it.

        Where values are offered by a name it is a choice between these.
        """
        session_max: int = getattr(permissions, self.limited_by) if self.limited_by else UNBOUNDED
        if permissions.trusted or not self.requires_trust:
            return replace(self, session_max=session_max)
        offered = permissions.presets_for(self.name)
        if self.type != "string" or not offered:
            return replace(self, forbidden=True)
        values = {name: name for name in self.safe_values} | dict(offered)
        default = self.default if self.default in self.safe_values else next(iter(values))
        return replace(
            self,
            type="combo",
            default=default,
            choices=tuple(values),
            on_change=lambda owner, name: self.on_change(owner, values[name]),
        )

    def parse(self, text: str | None) -> Value:
        """Return the value that a text stands for; raise UciError if it is not allowed."""
        if self.type == "button":
            return None
        if self.type == "string":
            return self._read_string("" if text in (None, "<empty>") else text)
        if self.type == "check":
            if text is None or text.lower() not in ("true", "false"):
                raise UciError(f"{self.name} takes true or false, not {shorten(text or '')}")
            return text.lower() == "true"
        if self.type == "combo":
            return self._read_choice(text or "")
        number = read_number(text or "")
        if number is None or not self.min <= number <= self.max:
            raise UciError(
                f"{self.name} takes a number from {self.min} to {self.max}, "
                f"not {shorten(text or '')}"
            )
        return number


def find_option(options: tuple[Option[Owner], ...], name: str) -> Option[Owner]:
    """Return the option of that name, in upper or lower case; raise UciError if there is none."""
    for option in options:
        if option.name.lower() == " ".join(name.lower().split()):
            return option
    raise UciError(f"no such option: {shorten(name)}")
