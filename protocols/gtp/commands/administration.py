"""Administrative commands, and commands that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.gtp.command import Command
from protocols.gtp.messages import SYNTAX_ERROR, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession


def _protocol_version(gtp: GtpSession, _: Arguments) -> str:
    return "2"


def _name(gtp: GtpSession, _: Arguments) -> str:
    return gtp.name


def _version(gtp: GtpSession, _: Arguments) -> str:
    return gtp.version


def _known_command(gtp: GtpSession, arguments: Arguments) -> str:
    return "true" if arguments.word() in gtp.known_commands() else "false"


def _list_commands(gtp: GtpSession, _: Arguments) -> str:
    return "\n".join(gtp.known_commands())


def _opponent(gtp: GtpSession, arguments: Arguments) -> str:
    gtp.opponent.set_opponent(" ".join(arguments.rest()))
    return ""


def _kgs_chat(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the reply to a chat message, which KGS passes on to the sender."""
    kind, _ = arguments.word(), arguments.word()
    if kind not in ("game", "private"):
        raise GtpError(f"{SYNTAX_ERROR}: invalid kind of chat {kind} (expected game or private)")
    arguments.rest()
    return f"I am {gtp.name}, a program, and cannot chat."


def _ignore(gtp: GtpSession, _: Arguments) -> str:
    """Do nothing. Any input line has already stopped a running analysis."""
    return ""


COMMANDS = {
    "protocol_version": Command(_protocol_version),
    "name": Command(_name),
    "version": Command(_version),
    "known_command": Command(_known_command),
    "list_commands": Command(_list_commands),
    "quit": Command(_ignore),
    "stop": Command(_ignore),
    "kgs-game_over": Command(_ignore),
    "kgs-chat": Command(_kgs_chat),
    "kempelen-opponent": Command(_opponent),
    "gogui-interrupt": Command(_ignore),
}
