"""What a session may ask for: everything on this machine's pipes, what is harmless over a network.

An option or command that names a file, runs code, changes what other sessions use or burdens the
machine has the mark `trusted` in its table. Strangers are refused it, but for the values that
whoever runs the server offers by a name, and for those that are the program's own.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# More than any machine has: of megabytes, and of threads.
UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True)
class Permissions:
    """What one session may do; a stranger's, as they stand here.

    trusted: it may do everything. offers: values that strangers may choose by a name, by option:
    {"Evaluation": {"mine": "/home/me/mine.py:evaluate"}}. megabytes, threads: the most that a
    session may search with.
    """

    trusted: bool = False
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    megabytes: int = 16
    threads: int = 1

    def presets_for(self, option: str) -> Mapping[str, str]:
        """Return the names that are offered for an option, and the values that they stand for."""
        wanted = option.lower()
        return next((names for key, names in self.presets.items() if key.lower() == wanted), {})

    def redact(self, text: str) -> str:
        """Put the names that are offered in place of the values that they stand for.

        In place of the paths in them too, as they are written and as they are found.
        """
        values = {
            spelling: name
            for names in self.presets.values()
            for name, value in names.items()
            for spelling in _spellings(value)
        }
        for spelling in sorted(values, key=len, reverse=True):
            text = text.replace(spelling, values[spelling]) if spelling else text
        return text


def _spellings(value: str) -> Iterator[str]:
    yield value
    for part in dict.fromkeys([*_PART.findall(value), *value.split(":")]):
        if "." in part or "/" in part or "\\" in part:
            yield part
            yield os.path.expanduser(part)
            yield os.path.realpath(os.path.expanduser(part))


# What stands between colons, but that after the letter of a drive.
_PART = re.compile(r"(?:(?<![^:])[A-Za-z]:(?=[\\/]))?[^:]+")

# Of whoever started the program.
LOCAL = Permissions(trusted=True, megabytes=UNBOUNDED, threads=UNBOUNDED)


def permission_denied_message(what: str) -> str:
    """Return what is said to strangers who ask for something that only the trusted may have."""
    return f"{what} is not offered here"
