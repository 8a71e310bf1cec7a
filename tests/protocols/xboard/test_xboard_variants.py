"""Variants of chess over xboard's protocol, with a scripted search in place of the kernel's."""

import chess
import chess.variant
import pytest

from agent.games.variants import VARIANTS, ChessRules, board_class
from protocols.uci.position import read_board
from protocols.xboard.draws import is_claimable_draw, result_by_rule
from protocols.xboard.parsing import BARE_MOVE, find_move

OTHERS = VARIANTS[1:]


def test_feature_offers_variants_by_names_of_the_protocol(conversation):
    (line,) = [line for line in conversation.ask("protover 2") if "variants=" in line]
    names = {name: board_class(name).xboard_variant for name in OTHERS}
    assert f'variants="{",".join(("normal", "fischerandom", *names.values()))}"' in line


@pytest.mark.thorough(keep=1)  # each variant is compiled
@pytest.mark.parametrize("variant", OTHERS)
def test_variant_is_played_from_its_start(variant, conversation):
    conversation.say("new", f"variant {board_class(variant).xboard_variant}", "sd 1")
    assert conversation.xboard.board.fen() == board_class(variant).starting_fen
    moves = [line for line in conversation.ask("go") if line.startswith("move ")]
    assert [chess.Move.from_uci(line.split()[1]) for line in moves] == [
        conversation.xboard.board.peek()
    ]
    assert conversation.ask("new") == []
    assert type(conversation.xboard.board) is chess.Board


def test_unknown_variant_is_named_and_changes_nothing(conversation):
    conversation.say("new", "force", "variant koth", "usermove e2e4")
    before = conversation.xboard.board.copy()
    (refusal,) = conversation.ask("variant losers")
    assert refusal.startswith("Error (unknown variant, expected one of: normal, fischerandom, ")
    assert refusal.endswith("): variant losers")
    assert conversation.xboard.board == before
    assert conversation.ask("usermove e7e5") == []


def test_piece_is_dropped(conversation):
    conversation.say("variant crazyhouse", "force", "setboard 4k3/8/8/8/8/8/8/4K3[Nq] w - - 0 1")
    assert conversation.ask("usermove N@e4", "Q@e2") == []
    assert conversation.xboard.board.fen() == "4k3/8/8/8/4N3/8/4q3/4K3[] w - - 2 2"
    assert conversation.ask("usermove P@a3") == ["Illegal move: P@a3"]


def test_holdings_complete_a_position(conversation):
    conversation.say("variant crazyhouse", "force", "setboard 4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert conversation.ask("holding [PPQ] [n]", "black") == []
    assert conversation.xboard.board.fen() == "4k3/8/8/8/8/8/8/4K3[QPPn] b - - 0 1"


def test_holdings_of_a_game_follow_from_its_moves(conversation):
    conversation.say("variant crazyhouse", "force", "usermove e2e4", "usermove d7d5")
    conversation.say("holding [P] [] WP", "usermove e4d5")
    assert conversation.xboard.board.fen().split()[0].endswith("[P]")


@pytest.mark.parametrize(
    ("variant", "line", "reason"),
    [
        ("crazyhouse", "holding [K] []", "invalid holdings, expected: holding [WHITE] [BLACK]"),
        ("crazyhouse", "holding", "invalid holdings, expected: holding [WHITE] [BLACK]"),
        ("atomic", "holding [P] []", "no holdings in this variant"),
    ],
)
def test_invalid_holdings_are_rejected(variant, line, reason, conversation):
    conversation.say(f"variant {variant}", "force")
    before = conversation.xboard.board.copy()
    assert conversation.ask(line) == [f"Error ({reason}): {line}"]
    assert conversation.xboard.board == before


def test_holdings_that_are_too_many_are_an_illegal_position(conversation):
    conversation.say("variant crazyhouse", "force")
    (warning,) = conversation.ask("holding [Q] []")
    assert "more than 32 pieces" in warning


@pytest.mark.parametrize("text", ["P@e4", "@e4", "N@f3+", "e7e8k", "e8=K"])
def test_moves_of_variants_are_recognized_without_command(text):
    assert BARE_MOVE.fullmatch(text)


def test_drops_are_read_in_san():
    board = read_board("4k3/8/8/8/8/8/8/4K3[NP] w - - 0 1", ChessRules("crazyhouse"))
    assert find_move(board, "@e4") == find_move(board, "P@e4") == chess.Move.from_uci("P@e4")
    assert find_move(board, "Q@e4") is None


@pytest.mark.parametrize(
    ("variant", "fen", "result"),
    [
        ("kingofthehill", "4k3/8/8/8/4K3/8/8/8 b - - 0 1", "1-0 {White wins}"),
        ("kingofthehill", "8/8/8/4k3/8/8/8/4K3 w - - 0 1", "0-1 {Black wins}"),
        ("kingofthehill", "7k/8/6K1/8/8/8/8/6N1 b - - 0 1", None),  # the king can still win
        ("3check", "R3k3/8/8/8/8/8/8/4K3 b - - 0+3 0 1", "1-0 {White wins}"),
        ("antichess", "8/8/8/8/8/8/8/R7 b - - 0 1", "0-1 {Black wins}"),
        ("atomic", "rnbq1bnr/pppp1ppp/8/8/8/8/PPPP1PPP/RNBQKBNR b KQ - 0 1", "1-0 {White wins}"),
        ("horde", "4k3/8/8/8/8/8/8/8 w - - 0 1", "0-1 {Black wins}"),
        ("racingkings", "k6K/8/8/8/8/8/8/8 w - - 0 1", "1/2-1/2 {Draw}"),
        ("crazyhouse", "7k/8/6K1/8/8/8/8/6R1[] b - - 100 99", None),  # no fifty-move rule
        ("crazyhouse", "4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", None),
    ],
)
def test_game_end_is_detected_by_rules_of_variant(variant, fen, result):
    board = board_class(variant)(fen)
    assert result_by_rule(board) == result
    assert not is_claimable_draw(result)
