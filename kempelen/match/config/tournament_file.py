from typing import Any

from agent.io.strict_json import quote_value
from kempelen.console.settings_codec import SettingsError, read_settings
from kempelen.match.config.settings import Settings, parse_settings


def read_tournament(file: str) -> Settings:
    """Read tournament settings from YAML, where `each` contains defaults for all engines.

    Raise SettingsError, which names the file and the entry, if the file is invalid.
    """
    return read_settings(file, "`engines:` and `time:`", _from_entries)


def _from_entries(data: dict[str, Any]) -> Settings:
    each = data.pop("each", None) or {}
    if not isinstance(each, dict):
        raise SettingsError(
            f"each: invalid value {quote_value(each)} (expected entries for all engines)"
        )
    engines = data.get("engines")
    if isinstance(engines, list):
        data["engines"] = [{**each, **e} if isinstance(e, dict) else e for e in engines]
    return parse_settings(data)
