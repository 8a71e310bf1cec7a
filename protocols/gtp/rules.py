"""The Go rules of a session, in the notation of KataGo's 'GTP extensions'."""

from __future__ import annotations

from agent.games.go_rules import Ruleset
from protocols.gtp.messages import GtpError
from protocols.rulesets import RulesError, read_rules_text, with_fields


def read_rules(text: str) -> Ruleset:
    """Parse a ruleset's name or KataGo's JSON, or raise `GtpError` if the rules are unsupported."""
    try:
        rules = read_rules_text(text)
    except RulesError as error:
        raise GtpError(str(error)) from None
    if rules.komi is not None:
        raise GtpError("unknown rule: komi (use the command komi)")
    return rules


def with_field(rules: Ruleset, name: str, text: str) -> Ruleset:
    """Return a copy of the rules with one JSON field set from text, or raise `GtpError`."""
    switches = {"true": True, "false": False}
    try:
        return with_fields(rules, {name: switches.get(text.lower(), text)})
    except RulesError as error:
        raise GtpError(str(error)) from None
