"""Hostile endgame tables: no answer takes long, and nothing uses much memory."""

import lzma
import os
import random
import shutil
import struct
import time
from pathlib import Path

import chess
import pytest

from agent.chess.endgames import dtm_tables
from agent.chess.endgames.dtm_tables import DtmTables, pack_header
from agent.chess.endgames.external_tablebases import open_gaviota, open_syzygy
from openings.endgame_tables import open_tables

SYZYGY = Path(__file__).parents[3] / "data" / "syzygy"
GAVIOTA = "/usr/share/gaviotatb/gtb4"
QUEEN = chess.Board("7k/8/6K1/8/8/8/8/1Q6 w - - 0 1")
ENDINGS = [
    QUEEN,
    chess.Board("8/8/8/8/8/1k6/8/R3K3 w - - 0 1"),
    chess.Board("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"),
    chess.Board("8/8/8/8/8/1k6/8/B3K3 b - - 0 1"),
]
# A limit against hangs, in seconds.
LIMIT = 30.0


def test_endless_lookup_in_syzygy_table_ends(tmp_path: Path) -> None:
    """Sizes in the file have the lookup go through all of it, block by block."""
    for file in SYZYGY.glob("K?vK.*"):
        shutil.copy(file, tmp_path)
    content = bytearray((tmp_path / "KQvK.rtbw").read_bytes())
    assert content[14] == 15  # the logarithm of the number of positions in an index entry
    content[14] = 40
    (tmp_path / "KQvK.rtbw").write_bytes(content)
    os.truncate(tmp_path / "KQvK.rtbw", (512 << 20) + 16)  # sparse
    reports: list[str] = []
    syzygy = open_syzygy(str(tmp_path), reports.append)
    began = time.monotonic()
    for board in (QUEEN, QUEEN.mirror()):
        assert syzygy.best_moves(board, board.legal_moves) == []
    assert time.monotonic() - began < LIMIT
    syzygy.close()
    assert "damaged, ignored" in reports[0]


@pytest.mark.parametrize("suffix", ["rtbw", "rtbz"])
def test_other_pieces_in_syzygy_table_are_found(tmp_path: Path, suffix: str) -> None:
    """A lookup searches the board for each piece of the table, without end if it is missing."""
    for file in SYZYGY.glob("K?vK.*"):
        shutil.copy(file, tmp_path)
    content = bytearray((tmp_path / f"KQvK.{suffix}").read_bytes())
    place = content.index(0x55 if suffix == "rtbw" else 0x05)  # the queen
    content[place] &= 0x33  # a pawn
    (tmp_path / f"KQvK.{suffix}").write_bytes(content)
    reports: list[str] = []
    syzygy = open_syzygy(str(tmp_path), reports.append)
    for board in (QUEEN, QUEEN.mirror()):
        assert syzygy.best_moves(board, board.legal_moves) == []
    syzygy.close()
    assert "other pieces than in the file's name" in reports[0]


def test_changed_bytes_in_syzygy_tables_do_no_harm(tmp_path: Path, thorough: bool) -> None:
    chance = random.Random(7)
    for _ in range(400 if thorough else 40):
        for file in SYZYGY.glob("K?vK.*"):
            content = bytearray(file.read_bytes())
            for _ in range(chance.randint(1, 8)):
                content[chance.randrange(chance.choice((60, len(content))))] = chance.randrange(256)
            (tmp_path / file.name).write_bytes(content)
        syzygy = open_syzygy(str(tmp_path))
        began = time.monotonic()
        for board in ENDINGS:
            best = syzygy.best_moves(board, board.legal_moves)
            assert set(best) <= set(board.legal_moves)
        syzygy.close()
        assert time.monotonic() - began < LIMIT


