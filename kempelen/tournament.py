"""`kempelen tournament`: the tournament that a YAML file describes."""

import argparse

from agent.border import yaml_text
from kempelen.console import complain
from kempelen.running import configure_run, run_tournament
from tournament import words
from tournament.settings import Settings, settings_of
from tournament.values import SettingsError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", help="YAML file; docs/guide/matches.md shows its entries")
    configure_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the tournament."""
    try:
        settings = settings_from(arguments.file)
    except SettingsError as error:
        complain(error)
        return 2
    return run_tournament(settings, arguments)


def settings_from(file: str) -> Settings:
    """Return the tournament in a YAML file, or raise SettingsError that names file and entry.

    `each` holds entries that every engine begins with.
    """
    try:
        data = words.read(file)
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except yaml_text.YamlError as error:
        raise SettingsError(f"{file}: {error}") from None
    if not isinstance(data, dict):
        raise SettingsError(f"{file}: entries such as `engines:` and `time:` are expected")
    each = data.pop("each", None) or {}
    engines = data.get("engines")
    if isinstance(each, dict) and isinstance(engines, list):
        data["engines"] = [{**each, **e} if isinstance(e, dict) else e for e in engines]
    try:
        return settings_of(data)
    except SettingsError as error:
        raise SettingsError(f"{file}: {error}") from None
