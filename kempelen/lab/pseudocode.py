"""Pseudocode of the search algorithms, with the recorded steps that highlight each line.

Each line has the form "STEPS | CODE". Lines for the transposition table are omitted if the
algorithm does not use one.
"""

from __future__ import annotations

from dataclasses import fields

from agent.search.algorithm_spec import AlgorithmSpec
from kempelen.console.translation import translate

_MINIMAX = """
enter    | minimax(node):
evaluate |   if node is a leaf: return its value
         |   best ← -∞ if MAX is to move, else ∞
         |   for each child of node:
better   |     best ← max or min of best and minimax(child)
return   |   return best
"""
_TWO_VALUED = """
enter    | solve(node):
evaluate |   if node is a leaf: return whether it is won for MAX
         |   for each child of node:
better   |     value ← solve(child)
cut gives|     if value is what the mover wants: return value
return   |   return the other value
"""
_NEGAMAX = """
enter    | negamax(node):
evaluate |   if node is a leaf: return its value for its mover
         |   best ← -∞
         |   for each child of node:
better   |     best ← max of best and -negamax(child)
return   |   return best
"""
_ALPHA_BETA = """
enter    | alphabeta(node, α, β):
remember |   if the table has a usable entry for node: return it
evaluate |   if node is a leaf: return its value for its mover
         |   best ← -∞
         |   for each child of node:
better   |     best ← max of best and -alphabeta(child, -β, -α); α ← max of α and best
cut      |     if α ≥ β: cut off
store    |   put best into the table
return   |   return best
"""
_HARD = """
enter    | alphabeta(node, α, β):
evaluate |   if node is a leaf: return its value
         |   for each child of node:
better   |     if MAX is to move: α ← max of α and alphabeta(child, α, β)
better   |     else: β ← min of β and alphabeta(child, α, β)
cut gives|     if α ≥ β: return the bound that was met
return   |   return α if MAX is to move, else β
"""
_NULL_MOVE = """
enter    | search(node, α, β):
remember |   if the table has a usable entry for node: return it
evaluate |   if node is a leaf: return its value for its mover
pass     |   let the mover pass, and search less deep
         |   if even that reaches β: cut off
         |   for each child of node:
better   |     best ← max of best and -search(child, -β, -α); α ← max of α and best
cut      |     if α ≥ β: cut off
store    |   put best into the table
return   |   return best
"""
_PVS = """
enter    | pvs(node, α, β):
remember |   if the table has a usable entry for node: return it
evaluate |   if node is a leaf: return its value for its mover
         |   value of the first child: -pvs(child, -β, -α)
         |   for each other child of node:
test     |     value ← -pvs(child, -(α + 1), -α)
again    |     if α < value < β: value ← -pvs(child, -β, -value)
better   |     α ← max of α and value
cut      |     if α ≥ β: cut off
store    |   put α into the table
return   |   return α
"""
_SCOUT = """
enter    | EVAL(node):
evaluate |   if node is a leaf: return its value
         |   best ← EVAL(the first child)
         |   for each other child of node:
test     |     if TEST(child, better than best):
again    |       best ← EVAL(child)
return   |   return best
test     | TEST(node, bound):
         |   for each child of node:
cut gives|     if TEST(child, bound) decides for the mover: return it
answer   |   return the other answer
"""
_MTD = """
         | while lower < upper:
pass     |   β ← value, or the next above if that is lower
pass     |   value ← search(root, β - 1, β)
passed   |   if value < β: upper ← value, else: lower ← value
enter    | search(node, α, β):
remember |   if the memory has a usable entry for node: return it
evaluate |   if node is a leaf: return its value for its mover
         |   for each child of node:
better   |     best ← max of best and -search(child, -β, -α)
cut      |     if best ≥ β: cut off
store    |   put best into the memory
return   |   return best
"""
_BNS = """
         | while more than one child is left:
guess    |   guess a value between lower and upper
enter    |   for each child: test whether its value ≥ guess
narrow   |   if one or more pass the test: continue with these, else: upper ← guess
evaluate | (a leaf returns its value for its mover)
remember | (in a test: if the table has a usable entry for node: return it)
better   | (in a test: best ← max of best and value; α ← max of α and best)
cut      | (in a test: if α ≥ β: cut off)
store    | (in a test: put best into the table)
return   | (in a test: return best)
"""
_SSS = """
list     | OPEN ← (root, live, ∞); while the root is not solved: take the first state of OPEN
leaf     |   live leaf: solved, with the least of its value and the bound
all      |   live MAX: all children, live
first    |   live MIN: the first child, live
parent   |   solved child of MAX: its parent is solved; remove all others below the parent
next     |   solved child of MIN: the next child, live
last     |   solved last child of MIN: its parent is solved
done     | return the bound of the root
"""
_DUAL = _SSS.replace("MAX", "max").replace("MIN", "MAX").replace("max", "MIN").replace(
    "live, ∞", "live, -∞"
).replace("the least", "the greatest")  # fmt: skip
_B_STAR = """
         | while no child of root has a lower bound ≥ the upper bounds of the others:
         |   choose: raise the best child, or lower the next
expand   |   go down by the best bounds to a leaf of the tree, and expand it
bounds   |   on the way back: the bounds of each node from those of its children
evaluate | (the bounds of a leaf are its value)
done     | return the best child of root
"""
_AND_OR = """
enter    | solve(node):
remember |   if node is solved already: return what is known
evaluate |   if node is a leaf: return whether it is won for MAX
         |   for each child of node:
better   |     answer ← solve(child)
cut      |     OR: one child that wins is enough; AND: one that does not
store    |   remember node
return   |   return whether there is a strategy
"""
_EXPECTIMINIMAX = """
enter    | value(node):
evaluate |   if node is a leaf: return its value
         |   for each child of node:
better   |     MAX: best ← max; MIN: best ← min; chance: sum ← sum + probability · value(child)
return   |   return best, or sum
anew     | (an evaluation reached the value of a win: restart with a higher one)
"""
_UCB, _PRIORS = "C·√(ln N(parent) / N)", "C·P·√N(parent) / (1 + N)"
_PLAYOUT = "simulation: play on at random to the end"
_JUDGED = "simulation: an evaluation judges the leaf, in place of a playout"
_UCT = """
         | for each playout:
select   |   selection: go down to the child with the greatest W/N + C·√(ln N(parent) / N)
expand   |   expansion: give a leaf its children, and go to one of them
simulate |   simulation: play on at random to the end
backup   |   backpropagation: on the way back N ← N + 1, W ← W + reward
done     | return the child with the greatest N
"""
_UCB1 = """
         | for each playout:
select   |   selection: go to the child of root with the greatest W/N + C·√(ln N(parent) / N)
simulate |   simulation: play on at random to the end
backup   |   backpropagation: on the way back N ← N + 1, W ← W + reward
done     | return the child with the greatest N
"""
_PUCT = """
         | for each playout:
select   |   selection: go down to the child with the greatest W/N + C·P·√N(parent) / (1 + N)
expand   |   expansion: give a leaf its children, each with its prior P
simulate |   simulation: the network judges the leaf, or play on at random to the end
backup   |   backpropagation: on the way back N ← N + 1, W ← W + reward
done     | return the child with the greatest N
"""

