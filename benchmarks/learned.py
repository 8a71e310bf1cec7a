"""Strength of a learned network: matches against plain UCT with the same number of playouts.

    python benchmarks/learned.py connect-four --folder FOLDER
    python benchmarks/learned.py othello --size 6 --folder FOLDER
    python benchmarks/learned.py tic-tac-toe --size 4 --opponent uct --folder FOLDER

If the folder does not contain the network, it is first trained with the settings of `kempelen lab
learn`. An interrupted training run continues. Each pair of games starts with the same random moves,
with colours swapped. The opponent `perfect` searches to the end of the game.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from harness import parser, show_figures, show_progress

from kempelen.cli import BLAS_THREADS_VARIABLE

os.environ[BLAS_THREADS_VARIABLE] = "1"  # must be set before NumPy is imported, as in the program

from agent.games import catalogue
from agent.search.algorithm_spec import parse
from agent.search.algorithms.mtd import MTD
from agent.search.defaults import FULL_WIN_SCALE
from kempelen.training.game_trainer import GameTrainer, GameTrainingSettings

Chooser = Callable[[Any], Any]


def train(options: argparse.Namespace, game_options: dict[str, int]) -> tuple[Path, float]:
    """Return the network file and the CPU seconds of the training."""
    settings = GameTrainingSettings(
        game=options.game, options=game_options, steps=options.steps, seed=options.seed
    )
    trainer = GameTrainer(settings)
    options.folder.mkdir(parents=True, exist_ok=True)
    name = "-".join([options.game, *map(str, game_options.values())])
    path = options.folder / f"{name}.learned"
    history: list[dict[str, Any]] = []
    for history in trainer.run(options.folder / f"{name}.learned.run"):
        show_progress(f"step {len(history)} of {options.steps}")
    trainer.network({"history": history}).write(path)
    return path, sum(step["seconds"] for step in history)


def chooser(text: str, kind: Any, game: Any, playouts: int, seed: str) -> Chooser:
    """Return a function that chooses the moves of an algorithm."""
    if text == "perfect":
        return lambda game: MTD(kind.evaluate).search(game, 1000).move
    spec = parse(f"{text}+playouts={playouts}")
    seed_number = Random(seed).getrandbits(32)
    search = spec.new(game, kind.evaluate, scale=FULL_WIN_SCALE, seed=seed_number)
    return lambda game: search.search(game, 1000).move


def play(options: argparse.Namespace, kind: Any, game: Any, network: Path, number: int) -> str:
    """Play one game; return the result for the network."""
    start = Random(f"{options.seed} {number // 2}")
    for _ in range(options.random_plies):
        if game.outcome() is None:
            game.play(start.choice(list(game.moves())))
    own = number % 2
    players = {own: f"alphazero+network={network}", 1 - own: options.opponent}
    choose = {
        player: chooser(text, kind, game, options.playouts, f"{number} {player}")
        for player, text in players.items()
    }
    while game.outcome() is None:
        game.play(choose[game.turn](game))
    outcome = -game.outcome() if own else game.outcome()
    return "won" if outcome > 0 else "lost" if outcome < 0 else "drawn"


def main() -> None:
    """Train the network, and play the match."""
    arguments = parser(__doc__)
    arguments.add_argument("game")
    arguments.add_argument("--size", type=int)
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--steps", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--playouts", type=int, default=100)
    arguments.add_argument("--games", type=int, default=200)
    arguments.add_argument("--random-plies", type=int, default=2)
    arguments.add_argument("--opponent", default="uct", help="an algorithm, or `perfect`")
    options = arguments.parse_args()
    game_options = {} if options.size is None else {"size": options.size}
    network, seconds = train(options, game_options)
    kind = catalogue.find(options.game)
    results, began = Counter[str](), time.process_time()
    for number in range(options.games):
        results[play(options, kind, kind.new(**game_options), network, number)] += 1
        show_progress(f"{number + 1} of {options.games} games: {dict(results)}")
    figures = {name: results[name] for name in ("won", "drawn", "lost")} | {
        "score, percent": 100 * (results["won"] + results["drawn"] / 2) / options.games,
        "training, CPU seconds": seconds,
        "playing, CPU seconds": time.process_time() - began,
    }
    title = f"{network.stem} against {options.opponent}, {options.playouts} playouts a move"
    show_figures(title, figures, options.json)


if __name__ == "__main__":
    main()
