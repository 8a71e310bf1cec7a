"""`kempelen lab solve`: find the value of a game and a winning strategy.

A winning strategy gives the winner one move in each position that the opponent's moves can lead
to.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.tree import Tree as RichTree

from agent.game import NotatedGame, format_line
from agent.io.message import Message
from agent.search.algorithms.and_or import AndOr, Strategy
from agent.search.algorithms.mtd import MTD, MTDOptions
from agent.search.search import SearchOptions
from agent.search.stats import SearchStats, SearchStopped
from agent.search.tree_cursor import Label
from kempelen.console import pictures
from kempelen.console.argument_types import positive_int
from kempelen.console.old_names import add_alias
from kempelen.lab import language, limit_arguments, problems, tree_picture
from kempelen.lab.language import counted, format_value
from kempelen.lab.output import print_plain, working
from kempelen.lab.problems import SearchProblem
from kempelen.lab.search_tree import MAX_NODES, NodeKind, SearchTreeNode, position_text

# Number of strategy branches to print.
DEFAULT_BRANCHES = 60


@dataclass(frozen=True)
class Solution:
    """The value of a position and the optimal play.

    `value` is for player 0. `line` is a line of best play. `winner` (0 or 1) and `strategy` are
    None for a draw.
    """

    value: float
    line: tuple[Any, ...]
    winner: int | None
    strategy: Strategy[Any] | None
    counts: SearchStats


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser, depth=False)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE",
        help=Message("draw the strategy to FILE (suffix: {})", ", ".join(pictures.SUFFIXES)),
    )  # fmt: skip
    full_tree = parser.add_argument(
        "--full-tree", action="store_true", help="draw the strategy inside the complete game tree"
    )
    add_alias(parser, "--whole", full_tree)
    parser.add_argument(
        "--branches", type=positive_int, default=DEFAULT_BRANCHES, metavar="N",
        help="number of strategy branches to print (default: %(default)s)",
    )  # fmt: skip
    limit_arguments.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Solve the game and print the solution. Return 1 if a limit stopped the search."""
    if arguments.output is not None:
        pictures.check_picture(arguments.output, libraries=tree_picture.LIBRARIES)
    problem = problems.problem_from(arguments)
    if problem.is_chance:
        raise ValueError(
            Message("{}: games of chance cannot be solved (no strategy always wins)", problem.name)
        )
    translate = language.translator(arguments.lang)
    try:
        with working(translate("solving")):
            limit = limit_arguments.node_limit_from(arguments)
            solution = solve_position(problem, limit, arguments.movetime)
    except SearchStopped:
        print(f"{problem.name}: {translate('stopped')}")
        return 1
    if arguments.json:
        print(json.dumps(language.json_value(_as_json(problem, solution))))
    else:
        _print(problem, solution, arguments.branches, translate)
    if arguments.output is not None:
        root = strategy_tree(problem.game, solution, translate, whole=arguments.full_tree)
        title = f"{problem.name}: {_verdict(solution, translate)}"
        pictures.save(
            tree_picture.tree_figure(root, title, translate, strategy=True), arguments.output
        )
    return 0


def solve_position(
    problem: SearchProblem, limit: float = inf, movetime: float | None = None
) -> Solution:
    """Return the value of a position, and a winning strategy unless it is a draw.

    Raise SearchStopped if a search exceeds `limit` nodes or `movetime` seconds.
    """
    mtd = MTD[Any](problem.evaluate, MTDOptions(node_limit=limit))
    with limit_arguments.time_limited(mtd, movetime):
        result = mtd.search(problem.game, problems.UNLIMITED_DEPTH)
    value = -result.value if problem.game.turn else result.value
    counts = mtd.counts
    if not value:
        return Solution(value, result.pv, None, None, counts)
    winner = 0 if value > 0 else 1
    solver = AndOr[Any](problem.evaluate, SearchOptions(node_limit=limit))
    with limit_arguments.time_limited(solver, movetime):
        strategy = _winning_strategy(solver, problem.game, winner)
    return Solution(value, result.pv, winner, strategy, solver.counts)


def _winning_strategy(solver: AndOr[Any], game: NotatedGame[Any], winner: int) -> Strategy[Any]:
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


def _verdict(solution: Solution, translate: language.Translator) -> str:
    if solution.winner is None:
        return translate("draw")
    player = translate("the first player" if solution.winner == 0 else "the second player")
    return f"{player} {translate('wins')}"


def _print(
    problem: SearchProblem, solution: Solution, branches: int, translate: language.Translator
) -> None:
    line = " ".join(
        language.translate_move(text, translate)
        for text in format_line(problem.game, solution.line)
    )
    shown: list[RenderableType] = [
        str(problem.game),
        f"{translate('value')} {format_value(solution.value)}: {_verdict(solution, translate)}",
        f"{translate('best play')}: {line or '-'}",
        counted(solution.counts.nodes, "node", "nodes", translate),
    ]
    if solution.strategy is not None and solution.strategy.answers:
        size = solution.strategy.size()
        number = counted(size, "position", "positions", translate)
        shown.append(f"{translate('winning strategy')} ({number}):")
        tree = RichTree("ε")
        remaining = _add_branches(
            tree, problem.game, solution.strategy, solution.winner, branches, translate
        )
        shown.append(tree)
        if remaining < 0:
            shown.append(f"... {size - branches - 1} {translate('more')} (--branches)")
    print_plain(*shown)


