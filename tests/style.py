"""Check the wording of the product: print each line with a phrase that the style rules forbid.

    python -m tests.style

Searched are the product's code, its pages in English, and the documentation.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = ("agent", "protocols", "openings", "kempelen", "docs", "benchmarks", "scripts")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
SUFFIXES = {".py", ".md", ".html", ".js", ".json", ".yaml", ""}
# Third-party code, and texts in Spanish, where "he" is a verb.
EXCLUDED = re.compile(r"/vendor/|\.es\.json$|(^|/)spanish\w*\.py$")

RULES = {
    "'whoever': name the subject": r"\bwhoever\b",
    "'anew': write 'again'": r"\banew\b",
    "'so many' as a number: write 'count' or 'at most N'": r"\bso (?:many|much|long)\b",
    "'he' of a program: write 'it'": r"(?-i:\b[Hh](?:e|is|im)\b)",
    "'none' as a predicate: write 'invalid' or 'missing'": r"(?-i:\b(?:that is|is no|are) none\b)",
    # A reason follows after a colon or a conjunction, or stands in brackets; a condition
    # ("if the file cannot be read") needs none.
    "'cannot be' without a reason": (
        r"(?:^|(?<=[.;:\"']))(?:(?!\b(?:if|when|where|that|which|what)\b)[^.;:\"'\n])*"
        r"\bcannot be\b(?![^.;]{0,120}(?::|\(|\b(?:because|since|while|until|without|unless|if)\b))"
    ),
}


class Offence(NamedTuple):
    """A line that breaks a rule."""

    path: str
    line: int
    rule: str
    text: str


def checked_files() -> Iterator[Path]:
    """Generate the files that are checked, those under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *FOLDERS, *PAGES],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in SUFFIXES and not EXCLUDED.search(name) and path.is_file():
            yield path


def offences_in(text: str, path: str = "") -> Iterator[Offence]:
    """Generate the offences of a text. A phrase may go on in the next line."""
    lines = text.splitlines()
    for rule, pattern in RULES.items():
        for match in re.finditer(
            pattern.replace(" ", r"\s+(?:#\s*)?"), text, re.IGNORECASE | re.MULTILINE
        ):
            number = text.count("\n", 0, match.end()) + 1
            yield Offence(path, number, rule, lines[number - 1].strip())


def offences() -> list[Offence]:
    """Return the offences of all checked files, by file and line."""
    return sorted(
        offence
        for path in checked_files()
        for offence in offences_in(
            path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        )
    )


def main() -> int:
    """Print the offences; the exit status is 1 if there are any."""
    found = offences()
    for offence in found:
        print(f"{offence.path}:{offence.line}: {offence.rule}: {offence.text}")
    print(f"{len(found)} lines to rewrite", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
