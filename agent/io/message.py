"""Messages that keep their arguments, so that they can be translated later."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self


class Message(str):
    """An English text, made by `template.format(*arguments)`, that can be translated later.

    Messages and exceptions among the arguments are translated too. An OSError is replaced by its
    reason. `str(message)`, and `str(error)` of an exception with a message, return the message
    itself and not a plain string.
    """

    template: str
    arguments: tuple[object, ...]

    def __new__(cls, template: str, *arguments: object) -> Self:
        if isinstance(template, cls) and not arguments:
            return template
        converted = tuple(map(_argument, arguments))
        message = super().__new__(cls, template.format(*converted) if converted else template)
        message.template, message.arguments = template, converted
        return message

    def __str__(self) -> str:
        return self  # str.__str__ would return a plain copy

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, *self.arguments  # for pickle

    def translated(self, gettext: Callable[[str], str]) -> str:
        """Return the message in another language. `gettext` translates templates."""
        arguments = [
            argument.translated(gettext) if isinstance(argument, Message) else argument
            for argument in self.arguments
        ]
        template = self.template and gettext(self.template)  # gettext("") returns a header
        return template.format(*arguments) if arguments else template


class MessageError(Exception):
    """An exception whose message is a `Message` with the given template and arguments."""

    def __init__(self, template: str, *arguments: object) -> None:
        super().__init__(Message(template, *arguments))


def library_message(error: Exception) -> Message:
    """Convert the message of a library's error to a template and arguments.

    The texts after ": " and " in " are the arguments. For example, "illegal san: 'Ke2' in FEN" has
    the template "illegal san: {} in {}".
    """
    if isinstance(message := str(error), Message):
        return message
    text, colon, rest = message.partition(": ")
    value, within, place = rest.partition(" in ")
    values = [value for value, found in ((value, colon), (place, within)) if found]
    return Message(f"{text}{colon and ': {}'}{within and ' in {}'}", *values)


def _argument(value: object) -> object:
    if isinstance(value, OSError):
        return Message(value.strerror or str(value))
    if isinstance(value, BaseException):
        return Message(str(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else value
