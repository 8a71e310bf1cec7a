"""`kempelen tournament`: the tournament that a YAML file describes."""

import argparse
from typing import Any

from kempelen.console.settings_codec import SettingsError, read_settings
from kempelen.console.terminal import print_error
from kempelen.match.config.settings import Settings, parse_settings
from kempelen.match.tournament_run import configure_run, run_tournament


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", help="YAML file; docs/guide/matches.md shows its entries")
    configure_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the tournament."""
    try:
        settings = settings_from(arguments.file)
    except SettingsError as error:
        print_error(error)
        return 2
    return run_tournament(settings, arguments)


def settings_from(file: str) -> Settings:
    """Return the tournament in a YAML file, or raise SettingsError that names file and entry.

    `each` holds entries that every engine begins with.
    """
    return read_settings(file, "`engines:` and `time:`", _from_entries)


def _from_entries(data: dict[str, Any]) -> Settings:
    each = data.pop("each", None) or {}
    if not isinstance(each, dict):
        raise SettingsError(f"each: entries that every engine has are expected, not {each!r}")
    engines = data.get("engines")
    if isinstance(engines, list):
        data["engines"] = [{**each, **e} if isinstance(e, dict) else e for e in engines]
    return parse_settings(data)
