"""For every algorithm and step: the lit lines of pseudo-code, and the sentences in both languages.

They are derived from the independent implementations of tests/agent/search/reference_traces.py.
"""

from dataclasses import replace
from itertools import pairwise
from math import inf
from types import MappingProxyType

import pytest

from agent.games.tree import Tree, evaluate
from agent.search import algorithm_spec
from agent.search.catalogue import algorithms
from kempelen.lab import pseudocode
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem
from kempelen.lab.recordings.record_search import record_search
from kempelen.lab.terminal_replay import RecordingFormatter
from tests.agent.search import references
from tests.agent.search.reference_traces import (
    TRACES,
    Log,
    b_star,
    best_node,
    expectimax,
    is_max,
)
from tests.agent.search.test_against_references import trees
from tests.agent.search.test_traces_against_references import Puct, chance_tree, chance_trees

# The line of pseudo-code for each short word of the references.
NEGAMAX_LEAF = "if node is a leaf: return its value for its mover"
RETURN = {"return": "return best"}
ALPHA_BETA = {
    "head": "alphabeta(node, α, β):",
    "leaf": NEGAMAX_LEAF,
    "take": "best ← max of best and -alphabeta(child, -β, -α); α ← max of α and best",
    "cut": "if α ≥ β: cut off",
    **RETURN,
}
SEARCH = {
    **ALPHA_BETA,
    "head": "search(node, α, β):",
    "take": "best ← max of best and -search(child, -β, -α); α ← max of α and best",
}
PVS = {
    "head": "pvs(node, α, β):",
    "leaf": NEGAMAX_LEAF,
    "first": "first child: value ← -pvs(child, -β, -α)",
    "test": "other child: value ← -pvs(child, -(α + 1), -α)",
    "again": "if α < value < β in a test: value ← -pvs(child, -β, -value)",
    "take": "α ← max of α and value",
    "cut": "if α ≥ β: cut off",
    "return": "return α",
}
NEGASCOUT = {
    **PVS,
    "head": "negascout(node, α, β):",
    "test": "value ← -negascout(child, -b, -α)",
}
MTD = {
    "guess": "β ← value, or the next above if value = lower",
    "search": "value ← search(root, β - 1, β)",
    "passed": "if value < β: upper ← value, else: lower ← value",
    "head": "search(node, α, β):",
    "remember": "if the memory has a usable entry for node: return it",
    "leaf": "if node is a leaf: best ← its value for its mover",
    "take": "best ← max of best and -search(child, -β, -α)",
    "cut": "if best ≥ β: cut off",
    "store": "put best into the memory",
    **RETURN,
}
LINES = {
    "minimax": {
        "head": "minimax(node):",
        "leaf": "if node is a leaf: return its value",
        "take": "best ← max or min of best and minimax(child)",
        **RETURN,
    },
    "negamax": {
        "head": "negamax(node):",
        "leaf": NEGAMAX_LEAF,
        "take": "best ← max of best and -negamax(child)",
        **RETURN,
    },
    "expectiminimax": {
        "head": "value(node):",
        "leaf": "if node is a leaf: return its value",
        "take-max": "MAX: best ← max of best and value(child)",
        "take-min": "MIN: best ← min of best and value(child)",
        "take-chance": "chance: sum ← sum + probability · value(child)",
        "return": "return best, or sum",
    },
    "minimax-two-valued": {
        "head": "solve(node):",
        "leaf": "if node is a leaf: return whether it is won for MAX",
        "take": "value ← solve(child)",
        "cut": "if value is what the mover wants: return value",
        "return": "return the other value",
    },
    "and-or": {
        "head": "solve(node):",
        "leaf": "if node is a leaf: answer ← whether it is won for MAX",
        "take": "answer ← solve(child)",
        "cut-max": "OR: one child that wins is enough",
        "cut-min": "AND: one child that does not win is enough",
        "store": "remember the answer for node",
        "return": "return the answer",
    },
    "alpha-beta": ALPHA_BETA,
    "null-move": SEARCH,
    "alpha-beta-hard": {
        "head": "alphabeta(node, α, β):",
        "leaf": "if node is a leaf: return its value",
        "take-max": "if MAX is to move: α ← max of α and alphabeta(child, α, β)",
        "take-min": "else: β ← min of β and alphabeta(child, α, β)",
        "cut": "if α ≥ β: return the bound that was met",
        "return": "return α if MAX is to move, else β",
    },
    "pvs": PVS,
    "negascout-1": {
        **NEGASCOUT,
        "again": "if α < value < β, child is not the first, and d < maxdepth - 1: "
        "value ← -negascout(child, -β, -value)",
    },
    "negascout-2": {
        **NEGASCOUT,
        "again": "if α < value < β and child is not the first: value ← -negascout(child, -β, -α)",
    },
    "scout": {
        "head": "EVAL(node):",
        "leaf": "if node is a leaf: return its value",
        "first": "best ← EVAL(the first child)",
        "test-max": "if MAX is to move and TEST(child, best, >):",
        "test-min": "if MIN is to move and not TEST(child, best, ≥):",
        "again-max": "best ← EVAL(child)",
        "again-min": "best ← EVAL(child)",
        "test-head": "TEST(node, bound, sign):",
        "compare": "if node is a leaf: return whether its value is > or ≥ bound, by the sign",
        "ask-max": "if MAX is to move and TEST(child, bound, sign): return true",
        "ask-min": "if MIN is to move and not TEST(child, bound, sign): return false",
        "none": "return false if MAX is to move, else true",
        **RETURN,
    },
    "mtd-f": MTD,
    "sss-star-mtd": MTD,
    "dual-star-mtd": MTD,
    "bns": {
        **SEARCH,
        "guess": "guess a value between lower and upper",
        "narrow": "if any pass the test: keep these, lower ← the least, else: upper ← the greatest",
        "try": "for each child that is left: value ← -search(child, -guess, -(guess - 1))",
    },
}
# The sentences: English, Spanish.
SAID = {
    "enter": ("Enter {0}, {1}.", "Entra en {0}, {1}."),
    "again": ("Enter {0}, {1}, again.", "Entra en {0}, {1}, de nuevo."),
    "window": (
        "Enter {0}, {1}, with α = {2} and β = {3}.", "Entra en {0}, {1}, con α = {2} y β = {3}.",
    ),
    "again-window": (
        "Search {0}, {1}, again with α = {2} and β = {3}.",
        "Busca {0}, {1}, otra vez con α = {2} y β = {3}.",
    ),
    "null-window": (
        "Only test {0}, {1}, with the null window from {2} to {3}.",
        "Solo prueba {0}, {1}, con la ventana nula de {2} a {3}.",
    ),
    "test": ("TEST {0}: is it {1} {2}?", "TEST {0}: ¿es {1} {2}?"),
    "leaf": ("{0} is a leaf with value {1}.", "{0} es una hoja de valor {1}."),
    "pass": ("Pass {0}: is the value at least {1}?", "Pasada {0}: ¿es el valor al menos {1}?"),
    "no-pass": (
        "This game has no null move, so the search is plain alpha-beta.",
        "Este juego no tiene movimiento nulo, así que la búsqueda es un alfa-beta normal.",
    ),
    "cut": (
        "Cut-off at {0}, because of {1}: {2} more moves are skipped.",
        "Poda en {0}, por {1}: se omiten {2} jugadas más.",
    ),
    "cut-one": (
        "Cut-off at {0}, because of {1}: 1 more move is skipped.",
        "Poda en {0}, por {1}: se omite 1 jugada más.",
    ),
    "cut-last": (
        "The bound is met at {0}, by {1}; no move was left to cut off.",
        "Se alcanza la cota en {0}, por {1}; no quedaba jugada que podar.",
    ),
    "why": ("α = {0} ≥ β = {1}.", "α = {0} ≥ β = {1}."),
    "high": ("Its value {0} is at least β = {1}.", "Su valor {0} es al menos β = {1}."),
    "low": ("Its value {0} is at most α = {1}.", "Su valor {0} es a lo sumo α = {1}."),
    "store": ("The memory stores {0}: {1}.", "La memoria guarda {0}: {1}."),
    "remember": ("{0} is already in the memory: {1}.", "{0} ya está en la memoria: {1}."),
    "return": ("{0} returns {1}.", "{0} devuelve {1}."),
    "yes": ("{0}: yes.", "{0}: sí."),
    "no": ("{0}: no.", "{0}: no."),
    "best": ("{0} has {1} so far.", "{0} tiene {1} hasta ahora."),
    "alpha": ("α of {0} rises to {1}.", "α de {0} sube a {1}."),
    "beta": ("β of {0} falls to {1}.", "β de {0} baja a {1}."),
    "sum": ("The sum at {0} is {1} so far.", "La suma en {0} es {1} hasta ahora."),
    "bounds": ("{0} lies in [{1}, {2}].", "{0} está en [{1}, {2}]."),
    "guess": (
        "Guess {0}: which of {1} moves reach it?",
        "Supone {0}: ¿cuáles de {1} jugadas lo alcanzan?",
    ),
    "ends": (
        "The search ends: the best move is {0}, with the value {1}.",
        "La búsqueda termina: la mejor jugada es {0}, con el valor {1}.",
    ),
    "ends-value": ("The search ends with the value {0}.", "La búsqueda termina con el valor {0}."),
}  # fmt: skip
WINDOW_TESTS = {name for name in LINES if name.startswith(("pvs", "nega", "mtd", "sss", "dual"))}
WINDOW_TESTS = (WINDOW_TESTS | {"bns", "null-move"}) - {"negamax"}


