"""The engine of commands that put positions of chess to one: our own, or any that speaks UCI."""

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
    """Return the engine that `--engine` names, or our own as a program of its own.

    purpose: what it is for, in messages. start_limit: seconds for its start, unless the spec says
    them; None for the usual ones. SettingsError if it cannot be used for that.
    """
    if spec is None:
        load_kernels()
        own = own_engine()
        return own if start_limit is None else replace(own, start_limit=start_limit)
    entries = engine_entries(parse_entries(spec, "--engine"))
    if start_limit is not None:
        entries.setdefault("start_limit", start_limit)
    if entries.pop("time", None):
        raise SettingsError("--engine: the limits are given once, by --movetime, --nodes, --depth")
    engine = decode(EngineSettings, {"name": Path(entries["command"]).stem, **entries})
    if protocol_spec(engine).uses_broker:
        raise SettingsError(f"--engine: {purpose} is for programs, not for bots behind a broker")
    if not protocol_spec(engine).speaks_uci:
        raise SettingsError(f"--engine: {purpose} is for UCI engines, not for {engine.protocol}")
    check_engine(engine)
    return engine


def own_engine() -> EngineSettings:
    """Return our own engine, as a program of its own."""
    return EngineSettings(
        sys.executable, "Kempelen", ("-P", "-m", "kempelen.cli", "uci"), start_limit=120
    )
