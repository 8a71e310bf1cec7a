"""Clocks, adjudication, rules and openings of a match game."""

import io
import os
import random
import struct
import sys
from pathlib import Path

import chess
import pytest
from chess.polyglot import zobrist_hash

from agent.limits import Cp, Info, Mate
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.config.run_settings import RunSettings
from kempelen.match.config.settings import (
    Adjudication,
    DrawRule,
    OpeningOrder,
    OpeningSettings,
    ResignRule,
)
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines.engine_protocols import MatchContext, make_player
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.game_result import Termination
from kempelen.match.game.match_game import GameAssignment, MatchGame
from kempelen.match.game.openings import (
    Opening,
    book_move,
    load_openings,
    opening_number,
    with_file_digests,
)
from kempelen.match.game.referee import ChessReferee, Referee, mate_pv_problem
from kempelen.match.live.events import Notice
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.records.game_record import to_pgn
from openings import polyglot
from openings.polyglot import Entry, encode_move
from openings.polyglot import write as write_book
from protocols.client.engine import EngineState
from protocols.client.process import IoLog
from protocols.client.uci import PlayResult, SearchRequest
from tests.kempelen.match.support import engine, play, settings


def test_increment_applies_from_first_move():
    clock = TimeControl(base=10, increment=1).new_clock()
    assert clock.remaining == 11
    clock.spend(4)
    assert clock.remaining == 8


def test_clock_limits_moves_and_periods():
    assert TimeControl(moves=2, base=10).new_clock().moves_to_go == 2
    assert TimeControl(moves=2, movetime=1).new_clock().moves_to_go is None
    assert TimeControl(base=5, movetime=1).new_clock().move_limit == 1
    assert TimeControl(nodes=1).new_clock().move_limit is None


async def test_moves_may_be_late_by_margin():
    answers = [PlayResult("e2e4", None, None, 1.4), PlayResult("d2d4", None, None, 0.6)]

    class SlowPlayer:
        async def search(self, request, limit, on_info=None):
            return PlayResult("e7e5", None, None, 0.0) if request.side else answers.pop(0)

    chosen = settings(engine(), engine(), time=TimeControl(base=1, margin=0.5))
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    adjudicator = Adjudicator(Adjudication())
    record = await MatchGame(chosen, assignment, adjudicator, lambda event: None).play(
        (SlowPlayer(), SlowPlayer())
    )
    assert (record.termination, len(record.moves)) == (Termination.TIME, 2)
    assert record.moves[0].clock == 0
    assert record.detail.endswith("600 ms over")


async def test_move_sent_before_the_search_takes_no_time():
    """For example, the second answer to an earlier search."""

    class HastyPlayer:
        async def search(self, request, limit, on_info=None):
            return PlayResult(("e2e4", "a1a1")[request.side], None, None, -0.5)

    chosen = settings(engine(), engine(), time=TimeControl(base=1))
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    game = MatchGame(chosen, assignment, Adjudicator(Adjudication()), lambda event: None)
    record = await game.play((HastyPlayer(), HastyPlayer()))
    assert (record.moves[0].time, record.moves[0].clock) == (0, 1)
    assert "{ 0.000s;" in to_pgn(record, "match")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10+0.1", (0, 10, 0.1)),
        ("40/60", (40, 60, 0)),
        ("40/1:30+1", (40, 90, 1)),
        (".5+.01", (0, 0.5, 0.01)),
    ],
)
def test_time_control_is_parsed(text, expected):
    control = TimeControl.from_text(text)
    assert (control.moves, control.base, control.increment) == expected


def test_hourglass_and_infinite_time_control_are_parsed():
    for text in ("hg60", "*60", "hg1:00"):
        control = TimeControl.from_text(text)
        assert (control.base, control.hourglass, str(control)) == (60, True, "*60")
    assert (TimeControl.from_text("inf").infinite, str(TimeControl(infinite=True))) == (True, "inf")
    assert str(TimeControl(infinite=True, nodes=100)) == "100 nodes"
    for text in ("hg40/60", "hg60+1", "infinite"):
        with pytest.raises(SettingsError):
            TimeControl.from_text(text)


