"""Declare and parse UCI options, and call functions when their values change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from protocols.permissions import UNBOUNDED, Permissions, permission_denied_message
from protocols.uci.parsing import UciError, read_number, shorten

MAX_STRING_LENGTH = 1000
# New option names by old names, which are still accepted, but not declared.
RENAMED_OPTIONS = {"Final Choice": "MoveSelection", "Game Result": "GameResult"}

Value = int | bool | str | None


@dataclass(frozen=True, slots=True)
class Option:
    """A UCI option with its declaration, permissions and change callback."""

    name: str
    type: str  # button, check, spin, combo or string
    on_change: Callable[[Any, Any], None]  # receives the `ChessSession` and the parsed value
    default: Value = None
    min: int = 0
    max: int = 0
    choices: tuple[str, ...] = ()  # values of a combo
    find_alias: Callable[[str], str | None] = lambda text: None  # a choice by another name
    requires_trust: bool = False  # see `protocols.permissions`
    safe_values: tuple[str, ...] = ()  # values that any client may set
    limited_by: Literal["", "megabytes", "threads"] = ""  # permission that limits a spin option
    session_max: int = UNBOUNDED  # that limit in this session
    forbidden: bool = False  # not available in this session
    hidden: bool = False  # accepted, but not declared, because GUIs would save it as a setting

    def declaration_line(self) -> str:
        words = [f"option name {self.name} type {self.type}"]
        if self.type == "spin":
            assert isinstance(self.default, int)
            default = min(self.default, self.session_max)
            maximum = min(self.max, self.session_max)
            words.append(f"default {default} min {self.min} max {maximum}")
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
            raise UciError(
                f"{self.name}: invalid value {shorten(text)} (expected up to {MAX_STRING_LENGTH} "
                "printable characters)"
            )
        return text

    def _read_choice(self, text: str) -> str:
        known = {choice.lower(): choice for choice in self.choices}
        text = self.find_alias(text) or text
        if text.lower() not in known:
            raise UciError(
                f"{self.name}: invalid value {shorten(text)} "
                f"(expected one of: {', '.join(self.choices)})"
            )
        return known[text.lower()]

    def parse_permitted(self, text: str | None) -> tuple[Value, str]:
        """Return the parsed value, reduced to the session's limit, and a message for the user.

        The message may be empty. Raise `UciError` if the value is invalid or not permitted.
        """
        safe_values = ("", "<empty>", *map(str.lower, self.safe_values))
        if self.forbidden and (self.type != "string" or (text or "").lower() not in safe_values):
            raise UciError(permission_denied_message(self.name))
        value = self.parse(text)
        if self.type == "spin" and isinstance(value, int) and value > self.session_max:
            remark = f"{self.name}: {value} is limited to {self.session_max} on this server"
            return self.session_max, remark
        return value, ""

    def for_permissions(self, permissions: Permissions) -> Option:
        """Return a copy of the option with the restrictions that the permissions impose.

        A string option with presets becomes a combo with the preset names.
        """
        session_max: int = getattr(permissions, self.limited_by) if self.limited_by else UNBOUNDED
        if permissions.trusted or not self.requires_trust:
            return replace(self, session_max=session_max)
        presets = permissions.presets_for(self.name)
        if self.type != "string" or not presets:
            return replace(self, forbidden=True)
        values = {name: name for name in self.safe_values} | dict(presets)
        default = self.default if self.default in self.safe_values else next(iter(values))
        return replace(
            self,
            type="combo",
            default=default,
            choices=tuple(values),
            on_change=lambda session, name: self.on_change(session, values[name]),
        )

    def parse(self, text: str | None) -> Value:
        """Return the parsed value, or raise `UciError` if the value is invalid."""
        if self.type == "button":
            return None
        if self.type == "string":
            return self._read_string("" if text in (None, "<empty>") else text)
        if self.type == "check":
            if text is None or text.lower() not in ("true", "false"):
                raise UciError(
                    f"{self.name}: invalid value {shorten(text or '')} (expected true or false)"
                )
            return text.lower() == "true"
        if self.type == "combo":
            return self._read_choice(text or "")
        number = read_number(text or "")
        if number is None or not self.min <= number <= self.max:
            raise UciError(
                f"{self.name}: invalid value {shorten(text or '')} "
                f"(expected a number from {self.min} to {self.max})"
            )
        return number


def find_option(options: Iterable[Option], name: str) -> Option:
    """Find an option by name or old name, ignoring case, or raise `UciError`."""
    wanted = current_name(name).lower()
    for option in options:
        if option.name.lower() == wanted:
            return option
    raise UciError(f"unknown option: {shorten(name)}")


def current_name(name: str) -> str:
    """Return the current name of a renamed option, or `name` without superfluous spaces."""
    name = " ".join(name.split())
    return next((new for old, new in RENAMED_OPTIONS.items() if old.lower() == name.lower()), name)


def renamed_remark(name: str) -> str:
    """Return a message for the user if `name` is the old name of an option, or ""."""
    name = " ".join(name.split())
    for old, new in RENAMED_OPTIONS.items():
        if old.lower() == name.lower():
            return f"option '{old}' is now '{new}'"
    return ""