EMPTY = MappingProxyType({})


def node(label):
    return ".".join(map(str, label)) or "ε"


def number(value):
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    if abs(value) > 1e300:
        return "∞-" if value > 0 else "-∞+"
    return f"{value:.9g}" if value == int(value) else f"{value:.4g}"


def mover(name, label):
    return ("OR", "AND")[len(label) % 2] if name == "and-or" else ("MAX", "MIN")[len(label) % 2]


def entered(name, entry, passes, movers):
    """The sentences of a step that enters a node."""
    who = node(entry.label), movers.get(entry.label) or mover(name, entry.label)
    if entry.test:
        return [("test", who[0], entry.test[0], number(entry.test[1]))]
    if entry.window is None:
        return [("again" if entry.again else "enter", *who)]
    alpha, beta = entry.window
    is_null = name in WINDOW_TESTS and (
        abs(alpha) > 1e300 or abs(beta) > 1e300 or beta == alpha + 1
    )
    is_null = is_null and not (alpha == -inf and beta != -1.7976931348623157e308)
    is_null = is_null and not (beta == inf and alpha != 1.7976931348623157e308)
    key = "again-window" if entry.again else "window"
    if is_null and not (entry.again and "again" in LINES[name]):
        key = "null-window"
    said = [(key, *who, number(alpha), number(beta))]
    return (
        [("pass", passes, number(beta)), *said]
        if "passed" in LINES[name] and not entry.label
        else said
    )


