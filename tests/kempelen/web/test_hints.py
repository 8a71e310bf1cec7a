"""Explanations of moves, and what counts as a blunder."""

from typing import Any

import chess
import pytest

from agent.limits import Cp, Info, Mate
from kempelen.match.review.move_annotation import MoveQuality
from kempelen.web.layout import page_words
from kempelen.web.play.boards import PlayedGame, initial_game
from kempelen.web.play.hints import best_line, explain, move_quality
from kempelen.web.play.setup import parse_setup
from kempelen.web.site_context import SiteResources


def board(game: str, *moves: str, **form: Any) -> PlayedGame:
    made = initial_game(parse_setup({"game": game, **form}, SiteResources()))
    for move in moves:
        made.play(move)
    return made


@pytest.mark.parametrize(
    ("fen", "move", "score", "expected"),
    [
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", Cp(0), {"key": "why mate", "n": 1}),
        ("7k/8/5K2/8/8/8/8/R7 w - - 0 1", "f6f7", Mate(2), {"key": "why mate", "n": 2}),
        ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8n", Cp(0), {"key": "why promotes knight"}),
        ("k7/8/8/3q4/8/2N5/8/K7 w - - 0 1", "c3d5", Cp(0), {"key": "why takes", "piece": "queen"}),
        ("k7/8/8/8/pP6/8/8/K7 b - b3 0 1", "a4b3", Cp(0), {"key": "why takes", "piece": "pawn"}),
        ("k7/8/8/1p6/2Q5/8/8/K7 w - - 0 1", "c4c7", Cp(0), {"key": "why saves", "piece": "queen"}),
        ("4r2k/8/8/8/4B3/8/8/K7 w - - 0 1", "a1a2", Cp(0), None),
        ("4r2k/8/8/8/4B3/8/8/KR6 w - - 0 1", "b1e1", Cp(0),
         {"key": "why protects", "piece": "bishop"}),
        ("k7/8/8/4r3/8/8/8/K1B5 w - - 0 1", "c1b2", Cp(0), {"key": "why attacks", "piece": "rook"}),
        ("k7/8/8/4p3/7p/8/8/K1B5 w - - 0 1", "c1b2", Cp(0),
         {"key": "why attacks", "piece": "pawn", "square": "e5"}),
        ("k7/8/8/8/8/8/8/K1R5 w - - 0 1", "c1c8", Cp(0), {"key": "why check"}),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", Cp(0), {"key": "why castles"}),
        (chess.STARTING_FEN, "e2e4", Cp(30), None),
    ],
)  # fmt: skip
def test_chess_move_is_explained(fen: str, move: str, score: Any, expected: Any) -> None:
    assert explain(board("chess", fen=fen), move, Info(1, score, (move,))) == expected


@pytest.mark.parametrize(
    ("game", "moves", "move", "expected"),
    [
        ("go", "A1 A2 E5", "B1", {"key": "why captures", "n": 1}),
        ("go", "A1 A2", "B1", {"key": "why saves stones", "n": 1}),
        ("go", "C3 E5", "pass", {"key": "why pass"}),
        ("go", "B2 A1", "A2", {"key": "why atari", "n": 1}),
        ("go", "B2 E5", "C3", None),
        ("tic-tac-toe", "a1 b1 a2 b2", "a3", {"key": "why wins"}),
        ("tic-tac-toe", "a1 b2 a2", "a3", {"key": "why blocks"}),
        ("connect-four", "1 2 1 2 1", "1", {"key": "why blocks"}),
        ("othello", "", "c4", {"key": "why turns", "n": 1}),
    ],
)
def test_move_of_another_game_is_explained(game: str, moves: str, move: str, expected: Any) -> None:
    options = {"options": {"size": 5}} if game == "go" else {}
    made = board(game, *moves.split(), **options)
    legal = {text.lower() for text in made.legal_moves()}
    assert move.lower() in legal, legal
    before = made.view()["text"][:]
    assert explain(made, move, None) == expected
    assert made.view()["text"] == before


def test_won_game_is_explained_by_the_search() -> None:
    made = board("connect-four")
    sure, unsure = (Info(1, Cp(100), ("4",), expected_outcome=outcome) for outcome in (1.0, 0.5))
    assert explain(made, "4", sure) == {"key": "why winning"}
    assert explain(made, "4", unsure) is None


def test_best_line_is_in_the_notation_for_users() -> None:
    info = Info(3, Cp(20), ("e2e4", "e7e5", "g1f3"))
    assert best_line(board("chess"), info) == ["e4", "e5", "Nf3"]
    assert best_line(board("go"), Info(1, Cp(0), ("D4",))) == ["D4"]
    assert best_line(board("chess"), None) == []


def test_reasons_and_endings_have_words_in_both_languages() -> None:
    keys = page_words("play", "en").keys()
    for key in keys:
        if key.startswith("why "):
            english, spanish = (page_words("play", language)[key] for language in ("en", "es"))
            assert english != spanish
            assert english.endswith(".")
            assert spanish.endswith(".")
    for game in ("go", "othello", "checkers", "connect-four", "tic-tac-toe", "nim", "grundy",
                 "pig", "backgammon"):  # fmt: skip
        assert page_words("play", "en")[f"end of {game}"]
        assert (
            page_words("play", "es")[f"end of {game}"] != page_words("play", "en")[f"end of {game}"]
        )


@pytest.mark.parametrize(
    ("before", "after", "same_mover", "expected"),
    [
        (Info(1, Cp(0), ("a",)), Info(1, Cp(600), ("b",)), False, True),
        (Info(1, Cp(0), ("a",)), Info(1, Cp(20), ("b",)), False, False),
        (Info(1, Mate(2), ("a",)), Info(1, Cp(-900), ("b",)), False, False),  # still winning
        (Info(1, Cp(0), ("m",)), Info(1, Cp(600), ("b",)), False, False),  # the engine's own move
        (Info(1, Cp(0), ("a",), expected_outcome=0.2),
         Info(1, Cp(0), ("b",), expected_outcome=0.2), False, True),
        (Info(1, Cp(0), ("a",), expected_outcome=0.2),
         Info(1, Cp(0), ("b",), expected_outcome=0.2), True, False),
    ],
)  # fmt: skip
def test_blunder_is_a_large_loss_of_the_expected_score(
    before: Any, after: Any, same_mover: bool, expected: bool
) -> None:
    quality = move_quality(before, after, "m", same_mover=same_mover)
    assert (quality is MoveQuality.BLUNDER) == expected
