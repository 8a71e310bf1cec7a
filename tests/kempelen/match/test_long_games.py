"""Reviews of long games: each position continues the one before. Too long games are rejected."""

import chess
import pytest

from agent.games.go import Go
from kempelen.console.settings_codec import SettingsError
from kempelen.match.review import chess_review, go_review
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import PositionEval
from kempelen.web.analyse.game_analysis import MAX_MOVES as MAX_PAGE_MOVES
from kempelen.web.analyse.game_analysis import AnalysisError, load_games
from protocols.katago_analysis.query import MAX_MOVES
from protocols.uci.position import MAX_GAME_PLIES

SHUFFLE = "Nf3 Nf6 Ng1 Ng8 "


def pgn(plies: int) -> str:
    moves = (SHUFFLE * (plies // 4 + 1)).split()[:plies]
    return f'[White "A"]\n\n{" ".join(moves)} *\n\n'


def sgf(moves: int) -> str:
    return f"(;GM[1]SZ[5]{';B[];W[]' * (moves // 2)}{';B[]' * (moves % 2)})"


@pytest.fixture
def pushes(monkeypatch: pytest.MonkeyPatch) -> list[chess.Move]:
    """The moves that are played on any board."""
    played = []
    push = chess.Board.push

    def count(board: chess.Board, move: chess.Move) -> None:
        played.append(move)
        push(board, move)

    monkeypatch.setattr(chess.Board, "push", count)
    return played


def test_too_long_go_game_is_rejected() -> None:
    (game,) = go_review.parse_sgf(sgf(MAX_MOVES), "x.sgf")
    assert len(game.moves) == MAX_MOVES
    with pytest.raises(SettingsError, match=r"x\.sgf: game 1, game too long \(at most 2000 moves"):
        go_review.parse_sgf(sgf(MAX_MOVES + 1), "x.sgf")


def test_reading_ends_at_the_first_move_too_many(pushes: list[chess.Move]) -> None:
    with pytest.raises(SettingsError, match=r"x: game 1, game too long \(at most 10 moves\)"):
        chess_review.parse_pgn(pgn(1000), "x", max_plies=10)
    assert len(pushes) == 10
    assert MAX_GAME_PLIES > 17_000


def test_variations_do_not_count_as_moves() -> None:
    (game,) = chess_review.parse_pgn("1. e4 (1. d4 d5 2. c4 e6) e5 *", "x", max_plies=2)
    assert game.moves == ("e2e4", "e7e5")


@pytest.mark.parametrize("make", [pgn, sgf])
def test_page_rejects_too_long_game(make) -> None:
    with pytest.raises(AnalysisError, match=r"game too long \(at most 1000 moves\)"):
        load_games(make(MAX_PAGE_MOVES + 1))


def test_chess_positions_are_built_from_the_one_before(pushes: list[chess.Move]) -> None:
    (game,) = chess_review.parse_pgn(pgn(80), "x")
    known = AnalysisFile(None, "")
    pushes.clear()
    found = list(chess_review._positions([game], [game.missing(known)]))
    assert [ply for _, ply, _, _ in found] == list(range(81))
    assert len(pushes) < 80 * 17  # the check for repetitions takes back up to 16 plies
    over = [ply for _, ply, _, outcome in found if outcome is not None]
    assert over[0] == 16  # the start position for the fifth time


def test_annotation_plays_each_move_a_few_times(pushes: list[chess.Move]) -> None:
    """All moves are blunders with a better line."""
    (game,) = chess_review.parse_pgn(pgn(80), "x")
    known = AnalysisFile(None, "")
    lines = {0: "e2e4", 1: "e7e5"}
    for ply, key in enumerate(game.keys(known)):
        known.add(key, PositionEval(0.8, cp=0, line=(lines[ply % 2],)))
    pushes.clear()
    text = game.annotated(known, "X")
    assert text.count("e4") + text.count("e5") == 80
    assert len(pushes) < 80 * 10  # each is replayed for the notation, its variation and the text


def test_keys_identify_positions_with_their_history() -> None:
    known, other = AnalysisFile(None, "nodes 5"), AnalysisFile(None, "nodes 6")
    (game,) = chess_review.parse_pgn("1. Nf3 Nf6 2. Ng1 Ng8 *", "x")
    (transposed,) = chess_review.parse_pgn("1. Nf3 Nf6 2. e4 *", "x")
    keys = game.keys(known)
    assert len(set(keys)) == len(game.plies) == 5
    assert transposed.keys(known)[:3] == keys[:3]
    assert not set(transposed.keys(known)[3:]) & set(keys)
    assert not set(game.keys(other)) & set(keys)
    known.add(keys[2], PositionEval(0.5))
    assert game.missing(known) == {ply: key for ply, key in enumerate(keys) if ply != 2}


def test_keys_of_go_depend_on_players_and_rules() -> None:
    known = AnalysisFile(None, "")
    texts = ("B[aa];W[bb]", "B[aa];B[bb]", "W[aa];W[bb]", "B[aa]KM[1.5];W[bb]")
    keys = [go_review.parse_sgf(f"(;GM[1]SZ[5];{text})", "x")[0].keys(known) for text in texts]
    assert len({key[-1] for key in keys}) == 3  # komi after the first node is ignored
    assert keys[0] == keys[3]
    (other,) = go_review.parse_sgf("(;GM[1]SZ[5]KM[1.5];B[aa];W[bb])", "x")
    assert not set(other.keys(known)) & set(keys[0])


def test_go_positions_are_built_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query for all turns, with a game that ends by passes and goes on."""
    from protocols.katago_analysis.fields import FieldReader
    from protocols.katago_analysis.query import DEFAULTS, read_query
    from protocols.katago_analysis.visit_limited_backend import DEFAULT_SEARCH_SETTINGS
    from protocols.katago_analysis.workers import AnalysisWorker

    points = ["C3", "pass", "pass", "C4", "D3", "pass", "pass", "pass", "D5"]
    moves = [["BW"[ply % 2], point] for ply, point in enumerate(points)]
    fields = {"rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": moves}
    turns = list(range(len(moves) + 1))
    query, _ = read_query("x", FieldReader({**fields, "analyzeTurns": turns}), DEFAULTS)
    expected = [query.game(turn) for turn in turns]
    played = []
    play = Go.play_as

    def count(game: Go, player: int, move: int) -> None:
        played.append(move)
        play(game, player, move)

    monkeypatch.setattr(Go, "play_as", count)
    worker = AnalysisWorker(DEFAULT_SEARCH_SETTINGS, lambda answer: None, lambda text: None)
    try:
        for turn, game in zip(turns, expected, strict=True):
            found = worker._game(query, turn)
            assert found.key() == game.key()
            assert (found.turn, found.passes) == (game.turn, game.passes)
            assert not found.is_over()
        assert len(played) == len(moves)
        assert worker._game(query, 3).key() == expected[3].key()  # an earlier turn, again
    finally:
        worker.close(1.0)
