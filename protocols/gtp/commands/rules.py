"""Commands from KataGo and KGS for reading and setting Go rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.gtp.command import Command
from protocols.gtp.messages import SYNTAX_ERROR, Arguments, GtpError
from protocols.gtp.rules import read_rules, with_field

if TYPE_CHECKING:
    from agent.games.go_rules import Ruleset
    from protocols.gtp.session import GtpSession


def _get_rules(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return str(gtp.go_board.rules)


def _set_rules(gtp: GtpSession, arguments: Arguments) -> str:
    if not arguments:
        raise GtpError(SYNTAX_ERROR)
    return _set_go_rules(gtp, read_rules(" ".join(arguments.rest())))


def _kgs_rules(gtp: GtpSession, arguments: Arguments) -> str:
    """Set the rules by KGS's name. Chinese rules have positional superko there, as in KataGo."""
    words = arguments.rest()
    if [word.lower() for word in words] == ["chinese"]:
        words = ["chinese-kgs"]
    return _set_rules(gtp, Arguments(words))


def _set_rule(gtp: GtpSession, arguments: Arguments) -> str:
    name, value = arguments.word(), arguments.word()
    arguments.expect_end()
    return _set_go_rules(gtp, with_field(gtp.go_board.rules, name, value))


def _set_go_rules(gtp: GtpSession, rules: Ruleset) -> str:
    gtp.go_board.set_rules(rules)
    gtp.on_position_changed()
    return ""


COMMANDS = {
    "kata-get-rules": Command(_get_rules, go_only=True),
    "kata-set-rules": Command(_set_rules, go_only=True),
    "kata-set-rule": Command(_set_rule, go_only=True),
    "kgs-rules": Command(_kgs_rules, go_only=True),
}
