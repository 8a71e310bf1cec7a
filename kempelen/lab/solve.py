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

from agent.game import NotatedGame, format_line
from agent.search.algorithms.and_or import AndOr, Strategy
from agent.search.algorithms.mtd import MTD, MTDOptions
from agent.search.search import SearchOptions
from agent.search.stats import SearchStats, SearchStopped
from kempelen.console import pictures
from kempelen.console.argument_types import positive_int
from kempelen.lab import language, limit_arguments, problems, tree_picture
from kempelen.lab.language import format_value
from kempelen.lab.output import print_plain, working
from kempelen.lab.problems import SearchProblem
from kempelen.lab.search_tree import MAX_NODES, NodeKind, SearchTreeNode

# The most branches of a strategy that are written out.
DEFAULT_BRANCHES = 60


@dataclass(frozen=True)
class Solution:
    """A solved position: its value for player 0, best play, and who wins how.

    winner: 0 or 1, None in a draw. strategy: the winner's, or None.
    """

    value: float
    line: tuple[Any, ...]
    winner: int | None
    strategy: Strategy[Any] | None
    counts: SearchStats


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    problems.configure(parser, depth=False)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help=f"draw the strategy; the name ends in {', '.join(pictures.SUFFIXES)}",
    )  # fmt: skip
    parser.add_argument(
        "--whole", action="store_true", help="draw the strategy within the whole tree of the game"
    )
    parser.add_argument(
        "--branches", type=positive_int, default=DEFAULT_BRANCHES, metavar="N",
        help=f"write out so many branches of the strategy (default: {DEFAULT_BRANCHES})",
    )  # fmt: skip
    limit_arguments.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Solve and print; the exit status is 1 if a limit came before the solution."""
    if arguments.output is not None:
        pictures.check_picture(arguments.output, libraries=tree_picture.LIBRARIES)
    problem = problems.problem_from(arguments)
    if problem.is_chance:
        raise ValueError(f"{problem.name} is a game of chance and has no strategy that always wins")
    translate = language.translator(arguments.lang)
    try:
        with working(translate("solving")):
            found = solve(problem, arguments)
    except SearchStopped:
        print(f"{problem.name}: {translate('stopped')}")
        return 1
    if arguments.json:
        print(json.dumps(language.json_value(_as_json(problem, found))))
    else:
        _print(problem, found, arguments.branches, translate)
    if arguments.output is not None:
        root = strategy_tree(problem.game, found, translate, whole=arguments.whole)
        title = f"{problem.name}: {_verdict(found, translate)}"
        pictures.save(
            tree_picture.tree_figure(root, title, translate, strategy=True), arguments.output
        )
    return 0


def solve(problem: SearchProblem, arguments: Namespace) -> Solution:
    """Return what `solution` does, within the limits; raises SearchStopped at one."""
    return solve_position(problem, limit_arguments.node_limit_from(arguments), arguments.movetime)


def solve_position(
    problem: SearchProblem, limit: float = inf, movetime: float | None = None
) -> Solution:
    """Return the game's value from its position, and a winning strategy if somebody wins.

    Raises SearchStopped at a limit of nodes, or of seconds for each of its searches.
    """
    exact = MTD[Any](problem.evaluate, MTDOptions(node_limit=limit))
    with limit_arguments.time_limited(exact, movetime):
        found = exact.search(problem.game, problems.UNLIMITED_DEPTH)
    value = -found.value if problem.game.turn else found.value
    counts = exact.counts
    if not value:
        return Solution(value, found.pv, None, None, counts)
    winner = 0 if value > 0 else 1
    solver = AndOr[Any](problem.evaluate, SearchOptions(node_limit=limit))
    with limit_arguments.time_limited(solver, movetime):
        strategy = _winning_strategy(solver, problem.game, winner)
    return Solution(value, found.pv, winner, strategy, solver.counts)


def _winning_strategy(solver: AndOr[Any], game: NotatedGame[Any], winner: int) -> Strategy[Any]:
    """Return how the winner wins, also where the other is to move."""
    if game.outcome() is not None:
        return Strategy()
    if game.turn == winner:
        solver.search(game, problems.UNLIMITED_DEPTH)
        assert solver.strategy is not None
        return solver.strategy
    answers = {}
    for move in list(game.moves()):
        game.play(move)
        try:
            answers[move] = _winning_strategy(solver, game, winner)
        finally:
            game.undo()
    return Strategy(answers)


def _verdict(found: Solution, translate: language.Translator) -> str:
    if found.winner is None:
        return translate("draw")
    who = translate("the first player" if found.winner == 0 else "the second player")
    return f"{who} {translate('wins')}"


def _print(
    problem: SearchProblem, found: Solution, branches: int, translate: language.Translator
) -> None:
    line = " ".join(
        language.translate_move(text, translate) for text in format_line(problem.game, found.line)
    )
    shown: list[RenderableType] = [
        str(problem.game),
        f"{translate('value')} {format_value(found.value)}: {_verdict(found, translate)}",
        f"{translate('best play')}: {line or '-'}",
        f"{found.counts.nodes} {translate('nodes')}",
    ]
    if found.strategy is not None and found.strategy.answers:
        size = found.strategy.size()
        shown.append(f"{translate('winning strategy')} ({size} {translate('positions')}):")
        tree = RichTree("ε")
        left = _add_branches(tree, problem.game, found.strategy, found.winner, branches, translate)
        shown.append(tree)
        if left < 0:
            shown.append(f"... {size - branches - 1} {translate('more')} (--branches)")
    print_plain(*shown)


def _add_branches(
    tree: RichTree,
    game: NotatedGame[Any],
    strategy: Strategy[Any],
    winner: int | None,
    left: int,
    translate: language.Translator,
) -> int:
    """Add the strategy's branches, `left` of them at most; return how many may still come.

    It is below 0 where some were left out.
    """
    for move, answer in strategy.answers.items():
        if left <= 0:
            return -1
        mark = "●" if game.turn == winner else "○"
        text = f"{mark} {language.translate_move(game.text(move), translate)}"
        game.play(move)
        if not answer.answers:
            text += f"  {translate('wins')}"
        left = _add_branches(tree.add(text), game, answer, winner, left - 1, translate)
        game.undo()
        if left < 0:
            return left
    return left


def _as_json(problem: SearchProblem, found: Solution) -> dict[str, Any]:
    def nested(strategy: Strategy[Any]) -> dict[str, Any]:
        answers = {}
        for move, answer in strategy.answers.items():
            text = problem.game.text(move)
            problem.game.play(move)
            answers[text] = nested(answer)
            problem.game.undo()
        return answers

    return {
        "game": problem.name,
        "value": found.value,
        "winner": found.winner,
        "line": format_line(problem.game, found.line),
        "strategy": nested(found.strategy) if found.strategy else None,
        "counts": asdict(found.counts) | {"evaluations": found.counts.evaluations},
    }


def strategy_tree(
    game: NotatedGame[Any], found: Solution, translate: language.Translator, *, whole: bool = False
) -> SearchTreeNode:
    """Return the strategy, or in a draw the line of best play, as a tree to be drawn.

    whole: within the whole tree of the game. Raises ValueError if that is too much to see.
    """
    strategy = found.strategy
    if strategy is None:
        strategy = Strategy()
        for move in reversed(found.line):
            strategy = Strategy({move: strategy})
    if not whole and strategy.size() > MAX_NODES:
        raise ValueError(
            f"the strategy has {strategy.size()} positions, too many to see: use a smaller game "
            "(--size) or a later position (--moves)"
        )
    count = 0

    def grow(label: tuple[int, ...], move: str, below: Strategy[Any] | None) -> SearchTreeNode:
        nonlocal count
        count += 1
        if count > MAX_NODES:
            raise ValueError(
                f"the tree has more than {MAX_NODES} nodes, too many to see: use a smaller "
                "--depth, a later position (--moves) or a smaller game (--size)"
            )
        kind: NodeKind = "MAX" if game.turn == 0 else "MIN"
        node = SearchTreeNode(label, kind, move, order=count)
        outcome = game.outcome()
        node.is_leaf = outcome is not None
        known = found.value if below is not None else None
        value = known if outcome is None else outcome
        node.value = "" if value is None else format_value(value)
        answers = {} if below is None else below.answers
        moves = list(game.moves()) if whole and outcome is None else list(answers)
        for place, played in enumerate(moves, 1):
            text = language.translate_move(game.text(played), translate)
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
