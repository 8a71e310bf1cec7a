"""Endgame knowledge of the evaluation, without endgame tables."""

import random

import chess
import pytest

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.endgames.dtm_tables import DtmTables
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.evaluation import HANDCRAFTED
from agent.limits import Cp, Limits

LONG = 12  # plies: shorter mates are found by any search


@pytest.fixture(scope="module")
def search() -> AlphaBetaSearch:
    return AlphaBetaSearch(megabytes=4, evaluation=HANDCRAFTED)


@pytest.fixture(scope="module")
def network_search() -> AlphaBetaSearch:
    return AlphaBetaSearch(megabytes=4)


def white_value(search: AlphaBetaSearch, fen: str) -> int:
    """Return the evaluation for White. It must be colour-symmetric."""
    board = chess.Board(fen)
    value = search.evaluate(board)
    assert search.evaluate(board.mirror()) == value
    return value if board.turn else -value


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("8/8/8/3k4/8/8/8/KNN5 w - - 0 1", id="two knights"),
        pytest.param("8/8/3n4/3k4/8/8/8/KB6 w - - 0 1", id="minor against minor"),
        pytest.param("k7/8/8/8/8/P7/8/K1B5 w - - 0 1", id="wrong bishop, a-pawn"),
        pytest.param("8/6k1/8/8/7P/7P/8/KB6 b - - 0 1", id="wrong bishop, h-pawns"),
        pytest.param("1k6/8/8/P7/P7/8/8/K7 w - - 0 1", id="rook pawns"),
        pytest.param("6k1/p6p/8/7P/7P/8/2B3K1/8 w - - 0 1", id="wrong bishop, enemy pawns"),
        pytest.param("8/8/4k3/8/3bP3/4K3/8/2B5 w - - 0 1", id="blockade, bishops alike"),
        pytest.param("8/4k3/8/8/3nP3/4K3/8/5B2 w - - 0 1", id="blockade, bishop and knight"),
        pytest.param("8/8/2b5/3k4/8/2B5/1B5K/8 w - - 0 1", id="bishops of one colour"),
        pytest.param("k7/P7/8/1K6/8/8/8/6N1 w - - 0 1", id="knight, rook pawn on the seventh"),
        pytest.param("1k6/1p6/1P6/2K5/8/4B3/8/8 w - - 0 1", id="blocked b-pawn"),
        pytest.param("k7/1p6/1P6/1P6/2K5/8/3B4/8 w - - 0 1", id="blocked b-pawns"),
        pytest.param("3Q4/8/8/8/7K/8/p7/1k6 w - - 0 1", id="queen against rook pawn"),
        pytest.param("8/8/8/7K/3Q4/8/2p5/1k6 w - - 0 1", id="queen against bishop pawn"),
    ],
)
def test_drawn_material_scores_zero(
    search: AlphaBetaSearch, network_search: AlphaBetaSearch, fen: str
) -> None:
    assert white_value(search, fen) == 0
    assert white_value(network_search, fen) == 0


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("4kb2/8/8/3PP3/4K3/8/8/3B4 w - - 0 1", id="opposite bishops, two pawns"),
        pytest.param("2bk4/8/8/1P2P3/4K3/8/8/B7 w - - 0 1", id="opposite bishops, apart"),
        pytest.param("8/2b5/4k3/8/3PK3/8/8/5B2 w - - 0 1", id="opposite bishops, one pawn"),
        pytest.param("4k3/8/r7/3KP3/8/8/8/7R b - - 0 1", id="Philidor"),
        pytest.param("R7/6k1/P4r2/8/8/8/1K6/8 b - - 0 1", id="Vancura"),
        pytest.param("R7/P5k1/8/7P/8/6K1/8/r7 w - - 0 1", id="rook in front of its pawn"),
        pytest.param("8/8/8/3kb3/8/8/8/KR6 w - - 0 1", id="rook against bishop"),
        pytest.param("8/8/8/3kr3/8/8/8/KRB5 w - - 0 1", id="rook and bishop against rook"),
    ],
)
def test_textbook_draws_score_less_than_half_a_pawn(
    network_search: AlphaBetaSearch, fen: str
) -> None:
    assert abs(white_value(network_search, fen)) < 50


