"""Self-play on several processes, appended to one file of positions.

A game follows from the manifest and its number alone, and the games are written in their order: the
file is the same however many processes there are, and however often it was interrupted.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from agent.chess.evaluations import load
from agent.chess.selfplay_rules import OpeningsError, Rules
from agent.compiled.sources import sources_digest
from agent.evaluation import EvaluationError, network_file
from training.positions import Damage, Writer
from training.workers import games

if TYPE_CHECKING:
    from agent.chess.selfplay import SelfPlay

BLOCK_GAMES = 32


@dataclass(frozen=True)
class SelfPlayPlan:
    """What is played: together with a game's number it determines the game."""

    rules: Rules
    seed: int = 1
    evaluation: str = "handcrafted"
    openings: tuple[str, ...] = ()  # FENs; the start position if none

    def manifest(self, version: str) -> dict[str, Any]:
        """Return what a file of such games says of itself."""
        return {
            "engine": version,
            "kernel": sources_digest(),
            "evaluation": self.evaluation,
            "evaluation_digest": _digest(self.evaluation),
            "seed": self.seed,
            "openings": list(self.openings),
            "rules": asdict(self.rules),
        }


@dataclass(frozen=True)
class SelfPlayProgress:
    """What a run has written so far."""

    positions: int  # in the file, those of earlier runs included
    games: int
    duplicates: int  # left out by this run
    damages: list[Damage]  # found in the file, whose games are lost


def _digest(evaluation: str) -> str:
    """Hash the file of an evaluation that is in a file."""
    place = Path(evaluation.rpartition(":")[0])
    if (network := network_file(evaluation)) is not None:
        place = Path(network)
    elif place.suffix != ".py":
        return ""
    if not place.is_file():
        return ""
    return hashlib.sha256(place.read_bytes()).hexdigest()[:16]


def generate(
    path: Path, plan: SelfPlayPlan, version: str, positions: int, processes: int
) -> Iterator[SelfPlayProgress]:
    """Play until the file holds at least so many positions; yield at the start and every block.

    Raises PositionsError if the file cannot be used, GamesError if a process fails; what has been
    written stays, and the same call goes on from there.
    """
    with Writer(path, plan.manifest(version), BLOCK_GAMES) as writer:
        yield _progress(writer)
        if writer.positions >= positions:
            return
        failures = EvaluationError, OpeningsError
        made = games(player_of, plan, writer.next_game, processes, failures)
        with contextlib.closing(made):
            while writer.positions < positions:
                if writer.add(next(made)):
                    yield _progress(writer)


def _progress(writer: Writer) -> SelfPlayProgress:
    return SelfPlayProgress(writer.positions, writer.next_game, writer.duplicates, writer.damages)


def player_of(plan: SelfPlayPlan) -> "SelfPlay":
    """Make what plays the games of a plan, compiling it if need be."""
    from agent.chess.selfplay import SelfPlay

    openings = [chess.Board(fen) for fen in plan.openings]
    return SelfPlay(plan.rules, plan.seed, openings, load(plan.evaluation))
