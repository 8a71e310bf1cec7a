"""Endgame tables: correct values, complete files, and repair of damaged ones."""

import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import chess
import chess.gaviota
import numpy as np
import pytest

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.endgames.dtm_tables import DRAWN, INVALID, DtmTables, TablebaseError, parse_table
from agent.chess.endgames.table_index import EndgameType, all_endgames, endgame_from_name
from openings.data_folders import table_folder
from openings.endgame_tables import (
    TableBuilder,
    build_order,
    load_intact,
    open_tables,
    statistics,
    table_path,
    write_compressed,
)

# The fixture compiles the kernels once, in one worker for all.
pytestmark = pytest.mark.usefixtures("endgame_folder")
GAVIOTA = "/usr/share/gaviotatb/gtb4"
RANDOM_POSITIONS = 100_000
SAMPLE = 9  # quick runs test one position of this number


def positions(ending: EndgameType, squares: Iterator[tuple[int, ...]]) -> Iterator[chess.Board]:
    """Yield the legal positions with the ending's pieces on these squares, kings first."""
    pieces = [chess.Piece(chess.KING, True), chess.Piece(chess.KING, False)] + [
        chess.Piece((code - 1) % 5 + 1, code < 6) for code in ending.codes
    ]
    for places in squares:
        if len(set(places)) < len(pieces):
            continue
        board = chess.Board(None)
        for square, piece in zip(places, pieces, strict=True):
            board.set_piece_at(square, piece)
        for board.turn in (chess.WHITE, chess.BLACK):
            if board.is_valid():
                yield board


def random_positions(ending: EndgameType, number: int, seed: int) -> Iterator[chess.Board]:
    rng = random.Random(seed)
    count = 2 + len(ending.codes)

    def squares() -> Iterator[tuple[int, ...]]:
        while True:
            yield tuple(rng.randrange(64) for _ in range(count))

    for _, board in zip(range(number), positions(ending, squares()), strict=False):
        yield board


def all_squares(ending: EndgameType) -> Iterator[tuple[int, ...]]:
    """Yield the squares of three pieces, without symmetric duplicates."""
    for white in range(64):
        if white & 7 > 3 or (not ending.with_pawns and white >> 3 > white & 7):
            continue
        for black in range(64):
            for piece in range(64):
                yield white, black, piece


@pytest.mark.thorough(keep=1)
@pytest.mark.needs(GAVIOTA)
@pytest.mark.parametrize("name", ["KQK", "KRK", "KPK", "KBK", "KNK"])
def test_three_piece_tables_match_gaviota(
    endgame_tables: DtmTables, name: str, thorough: bool
) -> None:
    kinds = tuple("PNBRQ".index(letter) for letter in name[1:-1])
    ending = EndgameType(kinds, ())
    tablebase = BuiltinTablebase(endgame_tables)
    compared, step = 0, 1 if thorough else SAMPLE
    with chess.gaviota.PythonTablebase() as gaviota:
        gaviota.add_directory(GAVIOTA)
        for board in positions(ending, islice(all_squares(ending), None, None, step)):
            if compared % 8 and ending.is_drawn:
                compared += 1
                continue
            plies = gaviota.probe_dtm(board)
            value = tablebase.probe(board)
            if plies:
                assert value == abs(plies) + 1, board.fen()
                assert (value % 2 == 0) == (plies > 0), board.fen()
            else:
                assert value == (1 if board.is_checkmate() else DRAWN), board.fen()
            compared += 1
    assert compared > 50_000 / step


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["KBNK", "KQKR"])
def test_values_match_best_successor(endgame_tables: DtmTables, name: str, thorough: bool) -> None:
    tablebase = BuiltinTablebase(endgame_tables)
    values = set()
    count = RANDOM_POSITIONS // (2 if thorough else 2 * SAMPLE)
    for board in random_positions(endgame_from_name(name), count, seed=5):
        value = tablebase.probe(board)
        assert value == tablebase.probe_by_moves(board), board.fen()
        values.add(value)
    assert len(values) > 30
    assert INVALID not in values


def test_user_tables_are_consistent() -> None:
    """Includes en passant if the tables with pawns on both sides exist."""
    tables, problems = open_tables()
    assert problems == []
    tablebase = BuiltinTablebase(tables)
    for name in tables.names:
        for board in random_positions(endgame_from_name(name), 500, seed=6):
            assert tablebase.probe(board) == tablebase.probe_by_moves(board), board.fen()
    if "KPKP" not in tables:
        pytest.skip(f"no KPKP in {table_folder()}; `kempelen tablebase build` builds it")
    jumps = 0
    for board in random_positions(endgame_from_name("KPKP"), 100_000, seed=7):
        for move in board.legal_moves:
            if abs(move.from_square - move.to_square) != 16:
                continue
            board.push(move)
            if board.has_legal_en_passant():
                jumps += 1
                best = best_by_hand(tablebase, board)
                assert tablebase.probe(board) == best, board.fen()
            board.pop()
    assert jumps > 100


