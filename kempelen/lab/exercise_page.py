"""Exercises as one page that asks, checks, explains and counts, and needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.border import files
from kempelen.lab import exercise_marks, page
from kempelen.lab.exercise_kinds import Exercise
from kempelen.lab.exercise_layout import places
from kempelen.lab.exercise_results import FORMAT, MOST_ANSWERS, VERSION
from kempelen.lab.words import Say, label


def write(path: Path, made: Sequence[Exercise], say: Say, language: str, name: str) -> None:
    """Write a page; ValueError for a name that no page has."""
    page.check(path)
    files.replace_atomically(path, html(made, say, language, name).encode())


def html(made: Sequence[Exercise], say: Say, language: str, name: str = "") -> str:
    """Return the page. name: of the student, who may change it."""
    title = say("exercises on search")
    return page.joined(
        f"Kempelen: {title}",
        styles=["exercise.css"],
        scripts=["exercise.js"],
        data={
            "title": title,
            "name": name,
            "results": {"format": FORMAT, "version": VERSION},
            "words": _words(say),
            "reading": {
                "longest": exercise_marks.LONGEST,
                "answers": MOST_ANSWERS,
                "separators": exercise_marks.SEPARATORS,
                "signs": exercise_marks.SIGNS,
                "forms": {name: asdict(form) for name, form in exercise_marks.FORMS.items()},
            },
            "exercises": [_told(each, say) for each in made],
        },
        language=language,
    )


def _words(say: Say) -> dict[str, str]:
    """Return what the page says by itself."""
    return {
        "answer": say("your answer"),
        "check": say("check"),
        "click": say("A click on a node writes its name."),
        "count": say("{} of {} right, {} at once"),
        "example": say("for example"),
        "exercise": say("exercise"),
        "key": say("key"),
        "name": say("name"),
        "next": say("next"),
        "notRight": say("not right"),
        "outOfPlace": say("out of place"),
        "points": say("{} points of {}"),
        "previous": say("previous"),
        "right": say("right"),
        "save": say("save the results"),
        "show": say("show the key"),
        "unread": say("{} cannot be read; write it like this: {}"),
        "wrong": say("wrong"),
    }


def _told(made: Exercise, say: Say) -> dict[str, Any]:
    nodes = made.shown()
    where = places(nodes)
    return {
        "origin": asdict(made.origin),
        "title": made.title(say),
        "question": made.question(say),
        "example": made.example,
        "form": made.form,
        "ordered": made.ordered,
        "key": list(made.key),
        "written": made.written_key(),
        "explanation": made.explanation(say),
        "nodes": [
            {
                "label": label(node.label),
                "parent": label(node.label[:-1]) if node.label else None,
                "maximises": node.maximises,
                "text": node.text,
                "leaf": node.is_leaf,
                "x": where[node.label][0],
                "y": where[node.label][1],
            }
            for node in nodes
        ],
    }
