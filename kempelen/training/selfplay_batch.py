"""Play self-play games concurrently. Each network call evaluates one leaf per game.

Moves are chosen by PUCT with noise at the root, and in proportion to visits in the opening (Silver
et al., 'A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play', 2018). Only a random fraction of the moves gets a full search and becomes training
examples (Wu, 'Accelerating self-play learning in Go', 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any, cast

import numpy as np

from agent.game import CHANCE, ChanceGame, Game, NotatedGame
from agent.games.chance import draw_event
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import PositionEncoding

# The value of a game that reaches its maximum length.
DRAW_VALUE = 0.0


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings:
    """Settings for self-play.

    `playouts` is the number of playouts of a full search. Other searches have a quarter of it.
    `share` is the fraction of moves that are chosen by a full search.
    `exploration` is the PUCT exploration constant.
    `noise` is the weight of the random noise in the move probabilities at the root.
    `opening` is the number of plies in which moves are chosen in proportion to their visits.
    `longest` is the maximum length of a game in plies. Longer games are draws.
    """

    playouts: int = 64
    share: float = 0.3
    exploration: float = 1.5
    noise: float = 0.25
    opening: int = 12
    longest: int = 400


@dataclass(frozen=True)
class TrainingExample:
    """A training position with its targets.

    `encoded` is the encoded position. `moves` holds the indices of the legal moves, and `policy`
    their fractions of visits. `value` is for the side to move, from -1 to 1.
    """

    encoded: bytes
    moves: tuple[int, ...]
    policy: tuple[float, ...]
    value: float


class _Node:
    """A search tree node with a player to move. Totals are for player 0."""

    __slots__ = (
        "below",
        "counts",
        "moves",
        "numbers",
        "priors",
        "sign",
        "total",
        "totals",
        "visits",
    )

    def __init__(self, moves: list[Any], numbers: list[int], turn: int) -> None:
        self.moves = moves
        self.numbers = numbers
        self.sign = -1 if turn else 1
        self.priors: list[float] = []
        self.counts = [0] * len(moves)
        self.totals = [0.0] * len(moves)
        # Keys are the chance events after the move, () without chance.
        self.below: list[dict[tuple[Any, ...], _Node]] = [{} for _ in moves]
        self.visits = 0
        self.total = 0.0

    def select(self, exploration: float) -> int:
        # Untried moves are assumed to be worse than the mean.
        sign, totals, priors = self.sign, self.totals, self.priors
        factor = exploration * sqrt(self.visits + 1)
        untried = sign * self.total / (self.visits or 1) - 0.2
        best, chosen = -1e9, 0
        for index, count in enumerate(self.counts):
            if count:
                bound = sign * totals[index] / count + factor * priors[index] / (1 + count)
            else:
                bound = untried + factor * priors[index]
            if bound > best:
                best, chosen = bound, index
        return chosen


# The encoded position of a leaf, and the indices of its legal moves.
LeafRequest = tuple[bytes, list[int]]
LeafEvaluation = tuple[float, list[float]]
GameGenerator = Generator[LeafRequest, LeafEvaluation, list[TrainingExample]]


def play_game(
    game: NotatedGame[Any], encoding: PositionEncoding, settings: SelfPlaySettings, random: Random
) -> GameGenerator:
    """Play one game from its initial position, and return its training examples.

    Yield each leaf that the network must evaluate. The caller must send the value of the leaf for
    the side to move, and the move probabilities.
    """
    examples: list[tuple[TrainingExample, int]] = []
    play_chance_events(game, random)
    root: _Node | None = None
    plies = 0
    while game.outcome() is None and plies < settings.longest:
        if root is None:
            root, _ = yield from _new_node(game, encoding)
        is_full_search = random.random() < settings.share
        if is_full_search:
            priors = root.priors
            root.priors = _with_dirichlet_noise(priors, settings.noise, random)
        # The root's evaluation counts as one playout, and choosing a move needs at least one more.
        playouts = max(settings.playouts if is_full_search else settings.playouts // 4, 2)
        while root.visits < playouts:
            yield from _playout(game, root, encoding, settings, random)
        if is_full_search:
            root.priors = priors
            total = sum(root.counts) or 1
            policy = tuple(count / total for count in root.counts)
            value = root.sign * root.total / root.visits
            example = TrainingExample(encoding.encode(game), tuple(root.numbers), policy, value)
            examples.append((example, game.turn))
        index = _choose_move(root, plies < settings.opening, random)
        game.play(root.moves[index])
        events = play_chance_events(game, random)
        root = root.below[index].get(events)
        plies += 1
    outcome = game.outcome()
    result = DRAW_VALUE if outcome is None else max(-1.0, min(1.0, outcome))
    return [
        TrainingExample(
            each.encoded, each.moves, each.policy, 0.5 * each.value + 0.5 * sign * result
        )
        for each, turn in examples
        for sign in [-1 if turn else 1]
    ]


def play_batch(
    games: Sequence[GameGenerator],
    network: PolicyValueNet,
    report: Callable[[int], None] = lambda left: None,
) -> list[list[TrainingExample]]:
    """Play games concurrently to their ends, and return the training examples of each game.

    `report` receives the number of unfinished games whenever it changes.
    """
    examples: list[list[TrainingExample]] = [[] for _ in games]
    waiting: list[tuple[int, LeafRequest]] = []

    def advance(number: int, answer: LeafEvaluation | None) -> None:
        try:
            request = next(games[number]) if answer is None else games[number].send(answer)
            waiting.append((number, request))
        except StopIteration as end:
            examples[number] = end.value

    for number in range(len(games)):
        advance(number, None)
    while waiting:
        batch, waiting = waiting, []
        outputs = network.outputs(
            network.encoding.to_inputs([encoded for _, (encoded, _) in batch])
        )
        values = np.tanh(outputs[:, 0]).tolist()
        powers = np.exp(outputs[:, 1:] - outputs[:, 1:].max(axis=1, keepdims=True)).tolist()
        for (number, (_, moves)), value, row in zip(batch, values, powers, strict=True):
            shares = [row[move] + 1e-9 for move in moves]
            total = sum(shares)
            advance(number, (value, [share / total for share in shares]))
        if len(waiting) < len(batch):
            report(len(waiting))
    return examples


def _new_node(
    game: NotatedGame[Any], encoding: PositionEncoding
) -> Generator[LeafRequest, LeafEvaluation, tuple[_Node, float]]:
    moves = list(game.moves())
    node = _Node(moves, encoding.move_indices(game, moves), game.turn)
    value, node.priors = yield encoding.encode(game), node.numbers
    node.visits = 1
    node.total = node.sign * value
    return node, node.total


def _playout(
    game: NotatedGame[Any],
    root: _Node,
    encoding: PositionEncoding,
    settings: SelfPlaySettings,
    random: Random,
) -> Generator[LeafRequest, LeafEvaluation, None]:
    node, path, plies = root, [], 0
    while True:
        index = node.select(settings.exploration)
        path.append((node, index))
        game.play(node.moves[index])
        events = play_chance_events(game, random)
        plies += 1 + len(events)
        child = node.below[index].get(events)
        if child is not None:
            node = child
            continue
        outcome = game.outcome()
        if outcome is not None:
            value = max(-1.0, min(1.0, outcome))
        else:
            node.below[index][events], value = yield from _new_node(game, encoding)
        break
    for _ in range(plies):
        game.undo()
    for node, index in path:
        node.visits += 1
        node.total += value
        node.counts[index] += 1
        node.totals[index] += value


def play_chance_events(game: Game[Any], random: Random) -> tuple[Any, ...]:
    """Play random events until a player is to move, and return them."""
    if game.turn != CHANCE:
        return ()
    events = []
    while game.turn == CHANCE:
        event = draw_event(cast("ChanceGame[Any]", game), random.random())
        game.play(event)
        events.append(event)
    return tuple(events)


def _with_dirichlet_noise(priors: list[float], share: float, random: Random) -> list[float]:
    alpha = 10 / max(len(priors), 10)
    noise = [random.gammavariate(alpha, 1) for _ in priors]
    total = sum(noise) or 1
    return [
        (1 - share) * prior + share * each / total
        for prior, each in zip(priors, noise, strict=True)
    ]


def _choose_move(root: _Node, opening: bool, random: Random) -> int:
    if opening:
        return random.choices(range(len(root.counts)), root.counts)[0]
    return max(range(len(root.counts)), key=root.counts.__getitem__)