def test_opposite_bishops_win_if_enemy_king_is_behind_two_pawns(
    network_search: AlphaBetaSearch,
) -> None:
    assert white_value(network_search, "8/8/4B3/7K/5bP1/8/2P5/1k6 w - - 0 1") > 100


def test_search_keeps_known_draws_at_zero() -> None:
    """Corrections of similar positions, which are won, do not apply to known draws."""
    search = AlphaBetaSearch(megabytes=4)
    board = chess.Board("4k3/8/p3b3/8/8/8/8/K7 w - - 0 2")
    *_, info = search.search(board, Limits(nodes=100_000))
    assert info.score == Cp(0)


@pytest.mark.parametrize(
    ("drawish", "normal", "share"),
    [
        pytest.param(
            "8/8/8/3kb3/8/8/8/KR6 w - - 0 1", "8/8/8/3k4/4p3/8/8/KR6 w - - 0 1", 0.1, id="KRKB"
        ),
        pytest.param(
            "8/8/8/3kr3/8/8/8/KRB5 w - - 0 1", "8/8/8/3kb3/8/8/P7/KRB5 w - - 0 1", 0.3, id="KRBKR"
        ),
        pytest.param(
            "8/8/8/3kp3/8/8/8/KNN5 w - - 0 1", "8/8/8/3kp3/8/8/P7/KNN5 w - - 0 1", 0.4, id="KNNKP"
        ),
        pytest.param(
            "8/1k1p4/2r5/8/8/3K4/8/3Q4 w - - 0 1",
            "8/1k6/2r5/8/3p4/3K4/8/3Q4 w - - 0 1",
            0.2,
            id="fortress of a rook",
        ),
        pytest.param(
            "8/3k4/8/4b3/4P3/4K3/6P1/5B2 w - - 0 1",
            "8/3k4/8/5b2/4P3/4K3/6P1/5B2 w - - 0 1",
            0.5,
            id="opposite bishops",
        ),
        pytest.param(
            "3r2k1/5ppp/4b3/8/8/P3B3/5PPP/3R2K1 w - - 0 1",
            "3r2k1/5ppp/4b3/8/8/P3N3/5PPP/3R2K1 w - - 0 1",
            1.0,
            id="opposite bishops and rooks",
        ),
        pytest.param(
            "3r2k1/5ppp/8/8/8/4P3/5PPP/3R2K1 w - - 0 1",
            "3r2k1/5ppp/8/8/8/P7/5PPP/3R2K1 w - - 0 1",
            0.9,
            id="all pawns on one wing",
        ),
        pytest.param(
            "8/8/3kn3/8/4P3/4K3/8/5B2 w - - 0 1",
            "8/8/3kn3/8/4P3/4K3/P7/5B2 w - - 0 1",
            0.5,
            id="last pawn",
        ),
        pytest.param(
            "8/5ppp/3bk3/8/8/4K3/8/1R3B2 w - - 0 1",
            "8/5ppp/3bk3/8/8/4K3/P7/1R3B2 w - - 0 1",
            0.8,
            id="pawns against a rook ahead",
        ),
        pytest.param(
            "8/8/8/3k4/3p4/8/8/KB6 w - - 0 1", "8/8/8/3k4/3p4/8/8/KR6 w - - 0 1", 0.1, id="KBKP"
        ),
    ],
)
def test_drawish_material_scores_lower(
    search: AlphaBetaSearch, drawish: str, normal: str, share: float
) -> None:
    assert 0 <= white_value(search, drawish) < share * white_value(search, normal)


