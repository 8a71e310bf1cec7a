"""Strength of a learned network: matches against plain UCT with the same number of playouts.

    python benchmarks/learned.py connect-four --folder FOLDER
    python benchmarks/learned.py othello --size 6 --folder FOLDER
    python benchmarks/learned.py tic-tac-toe --size 4 --opponent uct --folder FOLDER

If the folder does not contain the network, it is first trained with the settings of `kempelen lab
learn`. An interrupted training run continues. Each pair of games starts with the same random moves,
with colours swapped. The opponent `perfect` searches to the end of the game, and `random` plays
random moves.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path
from random import Random

from kempelen.cli import BLAS_THREADS_VARIABLE

os.environ[BLAS_THREADS_VARIABLE] = "1"  # must be set before NumPy is imported, as in the program

from agent.games import catalogue
from agent.search.algorithm_spec import parse
from agent.search.algorithms.mtd import MTD
from agent.search.defaults import FULL_WIN_SCALE
from kempelen.training.game_trainer import GameTrainer, GameTrainingSettings


def main():
    """Train the network, play the match, and print the result as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--size", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--playouts", type=int, default=100)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--random-plies", type=int, default=2)
    parser.add_argument(
        "--opponent", default="uct", help="opponent: an algorithm, `perfect` or `random`"
    )
    parser.add_argument(
        "--network", type=Path, help="use this network file instead of training one"
    )
    arguments = parser.parse_args()
    options = {} if arguments.size is None else {"size": arguments.size}
    network, seconds = arguments.network, None
    if network is None:
        network, seconds = learned(arguments, options)
    kind = catalogue.find(arguments.game)
    score, began = {"won": 0, "drawn": 0, "lost": 0}, time.process_time()
    lost = []
    for number in range(arguments.games):
        result = play(kind, options, network, arguments, number)
        score[result] += 1
        if result == "lost":
            lost.append(number)
        if (number + 1) % 20 == 0:
            print(number + 1, score, flush=True)
    mean = (score["won"] + score["drawn"] / 2) / arguments.games
    said = {
        "game": arguments.game,
        **options,
        "opponent": arguments.opponent,
        "playouts": arguments.playouts,
        "games": arguments.games,
        **score,
        "score": mean,
        "elo": None if mean in (0, 1) else round(-400 * math.log10(1 / mean - 1)),
        "learning, seconds of processor time": seconds,
        "playing, seconds of processor time": round(time.process_time() - began),
        "lost games": lost,
    }
    print(json.dumps(said))


def learned(arguments, options):
    """Return the network file and the CPU seconds of the training."""
    settings = GameTrainingSettings(
        game=arguments.game, options=options, steps=arguments.steps, seed=arguments.seed
    )
    learner = GameTrainer(settings)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    name = "-".join([arguments.game, *map(str, options.values())])
    path = arguments.folder / f"{name}.learned"
    history = []
    for history in learner.run(arguments.folder / f"{name}.learned.run"):
        if history:
            print(len(history), history[-1], flush=True)
    learner.network({"history": history}).write(path)
    return path, round(sum(step["seconds"] for step in history))


def play(kind, options, network, arguments, number):
    """Play one game; return the result for the network."""
    game, start = kind.new(**options), Random(f"{arguments.seed} {number // 2}")
    for _ in range(arguments.random_plies):
        if game.outcome() is None:
            game.play(start.choice(list(game.moves())))
    own = number % 2
    choose = {}
    for player in (0, 1):
        text = arguments.opponent
        if player == own:
            text = f"alphazero+network={network}"
        choose[player] = chooser(text, kind, game, arguments, f"{number} {player}")
    while game.outcome() is None:
        game.play(choose[game.turn](game))
    outcome = -game.outcome() if own else game.outcome()
    return "won" if outcome > 0 else "lost" if outcome < 0 else "drawn"


def chooser(text, kind, game, arguments, seed):
    """Return a function that chooses a player's moves."""
    random = Random(seed)
    if text == "random":
        return lambda game: random.choice(list(game.moves()))
    if text == "perfect":
        return lambda game: MTD(kind.evaluate).search(game, 1000).move
    written = parse(f"{text}+playouts={arguments.playouts}")
    search = written.new(game, kind.evaluate, scale=FULL_WIN_SCALE, seed=random.getrandbits(32))
    return lambda game: search.search(game, 1000).move


if __name__ == "__main__":
    main()