async def test_hourglass_gives_the_time_of_a_move_to_the_opponent():
    seen = []

    class Player:
        async def search(self, request, limit, on_info=None):
            seen.append((request.white.time, request.black.time))
            return PlayResult(["e2e4", "e7e5", "d2d4", "a1a1"][len(seen) - 1], None, None, 2.0)

    chosen = settings(engine(), engine(), time=TimeControl.from_text("hg10"))
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    game = MatchGame(chosen, assignment, Adjudicator(Adjudication()), lambda event: None)
    record = await game.play((Player(), Player()))
    assert seen == [(10, 10), (8, 12), (10, 10), (8, 12)]
    assert record.white_time == "*10"


def test_hourglass_of_one_engine_only_is_rejected():
    with pytest.raises(SettingsError, match="hourglass requires one for every engine"):
        settings(engine(), engine(time=TimeControl.from_text("hg10")))


@pytest.mark.parametrize("protocol", [EngineProtocol.AGENT, EngineProtocol.MQTT])
def test_infinite_time_control_of_a_player_that_searches_for_ever_is_rejected(protocol):
    player = engine(command="chess", protocol=protocol)
    settings(player, engine(), time=TimeControl(infinite=True, depth=2))
    with pytest.raises(SettingsError, match="tc=inf requires another limit"):
        settings(player, engine(), time=TimeControl(infinite=True))


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        ({}, "go infinite"),
        ({"nodes": 5}, "go nodes 5"),
        ({"movetime": 0.5}, "go movetime 500"),
    ],
)
def test_search_without_limits_is_infinite(limits, line):
    assert SearchRequest(None, **limits).go_line() == line


BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
MATED = "7k/R7/1R6/8/8/8/8/6K1 b - - 0 1"


@pytest.mark.parametrize(
    ("fen", "score", "pv", "problem"),
    [
        (BACK_RANK, Mate(1), "d1d8", ""),
        (BACK_RANK, Mate(2), "d1d8", "mate 2: the PV has 1 plies (expected 3)"),
        (BACK_RANK, Mate(1), "g1f1", "mate 1: the PV does not end in checkmate"),
        (BACK_RANK, Mate(1), "d1d9", "mate 1: illegal move 'd1d9' in the PV d1d9"),
        (MATED, Mate(-1), "h8g8 b6b8", ""),
        (MATED, Mate(-1), "h8g8", "mate -1: the PV has 1 plies (expected 2)"),
        (BACK_RANK, Cp(500), "g1f1", ""),
    ],
)
def test_mate_score_is_compared_with_its_pv(fen, score, pv, problem):
    info = Info(depth=3, score=score, pv=tuple(pv.split()))
    assert mate_pv_problem(chess.Board(fen), info) == problem


async def test_first_bad_mate_pv_of_a_player_is_reported():
    infos = [Info(3, Mate(4), ("e2e4",)), Info(3, Cp(1), ()), Info(3, Mate(3), ()), None]
    moves = iter(["e2e4", "e7e5", "d2d4", "a1a1"])

    class Player:
        async def search(self, request, limit, on_info=None):
            return PlayResult(next(moves), None, infos[len(request.moves)], 0.0)

    events = []
    chosen = settings(engine(), engine(), run=RunSettings(check_mate_pvs=True))
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    await MatchGame(chosen, assignment, Adjudicator(Adjudication()), events.append).play(
        (Player(), Player())
    )
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices == ["game 1.1-2.1.1, ply 1, none: mate 4: the PV has 1 plies (expected 7)"]


@pytest.mark.parametrize(("depth", "played"), [(None, 3), (1, 2)])
async def test_each_engine_plays_from_its_own_book(tmp_path, depth, played):
    """The book knows three plies. White has the book, and Black has none."""
    path, board, entries = tmp_path / "white.bin", chess.Board(), []
    for text in ("b2b3", "b7b6", "c1b2"):
        move = chess.Move.from_uci(text)
        entries.append(Entry(zobrist_hash(board), encode_move(board, move), 1))
        board.push(move)
    write_book(path, sorted(entries))
    asked = []

    class Player:
        async def search(self, request, limit, on_info=None):
            asked.append(tuple(request.moves))
            return PlayResult("b7b6" if len(request.moves) == 1 else "a1a1", None, None, 0.1)

    book = {"book": str(path), "bookdepth": depth}
    chosen = with_file_digests(settings(engine(**book), engine("no-info")))
    assert set(chosen.books) == {"none"}
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    game = MatchGame(chosen, assignment, Adjudicator(Adjudication()), lambda event: None)
    record = await game.play((Player(), Player()))
    assert [move.move for move in record.moves] == ["b2b3", "b7b6", "c1b2"][:played]
    assert [move.book for move in record.moves] == [True, False, True][:played]
    assert asked[0] == ("b2b3",)
    assert "1. b3 { book }" in to_pgn(record, "match")