def best_by_hand(tablebase: BuiltinTablebase, board: chess.Board) -> int:
    """Return the value of a position by the moves of python-chess."""
    values = []
    for move in board.legal_moves:
        board.push(move)
        values.append(tablebase.probe(board))
        board.pop()
    won = [value + 1 for value in values if value % 2]
    if won:
        return min(won)
    return 0 if 0 in values else max(values) + 1


@pytest.mark.parametrize(
    ("name", "win", "loss"),
    [
        ("KQK", 10, None),
        ("KRK", 16, None),
        ("KPK", 28, None),
        ("KBNK", 33, None),
        ("KQKR", 35, 18),
        ("KBBK", 19, None),
    ],
)
def test_longest_mates_have_known_lengths(
    endgame_tables: DtmTables, name: str, win: int, loss: int | None
) -> None:
    strong, weak = statistics(endgame_from_name(name), endgame_tables[name])
    assert (strong.longest_win, strong.longest_loss) == (win, loss)
    assert weak.longest_loss == win
    assert strong.side + weak.side == name
    assert strong.wins > strong.losses


@pytest.mark.parametrize(
    ("fen", "value"),
    [
        pytest.param("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", 1, id="mated"),
        pytest.param("7k/Q7/6K1/8/8/8/8/8 w - - 0 1", 2, id="mate in one"),
        pytest.param("7K/q7/6k1/8/8/8/8/8 b - - 0 1", 2, id="colours turned"),
        pytest.param("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAWN, id="stalemate"),
        pytest.param("8/8/8/8/8/k7/p7/K7 w - - 0 1", DRAWN, id="stalemate by a pawn"),
        pytest.param("8/8/8/4k3/8/8/8/4K3 w - - 0 1", DRAWN, id="kings alone"),
        pytest.param("8/8/8/4k3/8/8/8/4KN2 w - - 0 1", DRAWN, id="no mating material"),
        pytest.param("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", None, id="castling"),
        pytest.param("4k3/8/8/8/8/8/8/RR2K3 w - - 0 1", None, id="no table"),
        pytest.param("4k3/8/8/8/8/8/8/RRB1K3 w - - 0 1", None, id="too many pieces"),
    ],
)
def test_single_positions_have_known_values(
    endgame_tables: DtmTables, fen: str, value: int | None
) -> None:
    assert BuiltinTablebase(endgame_tables).probe(chess.Board(fen)) == value


def test_symmetric_positions_have_equal_values(endgame_tables: DtmTables) -> None:
    tablebase = BuiltinTablebase(endgame_tables)
    for board in random_positions(endgame_from_name("KBNK"), 200, seed=8):
        value = tablebase.probe(board)
        for turned in (
            board.transform(chess.flip_horizontal),
            board.transform(chess.flip_vertical),
            board.transform(chess.flip_diagonal),
            board.mirror(),
        ):
            assert tablebase.probe(turned) == value, board.fen()


def test_plan_lists_required_tables_first() -> None:
    assert [ending.name for ending in build_order(["kpk"])] == ["KQK", "KRK", "KPK"]
    assert [ending.name for ending in build_order(["KRKQ"])] == ["KQK", "KRK", "KQKR"]
    endings = build_order([])
    assert len(endings) == len(all_endgames()) == 33
    done: set[str] = set()
    for ending in endings:
        needed = {other.name for other in ending.successors() if not other.is_drawn}
        assert needed <= done
        done.add(ending.name)


@pytest.mark.parametrize("name", ["", "K", "KK", "KNK", "KBK", "KXK", "KQRBK", "QK", "KQKRK"])
def test_invalid_ending_name_is_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="invalid endgame"):
        endgame_from_name(name)


def test_build_keeps_intact_tables_and_repairs_others(tmp_path: Path) -> None:
    endings = build_order(["KPK"])
    first = list(TableBuilder(endings, tmp_path, threads=2).run())
    assert [built.kept for built in first] == [False] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["KPK.dtm", "KQK.dtm", "KRK.dtm"]
    damaged, short = tmp_path / "KQK.dtm", tmp_path / "KRK.dtm"
    whole = damaged.read_bytes(), short.read_bytes()
    damaged.write_bytes(whole[0][:-1] + bytes([whole[0][-1] ^ 1]))
    short.write_bytes(whole[1][:1000])
    again = {built.ending.name: built for built in TableBuilder(endings, tmp_path, threads=1).run()}
    assert again["KPK"].kept
    assert not again["KQK"].kept
    assert "KQK.dtm: checksum mismatch" in again["KQK"].problem
    assert "KRK.dtm: incomplete" in again["KRK"].problem
    assert (damaged.read_bytes(), short.read_bytes()) == whole


