"""The form for a new game is validated."""

from pathlib import Path
from typing import Any

import pytest

import kempelen.web
from agent.chess.evaluation.loading import DEFAULT
from agent.games import catalogue
from agent.games.variants import VARIANTS, board_class
from agent.search.limited_strength import GAME_LEVELS
from kempelen.web.diagrams import parse_grid
from kempelen.web.layout import LANGUAGES, page_words
from kempelen.web.play.boards import ChessGame, initial_game, replay_game
from kempelen.web.play.setup import (
    LEVELS,
    LEVELS_OF_GAMES,
    GameSetup,
    SetupError,
    form_choices,
    parse_setup,
    playable_games,
)
from kempelen.web.site_context import SiteResources

STATIC = Path(kempelen.web.__file__).with_name("static")
OFFERS = SiteResources(
    evaluations={"mine": "/home/me/mine.py:evaluate"},
    engines={"Fish": "uci stockfish", "Stones": "gtp gnugo --mode gtp"},
)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"game": "no-game"}, "game: invalid value"),
        ({"game": "/etc/passwd:Class"}, "game: invalid value"),
        ({"level": 99999}, "level: must be a number from 600"),
        ({"level": "1600"}, "level: must be a number"),
        ({"level": True}, "level: must be a number"),
        ({"fen": "nonsense"}, "position: "),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "position: illegal position"),
        ({"fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}, "position: the game is already over"),
        ({"fen": 7}, "fen: must be text"),
        (
            {"variant": "3check", "fen": "4k3/8/8/8/8/8/8/4K3 w - - 999999999+3 0 1"},
            "position: illegal position",
        ),
        (
            {"variant": "crazyhouse", "fen": f"4k3/8/8/8/8/8/8/4K3[{'q' * 40}] w - - 0 1"},
            "position: illegal position",
        ),
        ({"evaluation": "/home/me/mine.py:evaluate"}, "evaluation: invalid value"),
        ({"algorithm": "alpha-beta"}, "algorithm: invalid value"),
        ({"opponent": "Stones"}, "opponent: invalid value"),
        ({"base": 1e9}, "base: must be a number"),
        ({"seconds": float("nan")}, "seconds: must be a number"),
        ({"seconds": 10**400}, "seconds: must be a number"),
        ({"game": "go", "options": {"size": 10**9}}, "size: must be a number from 2 to 19"),
        ({"game": "go", "options": {"size": "1x9"}}, "size: must be a number from 2 to 19, or"),
        ({"game": "go", "options": {"size": "9x20"}}, "size: must be a number from 2 to 19"),
        ({"game": "go", "options": {"size": True}}, "size: must be a number from 2 to 19"),
        ({"game": "othello", "options": {"size": "8x8"}}, "size: must be a number from 2 to 19"),
        ({"game": "go", "handicap": 40}, "handicap: must be a number from 0 to 9"),
        ({"game": "go", "rules": "own"}, "rules: invalid value"),
        ({"game": "othello", "options": {"size": 5}}, "game othello"),
        ({"game": "othello", "options": {"state": "x"}}, "options: othello has no option"),
        ({"game": "go", "options": {"komi": "6"}}, "komi: must be a number from -100 to 100"),
        ({"game": "othello", "options": []}, "options: must be an object"),
        ({"game": "nim", "options": {"misere": 1}}, "misere: must be true or false"),
    ],
)
def test_invalid_game_form_is_rejected(form: dict[str, Any], message: str) -> None:
    with pytest.raises(SetupError, match="^" + message):
        parse_setup(form, OFFERS)


def test_offered_engines_and_evaluations_are_chosen_by_name() -> None:
    setup = parse_setup({"opponent": "Fish", "evaluation": "mine", "side": "second"}, OFFERS)
    assert (setup.opponent, setup.evaluation, setup.side) == ("Fish", "mine", 1)
    assert setup.opponent_name == "Fish (mine)"
    choices = form_choices(OFFERS)
    assert choices["evaluations"] == ["mine"]
    assert "/home/me" not in str(choices)
    assert "stockfish" not in str(choices)


def test_built_in_evaluations_are_listed_with_default_first() -> None:
    own = form_choices(OFFERS)["own_evaluations"]
    assert (own["chess"][0], own["othello"]) == (DEFAULT, ("handcrafted",))
    script = (STATIC / "start.js").read_text("utf-8")
    for name in own["chess"]:
        setup = parse_setup({"evaluation": name}, OFFERS)
        assert setup.opponent_name == ("Kempelen" if name == DEFAULT else f"Kempelen ({name})")
        assert f"{name}: say(" in script
    assert parse_setup({}, OFFERS).evaluation == DEFAULT
    assert parse_setup({"game": "othello"}, OFFERS).opponent_name == "Kempelen"
    assert GameSetup(game="othello").opponent_name == GameSetup().opponent_name == "Kempelen"
    with pytest.raises(SetupError, match="evaluation: invalid value"):
        parse_setup({"game": "othello", "evaluation": DEFAULT}, OFFERS)


def test_missing_options_use_defaults() -> None:
    setup = parse_setup({"game": "go", "options": {"komi": None, "size": None}}, OFFERS)
    board = initial_game(setup)
    assert board.view()["komi"] == initial_game(GameSetup(game="go")).view()["komi"]
    assert len(board.view()["rows"]) == setup.options["size"] > 2


