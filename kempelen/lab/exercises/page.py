"""Write exercises to an HTML page that marks the answers and explains the solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.io import files
from kempelen.lab import html_page
from kempelen.lab.exercises import marking
from kempelen.lab.exercises.exercise import Exercise
from kempelen.lab.exercises.results import FORMAT, MAX_ANSWERS, VERSION
from kempelen.lab.exercises.tree_layout import node_positions
from kempelen.lab.language import Translator, format_label


def write_page(
    path: Path, made: Sequence[Exercise], translate: Translator, language: str, name: str
) -> None:
    """Write an HTML page with the exercises. Raise ValueError if the path is invalid."""
    html_page.check_path(path)
    files.replace_atomically(path, html(made, translate, language, name).encode())


def html(made: Sequence[Exercise], translate: Translator, language: str, name: str = "") -> str:
    """Return an HTML page with the exercises. `name` prefills the student's name."""
    title = translate("exercises on search")
    return html_page.build_page(
        f"Kempelen: {title}",
        styles=["exercise.css"],
        scripts=["exercise.js"],
        data={
            "title": title,
            "name": name,
            "results": {"format": FORMAT, "version": VERSION},
            "words": _page_texts(translate),
            "reading": {
                "longest": marking.MAX_ANSWER_LENGTH,
                "answers": MAX_ANSWERS,
                "separators": marking.SEPARATORS,
                "signs": marking.SIGN_ALIASES,
                "forms": {name: asdict(form) for name, form in marking.FORMS.items()},
            },
            "exercises": [_exercise_data(each, translate) for each in made],
        },
        language=language,
    )


def _page_texts(translate: Translator) -> dict[str, str]:
    return {
        "answer": translate("your answer"),
        "chance": translate("chance"),
        "check": translate("check"),
        "click": translate("Click a node to insert its label."),
        "count": translate("{} of {} correct, {} on the first try"),
        "example": translate("for example"),
        "exercise": translate("exercise"),
        "key": translate("key"),
        "name": translate("name"),
        "next": translate("next"),
        "notRight": translate("incorrect"),
        "outOfPlace": translate("out of place"),
        "points": translate("{} of {} points"),
        "rule": translate(marking.RULE),
        "previous": translate("previous"),
        "right": translate("correct"),
        "save": translate("save the results"),
        "show": translate("show the key"),
        "unread": translate("invalid answer {} (example: {})"),
        "wrong": translate("wrong"),
    }


def _exercise_data(made: Exercise, translate: Translator) -> dict[str, Any]:
    nodes = made.visible_nodes()
    positions = node_positions(nodes)
    return {
        "origin": asdict(made.spec),
        "title": made.title(translate),
        "question": made.question(translate),
        "example": made.example,
        "form": made.form,
        "ordered": made.ordered,
        "key": list(made.key),
        "written": made.key_text(),
        "explanation": made.explanation(translate),
        "nodes": [
            {
                "label": format_label(node.label),
                "parent": format_label(node.label[:-1]) if node.label else None,
                "mover": node.mover,
                "text": node.text,
                "chance": node.chance,
                "leaf": node.is_leaf,
                "x": positions[node.label][0],
                "y": positions[node.label][1],
            }
            for node in nodes
        ],
    }
