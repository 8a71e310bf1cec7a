import chess
import pytest

from agent.chess.experience import ChessNotation
from agent.experience.lesson import Lesson
from agent.experience.memory import Experience
from agent.experience.searcher import MARGIN, WarySearcher
from agent.experience.store import ExperienceFile
from agent.limits import Cp, Info, Limits, Mate
from agent.player import PlayerError

LIMITS = Limits(nodes=1000)


class Scripted:
    """A search that finds one move better than the other."""

    def __init__(self, scores, depths=4):
        self.scores = {chess.Move.from_uci(move): score for move, score in scores.items()}
        self.depths = depths
        self.asked = []

    def deepen(self, position, limits, lines=1):
        self.asked.append(limits)
        moves = limits.search_moves or list(position.legal_moves)
        known = {move: self.scores.get(move, -500) for move in moves}
        best = max(known, key=known.get)
        for depth in range(1, self.depths + 1):
            score = known[best]
            yield Info(depth, score if isinstance(score, Mate) else Cp(score), (best,), nodes=depth)


def experience(*lessons):
    made = Experience(ChessNotation())
    made.remember()
    made._take(list(lessons))
    return made


def lesson(board, move, predicted, found, depth=8):
    notation = ChessNotation()
    after = notation.after(board, chess.Move.from_uci(move))
    return Lesson(notation.game, board.epd(), move, after, "", predicted, found, depth)


def answer(searcher, board, limits=LIMITS):
    info = list(searcher.deepen(board, limits))[-1]
    return info.pv[0].uci(), getattr(info.score, "value", info.score)


def test_search_is_unchanged_without_lessons():
    scripted = Scripted({"e2e4": 30})
    assert answer(WarySearcher(scripted, experience()), chess.Board()) == ("e2e4", 30)
    assert scripted.asked == [LIMITS]


@pytest.mark.parametrize(
    ("found", "expected"),
    [(-100, ("d2d4", 20)), (25, ("e2e4", 25)), (-900, ("d2d4", 20))],
)
def test_known_move_gets_its_learned_score(found, expected):
    board = chess.Board()
    scripted = Scripted({"e2e4": 30, "d2d4": 20})
    wary = WarySearcher(scripted, experience(lesson(board, "e2e4", 30, found)))
    assert answer(wary, board) == expected
    assert chess.Move.from_uci("e2e4") not in scripted.asked[0].search_moves


def test_search_runs_if_all_moves_are_known():
    board = chess.Board("k7/8/1K6/8/8/8/8/1R6 b - - 0 1")
    (only,) = board.legal_moves
    scripted = Scripted({only.uci(): -50})
    wary = WarySearcher(scripted, experience(lesson(board, only.uci(), 0, -80)))
    assert answer(wary, board) == (only.uci(), -50)


def test_deeper_search_overrides_lesson():
    board = chess.Board()
    scripted = Scripted({"e2e4": 30, "d2d4": 20}, depths=3 + MARGIN)
    wary = WarySearcher(scripted, experience(lesson(board, "e2e4", 30, -100, depth=2)))
    infos = list(wary.deepen(board, LIMITS))
    assert [info.depth for info in infos] == list(range(1, 4 + MARGIN))  # each of them once
    assert infos[0].pv[0].uci() == "d2d4"
    assert scripted.asked[1].search_moves == ()
    assert scripted.asked[1].nodes == LIMITS.nodes - (3 + MARGIN)
    # A search that ends at once after that has nothing new to say.
    scripted.depths = 3 + MARGIN
    assert list(wary.deepen(board, LIMITS))[-1].pv[0].uci() == "d2d4"
    scripted.depths = 5 + MARGIN
    assert answer(wary, board) == ("e2e4", 30)


@pytest.mark.parametrize(
    "limits",
    [Limits(infinite=True), Limits(mate=2), Limits(search_moves=(chess.Move.from_uci("a2a3"),))],
)
def test_analysis_ignores_lessons(limits):
    board = chess.Board()
    made = experience(lesson(board, "e2e4", 30, -100))
    scripted = Scripted({"e2e4": 30})
    list(WarySearcher(scripted, made).deepen(board, limits))
    assert scripted.asked == [limits]
    assert not made._thoughts


def play(wary, board, ours, theirs):
    (*_,) = wary.deepen(board.copy(), LIMITS)
    board.push_uci(ours)
    board.push_uci(theirs)


