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
from kempelen.lab.notes.reproductions import NOTES, Localize, NoteFigure
from kempelen.lab.output import print_plain, table

# Labels of the page in English and Spanish.
LABELS = {
    "title": ("The lecture notes' tables and figures", "Tablas y figuras de los apuntes"),
    "what": ("what", "qué"),
    "said": ("the notes", "los apuntes"),
    "found": ("reproduced", "reproducido"),
    "untold": ("not given in the text", "el texto no lo da"),
    "figure": ("figure", "figura"),
    "agree": ("agree", "coinciden"),
    "left_out": ("Not reproducible", "Lo que no se puede reproducir"),
    "why": ("why", "por qué"),
    "contents": ("Contents", "Contenido"),
    "note": ("note", "apuntes"),
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
    is_spanish = arguments.lang == "es"
    translate = language.translator(arguments.lang)

    def localize(english: str, spanish: str) -> str:
        return spanish if is_spanish else english

    making = reproductions.build_figures(localize, translate)
    made = list(
        with_progress(making, len(reproductions.FIGURE_BUILDERS), localize("figures", "figuras"))
    )
    left_out = reproductions.omitted_figures(localize)
    if output is not None:
        data = _page_data(made, left_out, localize, translate)
        title = localize(*LABELS["title"])
        text = html_page.build_page(
            title,
            styles=["figures.css"],
            scripts=["figures.js"],
            data=data,
            language=arguments.lang,
        )
        replace_atomically(output, text.encode())
    if arguments.json:
        print(json.dumps(_as_json(made, left_out)))
    else:
        _print(made, left_out, localize)
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
    made: Sequence[NoteFigure], left_out: Sequence[tuple[str, str, str]], localize: Localize
) -> None:
    label = {name: localize(*texts) for name, texts in LABELS.items()}
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
    localize: Localize,
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
    labels = {name: localize(*texts) for name, texts in LABELS.items()}
    return {"labels": labels, "notes": NOTES, "figures": figures, "left_out": left_out}


def _picture_url(picture: reproductions.TreePicture, translate: language.Translator) -> str:
    figure = tree_picture.tree_figure(
        picture.root, picture.title, translate, strategy=picture.strategy
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        pictures.save(figure, path)
        return "data:image/svg+xml;base64," + b64encode(path.read_bytes()).decode()