def returned(name, entry):
    if isinstance(entry.value, bool):
        said = [("yes" if entry.value else "no", node(entry.label))]
    else:
        text = number(entry.value)
        if entry.window and not entry.is_leaf:
            alpha, beta = entry.window
            relation = (
                "≤" if -inf < entry.value <= alpha else "≥" if inf > entry.value >= beta else ""
            )
            text = relation + text
        said = [("remember" if entry.remembered else "return", node(entry.label), text)]
    parent = node(entry.label[:-1])
    order = ["bounds", "sum", "best", "alpha", "beta"]
    changes = sorted(entry.said, key=lambda change: order.index(change[0]))
    for key, _, *values in changes:
        of = "ε" if key == "bounds" else parent
        said.append((key, of, *map(number, values)))
    return said


def expected(name, entries, movers=EMPTY):
    """Return the sentences and lit lines of each step but the last.

    `movers` contains the side to move of nodes where it does not follow from the level.
    """
    passes = 0
    for entry in entries:
        if entry.kind == "enter":
            passes += not entry.label
            said = entered(name, entry, passes, movers)
        elif entry.kind == "leaf":
            said = [("leaf", node(entry.label), number(entry.value))]
        elif entry.kind == "store":
            low, high = map(number, entry.value)
            said = [("store", node(entry.label), low if low == high else f"[{low}, {high}]")]
        elif entry.kind == "guess":
            said = [("guess", number(entry.value[0]), entry.value[1])]
        elif entry.kind == "cut":
            key = ("cut-last", "cut-one", "cut")[min(2, entry.skipped)]
            said = [(key, node(entry.label), node((*entry.label, entry.value)), entry.skipped)]
            if entry.best is not None:
                bound = entry.window[is_max(entry.label)]
                key = "high" if is_max(entry.label) else "low"
                said.append((key, number(entry.best), number(bound)))
            elif entry.window:
                said.append(("why", *map(number, entry.window)))
        else:
            said = returned(name, entry)
        yield said, {LINES[name][word] for word in entry.lines if word in LINES[name]}


