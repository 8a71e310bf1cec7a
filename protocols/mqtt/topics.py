import re
from importlib.resources import files

PREFIX = "kempelen/v1"
# A topic without publishers or subscribers.
UNUSED = f"{PREFIX}/nothing"
NAME_RULE = "a bot's name must be 1 to 100 characters without / + #"


def tournament(name: str, *rest: str) -> str:
    """Return a tournament's topic for parts such as `standings` or `games/PAIR.GAME/moves`."""
    return "/".join((PREFIX, "tournaments", name, *rest))


def is_name(name: str) -> bool:
    """Return whether a text is a valid bot name."""
    return re.fullmatch(r"[^/+#\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,100}", name) is not None


def bot(name: str, *rest: str) -> str:
    """Return a topic of a bot, such as `status` (retained) or `requests`."""
    return "/".join((PREFIX, "bots", name, *rest))


def replies(client: str) -> str:
    """Return the topic on which a client receives replies."""
    return "/".join((PREFIX, "replies", client))


def schema_text() -> str:
    """Return the JSON Schema of all payloads."""
    return (files("protocols.mqtt") / "schema.json").read_text("utf-8")
