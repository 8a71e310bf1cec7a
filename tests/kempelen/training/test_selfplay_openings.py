"""Test the random start positions of self-play."""

from collections import Counter
from pathlib import Path
from random import Random

import chess
import pytest

from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training import dataset_check
from kempelen.training.dataset import Dataset
from kempelen.training.selfplay import SelfPlayPlan, create_player, generate
from kempelen.training.selfplay_openings import RandomOpenings, remove_piece
from tests import in_process

FRC = "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1"


def drawn(openings: RandomOpenings, count: int) -> list[chess.Board]:
    random = Random(1)
    return [openings.draw(random) for _ in range(count)]


def test_openings_are_those_given_by_default() -> None:
    assert {board.fen() for board in drawn(RandomOpenings(), 9)} == {chess.STARTING_FEN}
    two = RandomOpenings((FRC, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))
    boards = drawn(two, 50)
    assert len({board.board_fen() for board in boards}) == 2
    assert all(board.clean_castling_rights() for board in boards if len(board.piece_map()) == 32)


def test_fraction_of_games_starts_from_chess960_positions() -> None:
    boards = drawn(RandomOpenings(chess960=0.25), 2000)
    others = [board for board in boards if board.board_fen() != chess.STARTING_BOARD_FEN]
    assert len(others) == pytest.approx(500, rel=0.15)
    assert len({board.board_fen() for board in others}) > 250
    assert all(board.chess960_pos() is not None for board in others)
    assert all(board.clean_castling_rights().bit_count() == 4 for board in others)


def test_fraction_of_games_is_played_at_odds() -> None:
    boards = drawn(RandomOpenings(odds=0.5), 2000)
    odds = [board for board in boards if len(board.piece_map()) == 31]
    assert len(odds) == pytest.approx(1000, rel=0.1)
    full = Counter(map(str, chess.Board().piece_map().values()))
    missing = Counter(
        name for board in odds for name in full - Counter(map(str, board.piece_map().values()))
    )
    assert set(missing) == set("PNBRpnbr")
    assert missing["P"] + missing["p"] == pytest.approx(8 / 14 * len(odds), rel=0.1)
    assert all(board.is_valid() for board in odds)
    both = drawn(RandomOpenings(chess960=1, odds=1), 300)
    assert all(len(board.piece_map()) == 31 and board.is_valid() for board in both)


def test_no_piece_is_removed_if_that_is_impossible() -> None:
    kings = chess.Board("4k3/8/8/8/8/8/8/4K2Q w - - 0 1")
    assert remove_piece(kings, Random(1)) is kings
    # Without the knight, the rook would give check to the side that is not to move.
    pinned = chess.Board("4k3/4n3/8/8/8/8/8/4RK2 w - - 0 1")
    removed = remove_piece(pinned, Random(1))
    assert removed.board_fen() == "4k3/4n3/8/8/8/8/8/5K2"


def test_games_from_varied_openings_are_stored_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    plan = SelfPlayPlan(SelfPlaySettings(nodes=20), seed=5, chess960=0.5, odds=0.3)
    *_, last = generate(path, plan, "test", 1500, 1)
    found = dataset_check.check_dataset(path, games=12)
    assert found.is_valid
    assert found.games_replayed == 12
    with Dataset(path) as dataset:
        manifest = dataset.contents[0].manifest
        assert (manifest["chess960"], manifest["odds"]) == (0.5, 0.3)
        assert last.positions == len(dataset)


def test_selfplay_records_whole_games() -> None:
    rules = SelfPlaySettings(nodes=20)
    player = create_player(SelfPlayPlan(rules, seed=2))
    for number in range(8):
        game = player.play(number)
        plies = 2 * (game["fullmoves"].astype(int) - 1) + (game["state"] >= 128)
        assert plies.tolist() == list(range(len(game)))
        labelled = game["depth"] > 0
        assert not labelled[: rules.first_ply].any()
        assert labelled.any()
        assert not game["score"][~labelled].any()
        white = game["result"] * (1 - 2 * (game["state"] >= 128))
        assert len(set(white.tolist())) == 1


@pytest.mark.parametrize("option", ["--chess960", "--odds"])
@pytest.mark.parametrize("value", ["-0.1", "1.5", "x", "nan"])
def test_invalid_fractions_are_rejected(option: str, value: str, tmp_path: Path) -> None:
    done = in_process.run("train", "selfplay", tmp_path / "x", f"{option}={value}")
    assert done.returncode == 2
    assert option in done.stderr
    assert not (tmp_path / "x").exists()