def test_unsorted_book_is_sorted_only_once(tmp_path, monkeypatch):
    """Sorting a large book at each move would take the time of the other boards."""
    path, board = tmp_path / "book.bin", chess.Board()
    raw_move = encode_move(board, chess.Move.from_uci("b2b3"))
    keys = (2**64 - 1, zobrist_hash(board), 1)
    path.write_bytes(b"".join(struct.pack(">QHHI", key, raw_move, 1, 0) for key in keys))
    sort, sorted_books = polyglot._sort_in_memory, []
    monkeypatch.setattr(
        polyglot, "_sort_in_memory", lambda book: sorted_books.append(book) or sort(book)
    )
    player = engine(book=str(path))
    with_file_digests(settings(player, engine()))
    assert [book_move(player, board, seed) for seed in "ab"] == ["b2b3", "b2b3"]
    assert len(sorted_books) == 1


def test_unusable_book_is_rejected_at_the_start(tmp_path):
    bad = tmp_path / "bad.bin"
    bad.write_bytes(b"no book")
    for file in (bad, tmp_path / "missing.bin"):
        with pytest.raises(SettingsError, match="could not open book"):
            with_file_digests(settings(engine(book=str(file)), engine()))
    with pytest.raises(SettingsError, match="bookdepth: requires a book"):
        engine(bookdepth=3)


@pytest.mark.parametrize(("wrong_reply", "hits", "misses"), [("", 2, 0), ("a7a5", 1, 1)])
async def test_engine_ponders_on_the_time_of_its_opponent(wrong_reply, hits, misses):
    script = str(Path(__file__).parents[2] / "compliant_engine.py")
    words = (f"ponder {wrong_reply}", "ponder h7h6") if wrong_reply else ()
    chosen = settings(
        engine(command=sys.executable, arguments=(script, *words), ponder=True),
        engine("no-info"),
        time=TimeControl(base=10, margin=5),
        adjudication=Adjudication(maxmoves=3),
    )
    log = io.StringIO()
    players = [make_player(each, MatchContext(log=IoLog(log))) for each in chosen.engines]
    for player in players:
        await player.start()
    assignment = GameAssignment(PairKey(1, 1, 0, 1), 1, Opening())
    game = MatchGame(chosen, assignment, Adjudicator(chosen.adjudication), lambda event: None)
    record = await game.play(players)
    await players[0].stop_pondering()
    assert players[0].state is EngineState.IDLE
    for player in players:
        await player.close()
    assert (len(record.moves), record.termination) == (6, Termination.MAX_MOVES)
    text = log.getvalue()
    assert "> setoption name Ponder value true" in text
    assert text.count("> ponderhit\n") == hits
    assert text.count("> go ponder wtime ") == 3
    assert text.count("> stop\n") == misses + 1  # the last one after the game
    assert max(move.time for move in record.moves) < 5
    pondered = [move for move in record.moves if move.pondered]
    assert len(pondered) == hits
    assert all(move.latency is None for move in pondered)


def test_only_uci_engines_ponder():
    with pytest.raises(SettingsError, match="ponder: requires the protocol uci"):
        engine(ponder=True, protocol=EngineProtocol.XBOARD)


LONG = [f"{'9' * digits}{rest}" for digits in (400, 5000) for rest in ("", "/60", ":30", "+1")]


@pytest.mark.parametrize("text", ["", "x", "10+", "40/", "-1", "0", "1/2/3", *LONG])
def test_invalid_time_control_is_rejected(text):
    with pytest.raises(SettingsError):
        TimeControl.from_text(text)


def adjudicate(rule, scores, fen=chess.STARTING_FEN, first=0, plies=0):
    adjudicator = Adjudicator(rule)
    game_result = adjudicator.adjudicate(chess.Board(fen), scores, first=first, plies=plies)
    adjudicator.close()
    return game_result and (game_result.result, game_result.termination)


