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
PAIR_SCRIPT = "pair.js"
# Values of --form, and the names of the forms.
FORMS = {"negamax": pseudocode.NEGAMAX_FORM, "max-min": pseudocode.MAX_MIN_FORM}


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the page to FILE (suffix: .html); with two algorithms A,B side by side",
    )
    output.add_argument(
        "--text", action="store_true",
        help="print the steps: one by one in an interactive terminal, otherwise all at once",
    )  # fmt: skip
    parser.add_argument(
        "--form", choices=tuple(FORMS), help="form of the pseudo-code that is shown first"
    )
    limit_arguments.configure(parser)


def run(arguments: Namespace) -> int:
    """Write the page or print the steps. Two algorithms, A,B, are shown side by side."""
    translate = language.translator(arguments.lang)
    path = arguments.output
    if path is not None:
        html_page.check_path(path)
    names = arguments.algorithm.split(",")
    if len(names) > 2 or (len(names) == 2 and path is None):
        raise ValueError("--algorithm: expected one algorithm, or two (A,B) with -o FILE.html")
    with working(translate("searching")):
        recordings = [record_search.record_from(arguments, name) for name in names]
    if arguments.form is not None:
        recordings = [recording.with_form(FORMS[arguments.form]) for recording in recordings]
    if path is None:
        (step_through if sys.stdin.isatty() and sys.stdout.isatty() else print_all)(
            recordings[0], arguments.lang
        )
        return 0
    if len(recordings) == 2:
        page = render_pair(recordings[0], recordings[1], arguments.lang)
    else:
        page = render_page(recordings[0], arguments.lang)
    replace_atomically(path, page.encode())
    print(path)
    return 0


def render_pair(first: Recording, second: Recording, language: str) -> str:
    """Return an HTML page that replays two recordings side by side."""
    return html_page.build_page(
        f"{first.algorithm}, {second.algorithm}: {first.game}",
        styles=STYLES,
        scripts=(*SCRIPTS, PAIR_SCRIPT),
        data={"pair": [page_data(recording, language) for recording in (first, second)]},
        language=language,
    )


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
    listing, other_listing = (
        {name: [pseudocode.translate_line(line, name) for line in lines] for name in LANGUAGES}
        for lines in (data.pop("listing"), data.pop("otherListing"))
    )
    return {
        "language": language,
        "recording": data,
        "listing": listing,
        "otherListing": other_listing,
        "texts": texts,
    }