@pytest.mark.parametrize(
    "fen",
    [
        pytest.param("k7/8/8/8/8/P7/8/KB6 w - - 0 1", id="right bishop"),
        pytest.param("8/8/4k3/8/8/P7/8/K1B5 w - - 0 1", id="king too far"),
        pytest.param("k7/8/8/8/1P6/P7/8/K1B5 w - - 0 1", id="another pawn"),
        pytest.param("8/8/8/3k4/8/8/8/KBB5 w - - 0 1", id="two bishops"),
        pytest.param("8/8/8/3kn3/8/8/8/KBB5 w - - 0 1", id="two bishops against a knight"),
        pytest.param("8/8/8/3kr3/8/8/8/KQ6 w - - 0 1", id="queen against rook"),
        pytest.param("k7/6p1/8/7P/8/8/2B3K1/8 w - - 0 1", id="king in the other corner"),
        pytest.param("6k1/6p1/8/7P/8/8/2B3K1/8 w - - 0 1", id="a rook pawn can capture"),
        pytest.param("8/8/8/8/3K4/8/p3Q3/1k6 w - - 0 1", id="queen against pawn, king near"),
        pytest.param("8/8/8/8/7K/8/1p2Q3/k7 w - - 0 1", id="queen against knight pawn"),
    ],
)
def test_won_endings_have_winning_scores(
    search: AlphaBetaSearch, network_search: AlphaBetaSearch, fen: str
) -> None:
    assert white_value(search, fen) > 150
    assert white_value(network_search, fen) > 75


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("k7/8/8/4K3/BN6/8/8/8 w - - 0 1", "8/8/8/4K3/BN6/8/8/k7 w - - 0 1"),
        ("7k/8/8/4K3/1BN5/8/8/8 w - - 0 1", "k7/8/8/4K3/1BN5/8/8/8 w - - 0 1"),
    ],
)
def test_bishop_and_knight_prefer_corner_of_bishop_colour(
    search: AlphaBetaSearch, right: str, wrong: str
) -> None:
    assert white_value(search, right) > white_value(search, wrong) + 300


def test_extra_material_outweighs_corner_bonus(search: AlphaBetaSearch) -> None:
    corner = white_value(search, "k7/2K5/8/8/2B5/2N5/8/8 w - - 0 1")
    for piece in ("P", "N", "B", "R"):
        assert white_value(search, f"8/8/8/3k4/2B5/2N5/{piece}7/K7 w - - 0 1") > corner
    queen, knight, pawn = (
        white_value(search, f"k7/2K5/8/8/2B5/2N5/{piece}7/8 w - - 0 1") for piece in ("Q", "N", "P")
    )
    assert queen > knight > pawn


def test_extra_pawn_raises_score_of_queen_against_rook(search: AlphaBetaSearch) -> None:
    alone = white_value(search, "k7/r7/8/2K5/8/8/8/7Q w - - 0 1")
    assert white_value(search, "k7/r7/8/2K5/8/8/4P3/7Q w - - 0 1") > alone


def test_evaluation_drives_lone_king_to_edge(search: AlphaBetaSearch) -> None:
    edge = white_value(search, "8/8/8/8/8/3K4/8/1k2R3 w - - 0 1")
    assert edge > white_value(search, "8/8/8/2k5/8/3K4/8/4R3 w - - 0 1")
    assert edge > white_value(search, "8/8/8/8/8/5K2/8/1k2R3 w - - 0 1")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["KBNK", "KBBK", "KQKR"])
def test_search_mates_without_endgame_tables(
    search: AlphaBetaSearch, endgame_tables: DtmTables, name: str, thorough: bool
) -> None:
    """The defence is the best one, and the node limit is that of a fast game."""
    own = BuiltinTablebase(endgame_tables)
    rng = random.Random(name)
    for _ in range(4 if thorough else 1):
        board = random_win(own, name, rng)
        search.new_game()
        while not board.is_game_over() and board.halfmove_clock < 100:
            if board.turn == chess.WHITE:
                search.clear_stop()
                *_, info = search.search(board, Limits(nodes=60_000))
                board.push(info.pv[0])
            else:
                board.push(longest_defence(own, board))
        assert board.is_checkmate(), board.fen()


def random_win(own: BuiltinTablebase, name: str, rng: random.Random) -> chess.Board:
    strong, weak = name[1:].split("K")
    pieces = [chess.Piece.from_symbol(letter) for letter in f"K{strong}k{weak.lower()}"]
    while True:
        board = chess.Board(None)
        for square, piece in zip(rng.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, piece)
        value = own.probe(board) if board.is_valid() else None
        if value is not None and value > LONG and value % 2 == 0:
            return board


def longest_defence(own: BuiltinTablebase, board: chess.Board) -> chess.Move:
    delays = {}
    for move in board.legal_moves:
        board.push(move)
        value = own.probe(board)
        delays[move] = (
            value if value and value % 2 == 0 else 1000
        )  # a move that avoids the loss is best
        board.pop()
    return max(delays, key=delays.__getitem__)
