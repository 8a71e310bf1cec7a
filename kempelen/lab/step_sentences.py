"""Texts of the step page: sentences with numbered placeholders, table words and labels."""

from __future__ import annotations

from kempelen.console.translation import LANGUAGES, translate

SENTENCES = {
    "enter-window": "Enter {1}, {0}, with α = {2} and β = {3}.",
    "again-window": "Search {1}, {0}, again with α = {2} and β = {3}.",
    "null-window": "Only test {1}, {0}, with the null window from {2} to {3}.",
    "enter-plain": "Enter {1}, {0}.",
    "again-plain": "Enter {1}, {0}, again.",
    "test": "TEST {1}: is it {2} {3}?",
    "pass": "Let the mover pass at {0}.",
    "no-pass": "This game has no null move, so the search is plain alpha-beta.",
    "new-pass": "Pass {0}: is the value at least {1}?",
    "expand": "Expand {0}.",
    "evaluate": "{0} is a leaf with value {1}.",
    "stand": "{0} has {1} without a move; quiescence search goes on with noisy moves.",
    "remember": "{0} is already in the memory: {1}.",
    "shared": "It is the same position as {0}.",
    "return": "{0} returns {1}.",
    "yes": "{0}: yes.",
    "no": "{0}: no.",
    "best": "{0} has {1} so far.",
    "sum": "The sum at {0} is {1} so far.",
    "alpha": "α of {0} rises to {1}.",
    "beta": "β of {0} falls to {1}.",
    "cut": "Cut-off at {0}, because of {1}: {2} more moves are skipped.",
    "cut-one": "Cut-off at {0}, because of {1}: 1 more move is skipped.",
    "cut-last": "The bound is met at {0}, by {1}; no move was left to cut off.",
    "cut-pass": "Cut-off at {0}, because passing is good enough; no move is tried.",
    "cut-why": "α = {0} ≥ β = {1}.",
    "cut-high": "Its value {0} is at least β = {1}.",
    "cut-low": "Its value {0} is at most α = {1}.",
    "anew": "Restart: a win now counts {0}.",
    "store": "The memory stores {0}: {1}.",
    "guess": "Guess {0}: which of {1} moves reach it?",
    "bounds": "{0} lies in [{1}, {2}].",
    "closer": "The bounds of {0} nodes are narrowed.",
    "unbounded": "{0} children without bounds are added.",
    "unbounded-one": "1 child without bounds is added.",
    "list": "The list begins with {0}, live, and the bound {1}.",
    "leaf": "{0} is live and a leaf with value {1}; its bound was {2}, so it is solved with {3}.",
    "all": "{0} is live: all its children go into the list.",
    "first": "{0} is live: its first child goes into the list.",
    "parent": (
        "{0} is solved, so its parent is solved; all other states below the parent leave the list."
    ),
    "next": "{0} is solved: its next sibling goes into the list.",
    "last": "{0} is solved and the last child, so its parent is solved.",
    "solved": "The root is solved: {0}.",
    "select": "Selection: from {0} to {1}, whose upper bound {2} is greatest.",
    "untried": "Selection: from {0} to {1}, which has not been tried yet.",
    "drawn": "Chance: a random event leads from {0} to {1}.",
    "grow": "Expansion: {0} gets its children; {1}, which has not been tried yet, is next.",
    "grow-leaf": "Expansion: {0} gets its children.",
    "simulate": "Simulation: {1} moves from {0} to the end; MAX's reward is {2}.",
    "simulate-one": "Simulation: 1 move from {0} to the end; MAX's reward is {2}.",
    "simulate-none": "Simulation: the game is over at {0}; MAX's reward is {2}.",
    "cut-short": "Simulation: {1} moves from {0} to the maximum depth; the evaluation gives {2}.",
    "cut-short-one": "Simulation: 1 move from {0} to the maximum depth; the evaluation gives {2}.",
    "cut-short-none": "Simulation: {0} is at the maximum depth; the evaluation gives {2}.",
    "judge": "The evaluation scores {0}; MAX's reward is {1}.",
    "backup": "Backpropagation: update N and W of {0} nodes, up to the root.",
    "backup-one": "Backpropagation: update N and W of the root.",
    "own-tree": "Save it as tree.yaml, then run: {0}",
    "done": "The search ends.",
    "ends": "The search ends: the best move is {0}, with the value {1}.",
    "ends-value": "The search ends with the value {0}.",
    "ends-bounds": "It may end, because {0} is worth at least {1}, and the others at most {2}.",
    "ends-only": "It may end, because the bounds of the only move {0} have met.",
    "ends-visits": "The search ends: {0} is chosen, which has the most visits, N = {1}.",
    "ends-tied": "Of the moves with as many visits, none has a greater mean reward.",
    "ends-kept": "The search ends: {0} is chosen; moves that rank higher are proven to lose.",
    "ends-mean": "The search ends: {0} is chosen, which has the greatest mean reward, W/N = {1}.",
    "ends-ucb": "The search ends: {0} is chosen, which has the greatest upper bound, {1}.",
    "ends-proven": "The search ends: {0} is chosen, which is proven to win.",
    "stopped": "A limit has stopped the search.",
}

# Words of table cells, and labels of the page, separated by ", ".
WORDS = (
    "WIN, LOSS, chance, bet, roll, hold, liar, pass, live, solved, node, state, bound, window, "
    "depth, value, move, nodes, leaves, cut-offs, re-searches, table hits, playouts, stack, open, "
    "memory, children, step, steps, theory, all leaves, least leaves, branching, start, back, "
    "forward, next cut, next change of a value, end, play, pause, fit, zoom in, zoom out, follow, "
    "boards, fold, unfold all, what happens, counts, pseudo-code, language, keys, the tree, own "
    "tree, your own tree, add a child, remove, name, lower bound, upper bound, static value, "
    "chances, negamax, MAX and MIN, move together by, leaf, save as YAML, search this tree, "
    "random, close, nothing yet, speed"
)

KEYS = (
    "→ forward, ← back, c next cut-off, v next change of a value, Home start, End the end, "
    "space play or pause, + and - zoom, 0 fit, f follow, b boards, Enter fold the node"
)


def translations() -> dict[str, dict[str, dict[str, str]]]:
    """Return all texts by language, in the format that the page's scripts use."""
    return {language: _texts(language) for language in LANGUAGES}


def _texts(language: str) -> dict[str, dict[str, str]]:
    words = () if language == "en" else WORDS.split(", ")
    return {
        "sentences": {key: translate(text, language) for key, text in SENTENCES.items()},
        "words": {word: translate(word, language) for word in words},
        "help": {"keys": translate(KEYS, language)},
    }
