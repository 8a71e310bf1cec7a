import chess
import pytest

from agent.agent import AgentError
from agent.chess.engine.learning import ChessLearningAdapter
from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import LearnedMoveDatabase
from agent.learning.position_learner import PositionLearner
from agent.learning.position_learning_searcher import DEPTH_MARGIN, PositionLearningSearcher
from agent.limits import Cp, Info, Limits, Mate

LIMITS = Limits(nodes=1000)


class Scripted:
    """A search with fixed scores of moves."""

    def __init__(self, scores, depths=4):
        self.scores = {chess.Move.from_uci(move): score for move, score in scores.items()}
        self.depths = depths
        self.asked = []

    def search(self, position, limits, lines=1):
        self.asked.append(limits)
        moves = limits.search_moves or list(position.legal_moves)
        known = {move: self.scores.get(move, -500) for move in moves}
        best = max(known, key=known.get)
        for depth in range(1, self.depths + 1):
            score = known[best]
            yield Info(depth, score if isinstance(score, Mate) else Cp(score), (best,), nodes=depth)


def experience(*lessons):
    made = PositionLearner(ChessLearningAdapter())
    made.enable()
    made._merge(list(lessons))
    return made


def lesson(board, move, predicted, found, depth=8):
    notation = ChessLearningAdapter()
    after = notation.key_after(board, chess.Move.from_uci(move))
    return LearnedMove(notation.game, board.epd(), move, after, "", predicted, found, depth)


def answer(searcher, board, limits=LIMITS):
    info = list(searcher.search(board, limits))[-1]
    return info.pv[0].uci(), getattr(info.score, "value", info.score)


def test_search_is_unchanged_without_lessons():
    scripted = Scripted({"e2e4": 30})
    assert answer(PositionLearningSearcher(scripted, experience()), chess.Board()) == ("e2e4", 30)
    assert scripted.asked == [LIMITS]


@pytest.mark.parametrize(
    ("found", "expected"),
    [(-100, ("d2d4", 20)), (25, ("e2e4", 25)), (-900, ("d2d4", 20))],
)
def test_known_move_gets_its_learned_score(found, expected):
    board = chess.Board()
    scripted = Scripted({"e2e4": 30, "d2d4": 20})
    learning = PositionLearningSearcher(scripted, experience(lesson(board, "e2e4", 30, found)))
    assert answer(learning, board) == expected
    assert chess.Move.from_uci("e2e4") not in scripted.asked[0].search_moves


def test_search_runs_if_all_moves_are_known():
    board = chess.Board("k7/8/1K6/8/8/8/8/1R6 b - - 0 1")
    (only,) = board.legal_moves
    scripted = Scripted({only.uci(): -50})
    learning = PositionLearningSearcher(scripted, experience(lesson(board, only.uci(), 0, -80)))
    assert answer(learning, board) == (only.uci(), -50)


def test_deeper_search_overrides_lesson():
    board = chess.Board()
    scripted = Scripted({"e2e4": 30, "d2d4": 20}, depths=3 + DEPTH_MARGIN)
    learning = PositionLearningSearcher(
        scripted, experience(lesson(board, "e2e4", 30, -100, depth=2))
    )
    infos = list(learning.search(board, LIMITS))
    assert [info.depth for info in infos] == list(range(1, 4 + DEPTH_MARGIN))  # each depth once
    assert infos[0].pv[0].uci() == "d2d4"
    assert scripted.asked[1].search_moves == ()
    assert scripted.asked[1].nodes == LIMITS.nodes - (3 + DEPTH_MARGIN)
    # A search that ends right after that has no new result.
    scripted.depths = 3 + DEPTH_MARGIN
    assert list(learning.search(board, LIMITS))[-1].pv[0].uci() == "d2d4"
    scripted.depths = 5 + DEPTH_MARGIN
    assert answer(learning, board) == ("e2e4", 30)


@pytest.mark.parametrize(
    "limits",
    [Limits(infinite=True), Limits(mate=2), Limits(search_moves=(chess.Move.from_uci("a2a3"),))],
)
def test_analysis_ignores_lessons(limits):
    board = chess.Board()
    made = experience(lesson(board, "e2e4", 30, -100))
    scripted = Scripted({"e2e4": 30})
    list(PositionLearningSearcher(scripted, made).search(board, limits))
    assert scripted.asked == [limits]
    assert not made._predictions


def play(learning, board, ours, theirs):
    (*_,) = learning.search(board.copy(), LIMITS)
    board.push_uci(ours)
    board.push_uci(theirs)


