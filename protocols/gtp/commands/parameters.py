"""How a session thinks, by KataGo's commands: parameters that are read and set by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent.evaluation import EvaluationError
from protocols.gtp.command import Command
from protocols.gtp.go_board import GoBoard
from protocols.gtp.resignation import ResignRate
from protocols.gtp.values import ENDLESS, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.play import GtpPlay, Settings

MOST_THREADS, MOST_MEGABYTES, MOST_SECONDS = 1024, 1 << 20, 1e9


@dataclass(frozen=True, slots=True)
class SessionParameter:
    """One parameter. read: writes what is set; write: returns settings with what a text says.

    expected: what the text must be; `write` raises ValueError for another. go: of Go alone.
    share: what of a session's permissions bounds it, if anything.
    """

    read: Callable[[Settings], str]
    write: Callable[[Settings, str], Settings]
    expected: str
    go: bool = False
    share: Literal["", "megabytes", "threads"] = ""


def _whole(text: str, most: int) -> int:
    number = int(text)
    if not 1 <= number <= most:
        raise ValueError
    return number


def _real(text: str, above: float, below: float) -> float:
    number = float(text)
    if not above < number < below:
        raise ValueError
    return number


def _switch(text: str) -> bool:
    switches = {"true": True, "false": False}
    if text.lower() not in switches:
        raise ValueError
    return switches[text.lower()]


def _shown(value: bool) -> str:
    return "true" if value else "false"


def _most(text: str) -> int | None:
    """Read a limit, which may be none."""
    number = _whole(text, ENDLESS)
    return None if number == ENDLESS else number


def _set_playouts(settings: Settings, text: str) -> Settings:
    return replace(settings, means=replace(settings.means, playouts=_most(text)))


def _set_threads(settings: Settings, text: str) -> Settings:
    threads = _whole(text, MOST_THREADS)
    return replace(settings, means=replace(settings.means, threads=threads))


def _set_memory(settings: Settings, text: str) -> Settings:
    megabytes = _whole(text, MOST_MEGABYTES)
    return replace(settings, means=replace(settings.means, megabytes=megabytes))


def _set_threshold(settings: Settings, text: str) -> Settings:
    below = (_real(text, -1, 0) + 1) / 2
    return replace(settings, resign_rate=ResignRate(below, settings.resign_rate.moves))


def _set_turns(settings: Settings, text: str) -> Settings:
    return replace(settings, resign_rate=ResignRate(settings.resign_rate.below, _whole(text, 1000)))


_MOST = f"a whole number from 1, {ENDLESS} for no limit"
_PLAYOUTS = SessionParameter(
    lambda settings: str(settings.means.playouts or ENDLESS), _set_playouts, _MOST
)
# In KataGo's words; `maxNodes`, `maxDepth` and `memory` are ours, and there visits and playouts
# differ.
PARAMETERS = {
    "maxVisits": _PLAYOUTS,
    "maxPlayouts": _PLAYOUTS,
    "maxNodes": SessionParameter(
        lambda settings: str(settings.nodes or ENDLESS),
        lambda settings, text: replace(settings, nodes=_most(text)),
        _MOST,
    ),
    "maxDepth": SessionParameter(
        lambda settings: str(settings.depth or ENDLESS),
        lambda settings, text: replace(settings, depth=_most(text)),
        _MOST,
    ),
    "maxTime": SessionParameter(
        lambda settings: f"{settings.seconds:.10g}",
        lambda settings, text: replace(settings, seconds=_real(text, 0, MOST_SECONDS)),
        "seconds above 0",
    ),
    "numSearchThreads": SessionParameter(
        lambda settings: str(settings.means.threads),
        _set_threads,
        f"a whole number from 1 to {MOST_THREADS}",
        share="threads",
    ),
    "memory": SessionParameter(
        lambda settings: str(settings.means.megabytes),
        _set_memory,
        f"megabytes from 1 to {MOST_MEGABYTES}",
        share="megabytes",
    ),
    "ponderingEnabled": SessionParameter(
        lambda settings: _shown(settings.ponders),
        lambda settings, text: replace(settings, ponders=_switch(text)),
        "true or false",
    ),
    "analysisPVLen": SessionParameter(
        lambda settings: str(settings.longest_pv),
        lambda settings, text: replace(settings, longest_pv=_whole(text, 1000)),
        "a whole number from 1 to 1000",
    ),
    "allowResignation": SessionParameter(
        lambda settings: _shown(settings.resigns),
        lambda settings, text: replace(settings, resigns=_switch(text)),
        "true or false",
        go=True,
    ),
    "resignThreshold": SessionParameter(
        lambda settings: f"{2 * settings.resign_rate.below - 1:.10g}",
        _set_threshold,
        "a number between -1, a lost game, and 0",
        go=True,
    ),
    "resignConsecTurns": SessionParameter(
        lambda settings: str(settings.resign_rate.moves),
        _set_turns,
        "a whole number from 1 to 1000",
        go=True,
    ),
}


def _known(gtp: GtpPlay) -> list[str]:
    go = isinstance(gtp.board, GoBoard)
    return [name for name, parameter in PARAMETERS.items() if go or not parameter.go]


def _find(gtp: GtpPlay, name: str) -> SessionParameter:
    known = _known(gtp)
    if name not in known:
        raise GtpError(f"no parameter {name}; there are {', '.join(known)}")
    return PARAMETERS[name]


def _list_params(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    return " ".join(_known(gtp))


def _get_param(gtp: GtpPlay, arguments: Arguments) -> str:
    name = arguments.word()
    arguments.end()
    return _find(gtp, name).read(gtp.settings)


def _set_param(gtp: GtpPlay, arguments: Arguments) -> str:
    name, text = arguments.word(), arguments.word()
    arguments.end()
    parameter = _find(gtp, name)
    try:
        settings = parameter.write(gtp.settings, text)
    except ValueError:
        raise GtpError(f"{name}: expected {parameter.expected}, not {text}") from None
    if parameter.share:
        most: int = getattr(gtp.permissions, parameter.share)
        if int(parameter.read(settings)) > most:
            raise GtpError(f"{name} is at most {most} here")
    try:
        gtp.change(settings)
    except (ValueError, EvaluationError) as error:
        raise GtpError(f"{name} {text}: {error}") from None
    return ""


COMMANDS = {
    "kata-list-params": Command(_list_params),
    "kata-get-param": Command(_get_param),
    "kata-set-param": Command(_set_param),
}
