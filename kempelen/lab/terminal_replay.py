"""A recording in a terminal: all steps one after the other, or forward and back by commands."""

from __future__ import annotations

import re
from typing import Any

from rich.tree import Tree as RichTree

from kempelen.lab import pseudocode
from kempelen.lab.output import print_plain, table
from kempelen.lab.recordings.recording import SEARCH_NODE, NodeName, RecordedStep, Recording, Replay
from kempelen.lab.step_sentences import SENTENCES, WORDS

# The most nodes of a tree, and rows of a list, that a terminal shows at once.
MAX_NODES, MAX_ROWS = 40, 12
NUMBER = re.compile("[0-9]{1,9}")
OUTCOMES = re.compile(r"\b(WIN|LOSS)\b")
LISTS = {
    "stack": ("node", "window"),
    "open": ("node", "state", "bound"),
    "memory": ("node", "depth", "value"),
    "children": ("move", "N", "W", "UCB", "P"),
}
PROMPT = {
    "en": "Enter forward, b back, c next cut-off, v next change, e end, a number, q quit: ",
    "es": "Intro adelante, b atrás, c siguiente poda, v siguiente cambio, e final, un número, "
    "q salir: ",
}


class LocalizedRecording:
    """A recording's words in one language."""

    def __init__(self, recording: Recording, language: str) -> None:
        self._recording = recording
        self._language = language
        self._names: dict[int, str] = {}

    def word(self, text: str) -> str:
        """Return a word or cell; what has no other form stays."""
        if self._language == "en":
            return text
        first, space, rest = text.partition(" ")
        known = WORDS.get(text) or WORDS.get(first, first) + space + rest
        return OUTCOMES.sub(lambda found: WORDS[found.group()], known)

    def name(self, node: int) -> str:
        """Return what a node is called: its own name, else its label, and the move to it."""
        if node not in self._names:
            at = self._recording.nodes[node]
            places: list[str] = []
            up = node
            while self._recording.nodes[up].parent >= 0:
                places.insert(0, str(self._recording.nodes[up].place))
                up = self._recording.nodes[up].parent
            label = at.name or ".".join(places) or "ε"
            self._names[node] = f"{label} ({self.word(at.move)})" if at.move else label
        return self._names[node]

    def part(self, part: Any) -> str:
        """Return a word, number or node of a sentence."""
        return self.name(part.node) if isinstance(part, NodeName) else self.word(str(part))

    def step(self, step: RecordedStep) -> str:
        """Return what a step says."""
        told = []
        for key, parts in step.sentences:
            english, spanish = SENTENCES[key]
            sentence = english if self._language == "en" else spanish
            told.append(sentence.format(*map(self.part, parts)))
        if self._recording.stopped and step is self._recording.steps[-1]:
            told.append(SENTENCES["stopped"][self._language == "es"])
        return " ".join(told)

    def line(self, number: int) -> str:
        """Return a line of the pseudo-code."""
        line = self._recording.listing[number]
        return line if self._language == "en" else pseudocode.translate_line(line)


def print_all(recording: Recording, language: str) -> None:
    """Print every step: its number, what it says, and its line of the pseudo-code."""
    spoken = LocalizedRecording(recording, language)
    rows = table("", "", spoken.word("what happens"), spoken.word("pseudo-code"), right=4)
    for number, step in enumerate(recording.steps, 1):
        code = "; ".join(spoken.line(line).strip() for line in step.lines[:1])
        rows.add_row(str(number), spoken.step(step), code)
    print_plain(rows)


def step_through(recording: Recording, language: str) -> None:
    """Show step after step, as the commands that are typed say."""
    replay, spoken = Replay(recording), LocalizedRecording(recording, language)
    replay.forward()
    while True:
        show_state(replay, spoken)
        try:
            command = input(PROMPT[language]).strip().lower()
        except EOFError:
            return
        if command == "q":
            return
        run_command(replay, command)


def run_command(replay: Replay, command: str) -> None:
    """Do what a command says; one that nobody knows goes forward."""
    if command == "b":
        replay.back()
    elif command == "c":
        replay.next_cutoff()
    elif command == "v":
        replay.next_value_change()
    elif command == "e":
        replay.seek(len(replay.recording.steps))
    elif NUMBER.fullmatch(command):
        replay.seek(int(command))
    else:
        replay.forward()


def show_state(replay: Replay, spoken: LocalizedRecording) -> None:
    """Print the tree, the lists and what the last step says."""
    recording, step = replay.recording, replay.step
    lit = step.lines if step else ()
    code = table("", "", "")
    for number in range(len(recording.listing)):
        code.add_row("▶" if number in lit else "", spoken.line(number))
    print_plain(code)
    print_plain(_tree(replay, spoken))
    for name, headings in LISTS.items():
        rows = replay.lists.get(name)
        if rows:
            headings = headings[: len(rows[0][1])]  # moves have a prior P only of an evaluation
            shown = table(spoken.word(name), *map(spoken.word, headings))
            for _, cells in rows[-MAX_ROWS:] if name == "stack" else rows[:MAX_ROWS]:
                shown.add_row(*map(spoken.part, cells))
            print_plain(shown)
    counts = replay.fields.get(SEARCH_NODE, {})
    words = {"cutoffs": "cut-offs", "hits": "table hits", "researches": "re-searches"}
    told = (f"{spoken.word(words.get(name, name))} {count}" for name, count in counts.items())
    print_plain(", ".join(told))
    said = spoken.step(step) if step else ""
    print_plain(f"{replay.step_count}/{len(recording.steps)}  {said}")


def _tree(replay: Replay, spoken: LocalizedRecording) -> RichTree:
    """Return the tree as far as it is seen: the way to the last step's node, and what is near."""
    nodes = replay.recording.nodes
    seen = [number for number in range(len(nodes)) if replay.fields.get(number, {}).get("seen")]
    step = replay.step
    way: set[int] = set()
    up = step.node if step else 0
    while up >= 0:
        way.add(up)
        up = nodes[up].parent
    near = {number for number in seen if nodes[number].parent in way}
    shown = sorted(way | (set(seen) if len(seen) <= MAX_NODES else near))[: 2 * MAX_NODES]
    made: dict[int, RichTree] = {}
    for number in sorted(shown, key=lambda each: (_depth(nodes, each), each)):
        text = _node(replay, spoken, number, step.node if step else -1)
        parent = made.get(nodes[number].parent)
        made[number] = RichTree(text) if parent is None else parent.add(text)
    return made.get(0, RichTree("ε"))


def _depth(nodes: Any, node: int) -> int:
    depth = 0
    while nodes[node].parent >= 0:
        node, depth = nodes[node].parent, depth + 1
    return depth


def _node(replay: Replay, spoken: LocalizedRecording, number: int, current: int) -> str:
    fields = replay.fields.get(number, {})
    kind = replay.recording.nodes[number].kind
    parts = [spoken.name(number), spoken.word(kind) if kind == "chance" else kind.upper()]
    if "value" in fields:
        parts.append(spoken.word(str(fields["value"])))
    if "alpha" in fields:
        parts.append(spoken.word(f"α {fields['alpha']} β {fields['beta']}"))
    if "lower" in fields:
        parts.append(spoken.word(f"[{fields['lower']}, {fields['upper']}]"))
    if "visits" in fields:
        parts.append(f"N {fields['visits']} W {fields.get('total', '')}")
    if "cut" in fields:
        parts.append(f"✂ {fields['cut']}")
    return ("▶ " if number == current else "") + "  ".join(parts)
