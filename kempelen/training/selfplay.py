"""Self-play on several processes or machines, appended to one file of positions.

A game follows from the manifest and its number alone, and the games are written in their order: the
file is the same whoever plays them, and however often it was interrupted.
"""

import contextlib
import sys
from collections.abc import Generator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.parts import ALPHABETA, SELFPLAY
from agent.chess.search.selfplay_settings import OpeningsError, SelfPlaySettings
from agent.evaluation import SHIPPED_NETWORK, EvaluationError, evaluation_digest, network_file
from agent.io.user_code import is_file_name
from agent.kernel import compilation
from agent.kernel.source_digest import sources_digest
from kempelen.training.dataset import BLOCK_GAMES, Damage, DatasetWriter
from kempelen.training.workers import GamesError, LocalProcesses, Workers

if TYPE_CHECKING:
    from agent.chess.search.selfplay import SelfPlay

MAX_FRUITLESS_BLOCKS = 30  # blocks in a row without a new position: there are no more


@dataclass(frozen=True)
class SelfPlayPlan:
    """What is played: together with a game's number it determines the game."""

    rules: SelfPlaySettings
    seed: int = 1
    evaluation: str = DEFAULT
    openings: tuple[str, ...] = ()  # FENs; the start position if none

    def manifest(self, version: str) -> dict[str, Any]:
        """Return what a file of such games says of itself."""
        return {
            "engine": version,
            "kernel": sources_digest(),
            "evaluation": self.evaluation,
            "evaluation_digest": evaluation_digest(self.evaluation),
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


def generate(
    path: Path,
    plan: SelfPlayPlan,
    version: str,
    positions: int,
    processes: int = 1,
    remote_workers: Workers | None = None,
) -> Generator[SelfPlayProgress, None, None]:
    """Play until the file holds at least so many positions; yield at the start and every block.

    elsewhere: who plays in place of so many processes.
    Raises PositionsError if the file cannot be used, GamesError if a worker fails or no game has a
    new position any more; what has been written stays, and the same call goes on from there.
    """
    with DatasetWriter(path, plan.manifest(version), BLOCK_GAMES) as writer:
        yield _progress(writer)
        if writer.positions >= positions:
            return
        workers = remote_workers or LocalProcesses(processes)
        numbers = range(writer.next_game, sys.maxsize)
        failures = EvaluationError, OpeningsError
        made = workers.games(create_checked_player, _with_absolute_paths(plan), numbers, failures)
        with contextlib.closing(made):
            fruitless = 0  # blocks in a row
            while writer.positions < positions:
                before = writer.positions
                if writer.add(next(made)):
                    yield _progress(writer)
                    fruitless = 0 if writer.positions > before else fruitless + 1
                    if fruitless == MAX_FRUITLESS_BLOCKS:
                        raise GamesError(
                            f"{path}: {fruitless * BLOCK_GAMES} games had no new position: "
                            "other openings, more --random-plies or more --nodes are needed"
                        )


def _progress(writer: DatasetWriter) -> SelfPlayProgress:
    return SelfPlayProgress(writer.positions, writer.next_game, writer.duplicates, writer.damages)


def _with_absolute_paths(plan: SelfPlayPlan) -> tuple[SelfPlayPlan, str]:
    """Return a plan whose evaluation is found from every folder, and the digest of its file.

    The network that ships is found by its name wherever the package lies.
    """
    network, (place, _, name) = network_file(plan.evaluation), plan.evaluation.rpartition(":")
    found = plan.evaluation
    if network is not None and network != str(SHIPPED_NETWORK):
        found = f"nnue:{Path(network).absolute()}"
    elif is_file_name(place):
        found = f"{Path(place.strip()).expanduser().absolute()}:{name}"
    return replace(plan, evaluation=found), evaluation_digest(found)


def create_checked_player(task: tuple[SelfPlayPlan, str]) -> "SelfPlay":
    """Make what plays the games of a plan on any machine.

    Raises EvaluationError if the file of its evaluation is another there, by its digest.
    """
    plan, digest = task
    if not all(map(compilation.is_cached, (ALPHABETA, SELFPLAY))):
        compilation.warm_up(None, (ALPHABETA, SELFPLAY))
    player = create_player(plan)
    if evaluation_digest(plan.evaluation) != digest:
        raise EvaluationError(
            f"evaluation {plan.evaluation}: the file is not that with which the games are to be "
            "played: copy it to all machines, and leave it as it is meanwhile"
        )
    return player


def create_player(plan: SelfPlayPlan) -> "SelfPlay":
    """Make what plays the games of a plan, compiling it if need be."""
    from agent.chess.search.selfplay import SelfPlay

    openings = [chess.Board(fen) for fen in plan.openings]
    return SelfPlay(plan.rules, plan.seed, openings, load(plan.evaluation))
