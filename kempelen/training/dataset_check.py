"""Check a file of positions for damage, illegal positions, duplicates and wrong labels."""

import random
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.chess.board.packed_position import unpack_board
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.evaluation import (
    HANDCRAFTED,
    Evaluation,
    EvaluationError,
    evaluation_digest,
    network_file,
)
from agent.kernel.source_digest import sources_digest
from agent.limits import Cp, Limits
from kempelen.training.dataset import Dataset, are_valid
from kempelen.training.dataset_blocks import Packed
from kempelen.training.dataset_writer import SeenPositions
from kempelen.training.manifests import RENUMBERED, origins
from kempelen.training.selfplay import SelfPlayPlan, create_player

LEGALITY_SAMPLE = 20_000  # positions
SEARCH_SAMPLE = 200
SEARCH_NODES = 10  # ratio of the nodes of the check's search to those of the label's search


@dataclass(frozen=True)
class CheckResult:
    """The numbers of checked positions and games, and of the problems found."""

    positions: int
    damaged_bytes: int
    duplicates: int
    legality_checked: int
    illegal: int
    games_replayed: int
    games_differing: int
    not_replayed: str  # the reason for not replaying games, or ""
    searched: int  # 0 if the evaluation is not available
    median_difference: float  # in centipawns, between labels and longer searches

    @property
    def is_valid(self) -> bool:
        wrong = self.damaged_bytes, self.duplicates, self.illegal, self.games_differing
        return not any(wrong)


def check_dataset(path: Path, games: int, trusted: str = "") -> CheckResult:
    """Check a file of positions with the compiled kernel, and replay `games` of its games.

    `trusted` names the user evaluation that may be loaded. Others are not loaded, because they
    could run arbitrary code. Raise DatasetError if the file is not a file of positions.
    """
    generator = random.Random(0)
    with Dataset(path) as dataset:
        contents = dataset.contents[0]
        seen = SeenPositions()
        duplicates = sum(int((~seen.add(block)).sum()) for block in dataset.blocks())
        sample = range(len(dataset))
        legality_sample = dataset[
            sorted(generator.sample(sample, min(len(sample), LEGALITY_SAMPLE)))
        ]
        searched = dataset[sorted(generator.sample(sample, min(len(sample), SEARCH_SAMPLE)))]
        searched = np.array([packed for packed in searched if _is_legal(packed)], searched.dtype)
        replayed = differing = 0
        evaluation, not_replayed = _evaluation(contents.manifest, trusted)
        if any("scores" in origin for origin in origins(contents.manifest)):
            not_replayed, evaluation = "rescored by another engine", None
        elif any(name in contents.manifest for name in RENUMBERED):
            not_replayed = "its games were renumbered (check the source files instead)"
        elif contents.manifest.get("kernel") != sources_digest():
            not_replayed = "played by another version"
        if not not_replayed:
            numbers = dataset.game_numbers()
            player = create_player(_plan(contents.manifest))
            for number in generator.sample(numbers, min(games, len(numbers))):
                replayed += 1
                differing += not _contains_game(player.play(number), dataset.game(number).training)
        nodes = SEARCH_NODES * int(
            contents.manifest.get("rules", {}).get("nodes", SelfPlaySettings().nodes)
        )
        return CheckResult(
            positions=len(dataset),
            damaged_bytes=sum(damage.length for damage in contents.damages),
            duplicates=duplicates,
            legality_checked=len(legality_sample),
            illegal=sum(not _is_legal(packed) for packed in legality_sample),
            games_replayed=replayed,
            games_differing=differing,
            not_replayed=not_replayed,
            searched=len(searched) if evaluation else 0,
            median_difference=_median_difference(searched, nodes, evaluation) if evaluation else 0,
        )


def _is_legal(packed: np.void) -> bool:
    return bool(are_valid(packed.reshape(1)).all()) and unpack_board(packed).is_valid()


def _evaluation(manifest: dict[str, Any], trusted: str) -> tuple[Evaluation | None, str]:
    name = manifest.get("evaluation", DEFAULT)
    if trusted not in ("", name):
        return None, f"played with {name}, not {trusted} (use --evaluation {name})"
    if name not in (HANDCRAFTED.name, trusted) and network_file(name) is None:
        return None, f"{name} is user code (use --evaluation {name} to run it)"
    try:
        evaluation = load(name)
    except EvaluationError as error:
        return None, str(error)
    if manifest.get("evaluation_digest", "") != evaluation_digest(name):
        return None, f"the evaluation file of {name} has changed"
    return evaluation, ""


def _plan(manifest: dict[str, Any]) -> SelfPlayPlan:
    return SelfPlayPlan(
        SelfPlaySettings(**manifest["rules"]),
        manifest["seed"],
        manifest["evaluation"],
        tuple(manifest["openings"]),
        manifest.get("chess960", 0.0),
        manifest.get("odds", 0.0),
    )


def _contains_game(replayed: Packed, game: Packed) -> bool:
    # The replay may have more positions, because the file omits duplicates of earlier games.
    rest = iter(replayed)
    return all(any(packed == other for other in rest) for packed in game)


def _median_difference(positions: Packed, nodes: int, evaluation: Evaluation) -> float:
    from agent.chess.search.alphabeta_search import AlphaBetaSearch

    search = AlphaBetaSearch(evaluation=evaluation)
    differences = []
    for packed in positions:
        search.clear_stop()
        search.new_game()
        *_, last = search.search(unpack_board(packed), Limits(nodes=nodes))
        if isinstance(last.score, Cp):
            differences.append(abs(last.score.value - int(packed["score"])))
    return float(statistics.median(differences)) if differences else 0.0
