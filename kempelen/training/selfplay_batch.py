"""Games that a network plays against itself, side by side: one call judges a leaf of each.

Each move is found by PUCT with the network's priors and values (D. Silver et al., 'A general
reinforcement learning algorithm that masters chess, shogi, and Go through self-play', 2018): noise
on the root's priors, moves by their visits in the opening. Only some moves are thought about in
full, and learned from; the others serve to get on (D. Wu, 'Accelerating self-play learning in
Go', 2019). The tree below the move that is played is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

import numpy as np

from agent.game import CHANCE, ChanceGame, NotatedGame
from agent.games.chance import draw_event
from agent.games.policy_value_net import PolicyValueNet
from agent.games.position_encoding import PositionEncoding

# What a value is worth that a game is given at its longest.
DRAW_VALUE = 0.0


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings:
    """How the games are played.

    playouts: for a move that is learned from. share: of the moves are thought about so; the others
    have a quarter of the playouts. exploration: how much priors count in the tree. noise: its share
    in the root's priors. opening: so many plies are chosen by their visits. longest: plies, after
    which a game counts as a draw.
    """

    playouts: int = 64
    share: float = 0.3
    exploration: float = 1.5
    noise: float = 0.25
    opening: int = 12
    longest: int = 400


@dataclass(frozen=True)
class TrainingExample:
    """A position to learn from.

    seen: as the encoding takes it. moves, shares: the vocabulary's numbers of the legal moves, and
    the visits that each was given, as shares. value: for its mover, from -1 to 1; the search's at
    first, the game's result in part once it is known.
    """

    encoded: bytes
    moves: tuple[int, ...]
    policy: tuple[float, ...]
    value: float


class _Node:
    """A position in a tree where a player is to move; totals are those of player 0."""

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
        # By what chance made of the move, where it plays, else by the empty tuple.
        self.below: list[dict[tuple[Any, ...], _Node]] = [{} for _ in moves]
        self.visits = 0
        self.total = 0.0

    def select(self, exploration: float) -> int:
        """Return the move of the greatest upper bound; one not tried is a little worse than all."""
        sign, totals, priors = self.sign, self.totals, self.priors
        factor = exploration * sqrt(self.visits + 1)
        untried = sign * self.total / (self.visits or 1) - 0.2
        best, chosen = -1e9, 0
        for place, count in enumerate(self.counts):
            if count:
                bound = sign * totals[place] / count + factor * priors[place] / (1 + count)
            else:
                bound = untried + factor * priors[place]
            if bound > best:
                best, chosen = bound, place
        return chosen


# A leaf that waits to be judged: what is seen of it, and its moves' numbers.
LeafRequest = tuple[bytes, list[int]]
LeafEvaluation = tuple[float, list[float]]
GameGenerator = Generator[LeafRequest, LeafEvaluation, list[TrainingExample]]


def play_game(
    game: NotatedGame[Any], encoding: PositionEncoding, settings: SelfPlaySettings, random: Random
) -> GameGenerator:
    """Play one game; yield each leaf, be sent its value for its mover and priors, return lessons.

    The game is at its start, and is left at its end.
    """
    chance = game if isinstance(game, ChanceGame) else None
    lessons: list[tuple[TrainingExample, int]] = []
    _play_chance_events(game, chance, random)
    root: _Node | None = None
    plies = 0
    while game.outcome() is None and plies < settings.longest:
        if root is None:
            root, _ = yield from _new_node(game, encoding)
        full = random.random() < settings.share
        if full:
            kept = root.priors
            root.priors = _with_dirichlet_noise(kept, settings.noise, random)
        # The root's own counts as one, and at least one more says which move to play.
        playouts = max(settings.playouts if full else settings.playouts // 4, 2)
        while root.visits < playouts:
            yield from _playout(game, root, encoding, settings, chance, random)
        if full:
            root.priors = kept
            total = sum(root.counts) or 1
            shares = tuple(count / total for count in root.counts)
            value = root.sign * root.total / root.visits
            lesson = TrainingExample(encoding.encode(game), tuple(root.numbers), shares, value)
            lessons.append((lesson, game.turn))
        place = _choose_move(root, plies < settings.opening, random)
        game.play(root.moves[place])
        events = _play_chance_events(game, chance, random)
        root = root.below[place].get(events)
        plies += 1
    outcome = game.outcome()
    result = DRAW_VALUE if outcome is None else max(-1.0, min(1.0, outcome))
    return [
        TrainingExample(
            each.encoded, each.moves, each.policy, 0.5 * each.value + 0.5 * sign * result
        )
        for each, turn in lessons
        for sign in [-1 if turn else 1]
    ]


def play_batch(
    games: Sequence[GameGenerator],
    network: PolicyValueNet,
    report: Callable[[int], None] = lambda left: None,
) -> list[list[TrainingExample]]:
    """Play games side by side to their ends; return the lessons of each.

    report: is told how many games are left, as they end.
    """
    lessons: list[list[TrainingExample]] = [[] for _ in games]
    waiting: list[tuple[int, LeafRequest]] = []

    def go_on(number: int, answer: LeafEvaluation | None) -> None:
        try:
            asked = next(games[number]) if answer is None else games[number].send(answer)
            waiting.append((number, asked))
        except StopIteration as end:
            lessons[number] = end.value

    for number in range(len(games)):
        go_on(number, None)
    while waiting:
        asking, waiting = waiting, []
        outputs = network.outputs(network.encoding.to_inputs([seen for _, (seen, _) in asking]))
        values = np.tanh(outputs[:, 0]).tolist()
        powers = np.exp(outputs[:, 1:] - outputs[:, 1:].max(axis=1, keepdims=True)).tolist()
        for (number, (_, moves)), value, row in zip(asking, values, powers, strict=True):
            shares = [row[move] + 1e-9 for move in moves]
            total = sum(shares)
            go_on(number, (value, [share / total for share in shares]))
        if len(waiting) < len(asking):
            report(len(waiting))
    return lessons


def _new_node(
    game: NotatedGame[Any], encoding: PositionEncoding
) -> Generator[LeafRequest, LeafEvaluation, tuple[_Node, float]]:
    """Return a new position of the tree, with its value for player 0."""
    moves = list(game.moves())
    spot = _Node(moves, encoding.move_indices(game, moves), game.turn)
    value, spot.priors = yield encoding.encode(game), spot.numbers
    spot.visits = 1
    spot.total = spot.sign * value
    return spot, spot.total


def _playout(
    game: NotatedGame[Any],
    root: _Node,
    encoding: PositionEncoding,
    settings: SelfPlaySettings,
    chance: ChanceGame[Any] | None,
    random: Random,
) -> Generator[LeafRequest, LeafEvaluation, None]:
    """Go down to a leaf, have it judged, and count its value on the way up."""
    spot, path, played = root, [], 0
    while True:
        place = spot.select(settings.exploration)
        path.append((spot, place))
        game.play(spot.moves[place])
        events = _play_chance_events(game, chance, random)
        played += 1 + len(events)
        below = spot.below[place].get(events)
        if below is not None:
            spot = below
            continue
        outcome = game.outcome()
        if outcome is not None:
            value = max(-1.0, min(1.0, outcome))
        else:
            spot.below[place][events], value = yield from _new_node(game, encoding)
        break
    for _ in range(played):
        game.undo()
    for spot, place in path:
        spot.visits += 1
        spot.total += value
        spot.counts[place] += 1
        spot.totals[place] += value


def _play_chance_events(
    game: NotatedGame[Any], chance: ChanceGame[Any] | None, random: Random
) -> tuple[Any, ...]:
    """Let chance play while it is to move; return what it played."""
    if chance is None or game.turn != CHANCE:
        return ()
    events = []
    while game.turn == CHANCE:
        event = draw_event(chance, random.random())
        game.play(event)
        events.append(event)
    return tuple(events)


def _with_dirichlet_noise(priors: list[float], share: float, random: Random) -> list[float]:
    """Return priors with noise of Dirichlet's distribution, as strong as suits their number."""
    alpha = 10 / max(len(priors), 10)
    noise = [random.gammavariate(alpha, 1) for _ in priors]
    total = sum(noise) or 1
    return [
        (1 - share) * prior + share * each / total
        for prior, each in zip(priors, noise, strict=True)
    ]


def _choose_move(root: _Node, opening: bool, random: Random) -> int:
    """Return the move to play: by its visits in the opening, else that of most."""
    if opening:
        return random.choices(range(len(root.counts)), root.counts)[0]
    return max(range(len(root.counts)), key=root.counts.__getitem__)
