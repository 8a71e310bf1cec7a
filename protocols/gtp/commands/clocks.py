"""Time commands from GTP, KGS and KataGo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.gtp.clock import TIME_SYSTEMS, from_time_settings, read_time_system
from protocols.gtp.command import Command
from protocols.gtp.messages import Arguments

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession


def _time_settings(gtp: GtpSession, arguments: Arguments) -> str:
    system = from_time_settings(arguments.seconds(), arguments.seconds(), arguments.integer())
    arguments.expect_end()
    gtp.start_clocks(system)
    return ""


def _kgs_time_settings(gtp: GtpSession, arguments: Arguments) -> str:
    system = read_time_system(arguments)
    arguments.expect_end()
    gtp.start_clocks(system)
    return ""


def _kata_list_time_settings(gtp: GtpSession, _: Arguments) -> str:
    return " ".join(TIME_SYSTEMS)


def _time_left(gtp: GtpSession, arguments: Arguments) -> str:
    player, seconds, count = arguments.player(), arguments.real(), arguments.integer()
    arguments.expect_end()
    gtp.set_remaining_time(player, max(seconds, 0.0), count)
    return ""


COMMANDS = {
    "time_settings": Command(_time_settings),
    "time_left": Command(_time_left),
    "kgs-time_settings": Command(_kgs_time_settings),
    "kata-time_settings": Command(_kgs_time_settings),
    "kata-list_time_settings": Command(_kata_list_time_settings),
}
