"""What the engine tells of itself in answer to `protover`: features, and options among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.chess.engine.backend import ChessBackend
from protocols.uci.chess_session import COMMON_OPTIONS, ChessSession
from protocols.uci.options import Option

# What the front end is asked to send, and what it can do without.
FEATURES = (
    "ping=1 setboard=1 playother=1 san=0 usermove=1 time=1 draw=1 sigint=0 sigterm=0 reuse=1",
    "analyze=1 colors=0 ics=0 pause=1 nps=0 debug=1 memory=1 smp=1 exclude=1 setscore=0 name=1",
)
# The names of the protocol: normal chess, and Chess960.
VARIANTS = NORMAL, FISCHERANDOM = "normal", "fischerandom"
# The options of which the protocol has commands of its own: `memory` and `cores`.
HASH, THREADS = "Hash", "Threads"
OPTIONS: tuple[Option[ChessSession], ...] = tuple(
    option for option in COMMON_OPTIONS if option.name not in (HASH, THREADS)
)
# The kinds of endgame tables that `egtpath` may name, and what uses them.
TABLEBASES = {"syzygy": ChessBackend.use_syzygy, "gaviota": ChessBackend.use_gaviota}
# Texts that name something, which a front end lets its user choose.
_PATH_OPTION_TYPES = {
    "BookFile": "file",
    "HabitsFile": "file",
    "Debug Log File": "file",
    "ExperienceFile": "file",
    "SyzygyPath": "path",
    "GaviotaPath": "path",
}


def feature_lines(
    name: str, options: Iterable[Option[ChessSession]], tables: Iterable[str] = TABLEBASES
) -> Iterator[str]:
    """Generate the answer to `protover`. tables: the kinds that the front end may name."""
    for features in FEATURES:
        yield f"feature {features}"
    yield f'feature myname="{name}" variants="{",".join(VARIANTS)}" egt="{",".join(tables)}"'
    for option in options:
        if not option.forbidden:
            yield f'feature option="{option_declaration(option)}"'
    yield "feature done=1"


def option_declaration(option: Option[ChessSession]) -> str:
    """Return what declares an option: its name, its kind, its default, and what it takes."""
    kind = _PATH_OPTION_TYPES.get(option.name, "string") if option.type == "string" else option.type
    words = f"{option.name} -{kind}"
    if option.type == "spin":
        return f"{words} {option.default} {option.min} {option.max}"
    if option.type == "check":
        return f"{words} {int(bool(option.default))}"
    if option.type == "combo":
        choices = (f"*{each}" if each == option.default else each for each in option.choices)
        return f"{words} {' /// '.join(choices)}"
    return words if option.type == "button" else f"{words} {option.default or ''}"


def to_uci_value(option: Option[ChessSession], value: str | None) -> str | None:
    """Return a value of xboard's `option` in UCI's words, which Option reads."""
    if option.type == "check":
        return {"1": "true", "0": "false"}.get(value or "", value)
    return value
