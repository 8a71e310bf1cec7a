"""Quality of scores as training targets: how close they are to the scores of long searches.

    python benchmarks/labels.py games.bin

Stockfish scores the games of a self-play file in short and in long searches. Each row compares one
type of score with the scores of the long searches. It contains the correlation, and the root mean
square difference of the win probabilities at the best scale. It also contains the mean bias in
favour of the side to move. The next rows do the same for the TD(lambda) returns with `trace_decay`,
and for their means with the returns of the file's own scores.
"""

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from report import parser, show, stockfish

from agent.chess.board.packed_fen import packed_fens
from kempelen.training.dataset import Dataset, Packed
from kempelen.training.gradient_descent import win_probability
from kempelen.training.network_settings import Target
from kempelen.training.td_targets import lambda_returns
from kempelen.training.uci_scorer import SEARCH_TIMEOUT, UciScorer

Scores = npt.NDArray[np.float64]

TARGET = Target(result_share=0, scale=200)  # learn from scores only
DECIDED = 400  # centipawns; positions with larger scores in the long search are skipped
SHORT = ("nodes 1", "depth 3", "depth 4", "depth 5", "depth 6", "depth 7")
COLUMNS = ("scores", "ms a position", "correlation", "difference", "for the mover")


def scored(games: Sequence[Packed], command: str, **limits: int) -> tuple[Scores, float]:
    """Return the scores of all positions, and the milliseconds per position."""
    found = []
    with UciScorer(command, {"Hash": "16"}, SEARCH_TIMEOUT) as teacher:
        began = time.perf_counter()
        for game in games:
            teacher.new_game()
            found += [teacher.score(*position, **limits)[0] for position in packed_fens(game)]
        seconds = time.perf_counter() - began
    return np.array(found, np.float64), 1000 * seconds / len(found)


def returned(games: Sequence[Packed], scores: Scores, trace_decay: float) -> Scores:
    """Return the TD(lambda) returns of the scores, game by game."""
    ends = np.cumsum([len(game) for game in games])[:-1]
    found = []
    for game, of_game in zip(games, np.split(scores, ends), strict=True):
        changed = game.copy()
        changed["score"] = of_game
        found.append(lambda_returns(changed, trace_decay, TARGET.scale))
    return np.concatenate(found).astype(np.float64)


def compared(scores: Scores, long: Scores) -> list[float]:
    """Return the correlation, the minimum RMS difference of win probabilities, and the bias."""
    open_ = np.abs(long) <= DECIDED
    near = open_ & (np.abs(scores) <= 2.5 * DECIDED)
    scales = np.arange(0.3, 1.6, 0.05)
    differences = win_probability(long[open_], TARGET) - win_probability(
        np.outer(scales, scores[open_]), TARGET
    )
    return [
        float(np.corrcoef(scores[near], long[near])[0, 1]),
        float(np.sqrt((differences**2).mean(axis=1)).min()),
        float((scores[near] - long[near]).mean()),
    ]


def mean(one: Scores, other: Scores, long: Scores) -> Scores:
    """Return the mean of two types of scores, after scaling the first to the other's deviation."""
    open_ = np.abs(long) <= DECIDED
    return (one * other[open_].std() / one[open_].std() + other) / 2


def main() -> None:
    """Measure and print the table."""
    options = parser(__doc__)
    options.add_argument("file", type=Path, help="file of positions from `kempelen train selfplay`")
    options.add_argument("--games", type=int, default=20)
    options.add_argument("--nodes", type=int, default=60_000, help="nodes per long search")
    options.add_argument("--trace-decay", type=float, default=0.65)
    options.add_argument("--engine", default=stockfish(), help="UCI engine (default: Stockfish)")
    arguments = options.parse_args()
    if arguments.engine is None:
        options.error("Stockfish is not installed: name an engine by --engine")
    with Dataset(arguments.file) as dataset:
        games = [game for _, game in islice(dataset.iter_games(), arguments.games) if len(game)]
    if not games:
        options.error(f"{arguments.file}: there are no positions")
    long, _ = scored(games, arguments.engine, nodes=arguments.nodes)
    own = np.concatenate([game["score"] for game in games]).astype(np.float64)
    own_returns = returned(games, own, arguments.trace_decay)
    rows: list[list[Any]] = [
        ["the file's own", "", *compared(own, long)],
        ["their returns", "", *compared(own_returns, long)],
    ]
    for words in SHORT:
        name, number = words.split()
        short, taken = scored(games, arguments.engine, **{name: int(number)})
        later = returned(games, short, arguments.trace_decay)
        rows += [
            [words, taken, *compared(short, long)],
            [f"{words}, returns", "", *compared(later, long)],
            [
                f"{words}, returns, and the file's",
                "",
                *compared(mean(own_returns, later, long), long),
            ],
        ]
    title = f"{len(long)} positions, beside searches of {arguments.nodes} nodes"
    show(title, COLUMNS, rows, arguments.json)


if __name__ == "__main__":
    main()
