"""The requirements of an installed package, and whether they are met."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from itertools import zip_longest

# Set by the Dockerfile: the extras of the container image. Users set the other one for its health
# check, to the address of /health.
IMAGE_VARIABLE = "KEMPELEN_IMAGE_EXTRAS"
IMAGE_VARIABLES = (IMAGE_VARIABLE, "KEMPELEN_HEALTH_URL")

_PACKAGE = "kempelen"
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
    """A required package, its allowed versions, and its installed version or None."""

    name: str
    versions: str
    installed: str | None

    @property
    def is_met(self) -> bool:
        return self.installed is not None and satisfies(self.installed, self.versions)

    def __str__(self) -> str:
        return f"{self.name}{self.versions}"


def package_requirements() -> dict[str, list[Requirement]]:
    """Return the requirements of Kempelen for each extra. The key "" is for no extra.

    Raise PackageNotFoundError if Kempelen is not installed.
    """
    found: dict[str, list[Requirement]] = {"": []}
    found |= {extra: [] for extra in metadata(_PACKAGE).get_all("Provides-Extra") or ()}
    included: list[tuple[str, str]] = []  # pairs: an extra, and another extra that it includes
    for text in requires(_PACKAGE) or ():
        match = _REQUIREMENT.match(text)
        if match is None:
            continue
        name, extras, versions, marker = match.groups(default="")
        where = _EXTRA.search(marker)
        extra = where[1] if where else ""
        if name == _PACKAGE:
            included += [(extra, other.strip()) for other in extras.split(",")]
        else:
            found[extra].append(Requirement(name, versions.strip(), installed_version(name)))
    for extra, other in included:
        found[extra] += found.get(other, [])
    return found


def install_command(extra: str) -> str:
    """Return how to install the missing packages of one of Kempelen's extras.

    This is a pip command, or in a container image, which has no pip, how to build another image.
    """
    if IMAGE_VARIABLE in os.environ:
        extras = dict.fromkeys([*os.environ[IMAGE_VARIABLE].split(","), extra])
        return f"docker build --build-arg EXTRAS={','.join(filter(None, extras))} ."
    try:
        needed = package_requirements().get(extra, [])
    except PackageNotFoundError:  # run from the sources, without an installation
        needed = []
    names = [str(each) for each in needed if not each.is_met] or [f".[{extra}]"]
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return " ".join([python, "-m pip install", *(f'"{name}"' for name in names)])


def extra_help(extra: str) -> str:
    """Return a line for the help of a command that needs an extra, with how to install it."""
    try:
        is_installed = all(each.is_met for each in package_requirements().get(extra, ()))
    except PackageNotFoundError:
        is_installed = False
    return f"requires the extra {extra} " + (
        "(installed)" if is_installed else f"(install it with: {install_command(extra)})"
    )


def reinstall_remedy(remedy: str) -> str:
    """Return `remedy`, or the one for a container image, whose packages cannot be replaced."""
    return "build the image again" if IMAGE_VARIABLE in os.environ else remedy


def missing_packages(what: str, extra: str) -> str:
    """Return an error message for the feature `what`, with a command that installs `extra`."""
    return f"missing packages for {what}: {install_command(extra)}"


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def satisfies(number: str, versions: str) -> bool:
    """Return whether a version matches a specifier such as `>=1.2,<2`. Ignore suffixes like rc1."""
    return all(
        _COMPARE[sign](*_pad_to_equal_length(_release_numbers(number), _release_numbers(bound)))
        for sign, bound in _CLAUSE.findall(versions)
    )


def _release_numbers(number: str) -> list[int]:
    digits = re.match(r"\d+(?:\.\d+)*", number)
    return [int(part) for part in digits[0].split(".")] if digits else []


def _pad_to_equal_length(one: list[int], other: list[int]) -> tuple[list[int], list[int]]:
    pairs = list(zip_longest(one, other, fillvalue=0))
    return [a for a, _ in pairs], [b for _, b in pairs]
