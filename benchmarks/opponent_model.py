r"""The value of opponent modelling: our engine plays with a HabitsFile and without it.

    python benchmarks/opponent_model.py line --games 400 --seed 1
    python benchmarks/opponent_model.py draws --games 400 --seed 1
    python benchmarks/opponent_model.py none --games 400 --seed 1

Both sides are limited by nodes, so that the load of the machine has no effect. Both choose openings
at random from the bundled book. Our engine is driven over UCI. `UCI_Opponent` names its opponent,
and `GameResult` reports the results. It starts without a habits file. The scenarios give the
opponent these habits:

line   searches four times our nodes, but always plays one line with either colour:
       1 e4 e5 2 Nf3 Qg5, and 1 e4 c6 2 d4 d5 3 Qg4
draws  searches eight times our nodes, and repeats a position whenever possible
weaker searches a quarter of our nodes, and repeats a position whenever possible
none   searches as many nodes as we do, with a random deviation of up to a fifth; no habit
"""

from __future__ import annotations

import math
import queue
import random
import sys
import tempfile
import time
from pathlib import Path

import chess
from report import parser, show

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.learning.opponent_game_tracker import repeating_moves
from agent.limits import Cp, Limits, Mate, Score
from openings.book_provider import BookProvider
from protocols.uci.protocol import UciProtocol

SCENARIOS = {"line": 4.0, "draws": 8.0, "weaker": 0.25, "none": 1.0}
MEGABYTES = 4
MAX_PLIES = 300
RESIGN_SCORE = 900  # centipawns at which a game is adjudicated if both sides agree
RESULTS = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}

# Moves of the opponent in scenario `line`, by the previous moves.
FALLS = {
    "": "e2e4",
    "e2e4": "e7e5",
    "e2e4 e7e5 g1f3": "d8g5",
    "e2e4 c7c6": "d2d4",
    "e2e4 c7c6 d2d4 d7d5": "d1g4",
}


def value(score: Score) -> int:
    """Return a score in centipawns, with a large value for a mate."""
    return score.value if isinstance(score, Cp) else 10_000 if score.moves > 0 else -10_000


class HabitOpponent:
    """An opponent with the habit of a scenario."""

    def __init__(self, scenario: str, nodes: int, chance: random.Random) -> None:
        self._scenario = scenario
        self._nodes = round(nodes * SCENARIOS[scenario])
        self._chance = chance
        self._search = AlphaBetaSearch(MEGABYTES)
        self._book = BookProvider(lambda _: None)
        self.score = 0

    def new_game(self) -> None:
        """Clear the state of the last game."""
        self._search.new_game()
        self.score = 0

    def move(self, board: chess.Board) -> chess.Move:
        """Return the habitual move, a book move, or the best move, in this order."""
        line = " ".join(move.uci() for move in board.move_stack)
        if self._scenario == "line" and line in FALLS:
            return chess.Move.from_uci(FALLS[line])
        if self._scenario in ("draws", "weaker") and (moves := list(repeating_moves(board))):
            return moves[0]
        if known := self._book.move_probabilities(board):
            moves, weights = zip(*known, strict=True)
            return self._chance.choices(moves, weights)[0]
        nodes = self._nodes
        if self._scenario == "none":
            nodes = round(nodes * self._chance.uniform(0.8, 1.2))
        self._search.clear_stop()
        best = None
        for info in self._search.search(board.copy(), Limits(nodes=nodes)):
            if info.pv and info.bound != "upperbound":
                best, self.score = info.pv[0], value(info.score)
        assert best is not None
        return best


class UciEngineUnderTest:
    """Our engine, driven over UCI."""

    def __init__(self, nodes: int, file: Path | None, name: str, chance: random.Random) -> None:
        self._nodes = nodes
        self._lines: queue.Queue[str] = queue.Queue()
        self._uci = UciProtocol("Kempelen", "", self._lines.put, lambda _: None)
        self._uci.session.book._rng = chance
        self.score = 0
        self.say("uci", f"setoption name Hash value {MEGABYTES}")
        if file is not None:
            self.say(f"setoption name HabitsFile value {file}")
            self.say(f"setoption name UCI_Opponent value none none computer {name}")
        self.say("isready")
        self._until("readyok")

    def say(self, *lines: str) -> None:
        """Send lines to the engine."""
        for line in lines:
            for reply in self._uci.handle_line(line):
                self._lines.put(reply)

    def _until(self, word: str) -> str:
        while not (line := self._lines.get(timeout=600)).startswith(word):
            if "damaged" in line or "error" in line or "habits.jsonl" in line:
                raise RuntimeError(line)
            if " score " in line and " pv " in line:
                words = line.split()
                kind, number = words[words.index("score") + 1 :][:2]
                self.score = value(Cp(int(number)) if kind == "cp" else Mate(int(number)))
        return line

    def move(self, board: chess.Board) -> chess.Move:
        """Return the engine's move in a position."""
        moves = " ".join(move.uci() for move in board.move_stack)
        self.say(f"position startpos moves {moves}" if moves else "position startpos")
        # The engine uses its books only with a time limit. The node limit ends the search.
        self.say(f"go nodes {self._nodes} movetime 600000")
        return chess.Move.from_uci(self._until("bestmove").split()[1])

    def end(self, result: str) -> None:
        """Report the result of the game, and start a new game."""
        self.score = 0
        self.say(f"setoption name GameResult value {result}", "ucinewgame", "isready")
        self._until("readyok")

    def close(self) -> None:
        """Stop the engine's threads."""
        self._uci.close(10.0)


