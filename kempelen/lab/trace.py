"""`kempelen lab trace`: print the steps of an algorithm, one per line.

For SSS* and DUAL*, the open list is printed before each step. V marks a live state (vivo in
Spanish), S a solved state, and ε the root.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from agent.game import CHANCE, NotatedGame
from agent.games.tree import Tree
from agent.search.algorithms.sss_star import SSSStar, write_state
from agent.search.terminal_scoring import utility
from agent.search.tracing import (
    CutOff,
    Drawn,
    Entered,
    Evaluated,
    Event,
    Listed,
    Narrowed,
    PlayedOut,
    Restarted,
    Returned,
)
from agent.search.tree_cursor import Label, TreeCursor
from kempelen.console.terminal import print_text
from kempelen.lab import algorithm_arguments, language, limit_arguments, problems
from kempelen.lab.language import format_label, format_value, format_window
from kempelen.lab.output import print_plain, table
from kempelen.lab.problems import SearchProblem
from kempelen.lab.traced_search import trace_from

NodeNamer = Callable[[Label], str]


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    limit_arguments.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(arguments: Namespace) -> int:
    """Print the steps of a search. If a limit stops the search, print the steps so far."""
    translate = language.translator(arguments.lang)
    traced = trace_from(arguments, translate)
    events = traced.events
    if arguments.json:
        for event in events:
            print(json.dumps(_as_json(event, traced.problem)))
    elif issubclass(traced.algorithm.search_class, SSSStar):
        for line in open_list_rows(events, translate, traced.problem.node_name):
            print_text(line)
    else:
        for line in algorithm_arguments.remarks(traced.algorithm, traced.problem.game, translate):
            print_text(line)
        if any(isinstance(event, PlayedOut) for event in events):  # they end below the tree
            events = [event for event in events if not isinstance(event, Evaluated)]
        _print_steps(traced.problem, events, translate)
    return 0


def open_list_rows(
    events: Iterable[Event], translate: language.Translator, name: NodeNamer = format_label
) -> Iterable[str]:
    """Yield numbered rows with the open list of SSS* or DUAL* before each step."""
    lists = [event.states_for_max() for event in events if isinstance(event, Listed)]
    for row, states in enumerate(lists, 1):
        formatted = (
            write_state(state, lambda bound: format_value(bound, 6, translate), name)
            for state in states
        )
        yield f"{row}  {', '.join(formatted)}"


def described_steps(
    events: Iterable[Event], translate: language.Translator, name: NodeNamer = format_label
) -> Iterator[tuple[Event, str]]:
    """Merge consecutive events at a node: yield the last event, and a description of them all."""
    last: Event | None = None
    texts: list[str] = []
    for event in events:
        text = describe(event, translate, name)
        if not text:
            continue
        if last is not None and (last.label != event.label or isinstance(event, Entered)):
            yield last, ", ".join(texts)
            texts = []
        if not (isinstance(last, Evaluated) and texts and _repeats_leaf_value(event, last)):
            texts.append(text)
        last = event
    if last is not None:
        yield last, ", ".join(texts)


def _repeats_leaf_value(event: Event, evaluated: Evaluated) -> bool:
    if not isinstance(event, Returned) or isinstance(event.value, bool):
        return False
    return event.value == evaluated.value


def _print_steps(
    problem: SearchProblem, events: Iterable[Event], translate: language.Translator
) -> None:
    shows_moves = not isinstance(problem.game, Tree)
    headings = [
        "",
        translate("node"),
        *([translate("move")] if shows_moves else []),
        "",
        translate("step"),
    ]
    rows = table("", *headings, right=len(headings))
    cursor = TreeCursor(problem.game)
    for row, (event, text) in enumerate(described_steps(events, translate, problem.node_name), 1):
        played, is_chance = _node_move(problem.game, cursor, event.label)
        move = language.translate_move(played, translate)
        mover = translate("chance") if is_chance else event.mover
        cells = ["  " * len(event.label) + problem.node_name(event.label)]
        rows.add_row(str(row), *cells, *([move] if shows_moves else []), mover, text)
    print_plain(rows)


def _node_move(game: NotatedGame[Any], cursor: TreeCursor[Any], label: Label) -> tuple[str, bool]:
    if 0 in label:
        return "-", False
    cursor.go_to(label[:-1])
    text = game.text(list(game.moves())[label[-1] - 1]) if label else ""
    cursor.go_to(label)
    return text, game.turn == CHANCE


def describe(event: Event, translate: language.Translator, name: NodeNamer = format_label) -> str:
    """Describe an event in a few words, or return "" if its type is not described."""
    match event:
        case Entered(procedure="expand"):
            return translate("expand")
        case Entered(test=(sign, bound)):
            again = translate("enter again") if event.again else translate("enter")
            return f"{again} TEST {sign} {format_value(bound, translate=translate)}"
        case Entered():
            again = translate("enter again") if event.again else translate("enter")
            procedure = " EVAL" if event.procedure == "eval" else ""
            return (
                again
                + procedure
                + (f" {format_window(*event.window, translate)}" if event.window else "")
            )
        case Evaluated():
            return f"{translate('evaluate')} {format_value(event.value, translate=translate)}"
        case Restarted():
            return f"{translate('restart')}: {translate('win value')} {format_value(event.win)}"
        case CutOff():
            return f"{translate('cut-off by')} {name((*event.label, event.by))}"
        case Returned(value=bool() as value):
            return f"{translate('return')} {translate('true' if value else 'false')}"
        case Returned():
            memory = f" {translate('from memory')}" if event.remembered else ""
            return f"{translate('return')} {format_value(event.value, translate=translate)}{memory}"
        case Narrowed():
            lower, upper = (
                format_value(event.lower, translate=translate),
                format_value(event.upper, translate=translate),
            )
            return f"{translate('bounds')} [{lower}, {upper}]"
        case Drawn():
            return f"{translate('random event')} {name((*event.label, event.by))}"
        case PlayedOut():
            phases = [translate("select")] + ([translate("expand")] if event.expanded else [])
            plies = translate("move" if event.length == 1 else "moves")
            simulated = f"{translate('simulate')} {event.length} {plies}"
            phases += [] if event.judged else [simulated]
            phases += [translate("evaluate")] if event.judged or event.cut else []
            return f"{', '.join(phases)}, {translate('reward')} {event.reward:+z.3g}"
    return ""


def _as_json(event: Event, problem: SearchProblem) -> dict[str, Any]:
    fields = asdict(event)
    if isinstance(event, Listed):
        fields["states"] = event.states_for_max()
        del fields["sign"]
    data = {
        "event": type(event).__name__.lower(),
        **language.json_value(fields, decided=True),
    }
    if isinstance(event, (Evaluated, Returned)):
        data["decided"] = utility(event.value) is not None
    if (name := problem.node_name(event.label)) != format_label(event.label):
        data["name"] = name
    return data