def _add_branches(
    tree: RichTree,
    game: NotatedGame[Any],
    strategy: Strategy[Any],
    winner: int | None,
    remaining: int,
    translate: language.Translator,
) -> int:
    """Add at most `remaining` strategy branches to the tree.

    Return how many more branches may be added, or -1 if branches were omitted.
    """
    for move, answer in strategy.answers.items():
        if remaining <= 0:
            return -1
        mark = "●" if game.turn == winner else "○"
        text = f"{mark} {language.translate_move(game.text(move), translate)}"
        game.play(move)
        if not answer.answers:
            text += f"  {translate('wins')}"
        remaining = _add_branches(tree.add(text), game, answer, winner, remaining - 1, translate)
        game.undo()
        if remaining < 0:
            return remaining
    return remaining


def _as_json(problem: SearchProblem, solution: Solution) -> dict[str, Any]:
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
        "value": solution.value,
        "winner": solution.winner,
        "line": format_line(problem.game, solution.line),
        "strategy": nested(solution.strategy) if solution.strategy else None,
        "counts": asdict(solution.counts) | {"evaluations": solution.counts.evaluations},
    }


def strategy_tree(
    game: NotatedGame[Any],
    solution: Solution,
    translate: language.Translator,
    *,
    whole: bool = False,
    merged: bool = False,
    label_value: Callable[[float], str] = format_value,
) -> SearchTreeNode:
    """Return the winning strategy, or the line of best play for a draw, as a tree for drawing.

    If `whole` is true, the tree contains all positions of the game, with their values. A position
    that occurs again is linked to its first occurrence. If `merged` is true, only the first
    occurrence has children. `label_value` formats values. Raise ValueError if the tree has more
    than `MAX_NODES` nodes.
    """
    strategy = solution.strategy
    if strategy is None:
        strategy = Strategy()
        for move in reversed(solution.line):
            strategy = Strategy({move: strategy})
    if not whole and strategy.size() > MAX_NODES:
        raise ValueError(
            Message(
                "strategy: {} positions, too many to draw (use a smaller game with --size, "
                "or a later position with --moves)",
                strategy.size(),
            )
        )
    known = _strategies(game, strategy) if merged else {}
    builder = _StrategyTreeBuilder(game, solution, translate, whole, merged, label_value, known)
    root = builder.build((), "", strategy)
    root.is_principal = whole
    return root


@dataclass
class _StrategyTreeBuilder:
    """Builds the tree below the game's position. `known` are the strategies of its positions."""

    game: NotatedGame[Any]
    solution: Solution
    translate: language.Translator
    whole: bool
    merged: bool
    label_value: Callable[[float], str]
    known: Mapping[Hashable, Strategy[Any]]
    count: int = 0
    first: dict[Hashable, Label] = field(default_factory=dict)  # occurrence of each position
    values: dict[Hashable, float] = field(default_factory=dict)

    def build(self, label: Label, move: str, strategy: Strategy[Any] | None) -> SearchTreeNode:
        self.count += 1
        if self.count > MAX_NODES:
            raise ValueError(
                Message(
                    "tree: more than {} nodes, too many to draw (use a smaller --depth, a later "
                    "position with --moves, or a smaller game with --size)",
                    MAX_NODES,
                )
            )
        game, values, winner = self.game, self.values, self.solution.winner
        key, turn, outcome = _key(game), game.turn, game.outcome()
        strategy = self.known.get(key, strategy)
        kind: NodeKind = "MAX" if turn == 0 else "MIN"
        node = SearchTreeNode(
            *(label, kind, move),
            order=self.count,
            position=position_text(game),
            is_and=winner is not None and turn != winner,
            is_leaf=outcome is not None,
        )
        if outcome is not None:
            values[key] = outcome
        elif self.whole:
            if self.first.setdefault(key, label) != label:
                node.shared = self.first[key]
            if node.shared is None or not self.merged:
                reached = self._add_children(node, strategy, list(game.moves()))
                values[key] = min(reached) if turn else max(reached)
        elif strategy is not None:
            self._add_children(node, strategy, list(strategy.answers))
            values[key] = self.solution.value
        node.value = self.label_value(values[key]) if key in values else ""
        return node

    def _add_children(
        self, node: SearchTreeNode, strategy: Strategy[Any] | None, moves: Sequence[Any]
    ) -> list[float]:
        """Add a child for each move, and return the values of the children."""
        game, turn, winner = self.game, self.game.turn, self.solution.winner
        answers = {} if strategy is None else strategy.answers
        reached = []
        for number, move in enumerate(moves, 1):
            text = language.translate_move(game.text(move), self.translate)
            game.play(move)
            child = self.build((*node.label, number), text, answers.get(move))
            reached.append(self.values.get(_key(game), 0.0))
            child.is_principal = move in answers and (self.whole or winner in (None, turn))
            node.children.append(child)
            game.undo()
        return reached


def _key(game: NotatedGame[Any]) -> Hashable:
    """Return a key of the position as it is shown: `game.key` may merge equivalent positions."""
    return game.turn, game.key(), str(game)


def _strategies(game: NotatedGame[Any], strategy: Strategy[Any]) -> dict[Hashable, Strategy[Any]]:
    """Return the strategy of each position that it reaches."""
    found: dict[Hashable, Strategy[Any]] = {_key(game): strategy}
    for move, answer in strategy.answers.items():
        game.play(move)
        found |= _strategies(game, answer)
        game.undo()
    return found