def play(ours: UciEngineUnderTest, other: HabitOpponent, colour: chess.Color) -> tuple[float, bool]:
    """Play a game; return our points, and whether a position was repeated three times."""
    board = chess.Board()
    other.new_game()
    points: float | None = None
    while points is None:
        mover = ours if board.turn == colour else other
        move = mover.move(board)
        assert board.is_legal(move), (board.fen(), move)
        board.push(move)
        if outcome := board.outcome():
            points = 0.5 if outcome.winner is None else float(outcome.winner == colour)
        elif board.is_repetition(3) or board.is_fifty_moves() or len(board.move_stack) > MAX_PLIES:
            points = 0.5
        elif mover is other and len(board.move_stack) > 12:
            if ours.score <= -RESIGN_SCORE and other.score >= RESIGN_SCORE:
                points = 0.0
            elif ours.score >= RESIGN_SCORE and other.score <= -RESIGN_SCORE:
                points = 1.0
    ours.end(RESULTS[points if colour else 1.0 - points])
    return points, board.is_repetition(3)


def run(scenario: str, nodes: int, games: int, seed: int, file: Path | None) -> list[list[float]]:
    """Play all games of one arm; return the results of `play` for each game."""
    clear_stop = "with" if file else "without"
    ours = UciEngineUnderTest(nodes, file, scenario, random.Random(f"{seed} ours"))
    other = HabitOpponent(scenario, nodes, random.Random(f"{seed} other"))
    found: list[list[float]] = []
    began = time.monotonic()
    for number in range(games):
        points, repeated = play(ours, other, bool(number % 2 == 0))
        found.append([points, float(repeated)])
        if (number + 1) % 20 == 0:
            total = sum(each[0] for each in found)
            spent = time.monotonic() - began
            print(f"{scenario} {clear_stop}: {total:g}/{number + 1} {spent:.0f} s", file=sys.stderr)
    ours.close()
    return found


def share(points: list[float]) -> tuple[float, float]:
    """Return the mean in percent, and half the width of its 95% interval."""
    mean = sum(points) / len(points)
    variance = sum((each - mean) ** 2 for each in points) / max(len(points) - 1, 1)
    return 100 * mean, 196 * math.sqrt(variance / len(points))


def main() -> int:
    """Play and report."""
    arguments_of = parser(__doc__)
    arguments_of.add_argument("scenario", choices=SCENARIOS)
    arguments_of.add_argument("--games", type=int, default=400)
    arguments_of.add_argument("--nodes", type=int, default=400, help="nodes per move of our engine")
    arguments_of.add_argument("--seed", type=int, default=1)
    arguments = arguments_of.parse_args()
    rows = []
    shares = []
    for known in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "habits.jsonl") if known else None
            found = run(arguments.scenario, arguments.nodes, arguments.games, arguments.seed, file)
            size = file.stat().st_size if file else 0
        points = [each[0] for each in found]
        quarter = max(len(points) // 4, 1)
        quarters = [points[at : at + quarter] for at in range(0, 4 * quarter, quarter)]
        mean, error = share(points)
        shares.append((mean, error))
        rows.append(
            [
                "with habits" if known else "without",
                points.count(1.0),
                points.count(0.5),
                points.count(0.0),
                f"{mean:.1f} ± {error:.1f} %",
                " ".join(f"{share(each)[0]:.0f}" for each in quarters if each),
                sum(int(each[1]) for each in found),
                size >> 10,
            ]
        )
    columns = ["", "won", "drawn", "lost", "points", "by quarters", "repeated", "file KiB"]
    show(f"{arguments.scenario}, {arguments.nodes} nodes", columns, rows, arguments.json)
    gain, error = shares[1][0] - shares[0][0], math.hypot(shares[0][1], shares[1][1])
    print(f"habits bring {gain:+.1f} ± {error:.1f} points of a hundred")
    return 0


if __name__ == "__main__":
    sys.exit(main())
