"""Commands from KataGo and Leela Zero for reading and setting search parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent.evaluation import EvaluationError
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import NO_LIMIT, SYNTAX_ERROR, Arguments, GtpError
from protocols.gtp.resignation import DEFAULT_RESIGN_POLICY, ResignPolicy

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession, Settings

MAX_THREADS, MAX_MEGABYTES, MAX_SECONDS = 1024, 1 << 20, 1e9


@dataclass(frozen=True, slots=True)
class SessionParameter:
    """A search parameter that `kata-set-param` can change."""

    get_text: Callable[[Settings], str]
    with_text: Callable[[Settings, str], Settings]  # may raise `ValueError`
    expected: str  # the valid values, for error messages
    go_only: bool = False
    limited_by: Literal["", "megabytes", "threads"] = ""  # permission that limits the value


def _parse_integer(text: str, maximum: int) -> int:
    number = int(text)
    if not 1 <= number <= maximum:
        raise ValueError
    return number


def _parse_float(text: str, lower: float, upper: float) -> float:
    number = float(text)
    if not lower < number < upper:
        raise ValueError
    return number


def _parse_bool(text: str) -> bool:
    switches = {"true": True, "false": False}
    if text.lower() not in switches:
        raise ValueError
    return switches[text.lower()]


def _format_bool(value: bool) -> str:
    return "true" if value else "false"


def _parse_limit(text: str) -> int | None:
    number = _parse_integer(text, NO_LIMIT)
    return None if number == NO_LIMIT else number


def _set_playouts(settings: Settings, text: str) -> Settings:
    return replace(
        settings, search_config=replace(settings.search_config, playouts=_parse_limit(text))
    )


def _set_threads(settings: Settings, text: str) -> Settings:
    threads = _parse_integer(text, MAX_THREADS)
    return replace(settings, search_config=replace(settings.search_config, threads=threads))


def _set_memory(settings: Settings, text: str) -> Settings:
    megabytes = _parse_integer(text, MAX_MEGABYTES)
    return replace(settings, search_config=replace(settings.search_config, megabytes=megabytes))


def _set_threshold(settings: Settings, text: str) -> Settings:
    threshold = (_parse_float(text, -1, 0) + 1) / 2
    return replace(
        settings, resign_policy=ResignPolicy(threshold, settings.resign_policy.consecutive_moves)
    )


def _set_turns(settings: Settings, text: str) -> Settings:
    return replace(
        settings,
        resign_policy=ResignPolicy(settings.resign_policy.threshold, _parse_integer(text, 1000)),
    )


_LIMIT_EXPECTED = f"an integer from 1; {NO_LIMIT} for no limit"
_PLAYOUTS = SessionParameter(
    lambda settings: str(settings.search_config.playouts or NO_LIMIT),
    _set_playouts,
    _LIMIT_EXPECTED,
)
# KataGo's names, except `maxNodes`, `maxDepth` and `memory`. In KataGo, visits and playouts differ.
PARAMETERS = {
    "maxVisits": _PLAYOUTS,
    "maxPlayouts": _PLAYOUTS,
    "maxNodes": SessionParameter(
        lambda settings: str(settings.nodes or NO_LIMIT),
        lambda settings, text: replace(settings, nodes=_parse_limit(text)),
        _LIMIT_EXPECTED,
    ),
    "maxDepth": SessionParameter(
        lambda settings: str(settings.depth or NO_LIMIT),
        lambda settings, text: replace(settings, depth=_parse_limit(text)),
        _LIMIT_EXPECTED,
    ),
    "maxTime": SessionParameter(
        lambda settings: f"{settings.seconds:.10g}",
        lambda settings, text: replace(settings, seconds=_parse_float(text, 0, MAX_SECONDS)),
        "a number of seconds above 0",
    ),
    "numSearchThreads": SessionParameter(
        lambda settings: str(settings.search_config.threads),
        _set_threads,
        f"an integer from 1 to {MAX_THREADS}",
        limited_by="threads",
    ),
    "memory": SessionParameter(
        lambda settings: str(settings.search_config.megabytes),
        _set_memory,
        f"a number of megabytes from 1 to {MAX_MEGABYTES}",
        limited_by="megabytes",
    ),
    "ponderingEnabled": SessionParameter(
        lambda settings: _format_bool(settings.ponders),
        lambda settings, text: replace(settings, ponders=_parse_bool(text)),
        "true or false",
    ),
    "analysisPVLen": SessionParameter(
        lambda settings: str(settings.max_pv_length),
        lambda settings, text: replace(settings, max_pv_length=_parse_integer(text, 1000)),
        "an integer from 1 to 1000",
    ),
    "conservativePass": SessionParameter(
        lambda settings: _format_bool(settings.conservative_pass),
        lambda settings, text: replace(settings, conservative_pass=_parse_bool(text)),
        "true or false",
        go_only=True,
    ),
    "allowResignation": SessionParameter(
        lambda settings: _format_bool(settings.resigns),
        lambda settings, text: replace(settings, resigns=_parse_bool(text)),
        "true or false",
        go_only=True,
    ),
    "resignThreshold": SessionParameter(
        lambda settings: f"{2 * settings.resign_policy.threshold - 1:.10g}",
        _set_threshold,
        "a number between -1 (certain loss) and 0",
        go_only=True,
    ),
    "resignConsecTurns": SessionParameter(
        lambda settings: str(settings.resign_policy.consecutive_moves),
        _set_turns,
        "an integer from 1 to 1000",
        go_only=True,
    ),
}


@dataclass(frozen=True, slots=True)
class LeelaOption:
    """An option of Leela Zero's `lz-setoption`: the type and values, and the parameters it sets."""

    declaration: str
    parameters: Callable[[str], Mapping[str, str]]  # may raise `ValueError`


