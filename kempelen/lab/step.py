"""`kempelen lab step`: show the steps of an algorithm on an HTML page or in the terminal."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from agent.io.files import replace_atomically
from kempelen.console.translation import LANGUAGES
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
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the page to FILE (suffix: .html)"
    )
    output.add_argument(
        "--text", action="store_true",
        help="print the steps: one by one in an interactive terminal, otherwise all at once",
    )  # fmt: skip
    limit_arguments.configure(parser)


def run(arguments: Namespace) -> int:
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
    """Return an HTML page that replays a recording.

    If `is_served` is true, `kempelen web` serves the page, and visitors can enter their own trees.
    """
    return html_page.build_page(
        f"{recording.algorithm}: {recording.game}",
        styles=STYLES,
        scripts=SCRIPTS,
        data=page_data(recording, language) | {"served": is_served},
        language=language,
    )


def page_data(recording: Recording, language: str) -> dict[str, Any]:
    """Return the JSON data of the page, with the recording and all texts in both languages."""
    data = recording.as_json()
    texts = step_sentences.translations()
    lines = data.pop("listing")
    listing = {
        name: [pseudocode.translate_line(line, name) for line in lines] for name in LANGUAGES
    }
    return {"language": language, "recording": data, "listing": listing, "texts": texts}
