"""Checks of a file of positions: whole, legal, and labelled as searches see them."""

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
from kempelen.training.dataset import Dataset, Packed, SeenPositions, are_valid
from kempelen.training.manifests import RENUMBERED, origins
from kempelen.training.selfplay import SelfPlayPlan, create_player

LEGALITY_SAMPLE = 20_000  # positions
SEARCH_SAMPLE = 200
SEARCH_NODES = 10  # times those of the label's search


@dataclass(frozen=True)
class CheckResult:
    """What was looked at, and what was wrong with it."""

    positions: int
    damaged_bytes: int
    duplicates: int
    legality_checked: int
    illegal: int
    games_replayed: int
    games_differing: int
    not_replayed: str  # why no game was, or empty
    searched: int  # 0 without the evaluation that played
    median_difference: float  # in centipawns, of longer searches from the labels

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        wrong = self.damaged_bytes, self.duplicates, self.illegal, self.games_differing
        return not any(wrong)


def check_dataset(path: Path, games: int, trusted: str = "") -> CheckResult:
    """Look at a whole file, and play some of its games again.

    trusted: the evaluation that may be run though it is a user's code; what the file alone names
    is not. Raises PositionsError if it is no file of positions. Needs the kernel.
    """
    generator = random.Random(0)
    with Dataset(path) as dataset:
        contents = dataset.contents[0]
        known = SeenPositions()
        duplicates = sum(int((~known.add(block)).sum()) for block in dataset.blocks())
        sample = range(len(dataset))
        looked_at = dataset[sorted(generator.sample(sample, min(len(sample), LEGALITY_SAMPLE)))]
        searched = dataset[sorted(generator.sample(sample, min(len(sample), SEARCH_SAMPLE)))]
        searched = np.array([packed for packed in searched if _is_legal(packed)], searched.dtype)
        replayed = differing = 0
        evaluation, not_replayed = _evaluation(contents.manifest, trusted)
        if any("scores" in origin for origin in origins(contents.manifest)):
            not_replayed, evaluation = "another engine has scored it since", None
        elif any(name in contents.manifest for name in RENUMBERED):
            not_replayed = (
                "its games have other numbers in the files that it is made of: check those"
            )
        elif contents.manifest.get("kernel") != sources_digest():
            not_replayed = "another version played it"
        if not not_replayed:
            numbers = dataset.game_numbers()
            player = create_player(_plan(contents.manifest))
            for number in generator.sample(numbers, min(games, len(numbers))):
                replayed += 1
                differing += not _contains_game(player.play(number), dataset.game(number))
        nodes = SEARCH_NODES * int(
            contents.manifest.get("rules", {}).get("nodes", SelfPlaySettings().nodes)
        )
        return CheckResult(
            positions=len(dataset),
            damaged_bytes=sum(damage.length for damage in contents.damages),
            duplicates=duplicates,
            legality_checked=len(looked_at),
            illegal=sum(not _is_legal(packed) for packed in looked_at),
            games_replayed=replayed,
            games_differing=differing,
            not_replayed=not_replayed,
            searched=len(searched) if evaluation else 0,
            median_difference=_median_difference(searched, nodes, evaluation) if evaluation else 0,
        )


def _is_legal(packed: np.void) -> bool:
    return bool(are_valid(packed.reshape(1)).all()) and unpack_board(packed).is_valid()


def _evaluation(manifest: dict[str, Any], trusted: str) -> tuple[Evaluation | None, str]:
    """Return the evaluation that played, if it is there and may be run, or why not."""
    name = manifest.get("evaluation", DEFAULT)
    if trusted not in ("", name):
        return None, f"{name} played it, not {trusted}: name that, or none"
    if name not in (HANDCRAFTED.name, trusted) and network_file(name) is None:
        return None, f"{name} is code, which is run where you name it: --evaluation {name}"
    try:
        evaluation = load(name)
    except EvaluationError as error:
        return None, str(error)
    if manifest.get("evaluation_digest", "") != evaluation_digest(name):
        return None, f"the file of its evaluation, {name}, is another now"
    return evaluation, ""


def _plan(manifest: dict[str, Any]) -> SelfPlayPlan:
    return SelfPlayPlan(
        SelfPlaySettings(**manifest["rules"]),
        manifest["seed"],
        manifest["evaluation"],
        tuple(manifest["openings"]),
    )


def _contains_game(replayed: Packed, game: Packed) -> bool:
    """Tell whether the game's positions, labels included, come in that order in the replay.

    The replay may have more: positions that earlier games had reached were left out.
    """
    rest = iter(replayed)
    return all(any(packed == other for other in rest) for packed in game)


def _median_difference(positions: Packed, nodes: int, evaluation: Evaluation) -> float:
    """Search the positions anew; return how far the scores typically are from the labels."""
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
