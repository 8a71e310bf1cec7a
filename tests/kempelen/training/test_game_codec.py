"""Test files of whole games: exact positions, damaged data and the fixed encoding."""

import lzma
import random
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from agent.chess.board.packed_position import BLACK_TO_MOVE, packed_dtype
from kempelen.training import dataset_blocks
from kempelen.training.dataset import Dataset, StoredGame
from kempelen.training.dataset_blocks import DatasetError, Packed
from kempelen.training.dataset_operations import (
    PositionSelection,
    convert,
    filter_positions,
    merge,
    shuffle,
    split,
)
from kempelen.training.dataset_writer import BLOCK_GAMES, DatasetWriter
from kempelen.training.game_codec import FILTERS, GameCodec
from kempelen.training.manifests import GAMES, POSITIONS
from kempelen.training.rescoring import RescoreTask, rescore
from tests.agent.chess.board.test_packed_fen import packed
from tests.kempelen.training.test_dataset_operations import game as unrelated_positions

FEW_BYTES = 3  # per position of random games


def ignore(done: int) -> None:
    """Ignore progress."""


def random_game(board: chess.Board, seed: int, plies: int = 150) -> Packed:
    """Return all positions of a random game, with scores, depths and the result."""
    generator = random.Random(seed)
    boards = [board.copy(stack=False)]
    while not board.is_game_over() and len(boards) < plies:
        # The kernel keeps the en passant square only if a pawn attacks it.
        board.push(generator.choice(list(board.legal_moves)))
        boards.append(board.copy(stack=False))
    for each in boards:
        if not each.has_pseudo_legal_en_passant():
            each.ep_square = None
    positions = np.array([packed(each) for each in boards], packed_dtype)
    scores = np.cumsum([generator.randint(-30, 30) for _ in boards])
    signs = np.where(positions["state"] >= BLACK_TO_MOVE, -1, 1)
    positions["score"] = scores * signs
    positions["depth"] = [generator.randint(6, 9) for _ in boards]
    positions["result"] = generator.choice([-1, 0, 1]) * signs
    return positions