def spoken(said, language):
    return " ".join(SAID[key][language].format(*values) for key, *values in said)


def shown(recording, step):
    """The sentences of a step in both languages, and its lit lines in both languages."""
    formatters = [RecordingFormatter(recording, language) for language in ("en", "es")]
    lines = [{each.line(line).strip() for line in step.lines} for each in formatters]
    return [each.step(step) for each in formatters], lines


def recorded(name, root, **options):
    problem = SearchProblem("tree", Tree(root), evaluate, UNLIMITED_DEPTH)
    spec = algorithm_spec.parse(name)
    spec = replace(spec, options=spec.options | options)
    return record_search(problem, spec)


def small_trees(thorough):
    return [root for root in trees(thorough) if len(str(root)) < 300][: 60 if thorough else 5]


def check(name, recording, steps, ending):
    assert len(recording.steps) == len(steps) + 1
    for step, (said, lines) in zip(recording.steps, steps, strict=False):
        texts, lit = shown(recording, step)
        assert texts == [spoken(said, 0), spoken(said, 1)], (name, step)
        assert lit[0] == lines, (name, step, said)
        assert lit[1] == {pseudocode.translate_line(line, "es") for line in lines}
    texts, _ = shown(recording, recording.steps[-1])
    assert texts == [spoken([ending], 0), spoken([ending], 1)]


@pytest.mark.thorough(keep=15)
@pytest.mark.parametrize("name", TRACES)
def test_lit_lines_and_sentences_follow_from_the_steps(name, thorough):
    for root in small_trees(thorough):
        log = Log()
        value = TRACES[name](log, root)
        steps = list(expected(name, log.entries))
        if name not in ("and-or", *(each for each in LINES if "passed" in LINES[each])):
            assert not any(entry.kind == "store" for entry in log.entries)
        if name == "null-move":
            steps[0] = [("no-pass",), *steps[0][0]], steps[0][1]
        recording = recorded(name, root)
        text = number(value)
        if name in ("and-or", "minimax-two-valued"):
            text = ">0" if value > 0 else "≤0"
        chosen = [node for node in recording.principal if recording.nodes[node].parent == 0]
        places = [str(recording.nodes[node].place) for node in chosen]
        ending = ("ends", *places, text) if places else ("ends-value", text)
        check(name, recording, steps, ending)


def movers(node, chances, label=(), side="MAX"):
    """Return the side to move at each node, by label. An event does not change it."""
    if not isinstance(node, list):
        return {label: side}
    found = {label: "chance" if label in chances else side}
    if label not in chances:
        side = "MIN" if side == "MAX" else "MAX"
    for number, child in enumerate(node, 1):
        found |= movers(child, chances, (*label, number), side)
    return found


@pytest.mark.thorough(keep=1)
def test_chance_nodes_light_the_line_of_the_sum(thorough):
    found = [(root, chances) for root, chances in chance_trees(thorough) if len(str(root)) < 300]
    for root, chances in found[: 60 if thorough else 5]:
        log = Log()
        value = expectimax(log, root, chances)
        game = chance_tree(root, chances)
        problem = SearchProblem("tree", game, evaluate, UNLIMITED_DEPTH)
        recording = record_search(problem, algorithm_spec.parse("expectiminimax"))
        steps = list(expected("expectiminimax", log.entries, movers(root, chances)))
        assert len(recording.steps) == len(steps) + 1
        for step, (said, lines) in zip(recording.steps, steps, strict=False):
            texts, lit = shown(recording, step)
            assert texts == [
                spoken(said, 0), spoken(said, 1).replace("chance", "azar"),
            ], said  # fmt: skip
            assert lit[0] == lines
        assert recording.steps[-1].sentences[0][1][-1] == number(value)


@pytest.mark.thorough(keep=1)
def test_best_node_search_lights_its_lines(thorough):
    for root in small_trees(thorough):
        log = Log()
        move, value = best_node(log, root)
        recording = recorded("bns", root)
        check(
            "bns",
            recording,
            list(expected("bns", log.entries)),
            ("ends", move, f"≥{number(value)}"),
        )