def test_a_surprise_is_learned_at_the_next_move(tmp_path):
    scripted = Scripted({"e2e4": 30, "d2d4": 20})
    made = Experience(ChessNotation())
    made.use(str(tmp_path / "file"))
    wary, board = WarySearcher(scripted, made), chess.Board()
    start = board.epd()
    play(wary, board, "e2e4", "e7e5")
    scripted.scores = {chess.Move.from_uci("d2d4"): -90}
    play(wary, board, "d2d4", "a7a6")
    (found,) = made.take_surprises()
    assert (found.position, found.move, found.reply) == (start, "e2e4", "e7e5")
    assert (found.predicted, found.found, found.depth) == (30, -90, 6)
    made.flush()
    assert ExperienceFile(tmp_path / "file").lessons() == [found]
    scripted.scores = {}
    list(wary.deepen(board.copy(), LIMITS))
    assert len(made.take_surprises()) == 1  # -500 is another


def test_missed_ponder_search_teaches_nothing():
    hits = []
    scripted = Scripted({"e2e4": 30})
    made = experience()
    wary = WarySearcher(scripted, made, lambda: bool(hits))
    board = chess.Board()
    hits.append(1)
    play(wary, board, "e2e4", "e7e5")
    guessed = board.copy()
    hits.clear()
    list(wary.deepen(guessed, LIMITS))  # -500, but is it so?
    made.conclude(lambda board: 0.03)
    assert not made.take_surprises()
    wary, board = WarySearcher(scripted, made, lambda: bool(hits)), chess.Board()
    hits.append(1)
    play(wary, board, "e2e4", "e7e5")
    hits.clear()
    scripted.scores = {chess.Move.from_uci("g1f3"): -400}
    play(wary, board, "g1f3", "b8c6")  # pondered on, and it came about
    assert not made.take_surprises()
    hits.append(1)
    list(wary.deepen(board, LIMITS))
    assert [each.move for each in made.take_surprises()] == ["e2e4", "g1f3"]


def test_game_result_is_learned():
    scripted, made = Scripted({"e2e4": 30}), experience()
    play(WarySearcher(scripted, made), chess.Board(), "e2e4", "e7e5")
    made.conclude(lambda board: -1 if board.turn else 1)
    (found,) = made.take_surprises()
    assert (found.move, found.found, found.reply) == ("e2e4", -1000, "")
    made.conclude(lambda board: 1)
    assert not made.take_surprises()


def test_reply_is_found_without_move_history():
    notation, board = ChessNotation(), chess.Board()
    move = chess.Move.from_uci("e2e4")
    later = chess.Board("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    assert notation.reply(board, move, later) == "c7c5"
    assert notation.reply(board, chess.Move.from_uci("d2d4"), later) is None


def test_unwritten_lessons_are_kept_until_saved(tmp_path):
    reports = []
    made = Experience(ChessNotation(), reports.append)
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    made.use(str(path))
    board = chess.Board()
    made.note(board, Info(5, Cp(0), (chess.Move.from_uci("e2e4"),)))
    path.parent.rename(tmp_path / "away")
    made.conclude(lambda board: -1)
    made.flush()
    made.flush()
    (told,) = (text for text in reports if "folder must be writable" in text)
    assert told.endswith("what was learned is kept until it can be written")
    with pytest.raises(PlayerError, match="experience stays with this file"):
        made.use("")
    assert made.active
    (tmp_path / "away").rename(path.parent)
    made.close()
    assert len(ExperienceFile(path).lessons()) == 1
    with pytest.raises(PlayerError, match="its folder does not exist"):
        made.use(str(tmp_path / "none" / "file"))
    assert made.active


def test_taken_back_moves_do_not_learn_from_the_result():
    scripted, made = Scripted({"e2e4": 30, "d2d4": 20}), experience()
    wary, board = WarySearcher(scripted, made), chess.Board()
    play(wary, board, "e2e4", "e7e5")
    play(wary, board, "d2d4", "d7d5")
    board = chess.Board()
    scripted.scores = {chess.Move.from_uci("c2c4"): 30}
    play(wary, board, "c2c4", "e7e5")
    made.take_surprises()
    made.conclude(lambda board: -1)
    assert [each.move for each in made.take_surprises()] == ["c2c4"]
