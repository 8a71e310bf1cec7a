"""Games by name or from a file, and their evaluations."""

from importlib import metadata
from pathlib import Path

import pytest

from agent.clock import SearchClock
from agent.evaluation import EvaluationError
from agent.evaluation_loading import load_game_evaluation
from agent.game import parse_move
from agent.games import catalogue
from agent.games.catalogue import GameError
from agent.limits import Limits
from agent.search.backend import GameBackend
from agent.search.catalogue import algorithm
from agent.search.searcher import GameSearcher
from agent.threads.one_shot_event import OneShotEvent

CHOMP = f"{Path(__file__).parents[2] / 'data' / 'games' / 'chomp.py'}:Chomp"


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a user's file and returns its path."""

    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_plays_a_game_loaded_from_a_file():
    game = catalogue.new_game(CHOMP, width=3)
    for text in ("c1", "b2", "a3", "b1", "A2", "a1"):
        game.play(parse_move(game, text))
    assert game.outcome() == 1
    for _ in range(6):
        game.undo()
    assert str(game) == "###\n###\n###"


@pytest.mark.parametrize("name", ["alpha-beta", "sss-star", "mtd-f", "and-or"])
def test_solves_a_game_loaded_from_a_file(name):
    """The first player wins, by strategy stealing: its first bite could be the corner."""
    game_type = catalogue.find(CHOMP)
    game = game_type.new()
    found = algorithm(name)(game_type.evaluate).search(game, 12)
    assert found.value == 1
    game.play(found.move)
    assert algorithm(name)(game_type.evaluate).search(game, 11).value == -1


def test_loads_a_game_from_a_module(file, monkeypatch):
    path = file(Path(CHOMP.rpartition(":")[0]).read_text(), "chomp_module.py")
    monkeypatch.syspath_prepend(path.parent)
    assert len(list(catalogue.new_game("chomp_module:Chomp").moves())) == 12


def test_installed_game_is_found_by_its_entry_point(monkeypatch):
    entry = metadata.EntryPoint("chomp", CHOMP, catalogue.ENTRY_POINTS)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    assert "chomp" in catalogue.names()
    assert "chomp" not in catalogue.builtin_names()
    assert catalogue.new_game("chomp", height=1).bars == [(4,)]


def test_module_level_evaluate_is_the_games_evaluation(file):
    text = Path(CHOMP.rpartition(":")[0]).read_text()
    path = file(f"{text}\n\ndef evaluate(game):\n    return sum(game.bars[-1]) / 100\n")
    game_type = catalogue.find(f"{path}:Chomp")
    assert game_type.evaluate(game_type.new()) == 0.12
    assert catalogue.evaluation(CHOMP)(game_type.new()) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "def evaluate(game): return game.none",
            r"evaluate failed: AttributeError: .*mine.py, line \d+\)",
        ),
        ("def evaluate(game): pass", r"mine.py:evaluate failed: .* NoneType .must be a number"),
        ("def evaluate(game): return float('nan')", "evaluate returned nan .must be finite"),
    ],
)
def test_errors_of_a_games_own_evaluation_are_reported(file, text, message):
    path = file(f"{Path(CHOMP.rpartition(':')[0]).read_text()}\n\n{text}\n")
    game_type = catalogue.find(f"{path}:Chomp")
    with pytest.raises(EvaluationError, match=message):
        game_type.evaluate(game_type.new())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def evaluate(batch): return 0", "must take one position and have no decorator"),
        (
            "from agent.evaluation import evaluator\n@evaluator\ndef evaluate(w, p): return 0",
            "must take one position and have no decorator",
        ),
        ("def evaluate(): return 0", "evaluate: wrong arguments"),
    ],
)
def test_rejects_own_evaluations_of_an_unsupported_kind(file, text, message):
    path = file(f"{Path(CHOMP.rpartition(':')[0]).read_text()}\n\n{text}\n")
    with pytest.raises(GameError, match=message):
        catalogue.find(f"{path}:Chomp")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("def text(self, move): return 7", r"text\(\) must return a str .got int"),
        ("def key(self): return [1]", r"key\(\) must be hashable, such as a tuple .got list"),
        ("def moves(self): return [[0, 1]]", "a move must be hashable, such as a tuple .got list"),
        ("def moves(self): return []", r"moves\(\) returned no moves although outcome\(\) is None"),
        ("turn = 3", "turn must be 0 .first player., 1 or .* not 3"),
        ("def outcome(self): return 1 / 0", r"ZeroDivisionError: .*mine.py, line \d+"),
    ],
)
def test_invalid_game_class_is_reported_at_creation(file, method, message):
    text = Path(CHOMP.rpartition(":")[0]).read_text()
    path = file(f"{text}\n\nclass Mine(Chomp):\n    {method}\n")
    with pytest.raises(GameError, match=rf"game .*mine.py:Mine: {message}"):
        catalogue.new_game(f"{path}:Mine")


