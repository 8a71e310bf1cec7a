"""Matches in the variants of chess, between a scripted engine in several copies."""

import io

import chess.pgn
import chess.variant
import pytest

from agent.games.variants import VARIANTS, ChessRules, board_class
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.match.config.engine_settings import EngineProtocol
from kempelen.match.config.settings import Adjudication, OpeningSettings, parse_settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines.engine_protocols import check_engine
from kempelen.match.game.game_result import Termination
from kempelen.match.game.openings import opening_selector
from kempelen.match.game.referee import ChessReferee, chess_result
from kempelen.match.records.game_record import GameRecord, MoveRecord, to_epd, to_pgn
from openings.start_positions import StartPosition
from tests.kempelen.match.support import engine, settings

OTHERS = VARIANTS[1:]


def test_alias_of_variant_is_the_same_variant():
    chosen = settings(engine(), engine(), variant="King of the Hill")
    assert chosen.variant == "kingofthehill"
    assert parse_settings(encode(chosen)) == chosen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": "losers"}, r"variant: unknown 'losers' \(expected one of: chess, crazyhouse"),
        (
            {"variant": "atomic", "adjudication": Adjudication(tables="nowhere")},
            "tables: require chess",
        ),
    ],
)
def test_variant_that_cannot_be_played_is_rejected(changes, message):
    with pytest.raises(SettingsError, match=message):
        settings(engine(), engine(), **changes)


@pytest.mark.parametrize("option", ["UCI_Variant", "uci_variant"])
@pytest.mark.parametrize("protocol", [EngineProtocol.UCI, EngineProtocol.AGENT])
def test_variant_among_the_options_of_an_engine_is_rejected(option, protocol):
    chosen = engine(protocol=protocol, options={option: "atomic"}, name="A")
    expected = r"engine A: option UCI_Variant: must not be set \(use variant\)"
    with pytest.raises(SettingsError, match=expected):
        check_engine(chosen)


def test_program_without_variants_is_rejected():
    gtp = engine(protocol=EngineProtocol.GTP)
    with pytest.raises(SettingsError, match="horde is not supported by its protocol"):
        settings(gtp, engine(), variant="horde", time=TimeControl(movetime=1))


@pytest.mark.parametrize("variant", OTHERS)
def test_openings_of_variant_are_random_and_legal(variant):
    select = opening_selector(settings(engine(), engine(), variant=variant))
    openings = [select(1, pair) for pair in range(1, 9)]
    assert openings == [select(1, pair) for pair in range(1, 9)]
    assert len(set(openings)) > 1
    for opening in openings:
        referee = ChessReferee(opening, ChessRules(variant))
        assert referee.start == board_class(variant).starting_fen
        assert len(referee.moves) == 4
        assert referee.game_result() is None


@pytest.mark.parametrize(
    ("variant", "name", "text", "fen"),
    [
        ("kingofthehill", "o.epd", f"{chess.STARTING_BOARD_FEN} w KQkq - hmvc 0;", None),
        ("3check", "o.epd", "4k3/8/8/8/8/8/8/4K2R w K - 2+1", "4k3/8/8/8/8/8/8/4K2R w K - 2+1 0 1"),
        ("crazyhouse", "o.epd", "4k3/8/8/8/8/8/8/4K2Q~[Pn] w - -", None),
        ("atomic", "o.pgn", '[Variant "Atomic"]\n\n1. Nf3 f6 *\n', None),
        (
            "crazyhouse",
            "o.pgn",
            '[Variant "Crazyhouse"]\n\n1. e4 d5 2. exd5 a6 3. P@e4 *\n',
            None,
        ),
    ],
)
def test_opening_files_of_variant_are_read(variant, name, text, fen, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    chosen = settings(engine(), engine(), variant=variant, openings=OpeningSettings(file=str(file)))
    opening = opening_selector(chosen)(1, 1)
    referee = ChessReferee(opening, ChessRules(variant))
    assert type(referee.board) is board_class(variant)
    assert fen is None or referee.start == fen


def test_opening_of_another_variant_is_rejected(tmp_path):
    file = tmp_path / "o.pgn"
    file.write_text("1. e4 e5 *\n")
    chosen = settings(
        engine(), engine(), variant="atomic", openings=OpeningSettings(file=str(file))
    )
    with pytest.raises(SettingsError, match="unsupported variant chess"):
        opening_selector(chosen)


@pytest.mark.parametrize(
    ("variant", "fen", "moves", "result"),
    [
        ("kingofthehill", "7k/8/8/8/8/4K3/8/8 w - - 0 1", "e3e4", "1-0"),
        ("3check", "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "a1a8", "1-0"),
        ("antichess", "8/8/8/8/8/8/1p6/R7 b - - 0 1", "b2a1k", "1-0"),
        ("atomic", "4k3/3r4/8/8/8/8/8/3RK3 w - - 0 1", "d1d7", "1-0"),
        ("horde", "4k3/8/8/8/8/8/4r3/4P3 b - - 0 1", "e2e1", "0-1"),
        ("racingkings", "8/7K/8/8/8/8/k7/8 w - - 0 1", "h7h8", "1-0"),
        ("crazyhouse", "7k/5K2/6P1/8/8/8/8/8[Q] w - - 0 1", "q@g7", "1-0"),
    ],
)
def test_game_that_variant_decides_is_recorded(variant, fen, moves, result):
    referee = ChessReferee(StartPosition(fen), ChessRules(variant))
    for move in moves.split():
        assert referee.game_result() is None
        referee.play(move)
    found = referee.game_result()
    assert found.result == result
    checkmate = variant == "crazyhouse"
    assert found.termination is (Termination.CHECKMATE if checkmate else Termination.RULES)
    record = GameRecord(
        "1.1", 1, "A", "B", referee.start, (), tuple(map(MoveRecord, referee.moves)), found.result,
        found.termination, variant=variant,
    )  # fmt: skip
    game = chess.pgn.read_game(io.StringIO(to_pgn(record, "test")))
    assert game.errors == []
    assert type(game.board()) is board_class(variant)
    assert game.end().board().fen() == referee.board.fen()
    assert game.headers["Termination"] == "normal"
    assert to_epd(record).startswith(referee.board.epd())


def test_king_on_the_hill_wins_although_it_is_in_check():
    board = chess.variant.KingOfTheHillBoard("4k3/8/8/8/4K3/8/8/4R3 b - - 0 1")
    assert chess_result(board).result == "1-0"
