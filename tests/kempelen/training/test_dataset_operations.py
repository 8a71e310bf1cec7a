"""Test derived files of positions: contents, order and reproducibility."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.chess.board.packed_position import BLACK_TO_MOVE, packed_dtype
from kempelen.training import dataset_blocks, dataset_operations, manifests
from kempelen.training.dataset import ALL, TRAINING, VALIDATION, Dataset
from kempelen.training.dataset_blocks import DatasetError, Packed
from kempelen.training.dataset_operations import (
    PositionSelection,
    convert,
    filter_positions,
    merge,
    shuffle,
    split,
)
from kempelen.training.dataset_writer import DatasetWriter
from kempelen.training.position_statistics import PositionStatistics, count_positions
from tests.systems import posix_only

GAMES = 75  # not a multiple of the block size
MANIFEST = {"engine": "none", "openings": ["one", "two"]}


def ignore(done: int) -> None:
    """Ignore progress."""


def game(number: int, seed: int) -> Packed:
    """Distinct positions; game 7 has none."""
    generator = np.random.default_rng((seed, number))
    length = 0 if number == 7 else int(generator.integers(1, 40))
    positions = np.zeros(length, packed_dtype)
    for square in (4, 60):
        positions["occupied"] |= np.uint64(1 << square)
    positions["occupied"] |= generator.integers(0, 1 << 30, length, np.uint64) << np.uint64(8)
    positions["pieces"] = generator.integers(0, 1 << 62, (length, 2), np.uint64)
    positions["state"] = 64 + BLACK_TO_MOVE * generator.integers(0, 2, length)
    positions["fullmoves"] = 9 + np.arange(length)
    positions["halfmoves"] = generator.integers(0, 30, length)
    positions["score"] = generator.integers(-900, 900, length)
    positions["result"] = generator.integers(-1, 2, length)
    return positions


def write(path: Path, games: int = GAMES, seed: int = 1) -> Path:
    with DatasetWriter(path, MANIFEST | {"seed": seed}, 32) as writer:
        for number in range(games):
            writer.add(game(number, seed))
        writer.finish()
    return path


def content(*paths: Path, part: int = ALL) -> Packed:
    with Dataset(*paths) as dataset:
        return np.concatenate(list(dataset.blocks(part)))


def in_order(positions: Packed) -> Any:
    return np.sort(positions.view("V32"))


@posix_only("Windows does not let others remove an open file")
def test_file_removed_while_written_is_written_again(tmp_path: Path) -> None:
    whole, removed = write(tmp_path / "whole"), tmp_path / "removed"
    with DatasetWriter(removed, MANIFEST | {"seed": 1}, 32) as writer:
        for number in range(GAMES):
            if writer.add(game(number, 1)):
                removed.unlink()
        writer.finish()
    assert removed.read_bytes() == whole.read_bytes()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "source")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return write(tmp_path / "other", 40, seed=2)


def test_games_are_read_in_order_from_any_start(source: Path) -> None:
    with Dataset(source) as dataset:
        assert [number for number, _ in dataset.iter_games()] == list(range(GAMES))
        for number, stored in dataset.iter_games(skip=40):
            assert (stored.training == game(number, 1)).all()
            assert len(stored.training) == len(game(number, 1))
        assert next(dataset.iter_games(skip=40))[0] == 40
        assert not list(dataset.iter_games(skip=GAMES))


def test_merge_keeps_each_position_once(source: Path, other: Path, tmp_path: Path) -> None:
    target = tmp_path / "merged"
    twice = write(tmp_path / "twice", 10, seed=2)
    made = merge([source, other, twice], target, ignore)
    assert (content(target) == content(source, other)).all()
    assert made.positions == len(content(source, other))
    assert made.left_out == len(content(twice)) > 0
    with Dataset(target) as dataset:
        assert dataset.game_numbers() == list(range(GAMES + 40 + 10))
        described = dataset.contents[0].manifest["merged"]
    assert [each["file"] for each in described] == ["source", "other", "twice"]
    assert [each["manifest"]["seed"] for each in described] == [1, 2, 2]


def test_shuffle_keeps_games_whole_and_is_reproducible(
    source: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_operations, "POOL_POSITIONS", 300)
    target = tmp_path / "shuffled"
    shuffle([source, other], target, 1, ignore)
    assert (in_order(content(target)) == in_order(content(source, other))).all()
    with Dataset(source, other) as before, Dataset(target) as after:
        games = [stored.training.tobytes() for _, stored in before.iter_games()]
        shuffled = [stored.training.tobytes() for _, stored in after.iter_games()]
    assert sorted(games) == sorted(shuffled)
    moved = [abs(shuffled.index(each) - place) for place, each in enumerate(games)]
    assert 0.2 < np.mean(moved) / len(games) < 0.45  # a third, in random order
    shuffle([source, other], tmp_path / "again", 1, ignore)
    assert (tmp_path / "again").read_bytes() == target.read_bytes()
    shuffle([source, other], tmp_path / "differently", 2, ignore)
    assert not (content(tmp_path / "differently") == content(target)).all()


def test_split_by_game_matches_validation_split_of_reader(source: Path, tmp_path: Path) -> None:
    training, validation = tmp_path / "training", tmp_path / "validation"
    kept, held_out = split(source, training, validation, Fraction(1, 20), ignore)
    assert (content(training) == content(source, part=TRAINING)).all()
    assert (content(validation) == content(source, part=VALIDATION)).all()
    assert (kept.games, held_out.games) == (GAMES - 3, 3)
    _, third = split(source, tmp_path / "a", tmp_path / "b", Fraction(1, 3), ignore)
    assert third.games == GAMES // 3


@pytest.mark.parametrize(
    "wanted",
    [
        PositionSelection(most_score=300),
        PositionSelection(least_pieces=17),
        PositionSelection(most_pieces=17),
        PositionSelection(first_ply=30, last_ply=60),
        PositionSelection(most_halfmoves=10),
        PositionSelection(results_agree=100),
        PositionSelection(most_score=500, results_agree=0),
    ],
    ids=str,
)
def test_filter_keeps_wanted_positions_and_game_numbers(
    source: Path, tmp_path: Path, wanted: PositionSelection
) -> None:
    target = tmp_path / "chosen"
    made = filter_positions(source, target, wanted, ignore)
    assert 0 < made.left_out < len(content(source))
    with Dataset(source) as before, Dataset(target) as after:
        assert before.game_numbers() == after.game_numbers()
        for number, stored in before.iter_games():
            kept = [each.tobytes() for each in stored.training if wants(wanted, each)]
            assert [each.tobytes() for each in after.game(number).training] == kept


def wants(wanted: PositionSelection, position: np.void) -> bool:
    """Evaluate one position in plain Python."""
    score, pieces = int(position["score"]), int(position["occupied"]).bit_count()
    ply = 2 * (int(position["fullmoves"]) - 1) + (position["state"] >= BLACK_TO_MOVE)
    contrary = position["result"] and (score > 0) != (position["result"] > 0)
    return not (
        (wanted.most_score is not None and abs(score) > wanted.most_score)
        or (wanted.least_pieces is not None and pieces < wanted.least_pieces)
        or (wanted.most_pieces is not None and pieces > wanted.most_pieces)
        or (wanted.first_ply is not None and ply < wanted.first_ply)
        or (wanted.last_ply is not None and ply > wanted.last_ply)
        or (wanted.most_halfmoves is not None and position["halfmoves"] > wanted.most_halfmoves)
        or (wanted.results_agree is not None and contrary and abs(score) > wanted.results_agree)
    )


def test_manifest_lists_all_applied_filters(source: Path, tmp_path: Path) -> None:
    filter_positions(source, tmp_path / "one", PositionSelection(most_score=300), ignore)
    filter_positions(tmp_path / "one", tmp_path / "two", PositionSelection(first_ply=20), ignore)
    with Dataset(tmp_path / "two") as dataset:
        first, second = dataset.contents[0].manifest["filters"]
    assert first["most_score"] == 300
    assert second["first_ply"] == 20


def test_games_before_the_first_are_not_written(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with DatasetWriter(source, MANIFEST, 32) as writer:
        writer.skip_to(10**9)
        for number in range(40):
            writer.add(game(number, 1))
        writer.finish()
    made = filter_positions(source, target, PositionSelection(most_score=700), ignore)
    assert made.games == 40
    assert 0 < made.positions < len(content(source))
    with Dataset(target) as dataset:
        assert dataset.game_numbers() == list(range(10**9, 10**9 + 40))


ACTIONS: dict[str, Callable[[Path, Path], object]] = {
    "merge": lambda source, target: merge([source], target, ignore),
    "shuffle": lambda source, target: shuffle([source], target, 3, ignore),
    "split": lambda source, target: split(
        source, target, target.with_name(f"{target.name}-rest"), Fraction(1, 5), ignore
    ),
    "choose": lambda source, target: filter_positions(
        source, target, PositionSelection(most_score=700), ignore
    ),
    "convert": lambda source, target: convert(source, target, manifests.GAMES, ignore),
}


@pytest.mark.parametrize("make", ACTIONS.values(), ids=ACTIONS)
def test_interrupted_file_is_completed_identically(
    source: Path, tmp_path: Path, make: Callable[[Path, Path], object]
) -> None:
    make(source, tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    for cut in (20, len(whole) // 2):
        (tmp_path / "cut").write_bytes(whole[:-cut])
        make(source, tmp_path / "cut")
        assert (tmp_path / "cut").read_bytes() == whole
    make(source, tmp_path / "whole")
    assert (tmp_path / "whole").read_bytes() == whole


@pytest.mark.parametrize("make", ACTIONS.values(), ids=ACTIONS)
def test_damaged_output_file_is_not_resumed(
    source: Path, tmp_path: Path, make: Callable[[Path, Path], object]
) -> None:
    target = tmp_path / "made"
    make(source, target)
    damage_first_block(target)
    before = target.read_bytes()
    for _ in range(2):  # the file is unlocked
        with pytest.raises(DatasetError, match=r"made: \d+ bytes at .* are damaged"):
            make(source, target)
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    "manifest", [b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[1]", b"{"], ids=["deep", "list", "cut"]
)
@pytest.mark.usefixtures("usual_recursion")
def test_invalid_manifest_is_rejected(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: bytes
) -> None:
    path = tmp_path / "strange"
    with monkeypatch.context() as changed:
        block = dataset_blocks._block(b"MANI", manifest)
        changed.setattr("kempelen.training.dataset_writer.encode_manifest", lambda _: block)
        write(path)
    before = path.read_bytes()
    with pytest.raises(DatasetError, match="strange: invalid manifest: "):
        Dataset(path)
    with pytest.raises(DatasetError, match="strange: invalid manifest: "):
        merge([source], path, ignore)
    assert path.read_bytes() == before


def damage_first_block(path: Path) -> None:
    data = bytearray(path.read_bytes())
    with Dataset(path) as dataset:
        data[dataset.contents[0].blocks[0].offset + 5] ^= 255
    path.write_bytes(data)


def test_damaged_games_are_left_out_of_derived_files(source: Path, tmp_path: Path) -> None:
    damage_first_block(source)
    filter_positions(source, tmp_path / "chosen", PositionSelection(most_score=32000), ignore)
    with Dataset(tmp_path / "chosen") as dataset:
        assert not len(dataset.game(3).positions)
        assert (dataset.game(40).training == game(40, 1)).all()
    assert merge([source], tmp_path / "merged", ignore).games == GAMES - 32


def test_source_file_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    before = source.read_bytes()
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(DatasetError, match="is an input file"):
        merge([source], tmp_path / "link", ignore)
    for first, second, reason in (("a", "a", "two files"), ("a", "link", "is an input file")):
        with pytest.raises(DatasetError, match=reason):
            split(source, tmp_path / first, tmp_path / second, Fraction(1, 2), ignore)
    assert not (tmp_path / "a").exists()
    assert source.read_bytes() == before


def test_file_made_from_other_sources_is_not_resumed(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "merged"
    merge([source], target, ignore)
    source.unlink()
    write(source, seed=5)
    with pytest.raises(DatasetError, match=r"has other settings \(merged 1\.") as refused:
        merge([source], target, ignore)
    assert "opening" not in str(refused.value)


def test_renamed_source_is_recognised(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "merged"
    merge([source], target, ignore)
    before = target.read_bytes()
    merge([source.rename(tmp_path / "renamed")], target, ignore)
    assert target.read_bytes() == before


@pytest.mark.parametrize("name", ["a", "a name that is longer than the one before"])
def test_source_can_be_renamed_before_first_block_is_written(
    name: str, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "merged"
    merge([source], target, ignore)
    whole = target.read_bytes()
    with Dataset(target) as dataset:
        target.write_bytes(whole[: dataset.contents[0].manifest_end + 9])
    merge([source.rename(tmp_path / name)], target, ignore)
    assert target.read_bytes() == whole


def test_statistics_count_every_position(source: Path) -> None:
    positions = content(source)
    with Dataset(source) as dataset:
        found = count_positions(dataset)
    assert (found.positions, found.games) == (len(positions), GAMES)
    assert found.scores.sum(axis=0).tolist() == [
        int((positions["result"] == each).sum()) for each in (-1, 0, 1)
    ]
    black = positions["state"] >= BLACK_TO_MOVE
    assert found.outcomes[2] == (positions["result"] == np.where(black, -1, 1)).sum()
    for counts in (found.pieces, found.phases, found.plies, found.depths):
        assert counts.sum() == len(positions)
    pieces = [int(each).bit_count() for each in positions["occupied"]]
    assert found.pieces.tolist() == np.bincount(pieces, minlength=33).tolist()
    _, means, totals = found.results_by_score(100)
    assert (means * totals).sum() == pytest.approx((positions["result"] + 1).sum() / 2)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("scale", [80.0, 250.0, 900.0])
def test_fit_recovers_scale_of_simulated_results(scale: float) -> None:
    generator = np.random.default_rng(4)
    positions = np.zeros(200_000, packed_dtype)
    scores = generator.normal(0, 400, len(positions)).round()
    positions["score"] = scores
    won = generator.random(len(scores)) < 1 / (1 + np.exp(-scores / scale))
    positions["result"] = np.where(won, 1, -1)
    found = PositionStatistics()
    found.add(positions)
    assert found.fit_scale() == pytest.approx(scale, rel=0.03)
    positions["result"] *= -1
    contrary = PositionStatistics()
    contrary.add(positions)
    assert contrary.fit_scale() is None


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("middle", "scale"), [(200.0, 80.0), (60.0, 20.0), (350.0, 150.0)])
def test_fit_recovers_win_curve_of_simulated_results(middle: float, scale: float) -> None:
    generator = np.random.default_rng(5)
    positions = np.zeros(300_000, packed_dtype)
    scores = generator.normal(0, 400, len(positions)).round()
    positions["score"] = scores
    wins, losses = (1 / (1 + np.exp((middle - sign * scores) / scale)) for sign in (1, -1))
    drawn = generator.random(len(scores))
    positions["result"] = np.where(drawn < wins, 1, np.where(drawn < wins + losses, -1, 0))
    found = PositionStatistics()
    found.add(positions)
    curve = found.fit_winning_curve()
    assert curve is not None
    assert (curve.middle, curve.scale) == pytest.approx((middle, scale), rel=0.03)
    positions["result"] *= -1
    contrary = PositionStatistics()
    contrary.add(positions)
    assert contrary.fit_winning_curve() is None
    assert PositionStatistics().fit_winning_curve() is None


@pytest.mark.parametrize("results", [[0], [0, 0, 0, -1]])
def test_few_results_give_no_scale_or_win_curve(results: list[int]) -> None:
    positions = np.zeros(60, packed_dtype)
    positions["score"] = np.arange(-300, 300, 10)
    positions["result"] = np.resize(results, len(positions))
    found = PositionStatistics()
    found.add(positions)
    assert found.fit_scale() is None
    assert found.fit_winning_curve() is None


def test_phase_is_24_at_start_and_0_for_bare_kings() -> None:
    from agent.chess.board.packed_position import CASTLING_ROOK
    from kempelen.training.position_statistics import game_phases

    positions = np.zeros(2, packed_dtype)
    back_rank = [CASTLING_ROOK, 1, 2, 4, 5, 2, 1, CASTLING_ROOK]
    first = sum(kind << 4 * place for place, kind in enumerate(back_rank))
    last = sum((kind + 8) << 4 * (place + 8) for place, kind in enumerate(back_rank))
    blacks = sum(8 << 4 * place for place in range(8))
    positions["occupied"] = [0xFFFF00000000FFFF, 0x1000000000000010]
    positions["pieces"] = [(first, blacks | last), (5 | 13 << 4, 0)]
    assert game_phases(positions).tolist() == [24, 0]


def test_concatenated_files_are_rejected(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write(tmp_path / "other", seed=2)
    joined = tmp_path / "joined"
    head = one.read_bytes()[: Dataset(one).contents[0].manifest_end]
    for second in (other.read_bytes(), other.read_bytes()[len(head) :]):
        joined.write_bytes(one.read_bytes() + second)
        with pytest.raises(
            DatasetError, match=r"joined: several files in one .*`kempelen train data m"
        ):
            Dataset(joined)


def test_score_bins_have_equal_width() -> None:
    positions = np.zeros(2001, packed_dtype)
    positions["score"] = np.arange(-1000, 1001)
    found = PositionStatistics()
    found.add(positions)
    scores = found.scores.sum(axis=1)
    assert set(scores[abs(found.centipawns) < 1000]) == {10}
    middles, _, totals = found.results_by_score(100)
    assert set(totals[abs(middles) < 1000]) == {100}
