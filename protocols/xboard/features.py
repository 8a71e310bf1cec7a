"""What the engine tells of itself in answer to `protover`: features, and options among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.chess.engine import Engine
from protocols.uci.options import Option
from protocols.uci.play import SHARED, ChessPlay

# What the front end is asked to send, and what it can do without.
FEATURES = (
    "ping=1 setboard=1 playother=1 san=0 usermove=1 time=1 draw=1 sigint=0 sigterm=0 reuse=1",
    "analyze=1 colors=0 ics=0 pause=1 nps=0 debug=1 memory=1 smp=1 exclude=1 setscore=0",
)
# The names of the protocol: normal chess, and Chess960.
VARIANTS = NORMAL, FISCHERANDOM = "normal", "fischerandom"
# The options of which the protocol has commands of its own: `memory` and `cores`.
HASH, THREADS = "Hash", "Threads"
OPTIONS: tuple[Option[ChessPlay], ...] = tuple(
    option for option in SHARED if option.name not in (HASH, THREADS)
)
# The kinds of endgame tables that `egtpath` may name, and what uses them.
TABLES = {"syzygy": Engine.use_syzygy, "gaviota": Engine.use_gaviota}
# Texts that name something, which a front end lets its user choose.
_NAMING = {
    "BookFile": "file",
    "Debug Log File": "file",
    "ExperienceFile": "file",
    "SyzygyPath": "path",
    "GaviotaPath": "path",
}


def feature_lines(
    name: str, options: Iterable[Option[ChessPlay]], tables: Iterable[str] = TABLES
) -> Iterator[str]:
    """Generate the answer to `protover`. tables: the kinds that the front end may name."""
    for features in FEATURES:
        yield f"feature {features}"
    yield f'feature myname="{name}" variants="{",".join(VARIANTS)}" egt="{",".join(tables)}"'
    for option in options:
        if not option.refused:
            yield f'feature option="{declaration(option)}"'
    yield "feature done=1"


def declaration(option: Option[ChessPlay]) -> str:
    """Return what declares an option: its name, its kind, its default, and what it takes."""
    kind = _NAMING.get(option.name, "string") if option.kind == "string" else option.kind
    words = f"{option.name} -{kind}"
    if option.kind == "spin":
        return f"{words} {option.default} {option.least} {option.most}"
    if option.kind == "check":
        return f"{words} {int(bool(option.default))}"
    if option.kind == "combo":
        choices = (f"*{each}" if each == option.default else each for each in option.choices)
        return f"{words} {' /// '.join(choices)}"
    return words if option.kind == "button" else f"{words} {option.default or ''}"


def spelled(option: Option[ChessPlay], value: str | None) -> str | None:
    """Return a value of xboard's `option` in UCI's words, which Option reads."""
    if option.kind == "check":
        return {"1": "true", "0": "false"}.get(value or "", value)
    return value
