"""Create search problems from command-line options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any

from agent.evaluation_loading import load_game_evaluation
from agent.game import CHANCE, ChanceGame, HasSymmetry, NotatedGame, parse_move
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree, is_inline_tree
from agent.io.message import Message
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.search import Search
from agent.search.symmetry_reduced_game import SymmetryReducedGame
from agent.search.tree_cursor import Label
from kempelen.console import game_arguments
from kempelen.console.argument_types import integer, positive_int
from kempelen.console.old_names import add_alias
from kempelen.lab import language

# Default search depth in plies for games. Trees are searched to their leaves.
DEFAULT_DEPTH = 4
# A depth beyond the end of every game.
UNLIMITED_DEPTH = 1000
# Random games for an estimate of the branching factor, and maximum length of a random opening.
BRANCHING_SAMPLES, MAX_RANDOM_PLIES = 200, 6


@dataclass(frozen=True)
class SearchProblem:
    """A position to search, with its evaluation and the search depth in plies.

    The depth of a tree is at most its height, because NegaScout 1 compares the two. `scale` is the
    utility that Monte Carlo tree search counts as a full win.
    """

    name: str
    game: NotatedGame[Any]
    evaluate: Callable[[Any], float]
    depth: int
    scale: float = 1
    # The names of nodes in a tree file.
    _names: dict[Label, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        game = innermost_game(self.game)
        if isinstance(game, Tree):
            object.__setattr__(self, "depth", min(self.depth, max(1, game.height())))
            names = game.names()
            if names and self.game is not game:
                names = _names_in_order(self.game, game)
            object.__setattr__(self, "_names", names)

    def node_name(self, label: Label) -> str:
        """Return the name of a node in the tree file, or else its label, such as "1.2"."""
        return self._names.get(label) or language.format_label(label)

    @property
    def is_chance(self) -> bool:
        return isinstance(self.game, ChanceGame)

    def search(
        self, algorithm: AlgorithmSpec, *, seed: int = 0, node_limit: float = inf
    ) -> Search[Any]:
        return algorithm.new(
            self.game, self.evaluate, scale=self.scale, seed=seed, node_limit=node_limit
        )


def innermost_game(game: Any) -> Any:
    """Return the game inside wrappers that limit its moves."""
    while isinstance(game, (BeamLimitedGame, SymmetryReducedGame)):
        game = game.game
    return game


def _names_in_order(game: NotatedGame[Any], tree: Tree) -> dict[Label, str]:
    """Return the names of nodes by their place among the moves that a wrapped tree offers."""
    names: dict[Label, str] = {}

    def visit(label: Label) -> None:
        if tree.name:
            names[label] = tree.name
        for place, move in enumerate(list(game.moves()), 1):
            game.play(move)
            visit((*label, place))
            game.undo()

    visit(())
    return names


def configure(parser: ArgumentParser, *, game: str | None = None, depth: bool = True) -> None:
    """Add the options that select a game and a position, and `--depth` if `depth` is true."""
    game_arguments.configure(parser, game=game)
    parser.add_argument("--moves", default="", metavar="'M ...'", help="moves to play first")
    symmetry = parser.add_argument(
        "--symmetry", action="store_true", help="merge symmetric positions"
    )
    add_alias(parser, "--fold", symmetry)
    beam = parser.add_argument(
        "--beam", type=positive_int, metavar="N",
        help="heuristic pruning: N moves at the root; below, the parent's number minus the "
        "move's rank",
    )  # fmt: skip
    add_alias(parser, "--factor", beam)
    if depth:
        parser.add_argument(
            "--depth", type=positive_int, metavar="D",
            help=Message(
                "search depth in plies (default: {}; trees: to the leaves)", DEFAULT_DEPTH
            ),
        )  # fmt: skip
    parser.add_argument("--seed", type=integer, default=0, help="random seed (default: 0)")


def problem_from(arguments: Namespace) -> SearchProblem:
    """Create the search problem that the arguments describe.

    Raise ValueError, OSError or EvaluationError if the arguments are invalid.
    """
    defaults = {"seed": arguments.seed}
    if getattr(arguments, "depth", None):
        defaults["depth"] = arguments.depth
    kind, options = game_arguments.game_from(arguments, defaults)
    game = kind.new(**options)
    for notation in arguments.moves.split():
        game.play(
            parse_move(game, language.parse_move(notation, language.translator(arguments.lang)))
        )
    depth = getattr(arguments, "depth", None) or (
        UNLIMITED_DEPTH if isinstance(game, Tree) else DEFAULT_DEPTH
    )
    is_file = arguments.tree is not None and not is_inline_tree(arguments.tree)
    name = arguments.tree if is_file else kind.name
    scale = (game.max_utility() if isinstance(game, Tree) else 0) or 1
    evaluate = load_game_evaluation(kind, arguments.evaluation)
    if arguments.symmetry:
        if not isinstance(game, HasSymmetry):
            raise ValueError(Message("--symmetry: {} has no symmetries", name))
        game, evaluate = SymmetryReducedGame(game), _evaluate_wrapped(evaluate)
    if arguments.beam is not None:
        if isinstance(game, ChanceGame):
            raise ValueError(Message("--beam: games of chance are not supported ({})", name))
        game, evaluate = (
            BeamLimitedGame(game, evaluate, arguments.beam),
            _evaluate_wrapped(evaluate),
        )
    return SearchProblem(name, game, evaluate, depth, scale)


def _evaluate_wrapped(evaluate: Callable[[Any], float]) -> Callable[[Any], float]:
    return lambda wrapper: evaluate(wrapper.game)


def problems_from(arguments: Namespace, count: int) -> list[SearchProblem]:
    """Return the problem that the arguments describe, followed by `count` - 1 variations.

    A variation starts after random moves or, if the game is a random tree, uses another seed.
    """
    first = problem_from(arguments)
    problems = [first]
    random = Random(arguments.seed)
    for offset in range(1, count):
        if isinstance(first.game, RandomTree):
            shifted = [*arguments.option, ("seed", arguments.seed + offset)]
            problems.append(problem_from(Namespace(**{**vars(arguments), "option": shifted})))
        else:
            problem = problem_from(arguments)
            _play_random_moves(problem.game, random)
            problems.append(problem)
    return problems


def mean_branching(game: NotatedGame[Any], depth: int, seed: int) -> float:
    """Estimate the mean number of legal moves in the first `depth` plies of random games.

    Chance events are not counted. Return 1.0 if the game is over.
    """
    random = Random(seed)
    total = count = 0
    for _ in range(BRANCHING_SAMPLES):
        plies = 0
        while plies < depth and (moves := list(game.moves())):
            if game.turn != CHANCE:
                total, count = total + len(moves), count + 1
            game.play(random.choice(moves))
            plies += 1
        for _ in range(plies):
            game.undo()
    return total / count if count else 1.0


def _play_random_moves(game: NotatedGame[Any], random: Random) -> None:
    for _ in range(random.randint(1, MAX_RANDOM_PLIES)):
        candidates = []
        for move in list(game.moves()):
            game.play(move)
            if game.outcome() is None:
                candidates.append(move)
            game.undo()
        if not candidates:
            return
        game.play(random.choice(candidates))
    while game.turn == CHANCE:
        game.play(random.choice(list(game.moves())))
