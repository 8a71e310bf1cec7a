"""Games in which each move is the best by one look ahead, and what weights learn from them: TD.

The targets are lambda-returns: of each position, what the next ones were thought to be worth, and
how the game ended, the further on the less by lambda each (R. Sutton, 'Learning to predict by the
methods of temporal differences', 1988; G. Tesauro, 'Temporal difference learning and TD-Gammon',
1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from agent.game import CHANCE, ChanceGame, NotatedGame
from agent.games.chance import draw_event
from agent.games.policy_value_net import PolicyValueNet
from kempelen.training.selfplay_batch import DRAW_VALUE, TrainingExample


@dataclass(frozen=True, kw_only=True)
class TdSettings:
    """How the games are played, and learned from.

    trace: lambda; 1 learns from ends alone, 0 from the next position alone. wander: the share of
    moves at random. longest: plies, after which a game counts as a draw.
    """

    trace: float = 0.8
    wander: float = 0.15
    longest: int = 400


def play_td_game(
    game: NotatedGame[Any], network: PolicyValueNet, settings: TdSettings, random: Random
) -> list[TrainingExample]:
    """Play one game from its start; return what is to be learned of each of its positions."""
    chance = game if isinstance(game, ChanceGame) else None
    seen: list[tuple[bytes, int, float]] = []
    end = None
    for _ in range(settings.longest):
        while chance is not None and game.turn == CHANCE:
            game.play(draw_event(chance, random.random()))
        end = game.outcome()
        if end is not None:
            break
        moves = list(game.moves())
        values = _afterstate_values(game, moves, network, random)
        sign = -1 if game.turn else 1
        best = max(range(len(moves)), key=lambda each: (sign * values[each], -each))
        seen.append((network.encoding.encode(game), sign, values[best]))
        wanders = random.random() < settings.wander
        game.play(random.choice(moves) if wanders else moves[best])
    target = DRAW_VALUE if end is None else max(-1.0, min(1.0, end))
    lessons = []
    for taken, sign, value in reversed(seen):
        target = settings.trace * target + (1 - settings.trace) * value
        lessons.append(TrainingExample(taken, (), (), sign * target))
    return lessons[::-1]


def _afterstate_values(
    game: NotatedGame[Any], moves: list[Any], network: PolicyValueNet, random: Random
) -> list[float]:
    """Return what each move's position is worth for player 0, as far as is known."""
    chance = game if isinstance(game, ChanceGame) else None
    values = [0.0] * len(moves)
    asked: list[tuple[int, bytes, int]] = []
    for number, move in enumerate(moves):
        game.play(move)
        played = 1
        while chance is not None and game.turn == CHANCE:
            game.play(draw_event(chance, random.random()))
            played += 1
        outcome = game.outcome()
        if outcome is None:
            asked.append((number, network.encoding.encode(game), -1 if game.turn else 1))
        else:
            values[number] = max(-1.0, min(1.0, outcome))
        for _ in range(played):
            game.undo()
    if asked:
        outputs = network.outputs(network.encoding.to_inputs([taken for _, taken, _ in asked]))
        for (number, _, sign), value in zip(asked, np.tanh(outputs[:, 0]).tolist(), strict=True):
            values[number] = sign * value
    return values
