"""TD(lambda) learning from games that are played by one-ply lookahead.

Sources: Sutton, 'Learning to predict by the methods of temporal differences' (1988); Tesauro,
'Temporal difference learning and TD-Gammon' (1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from agent.game import NotatedGame
from agent.games.policy_value_net import PolicyValueNet
from kempelen.training.selfplay_batch import DRAW_VALUE, TrainingExample, play_chance_events


@dataclass(frozen=True, kw_only=True)
class TdSettings:
    """Settings for TD learning.

    `trace` is lambda, from 0 (only the value of the next position) to 1 (only the game result).
    `wander` is the fraction of moves that are chosen at random.
    `longest` is the maximum length of a game in plies. Longer games are draws.
    """

    trace: float = 0.8
    wander: float = 0.15
    longest: int = 400


def play_td_game(
    game: NotatedGame[Any], network: PolicyValueNet, settings: TdSettings, random: Random
) -> list[TrainingExample]:
    """Play one game from its initial position, and return the training examples."""
    records: list[tuple[bytes, int, float]] = []
    outcome = None
    for _ in range(settings.longest):
        play_chance_events(game, random)
        outcome = game.outcome()
        if outcome is not None:
            break
        moves = list(game.moves())
        values = _afterstate_values(game, moves, network, random)
        sign = -1 if game.turn else 1
        best = max(range(len(moves)), key=lambda each: (sign * values[each], -each))
        records.append((network.encoding.encode(game), sign, values[best]))
        explores = random.random() < settings.wander
        game.play(random.choice(moves) if explores else moves[best])
    target = DRAW_VALUE if outcome is None else max(-1.0, min(1.0, outcome))
    examples = []
    for encoded, sign, value in reversed(records):
        target = settings.trace * target + (1 - settings.trace) * value
        examples.append(TrainingExample(encoded, (), (), sign * target))
    return examples[::-1]


def _afterstate_values(
    game: NotatedGame[Any], moves: list[Any], network: PolicyValueNet, random: Random
) -> list[float]:
    values = [0.0] * len(moves)
    pending: list[tuple[int, bytes, int]] = []
    for number, move in enumerate(moves):
        game.play(move)
        plies = 1 + len(play_chance_events(game, random))
        outcome = game.outcome()
        if outcome is None:
            pending.append((number, network.encoding.encode(game), -1 if game.turn else 1))
        else:
            values[number] = max(-1.0, min(1.0, outcome))
        for _ in range(plies):
            game.undo()
    if pending:
        outputs = network.outputs(
            network.encoding.to_inputs([encoded for _, encoded, _ in pending])
        )
        for (number, _, sign), value in zip(pending, np.tanh(outputs[:, 0]).tolist(), strict=True):
            values[number] = sign * value
    return values
