"""What every engine tells of itself, and what nothing follows from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.gtp.command import Command
from protocols.gtp.values import Arguments

if TYPE_CHECKING:
    from protocols.gtp.play import GtpPlay


def _protocol_version(gtp: GtpPlay, _: Arguments) -> str:
    return "2"


def _name(gtp: GtpPlay, _: Arguments) -> str:
    return gtp.name


def _version(gtp: GtpPlay, _: Arguments) -> str:
    return gtp.version


def _known_command(gtp: GtpPlay, arguments: Arguments) -> str:
    return "true" if arguments.word() in gtp.known() else "false"


def _list_commands(gtp: GtpPlay, _: Arguments) -> str:
    return "\n".join(gtp.known())


def _opponent(gtp: GtpPlay, arguments: Arguments) -> str:
    """Meet an opponent, whose name may have several words; none is a stranger."""
    gtp.opponent.meet(" ".join(arguments.rest()))
    return ""


def _nothing(gtp: GtpPlay, _: Arguments) -> str:
    """Do nothing more: that a line came is what matters."""
    return ""


COMMANDS = {
    "protocol_version": Command(_protocol_version),
    "name": Command(_name),
    "version": Command(_version),
    "known_command": Command(_known_command),
    "list_commands": Command(_list_commands),
    "quit": Command(_nothing),
    "stop": Command(_nothing),
    "kgs-game_over": Command(_nothing),
    "kempelen-opponent": Command(_opponent),
    "gogui-interrupt": Command(_nothing),
}