def test_go_supports_rectangular_board() -> None:
    setup = parse_setup({"game": "go", "options": {"size": "4x6"}, "handicap": 2}, OFFERS)
    board = initial_game(setup)
    assert {len(row) for row in board.view()["rows"]} == {4}
    assert len(board.view()["rows"]) == 6
    board.play("D6")
    again = replay_game(setup, board.moves)
    assert again.view()["rows"][0] == [".", ".", ".", "O"]
    assert parse_setup({"game": "go", "options": {"size": "9x9"}}, OFFERS).options["size"] == 9


def test_too_many_handicap_stones_are_rejected() -> None:
    with pytest.raises(ValueError, match="9 stones do not fit on a board of size 2x3"):
        initial_game(parse_setup({"game": "go", "options": {"size": "2x3"}, "handicap": 9}, OFFERS))


def test_levels_are_in_ascending_order() -> None:
    elos = [elo for elo in LEVELS.values() if elo is not None]
    assert elos == sorted(elos)
    assert list(LEVELS.values())[-1] is None
    indices = list(LEVELS_OF_GAMES.values())
    assert indices == [*range(len(GAME_LEVELS)), None]
    assert LEVELS_OF_GAMES.keys() <= LEVELS.keys()


@pytest.mark.parametrize("level", [-1, len(GAME_LEVELS), "casual"])
def test_unknown_level_of_go_is_rejected(level: Any) -> None:
    with pytest.raises(ValueError, match="level"):
        parse_setup({"game": "go", "level": level}, OFFERS)


def test_chess960_start_position_varies() -> None:
    starts = {parse_setup({"chess960": True}, OFFERS).fen for _ in range(8)}
    assert len(starts) > 1


@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_variant_of_chess_is_played_from_its_start(variant: str) -> None:
    setup = parse_setup({"variant": variant}, OFFERS)
    board = initial_game(setup)
    assert isinstance(board, ChessGame)
    assert board.view()["fen"] == board_class(variant).starting_fen
    for _ in range(8):
        board.play(board.legal_moves()[-1])
    assert replay_game(setup, board.moves).view() == board.view()


def test_squares_of_last_drop_are_marked() -> None:
    board = ChessGame(GameSetup(variant="crazyhouse", fen="4k3/8/8/8/8/8/8/4K3[N] w - - 0 1"))
    board.play("N@f3")
    assert board.view()["last"] == ["f3", "f3"]


def test_unknown_variant_is_rejected() -> None:
    with pytest.raises(SetupError, match=r"variant: unknown 'losers' \(expected one of: chess"):
        parse_setup({"variant": "losers"}, OFFERS)


@pytest.mark.parametrize(
    ("alias", "variant"),
    [("koth", "kingofthehill"), ("King of the Hill", "kingofthehill"), ("Three-check", "3check")],
)
def test_variant_is_known_by_its_aliases(alias: str, variant: str) -> None:
    assert parse_setup({"variant": alias}, OFFERS).variant == variant


@pytest.mark.parametrize(
    "game", [name for name in playable_games(SiteResources()) if name != "chess"]
)
def test_every_game_is_replayed_from_its_record(game: str) -> None:
    """Chance events are part of the record."""
    setup = parse_setup({"game": game}, SiteResources())
    board = initial_game(setup)
    for ply in range(12):
        legal = board.legal_moves()
        if not legal:
            break
        board.play(legal[7 * ply % len(legal)])
    again = replay_game(setup, board.moves)
    assert again.view() == board.view()
    assert again.movers == board.movers
    assert again.mover == board.mover
    while board.moves:
        board.undo()
    assert board.view()["position" if "position" in board.view() else "rows"]


@pytest.mark.parametrize("game", ["othello", "tic-tac-toe", "checkers", "connect-four"])
def test_every_grid_game_move_has_unique_cell_path(game: str) -> None:
    board = initial_game(parse_setup({"game": game}, SiteResources()))
    for ply in range(20):
        view = board.view()
        assert view["kind"] == "grid"
        paths = [str(move["path"]) for move in view["legal"] if move["text"] != "pass"]
        assert all(path != "[]" for path in paths)
        assert len(set(paths)) == len(paths)
        for move in view["legal"]:
            for row, column in move["path"]:
                assert view["rows"][row][column]
        legal = board.legal_moves()
        if not legal:
            break
        board.play(legal[5 * ply % len(legal)])


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_form_choices_have_translations(language: str) -> None:
    offered = form_choices(SiteResources())
    named = {
        "game": offered["games"],
        "option": {option for options in offered["games"].values() for option in options},
        "level": offered["levels"] | offered["levels_of_games"],
        "rules": offered["rules"],
    }
    wanted = {f"{kind} {name}" for kind, names in named.items() for name in names}
    assert wanted <= page_words("play", language).keys()


def test_grid_is_parsed_only_from_board_text() -> None:
    assert parse_grid(str(catalogue.new_game("backgammon"))) == []
    assert parse_grid("0:0, player 0 has 0") == []
    assert parse_grid(". X\nO .\n1 2") == [".X", "O."]
    assert parse_grid("a |\nb |\nc |") == []  # Nim with one counter per heap
    for board in ("a . X\nb O .", "3 . X\n2 O .\n1 . .\n  a b", "B . X\nA O ."):
        assert parse_grid(board)[0].startswith(".X")
    assert parse_grid("1 .\n2 .") == ["1.", "2."]
