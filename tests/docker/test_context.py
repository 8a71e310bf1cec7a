"""What the Dockerfile copies is what .dockerignore lets through, and no more."""

import shlex
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copied():
    """The names that the Dockerfile copies from the clone."""
    for line in (ROOT / "Dockerfile").read_text().replace("\\\n", "").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] in (["COPY"], ["ADD"]) and not any(w.startswith("--from") for w in words):
            yield from (word for word in words[1:-1] if not word.startswith("--"))


def test_dockerignore_allows_exactly_copied_files():
    patterns = (ROOT / ".dockerignore").read_text().split()
    assert patterns[0] == "*"
    let_through = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    assert sorted(copied()) == sorted(let_through)
    assert all((ROOT / name).exists() for name in let_through)
    assert "**/__pycache__" in patterns[patterns.index(f"!{let_through[-1]}") :]


def test_dockerfile_copies_whole_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    files = ["pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]]
    assert sorted(copied()) == sorted(packages + files)