PSEUDOCODE = {
    "minimax": _MINIMAX,
    "minimax-two-valued": _TWO_VALUED,
    "negamax": _NEGAMAX,
    "alpha-beta": _ALPHA_BETA,
    "alpha-beta-hard": _HARD,
    "null-move": _NULL_MOVE,
    "pvs": _PVS,
    "negascout-1": _PVS.replace("pvs", "negascout"),
    "negascout-2": _PVS.replace("pvs(child, -β, -value)", "pvs(child, -β, -α)").replace(
        "pvs", "negascout"
    ),
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

# The steps that use the transposition table.
TABLE_STEPS = ("remember", "store")


def pseudocode(algorithm: AlgorithmSpec) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """Return the lines of pseudocode, and the line numbers (from 0) that each step highlights."""
    has_table = any(option.name == "table" for option in fields(algorithm.search_class.options))
    omitted = TABLE_STEPS if has_table and not algorithm.options.get("table") else ()
    lines: list[str] = []
    highlighted: dict[str, tuple[int, ...]] = {}
    for text in PSEUDOCODE[algorithm.search_class.name].strip("\n").splitlines():
        steps, code = text.split("|", 1)
        if steps.strip() in omitted:
            continue
        for step in steps.split():
            highlighted[step] = (*highlighted.get(step, ()), len(lines))
        lines.append(code[1:])
    return lines, highlighted


def with_evaluation(lines: list[str], *, judged: bool, priors: bool) -> list[str]:
    """Adapt pseudocode of Monte Carlo tree search to a search that uses an evaluation.

    If `judged` is true, the evaluation replaces playouts. If `priors` is true, selection uses PUCT.
    """
    if priors:
        lines = [line.replace(_UCB, _PRIORS) for line in lines]
    return [line.replace(_PLAYOUT, _JUDGED) for line in lines] if judged else lines


def translate_line(line: str, language: str) -> str:
    code = line.lstrip()
    return line[: len(line) - len(code)] + translate(code, language)
