"""The rules of Go, by the commands of KataGo and of KGS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.gtp.command import Command
from protocols.gtp.rules import GoRules, read_rules, with_field
from protocols.gtp.values import SYNTAX_ERROR, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.play import GtpPlay


def _get_rules(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    return str(gtp.go_board.rules)


def _set_rules(gtp: GtpPlay, arguments: Arguments) -> str:
    if not arguments:
        raise GtpError(SYNTAX_ERROR)
    return _keep(gtp, read_rules(" ".join(arguments.rest())))


def _set_rule(gtp: GtpPlay, arguments: Arguments) -> str:
    name, value = arguments.word(), arguments.word()
    arguments.end()
    return _keep(gtp, with_field(gtp.go_board.rules, name, value))


def _keep(gtp: GtpPlay, rules: GoRules) -> str:
    gtp.go_board.set_rules(rules)
    gtp.turned_back()
    return ""


COMMANDS = {
    "kata-get-rules": Command(_get_rules, go=True),
    "kata-set-rules": Command(_set_rules, go=True),
    "kata-set-rule": Command(_set_rule, go=True),
    "kgs-rules": Command(_set_rules, go=True),
}