def test_a_surprise_is_learned_at_the_next_move(tmp_path):
    scripted = Scripted({"e2e4": 30, "d2d4": 20})
    made = PositionLearner(ChessLearningAdapter())
    made.open_file(str(tmp_path / "file"))
    learning, board = PositionLearningSearcher(scripted, made), chess.Board()
    start = board.epd()
    play(learning, board, "e2e4", "e7e5")
    scripted.scores = {chess.Move.from_uci("d2d4"): -90}
    play(learning, board, "d2d4", "a7a6")
    (found,) = made.pop_surprises()
    assert (found.position, found.move, found.reply) == (start, "e2e4", "e7e5")
    assert (found.predicted, found.found, found.depth) == (30, -90, 6)
    made.flush()
    assert LearnedMoveDatabase(tmp_path / "file").read_all() == [found]
    scripted.scores = {}
    list(learning.search(board.copy(), LIMITS))
    assert len(made.pop_surprises()) == 1  # -500 is another surprise


def test_missed_ponder_search_teaches_nothing():
    hits = []
    scripted = Scripted({"e2e4": 30})
    made = experience()
    learning = PositionLearningSearcher(scripted, made, lambda: bool(hits))
    board = chess.Board()
    hits.append(1)
    play(learning, board, "e2e4", "e7e5")
    guessed = board.copy()
    hits.clear()
    list(learning.search(guessed, LIMITS))  # -500, but the position was only predicted
    made.record_result(lambda board: 0.03)
    assert not made.pop_surprises()
    learning, board = PositionLearningSearcher(scripted, made, lambda: bool(hits)), chess.Board()
    hits.append(1)
    play(learning, board, "e2e4", "e7e5")
    hits.clear()
    scripted.scores = {chess.Move.from_uci("g1f3"): -400}
    play(learning, board, "g1f3", "b8c6")  # a ponder hit
    assert not made.pop_surprises()
    hits.append(1)
    list(learning.search(board, LIMITS))
    assert [each.move for each in made.pop_surprises()] == ["e2e4", "g1f3"]


def test_game_result_is_learned():
    scripted, made = Scripted({"e2e4": 30}), experience()
    play(PositionLearningSearcher(scripted, made), chess.Board(), "e2e4", "e7e5")
    made.record_result(lambda board: -1 if board.turn else 1)
    (found,) = made.pop_surprises()
    assert (found.move, found.found, found.reply) == ("e2e4", -1000, "")
    made.record_result(lambda board: 1)
    assert not made.pop_surprises()


def test_reply_is_found_without_move_history():
    notation, board = ChessLearningAdapter(), chess.Board()
    move = chess.Move.from_uci("e2e4")
    later = chess.Board("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    assert notation.find_reply(board, move, later) == "c7c5"
    assert notation.find_reply(board, chess.Move.from_uci("d2d4"), later) is None


def test_unwritten_lessons_are_kept_until_saved(tmp_path):
    reports = []
    made = PositionLearner(ChessLearningAdapter(), reports.append)
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    made.open_file(str(path))
    board = chess.Board()
    made.record_search(board, Info(5, Cp(0), (chess.Move.from_uci("e2e4"),)))
    path.parent.rename(tmp_path / "away")
    made.record_result(lambda board: -1)
    made.flush()
    made.flush()
    (told,) = (text for text in reports if "folder must be writable" in text)
    assert told.endswith("learned moves are kept in memory until the next attempt")
    with pytest.raises(AgentError, match="the experience file was not changed"):
        made.open_file("")
    assert made.active
    (tmp_path / "away").rename(path.parent)
    made.close()
    assert len(LearnedMoveDatabase(path).read_all()) == 1
    with pytest.raises(AgentError, match="folder does not exist"):
        made.open_file(str(tmp_path / "none" / "file"))
    assert made.active


def test_taken_back_moves_do_not_learn_from_the_result():
    scripted, made = Scripted({"e2e4": 30, "d2d4": 20}), experience()
    learning, board = PositionLearningSearcher(scripted, made), chess.Board()
    play(learning, board, "e2e4", "e7e5")
    play(learning, board, "d2d4", "d7d5")
    board = chess.Board()
    scripted.scores = {chess.Move.from_uci("c2c4"): 30}
    play(learning, board, "c2c4", "e7e5")
    made.pop_surprises()
    made.record_result(lambda board: -1)
    assert [each.move for each in made.pop_surprises()] == ["c2c4"]