LATE = "4k3/8/8/8/8/8/4P3/4K3 w - - 5 50"
JUST_CAPTURED = "4k3/8/8/8/8/8/4P3/4K3 w - - {} 50"


def test_resign_rule_adjudicates_by_score():
    rule = Adjudication(resign=ResignRule(movecount=2, score=500))
    lost = ("1-0", Termination.RESIGN_ADJUDICATION)
    assert adjudicate(rule, [Cp(1), Cp(-600), Cp(1), Cp(-600)]) == lost
    assert adjudicate(rule, [Cp(1), Mate(-3), Cp(1), Cp(-600)]) == lost
    assert adjudicate(rule, [Cp(-600), Cp(1), Cp(-600)]) == ("0-1", Termination.RESIGN_ADJUDICATION)
    assert adjudicate(rule, [Cp(-600), Cp(1), Cp(-600)], first=1) == lost
    assert adjudicate(rule, [Cp(1), Cp(-600), Cp(1), Cp(-400)]) is None
    assert adjudicate(rule, [Cp(-600)]) is None
    assert adjudicate(rule, [Cp(-600), None, Cp(-600)]) == ("0-1", Termination.RESIGN_ADJUDICATION)
    both = Adjudication(resign=ResignRule(movecount=2, score=500, twosided=True))
    assert adjudicate(both, [Cp(1), Cp(-600), Cp(1), Cp(-600)]) is None
    assert adjudicate(both, [Cp(550), Cp(-600), Cp(550), Cp(-600)]) == lost


def test_draw_rule_adjudicates_by_score():
    rule = Adjudication(draw=DrawRule(movenumber=40, movecount=2, score=10))
    drawn = ("1/2-1/2", Termination.DRAW_ADJUDICATION)
    assert adjudicate(rule, [Cp(90), Cp(5), Cp(-5), Cp(10), Cp(0)], LATE) == drawn
    assert adjudicate(rule, [Cp(5), Cp(-5), Cp(10), Cp(11)], LATE) is None
    assert adjudicate(rule, [Cp(5), Cp(-5), Cp(10), None], LATE) is None
    assert adjudicate(rule, [Cp(5)] * 4) is None
    assert adjudicate(rule, [Cp(5)] * 3, LATE) is None


def test_draw_rule_counts_again_after_capture_or_pawn_move():
    """As in fastchess and cutechess, where the capture itself is the first move that counts."""
    rule = Adjudication(draw=DrawRule(movenumber=40, movecount=3, score=10))
    counts = [adjudicate(rule, [Cp(5)] * 20, JUST_CAPTURED.format(plies)) for plies in range(8)]
    drawn = ("1/2-1/2", Termination.DRAW_ADJUDICATION)
    assert counts == [None] * 5 + [drawn] * 3


def test_draw_rule_uses_move_number_of_position_and_ignores_mates():
    rule = Adjudication(draw=DrawRule(movenumber=50, movecount=1, score=10))
    drawn = ("1/2-1/2", Termination.DRAW_ADJUDICATION)
    assert adjudicate(rule, [Cp(5)] * 2, LATE) is None
    assert adjudicate(rule, [Cp(5)] * 2, LATE.replace("50", "51")) == drawn
    beyond = Adjudication(draw=DrawRule(movenumber=0, movecount=1, score=10**9))
    assert adjudicate(beyond, [Mate(3), Cp(5)], LATE) is None
    assert adjudicate(beyond, [Cp(10**6), Cp(5)], LATE) == drawn
    lost = ("0-1", Termination.RESIGN_ADJUDICATION)
    assert adjudicate(Adjudication(resign=ResignRule(1, 10**9)), [Mate(-3)]) == lost


def test_move_limit_counts_moves_played_and_not_number_in_fen():
    limit = Adjudication(maxmoves=49)
    assert adjudicate(limit, [], LATE, plies=97) is None
    assert adjudicate(limit, [], LATE, plies=98) == ("1/2-1/2", Termination.MAX_MOVES)


async def test_game_from_late_position_has_maxmoves_moves(tmp_path):
    epd = tmp_path / "o.epd"
    epd.write_text("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 160\n")
    chosen = settings(
        engine(), engine(), games=1, openings=OpeningSettings(file=str(epd)),
        adjudication=Adjudication(maxmoves=3),
    )  # fmt: skip
    _, (record,) = await play(chosen)
    assert (len(record.moves), record.termination) == (6, Termination.MAX_MOVES)