@pytest.mark.needs(GAVIOTA)
def test_changed_bytes_in_gaviota_tables_do_no_harm(tmp_path: Path, thorough: bool) -> None:
    chance = random.Random(8)
    files = list(Path(GAVIOTA).glob("*.gtb.cp4"))
    for _ in range(400 if thorough else 40):
        for file in files:
            content = bytearray(file.read_bytes())
            for _ in range(chance.randint(1, 8)):
                content[chance.randrange(chance.choice((100, len(content))))] = chance.randrange(
                    256
                )
            (tmp_path / file.name).write_bytes(content)
        gaviota = open_gaviota(str(tmp_path))
        for board in ENDINGS:
            value = gaviota.probe(board)
            assert value is None or 0 <= value < 256
        gaviota.close()


def write_gaviota(path: Path, entries: int, block: bytes) -> None:
    start = 40 + 4 * entries
    header = struct.pack("<10I", 0, 0, 16384, 0, 0, 0, 0, 0, start, 2)
    index = struct.pack("<I", start) + struct.pack("<I", start + len(block)) * (entries - 1)
    path.write_bytes(header + index + block)


@pytest.mark.parametrize("attack", ["bomb", "dictionary", "index", "block"])
def test_gaviota_tables_cannot_take_much_memory(tmp_path: Path, attack: str) -> None:
    """Each file would be read, with much memory, by python-chess alone."""
    file, entries, size = tmp_path / "kqk.gtb.cp4", 5, 16384
    if attack == "bomb":
        size = 32 << 20
    packed = bytearray(lzma.compress(bytes(size), lzma.FORMAT_ALONE, preset=6))
    struct.pack_into("<Q", packed, 5, size)
    struct.pack_into("<I", packed, 1, 1 << (30 if attack == "dictionary" else 16))
    block = b"\0\0" + packed
    if attack == "index":
        entries = 5_000_000
    elif attack == "block":
        block += bytes(1 << 20)
    write_gaviota(file, entries, block)
    reports: list[str] = []
    gaviota = open_gaviota(str(tmp_path), reports.append)
    board = chess.Board("8/8/8/8/8/2k5/8/QK6 w - - 0 1")
    assert [gaviota.probe(board), gaviota.probe(board.mirror())] == [None, None]
    gaviota.close()
    assert "invalid size" in reports[0]


def test_changed_bytes_in_own_tables_are_found(tmp_path: Path) -> None:
    open_tables(tmp_path)  # unpacks the tables of the package
    chance = random.Random(9)
    originals = {file: file.read_bytes() for file in tmp_path.glob("*.dtm")}
    assert originals
    for _ in range(40):
        file, original = chance.choice(list(originals.items()))
        content = bytearray(original)
        place = chance.choice((chance.randrange(64), chance.randrange(len(content))))
        content[place] ^= 1 << chance.randrange(8)
        file.write_bytes(content[: chance.choice((len(content), chance.randrange(len(content))))])
        tables = DtmTables()
        problems = [*tables.map_folder(tmp_path), *tables.drop_damaged()]
        assert len(problems) == 1
        assert str(file) in problems[0]
        file.write_bytes(original)


def test_table_of_another_ending_under_a_wrong_name_is_refused(tmp_path: Path) -> None:
    open_tables(tmp_path)
    (tmp_path / "KQK.dtm").write_bytes((tmp_path / "KRK.dtm").read_bytes())
    (tmp_path / "KRK.dtm").unlink()
    os.mkfifo(tmp_path / "KRK.dtm")
    problems = DtmTables().map_folder(tmp_path)
    assert any("contains KRK (expected KQK)" in problem for problem in problems)
    assert any("KRK.dtm: could not read the table" in problem for problem in problems)


def test_own_table_with_valid_checksum_and_any_values_keeps_scores_in_range(tmp_path: Path) -> None:
    """A checksum proves nothing about the values."""
    tables, _ = open_tables(tmp_path)
    for value in (0, 1, 2, 253, 254, 255):
        data = tables["KQK"] * 0 + value
        (tmp_path / "KQK.dtm").write_bytes(pack_header("KQK", data) + data.tobytes())
        hostile = DtmTables()
        assert hostile.map_folder(tmp_path) == [*hostile.drop_damaged()] == []
        moves = dtm_tables.moves_to_mate(int(hostile["KQK"][0]))
        assert moves is None or abs(moves) <= 127
