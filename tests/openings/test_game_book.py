"""Opening books and solved values of small games."""

from random import Random

import pytest

from agent.game import parse_move
from agent.games import catalogue
from agent.limits import Limits
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.transposition_table import TranspositionTable
from openings.book_common import BookError
from openings.game_book import FOLDER, GameBookProvider, SolvedProvider, move_providers, read
from tests.support import played

IN_GAME = Limits(movetime=1.0)


def book(name):
    return read(FOLDER / f"{name}.yaml", catalogue.new_game(name))


def texts(name, game):
    return {game.text(entry.move): entry.weight for entry in book(name).moves(game)}


def positions(name, plies):
    """Yield the positions after at most `plies` moves."""
    game = catalogue.new_game(name)

    def below(left):
        yield game
        for move in list(game.moves()) if left else ():
            game.play(move)
            yield from below(left - 1)
            game.undo()

    return below(plies)


def test_tic_tac_toe_book_prefers_corners():
    assert texts("tic-tac-toe", played("tic-tac-toe")) == dict.fromkeys(
        ("a3", "c3", "a1", "c1"), 20
    ) | {"b2": 10} | dict.fromkeys(("b3", "a2", "c2", "b1"), 1)
    assert texts("tic-tac-toe", played("tic-tac-toe", "c1")) == {"b2": 20}


def test_tic_tac_toe_book_moves_are_optimal():
    known = book("tic-tac-toe")
    solver = AlphaBeta(lambda game: 0, AlphaBetaOptions(table=TranspositionTable()))
    asked = 0
    for game in positions("tic-tac-toe", 3):
        value = solver.search(game, 9).value
        for entry in known.moves(game):
            asked += 1
            game.play(entry.move)
            assert -solver.search(game, 9).value == value
            game.undo()
    assert asked > 80


def test_tic_tac_toe_book_omits_losing_moves():
    solver = AlphaBeta(lambda game: 0, AlphaBetaOptions(table=TranspositionTable()))
    for moves in (("a3", "b3"), ("a3", "a1"), ("a3", "c1"), ("a3", "c2"), ("b2", "b3")):
        assert solver.search(played("tic-tac-toe", *moves), 9).value == 1, moves
        assert moves[-1] not in texts("tic-tac-toe", played("tic-tac-toe", *moves[:-1]))


def test_connect_four_book_starts_in_center():
    game = played("connect-four")
    for _ in range(5):
        assert texts("connect-four", game) == {"4": 10}
        game.play(parse_move(game, "4"))
    assert texts("connect-four", game) == {}


def test_mirror_images_share_symmetric_key():
    left, right = played("connect-four", "1", "2"), played("connect-four", "7", "6")
    assert left.key() != right.key()
    assert left.symmetric_key() == right.symmetric_key()
    assert left.symmetric_key() != played("connect-four", "1", "3").symmetric_key()


def test_book_is_used_only_in_timed_games():
    provider = GameBookProvider(book("tic-tac-toe"))
    game = played("tic-tac-toe", "c1")
    assert game.text(provider.probe(game, IN_GAME, 1).pv[0]) == "b2"
    assert game.key() == played("tic-tac-toe", "c1").key()
    assert provider.probe(game, Limits(depth=3), 1) is None
    assert provider.probe(game, IN_GAME, 2) is None
    assert provider.probe(played("tic-tac-toe", "b2", "a3", "c1", "a1"), IN_GAME, 1) is None


def test_moves_are_chosen_by_weight():
    game = played("tic-tac-toe")
    provider = GameBookProvider(book("tic-tac-toe"), Random(1))
    found = [provider.probe(game, IN_GAME, 1).pv[0] for _ in range(300)]
    assert 0 < sum(move in {1, 3, 5, 7} for move in found) < 30


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nim", {"heaps": (1, 2, 3)}),
        ("nim", {"heaps": (3, 2, 2)}),
        ("nim", {"heaps": (2, 2), "misere": True}),
        ("nim", {"heaps": (1, 1, 1, 2), "misere": True}),
        ("grundy", {"counters": 12}),
        ("grundy", {"counters": 10}),
    ],
)
def test_solved_games_are_played_perfectly(name, options):
    kind = catalogue.find(name)
    game = kind.new(**options)
    (provider,) = move_providers(kind, game)
    assert isinstance(provider, SolvedProvider)
    solver = AlphaBeta(lambda game: 0, AlphaBetaOptions(table=TranspositionTable()))
    value = solver.search(game, 99).value
    assert kind.exact_value(game) == value
    winner = 0 if value > 0 else 1

    def below():
        if game.outcome() is not None:
            assert game.outcome() == (1 if winner == 0 else -1)
            return
        if game.turn == winner:
            moves = provider.probe(game, Limits(depth=1), 1).pv
        else:
            moves = list(game.moves())
        for move in moves:
            game.play(move)
            below()
            game.undo()

    below()


def test_other_board_sizes_have_no_book():
    kind = catalogue.find("tic-tac-toe")
    assert len(move_providers(kind, kind.new())) == 1
    assert move_providers(kind, kind.new(size=4)) == []
    assert move_providers(catalogue.find("othello"), catalogue.new_game("othello")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moves: a3", "expected a list of lines"),
        ("- a3", "expected a line with moves"),
        ("- {moves: a4}", "illegal move 'a4'"),
        ("- {moves: a3 a3}", "illegal move 'a3'"),
        ("- {moves: a3, wait: 1}", "unknown key 'wait'"),
        ("- {moves: a3, weight: 0}", "weight of 'a3' must be from 1 to"),
        ("- {moves: a3, lines: [{moves: a3}]}", "illegal move 'a3'"),
        ("- {moves: [", "invalid YAML"),
    ],
)
def test_invalid_book_is_rejected(tmp_path, text, message):
    file = tmp_path / "book.yaml"
    file.write_text(text)
    game = catalogue.new_game("tic-tac-toe")
    with pytest.raises(BookError, match=rf"book\.yaml.*{message}"):
        read(file, game)
    assert game.key() == (0, 0)
