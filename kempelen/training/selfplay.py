"""Generate chess self-play games and append them to a file of positions.

The file is the same for any number of workers, and after any interruption.
"""

import contextlib
import os
import sys
from collections.abc import Generator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.parts import ALPHABETA, SELFPLAY
from agent.chess.search.selfplay_settings import OpeningsError, SelfPlaySettings
from agent.evaluation import SHIPPED_NETWORK, EvaluationError, evaluation_digest, network_file
from agent.io.user_code import is_file_name
from agent.kernel import compilation
from agent.kernel.source_digest import sources_digest
from kempelen.training.dataset_blocks import Damage
from kempelen.training.dataset_writer import BLOCK_GAMES, DatasetWriter
from kempelen.training.manifests import GAMES
from kempelen.training.selfplay_ledger import SelfPlayLedger
from kempelen.training.selfplay_openings import RandomOpenings
from kempelen.training.workers import GamesError, LocalProcesses, Workers

if TYPE_CHECKING:
    from agent.chess.search.selfplay import SelfPlay

MAX_FRUITLESS_BLOCKS = 30  # limit of consecutive blocks without a new position


@dataclass(frozen=True)
class SelfPlayPlan:
    """The settings of self-play. A game depends only on these settings and its number."""

    rules: SelfPlaySettings
    seed: int = 1
    evaluation: str = DEFAULT
    openings: tuple[str, ...] = ()  # FENs; default: the start position
    chess960: float = 0.0  # see RandomOpenings
    odds: float = 0.0

    def manifest(self, version: str) -> dict[str, Any]:
        return {
            "engine": version,
            "kernel": sources_digest(),
            "evaluation": self.evaluation,
            "evaluation_digest": evaluation_digest(self.evaluation),
            "seed": self.seed,
            "openings": list(self.openings),
            "chess960": self.chess960,
            "odds": self.odds,
            "rules": asdict(self.rules),
        }


@dataclass(frozen=True)
class SelfPlayProgress:
    positions: int  # in the file, including earlier runs
    games: int
    duplicates: int  # positions that this run omitted
    damages: list[Damage]  # damaged sections of the file; their games are lost


def generate(
    path: Path,
    plan: SelfPlayPlan,
    version: str,
    positions: int,
    processes: int = 1,
    remote_workers: Workers | None = None,
    ledger_path: Path | None = None,
) -> Generator[SelfPlayProgress, None, None]:
    """Play games until the file contains at least `positions` positions.

    Yield the progress at the start and after each block. After an error, the call can be repeated
    to continue. `remote_workers` replace the local processes if given. Games that the ledger lists
    are not played again, even if they are not in the file. Raise DatasetError if a file is
    unusable, and GamesError if a worker fails or no new positions are found.
    """
    manifest = plan.manifest(version)
    with contextlib.ExitStack() as stack:
        ledger = None
        if ledger_path is not None:
            ledger = stack.enter_context(SelfPlayLedger(ledger_path, plan.seed))
        writer = stack.enter_context(DatasetWriter(path, manifest, BLOCK_GAMES, format_=GAMES))
        if ledger is not None:
            ledger.begin(path, manifest)
            writer.skip_to(ledger.next_game)
            # A crash may have prevented the last entry.
            ledger.record(writer.next_game, writer.positions)
        yield _progress(writer)
        if writer.positions >= positions:
            return
        workers = remote_workers or LocalProcesses(processes)
        numbers = range(writer.next_game, sys.maxsize)
        failures = EvaluationError, OpeningsError
        make = partial(create_checked_player, *_with_absolute_paths(plan))
        played_games = workers.games(make, numbers, failures)
        with contextlib.closing(played_games):
            fruitless = 0  # number of consecutive blocks without a new position
            while writer.positions < positions:
                n_before = writer.positions
                game = next(played_games)
                if writer.add(game, game["depth"] > 0):
                    if ledger is not None:
                        ledger.record(writer.next_game, writer.positions)
                    yield _progress(writer)
                    fruitless = 0 if writer.positions > n_before else fruitless + 1
                    if fruitless == MAX_FRUITLESS_BLOCKS:
                        raise GamesError(
                            f"{path}: no new position in {fruitless * BLOCK_GAMES} games (use "
                            "other openings, more --random-plies or more --nodes)"
                        )


def _progress(writer: DatasetWriter) -> SelfPlayProgress:
    return SelfPlayProgress(writer.positions, writer.games, writer.duplicates, writer.damages)


def _with_absolute_paths(plan: SelfPlayPlan) -> tuple[SelfPlayPlan, str]:
    # The bundled network keeps its name, because its path differs between machines.
    network, (file, _, name) = network_file(plan.evaluation), plan.evaluation.rpartition(":")
    evaluation = plan.evaluation
    if network is not None and network != str(SHIPPED_NETWORK):
        evaluation = f"nnue:{Path(network).absolute()}"
    elif is_file_name(file):
        evaluation = f"{Path(os.path.expanduser(file.strip())).absolute()}:{name}"
    return replace(plan, evaluation=evaluation), evaluation_digest(evaluation)


def create_checked_player(plan: SelfPlayPlan, digest: str) -> "SelfPlay":
    """Create a `SelfPlay` on a worker machine.

    Raise EvaluationError if the evaluation file on this machine has a different digest.
    """
    if not all(map(compilation.is_cached, (ALPHABETA, SELFPLAY))):
        compilation.warm_up(None, (ALPHABETA, SELFPLAY))
    player = create_player(plan)
    if evaluation_digest(plan.evaluation) != digest:
        raise EvaluationError(
            f"evaluation {plan.evaluation}: the file differs from the one at the start (copy it to "
            "all machines, and do not change it during the run)"
        )
    return player


def create_player(plan: SelfPlayPlan) -> "SelfPlay":
    """Create the `SelfPlay` of a plan, and compile its evaluation if necessary."""
    from agent.chess.search.selfplay import SelfPlay

    openings = RandomOpenings(plan.openings, plan.chess960, plan.odds)
    return SelfPlay(plan.rules, plan.seed, openings.draw, load(plan.evaluation))
