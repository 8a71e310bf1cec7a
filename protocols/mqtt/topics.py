"""The topics: where a tournament's state, its games and the bots are found."""

import re
from importlib.resources import files

PREFIX = "kempelen/v1"
# Where nobody publishes, and nobody listens.
UNUSED = f"{PREFIX}/nothing"
NAME_RULE = "a bot's name is 1 to 100 characters without / + #"


def tournament(name: str, *rest: str) -> str:
    """Return the topic of a tournament's part: `runner`, `status`, `standings`, `boards/1`...

    `runner`, `status`, `standings` and `boards/N` are retained; `games/PAIR.GAME/moves` and
    `games/PAIR.GAME/result` are sent at least once; `games/PAIR.GAME/info` at most once.
    """
    return "/".join((PREFIX, "tournaments", name, *rest))


def is_name(name: str) -> bool:
    """Return whether a bot can be named so."""
    return re.fullmatch(r"[^/+#\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,100}", name) is not None


def bot(name: str, *rest: str) -> str:
    """Return the topic of a bot's part: `status` (retained) or `requests`."""
    return "/".join((PREFIX, "bots", name, *rest))


def replies(client: str) -> str:
    """Return the topic on which a client receives the answers to its requests."""
    return "/".join((PREFIX, "replies", client))


def schema_text() -> str:
    """Return the JSON Schema of all payloads; each kind is a definition in it."""
    return (files("protocols.mqtt") / "schema.json").read_text("utf-8")
