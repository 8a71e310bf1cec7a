"""What an installed package needs, by its metadata, and whether that is there."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from itertools import zip_longest

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[([^\]]*)\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_CLAUSE = re.compile(r"(>=|<=|==|!=|>|<)\s*([\w.*+!-]+)")
_COMPARE: dict[str, Callable[[list[int], list[int]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that is needed: which versions of it, and which one is there, if any."""

    name: str
    versions: str
    installed: str | None

    @property
    def is_met(self) -> bool:
        """Whether a version is there that will do."""
        return self.installed is not None and satisfies(self.installed, self.versions)

    def __str__(self) -> str:
        return f"{self.name}{self.versions}"


def package_requirements(package: str) -> dict[str, list[Requirement]]:
    """Return what a package needs always, under "", and what each of its extras needs.

    Raises PackageNotFoundError if it is not installed.
    """
    found: dict[str, list[Requirement]] = {"": []}
    found |= {extra: [] for extra in metadata(package).get_all("Provides-Extra") or ()}
    lent: list[tuple[str, str]] = []  # extras that have what others have
    for text in requires(package) or ():
        match = _REQUIREMENT.match(text)
        if match is None:
            continue
        name, extras, versions, marker = match.groups(default="")
        where = _EXTRA.search(marker)
        extra = where[1] if where else ""
        if name == package:
            lent += [(extra, other.strip()) for other in extras.split(",")]
        else:
            found[extra].append(Requirement(name, versions.strip(), installed_version(name)))
    for extra, other in lent:
        found[extra] += found.get(other, [])
    return found


def installed_version(package: str) -> str | None:
    """Return the version of a package that is there, None if it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def satisfies(number: str, versions: str) -> bool:
    """Tell whether a version is one of those that `>=1.2,<2` means; only releases are compared."""
    return all(
        _COMPARE[sign](*_pad_to_equal_length(_release_numbers(number), _release_numbers(bound)))
        for sign, bound in _CLAUSE.findall(versions)
    )


def _release_numbers(number: str) -> list[int]:
    digits = re.match(r"\d+(?:\.\d+)*", number)
    return [int(part) for part in digits[0].split(".")] if digits else []


def _pad_to_equal_length(one: list[int], other: list[int]) -> tuple[list[int], list[int]]:
    """Return both at the same length: 2 is 2.0."""
    pairs = list(zip_longest(one, other, fillvalue=0))
    return [a for a, _ in pairs], [b for _, b in pairs]