SCALED = "def evaluate(game): return 30.0\nevaluate.outcome_scale = {}\n"


def test_scale_of_users_evaluations_sets_expected_outcome(file):
    """Half a win is expected at the scale, with a game's own evaluation and with another one."""
    game = Path(CHOMP.rpartition(":")[0]).read_text()
    own = catalogue.find(f"{file(game + SCALED.format(30))}:Chomp")
    other = load_game_evaluation(own, f"{file(SCALED.format(90), 'other.py')}:evaluate")
    for evaluate, expected in [(own.evaluate, 0.5), (other, 0.25)]:
        backend = GameBackend(
            lambda evaluate: GameSearcher(algorithm("alpha-beta")(evaluate)),
            own.evaluate,
            ("user", evaluate),
            print,
        )
        searcher = backend.get_searcher(SearchClock(Limits(depth=1)), OneShotEvent())
        (info,) = searcher.search(own.new(), Limits(depth=1))
        assert abs(info.expected_outcome) == expected


@pytest.mark.parametrize("scale", ["0", "-1", "float('nan')", "'30'", "True"])
def test_invalid_scale_is_reported(file, scale):
    path = file(SCALED.format(scale), "scaled.py")
    with pytest.raises(EvaluationError, match="outcome_scale must be a positive number"):
        load_game_evaluation(catalogue.find(CHOMP), f"{path}:evaluate")
    game = file(Path(CHOMP.rpartition(":")[0]).read_text() + SCALED.format(scale), "game.py")
    with pytest.raises(GameError, match="outcome_scale must be a positive number"):
        catalogue.find(f"{game}:Chomp")


def test_user_evaluation_gets_the_game_object(file):
    path = file("def left(game):\n    return game.mobility(0) - 1\n")
    evaluate = load_game_evaluation(catalogue.find("othello"), f"{path}:left")
    assert evaluate(catalogue.new_game("othello")) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(game): return game.none", r"f failed: AttributeError: .*mine\.py, line 1"),
        ("def f(game): return float('nan')", r"mine\.py:f returned nan .must be finite"),
        ("def f(game): return -float('inf')", r"mine\.py:f returned -inf .must be finite"),
        ("def f(game): return 'much'", "f failed: TypeError"),
        ("from agent.evaluation import evaluator\n@evaluator\ndef f(w, p): return 0", "compiled"),
        ("def g(game): return 0", "unknown function 'f' .defined: g"),
    ],
)
def test_invalid_user_evaluation_is_reported(file, text, message):
    path = file(text)
    with pytest.raises(EvaluationError, match=message):
        load_game_evaluation(catalogue.find("nim"), f"{path}:f")(catalogue.new_game("nim"))


@pytest.mark.parametrize(
    ("text", "spec", "message"),
    [
        ("", "othelo", "unknown game 'othelo' .expected one of: .*othello"),
        ("", "{file}", r"unknown game .*; for a class of a file write .*mine\.py:Class"),
        ("", "{file}:Chomp", "unknown class 'Chomp' .expected one of: none"),
        ("class Go:\n    pass", "{file}:Chess", "unknown class 'Chess' .expected one of: Go"),
        ("class Go:\n    pass", "{file}:Go", "Go is not a game .missing: turn, moves, play"),
        ("1 / 0", "{file}:Go", r"mine\.py failed: ZeroDivisionError: .*mine\.py, line 1"),
        ("", "none.py:Go", r"game file .*none\.py does not exist"),
        ("", "no_such_module:Go", "game module no_such_module failed: ModuleNotFoundError"),
        ("", "{file}:1", "invalid name .expected 'module:name' or 'FILE.py:name'"),
    ],
)
def test_game_that_cannot_be_loaded_is_reported(file, text, spec, message):
    with pytest.raises(GameError, match=message):
        catalogue.new_game(spec.format(file=file(text)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": 3}, "got an unexpected keyword argument 'colour' .options: size"),
        ({"size": 3}, "game othello: board size must be even and at least 4 .got 3"),
        ({"size": "6"}, "game othello: TypeError"),
    ],
)
def test_invalid_game_option_is_reported(options, message):
    with pytest.raises(GameError, match=message):
        catalogue.new_game("othello", **options)
