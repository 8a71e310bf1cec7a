from __future__ import annotations

import sys
from argparse import HelpFormatter, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from kempelen.console.old_names import CommandParser
from kempelen.lab.spanish_messages import to_spanish

LANGUAGES = ("en", "es")
OPTION = "--lang"


class LocalizedParser(CommandParser):
    """An argument parser that prints help and errors in the language given by `--lang`."""

    _spanish = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        arguments = sys.argv[1:] if args is None else list(args)
        if _language(arguments) == "es":
            self.use_spanish()
        known, unknown = super().parse_known_args(arguments, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        text = to_spanish(message) if self._spanish else message
        self.exit(2, f"{self.prog}: error: {text}\n")

    def use_spanish(self) -> None:
        """Translate help and error messages into Spanish, including those of subcommands."""
        if self._spanish:
            return
        self._spanish = True
        is_raw = self.formatter_class is RawDescriptionHelpFormatter
        self.formatter_class = _SpanishRawFormatter if is_raw else _SpanishFormatter
        self.description = to_spanish(self.description or "")
        self.epilog = "\n".join(map(to_spanish, (self.epilog or "").split("\n")))
        for group in self._action_groups:
            group.title = to_spanish(group.title or "")
        for action in self._actions:
            if action.metavar is None and action.nargs != 0 and action.choices is None:
                action.metavar = action.dest.upper()
            for item in (action, *getattr(action, "_choices_actions", ())):
                if item.help:
                    item.help = to_spanish(item.help)
                if isinstance(item.metavar, str):
                    item.metavar = to_spanish(item.metavar)
            for parser in self._localized_subparsers(action):
                parser.use_spanish()

    @staticmethod
    def _localized_subparsers(action: Any) -> list[LocalizedParser]:
        choices = action.choices.values() if isinstance(action.choices, dict) else ()
        return [parser for parser in choices if isinstance(parser, LocalizedParser)]


class _SpanishFormatter(HelpFormatter):
    def add_usage(
        self, usage: str | None, actions: Iterable[Any], groups: Iterable[Any], prefix: Any = None
    ) -> None:
        super().add_usage(usage, actions, groups, to_spanish("usage: "))


class _SpanishRawFormatter(_SpanishFormatter, RawDescriptionHelpFormatter):
    pass


def _language(arguments: list[str]) -> str:
    language = ""
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if OPTION.startswith(option) and len(option) > len("--l"):
            language = value if equals else "".join(arguments[index + 1 : index + 2])
    return language
