"""Exercises about searches with tests and windows: SCOUT, PVS, NegaScout and MTD(f)."""

from __future__ import annotations

from random import Random

from agent.games.tree import Node
from agent.search.tracing import Entered, Event, Returned
from kempelen.lab.exercises.exercise import (
    Exercise,
    ExerciseSpec,
    child_numbers,
    iter_nodes,
    random_tree,
    search_events,
)
from kempelen.lab.exercises.marking import format_number
from kempelen.lab.language import Translator, format_label, format_value

# Algorithms with null windows whose windows can be asked for. The first is the default.
WINDOW_ALGORITHMS = ("pvs", "negascout-1", "negascout-2")


class ScoutTests(Exercise):
    """An exercise that asks for the tests of SCOUT's EVAL, and their answers."""

    form, ordered, example = "tests", True, "1.2>=8-, 2>5+"

    def title(self, translate: Translator) -> str:
        return translate("The tests of SCOUT")

    def question(self, translate: Translator) -> list[str]:
        return [
            translate(
                "Which branches does SCOUT's EVAL test, against which bound, and with which "
                "answer? Leave out the tests inside of a test. A MAX node tests BRANCH>BEST, a MIN "
                "node BRANCH>=BEST; add + for yes and - for no."
            )
        ]

    def explanation(self, translate: Translator) -> list[str]:
        lines = []
        for name, sign, bound, answer in _scout_tests(self.events):
            is_better = answer == (sign == ">")
            text = "{}: yes" if answer else "{}: no"
            outcome = "evaluated again" if is_better else "not better"
            test = f"{name} {sign} {format_value(bound)}"
            lines.append(f"{translate(text).format(test)}; {translate(outcome)}")
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        root = random_tree(random, spec)
        events = search_events(root, "scout")
        key = []
        for name, sign, bound, answer in _scout_tests(events):
            key.append(f"{name}{sign}{format_number(bound)}{'+' if answer else '-'}")
        return ScoutTests(spec, root, events, tuple(key)) if key else None


class NullWindows(Exercise):
    """An exercise that asks for the windows with which PVS or NegaScout searches inner nodes."""

    form, ordered, example = "windows", True, "1(-oo, oo) 1.1(-oo, oo) 1.2(7, 8)"

    def title(self, translate: Translator) -> str:
        return f"{translate('Windows')}: {window_algorithm(self.spec)}"

    def question(self, translate: Translator) -> list[str]:
        text = translate(
            "With which windows does {} search the inner nodes below the root, in order? Write "
            "each as NODE(ALPHA, BETA), from the view of MAX. All values are integers, so a null "
            "window is (A, A + 1). If a node is searched again, write it again."
        )
        return [text.format(window_algorithm(self.spec))]

    def explanation(self, translate: Translator) -> list[str]:
        lines = []
        for event in _window_calls(self):
            assert event.window is not None
            alpha, beta = event.window
            reason = "window"
            if event.again:
                reason = "searched again, because the null window was exceeded"
            elif beta - alpha == 1:
                reason = "null window"
            lines.append(
                f"{format_label(event.label)} ({format_value(alpha)}, {format_value(beta)}): "
                f"{translate(reason)}"
            )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise in which a node is searched again, with different windows."""
        root = random_tree(random, spec)
        if not _has_integers(root):
            return None
        events = search_events(root, window_algorithm(spec))
        made = NullWindows(spec, root, events, ())
        calls = _window_calls(made)
        key = tuple(_window_text(event) for event in calls)
        if not any(event.again for event in calls) or len(set(key)) < len(key):
            return None
        return NullWindows(spec, root, events, key)


class MtdPasses(Exercise):
    """An exercise that asks for the passes of MTD(f)."""

    form, ordered, example = "passes", True, "0=6 7=7"

    def title(self, translate: Translator) -> str:
        return translate("The passes of MTD(f)")

    def question(self, translate: Translator) -> list[str]:
        return [
            translate(
                "MTD(f) begins with the guess 0. Which beta does each pass test, and which value "
                "does the search of the root return (fail-soft, with the null window from beta - 1 "
                "to beta)? Write each pass as BETA=VALUE, in order."
            )
        ]

    def explanation(self, translate: Translator) -> list[str]:
        lines = []
        for beta, value in _passes(self.events):
            bound = "upper bound" if value < beta else "lower bound"
            sign = "<" if value < beta else "≥"
            lines.append(
                f"β = {format_value(beta)}: {format_value(value)} {sign} {format_value(beta)}, "
                f"{translate(bound)} {format_value(value)}"
            )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        root = random_tree(random, spec)
        if not _has_integers(root):
            return None
        events = search_events(root, "mtd-f")
        key = tuple(
            f"{format_number(beta)}={format_number(value)}" for beta, value in _passes(events)
        )
        return MtdPasses(spec, root, events, key)


def window_algorithm(spec: ExerciseSpec) -> str:
    """Return the algorithm of the kind "windows"."""
    return spec.algorithm if spec.algorithm in WINDOW_ALGORITHMS else WINDOW_ALGORITHMS[0]


def _has_integers(root: Node) -> bool:
    """Return whether all values are integers, so that null windows have the width 1."""
    return all(isinstance(node, list | int) for _, node in iter_nodes(root))


def _scout_tests(events: tuple[Event, ...]) -> list[tuple[str, str, float, bool]]:
    """Return node, sign, bound and answer of the tests of EVAL, except those within a test."""
    calls: list[Entered] = []
    found = []
    for event in events:
        if isinstance(event, Entered):
            calls.append(event)
        elif isinstance(event, Returned):
            entered = calls.pop()
            if entered.test is not None and calls and calls[-1].test is None:
                found.append((format_label(entered.label), *entered.test, bool(event.value)))
    return found


def _window_calls(made: Exercise) -> list[Entered]:
    return [
        event
        for event in made.events
        if isinstance(event, Entered) and event.label and child_numbers(made.root, event.label)
    ]


def _window_text(event: Entered) -> str:
    assert event.window is not None
    alpha, beta = map(format_number, event.window)
    return f"{format_label(event.label)}({alpha}, {beta})"


def _passes(events: tuple[Event, ...]) -> list[tuple[float, float]]:
    """Return beta and the value of each pass."""
    betas = [
        event.window[1]
        for event in events
        if isinstance(event, Entered) and not event.label and event.window is not None
    ]
    values = [
        float(event.value) for event in events if isinstance(event, Returned) and not event.label
    ]
    return list(zip(betas, values, strict=True))
