"""`kempelen lab trace`: the steps of an algorithm, one a line.

Of SSS* and DUAL* that is the open list before each step, in the signs of the lecture notes: V is
a live state (vivo), S a solved one, ε the root.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from agent.game import CHANCE, Written
from agent.games.tree import Tree
from agent.search.cursor import Label
from agent.search.ending import utility
from agent.search.mcts import UCT
from agent.search.observing import (
    BegunAnew,
    CutOff,
    Entered,
    Evaluated,
    Event,
    Listed,
    Narrowed,
    PlayedOut,
    Returned,
)
from agent.search.sss_star import SSSStar, write_state
from kempelen.lab import algorithms, limits, subject, words
from kempelen.lab.observation import observe
from kempelen.lab.output import show, table
from kempelen.lab.subject import Subject
from kempelen.lab.words import label, number, window


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser, game="tree")
    algorithms.configure(parser, several=False)
    limits.configure(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")


def run(arguments: Namespace) -> int:
    """Search and print each step; a search that was stopped ends with its last."""
    say = words.language(arguments.lang)
    seen = observe(arguments, say)
    events = seen.events
    if arguments.json:
        for event in events:
            print(json.dumps(_as_json(event)))
    elif issubclass(seen.algorithm.kind, SSSStar):
        for line in listed(events, say):
            print(line)
    else:
        if issubclass(seen.algorithm.kind, UCT):  # the ends of playouts, far below the tree
            events = [event for event in events if not isinstance(event, Evaluated)]
        _print_steps(seen.at, events, say)
    return 0


def listed(events: Iterable[Event], say: words.Say) -> Iterable[str]:
    """Return the rows of the open list, as the notes number and write them."""
    lists = [event.states for event in events if isinstance(event, Listed)]
    for row, states in enumerate(lists, 1):
        written = (write_state(state, lambda bound: number(bound, 6, say)) for state in states)
        yield f"{row}  {', '.join(written)}"


def steps(events: Iterable[Event], say: words.Say) -> Iterator[tuple[Event, str]]:
    """Yield the node and the text of each step: what happens there without a break is one."""
    last: Event | None = None
    texts: list[str] = []
    for event in events:
        text = step(event, say)
        if not text:
            continue
        if last is not None and (last.label != event.label or isinstance(event, Entered)):
            yield last, ", ".join(texts)
            texts = []
        if not (isinstance(last, Evaluated) and texts and _says_the_same(event, last)):
            texts.append(text)
        last = event
    if last is not None:
        yield last, ", ".join(texts)


def _says_the_same(event: Event, evaluated: Evaluated) -> bool:
    """Tell whether a leaf's recursion came back with just the leaf's value."""
    if not isinstance(event, Returned) or isinstance(event.value, bool):
        return False
    return event.value == evaluated.value


def _print_steps(at: Subject, events: Iterable[Event], say: words.Say) -> None:
    shows_moves = not isinstance(at.game, Tree)
    headings = ["", say("node"), *([say("move")] if shows_moves else []), "", say("step")]
    rows = table("", *headings, right=len(headings))
    for row, (event, text) in enumerate(steps(events, say), 1):
        played, is_chance = _node(at.game, event.label)
        move = words.move(played, say)
        mover = say("chance") if is_chance else "MAX" if event.maximises else "MIN"
        cells = ["  " * len(event.label) + label(event.label)]
        rows.add_row(str(row), *cells, *([move] if shows_moves else []), mover, text)
    show(rows)


def _node(game: Written[Any], path: Label) -> tuple[str, bool]:
    """Return the move that leads to a node, and whether chance is to move there.

    Where a search let the mover pass, the move is a dash.
    """
    text = ""
    played = 0
    for place in path:
        if place == 0:
            text = "-"
            break
        move = list(game.moves())[place - 1]
        text = game.text(move)
        game.play(move)
        played += 1
    is_chance = game.turn == CHANCE
    for _ in range(played):
        game.undo()
    return text, is_chance


def step(event: Event, say: words.Say) -> str:
    """Say in a few words what happened; nothing of what another event says anyway."""
    match event:
        case Entered(procedure="expand"):
            return say("expand")
        case Entered(test=(sign, bound)):
            again = say("enter again") if event.again else say("enter")
            return f"{again} TEST {sign} {number(bound, say=say)}"
        case Entered():
            again = say("enter again") if event.again else say("enter")
            name = " EVAL" if event.procedure == "eval" else ""
            return again + name + (f" {window(*event.window, say)}" if event.window else "")
        case Evaluated():
            return f"{say('evaluate')} {number(event.value, say=say)}"
        case BegunAnew():
            return f"{say('begin anew')}: {say('a win counts')} {number(event.win)}"
        case CutOff():
            return f"{say('cut-off by')} {label((*event.label, event.by))}"
        case Returned(value=bool() as value):
            return f"{say('return')} {say('true' if value else 'false')}"
        case Returned():
            memory = f" {say('from memory')}" if event.remembered else ""
            return f"{say('return')} {number(event.value, say=say)}{memory}"
        case Narrowed():
            lower, upper = number(event.lower, say=say), number(event.upper, say=say)
            return f"{say('bounds')} [{lower}, {upper}]"
        case PlayedOut():
            phases = [say("select")] + ([say("expand")] if event.expanded else [])
            plies = say("move" if event.length == 1 else "moves")
            simulated = f"{say('simulate')} {event.length} {plies}"
            phases.append(say("evaluate") if event.judged else simulated)
            return f"{', '.join(phases)}, {say('reward')} {event.reward:+.3g}"
    return ""


def _as_json(event: Event) -> dict[str, Any]:
    """Return an event as JSON tells it; a utility that decides the game is marked."""
    told = {"event": type(event).__name__.lower(), **words.as_json(asdict(event), decided=True)}
    if isinstance(event, (Evaluated, Returned)):
        told["decided"] = utility(event.value) is not None
    return told
