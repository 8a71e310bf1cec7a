"""What the lab looks at: a game, positions of it, and the value of those that are not its end."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Any

from agent.evaluation_loading import load_game_evaluation
from agent.game import CHANCE, ChanceGame, HasSymmetry, NotatedGame, parse_move
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.search import Search
from agent.search.symmetry_reduced_game import SymmetryReducedGame
from kempelen.console import game_arguments
from kempelen.console.argument_types import positive_int
from kempelen.lab import language

# How deep a game is searched when nobody says; a tree is searched to its leaves.
DEFAULT_DEPTH = 4
# A depth beyond the end of every game.
UNLIMITED_DEPTH = 1000


@dataclass(frozen=True)
class SearchProblem:
    """A game to look at: its name, its position, and how it is searched.

    scale: what counts as a whole win for Monte Carlo tree search.
    """

    name: str
    game: NotatedGame[Any]
    evaluate: Callable[[Any], float]
    depth: int
    scale: float = 1

    @property
    def is_chance(self) -> bool:
        """Whether dice or cards take part."""
        return isinstance(self.game, ChanceGame)

    def search(
        self,
        algorithm: AlgorithmSpec,
        *,
        seed: int = 0,
        node_limit: float = inf,
        kind: type[Search[Any]] | None = None,
    ) -> Search[Any]:
        """Return an algorithm set up for the game, as `Configuration.new` does."""
        return algorithm.new(
            self.game,
            self.evaluate,
            scale=self.scale,
            seed=seed,
            node_limit=node_limit,
            kind=kind,
        )


def configure(parser: ArgumentParser, *, game: str | None = None, depth: bool = True) -> None:
    """Declare how a game is named; `game` is the one looked at when none is."""
    game_arguments.configure(parser, game=game)
    parser.add_argument("--moves", default="", metavar="'M ...'", help="moves to begin with")
    parser.add_argument(
        "--fold", action="store_true",
        help="of positions that a symmetry maps to each other look at one only",
    )  # fmt: skip
    parser.add_argument(
        "--factor", type=positive_int, metavar="N",
        help="heuristic pruning: N moves at the root, below as many as the parent less the rank",
    )  # fmt: skip
    if depth:
        parser.add_argument(
            "--depth", type=positive_int, metavar="D",
            help=f"plies (default: {DEFAULT_DEPTH}; a tree is searched to its leaves)",
        )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (default: 0)")


def problem_from(arguments: Namespace) -> SearchProblem:
    """Return what the arguments name.

    Raises ValueError, OSError or EvaluationError with a message for the user.
    """
    also = {"seed": arguments.seed}
    if getattr(arguments, "depth", None):
        also["depth"] = arguments.depth
    kind, options = game_arguments.game_from(arguments, also)
    game = kind.new(**options)
    for text in arguments.moves.split():
        game.play(parse_move(game, language.parse_move(text, language.translator(arguments.lang))))
    depth = getattr(arguments, "depth", None) or (
        UNLIMITED_DEPTH if isinstance(game, Tree) else DEFAULT_DEPTH
    )
    name = kind.name if arguments.tree is None else str(arguments.tree)
    scale = (game.max_utility() if isinstance(game, Tree) else 0) or 1
    evaluate = load_game_evaluation(kind, arguments.evaluation)
    if arguments.fold:
        if not isinstance(game, HasSymmetry):
            raise ValueError(f"{name} has no symmetries to --fold")
        game, evaluate = SymmetryReducedGame(game), _evaluate_wrapped(evaluate)
    if arguments.factor is not None:
        game, evaluate = (
            BeamLimitedGame(game, evaluate, arguments.factor),
            _evaluate_wrapped(evaluate),
        )
    return SearchProblem(name, game, evaluate, depth, scale)


def _evaluate_wrapped(evaluate: Callable[[Any], float]) -> Callable[[Any], float]:
    """Return an evaluation of a game that wraps another."""
    return lambda wrapper: evaluate(wrapper.game)


def problems_from(arguments: Namespace, count: int) -> list[SearchProblem]:
    """Return so many positions: the one named, then others reached from it by random moves.

    Of a random tree they are the roots of different trees.
    """
    first = problem_from(arguments)
    found = [first]
    random = Random(arguments.seed)
    for number in range(1, count):
        if isinstance(first.game, RandomTree):
            shifted = [*arguments.option, ("seed", arguments.seed + number)]
            found.append(problem_from(Namespace(**{**vars(arguments), "option": shifted})))
        else:
            another = problem_from(arguments)
            _play_random_moves(another.game, random)
            found.append(another)
    return found


def mean_branching(game: NotatedGame[Any], depth: int, seed: int, samples: int = 200) -> float:
    """Return the mean number of moves in the first `depth` plies, of games played at random."""
    random = Random(seed)
    total = count = 0
    for _ in range(samples):
        played = 0
        while played < depth and (moves := list(game.moves())):
            if game.turn != CHANCE:
                total, count = total + len(moves), count + 1
            game.play(random.choice(moves))
            played += 1
        for _ in range(played):
            game.undo()
    return total / count if count else 1.0


def _play_random_moves(game: NotatedGame[Any], random: Random, plies: int = 6) -> None:
    """Play up to so many random moves, none that ends the game."""
    for _ in range(random.randint(1, plies)):
        going_on = []
        for move in list(game.moves()):
            game.play(move)
            if game.outcome() is None:
                going_on.append(move)
            game.undo()
        if not going_on:
            return
        game.play(random.choice(going_on))
    while game.turn == CHANCE:
        game.play(random.choice(list(game.moves())))