def _lz_limit(name: str) -> LeelaOption:
    def parameters(text: str) -> Mapping[str, str]:
        limit = _parse_spin(text, 0, 10**9)
        return {name: str(limit or NO_LIMIT)}

    return LeelaOption("spin default 0 min 0 max 1000000000", parameters)


def _parse_spin(text: str, minimum: int, maximum: int) -> int:
    number = int(text)
    if not minimum <= number <= maximum:
        raise ValueError
    return number


def _lz_resignation(text: str) -> Mapping[str, str]:
    percentage = _parse_spin(text, -1, 30)
    if percentage == 0:
        return {"allowResignation": "false"}
    rate = percentage / 100 if percentage > 0 else DEFAULT_RESIGN_POLICY.threshold
    return {"allowResignation": "true", "resignThreshold": f"{2 * rate - 1:.10g}"}


_LZ_SETTING = re.compile(r"name (.+?) value (.+)", re.IGNORECASE)
LZ_OPTIONS = {
    "Maximum Memory Use (MiB)": LeelaOption(
        f"spin default 128 min 1 max {MAX_MEGABYTES}",
        lambda text: {"memory": str(_parse_spin(text, 1, MAX_MEGABYTES))},
    ),
    "Visits": _lz_limit("maxVisits"),
    "Playouts": _lz_limit("maxPlayouts"),
    "Resign Percentage": LeelaOption("spin default -1 min -1 max 30", _lz_resignation),
    "Pondering": LeelaOption(
        "check default false",
        lambda text: {"ponderingEnabled": _format_bool(_parse_bool(text))},
    ),
}


def _available_names(gtp: GtpSession) -> list[str]:
    go = isinstance(gtp.board, GtpGoBoard)
    return [name for name, parameter in PARAMETERS.items() if go or not parameter.go_only]


def _find_parameter(gtp: GtpSession, name: str) -> SessionParameter:
    names = _available_names(gtp)
    if name not in names:
        raise GtpError(f"unknown parameter: {name} (expected one of: {', '.join(names)})")
    return PARAMETERS[name]


def _list_params(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return " ".join(_available_names(gtp))


def _get_param(gtp: GtpSession, arguments: Arguments) -> str:
    name = arguments.word()
    arguments.expect_end()
    return _find_parameter(gtp, name).get_text(gtp.settings)


def _get_params(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    names = _available_names(gtp)
    return json.dumps({name: json.loads(PARAMETERS[name].get_text(gtp.settings)) for name in names})


def _set_param(gtp: GtpSession, arguments: Arguments) -> str:
    name, text = arguments.word(), arguments.word()
    arguments.expect_end()
    return _change(gtp, {name: text})


def _set_params(gtp: GtpSession, arguments: Arguments) -> str:
    """Set all parameters in a JSON object, or none of them if one is invalid."""
    try:
        values = json.loads(" ".join(arguments.rest()))
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise GtpError("invalid parameters (expected a JSON object)")
    return _change(
        gtp,
        {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        },
    )


def _lz_setoption(gtp: GtpSession, arguments: Arguments) -> str:
    """Set an option in Leela Zero's notation (`name Visits value 100`), or list the options."""
    if not arguments:
        lines = (f"option name {name} type {each.declaration}" for name, each in LZ_OPTIONS.items())
        return "\n".join(("", *lines))
    match = _LZ_SETTING.fullmatch(" ".join(arguments.rest()))
    if match is None:
        raise GtpError(f"{SYNTAX_ERROR} (expected name NAME value VALUE)")
    given, text = match.groups()
    name = next((name for name in LZ_OPTIONS if name.lower() == given.lower()), None)
    if name is None:
        raise GtpError(f"unknown option: {given} (expected one of: {', '.join(LZ_OPTIONS)})")
    try:
        parameters = LZ_OPTIONS[name].parameters(text)
    except ValueError:
        expected = LZ_OPTIONS[name].declaration
        raise GtpError(f"{name}: invalid value {text} (expected {expected})") from None
    return _change(gtp, parameters)


def _change(gtp: GtpSession, values: Mapping[str, str]) -> str:
    """Change parameters, or raise `GtpError` and change none of them if one is invalid."""
    settings = gtp.settings
    for name, text in values.items():
        parameter = _find_parameter(gtp, name)
        try:
            settings = parameter.with_text(settings, text)
        except ValueError:
            raise GtpError(
                f"{name}: invalid value {text} (expected {parameter.expected})"
            ) from None
        if parameter.limited_by:
            maximum: int = getattr(gtp.permissions, parameter.limited_by)
            if int(parameter.get_text(settings)) > maximum:
                raise GtpError(f"{name}: {text} is limited to {maximum} on this server")
    try:
        gtp.change_settings(settings)
    except (ValueError, EvaluationError) as error:
        shown = ", ".join(f"{name} {text}" for name, text in values.items())
        raise GtpError(f"{shown}: {error}") from None
    return ""


COMMANDS = {
    "kata-list-params": Command(_list_params),
    "kata-get-param": Command(_get_param),
    "kata-get-params": Command(_get_params),
    "kata-set-param": Command(_set_param),
    "kata-set-params": Command(_set_params),
    "lz-setoption": Command(_lz_setoption, go_only=True),
}
