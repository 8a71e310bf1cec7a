"""KataGo's commands for reading and setting search parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent.evaluation import EvaluationError
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import NO_LIMIT, Arguments, GtpError
from protocols.gtp.resignation import ResignPolicy

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


def _set_param(gtp: GtpSession, arguments: Arguments) -> str:
    name, text = arguments.word(), arguments.word()
    arguments.expect_end()
    parameter = _find_parameter(gtp, name)
    try:
        settings = parameter.with_text(gtp.settings, text)
    except ValueError:
        raise GtpError(f"{name}: invalid value {text} (expected {parameter.expected})") from None
    if parameter.limited_by:
        maximum: int = getattr(gtp.permissions, parameter.limited_by)
        if int(parameter.get_text(settings)) > maximum:
            raise GtpError(f"{name}: {text} is limited to {maximum} on this server")
    try:
        gtp.change_settings(settings)
    except (ValueError, EvaluationError) as error:
        raise GtpError(f"{name} {text}: {error}") from None
    return ""


COMMANDS = {
    "kata-list-params": Command(_list_params),
    "kata-get-param": Command(_get_param),
    "kata-set-param": Command(_set_param),
}
