"""The README's picture shows the commands of its script, and is small and self-contained."""

import re
import runpy
import shlex
from argparse import ArgumentParser
from importlib import import_module
from xml.etree import ElementTree

from tests.pages import README, ROOT

PICTURE = ROOT / "docs" / "kempelen.svg"
MOST_BYTES = 150_000
DRAW = runpy.run_path(str(ROOT / "scripts" / "draw-picture"))


def shown() -> list[str]:
    """Return the lines of the picture, from the top."""
    lines: dict[float, str] = {}
    for element in ElementTree.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text"):
        if element.get("clip-path"):
            height = float(element.attrib["y"])
            lines[height] = lines.get(height, "") + "".join(element.itertext())
    return [lines[height].replace("\xa0", " ").rstrip() for height in sorted(lines)]


def test_readme_shows_picture() -> None:
    assert f"]({PICTURE.relative_to(ROOT)})" in README.text


def test_picture_is_small_and_self_contained() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}


def test_picture_shows_commands_of_its_script() -> None:
    text = "\n".join(shown())
    for command in DRAW["COMMANDS"]:
        assert f"$ {command}\n" in text
    assert "bestmove " in text


def test_picture_commands_are_valid() -> None:
    for command in DRAW["COMMANDS"]:
        name, *arguments = shlex.split(command.replace("\\\n", ""))[1:]
        parser = ArgumentParser()
        import_module(f"kempelen.commands.{name}").configure(parser)
        parser.parse_args(arguments)
