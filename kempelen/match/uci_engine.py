"""Choose the UCI engine for commands that search chess positions."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from kempelen.console.settings_codec import SettingsError, decode
from kempelen.console.terminal import load_kernels
from kempelen.match.config.engine_arguments import engine_entries, parse_entries
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.engines.engine_protocols import check_engine, protocol_spec


def uci_engine_from(
    spec: str | None, purpose: str, start_limit: float | None = None
) -> EngineSettings:
    """Return the engine in `spec`, or Kempelen as a separate process if `spec` is None.

    `purpose` describes the task in messages. `start_limit` is the default start timeout in seconds.
    Raise SettingsError if the engine cannot be used.
    """
    if spec is None:
        load_kernels()
        own = own_engine()
        return own if start_limit is None else replace(own, start_limit=start_limit)
    entries = engine_entries(parse_entries(spec, "--engine"))
    if start_limit is not None:
        entries.setdefault("start_limit", start_limit)
    if entries.pop("time", None):
        raise SettingsError("--engine: limits are not allowed (use --movetime, --nodes, --depth)")
    engine = decode(EngineSettings, {"name": Path(entries["command"]).stem, **entries})
    if protocol_spec(engine).uses_broker:
        raise SettingsError(f"--engine: {purpose} does not support bots behind a broker")
    if not protocol_spec(engine).speaks_uci:
        raise SettingsError(f"--engine: {purpose} requires a UCI engine (got {engine.protocol})")
    check_engine(engine)
    return engine


def own_engine() -> EngineSettings:
    """Return the settings that run Kempelen's UCI engine as a separate process."""
    return EngineSettings(
        sys.executable, "Kempelen", ("-P", "-m", "kempelen.cli", "uci"), start_limit=120
    )
