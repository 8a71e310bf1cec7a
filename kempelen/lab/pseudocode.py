"""Pseudocode of the search algorithms, with the recorded steps that highlight each line.

Each line has the form "STEPS | CODE". Lines for the transposition table are omitted if the
algorithm does not use one.
"""

from __future__ import annotations

import re
from dataclasses import fields

from agent.search.algorithm_spec import AlgorithmSpec

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

# Phrases of the pseudo-code. The longest match is replaced first.
SPANISH = {
    "if node is a leaf": "si nodo es una hoja",
    "if the table has a usable entry for node": "si la tabla tiene una entrada útil para nodo",
    "if the memory has a usable entry for node": "si la memoria tiene una entrada útil para nodo",
    "put best into the table": "guarda mejor en la tabla",
    "put α into the table": "guarda α en la tabla",
    "put best into the memory": "guarda mejor en la memoria",
    "return its value for its mover": "devuelve su valor para quien mueve",
    "return its value": "devuelve su valor",
    "return whether it is won for MAX": "devuelve si está ganada para MAX",
    "return the bound that was met": "devuelve la cota alcanzada",
    "return the bound of the root": "devuelve la cota de la raíz",
    "return the best child of root": "devuelve el mejor hijo de la raíz",
    "return the child with the greatest N": "devuelve el hijo de mayor N",
    "return whether there is a strategy": "devuelve si hay estrategia",
    "return what is known": "devuelve lo que se sabe",
    "return the other value": "devuelve el otro valor",
    "return the other answer": "devuelve la otra respuesta",
    "return value": "devuelve valor",
    "return best, or sum": "devuelve mejor, o suma",
    "return best": "devuelve mejor",
    "return α if MAX is to move, else β": "devuelve α si mueve MAX, si no β",
    "return α": "devuelve α",
    "return it": "devuélvelo",
    "for each other child of node": "para cada otro hijo de nodo",
    "for each child of node": "para cada hijo de nodo",
    "for each child": "para cada hijo",
    "for each playout": "para cada simulación",
    "max or min of best and": "máx. o mín. de mejor y",
    "max of best and": "máx. de mejor y",
    "max of α and best": "máx. de α y mejor",
    "max of α and": "máx. de α y",
    "min of β and": "mín. de β y",
    "if MAX is to move": "si mueve MAX",
    "-∞ si mueve MAX, else ∞": "-∞ si mueve MAX, si no ∞",
    "if value is what the mover wants": "si valor es lo que quiere quien mueve",
    "let the mover pass, and search less deep": "deja pasar a quien mueve, y busca menos hondo",
    "if even that reaches β": "si aun así llega a β",
    "value of the first child": "valor del primer hijo",
    "the first child": "el primer hijo",
    "better than best": "mejor que mejor",
    "decides for the mover": "decide a favor de quien mueve",
    "cut off": "poda",
    "while lower < upper": "mientras inferior < superior",
    "value, or the next above if that is lower": "valor, o el siguiente si ese es inferior",
    "while more than one child is left": "mientras quede más de un hijo",
    "guess a value between lower and upper": "supón un valor entre inferior y superior",
    "test whether its value ≥ guess": "prueba si su valor ≥ supuesto",
    "if one or more pass the test: continue with these": (
        "si alguno pasa la prueba: sigue con estos"
    ),
    "upper ← guess": "superior ← supuesto",
    "a leaf returns its value for its mover": "una hoja devuelve su valor para quien mueve",
    "in a test": "en una prueba",
    "while the root is not solved": "mientras la raíz no esté solucionada",
    "take the first state of OPEN": "toma el primer estado de LISTA",
    "OPEN": "LISTA",
    "live leaf: solved, with the least of its value and the bound": (
        "hoja viva: solucionada, con el menor de su valor y la cota"
    ),
    "live leaf: solved, with the greatest of its value and the bound": (
        "hoja viva: solucionada, con el mayor de su valor y la cota"
    ),
    "all children, live": "todos los hijos, vivos",
    "live MAX": "MAX vivo",
    "live MIN": "MIN vivo",
    "the first child, live": "el primer hijo, vivo",
    "solved child of": "hijo solucionado de",
    "solved last child of": "último hijo solucionado de",
    "its parent is solved": "su padre está solucionado",
    "remove all others below the parent": "quita todos los demás bajo el padre",
    "the next child, live": "el siguiente hijo, vivo",
    "(root, live": "(raíz, vivo",
    "while no child of root has a lower bound ≥ the upper bounds of the others": (
        "mientras ningún hijo de la raíz tenga cota inferior ≥ las superiores de los demás"
    ),
    "choose: raise the best child, or lower the next": (
        "elige: sube el mejor hijo, o baja el siguiente"
    ),
    "go down by the best bounds to a leaf of the tree, and expand it": (
        "baja por las mejores cotas a una hoja del árbol, y expándela"
    ),
    "on the way back: the bounds of each node from those of its children": (
        "a la vuelta: las cotas de cada nodo a partir de las de sus hijos"
    ),
    "the bounds of a leaf are its value": "las cotas de una hoja son su valor",
    "if node is solved already": "si nodo ya está resuelto",
    "one child that wins is enough": "basta un hijo que gane",
    "one that does not": "uno que no",
    "remember node": "recuerda nodo",
    "an evaluation reached the value of a win: restart with a higher one": (
        "una evaluación alcanzó el valor de ganar: empieza de nuevo con uno mayor"
    ),
    "selection: go down to the child with the greatest": "selección: baja al hijo de mayor",
    "selection: go to the child of root with the greatest": (
        "selección: ve al hijo de raíz de mayor"
    ),
    "N(parent)": "N(padre)",
    "expansion: give a leaf its children, and go to one of them": (
        "expansión: da sus hijos a una hoja, y ve a uno de ellos"
    ),
    "expansion: give a leaf its children, each with its prior P": (
        "expansión: da a una hoja sus hijos, cada uno con su probabilidad previa P"
    ),
    "simulation: the network judges the leaf, or play on at random to the end": (
        "simulación: la red juzga la hoja, o juega al azar hasta el final"
    ),
    _JUDGED: "simulación: una evaluación juzga la hoja, en vez de jugar hasta el final",
    _PLAYOUT: "simulación: juega al azar hasta el final",
    "backpropagation: on the way back": "retropropagación: a la vuelta",
    "reward": "recompensa",
    "probability": "probabilidad",
    "chance": "azar",
    "answer": "respuesta",
    "sum": "suma",
    "search": "busca",
    "solve": "resuelve",
    "bound": "cota",
    "child": "hijo",
    "node": "nodo",
    "root": "raíz",
    "value": "valor",
    "best": "mejor",
    "lower": "inferior",
    "upper": "superior",
    "else": "si no",
    "if": "si",
    "max": "máx",
    "min": "mín",
}  # fmt: skip
_ENGLISH = re.compile(
    "|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in sorted(SPANISH, key=len, reverse=True))
)


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


def translate_line(line: str) -> str:
    """Translate a line of pseudocode into Spanish."""
    translated = _ENGLISH.sub(lambda match: SPANISH[match.group()], line)
    return translated.replace("-∞ si mueve MAX, else ∞", "-∞ si mueve MAX, si no ∞")
