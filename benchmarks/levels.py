"""Strength of our skill levels, on the scale of Stockfish's UCI_Elo.

    python benchmarks/levels.py --games 40 --rounds 3

Each skill level plays rounds of games against Stockfish. The UCI_Elo of each round is close to the
rating estimated from the previous rounds. Both sides are limited by nodes or depth, so the load of
the machine has no effect. Stockfish 15.1 chooses its weaker move when it has searched 1 + level
plies, with level = ((elo - 1346.6) / 143.4) ** (1 / 0.806). A deeper search does not change that
move.

    python benchmarks/levels.py --own 1315 1090 810 600 --games 60

Stockfish has no level as weak as our weakest ones, so these are measured against each other.
"""

import math
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from harness import MATCH_ENGINE, match_summary, parser, show, stockfish

LEAST, MOST = 1350, 2850  # minimum and maximum of Stockfish's UCI_Elo
STEP = 50
GUESSES = {0: 1350, 4: 1750, 8: 1900, 12: 2000, 16: 2050, 19: 2150}  # by skill level
OPTIONS = (
    *("--nodes", "1"),
    *("--draw", "movenumber=50,movecount=8,score=10", "--resign", "movecount=4,score=900"),
)
PER_ELO = math.log(10) / 400


def expected(difference: float) -> float:
    """Return the expected score of a player who is `difference` Elo stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


def fit(results: Sequence[tuple[int, float, int]]) -> tuple[float, float]:
    """Return the maximum-likelihood rating and its 95% error.

    An artificial draw against the last opponent keeps the rating of a clean sweep finite.

    results: (opponent's Elo, points, games) per round.
    """
    anchored = [*results, (results[-1][0], 0.5, 1)]
    low, high = 0.0, 4000.0
    while high - low > 0.1:
        middle = (low + high) / 2
        surplus = sum(points - games * expected(middle - elo) for elo, points, games in anchored)
        low, high = (middle, high) if surplus > 0 else (low, middle)
    information = sum(
        games * PER_ELO**2 * expected(low - elo) * (1 - expected(low - elo))
        for elo, _, games in anchored
    )
    return low, 1.96 / math.sqrt(information)


def play(skill: int, program: str, elo: int, games: int, seed: int) -> tuple[int, float, int]:
    """Play a round; return Stockfish's Elo, our points and the number of games."""
    level = min(max((elo - 1346.6) / 143.4, 0.0) ** (1 / 0.806), 20.0)
    ours = f"{MATCH_ENGINE},name=kempelen"
    theirs = f"cmd={program},name=stockfish,depth={int(level) + 1},patience=120"
    with tempfile.TemporaryDirectory() as folder:
        summary = match_summary(
            [
                *("--engine", f"{ours},option.Skill Level={skill},movetime=60,margin=60"),
                *("--engine", f"{theirs},option.UCI_LimitStrength=true,option.UCI_Elo={elo}"),
                *("--games", str(games), "--seed", str(seed), *OPTIONS),
                *("--ledger", f"{folder}/ledger.sqlite"),
            ]
        )
    (row,) = (row for row in summary["rows"] if row["name"] == "kempelen")
    return elo, row["points"], row["games"]


def play_own(strong: int, weak: int, games: int) -> float:
    """Return the points of our level at one UCI_Elo against another one."""
    engines = [
        f"{MATCH_ENGINE},name={elo},movetime=60,margin=60,"
        f"option.UCI_LimitStrength=true,option.UCI_Elo={elo}"
        for elo in (strong, weak)
    ]
    with tempfile.TemporaryDirectory() as folder:
        summary = match_summary(
            [
                *(word for engine in engines for word in ("--engine", engine)),
                *("--games", str(games), *OPTIONS, "--ledger", f"{folder}/ledger.sqlite"),
            ]
        )
    (row,) = (row for row in summary["rows"] if row["name"] == str(strong))
    return float(row["points"])


def compare_own(elos: Sequence[int], games: int, file: Path | None) -> None:
    """Play each level against the next weaker one."""
    rows = []
    for strong, weak in pairwise(elos):
        points = play_own(strong, weak, games)
        share = min(max(points, 0.5), games - 0.5) / games
        difference = round(400 * math.log10(share / (1 - share)))
        print(f"{strong} against {weak}: {points:g}/{games}, {difference:+d}", flush=True)
        rows.append((strong, weak, strong - weak, difference, f"{points:g}/{games}"))
    show("levels", ("UCI_Elo", "against", "expected", "measured", "points"), rows, file)


def main() -> None:
    """Measure each skill in turn."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=40, help="games per round")
    arguments.add_argument("--rounds", type=int, default=3, help="rounds per skill level")
    arguments.add_argument("--skills", type=int, nargs="+", default=GUESSES, help="skill levels")
    arguments.add_argument(
        "--own", type=int, nargs="+", metavar="ELO", help="our levels to compare"
    )
    options = arguments.parse_args()
    if options.own:
        compare_own(options.own, options.games, options.json)
        return
    program = stockfish(required=True)
    rows = []
    for skill in options.skills:
        rating, error = float(GUESSES.get(skill, 2000)), math.nan
        results: list[tuple[int, float, int]] = []
        for number in range(options.rounds):
            elo = min(max(round(rating / STEP) * STEP, LEAST), MOST)
            results.append(play(skill, program, elo, options.games, number))
            rating, error = fit(results)
            print(f"skill {skill} against {elo}: {results[-1][1]:g}, so {rating:.0f}", flush=True)
        against = ", ".join(f"{elo}: {points:g}/{games}" for elo, points, games in results)
        rows.append((skill, round(rating), round(error), against))
    show("levels", ("skill", "Elo", "+-", "points against UCI_Elo"), rows, options.json)


if __name__ == "__main__":
    main()
