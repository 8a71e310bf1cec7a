"""The reply to `protover`, which contains the engine's features and options.

A front end waits two seconds for `done=1`, or longer after `done=0`, which therefore comes first.
`done=1` is sent when the engine is ready to play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.chess.engine.backend import ChessBackend
from agent.games.variants import VARIANTS
from protocols.uci.engine_options import COMMON_OPTIONS
from protocols.uci.options import Option

# Commands that the front end should send (1), and commands that the engine does not need (0).
FEATURES = (
    "ping=1 setboard=1 playother=1 san=0 usermove=1 time=1 draw=1 sigint=0 sigterm=0 reuse=1",
    "analyze=1 colors=0 ics=0 pause=1 nps=0 debug=1 memory=1 smp=1 exclude=1 setscore=0 name=1",
)
DONE = "feature done=1"
# The protocol's names of standard chess and Chess960, and its other names of variants.
NORMAL, FISCHERANDOM = "normal", "fischerandom"
_NAMES = {"antichess": "giveaway"}
VARIANT_NAMES = (NORMAL, FISCHERANDOM, *(_NAMES.get(name, name) for name in VARIANTS[1:]))
# Options that the protocol sets by separate commands: `memory` and `cores`.
HASH, THREADS = "Hash", "Threads"
OPTIONS: tuple[Option, ...] = tuple(
    option for option in COMMON_OPTIONS if option.name not in (HASH, THREADS)
)
# The tablebase formats of `egtpath`, and how to open each.
TABLEBASES = {"syzygy": ChessBackend.use_syzygy, "gaviota": ChessBackend.use_gaviota}
# String options for which front ends show a file dialog.
_PATH_OPTION_TYPES = {
    "BookFile": "file",
    "HabitsFile": "file",
    "Debug Log File": "file",
    "ExperienceFile": "file",
    "SyzygyPath": "path",
    "GaviotaPath": "path",
}


def feature_lines(
    name: str, options: Iterable[Option], tables: Iterable[str] = TABLEBASES
) -> Iterator[str]:
    """Generate the reply to `protover` up to DONE. The `tables` are supported tablebase formats."""
    yield "feature done=0"
    for features in FEATURES:
        yield f"feature {features}"
    yield f'feature myname="{name}" variants="{",".join(VARIANT_NAMES)}" egt="{",".join(tables)}"'
    for option in options:
        if not option.forbidden:
            yield f'feature option="{option_declaration(option)}"'


def option_declaration(option: Option) -> str:
    """Return the declaration of an option, for example `MultiPV -spin 1 1 256`."""
    type_ = option.type
    if type_ == "string":
        type_ = _PATH_OPTION_TYPES.get(option.name, "string")
    words = f"{option.name} -{type_}"
    if option.type == "spin":
        return f"{words} {option.default} {option.min} {option.max}"
    if option.type == "check":
        return f"{words} {int(bool(option.default))}"
    if option.type == "combo":
        choices = (
            f"*{choice}" if choice == option.default else choice for choice in option.choices
        )
        return f"{words} {' /// '.join(choices)}"
    return words if option.type == "button" else f"{words} {option.default or ''}"


def to_uci_value(option: Option, value: str | None) -> str | None:
    """Convert a value from the `option` command to the notation that `Option` parses."""
    if option.type == "check":
        return {"1": "true", "0": "false"}.get(value or "", value)
    return value
