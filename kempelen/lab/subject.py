"""What the lab looks at: a game, positions of it, and the value of those that are not its end."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from random import Random
from typing import Any

from agent.game import CHANCE, Chance, Written, find_move
from agent.games import catalogue
from agent.games.catalogue import Kind
from agent.games.random_tree import RandomTree
from agent.games.tree import Node, Tree, read_tree
from kempelen.game_options import fitted, read_option
from kempelen.numbers import positive

# How deep a game is searched when nobody says; a tree is searched to its leaves.
DEPTH = 4
# A depth beyond the end of every game.
TO_THE_END = 1000


@dataclass(frozen=True)
class Subject:
    """A game to look at: its name, its position, and how it is searched.

    scale: what counts as a whole win for Monte Carlo tree search.
    """

    name: str
    game: Written[Any]
    evaluate: Callable[[Any], float]
    depth: int
    scale: float = 1

    @property
    def is_chance(self) -> bool:
        """Whether dice or cards take part."""
        return isinstance(self.game, Chance)


def configure(parser: ArgumentParser, *, game: str | None = None, depth: bool = True) -> None:
    """Declare how a game is named; `game` is the one looked at when none is."""
    which = parser.add_mutually_exclusive_group(required=game is None)
    which.add_argument("--game", default=game, metavar="G", help="a game's name, or FILE.py:Class")
    which.add_argument("--tree", type=Path, metavar="FILE.yaml", help="nested lists of leaf values")
    parser.add_argument(
        "--size",
        "--state",
        metavar="VALUE",
        help="the game's first option: the board's size, the heaps (3,4,5), the counters",
    )
    parser.add_argument(
        "--option", action="append", default=[], type=read_option, metavar="NAME=VALUE",
        help="another option of the game, such as misere=true; may be repeated",
    )  # fmt: skip
    parser.add_argument("--moves", default="", metavar="'M ...'", help="moves to begin with")
    parser.add_argument(
        "--evaluation", metavar="FILE.py:function",
        help="the value of a position for its mover (default: the game's own)",
    )  # fmt: skip
    if depth:
        parser.add_argument(
            "--depth", type=positive, metavar="D",
            help=f"plies (default: {DEPTH}; a tree is searched to its leaves)",
        )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (default: 0)")


def subject(arguments: Namespace) -> Subject:
    """Return what the arguments name.

    Raises ValueError, OSError or EvaluationError with a message for the user.
    """
    kind = catalogue.find("tree" if arguments.tree is not None else arguments.game)
    if arguments.tree is not None:
        name = str(arguments.tree)
        game: Written[Any] = read_tree(arguments.tree)
    else:
        name = kind.name
        game = _new_game(kind, arguments)
    for text in arguments.moves.split():
        game.play(find_move(game, text))
    depth = getattr(arguments, "depth", None) or (TO_THE_END if isinstance(game, Tree) else DEPTH)
    evaluate = kind.evaluation(arguments.evaluation or "handcrafted")
    return Subject(name, game, evaluate, depth, _scale(game))


def positions(arguments: Namespace, count: int) -> list[Subject]:
    """Return so many positions: the one named, then others reached from it by random moves.

    Of a random tree they are the roots of different trees.
    """
    first = subject(arguments)
    found = [first]
    random = Random(arguments.seed)
    for number in range(1, count):
        if isinstance(first.game, RandomTree):
            shifted = [*arguments.option, ("seed", arguments.seed + number)]
            found.append(subject(Namespace(**{**vars(arguments), "option": shifted})))
        else:
            another = subject(arguments)
            _wander(another.game, random)
            found.append(another)
    return found


def branching(game: Written[Any], depth: int, seed: int, samples: int = 200) -> float:
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


def _new_game(kind: Kind, arguments: Namespace) -> Written[Any]:
    """Return the game set up as asked for."""
    options = fitted(kind, arguments.size, arguments.option)
    known = signature(kind.game).parameters
    if "seed" in known:
        options.setdefault("seed", arguments.seed)
    if "depth" in known and getattr(arguments, "depth", None):
        options.setdefault("depth", arguments.depth)
    return kind.new(**options)


def _wander(game: Written[Any], random: Random, plies: int = 6) -> None:
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


def _scale(game: Written[Any]) -> float:
    """Return the greatest utility of a tree; other games say 1 for a win."""
    if not isinstance(game, Tree):
        return 1

    def greatest(node: Node) -> float:
        return max(map(greatest, node)) if isinstance(node, list) else abs(node)

    return greatest(game.root) or 1
