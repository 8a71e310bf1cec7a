"""`kempelen lab solve`: the value of a game, and the strategy that reaches it.

A winning strategy is an AND/OR sub-tree: one move at each position of the winner, an answer to
each move at each position of the other. In a drawn game both players have moves that hold the
draw; the line shown is one of best play.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.tree import Tree as RichTree

from agent.game import Written, write_line
from agent.search.and_or import AndOr, Strategy
from agent.search.counts import Counts, SearchStopped
from agent.search.mtd import MTD, MTDOptions
from agent.search.search import SearchOptions
from kempelen import pictures
from kempelen.lab import limits, picture, subject, words
from kempelen.lab.output import show, working
from kempelen.lab.sketch import MOST_NODES, Kind, Sketched
from kempelen.lab.subject import Subject
from kempelen.lab.words import number
from kempelen.numbers import positive

# The most branches of a strategy that are written out.
SHOWN = 60


@dataclass(frozen=True)
class Solution:
    """A solved position: its value for player 0, best play, and who wins how.

    winner: 0 or 1, None in a draw. strategy: the winner's, or None.
    """

    value: float
    line: tuple[Any, ...]
    winner: int | None
    strategy: Strategy[Any] | None
    counts: Counts


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser, depth=False)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help=f"draw the strategy; the name ends in {', '.join(pictures.SUFFIXES)}",
    )  # fmt: skip
    parser.add_argument(
        "--whole", action="store_true", help="draw the strategy within the whole tree of the game"
    )
    parser.add_argument(
        "--branches", type=positive, default=SHOWN, metavar="N",
        help=f"write out so many branches of the strategy (default: {SHOWN})",
    )  # fmt: skip
    limits.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Solve and print; the exit status is 1 if a limit came before the solution."""
    if arguments.output is not None:
        pictures.check_picture(arguments.output, libraries=picture.LIBRARIES)
    at = subject.subject(arguments)
    if at.is_chance:
        raise ValueError(f"{at.name} is a game of chance and has no strategy that always wins")
    say = words.language(arguments.lang)
    try:
        with working(say("solving")):
            found = solve(at, arguments)
    except SearchStopped:
        print(f"{at.name}: {say('stopped')}")
        return 1
    if arguments.json:
        print(json.dumps(words.as_json(_as_json(at, found))))
    else:
        _print(at, found, arguments.branches, say)
    if arguments.output is not None:
        root = sketch_strategy(at.game, found, say, whole=arguments.whole)
        title = f"{at.name}: {_verdict(found, say)}"
        pictures.save(picture.tree_figure(root, title, say, strategy=True), arguments.output)
    return 0


def solve(at: Subject, arguments: Namespace) -> Solution:
    """Return what `solution` does, within the limits; raises SearchStopped at one."""
    return solution(at, limits.node_limit(arguments), arguments.movetime)


def solution(at: Subject, limit: float = inf, movetime: float | None = None) -> Solution:
    """Return the game's value from its position, and a winning strategy if somebody wins.

    Raises SearchStopped at a limit of nodes, or of seconds for each of its searches.
    """
    exact = MTD[Any](at.evaluate, MTDOptions(node_limit=limit))
    with limits.in_time(exact, movetime):
        found = exact.search(at.game, subject.TO_THE_END)
    value = -found.value if at.game.turn else found.value
    counts = exact.counts
    if not value:
        return Solution(value, found.pv, None, None, counts)
    winner = 0 if value > 0 else 1
    solver = AndOr[Any](at.evaluate, SearchOptions(node_limit=limit))
    with limits.in_time(solver, movetime):
        strategy = _strategy(solver, at.game, winner)
    return Solution(value, found.pv, winner, strategy, solver.counts)


def _strategy(solver: AndOr[Any], game: Written[Any], winner: int) -> Strategy[Any]:
    """Return how the winner wins, also where the other is to move."""
    if game.outcome() is not None:
        return Strategy()
    if game.turn == winner:
        solver.search(game, subject.TO_THE_END)
        assert solver.strategy is not None
        return solver.strategy
    answers = {}
    for move in list(game.moves()):
        game.play(move)
        try:
            answers[move] = _strategy(solver, game, winner)
        finally:
            game.undo()
    return Strategy(answers)


