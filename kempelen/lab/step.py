"""`kempelen lab step`: an algorithm's steps, forward and back, on a page or in the terminal."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from agent.io.files import replace_atomically
from kempelen.lab import (
    algorithm_arguments,
    html_page,
    language,
    limit_arguments,
    problems,
    pseudocode,
    step_sentences,
)
from kempelen.lab.output import working
from kempelen.lab.recordings import record_search
from kempelen.lab.recordings.recording import Recording
from kempelen.lab.terminal_replay import print_all, step_through

STYLES = ("kempelen.css",)
SCRIPTS = (
    "language.js", "replay.js", "layout.js", "boards.js", "tree_view.js", "own_tree.js", "step.js",
)  # fmt: skip


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the page; its name ends in .html"
    )
    where.add_argument(
        "--text", action="store_true",
        help="in the terminal: step by step where keys can be read, else all steps",
    )  # fmt: skip
    limit_arguments.configure(parser)


def run(arguments: Namespace) -> int:
    """Record the search, and write the page or show the steps."""
    translate = language.translator(arguments.lang)
    path = arguments.output
    if path is not None:
        html_page.check_path(path)
    with working(translate("searching")):
        recording = record_search.record_from(arguments)
    if path is None:
        (step_through if sys.stdin.isatty() and sys.stdout.isatty() else print_all)(
            recording, arguments.lang
        )
        return 0
    replace_atomically(path, render_page(recording, arguments.lang).encode())
    print(path)
    return 0


def render_page(recording: Recording, language: str, *, is_served: bool = False) -> str:
    """Return a page that shows a recording.

    is_served: it is shown in the frame of a server's page, which searches the visitor's own trees.
    """
    return html_page.build_page(
        f"{recording.algorithm}: {recording.game}",
        styles=STYLES,
        scripts=SCRIPTS,
        data=page_data(recording, language) | {"served": is_served},
        language=language,
    )


def page_data(recording: Recording, language: str) -> dict[str, Any]:
    """Return what the page's scripts read: the recording, and all texts in both languages."""
    told = recording.as_json()
    texts = step_sentences.translations()
    listing = {"en": told.pop("listing"), "es": []}
    listing["es"] = [pseudocode.translate_line(line) for line in listing["en"]]
    return {"language": language, "recording": told, "listing": listing, "texts": texts}
