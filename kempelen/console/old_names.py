"""Hidden aliases for old names of commands, flags and settings. Using one prints a notice."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Sequence
from typing import Any, NoReturn

from agent.io.sanitize import escape_lines
from kempelen.console.terminal import print_error


def print_notice(old: str, new: str, command: str = "kempelen") -> None:
    print_error(f"{old} is now {new}", command)


def add_alias(parser: _ActionsContainer, old: str, action: Action) -> None:
    """Add the old flag `old` as a hidden alias of the flag that `action` implements."""
    parser.add_argument(old, action=HiddenAlias, target=action)


class HiddenAlias(Action):
    """An argparse action for an old flag that prints a notice and runs the new flag's action."""

    def __init__(self, option_strings: Sequence[str], dest: str, target: Action) -> None:
        super().__init__(
            option_strings,
            dest=target.dest,
            nargs=target.nargs,
            const=target.const,
            default=SUPPRESS,
            choices=target.choices,
            help=SUPPRESS,
            metavar=target.metavar,
        )
        self.type = target.type
        self._target = target

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        new = self._target.option_strings[0]
        print_notice(self.option_strings[0], new, parser.prog)
        self._target(parser, namespace, values, new)


class CommandParser(ArgumentParser):
    """An argument parser that ignores hidden aliases when it expands abbreviated flags.

    Its error messages may contain untrusted text, for example of an exception in a user's game.
    """

    def error(self, message: str) -> NoReturn:
        super().error(escape_lines(message))

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        matches: list[Any] = super()._get_option_tuples(option_string)
        return [each for each in matches if not isinstance(each[0], HiddenAlias)] or matches
