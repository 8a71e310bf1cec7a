"""Matches between two networks of the same game, to tell what a stage of learning was worth."""

from __future__ import annotations

from random import Random
from typing import Any

from agent.game import NotatedGame
from agent.games.catalogue import GameType
from agent.games.learned_evaluation import LearnedEvaluation
from agent.games.policy_value_net import PolicyValueNet
from agent.search.algorithms.alphazero import AlphaZero, AlphaZeroOptions
from kempelen.training.selfplay_batch import play_chance_events

# Plies at the start of each pair of games that are chosen at random, and the longest game.
RANDOM_PLIES, MAX_PLIES = 2, 300


def play_match(
    kind: GameType,
    options: dict[str, Any],
    networks: tuple[PolicyValueNet, PolicyValueNet],
    *,
    games: int,
    playouts: int,
    seed: int,
) -> float:
    """Return the points of the first network. Both play the same openings with both sides."""
    points = 0.0
    for number in range(games):
        random = Random(f"{seed} {number // 2}")
        first = number % 2
        searches = [
            AlphaZero[Any](
                LearnedEvaluation(network, kind.name).in_batches(1),
                AlphaZeroOptions(playouts=playouts, seed=seed + number),
            )
            for network in networks
        ]
        outcome = _play_game(kind.new(**options), searches, first, random)
        points += 0.5 + 0.5 * ((outcome > 0) - (outcome < 0)) * (-1 if first else 1)
    return points


def _play_game(
    game: NotatedGame[Any], searches: list[AlphaZero[Any]], first: int, random: Random
) -> float:
    """Return the outcome for the player who moves first, whose search is number `first`."""
    plies = 0
    play_chance_events(game, random)
    while game.outcome() is None and plies < MAX_PLIES:
        if plies < RANDOM_PLIES:
            game.play(random.choice(list(game.moves())))
        else:
            search = searches[game.turn if first == 0 else 1 - game.turn]
            search.forget()
            move = search.search(game, MAX_PLIES).move
            game.play(next(iter(game.moves())) if move is None else move)
        plies += 1
        play_chance_events(game, random)
    return game.outcome() or 0.0
