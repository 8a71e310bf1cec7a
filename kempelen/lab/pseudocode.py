"""Pseudocode of the search algorithms, with the recorded steps that highlight each line.

Each line has the form "STEPS | CODE". A step may be limited to the nodes of MAX, MIN or chance, as
in "better-max". Lines for the transposition table are omitted if the
algorithm does not use one.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import fields

from agent.search.algorithm_spec import AlgorithmSpec
from kempelen.console.translation import translate

_MINIMAX = """
enter           | minimax(node):
evaluate leaves |   if node is a leaf: return its value
                |   best ← -∞ if MAX is to move, else ∞
                |   for each child of node:
better          |     best ← max or min of best and minimax(child)
return          |   return best
"""
_TWO_VALUED = """
enter           | solve(node):
evaluate leaves |   if node is a leaf: return whether it is won for MAX
                |   for each child of node:
better          |     value ← solve(child)
cut gives       |     if value is what the mover wants: return value
return          |   return the other value
"""
_NEGAMAX = """
enter           | negamax(node):
evaluate leaves |   if node is a leaf: return its value for its mover
                |   best ← -∞
                |   for each child of node:
better          |     best ← max of best and -negamax(child)
return          |   return best
"""
_ALPHA_BETA = """
enter           | alphabeta(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for its mover
                |   best ← -∞
                |   for each child of node:
better          |     best ← max of best and -alphabeta(child, -β, -α); α ← max of α and best
cut             |     if α ≥ β: cut off
store           |   put best into the table
return          |   return best
"""
_HARD = """
enter           | alphabeta(node, α, β):
evaluate leaves |   if node is a leaf: return its value
                |   for each child of node:
better-max      |     if MAX is to move: α ← max of α and alphabeta(child, α, β)
better-min      |     else: β ← min of β and alphabeta(child, α, β)
cut gives       |     if α ≥ β: return the bound that was met
return          |   return α if MAX is to move, else β
"""
_NULL_MOVE = """
enter           | search(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for its mover
pass            |   best ← the value if the mover passes, searched less deep
cut-pass        |   if even that reaches β: cut off
                |   for each child of node:
better          |     best ← max of best and -search(child, -β, -α); α ← max of α and best
cut             |     if α ≥ β: cut off
store           |   put best into the table
return          |   return best
"""
_PVS = """
enter           | pvs(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for its mover
                |   for each child of node:
first           |     first child: value ← -pvs(child, -β, -α)
test            |     other child: value ← -pvs(child, -(α + 1), -α)
again           |     if α < value < β in a test: value ← -pvs(child, -β, -value)
better          |     α ← max of α and value
cut             |     if α ≥ β: cut off
store           |   put α into the table
return          |   return α
"""
_NEGASCOUT = """
enter           | negascout(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for its mover
                |   b ← β
                |   for each child of node:
first test      |     value ← -negascout(child, -b, -α)
again           |     if α < value < β and child is not the first: AGAIN
better          |     α ← max of α and value
cut             |     if α ≥ β: cut off
                |     b ← α + 1
store           |   put α into the table
return          |   return α
"""
_NEGASCOUT_1 = _NEGASCOUT.replace(
    "β and child is not the first: AGAIN",
    "β, child is not the first, and d < maxdepth - 1: value ← -negascout(child, -β, -value)",
)
_NEGASCOUT_2 = _NEGASCOUT.replace("AGAIN", "value ← -negascout(child, -β, -α)")
_SCOUT = """
enter           | EVAL(node):
evaluate leaves |   if node is a leaf: return its value
first           |   best ← EVAL(the first child)
                |   for each other child of node:
test-max        |     if MAX is to move and TEST(child, best, >):
again-max       |       best ← EVAL(child)
test-min        |     if MIN is to move and not TEST(child, best, ≥):
again-min       |       best ← EVAL(child)
return          |   return best
enter-test      | TEST(node, bound, sign):
compare answers |   if node is a leaf: return whether its value is > or ≥ bound, by the sign
                |   for each child of node:
ask-max         |     if MAX is to move and TEST(child, bound, sign): return true
ask-min         |     if MIN is to move and not TEST(child, bound, sign): return false
none            |   return false if MAX is to move, else true
"""
_MTD = """
                | value ← the first guess
                | while lower < upper:
guess           |   β ← value, or the next above if value = lower
search          |   value ← search(root, β - 1, β)
passed          |   if value < β: upper ← value, else: lower ← value
enter           | search(node, α, β):
remember        |   if the memory has a usable entry for node: return it
evaluate        |   if node is a leaf: best ← its value for its mover
                |   for each child of node:
better          |     best ← max of best and -search(child, -β, -α)
cut             |     if best ≥ β: cut off
store           |   put best into the memory
return leaves   |   return best
"""
_BNS = """
                | while more than one child of root is left, and lower < upper:
guess           |   guess a value between lower and upper
try             |   for each child that is left: value ← -search(child, -guess, -(guess - 1))
narrow          |   if any pass the test: keep these, lower ← the least, else: upper ← the greatest
done            | return the child that is left
enter           | search(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for its mover
                |   best ← -∞
                |   for each child of node:
better          |     best ← max of best and -search(child, -β, -α); α ← max of α and best
cut             |     if α ≥ β: cut off
store           |   put best into the table
return          |   return best
"""
_SSS = """
list            | OPEN ← (root, live, ∞); while the root is not solved: take the first state of OPEN
leaf            |   live leaf: solved, with the least of its value and the bound
all             |   live MAX: all children, live
first           |   live MIN: the first child, live
parent          |   solved child of MAX: its parent is solved; remove all others below the parent
next            |   solved child of MIN: the next child, live
last            |   solved last child of MIN: its parent is solved
done            | return the bound of the root
"""
_DUAL = _SSS.replace("MAX", "max").replace("MIN", "MAX").replace("max", "MIN").replace(
    "live, ∞", "live, -∞"
).replace("the least", "the greatest")  # fmt: skip
_B_STAR = """
begin           | the bounds of root: what is known of its value
                | while no child of root has a lower bound ≥ the upper bounds of the others:
                |   choose: raise the best child, or lower the next
expand          |   go down by the best bounds to a leaf of the tree, and expand it
evaluate        |   the bounds of each new child: its value if it is a leaf, else what is known
bounds          |   on the way back: the bounds of each node from those of its children
done            | return the best child of root
"""
_AND_OR = """
enter           | solve(node):
remember        |   if node is solved already: return what is known
evaluate        |   if node is a leaf: answer ← whether it is won for MAX
                |   for each child of node:
better          |     answer ← solve(child)
cut-max         |     OR: one child that wins is enough
cut-min         |     AND: one child that does not win is enough
store           |   remember the answer for node
return leaves   |   return the answer
"""
_EXPECTIMINIMAX = """
enter           | value(node):
evaluate leaves |   if node is a leaf: return its value
                |   for each child of node:
better-max      |     MAX: best ← max of best and value(child)
better-min      |     MIN: best ← min of best and value(child)
better-chance   |     chance: sum ← sum + probability · value(child)
return          |   return best, or sum
anew            | (an evaluation reached the value of a win: restart with a higher one)
"""
_UCB, _PRIORS = "C·√(ln N(parent) / N)", "C·P·√N(parent) / (1 + N)"
_PLAYOUT = "simulation: play on at random to the end"
_JUDGED = "simulation: an evaluation judges the leaf, in place of a playout"
_CUT_SHORT = "simulation: play on at random to the end or the maximum depth, and evaluate there"
_MOST_VISITS = "return the child with the greatest N"
_FINAL = {
    "visits": _MOST_VISITS,
    "mean": "return the child with the greatest W/N",
    "ucb": "return the child with the greatest upper bound",
}
_UCT = """
                | for each playout:
select          |   selection: go down to the child with the greatest W/N + C·√(ln N(parent) / N)
expand          |   expansion: give a leaf its children, and go to one of them
simulate        |   simulation: play on at random to the end
backup          |   backpropagation: on the way back N ← N + 1, W ← W + reward
done            | return the child with the greatest N
"""
_UCB1 = """
                | for each playout:
select          |   selection: go to the child of root with the greatest W/N + C·√(ln N(parent) / N)
simulate        |   simulation: play on at random to the end
backup          |   backpropagation: on the way back N ← N + 1, W ← W + reward
done            | return the child with the greatest N
"""
_PUCT = """
                | for each playout:
select          |   selection: go down to the child with the greatest W/N + C·P·√N(parent) / (1 + N)
expand          |   expansion: give a leaf its children, each with its prior P
simulate        |   simulation: play on at random to the end
backup          |   backpropagation: on the way back N ← N + 1, W ← W + reward
done            | return the child with the greatest N
"""

PSEUDOCODE = {
    "minimax": _MINIMAX,
    "minimax-two-valued": _TWO_VALUED,
    "negamax": _NEGAMAX,
    "alpha-beta": _ALPHA_BETA,
    "alpha-beta-hard": _HARD,
    "null-move": _NULL_MOVE,
    "pvs": _PVS,
    "negascout-1": _NEGASCOUT_1,
    "negascout-2": _NEGASCOUT_2,
    "scout": _SCOUT,
    "mtd-f": _MTD,
    "sss-star-mtd": _MTD,
    "dual-star-mtd": _MTD,
    "bns": _BNS,
    "sss-star": _SSS,
    "dual-star": _DUAL,
    "b-star": _B_STAR,
    "and-or": _AND_OR,
    "expectiminimax": _EXPECTIMINIMAX,
    "uct": _UCT,
    "alphazero": _PUCT,
    "ucb1": _UCB1,
}

_STAND_PAT = "in quiescence search: its value is that of a first child; noisy children follow"
_MAX_MIN_ALPHA_BETA = """
enter           | alphabeta(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for MAX
                |   best ← -∞ if MAX is to move, else ∞
                |   for each child of node:
better-max      |     MAX: best ← max of best and alphabeta(child, α, β); α ← max of α and best
better-min      |     MIN: best ← min of best and alphabeta(child, α, β); β ← min of β and best
cut             |     if α ≥ β: cut off
store           |   put best into the table
return          |   return best
"""
_MAX_MIN_NULL_MOVE = """
enter           | search(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for MAX
pass            |   best ← the value if the mover passes, searched less deep
cut-pass-max    |   MAX: if even that reaches β: cut off
cut-pass-min    |   MIN: if even that reaches α: cut off
                |   for each child of node:
better-max      |     MAX: best ← max of best and search(child, α, β); α ← max of α and best
better-min      |     MIN: best ← min of best and search(child, α, β); β ← min of β and best
cut             |     if α ≥ β: cut off
store           |   put best into the table
return          |   return best
"""
_MAX_MIN_PVS = """
enter           | pvs(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for MAX
                |   for each child of node:
first           |     first child: value ← pvs(child, α, β)
test-max        |     other child of MAX: value ← pvs(child, α, α + 1)
again-max       |     MAX, if α < value < β in a test: value ← pvs(child, value, β)
test-min        |     other child of MIN: value ← pvs(child, β - 1, β)
again-min       |     MIN, if α < value < β in a test: value ← pvs(child, α, value)
better-max      |     MAX: α ← max of α and value
better-min      |     MIN: β ← min of β and value
cut             |     if α ≥ β: cut off
store           |   put the value into the table
return          |   return α if MAX is to move, else β
"""
_MAX_MIN_NEGASCOUT = """
enter           | negascout(node, α, β):
remember        |   if the table has a usable entry for node: return it
evaluate leaves |   if node is a leaf: return its value for MAX
                |   (a, b) ← (α, β)
                |   for each child of node:
first test      |     value ← negascout(child, a, b)
again-max       |     MAX, if α < value < β and child is not the first: UP
again-min       |     MIN, if α < value < β and child is not the first: DOWN
better-max      |     MAX: α ← max of α and value
better-min      |     MIN: β ← min of β and value
cut             |     if α ≥ β: cut off
                |     (a, b) ← (α, α + 1) if MAX is to move, else (β - 1, β)
store           |   put the value into the table
return          |   return α if MAX is to move, else β
"""
_MAX_MIN_NEGASCOUT_1 = (
    _MAX_MIN_NEGASCOUT.replace("and child is not the first:", "and not first, d < maxdepth - 1:")
    .replace("UP", "value ← negascout(child, value, β)")
    .replace("DOWN", "value ← negascout(child, α, value)")
)
_MAX_MIN_NEGASCOUT_2 = _MAX_MIN_NEGASCOUT.replace("UP", "value ← negascout(child, α, β)").replace(
    "DOWN", "value ← negascout(child, α, β)"
)
_MAX_MIN_SEARCH = """
enter           | search(node, α, β):
remember        |   if the memory has a usable entry for node: return it
evaluate        |   if node is a leaf: best ← its value for MAX
                |   for each child of node:
better-max      |     MAX: best ← max of best and search(child, α, β)
better-min      |     MIN: best ← min of best and search(child, α, β)
cut-max         |     MAX: if best ≥ β: cut off
cut-min         |     MIN: if best ≤ α: cut off
store           |   put best into the memory
return leaves   |   return best
"""
_MAX_MIN_MTD = _MTD[: _MTD.index("enter ")] + _MAX_MIN_SEARCH.lstrip("\n")
_MAX_MIN_BNS = (
    _BNS[: _BNS.index("enter ")].replace("-search(child, -guess, -(guess - 1))",
                                         "search(child, guess - 1, guess)")
    + _MAX_MIN_ALPHA_BETA.replace("alphabeta", "search").lstrip("\n")
)  # fmt: skip
_NEGAMAX_HARD = """
enter           | alphabeta(node, α, β):
evaluate leaves |   if node is a leaf: return its value for its mover
                |   for each child of node:
better          |     α ← max of α and -alphabeta(child, -β, -α)
cut gives       |     if α ≥ β: return β
return          |   return α
"""

NEGAMAX_FORM, MAX_MIN_FORM = "negamax", "MAX and MIN"
FORMS = (NEGAMAX_FORM, MAX_MIN_FORM)
# The other form of algorithms: with MAX and MIN nodes as in the lecture notes, or as negamax.
OTHER_FORMS = {
    "minimax": (NEGAMAX_FORM, _NEGAMAX),
    "negamax": (MAX_MIN_FORM, _MINIMAX),
    "alpha-beta": (MAX_MIN_FORM, _MAX_MIN_ALPHA_BETA),
    "alpha-beta-hard": (NEGAMAX_FORM, _NEGAMAX_HARD),
    "null-move": (MAX_MIN_FORM, _MAX_MIN_NULL_MOVE),
    "pvs": (MAX_MIN_FORM, _MAX_MIN_PVS),
    "negascout-1": (MAX_MIN_FORM, _MAX_MIN_NEGASCOUT_1),
    "negascout-2": (MAX_MIN_FORM, _MAX_MIN_NEGASCOUT_2),
    "mtd-f": (MAX_MIN_FORM, _MAX_MIN_MTD),
    "sss-star-mtd": (MAX_MIN_FORM, _MAX_MIN_MTD),
    "dual-star-mtd": (MAX_MIN_FORM, _MAX_MIN_MTD),
    "bns": (MAX_MIN_FORM, _MAX_MIN_BNS),
}
# Steps of the caller of a node, whose side to move counts.
CALLER_STEPS = ("better", "first", "test", "again", "try")

# The steps that use the transposition table.
TABLE_STEPS = ("remember", "store")


def pseudocode(algorithm: AlgorithmSpec) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """Return the lines of pseudocode, and the line numbers (from 0) that each step highlights."""
    return _parse(PSEUDOCODE[algorithm.search_class.name], algorithm)


def other_form(algorithm: AlgorithmSpec) -> tuple[str, list[str], dict[str, tuple[int, ...]]]:
    """Return the same as `pseudocode` for the other form, after its name. It is empty without one.

    Steps may be limited to MAX or MIN, as in "better-max".
    """
    name, text = OTHER_FORMS.get(algorithm.search_class.name, ("", ""))
    return name, *_parse(text, algorithm)


def other_step(name: str, side: str, known: Container[str]) -> str:
    """Return the step of the other form for a step. `side` is "max" or "min"."""
    base = name.removesuffix("-max").removesuffix("-min")
    return next((each for each in (f"{base}-{side}", name, base) if each in known), "")


def _parse(listing: str, algorithm: AlgorithmSpec) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    has_table = any(option.name == "table" for option in fields(algorithm.search_class.options))
    omitted = TABLE_STEPS if has_table and not algorithm.options.get("table") else ()
    lines: list[str] = []
    highlighted: dict[str, tuple[int, ...]] = {}
    for text in listing.strip("\n").splitlines():
        steps, code = text.split("|", 1)
        if steps.strip() in omitted:
            continue
        for step in steps.split():
            highlighted[step] = (*highlighted.get(step, ()), len(lines))
        lines.append(code[1:])
        if "evaluate" in steps.split() and algorithm.options.get("continuation"):
            highlighted["stand"] = (len(lines),)
            lines.append(f"  {_STAND_PAT}")
    return lines, highlighted


def playout_pseudocode(
    lines: list[str], *, judged: bool, cut_short: bool, priors: bool, final: str
) -> list[str]:
    """Adapt pseudocode of Monte Carlo tree search to the search.

    If `judged` is true, an evaluation replaces playouts. If `cut_short` is true, playouts end at
    the maximum depth. If `priors` is true, selection uses PUCT. `final` is an option of UCT.
    """
    playout = _JUDGED if judged else _CUT_SHORT if cut_short else _PLAYOUT
    lines = [line.replace(_PLAYOUT, playout).replace(_MOST_VISITS, _FINAL[final]) for line in lines]
    return [line.replace(_UCB, _PRIORS) for line in lines] if priors else lines


def translate_line(line: str, language: str) -> str:
    code = line.lstrip()
    return line[: len(line) - len(code)] + translate(code, language)