SSS = {
    "en": {
        "list": "The list begins with {0}, live, and the bound {1}.",
        "leaf": "{0} is live and a leaf with value {1}; "
        "its bound was {2}, so it is solved with {3}.",
        "all": "{0} is live: all its children go into the list.",
        "first": "{0} is live: its first child goes into the list.",
        "parent": "{0} is solved, so its parent is solved; "
        "all other states below the parent leave the list.",
        "next": "{0} is solved: its next sibling goes into the list.",
        "last": "{0} is solved and the last child, so its parent is solved.",
    },
    "es": {
        "list": "La lista empieza con {0}, vivo, y la cota {1}.",
        "leaf": "{0} está vivo y es una hoja de valor {1}; su cota era {2}, "
        "así que queda solucionado con {3}.",
        "all": "{0} está vivo: todos sus hijos entran en la lista.",
        "first": "{0} está vivo: su primer hijo entra en la lista.",
        "parent": "{0} está solucionado, y con él su padre; "
        "salen de la lista los demás estados bajo él.",
        "next": "{0} está solucionado: su siguiente hermano entra en la lista.",
        "last": "{0} está solucionado y es el último hijo: también su padre.",
    },
}  # fmt: skip
SSS_LINES = {
    "list": "OPEN ← (root, live, ∞); while the root is not solved: take the first state of OPEN",
    "leaf": "live leaf: solved, with the least of its value and the bound",
    "all": "live MAX: all children, live",
    "first": "live MIN: the first child, live",
    "parent": "solved child of MAX: its parent is solved; remove all others below the parent",
    "next": "solved child of MIN: the next child, live",
    "last": "solved last child of MIN: its parent is solved",
}
SWAPPED = {"MAX": "MIN", "MIN": "MAX", "∞": "-∞", "least": "greatest"}


def dual(line):
    """A line of SSS* for DUAL*."""
    words = line.replace("∞", " ∞ ").split(" ")
    return " ".join(
        SWAPPED.get(word.rstrip(":"), word.rstrip(":")) + ":" * word.endswith(":") for word in words
    ).replace(" -∞ ", "-∞")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["sss-star", "dual-star"])
def test_sss_star_lights_the_rule_of_each_row(name, thorough):
    sign = 1 if name == "sss-star" else -1
    for root in small_trees(thorough):
        rows, leaves = [], []
        references.sss_star(root, leaves, sign, rows)
        steps = [("list", ("ε", number(sign * inf)))]
        for before, after in pairwise(rows):
            (label, solved, bound), path = before[0], node(before[0][0])
            takes_all = (len(label) % 2 == 0) == (sign > 0)
            below = root
            for place in label:
                below = below[place - 1]
            parent = root
            for place in label[:-1]:
                parent = parent[place - 1]
            if not solved and not isinstance(below, list):
                bounds = {each: value for each, _, value in after}
                steps.append(("leaf", (path, *map(number, (below, bound, bounds[label])))))
            elif not solved:
                steps.append(("all" if takes_all else "first", (path,)))
            elif not takes_all:
                steps.append(("parent", (path,)))
            else:
                steps.append(("next" if label[-1] < len(parent) else "last", (path,)))
        recording = recorded(name, root)
        assert len(recording.steps) == len(steps) + 1
        for step, (key, values) in zip(recording.steps, steps, strict=False):
            texts, lit = shown(recording, step)
            assert texts == [SSS[language][key].format(*values) for language in ("en", "es")]
            line = SSS_LINES[key] if sign > 0 else dual(SSS_LINES[key])
            assert lit[0] == {line}
        texts, lit = shown(recording, recording.steps[-1])
        assert lit[0] == {"return the bound of the root"}
        assert texts[0].startswith("The root is solved: ")


