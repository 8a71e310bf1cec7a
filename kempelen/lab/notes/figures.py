"""`kempelen lab figures`: reproduce the tables and figures of the lecture notes on one page."""

from __future__ import annotations

import json
import tempfile
from argparse import ArgumentParser, Namespace
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.io.files import replace_atomically
from kempelen.console import pictures
from kempelen.console.terminal import with_progress
from kempelen.lab import html_page, language, tree_picture
from kempelen.lab.notes import reproductions
from kempelen.lab.notes.reproductions import NOTES, NoteFigure
from kempelen.lab.output import print_plain, table

# Labels of the page.
LABELS = {
    "title": "The lecture notes' tables and figures",
    "what": "what",
    "said": "the notes",
    "found": "reproduced",
    "untold": "not given in the text",
    "figure": "figure",
    "agree": "agree",
    "left_out": "Not reproducible",
    "why": "why",
    "contents": "Contents",
    "note": "note",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html",
        help="write a self-contained page to FILE.html",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Reproduce all figures. Return 1 if a number differs from the notes without an explanation."""
    output = arguments.output
    if output is not None:
        check_page(output)
    translate = language.translator(arguments.lang)
    labels = {name: translate(text) for name, text in LABELS.items()}
    making = reproductions.build_figures(translate)
    made = list(with_progress(making, len(reproductions.FIGURE_BUILDERS), translate("figures")))
    left_out = reproductions.omitted_figures(translate)
    if output is not None:
        data = _page_data(made, left_out, labels, translate)
        text = html_page.build_page(
            labels["title"],
            styles=["figures.css"],
            scripts=["figures.js"],
            data=data,
            language=arguments.lang,
        )
        replace_atomically(output, text.encode())
    if arguments.json:
        print(json.dumps(_as_json(made, left_out)))
    else:
        _print(made, left_out, labels)
        if output is not None:
            print(output)
    rows = [row for figure in made for row in figure.rows]
    return int(any(not row.agrees and not row.why for row in rows))


def check_page(path: Path) -> None:
    """Raise ValueError if the path is invalid or a drawing library is not installed."""
    html_page.check_path(path)
    pictures.check_picture(path.with_suffix(".svg"), libraries=tree_picture.LIBRARIES)


def _agreement_count(figure: NoteFigure) -> tuple[int, int]:
    given = [row for row in figure.rows if row.said is not None]
    return sum(row.agrees for row in given), len(given)


def _as_json(made: Sequence[NoteFigure], left_out: Sequence[tuple[str, str, str]]) -> Any:
    figures = [
        {
            "note": figure.note,
            "name": figure.name,
            "title": figure.title,
            "rows": [asdict(row) | {"agrees": row.agrees} for row in figure.rows],
        }
        for figure in made
    ]
    names = ("note", "figure", "why")
    agree, n_given = map(sum, zip(*map(_agreement_count, made), strict=True))
    missing = [dict(zip(names, each, strict=True)) for each in left_out]
    return {"figures": figures, "left_out": missing, "agree": agree, "of": n_given}


def _print(
    made: Sequence[NoteFigure], left_out: Sequence[tuple[str, str, str]], label: dict[str, str]
) -> None:
    figures = table("", label["note"], label["figure"], label["agree"], right=2)
    for figure in made:
        agree, n_given = _agreement_count(figure)
        figures.add_row(figure.note, figure.title, f"{agree}/{n_given}" if n_given else "")
    differing = table("", label["what"], label["said"], label["found"], label["why"], right=9)
    for figure in made:
        for row in figure.rows:
            if not row.agrees:
                differing.add_row(row.what, row.said, row.found, row.why)
    missing = table(label["left_out"], label["note"], label["figure"], label["why"], right=9)
    for entry in left_out:
        missing.add_row(*entry)
    print_plain(figures, *([differing] if differing.row_count else []), missing)


def _page_data(
    made: Sequence[NoteFigure],
    left_out: Sequence[tuple[str, str, str]],
    labels: dict[str, str],
    translate: language.Translator,
) -> dict[str, Any]:
    figures = [
        {
            "note": figure.note,
            "id": f"{figure.note}-{figure.name}",
            "title": figure.title,
            "text": figure.text,
            "rows": [asdict(row) | {"agrees": row.agrees} for row in figure.rows],
            "score": "{}/{}".format(*_agreement_count(figure)),
            "pictures": [
                {"title": picture.title, "source": _picture_url(picture, translate)}
                for picture in figure.pictures
            ],
        }
        for figure in made
    ]
    return {"labels": labels, "notes": NOTES, "figures": figures, "left_out": left_out}


def _picture_url(picture: reproductions.TreePicture, translate: language.Translator) -> str:
    figure = tree_picture.tree_figure(
        picture.root, picture.title, translate, strategy=picture.strategy
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        pictures.save(figure, path)
        return "data:image/svg+xml;base64," + b64encode(path.read_bytes()).decode()