def _verdict(found: Solution, say: words.Say) -> str:
    if found.winner is None:
        return say("draw")
    who = say("the first player" if found.winner == 0 else "the second player")
    return f"{who} {say('wins')}"


def _print(at: Subject, found: Solution, branches: int, say: words.Say) -> None:
    line = " ".join(words.move(text, say) for text in write_line(at.game, found.line))
    shown: list[RenderableType] = [
        str(at.game),
        f"{say('value')} {number(found.value)}: {_verdict(found, say)}",
        f"{say('best play')}: {line or '-'}",
        f"{found.counts.nodes} {say('nodes')}",
    ]
    if found.strategy is not None and found.strategy.answers:
        size = found.strategy.size()
        shown.append(f"{say('winning strategy')} ({size} {say('positions')}):")
        tree = RichTree("ε")
        left = _grow(tree, at.game, found.strategy, found.winner, branches, say)
        shown.append(tree)
        if left < 0:
            shown.append(f"... {size - branches - 1} {say('more')} (--branches)")
    show(*shown)


def _grow(
    tree: RichTree,
    game: Written[Any],
    strategy: Strategy[Any],
    winner: int | None,
    left: int,
    say: words.Say,
) -> int:
    """Add the strategy's branches, `left` of them at most; return how many may still come.

    It is below 0 where some were left out.
    """
    for move, answer in strategy.answers.items():
        if left <= 0:
            return -1
        mark = "●" if game.turn == winner else "○"
        text = f"{mark} {words.move(game.text(move), say)}"
        game.play(move)
        if not answer.answers:
            text += f"  {say('wins')}"
        left = _grow(tree.add(text), game, answer, winner, left - 1, say)
        game.undo()
        if left < 0:
            return left
    return left


def _as_json(at: Subject, found: Solution) -> dict[str, Any]:
    def nested(strategy: Strategy[Any]) -> dict[str, Any]:
        answers = {}
        for move, answer in strategy.answers.items():
            text = at.game.text(move)
            at.game.play(move)
            answers[text] = nested(answer)
            at.game.undo()
        return answers

    return {
        "game": at.name,
        "value": found.value,
        "winner": found.winner,
        "line": write_line(at.game, found.line),
        "strategy": nested(found.strategy) if found.strategy else None,
        "counts": asdict(found.counts) | {"evaluations": found.counts.evaluations},
    }


def sketch_strategy(
    game: Written[Any], found: Solution, say: words.Say, *, whole: bool = False
) -> Sketched:
    """Return the strategy, or in a draw the line of best play, as a tree to be drawn.

    whole: within the whole tree of the game. Raises ValueError if that is too much to see.
    """
    strategy = found.strategy
    if strategy is None:
        strategy = Strategy()
        for move in reversed(found.line):
            strategy = Strategy({move: strategy})
    if not whole and strategy.size() > MOST_NODES:
        raise ValueError(
            f"the strategy has {strategy.size()} positions, too many to see: use a smaller game "
            "(--size) or a later position (--moves)"
        )
    count = 0

    def grow(label: tuple[int, ...], move: str, below: Strategy[Any] | None) -> Sketched:
        nonlocal count
        count += 1
        if count > MOST_NODES:
            raise ValueError(
                f"the tree has more than {MOST_NODES} nodes, too many to see: use a smaller "
                "--depth, a later position (--moves) or a smaller game (--size)"
            )
        kind: Kind = "MAX" if game.turn == 0 else "MIN"
        node = Sketched(label, kind, move, order=count)
        outcome = game.outcome()
        node.is_leaf = outcome is not None
        known = found.value if below is not None else None
        value = known if outcome is None else outcome
        node.value = "" if value is None else number(value)
        answers = {} if below is None else below.answers
        moves = list(game.moves()) if whole and outcome is None else list(answers)
        for place, played in enumerate(moves, 1):
            text = words.move(game.text(played), say)
            winners = game.turn == found.winner
            game.play(played)
            child = grow((*label, place), text, answers.get(played))
            child.is_principal = played in answers and (whole or winners or found.winner is None)
            node.children.append(child)
            game.undo()
        return node

    root = grow((), "", strategy)
    root.is_principal = whole
    return root
