import random
import struct
from pathlib import Path

import chess
import chess.polyglot
import pytest

from openings import polyglot
from openings.book_common import BookError
from openings.book_provider import SHIPPED_BOOK
from openings.polyglot import (
    Entry,
    MoveStatistics,
    encode_move,
    merge,
    open_book,
    opened_book,
    prune,
    read,
    write,
)

DEBIAN = ("/usr/share/games/gnuchess/book.bin", "/usr/share/pychess/pychess_book.bin")


def test_written_book_can_be_read(tmp_path):
    fens = (
        chess.STARTING_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/8/8/8/8/8/p6P/R3K2R b KQkq - 0 1",
        "8/P6k/8/8/8/8/8/K7 w - - 0 1",
    )
    boards = {chess.polyglot.zobrist_hash(board): board for board in map(chess.Board, fens)}
    entries = [
        Entry(key, encode_move(board, move), index + 1, index)
        for key, board in sorted(boards.items())
        for index, move in enumerate(board.legal_moves)
    ]
    path = tmp_path / "book.bin"
    assert write(path, entries) == len(entries)
    assert sorted(read(path)) == sorted(entries)
    with chess.polyglot.open_reader(path) as reader:
        for board in boards.values():
            assert {entry.move for entry in reader.find_all(board)} == set(board.legal_moves)
    assert [file.name for file in tmp_path.iterdir()] == ["book.bin"]


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    "book", [pytest.param(Path(each), marks=pytest.mark.needs(each)) for each in DEBIAN]
)
def test_debian_books_survive_round_trip(book, tmp_path):
    open_book(book).close()
    entries = list(read(book))
    keys = sorted({entry.key for entry in entries})
    chosen = set(random.Random(1).sample(keys, min(10_000, len(keys))))
    sample = [entry for entry in entries if entry.key in chosen]
    copy = tmp_path / "copy.bin"
    write(copy, sample)
    with chess.polyglot.open_reader(book) as original, chess.polyglot.open_reader(copy) as reader:
        for key in chosen:
            expected = set(original.find_all(key, minimum_weight=0))
            assert set(reader.find_all(key, minimum_weight=0)) == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "No such file"),
        (b"", "empty"),
        (b"x" * 17, "damaged"),
        (bytes(range(64, 0, -1)), "not"),
    ],
)
def test_invalid_book_is_rejected(tmp_path, data, reason):
    path = tmp_path / "book.bin"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BookError, match=f"book.bin: .*{reason}"):
        open_book(path)


def test_unsorted_book_is_sorted_in_memory(tmp_path):
    entries = list(read(SHIPPED_BOOK))
    random.Random(1).shuffle(entries)
    path = tmp_path / "book.bin"
    content = b"".join(struct.pack(">QHHI", *entry) for entry in entries)
    path.write_bytes(content)
    found = list(read(path))
    assert [entry.key for entry in found] == sorted(entry.key for entry in entries)
    assert sorted(found) == sorted(entries)
    with opened_book(path) as reader, opened_book(SHIPPED_BOOK) as shipped:
        moves = [
            {entry.move for entry in each.find_all(chess.Board())} for each in (reader, shipped)
        ]
        assert moves[0] == moves[1] != set()
    assert path.read_bytes() == content


def test_unsorted_book_that_is_too_large_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(polyglot, "MAX_UNSORTED_SIZE", 16)
    path = tmp_path / "book.bin"
    path.write_bytes(struct.pack(">QHHIQHHI", 2, 0o1434, 1, 0, 1, 0o1434, 1, 0))
    with pytest.raises(BookError, match=r"book.bin: not sorted, and too large to sort"):
        open_book(path)


def test_a_failed_write_keeps_the_old_book(tmp_path):
    path = tmp_path / "book.bin"
    write(path, [Entry(1, 1, 1)])

    def failing():
        yield Entry(2, 2, 2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(path, failing())
    assert list(tmp_path.iterdir()) == [path]
    assert list(read(path)) == [Entry(1, 1, 1)]


def test_merge_keeps_first_book_or_adds_weights():
    one, two = (
        [Entry(1, 5, 10), Entry(3, 5, 1)],
        [Entry(1, 5, 5), Entry(1, 6, 0xFFFF), Entry(2, 7, 1)],
    )
    assert list(merge([one, two])) == [one[0], two[2], one[1]]
    assert list(merge([two, one])) == [*two, one[1]]
    assert list(merge([one, two], add=True)) == [Entry(1, 5, 15), *two[1:], one[1]]


def test_pruning_keeps_the_heaviest():
    book = [Entry(1, 5, 90), Entry(1, 6, 9), Entry(1, 7, 1), Entry(1, 8, 0), Entry(2, 5, 1)]
    assert list(prune(book)) == [*book[:3], book[4]]
    assert list(prune(book, best=1)) == [book[0], book[4]]
    assert list(prune(book, share=0.05)) == [*book[:2], book[4]]


def test_statistics_are_packed_into_learn_field():
    assert MoveStatistics.unpack(MoveStatistics(200, 130.0).pack()) == MoveStatistics(200, 130.0)
    assert MoveStatistics.unpack(0) is None
    assert MoveStatistics.unpack(12345) is None


def test_symlink_to_book_is_kept(tmp_path):
    path, link = tmp_path / "book.bin", tmp_path / "folder" / "link.bin"
    link.parent.mkdir()
    link.symlink_to(path)
    write(link, [Entry(1, 1, 1)])
    assert link.is_symlink()
    assert list(read(path)) == [Entry(1, 1, 1)]
    assert list(link.parent.iterdir()) == [link]
    with pytest.raises(BookError, match="could not write book /dev/null: not a regular file"):
        write(Path("/dev/null"), [])
