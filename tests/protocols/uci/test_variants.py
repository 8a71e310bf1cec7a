"""Variants of chess over UCI, with a scripted search in place of the kernel's."""

import chess
import chess.variant
import pytest

from agent.chess.engine.board_adapter import BoardAdapter
from agent.games.variants import (
    VARIANTS,
    ChessRules,
    board_class,
    find_variant,
    variant_of,
)
from agent.limits import Cp, Mate
from protocols.uci.parsing import PositionCommand, UciError
from protocols.uci.position import CurrentPosition, read_board

# A position in each variant with its own end of the game, moves that end the game there, and the
# result for the side to move.
DECIDED = {
    "atomic": ("4k3/3r4/8/8/8/8/8/3RK3 w - - 0 1", "d1d7", -1),
    "antichess": ("8/8/8/8/8/8/1p6/R7 b - - 0 1", "b2a1q", 1),
    "horde": ("4k3/8/8/8/8/8/4r3/4P3 b k - 0 1", "e2e1", -1),
    "kingofthehill": ("4k3/8/8/8/8/4K3/8/8 w - - 0 1", "e3e4", -1),
    "racingkings": ("8/7K/8/8/8/8/k7/8 w - - 0 1", "h7h8", -1),
    "3check": ("4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "a1a8", -1),
}
OTHERS = VARIANTS[1:]


def test_every_variant_has_board_of_python_chess():
    for name in VARIANTS:
        assert variant_of(board_class(name)()) == name
        assert find_variant(name.upper()) == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        *(("King of the Hill", "kingofthehill"), ("koth", "kingofthehill")),
        *(("Three-check", "3check"), ("threecheck", "3check")),
        *(("giveaway", "antichess"), ("Anti chess", "antichess")),
        *(("racingKings", "racingkings"), ("standard", "chess"), ("fromPosition", "chess")),
        ("losers", None),
    ],
)
def test_other_names_of_variants_are_known(alias, name):
    assert find_variant(alias) == name


@pytest.mark.parametrize(
    ("variant", "fen", "read"),
    [
        ("3check", "4k3/8/8/8/8/8/8/4K2R w K - 2+1 5 7", None),
        ("3check", "4k3/8/8/8/8/8/8/4K2R w K - 5 7 +1+2", "4k3/8/8/8/8/8/8/4K2R w K - 2+1 5 7"),
        ("3check", "4k3/8/8/8/8/8/8/4K2R w K - 3+3 -", "4k3/8/8/8/8/8/8/4K2R w K - 3+3 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K2Q~[Rpp] w - - 0 1", None),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3/Rpp w - -", "4k3/8/8/8/8/8/8/4K3[Rpp] w - - 0 1"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[-] w - - 0 1", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1"),
        (
            "antichess",
            f"{chess.STARTING_BOARD_FEN} w KQkq - 0 1",
            chess.variant.AntichessBoard().fen(),
        ),
        ("horde", chess.variant.HordeBoard.starting_fen, None),
    ],
)
def test_fens_of_variants_are_read_in_all_notations(variant, fen, read):
    assert read_board(fen, ChessRules(variant)).fen() == (read or fen)


@pytest.mark.parametrize(
    ("variant", "fen", "reason"),
    [
        ("3check", "4k3/8/8/8/8/8/8/4K3 w - - 4+1 0 1", "remaining checks must be from 0 to 3"),
        ("3check", "4k3/8/8/8/8/8/8/4K3 w - - x+1 0 1", "invalid FEN"),
        ("crazyhouse", f"{chess.STARTING_BOARD_FEN}[Q] w - - 0 1", "more than 32 pieces"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[K] w - - 0 1", "invalid pockets '[K]'"),
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[", "expected the side to move"),
        ("racingkings", "8/8/8/8/8/8/k1R5/r6K w - - 0 1", "in check"),
        ("horde", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "too many kings"),
        ("kingofthehill", "8/8/8/8/8/8/8/4K3 w - - 0 1", "black has no king"),
    ],
)
def test_illegal_positions_of_variants_are_named(variant, fen, reason):
    with pytest.raises(UciError) as error:
        read_board(fen, ChessRules(variant))
    assert reason in str(error.value)
    assert fen in str(error.value)


@pytest.mark.parametrize("variant", DECIDED)
def test_game_that_variant_decides_has_no_move(variant):
    fen, moves, result = DECIDED[variant]
    current = CurrentPosition()
    current.set(PositionCommand(fen, tuple(moves.split())), ChessRules(variant))
    assert not any(current.board.legal_moves)
    assert BoardAdapter().terminal_score(current.board) == (Mate(0) if result < 0 else Mate(1))


def test_stalemate_is_a_draw_in_king_of_the_hill():
    board = read_board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ChessRules("kingofthehill"))
    assert BoardAdapter().terminal_score(board) == Cp(0)


def test_option_offers_variants_of_kernel(conversation):
    declared = next(line for line in conversation.ask("uci") if "UCI_Variant" in line)
    variables = " ".join(f"var {name}" for name in VARIANTS)
    assert declared == f"option name UCI_Variant type combo default chess {variables}"


@pytest.mark.thorough(keep=1)  # each variant is compiled
@pytest.mark.parametrize("variant", OTHERS)
def test_variant_replaces_position_by_its_start(variant, conversation):
    conversation.say(f"setoption name UCI_Variant value {variant}")
    shown = conversation.ask("d")
    assert f"Variant: {variant}" in shown
    assert f"Fen: {board_class(variant).starting_fen}" in shown
    (answer,) = [line for line in conversation.ask("go depth 1") if line.startswith("bestmove")]
    assert chess.Move.from_uci(answer.split()[1]) in board_class(variant)().legal_moves
    conversation.say("setoption name UCI_Variant value chess", "position startpos")
    assert f"Fen: {chess.STARTING_FEN}" in conversation.ask("d")


def test_unknown_variant_is_named_and_changes_nothing(conversation):
    conversation.say("setoption name UCI_Variant value koth", "position startpos moves e2e4")
    (refusal,) = conversation.ask("setoption name UCI_Variant value losers")
    assert refusal.startswith("info string UCI_Variant: invalid value 'losers' (expected one of: ")
    assert "Variant: kingofthehill" in conversation.ask("d")
    assert conversation.uci.session.variant == conversation.uci.session.engine.variant
    assert any("b KQkq" in line for line in conversation.ask("d"))


def test_drops_are_read_and_written(conversation):
    conversation.say("setoption name UCI_Variant value crazyhouse")
    conversation.say("position fen 4k3/8/8/8/8/8/8/4K3[N] w - - 0 1 moves N@e4 e8e7")
    assert "Fen: 8/4k3/8/8/4N3/8/8/4K3[] w - - 2 2" in conversation.ask("d")
    conversation.say("position fen 4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
    (answer,) = [
        line for line in conversation.ask("go searchmoves N@b1 depth 1") if "bestmove" in line
    ]
    assert answer.split()[1] == "N@b1"
