"""Matches of Monte Carlo tree search: a random mover, a tenth of the playouts, and alpha-beta.

The last match is between the bundled network and the hand-crafted evaluation.

    python benchmarks/mcts.py --games 100
"""

import sys
from pathlib import Path

from matches import engine, play
from report import KEMPELEN, parser, show

RANDOM_MOVER = [sys.executable, str(Path(__file__).with_name("random_mover.py"))]
MCTS = "option.Search=mcts"
TIME_MARGIN = "margin=5"  # large, so that a busy machine causes no time losses
# The match requires a common limit, although each player has its own limits.
ADJUDICATION_OPTIONS = ("--nodes", "1", "--draw", "movenumber=60,movecount=8,score=10")

# The two players of each match, by name.
MATCHES = {
    "500 playouts : a random mover": (
        engine(KEMPELEN, "mcts", MCTS, "nodes=500"),
        engine(RANDOM_MOVER, "random", "nodes=1"),
    ),
    "3,000 playouts : 300": (
        engine(KEMPELEN, "mcts", MCTS, "nodes=3000"),
        engine(KEMPELEN, "tenth", MCTS, "nodes=300"),
    ),
    "0.2 s a move : 0.02 s": (
        engine(KEMPELEN, "mcts", MCTS, "movetime=0.2", TIME_MARGIN),
        engine(KEMPELEN, "tenth", MCTS, "movetime=0.02", TIME_MARGIN),
    ),
    "0.1 s a move : alpha-beta at 0.1 s": (
        engine(KEMPELEN, "mcts", MCTS, "movetime=0.1", TIME_MARGIN),
        engine(KEMPELEN, "alphabeta", "movetime=0.1", TIME_MARGIN),
    ),
    "0.1 s a move : with the hand-made evaluation": (
        engine(KEMPELEN, "mcts", MCTS, "movetime=0.1", TIME_MARGIN),
        engine(
            KEMPELEN, "handmade", MCTS, "option.Evaluation=handcrafted", "movetime=0.1", TIME_MARGIN
        ),
    ),
}


def main() -> int:
    """Play the matches, one after the other."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=100, help="games per match")
    arguments.add_argument("--only", type=int, help="play only this match, counted from 1")
    options = arguments.parse_args()
    rows = []
    for number, (name, players) in enumerate(MATCHES.items(), 1):
        if options.only in (None, number):
            outcome = play(*players, options.games, *ADJUDICATION_OPTIONS)
            rows.append((name, outcome.score, outcome.elo_text, outcome.failures))
    columns = ("match", "wins-draws-losses", "Elo", "failures")
    show("Monte Carlo tree search", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