def test_chance_events_are_not_moves():
    game = Referee(new_game(GameSettings("backgammon")), Opening("", ()), "seed")
    limit = Adjudicator(Adjudication(maxmoves=2))
    for _ in range(3):
        assert game.adjudicate(limit, [], first=0) is None
        game.play(game.legal_moves()[0])
    assert len(game.moves) > 4
    game.play(game.legal_moves()[0])
    assert game.adjudicate(limit, [], first=0).termination is Termination.MAX_MOVES


def test_syzygy_tables_in_several_folders_are_used(tmp_path):
    for folder, name in (("a", "KQvK"), ("b", "KRvK")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.rtbw").write_bytes(b"")
    paths = os.pathsep.join(str(tmp_path / folder) for folder in "ab")
    adjudicator = Adjudicator(Adjudication(tables=paths))
    assert {"KQvK", "KRvK"} <= adjudicator._tables.wdl.keys()
    adjudicator.close()
    with pytest.raises(SettingsError, match="missing: not a folder"):
        Adjudicator(Adjudication(tables=f"{paths}{os.pathsep}{tmp_path}/missing"))


def test_missing_syzygy_tables_are_rejected(tmp_path):
    with pytest.raises(SettingsError, match="nowhere: not a folder"):
        Adjudicator(Adjudication(tables=str(tmp_path / "nowhere")))
    with pytest.raises(SettingsError, match="no Syzygy files"):
        Adjudicator(Adjudication(tables=str(tmp_path)))


@pytest.mark.parametrize(
    ("fen", "move", "termination", "result"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", Termination.CHECKMATE, "1-0"),
        ("7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", "g5g6", Termination.STALEMATE, "1/2-1/2"),
        ("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "e1e2", Termination.MATERIAL, "1/2-1/2"),
        ("4k3/8/8/8/8/8/4P3/R3K3 w - - 99 80", "a1a2", Termination.FIFTY_MOVES, "1/2-1/2"),
    ],
)
def test_referee_ends_game_by_rules(fen, move, termination, result):
    game = ChessReferee(Opening(fen))
    assert game.game_result() is None
    game.play(move)
    assert (game.game_result().termination, game.game_result().result) == (termination, result)


def test_repetition_counts_opening_moves():
    game = ChessReferee(Opening(moves=("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1")))
    assert game.game_result() is None
    game.play("f6g8")
    assert game.game_result().termination is Termination.REPETITION


def test_illegal_or_malformed_moves_are_rejected():
    game = ChessReferee(Opening())
    assert (game.play("E2E4"), game.shown_moves) == ("e2e4", ["e4"])
    for text in ("e2e4", "Nf6", "0000", "", "castle", "e7e8q"):
        with pytest.raises(ValueError, match=r"(?i)illegal|invalid|null|expected"):
            game.play(text)
    assert game.moves == ["e2e4"]


def material(board, side):
    values = enumerate((1, 3, 3, 5, 9), start=chess.PAWN)
    return sum(value * len(board.pieces(piece, side)) for piece, value in values)


def test_built_in_openings_are_valid_unique_and_balanced():
    openings = load_openings(OpeningSettings())
    assert len(openings) >= 500
    boards = [chess.Board(opening.fen) for opening in openings]
    assert len({board.epd() for board in boards}) == len(openings)
    for board in boards:
        assert board.is_valid()
        assert not board.is_check()
        assert board.ply() <= 10
        counts = [
            sum(
                value * len(board.pieces(piece, side))
                for piece, value in enumerate((1, 3, 3, 5, 9), 1)
            )
            for side in chess.COLORS
        ]
        assert abs(counts[0] - counts[1]) <= 3


def test_openings_are_read_from_epd_and_pgn_files(tmp_path):
    epd = tmp_path / "o.epd"
    epd.write_text('# comment\n\n4k3/8/8/8/8/8/4P3/4K3 w - - id "one";\n' * 2)
    assert [opening.name for opening in load_openings(OpeningSettings(file=str(epd)))] == ["one"]
    pgn = tmp_path / "o.pgn"
    pgn.write_text("1. e4 e5 2. Nf3 *\n\n1. d4 d5 *\n\n1. e4 e5 2. Nc3 *\n")
    opening = load_openings(OpeningSettings(file=str(pgn)))
    assert [o.moves for o in opening][:2] == [("e2e4", "e7e5", "g1f3"), ("d2d4", "d7d5")]
    assert len(load_openings(OpeningSettings(file=str(pgn), plies=2))) == 2
    for text, message in [
        ("rubbish", "line 1"),
        ("8/8/8/8/8/8/8/8 w - -", "line 1"),
        ("", "no op"),
    ]:
        epd.write_text(text)
        with pytest.raises(SettingsError, match=message):
            load_openings(OpeningSettings(file=str(epd)))
    pgn.write_text("1. e4 e5 2. Ke3 *\n")
    with pytest.raises(SettingsError, match="game 1"):
        load_openings(OpeningSettings(file=str(pgn)))
    with pytest.raises(SettingsError, match="No such file"):
        load_openings(OpeningSettings(file="/no/such/file.epd"))


def test_opening_order_is_seeded_or_sequential():
    chosen = settings(engine(), engine(), games=20, seed=4)
    numbers = [opening_number(5, chosen, 1, pair) for pair in range(1, 11)]
    assert sorted(numbers[:5]) == sorted(numbers[5:]) == list(range(5))
    assert numbers != [*range(5)] * 2
    again = settings(engine(), engine(), games=40, seed=4)
    assert [opening_number(5, again, 1, pair) for pair in range(1, 11)] == numbers
    in_order = settings(
        engine(), engine(), games=20, openings=OpeningSettings(order=OpeningOrder.SEQUENTIAL)
    )
    assert [opening_number(5, in_order, 1, n) for n in range(1, 7)] == [0, 1, 2, 3, 4, 0]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000, 10_000, 10_001, 20_000])
