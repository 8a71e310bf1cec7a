import io
import random
from collections import defaultdict

import chess
import chess.pgn
import chess.polyglot
import pytest

from agent.io.read_report import ReadReport
from openings.book_common import BookError
from openings.pgn import PgnGame, read_games
from openings.pgn_book import GameFilter, MoveCounter, MoveCounts, book_entries, count_moves
from openings.polyglot import Entry, MoveStatistics, encode_move

SHORT = """[Event "?"]
[White "Morphy, Paul"]
[Black "Someone"]
[Date "1858.??.??"]
[Result "1-0"]
[WhiteElo "2500"]
[BlackElo "2100"]

{a note} 1. e4 $1 {[%clk 0:01] a brace ( and
[not a tag]} e5 (1... c5 {Sicilian} 2. Nf3 (2. Nc3)) 2. Nf3!
; to the end of the line { here
Nc6 3.Bb5 a6 4. O-O 1-0
"""
NEXT = '[Event "second"]\n[Result "0-1"]\n\n1. e4 c5 0-1\n'
CASTLED_WITH_ZEROS = '[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 1-0\n'


def games(text):
    return list(read_games(io.StringIO(text)))


def counted(text, filter_=GameFilter(), plies=40):  # noqa: B008
    with MoveCounts() as tally:
        collector = MoveCounter(tally, plies, filter_)
        for _ in ReadReport().select(games(text), collector.add):
            pass
        return collector.game_counts, list(tally.counts())


def test_main_line_excludes_variations_and_comments():
    first, second = games(SHORT + "\n" + NEXT)
    assert first.main_line(40) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "O-O"]
    assert first.main_line(3) == ["e4", "e5", "Nf3"]
    assert (first.tags["White"], first.result) == ("Morphy, Paul", "1-0")
    assert second.main_line(40) == ["e4", "c5"]


def random_collection(count):
    chance = random.Random(7)
    text = io.StringIO()
    for _ in range(count):
        game = chess.pgn.Game()
        node, board = game, chess.Board()
        for _ in range(chance.randrange(1, 40)):
            if board.is_game_over():
                break
            moves = sorted(board.legal_moves, key=chess.Move.uci)
            if len(moves) > 1 and chance.random() < 0.2:
                node.add_variation(moves[0], comment="a (variation) with } inside".replace("}", ""))
            node = node.add_main_variation(chance.choice(moves[:3]))
            if chance.random() < 0.3:
                node.comment, node.nags = "[%eval 0.3] 1. e4; so", {chess.pgn.NAG_GOOD_MOVE}
            board = node.board()
        game.headers["Result"] = chance.choice(("1-0", "0-1", "1/2-1/2"))
        print(game, end="\n\n", file=text)
    return text.getvalue()


@pytest.mark.thorough
def test_counts_match_python_chess():
    text = random_collection(150)
    expected = defaultdict(lambda: [0, 0])
    stream = io.StringIO(text)
    while (game := chess.pgn.read_game(stream)) is not None:
        white = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}[game.headers["Result"]]
        board = game.board()
        for move in list(game.mainline_moves())[:20]:
            count = expected[chess.polyglot.zobrist_hash(board), encode_move(board, move)]
            count[0] += 1
            count[1] += white if board.turn else 2 - white
            board.push(move)
    results, counts = counted(text, plies=20)
    assert results == {"used": 150}
    assert counts == [(*where, *count) for where, count in sorted(expected.items())]


def test_counts_match_when_spilled_to_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("openings.pgn_book._MAX_RUNS", 4)
    chance = random.Random(1)
    moves = [(chance.randrange(200) << 56, chance.randrange(3)) for _ in range(3000)]
    with MoveCounts() as whole, MoveCounts(max_in_memory=50, folder=tmp_path) as spilled:
        for key, move in moves:
            whole.add(key, move, 1)
            spilled.add(key, move, 1)
        assert any(tmp_path.rglob("*.run"))
        assert list(spilled.counts()) == list(whole.counts())
    assert not list(tmp_path.iterdir())


def test_damaged_games_are_skipped_and_counted():
    bad = '[Result "1-0"]\n\n1. e4 e5 2. Qh6 Nc6 1-0\n\n'
    worse = '[Result "1-0"]\n\n1. e4 Pe5 2. Sf3 1-0\n\n'
    null = '[Result "1-0"]\n\n1. e4 -- 2. Nf3 1-0\n\n'
    unfinished = '[Result "*"]\n\n1. d4 *\n\n'
    results, counts = counted(bad + worse + null + unfinished + NEXT)
    assert results == {"damaged": 3, "left out": 1, "used": 1}
    assert len(counts) == 2


@pytest.mark.parametrize(
    ("filter_", "moves"),
    [
        (GameFilter(min_elo=2100), 7),
        (GameFilter(min_elo=2200), 0),
        (GameFilter(player="morphy"), 4),
        (GameFilter(player="someone"), 3),
        (GameFilter(player="nobody"), 0),
        (GameFilter(since="1858.01.01"), 7),
        (GameFilter(since="1859"), 0),
        (GameFilter(until="1858"), 7),
        (GameFilter(until="1857.12.31"), 0),
    ],
)
def test_filters_select_expected_moves(filter_, moves):
    assert sum(games for _, _, games, _ in counted(SHORT, filter_)[1]) == moves


def test_variants_and_custom_positions_are_skipped():
    start = NEXT.replace("[Event", f'[FEN "{chess.STARTING_FEN}"]\n[Variant "Standard"]\n[Event')
    assert counted(start)[0] == {"used": 1}
    variant = NEXT.replace("[Event", '[Variant "Atomic"]\n[Event')
    setup = NEXT.replace("[Event", '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[Event')
    assert counted(variant + "\n" + setup)[0] == {"left out": 2}


def test_castling_may_be_written_with_zeros():
    assert counted(CASTLED_WITH_ZEROS)[0] == {"used": 1}


def test_entries_have_points_as_weight_and_statistics():
    with MoveCounts() as tally:
        for points in (2, 1, 0):
            tally.add(5, 1, points)
        tally.add(5, 2, 2)
        assert list(book_entries(tally)) == [
            Entry(5, 1, 3, MoveStatistics(3, 1.5).pack()),
            Entry(5, 2, 2, MoveStatistics(1, 1.0).pack()),
        ]
        assert [entry.raw_move for entry in book_entries(tally, min_games=2)] == [1]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig"])
def test_latin1_and_utf8_files_are_read(tmp_path, encoding):
    path = tmp_path / "games.pgn"
    path.write_bytes(NEXT.replace("second", "José").encode(encoding))
    with MoveCounts() as tally:
        collector = MoveCounter(tally)
        count_moves(path, collector)
        assert collector.game_counts == {"used": 1}


def test_missing_file_is_reported(tmp_path):
    with MoveCounts() as tally, pytest.raises(BookError, match=r"none\.pgn"):
        count_moves(tmp_path / "none.pgn", MoveCounter(tally))


def test_game_without_moves_is_accepted():
    assert PgnGame(1, {"Result": "1-0"}, "1-0\n").main_line(10) == []


@pytest.mark.parametrize("elo", ["9" * 400, "9" * 5000, "-1", "\N{SUPERSCRIPT TWO}"])
def test_invalid_elo_counts_as_missing(elo):
    wanted = GameFilter(min_elo=2000)
    counted = [wanted.counted_sides(game) for game in games(SHORT.replace("2100", elo) + SHORT)]
    assert counted == [(False, False), (True, True)]
