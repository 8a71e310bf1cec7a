from __future__ import annotations

import gettext
import os
import sys
from argparse import ArgumentError, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kempelen.console.old_names import CommandParser
from kempelen.console.translation import CATALOGUES, DOMAIN, translate

OPTION = "--lang"


class LocalizedParser(CommandParser):
    """An argument parser that prints help and errors in the language given by `--lang`."""

    _language = "en"

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        arguments = sys.argv[1:] if args is None else list(args)
        if _language(arguments) == "es":
            self.set_language("es")
        self.exit_on_error = False
        with _argparse_messages(self._language):
            try:
                known, unknown = super().parse_known_args(arguments, namespace)
            except ArgumentError as error:
                error.message = translate(error.message, self._language)
                self.error(str(error))
            if unknown:
                self.error(gettext.gettext("unrecognized arguments: %s") % " ".join(unknown))
        return known, unknown

    def set_language(self, language: str) -> None:
        """Set the language of help and error messages, also for the parsers of subcommands."""
        if self._language == language:
            return
        self._language = language
        self.description = translate(self.description or "", language)
        lines = (self.epilog or "").split("\n")
        self.epilog = "\n".join(translate(line, language) for line in lines)
        for group in self._action_groups:
            group.title = translate(group.title or "", language)
        for action in self._actions:
            if action.metavar is None and action.nargs != 0 and action.choices is None:
                action.metavar = action.dest.upper()
            if isinstance(action.metavar, str):
                action.metavar = translate(action.metavar, language)
            for item in (action, *getattr(action, "_choices_actions", ())):
                item.help = item.help and translate(item.help, language)
            for parser in self._localized_subparsers(action):
                parser.set_language(language)

    @staticmethod
    def _localized_subparsers(action: Any) -> list[LocalizedParser]:
        choices = action.choices.values() if isinstance(action.choices, dict) else ()
        return [parser for parser in choices if isinstance(parser, LocalizedParser)]


@contextmanager
def _argparse_messages(language: str) -> Iterator[None]:
    """Make argparse, which uses gettext, print its own messages in `language` during the block."""
    if language == "en":
        yield
        return
    domain, previous = gettext.textdomain(), os.environ.get("LANGUAGE")
    gettext.bindtextdomain(DOMAIN, CATALOGUES)
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = language
    try:
        yield
    finally:
        gettext.textdomain(domain)
        del os.environ["LANGUAGE"]
        if previous is not None:
            os.environ["LANGUAGE"] = previous


def _language(arguments: list[str]) -> str:
    language = ""
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if OPTION.startswith(option) and len(option) > len("--l"):
            language = value if equals else "".join(arguments[index + 1 : index + 2])
    return language