def test_each_opening_is_played_once_before_any_is_repeated(count):
    chosen = settings(engine(), engine(), games=2 * count, seed=4)
    numbers = [opening_number(count, chosen, 1, pair) for pair in range(1, count + 1)]
    assert sorted(numbers) == list(range(count))
    assert count < 10 or numbers != sorted(numbers)


def test_order_of_openings_differs_between_rounds_and_seeds():
    chosen = [settings(engine(), engine(), games=40, rounds=2, seed=seed) for seed in (1, 2)]
    orders = {
        tuple(opening_number(count, each, round_, pair) for pair in range(1, 21))
        for count in (600, 2_600_000)
        for each in chosen
        for round_ in (1, 2)
    }
    assert len(orders) == 8


def test_order_of_a_small_file_is_that_of_earlier_versions():
    chosen = settings(engine(), engine(), games=20, seed=4)
    order = list(range(600))
    random.Random("4/1/0").shuffle(order)
    assert [opening_number(600, chosen, 1, pair) for pair in range(1, 601)] == order


@pytest.mark.parametrize("order", OpeningOrder)
def test_start_index_skips_openings(order):
    def numbers(start, pairs):
        chosen = settings(engine(), engine(), openings=OpeningSettings(order=order, start=start))
        return [opening_number(5, chosen, 1, pair) for pair in pairs]

    assert numbers(3, (1, 2, 3)) == numbers(1, (3, 4, 5))
    if order is OpeningOrder.SEQUENTIAL:
        assert numbers(3, (1, 2, 3, 4)) == [2, 3, 4, 0]
    with pytest.raises(SettingsError, match="start must be at least 1"):
        OpeningSettings(start=0)


async def test_pairs_share_an_opening_with_colours_swapped():
    chosen = settings(
        engine("none"), engine("no-info"), games=4, adjudication=Adjudication(maxmoves=6)
    )
    _, records = await play(chosen)
    by_pair = {}
    for record in records:
        by_pair.setdefault(record.pair, []).append(record)
    for first, second in by_pair.values():
        assert first.fen == second.fen
        assert (first.white, first.black) == (second.black, second.white)
    assert len({record.fen for record in records}) == 2


async def test_chess960_match_completes(tmp_path):
    epd = tmp_path / "o.epd"
    epd.write_text("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf -\n")
    chosen = settings(
        engine(), engine(), games=2, chess960=True,
        openings=OpeningSettings(file=str(epd)), adjudication=Adjudication(maxmoves=6),
    )  # fmt: skip
    finish, records = await play(chosen)
    assert finish.complete
    assert all(record.chess960 for record in records)
