"""Matches of two engines through `kempelen match`, for strength benchmarks."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class MatchResult:
    """The result of a match from the first player's view.

    elo, error: None if one side won all games.
    """

    wins: int
    draws: int
    losses: int
    failures: int
    elo: float | None
    error: float | None

    @property
    def score(self) -> str:
        """The result as wins-draws-losses."""
        return f"{self.wins}-{self.draws}-{self.losses}"

    @property
    def elo_text(self) -> str:
        """The Elo difference with its error, if they are known."""
        return "-" if self.elo is None else f"{self.elo:+.0f} +- {self.error:.0f}"


def engine(command: list[str] | str, name: str, *entries: str) -> str:
    """Return an engine in the form of `kempelen match --engine`."""
    program, *arguments = [command] if isinstance(command, str) else command
    words = [f"cmd={program}", f"name={name}", *entries]
    if arguments:
        words.append(f"args={' '.join(arguments)}")
    return ",".join(words)


def play(first: str, second: str, games: int, *options: str) -> MatchResult:
    """Play a match. Raises CalledProcessError if the match fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "kempelen.cli", "match", "--json"),
            *("--engine", first, "--engine", second, "--games", str(games)),
            *("--ledger", f"{folder}/ledger.sqlite", *options),
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout)["summary"]["rows"]
    one, other = sorted(rows, key=lambda row: f"name={row['name']}" not in first.split(","))
    decided = one["error"] is not None and 0 < one["points"] < one["games"]
    return MatchResult(
        one["wins"],
        one["draws"],
        one["losses"],
        one["failures"] + other["failures"],
        one["elo"] if decided else None,
        one["error"] if decided else None,
    )
