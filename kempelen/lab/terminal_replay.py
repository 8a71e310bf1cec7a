"""Replay a recorded search in the terminal."""

from __future__ import annotations

import re
from typing import Any

from rich.tree import Tree as RichTree

from kempelen.console.translation import translate
from kempelen.lab import pseudocode
from kempelen.lab.output import print_plain, table
from kempelen.lab.recordings.recording import (
    SEARCH_NODE,
    MoveName,
    NodeName,
    RecordedStep,
    Recording,
    Replay,
)
from kempelen.lab.step_sentences import translations

# Maximum number of tree nodes and list rows shown at once.
MAX_NODES, MAX_ROWS = 40, 12
NUMBER = re.compile("[0-9]{1,9}")
OUTCOMES = re.compile(r"\b(WIN|LOSS)\b")
LISTS = {
    "stack": ("node", "window"),
    "open": ("node", "state", "bound"),
    "memory": ("node", "depth", "value"),
    "children": ("move", "N", "W", "UCB", "P"),
}
PROMPT = "Enter forward, b back, c next cut-off, v next change, e end, a number, q quit: "


class RecordingFormatter:
    def __init__(self, recording: Recording, language: str) -> None:
        self._recording = recording
        self._language = language
        texts = translations()[language]
        self._words, self._sentences = texts["words"], texts["sentences"]
        self._names: dict[int, str] = {}

    def word(self, text: str) -> str:
        """Translate a word or the text of a table cell. Unknown text is returned unchanged."""
        words = self._words
        first, space, rest = text.partition(" ")
        translated = words.get(text) or words.get(first, first) + space + rest
        return OUTCOMES.sub(lambda match: words.get(match[0], match[0]), translated)

    def name(self, node: int) -> str:
        """Return the node's name, or else its path, such as "1.2". Append the move, if any."""
        if node not in self._names:
            recorded = self._recording.nodes[node]
            numbers: list[str] = []
            ancestor = node
            while self._recording.nodes[ancestor].parent >= 0:
                numbers.insert(0, str(self._recording.nodes[ancestor].place))
                ancestor = self._recording.nodes[ancestor].parent
            label = recorded.name or ".".join(numbers) or "ε"
            self._names[node] = f"{label} ({self.word(recorded.move)})" if recorded.move else label
        return self._names[node]

    def part(self, part: Any) -> str:
        if isinstance(part, MoveName):
            return f"{part.label} ({self.word(part.move)})" if part.move else part.label
        return self.name(part.node) if isinstance(part, NodeName) else self.word(str(part))

    def step(self, step: RecordedStep) -> str:
        sentences = [
            self._sentences[key].format(*map(self.part, parts)) for key, parts in step.sentences
        ]
        if self._recording.stopped and step is self._recording.steps[-1]:
            sentences.append(self._sentences["stopped"])
        return " ".join(sentences)

    def line(self, number: int) -> str:
        return pseudocode.translate_line(self._recording.listing[number], self._language)


def print_all(recording: Recording, language: str) -> None:
    """Print the number, description and highlighted lines of pseudocode of each step."""
    localized = RecordingFormatter(recording, language)
    rows = table("", "", localized.word("what happens"), localized.word("pseudo-code"), right=4)
    for number, step in enumerate(recording.steps, 1):
        code = "; ".join(localized.line(line).strip() for line in step.lines)
        rows.add_row(str(number), localized.step(step), code)
    print_plain(rows)


def step_through(recording: Recording, language: str) -> None:
    """Replay the steps interactively, with commands from standard input."""
    replay, localized = Replay(recording), RecordingFormatter(recording, language)
    replay.forward()
    while True:
        show_state(replay, localized)
        try:
            command = input(translate(PROMPT, language)).strip().lower()
        except EOFError:
            return
        if command == "q":
            return
        run_command(replay, command)


def run_command(replay: Replay, command: str) -> None:
    """Execute a replay command. An unknown command moves one step forward."""
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


def show_state(replay: Replay, localized: RecordingFormatter) -> None:
    """Print the pseudocode, the tree, the lists, the counters and the last step."""
    recording, step = replay.recording, replay.step
    highlighted = step.lines if step else ()
    code = table("", "", "")
    for number in range(len(recording.listing)):
        code.add_row("▶" if number in highlighted else "", localized.line(number))
    print_plain(code)
    print_plain(_tree(replay, localized))
    for name, headings in LISTS.items():
        rows = replay.lists.get(name)
        if rows:
            headings = headings[: len(rows[0][1])]  # only batch evaluations provide a prior P
            shown = table(localized.word(name), *map(localized.word, headings))
            for _, cells in rows[-MAX_ROWS:] if name == "stack" else rows[:MAX_ROWS]:
                shown.add_row(*map(localized.part, cells))
            print_plain(shown)
    counts = replay.fields.get(SEARCH_NODE, {})
    words = {"cutoffs": "cut-offs", "hits": "table hits", "researches": "re-searches"}
    counters = (
        f"{localized.word(words.get(name, name))} {count}" for name, count in counts.items()
    )
    print_plain(", ".join(counters))
    description = localized.step(step) if step else ""
    print_plain(f"{replay.step_count}/{len(recording.steps)}  {description}")


def _tree(replay: Replay, localized: RecordingFormatter) -> RichTree:
    nodes = replay.recording.nodes
    seen = [number for number in range(len(nodes)) if replay.fields.get(number, {}).get("seen")]
    step = replay.step
    path: set[int] = set()
    node = step.node if step else 0
    while node >= 0:
        path.add(node)
        node = nodes[node].parent
    neighbours = {number for number in seen if nodes[number].parent in path}
    shown = sorted(path | (set(seen) if len(seen) <= MAX_NODES else neighbours))[: 2 * MAX_NODES]
    branches: dict[int, RichTree] = {}
    for number in shown:
        text = _node(replay, localized, number, step.node if step else -1)
        parent = branches.get(nodes[number].parent)
        branches[number] = RichTree(text) if parent is None else parent.add(text)
    return branches.get(0, RichTree("ε"))


def _node(replay: Replay, localized: RecordingFormatter, number: int, current: int) -> str:
    fields = replay.fields.get(number, {})
    kind = replay.recording.nodes[number].kind
    parts = [localized.name(number), localized.word(kind) if kind == "chance" else kind.upper()]
    if "value" in fields:
        parts.append(localized.word(str(fields["value"])))
    if "alpha" in fields:
        parts.append(localized.word(f"α {fields['alpha']} β {fields['beta']}"))
    if "lower" in fields:
        parts.append(localized.word(f"[{fields['lower']}, {fields['upper']}]"))
    if "visits" in fields:
        parts.append(f"N {fields['visits']} W {fields.get('total', '')}")
    if "cut" in fields:
        parts.append(f"✂ {fields['cut']}")
    return ("▶ " if number == current else "") + "  ".join(parts)
