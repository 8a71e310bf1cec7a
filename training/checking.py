"""Checks of a file of positions: whole, legal, and labelled as searches see them."""

import random
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.chess.evaluations import DEFAULT, load
from agent.chess.packed import board_of
from agent.chess.selfplay_rules import Rules
from agent.compiled.sources import sources_digest
from agent.limits import Cp, Limits
from training.positions import Dataset, KnownPositions, Packed
from training.selfplay import SelfPlayPlan, player_of

LEGALITY_SAMPLE = 20_000  # positions
SEARCH_SAMPLE = 200
SEARCH_NODES = 10  # times those of the label's search


@dataclass(frozen=True)
class Findings:
    """What was looked at, and what was wrong with it."""

    positions: int
    damaged_bytes: int
    duplicates: int
    legality_checked: int
    illegal: int
    games_replayed: int  # 0 if the kernel is not the one that played, or the scores are not its
    games_differing: int
    searched: int
    median_difference: float  # in centipawns, of longer searches from the labels

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        wrong = self.damaged_bytes, self.duplicates, self.illegal, self.games_differing
        return not any(wrong)


def check(path: Path, games: int) -> Findings:
    """Look at a whole file, and play some of its games again.

    Raises PositionsError if it is no file of positions, and EvaluationError if the evaluation that
    played is not there. Needs the kernel.
    """
    generator = random.Random(0)
    with Dataset(path) as dataset:
        contents = dataset.contents[0]
        known = KnownPositions()
        duplicates = sum(int((~known.add(block)).sum()) for block in dataset.blocks())
        sample = range(len(dataset))
        looked_at = dataset[sorted(generator.sample(sample, min(len(sample), LEGALITY_SAMPLE)))]
        searched = dataset[sorted(generator.sample(sample, min(len(sample), SEARCH_SAMPLE)))]
        replayed = differing = 0
        # What another engine has scored since cannot be had by playing again.
        replayable = "scores" not in contents.manifest
        if replayable and contents.manifest.get("kernel") == sources_digest():
            numbers = dataset.game_numbers()
            player = player_of(_plan(contents.manifest))
            for number in generator.sample(numbers, min(games, len(numbers))):
                replayed += 1
                differing += not _contains(player.play(number), dataset.game(number))
        nodes = SEARCH_NODES * int(contents.manifest.get("rules", {}).get("nodes", Rules().nodes))
        return Findings(
            positions=len(dataset),
            damaged_bytes=sum(damage.length for damage in contents.damages),
            duplicates=duplicates,
            legality_checked=len(looked_at),
            illegal=sum(not board_of(packed).is_valid() for packed in looked_at),
            games_replayed=replayed,
            games_differing=differing,
            searched=len(searched),
            median_difference=_median_difference(
                searched, nodes, contents.manifest.get("evaluation", DEFAULT)
            ),
        )


def _plan(manifest: dict[str, Any]) -> SelfPlayPlan:
    return SelfPlayPlan(
        Rules(**manifest["rules"]),
        manifest["seed"],
        manifest["evaluation"],
        tuple(manifest["openings"]),
    )


def _contains(replayed: Packed, game: Packed) -> bool:
    """Tell whether the game's positions, labels included, come in that order in the replay.

    The replay may have more: positions that earlier games had reached were left out.
    """
    rest = iter(replayed)
    return all(any(packed == other for other in rest) for packed in game)


def _median_difference(positions: Packed, nodes: int, evaluation: str) -> float:
    """Search the positions anew; return how far the scores typically are from the labels.

    Raises EvaluationError if the evaluation is not there.
    """
    from agent.chess.search import KernelSearch

    search = KernelSearch(evaluation=load(evaluation))
    differences = []
    for packed in positions:
        search.arm()
        search.new_game()
        *_, last = search.deepen(board_of(packed), Limits(nodes=nodes))
        if isinstance(last.score, Cp):
            differences.append(abs(last.score.value - int(packed["score"])))
    return float(statistics.median(differences)) if differences else 0.0