@pytest.mark.thorough(keep=1)
def test_b_star_says_what_each_expansion_changes(thorough):
    for root in small_trees(thorough):
        move, value, steps = b_star(root)
        recording = recorded("b-star", root, strategy="prove-best")
        expansions = [each for each in recording.steps if each.kind == "expand"]
        lines = {"go down by the best bounds to a leaf of the tree, and expand it"}
        for step, (label, _) in zip(expansions, steps[:-1], strict=True):
            texts, lit = shown(recording, step)
            assert texts == [f"Expand {node(label)}.", f"Expande {node(label)}."]
            assert lit[0] == lines
        narrowed = [each for each in recording.steps if each.kind == "bounds"]
        known = {}
        assert len(narrowed) == len(steps)
        for step, (_, bounds) in zip(narrowed, steps, strict=True):
            changed = {each: bounds[each] for each in bounds if bounds[each] != known.get(each)}
            new = changed.keys() - known.keys()
            wanted = {"the bounds of root: what is known of its value"} if () in new else set()
            if new - {()}:
                wanted.add(
                    "the bounds of each new child: its value if it is a leaf, else what is known"
                )
            if changed.keys() & known.keys():
                wanted.add("on the way back: the bounds of each node from those of its children")
            texts, lit = shown(recording, step)
            assert lit[0] == wanted
            plain = [
                each
                for each in changed
                if each in known or changed[each] != (-inf, inf) or not each
            ]
            for label in plain if len(plain) <= 4 else ():
                low, high = map(number, changed[label])
                assert f"{node(label)} lies in [{low}, {high}]." in texts[0]
                assert f"{node(label)} está en [{low}, {high}]." in texts[1]
            if len(plain) > 4:
                assert f"The bounds of {len(plain)} nodes are narrowed." in texts[0]
            known = bounds
        texts, lit = shown(recording, recording.steps[-1])
        assert texts[0].startswith(
            f"The search ends: the best move is {move}, with the value ≥{value}."
        )
        others = [
            high for label, (_, high) in known.items() if len(label) == 1 and label != (move,)
        ]
        if others:
            assert texts[0].endswith(
                f"{move} is worth at least {value}, and the others at most {max(others)}."
            )
        assert lit[0] == {"return the best child of root"}


PLAYOUT = {
    "select": "selection: go down to the child with the greatest W/N + C·√(ln N(parent) / N)",
    "expand": "expansion: give a leaf its children, and go to one of them",
    "simulate": "simulation: play on at random to the end",
    "backup": "backpropagation: on the way back N ← N + 1, W ← W + reward",
    "done": "return the child with the greatest N",
}
# The lines of the other algorithms that differ.
PLAYOUTS = {
    "uct": PLAYOUT,
    "ucb1": PLAYOUT
    | {
        "select": "selection: go to the child of root with the greatest W/N + C·√(ln N(parent) / N)"
    },
    "alphazero": PLAYOUT
    | {
        "select": "selection: go down to the child with the greatest "
        "W/N + C·P·√N(parent) / (1 + N)",
        "expand": "expansion: give a leaf its children, each with its prior P",
    },
}
# English and Spanish, by the number of moves of the playout: none, one, more.
SIMULATED = (
    (
        "Simulation: the game is over at {0}; MAX's reward is {2}.",
        "Simulación: la partida ha acabado en {0}; la recompensa de MAX es {2}.",
    ),
    (
        "Simulation: 1 move from {0} to the end; MAX's reward is {2}.",
        "Simulación: 1 jugada desde {0} hasta el final; la recompensa de MAX es {2}.",
    ),
    (
        "Simulation: {1} moves from {0} to the end; MAX's reward is {2}.",
        "Simulación: {1} jugadas desde {0} hasta el final; la recompensa de MAX es {2}.",
    ),
)
BACKED_UP = (
    "Backpropagation: update N and W of {} nodes, up to the root.",
    "Retropropagación: actualiza N y W de {} nodos, hasta la raíz.",
)
CHOSEN = (
    "The search ends: {} is chosen, which has the most visits, N = {}.",
    "La búsqueda termina: se elige {}, que tiene más visitas, N = {}.",
)

