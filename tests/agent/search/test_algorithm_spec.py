"""Textual specifications of algorithms."""

from dataclasses import dataclass
from typing import Literal

import pytest

from agent.game import parse_move
from agent.games.checkers import Checkers
from agent.games.connect_four import ConnectFour
from agent.games.nim import Nim
from agent.games.pig import Pig
from agent.search import algorithm_spec
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.algorithms.mcts import UCT
from agent.search.catalogue import algorithms
from agent.search.search import SearchOptions


def nothing(game):
    return 0


@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_can_be_configured_and_searches(name):
    search = algorithm_spec.parse(name).new(Nim((1, 2)), nothing, seed=1)
    assert type(search) is algorithms()[name]
    assert search.search(Nim((1, 2)), 5).move is not None


def test_reads_options_of_an_algorithm():
    search = algorithm_spec.parse(" mcts+playouts=70+final=mean+solver ").new(
        Nim(), nothing, seed=1
    )
    assert isinstance(search, UCT)
    assert (search.playouts, search.final, search.solver) == (70, "mean", True)
    assert algorithm_spec.parse("null-move+reduction=3").new(Nim(), nothing).reduction == 3


@pytest.mark.parametrize(
    ("text", "entries"), [("table", None), ("table=10", 10), ("table=false", 0), ("killers", 0)]
)
def test_table_option_sets_the_number_of_entries(text, entries):
    search = algorithm_spec.parse(f"alpha-beta+{text}").new(ConnectFour(), nothing)
    search.search(ConnectFour(), 4)
    if entries == 0:
        assert search.table is None
    else:
        assert entries is None or len(search.table) <= entries
        assert len(search.table) > 0


def test_beyond_option_extends_leaves_with_forced_moves():
    game = Checkers()
    game.play(parse_move(game, "11-15"))
    depths = []
    for text in ("alpha-beta", "alpha-beta+beyond=3"):
        search = algorithm_spec.parse(text).new(game, nothing)
        search.search(game, 1)
        depths.append(search.counts.seldepth)
    assert depths == [1, 4]  # 22-18 offers a man


def test_only_expectiminimax_and_uct_play_games_of_chance():
    assert not algorithm_spec.parse("alpha-beta").supports(Pig())
    assert algorithm_spec.parse("expectiminimax").supports(Pig())
    assert algorithm_spec.parse("uct+solver").supports(Pig())
    with pytest.raises(
        ValueError, match=r"pvs\+killers: games of chance .* .use expectiminimax or uct"
    ):
        algorithm_spec.parse("pvs+killers").new(Pig(), nothing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("patterns", "Nim has no patterns"),
        ("beyond=2", "Nim does not define forced positions .use swing=VALUE"),
        ("continuation", "Nim does not support continuation .use swing=VALUE"),
    ],
)
def test_rejects_options_the_game_does_not_support(text, message):
    with pytest.raises(ValueError, match=message):
        algorithm_spec.parse(f"pvs+{text}").new(Nim(), nothing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alphabeta", "unknown algorithm 'alphabeta' .expected one of: alpha-beta"),
        ("minimax+table", "minimax: unknown option 'table' .expected one of: ratings"),
        ("minimax+beyond=2", "minimax: unknown option 'beyond'"),
        ("pvs+table=none", "table must be a number of entries, or have no value"),
        ("pvs+killers=2", "killers must be true or false, or have no value"),
        ("pvs+preliminary=0", "preliminary must be a positive number of plies"),
        ("mcts+playouts=1.5", "playouts must be an integer"),
        ("mcts+final=best", "final must be one of visits, mean, ucb"),
        ("alpha-beta+table=[", r"alpha-beta\+table=\[: invalid value of table: .*line 1"),
        ("alpha-beta+table=.inf", "table must be a number of entries, or have no value"),
        ("alpha-beta+table=.nan", "table must be a number of entries, or have no value"),
        ("pvs+beyond=.inf", "beyond must be a positive number of plies"),
        ("null-move+reduction=.inf", "reduction must be an integer"),
    ],
)
def test_rejects_unknown_algorithms_and_invalid_options(text, message):
    with pytest.raises(ValueError, match=message):
        algorithm_spec.parse(text)


def test_constructor_rejects_options_of_another_algorithm():
    with pytest.raises(TypeError, match=r"options must be AlphaBetaOptions .got SearchOptions"):
        AlphaBeta(nothing, SearchOptions(node_limit=5))
    with pytest.raises(TypeError, match=r"minimax: options must be SearchOptions .got AlphaBeta"):
        algorithms()["minimax"](nothing, AlphaBetaOptions(continuation=True))


def test_options_of_a_new_algorithm_come_from_its_class():
    @dataclass(frozen=True, kw_only=True)
    class ReversedOptions(AlphaBetaOptions):
        order: Literal["first", "last"] = "last"

    class Reversed(AlphaBeta):
        name = "reversed"
        options = ReversedOptions

        def __init__(self, evaluate, options):
            super().__init__(evaluate, options)
            self.order = options.order

    written = algorithm_spec.AlgorithmSpec("reversed", Reversed, {"order": "first", "table": 9})
    search = written.new(Nim((1, 2)), nothing)
    assert (search.order, search.table is not None) == ("first", True)
    assert written.supported_options({"order": 1, "reduction": 2}) == {"order": 1}
