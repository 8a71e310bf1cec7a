"""Permissions of a session, which are restricted for network clients.

The flag `requires_trust` marks an option or a command that names a file, runs code, affects other
sessions or uses many resources. An untrusted client may set such an option only to a safe built-in
value or to a preset of the administrator.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Larger than the memory in MB, or the number of threads, of any machine.
UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True)
class Permissions:
    """The permissions of one session. The defaults are those of an untrusted client."""

    trusted: bool = False  # unrestricted
    # For each option, the values that untrusted clients may set, by name.
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    megabytes: int = 16  # maximum for the session's searches
    threads: int = 1

    def presets_for(self, option: str) -> Mapping[str, str]:
        """Return the preset values for an option by preset name."""
        wanted = option.lower()
        return next((names for key, names in self.presets.items() if key.lower() == wanted), {})

    def redact(self, text: str) -> str:
        """Replace preset values, and the paths in them, with the preset names.

        Return `text` itself if it contains none, so that a `Message` can still be translated.
        """
        values = {
            spelling: name
            for names in self.presets.values()
            for name, value in names.items()
            for spelling in _spellings(value)
        }
        for spelling in sorted(values, key=len, reverse=True):
            if spelling and spelling in text:
                text = text.replace(spelling, values[spelling])
        return text


def _spellings(value: str) -> Iterator[str]:
    yield value
    for part in dict.fromkeys([*_PART.findall(value), *value.split(":")]):
        if "." in part or "/" in part or "\\" in part:
            yield part
            yield os.path.expanduser(part)
            yield os.path.realpath(os.path.expanduser(part))


# Split at colons, except the colon of a drive letter.
_PART = re.compile(r"(?:(?<![^:])[A-Za-z]:(?=[\\/]))?[^:]+")

# Permissions of the user who started the program.
LOCAL = Permissions(trusted=True, megabytes=UNBOUNDED, threads=UNBOUNDED)


def permission_denied_message(name: str) -> str:
    return f"{name}: not available on this server"
