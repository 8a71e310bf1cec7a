"""Test that self-play continues by the ledger, without the files of finished games."""

import json
from pathlib import Path

import pytest

from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_blocks import DatasetError
from kempelen.training.dataset_operations import merge
from kempelen.training.dataset_writer import BLOCK_GAMES
from kempelen.training.selfplay import SelfPlayPlan, SelfPlayProgress, generate
from kempelen.training.selfplay_ledger import SelfPlayLedger
from tests import in_process

PLAN = SelfPlayPlan(SelfPlaySettings(nodes=20), seed=3)
MANIFEST = {"engine": "test", "seed": 3}


def play(path: Path, ledger: Path | None, positions: int, plan: SelfPlayPlan = PLAN) -> object:
    *_, last = generate(path, plan, "test", positions, 1, None, ledger)
    return last


def rows(ledger: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in ledger.read_text().splitlines()]


def ranges(ledger: Path) -> list[tuple[object, ...]]:
    return [(row["seed"], row["first"], row["end"], row["file"]) for row in rows(ledger)]


def test_other_machine_continues_with_the_next_games(tmp_path: Path) -> None:
    whole, ledger = tmp_path / "whole", tmp_path / "ledger.jsonl"
    play(whole, None, 4000)
    play(tmp_path / "one", ledger, 1000)
    ((seed, first, end, name),) = ranges(ledger)
    assert (seed, first, name) == (3, 0, "one")
    assert isinstance(end, int)
    assert end % BLOCK_GAMES == 0
    # The second machine has only the ledger.
    last = play(tmp_path / "two", ledger, 1000)
    assert isinstance(last, SelfPlayProgress)
    assert ranges(ledger)[0] == (3, 0, end, "one")
    assert ranges(ledger)[1][:2] == (3, end)
    with Dataset(whole) as all_games, Dataset(tmp_path / "two") as later:
        assert later.game_numbers() == list(range(end, end + last.games))
        assert rows(ledger)[1]["positions"] == len(later) == last.positions
        for number in later.game_numbers()[:BLOCK_GAMES]:
            game = {each.tobytes() for each in all_games.game(number).training}
            # The other file also lacks the duplicates of earlier games.
            assert game <= {each.tobytes() for each in later.game(number).training}
    # The first machine continues after the games of the second.
    play(tmp_path / "one", ledger, 2000)
    assert ranges(ledger)[2][1] == ranges(ledger)[1][2]
    with Dataset(tmp_path / "one") as dataset:
        numbers = dataset.game_numbers()
        assert set(range(end)) < set(numbers)
        assert not set(later.game_numbers()) & set(numbers)
        assert len(dataset) == sum(
            int(str(row["positions"])) for row in rows(ledger) if row["file"] == "one"
        )
    merge([tmp_path / "one", tmp_path / "two"], tmp_path / "merged", lambda done: None)


def test_run_with_finished_ledger_plays_no_game_twice(tmp_path: Path) -> None:
    path, ledger = tmp_path / "file", tmp_path / "ledger"
    play(path, ledger, 500)
    before = path.read_bytes(), ledger.read_bytes()
    play(path, ledger, 500)
    assert (path.read_bytes(), ledger.read_bytes()) == before
    other = SelfPlayPlan(SelfPlaySettings(nodes=20), seed=4)
    play(tmp_path / "other", ledger, 500, other)
    assert [row[0] for row in ranges(ledger)] == [3, 4]
    assert ranges(ledger)[1][1] == 0


def test_games_written_before_a_crash_are_added_to_the_ledger(tmp_path: Path) -> None:
    path, ledger = tmp_path / "file", tmp_path / "ledger"
    play(path, ledger, 500)
    complete = ledger.read_text()
    row = rows(ledger)[0] | {"end": 1, "positions": 1}
    ledger.write_text(json.dumps(row) + "\n")
    play(path, ledger, 1)
    assert ledger.read_text() == complete
    ledger.unlink()
    play(path, ledger, 1)
    assert ledger.read_text() == complete


def test_interrupted_run_makes_the_same_file_and_ledger(tmp_path: Path) -> None:
    for name, stops in (("one", ()), ("two", (300, 700))):
        ledger = tmp_path / f"{name}-ledger"
        with SelfPlayLedger(ledger, 3) as made:
            made.begin(tmp_path / "elsewhere", MANIFEST)
            made.record(100, 5000)
        for positions in (*stops, 1200):
            play(tmp_path / name, ledger, positions)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    one, two = rows(tmp_path / "one-ledger"), rows(tmp_path / "two-ledger")
    assert [each | {"file": ""} for each in one] == [each | {"file": ""} for each in two]
    assert one[1]["first"] == 100


@pytest.mark.parametrize(
    "line",
    [
        "games 0 to 5",
        "[]",
        "{}",
        '{"seed": 1, "first": 0, "end": 5}',
        '{"seed": 1, "first": 5, "end": 0, "positions": 1}',
        '{"seed": 1, "first": 0, "end": "5", "positions": 1}',
        '{"seed": 1, "first": true, "end": 5, "positions": 1}',
    ],
)
def test_invalid_ledger_is_rejected_and_kept(line: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.write_text(f'\n{{"seed": 1, "first": 0, "end": 5, "positions": 1}}\n{line}\n')
    before = ledger.read_text()
    for _ in range(2):  # the file is unlocked
        with pytest.raises(DatasetError, match="ledger, line 3: not a line of a self-play ledger"):
            SelfPlayLedger(ledger, 1)
    assert ledger.read_text() == before


def test_ledger_cannot_be_the_output_and_is_only_for_chess(tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = in_process.run("train", "selfplay", path, "--ledger", path)
    assert done.returncode == 2
    assert not path.exists()
    done = in_process.run("train", "selfplay", path, "--game", "go", "--ledger", tmp_path / "x")
    assert done.returncode == 2
    assert "--ledger is only for chess" in done.stderr


def test_second_run_with_the_same_ledger_is_rejected(tmp_path: Path) -> None:
    with (
        SelfPlayLedger(tmp_path / "ledger", 1),
        pytest.raises(DatasetError, match="in use by another process"),
    ):
        SelfPlayLedger(tmp_path / "ledger", 2)