@pytest.mark.thorough
def test_interrupted_build_leaves_only_complete_tables(tmp_path: Path) -> None:
    build = TableBuilder(build_order(["KBNK"]), tmp_path, threads=1)
    run = build.run()
    for built in run:
        assert built.ending.name == "KBNK" or built.path.exists()
        break
    run.close()
    for path in tmp_path.iterdir():
        assert path.suffix == ".dtm"
        load_intact(path)


def test_build_reports_progress(tmp_path: Path) -> None:
    progress: list[tuple[str, float]] = []
    build = TableBuilder(
        build_order(["KQK"]), tmp_path, 1, lambda name, share: progress.append((name, share))
    )
    assert len(list(build.run())) == 1
    shares = [share for name, share in progress if name == "KQK"]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1


def test_invalid_table_files_are_reported_and_skipped(tmp_path: Path) -> None:
    open_tables(tmp_path)
    whole = (tmp_path / "KQK.dtm").read_bytes()
    (tmp_path / "KRRK.dtm").write_bytes(b"")
    (tmp_path / "KQQK.dtm").write_bytes(b"\x00" * 4000)
    (tmp_path / "KQRK.dtm").write_bytes(whole)
    (tmp_path / "KRKB.dtm").write_bytes(whole[:8] + b"\x07" + whole[9:])
    tables, problems = open_tables(tmp_path)
    assert sorted(tables.names) == ["KBNK", "KPK", "KQK", "KRK"]
    for problem, words in zip(
        sorted(problems),
        ("KQQK.dtm: not an", "KQRK.dtm: contains KQK", "KRKB.dtm: unsupp", "KRRK.dtm: could"),
        strict=True,
    ):
        assert words in problem


def test_truncated_table_is_rejected(tmp_path: Path) -> None:
    open_tables(tmp_path)
    content = np.frombuffer((tmp_path / "KQK.dtm").read_bytes(), dtype=np.uint8)
    assert parse_table(content, "here")[0].name == "KQK"
    for broken in (content[:10], content[:-1]):
        with pytest.raises(TablebaseError, match="here"):
            parse_table(broken, "here")


@pytest.mark.skipif(os.name == "nt", reason="folders on Windows have no such permissions")
def test_shipped_tables_work_without_writable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    tables, problems = open_tables(tmp_path / "file")
    assert problems == []
    assert BuiltinTablebase(tables).probe(chess.Board("7k/Q7/6K1/8/8/8/8/8 w - - 0 1")) == 2


def test_unreadable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> list[str]:
        raise PermissionError(13, "not for you", str(folder))

    monkeypatch.setattr(os, "listdir", refuse)
    tables, problems = open_tables(tmp_path)
    assert len(problems) == 1
    assert str(tmp_path) in problems[0]
    assert sorted(tables.names) == ["KBNK", "KPK", "KQK", "KRK"]


def test_damaged_tables_are_dropped_after_opening(tmp_path: Path) -> None:
    open_tables(tmp_path)
    path = tmp_path / "KQK.dtm"
    content = bytearray(path.read_bytes())
    content[5000] ^= 255
    path.write_bytes(content)
    tables, problems = open_tables(tmp_path)
    assert problems == []
    board = chess.Board("7k/Q7/6K1/8/8/8/8/8 w - - 0 1")
    assert BuiltinTablebase(tables).probe(board) is not None
    assert [problem.split(": ")[0] for problem in tables.drop_damaged()] == [str(path)]
    assert BuiltinTablebase(tables).probe(board) is None
    assert "KQK" not in tables


def test_packed_table_matches_shipped_file(endgame_folder: Path, tmp_path: Path) -> None:
    packed = write_compressed(endgame_from_name("KRK"), endgame_folder, tmp_path)
    shipped = Path(load_intact.__code__.co_filename).parent / "data" / packed.name
    assert packed.read_bytes() == shipped.read_bytes()


def test_environment_variable_sets_table_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEMPELEN_DATA_DIR", str(tmp_path))
    assert table_path(table_folder(), endgame_from_name("KQK")) == tmp_path / "tables" / "KQK.dtm"
    monkeypatch.delenv("KEMPELEN_DATA_DIR")
    assert "kempelen" in str(table_folder())