def starts() -> list[chess.Board]:
    """Ordinary starts, Chess960 starts, and positions with promotions and en passant."""
    fens = (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/P1p5/3p4/KP5r/1R3p1k/8/4P1Pp/8 w - - 99 60",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    )
    return [
        chess.Board(),
        *(chess.Board.from_chess960_pos(number) for number in (0, 1, 404, 959)),
        *map(chess.Board, fens),
    ]


def encoded_size(games: list[Packed]) -> float:
    """Assert that encoding is exact. Return the bytes per position."""
    codec = GameCodec()
    body = codec.encode(games, [np.ones(len(each), bool) for each in games])
    whole = np.concatenate([np.zeros(0, packed_dtype), *games])
    counts, positions, kept = codec.decode(body, len(games), len(whole))
    ends = np.cumsum(counts)
    parts = [kept[end - count : end] for end, count in zip(ends, counts, strict=True)]
    assert [int(part.sum()) for part in parts] == [len(each) for each in games]
    assert positions[kept].tobytes() == whole.tobytes()
    return len(body) / max(len(whole), 1)


@pytest.fixture(scope="module")
def games() -> list[Packed]:
    return [random_game(board, seed) for seed, board in enumerate(starts())]


def test_whole_games_are_decoded_exactly_and_are_small(games: list[Packed]) -> None:
    assert encoded_size(games) < FEW_BYTES
    assert any((each["state"] & 127 < 64).any() for each in games)  # en passant
    assert encoded_size([]) == encoded_size([games[0][:0]] * 3) == pytest.approx(0, abs=99)


def test_positions_between_moves_may_be_missing(games: list[Packed]) -> None:
    generator = np.random.default_rng(1)
    for share in (0.9, 0.5, 0.2, 0.02):
        encoded_size([each[generator.random(len(each)) < share] for each in games])
    most = [each[generator.random(len(each)) < 0.6] for each in games]
    assert encoded_size(most) < 2 * FEW_BYTES


def test_unkept_positions_connect_the_others(games: list[Packed]) -> None:
    codec = GameCodec()
    masks = [np.arange(len(each)) % 12 == 11 for each in games]
    body = codec.encode(games, masks)
    whole, mask = np.concatenate(games), np.concatenate(masks)
    counts, positions, kept = codec.decode(body, len(games), int(mask.sum()))
    # A game ends with the last position that is given, and begins with the first.
    assert counts.tolist() == [len(each) for each in games]
    assert (kept == mask).all()
    assert positions[kept].tobytes() == whole[mask].tobytes()
    whole["score"][~mask] = whole["depth"][~mask] = 0
    assert positions.tobytes() == whole.tobytes()


@pytest.mark.parametrize("operation", ["merge", "shuffle", "split", "filter", "convert", "rescore"])
def test_derived_files_keep_the_moves_between_training_positions(
    games: list[Packed], tmp_path: Path, operation: str
) -> None:
    source = tmp_path / "source"
    with DatasetWriter(source, {"engine": "test"}, BLOCK_GAMES, format_=GAMES) as writer:
        for each in games:
            writer.add(each, np.arange(len(each)) % 20 == 19)
        writer.finish()
    target = tmp_path / "target"
    derive(operation, source, target)
    with Dataset(source) as before, Dataset(target) as after:
        given = {positions_of(each) for _, each in before.iter_games()}
        derived = {positions_of(each) for _, each in after.iter_games()}
        assert derived < given if operation == "split" else derived == given
        assert 0 < len(after) <= len(before)
        assert (len(after) < len(before)) == (operation in ("split", "filter", "rescore"))


def positions_of(game: StoredGame) -> bytes:
    """Return the positions without their scores and depths."""
    return b"".join(each.tobytes()[:28] for each in game.positions)


def derive(operation: str, source: Path, target: Path) -> None:
    match operation:
        case "merge":
            merge([source], target, ignore)
        case "shuffle":
            shuffle([source], target, 1, ignore)
        case "split":
            split(source, target, target.with_name("rest"), Fraction(1, 3), ignore)
        case "filter":
            filter_positions(source, target, PositionSelection(most_pieces=28), ignore)
        case "convert":
            convert(source, target, GAMES, ignore)
        case "rescore":
            task = RescoreTask(source, f"{sys.executable} -m kempelen.cli uci", nodes=1, one_in=3)
            rescore(task, target, 1, ignore)


def changed(games: list[Packed], change: Callable[[Packed], None]) -> list[Packed]:
    copies = [each.copy() for each in games]
    for each in copies:
        change(each)
    return copies


def odd_result(game: Packed) -> None:
    game["result"][::7] = 5
    game["result"][3::11] = -128


def odd_score(game: Packed) -> None:
    game["score"][::5] = -32768
    game["score"][1::5] = 32767
    game["depth"][::3] = 255


def odd_counter(game: Packed) -> None:
    game["fullmoves"][::9] = 65535
    game["halfmoves"][4::9] = 255


def odd_square(game: Packed) -> None:
    game["state"][::4] = 127
    game["state"][1::4] = 3


def odd_pieces(game: Packed) -> None:
    game["pieces"][::4] = 0xFFFF_FFFF_FFFF_FFFF
    game["pieces"][1::4, 1] |= np.uint64(1 << 63)
    game["occupied"][2::4] = 0xFFFF_FFFF_FFFF_FFFF


def no_king(game: Packed) -> None:
    game["pieces"][::3] = 0


def backwards(game: Packed) -> None:
    game[:] = game[::-1].copy()


@pytest.mark.parametrize(
    "change", [odd_result, odd_score, odd_counter, odd_square, odd_pieces, no_king, backwards]
)
def test_odd_positions_are_decoded_exactly(
    games: list[Packed], change: Callable[[Packed], None]
) -> None:
    encoded_size(changed(games[:3], change))


def test_unrelated_positions_are_decoded_exactly() -> None:
    encoded_size([unrelated_positions(number, 1) for number in range(40)])


def test_positions_in_big_endian_arrays_are_stored_alike(games: list[Packed]) -> None:
    other: Any = [each.astype(packed_dtype.newbyteorder(">")) for each in games]
    masks = [np.ones(len(each), bool) for each in games]
    assert GameCodec().encode(other, masks) == GameCodec().encode(games, masks)


# The moves 1. e4 e5 2. Nf3: this encoding must remain readable, on every machine.
SCORES, DEPTHS = (30, -25, 300, -20), (7, 8, 7, 9)
STORED = bytes.fromhex(
    "013d000000e0003c0030000000803f570c022e5b93be96dc8a062e5c2a3037604079ee33f28198311dd5e4f3c730f63b"
    "1becd5a50af215f83c4d1c1900"
)


def short_game() -> Packed:
    board, boards = chess.Board(), [chess.Board()]
    for move in ("e4", "e5", "Nf3"):
        board.push_san(move)
        boards.append(board.copy())
    for each in boards:
        each.ep_square = None
    positions = np.array([packed(each) for each in boards], packed_dtype)
    positions["score"], positions["depth"] = SCORES, DEPTHS
    positions["result"] = [1, -1, 1, -1]
    return positions


def test_stored_encoding_remains_readable() -> None:
    counts, positions, _ = GameCodec().decode(STORED, 1, 4)
    assert counts.tolist() == [4]
    assert positions.tobytes() == short_game().tobytes()
    assert struct.unpack_from("<BI", STORED)[0] == 1


def raw_of(body: bytes) -> bytes:
    return lzma.decompress(body[5:], lzma.FORMAT_RAW, filters=FILTERS)


def body_of(raw: bytes, version: int = 1, size: int | None = None) -> bytes:
    compressed = lzma.compress(raw, lzma.FORMAT_RAW, filters=FILTERS)
    return struct.pack("<BI", version, len(raw) if size is None else size) + compressed


def test_invalid_blocks_are_rejected(games: list[Packed]) -> None:
    codec = GameCodec()
    total = sum(map(len, games))
    body = codec.encode(games, [np.ones(len(each), bool) for each in games])
    raw = raw_of(body)
    assert codec.decode(body_of(raw), len(games), total)[1].tobytes()
    for wrong, reason in (
        (b"", "no format version"),
        (body_of(raw, version=2), "format version 2 .expected 1; update Kempelen"),
        (body_of(raw, size=len(raw) - 1), "wrong uncompressed length"),
        (body_of(raw, size=len(raw) + 1), "wrong uncompressed length"),
        (body_of(raw, size=(1 << 32) - 1), "at most"),
        (body_of(raw[:-1]), "too short"),
        (body_of(raw + b"\0"), "too long"),
        (body_of(struct.pack("<II", 1 << 31, 1 << 31) + raw[8:]), "numbers of lines"),
        (body_of(struct.pack("<II", 1, 5) + raw[8:]), "lengths of lines|too"),
        # Eight plies a byte would take much more memory than the data.
        (body_of(struct.pack("<II", 1, 2 * len(raw)) + raw[8:]), "numbers of lines"),
    ):
        with pytest.raises(ValueError, match=reason):
            codec.decode(wrong, len(games), total)
    with pytest.raises(ValueError, match="number of positions"):
        codec.decode(body, len(games), total - 1)


def test_random_changes_never_crash(games: list[Packed]) -> None:
    codec = GameCodec()
    some = [each[:40] for each in games[:4]]
    total = sum(map(len, some))
    raw = raw_of(codec.encode(some, [np.ones(len(each), bool) for each in some]))
    generator = random.Random(3)
    rejected = 0
    for _ in range(2000):
        wrong = bytearray(raw)
        for _ in range(generator.randint(1, 4)):
            wrong[generator.randrange(len(wrong))] = generator.randrange(256)
        try:
            codec.decode(body_of(bytes(wrong)), len(some), total)
        except ValueError:
            rejected += 1
    assert 100 < rejected < 2000


def write(path: Path, games: list[Packed], format_: str, copies: int = 9) -> Path:
    with DatasetWriter(
        path, {"engine": "test"}, BLOCK_GAMES, unique=False, format_=format_
    ) as writer:
        for each in games * copies:
            writer.add(each)
        writer.finish()
    return path


def content(path: Path) -> bytes:
    with Dataset(path) as dataset:
        return b"".join(each.tobytes() for each in dataset.blocks())


def test_conversion_to_games_and_back_is_exact(games: list[Packed], tmp_path: Path) -> None:
    source = write(tmp_path / "source", games, POSITIONS)
    made = convert(source, tmp_path / "games", GAMES, ignore)
    back = convert(tmp_path / "games", tmp_path / "back", POSITIONS, ignore)
    assert (made.positions, made.left_out) == (back.positions, 0)
    assert content(source) == content(tmp_path / "games") == content(tmp_path / "back")
    with Dataset(source) as one, Dataset(tmp_path / "games") as other:
        assert one.game_numbers() == other.game_numbers()
        assert (one.format, other.format) == (POSITIONS, GAMES)
        for number in (0, 7, 40):
            assert (one.game(number).training == other.game(number).training).all()
        assert (one[100:300:7] == other[100:300:7]).all()
        (filters,) = other.contents[0].manifest["filters"]
        assert filters == {"format": GAMES, "source": one.contents[0].digest}
    assert (tmp_path / "games").stat().st_size < 0.6 * source.stat().st_size


def test_written_file_equals_converted_file(games: list[Packed], tmp_path: Path) -> None:
    written = write(tmp_path / "written", games, GAMES)
    source = write(tmp_path / "source", games, POSITIONS)
    convert(source, tmp_path / "converted", GAMES, ignore)
    with Dataset(written) as one, Dataset(tmp_path / "converted") as other:
        assert one.contents[0].digest == other.contents[0].digest


def test_truncated_and_damaged_files_lose_only_damaged_blocks(
    games: list[Packed], tmp_path: Path
) -> None:
    path = write(tmp_path / "whole", games, GAMES)
    whole = path.read_bytes()
    with Dataset(path) as dataset:
        blocks = dataset.contents[0].blocks
    assert len(blocks) == 3
    for cut in (1, 30, len(whole) - blocks[1].offset):
        (tmp_path / "cut").write_bytes(whole[:-cut])
        with Dataset(tmp_path / "cut") as dataset:
            assert dataset.games == (BLOCK_GAMES if cut > 30 else 2 * BLOCK_GAMES)
            assert len(dataset.contents[0].damages) == 1
        write(tmp_path / "cut", [], GAMES).unlink()
    damaged = bytearray(whole)
    damaged[blocks[1].offset + 20] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with Dataset(tmp_path / "damaged") as dataset:
        assert dataset.games == len(games) * 9 - BLOCK_GAMES
        assert len(dataset.contents[0].damages) == 1
        assert len(dataset.game(3).training) == len(games[3])


def test_file_is_not_continued_in_another_format(games: list[Packed], tmp_path: Path) -> None:
    path = write(tmp_path / "source", games, POSITIONS)
    with pytest.raises(DatasetError, match="has the format positions, not games"):
        DatasetWriter(path, {"engine": "test"}, BLOCK_GAMES, format_=GAMES)


def test_blocks_of_newer_versions_are_reported(games: list[Packed], tmp_path: Path) -> None:
    path = write(tmp_path / "source", games, GAMES)
    content_ = path.read_bytes()
    with Dataset(path) as dataset:
        first = dataset.contents[0].blocks[0]
    head = dataset_blocks._HEADER.size
    newer = bytearray(content_)
    newer[first.offset - head + 8 : first.offset - head + 12] = b"NEWS"
    newer[first.offset - 4 : first.offset] = struct.pack(
        "<I", dataset_blocks.zlib.crc32(bytes(newer[first.offset - head : first.offset - 4]))
    )
    path.write_bytes(newer)
    with pytest.raises(DatasetError, match=r"source: unknown block type b'NEWS' \(update Kempelen"):
        Dataset(path)


def test_duplicates_are_not_kept(games: list[Packed], tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "file", {"engine": "test"}, 4, format_=GAMES) as writer:
        for each in games[:2] * 2:
            writer.add(each)
        assert writer.duplicates >= len(games[0]) + len(games[1])
    with Dataset(tmp_path / "file") as dataset:
        assert [len(each.training) for _, each in dataset.iter_games()][2:] == [0, 0]