TIED = (
    "Of the moves with as many visits, none has a greater mean reward.",
    "Entre las jugadas con las mismas visitas, ninguna tiene mayor recompensa media.",
)


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("name", PLAYOUTS)
def test_phases_of_playouts_follow_from_the_reference(name, thorough):
    """Selection to a node that is in the tree, expansion, simulation, backpropagation."""
    for seed, root in enumerate(small_trees(thorough)):
        scale = Tree(root).max_utility() or 1
        problem = SearchProblem("tree", Tree(root), evaluate, UNLIMITED_DEPTH, scale)
        spec = algorithm_spec.parse(f"{name}+playouts=25")
        recording = record_search(problem, spec, seed=seed)
        kind = Puct if name == "alphazero" else references.Playouts
        other = kind(root, 25, seed, scale, flat=name == "ucb1")
        steps, grown = iter(recording.steps), {()}
        for label, reward in other.ends:
            leaf = label
            for length in range(1, len(label) + 1):
                step = next(steps)
                texts, lit = shown(recording, step)
                assert recording.nodes[step.node].place == label[length - 1]
                parent, child = node(label[: length - 1]), node(label[:length])
                if label[: length - 1] in grown:
                    assert step.kind == "select"
                    assert texts[0].startswith(f"Selection: from {parent} to {child}, ")
                    assert texts[1].startswith(f"Selección: de {parent} a {child}, ")
                else:
                    assert step.kind == "expand"
                    assert texts[0].startswith(f"Expansion: {parent} gets its children; {child}, ")
                    assert texts[1].startswith(
                        f"Expansión: {parent} recibe sus hijos; sigue {child}"
                    )
                    grown.add(label[: length - 1])
                assert lit[0] == {PLAYOUTS[name][step.kind]}
            below = root
            for place in leaf:
                below = below[place - 1]
            step = next(steps)
            texts, lit = shown(recording, step)
            templates = SIMULATED[min(2, length_of(recording, step))]
            told = f"{round(reward, 12) + 0:.3g}"
            values = node(label), length_of(recording, step), told
            assert texts == [template.format(*values) for template in templates]
            assert (length_of(recording, step) == 0) == (not isinstance(below, list))
            assert lit[0] == {PLAYOUTS[name]["simulate"]}
            texts, lit = shown(recording, next(steps))
            assert texts == [template.format(len(label) + 1) for template in BACKED_UP]
            assert lit[0] == {PLAYOUTS[name]["backup"]}
        texts, lit = shown(recording, next(steps))
        visits = {label: count for label, count in other.visits.items() if len(label) == 1}
        chosen = texts[0].removeprefix("The search ends: ").partition(" ")[0]
        most = max(visits.values())
        assert visits[(int(chosen),)] == most
        tied = list(visits.values()).count(most) > 1
        assert texts == [
            f"{template.format(chosen, most)}{f' {reason}' if tied else ''}"
            for template, reason in zip(CHOSEN, TIED, strict=True)
        ]
        assert lit[0] == {PLAYOUTS[name]["done"]}
        assert next(steps, None) is None


def length_of(recording, step):
    """The number of moves of the playout that a step simulates."""
    return next(value for node, name, value in step.changes if name == "length")


def test_every_algorithm_is_checked():
    assert LINES.keys() | {"sss-star", "dual-star", "b-star", "uct", "ucb1", "alphazero"} == (
        algorithms().keys()
    )


@pytest.mark.parametrize("name", pseudocode.OTHER_FORMS)
def test_other_form_lights_the_lines_of_the_same_steps(name):
    """A line of MAX or MIN is lit where that side moves."""
    for options in ("", "+table"):
        try:
            spec = algorithm_spec.parse(f"{name}{options}")
        except ValueError:
            continue
        _, listing, known = pseudocode.other_form(spec)
        _, own = pseudocode.pseudocode(spec)
        kind_of = {
            line: {step.removesuffix("-max").removesuffix("-min") for step in steps}
            for source in (known, own)
            for line, steps in _steps_by_line(source, source is known).items()
        }
        tree = Tree([[[5, 3, 8], [7, 9]], [[6, 1], [2, 4]], [[8, 9], [3, 0]]])
        recording = record_search(SearchProblem("tree", tree, lambda game: 0, 9), spec)
        assert recording.other_listing == tuple(listing)
        for step in recording.steps:
            assert bool(step.lines) == bool(step.other_lines)
            shown = {kind for line in step.lines for kind in kind_of[False, line]}
            others = {kind for line in step.other_lines for kind in kind_of[True, line]}
            assert shown & others or not shown
            for line in step.other_lines:
                text = listing[line].strip()
                if not text.startswith(("MAX", "MIN", "other child of M")):
                    continue
                kinds = kind_of[True, line]
                node = recording.nodes[step.node]
                above = bool(kinds & set(pseudocode.CALLER_STEPS))
                side = recording.nodes[node.parent].kind if above else node.kind
                assert side.upper() in text.partition(":")[0], (name, step, text)
            texts = {pseudocode.translate_line(listing[line], "es") for line in step.other_lines}
            assert len(texts) == len(step.other_lines)


def _steps_by_line(known, is_other):
    found = {}
    for step, lines in known.items():
        for line in lines:
            found.setdefault((is_other, line), set()).add(step)
    return found
