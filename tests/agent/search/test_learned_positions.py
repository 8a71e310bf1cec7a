import pytest

from agent.game import parse_move
from agent.games import catalogue as games
from agent.learning.learned_move import LearnedMove
from agent.learning.learned_move_database import LearnedMoveDatabase
from agent.learning.learning_adapter import LearningAdapter
from agent.learning.position_learner import PositionLearner
from agent.limits import Cp, Info
from agent.search import algorithm_spec
from agent.search.catalogue import algorithms
from agent.search.learned_positions import LearnedPositions
from tests.support import played


def info(game, text, value, depth=4):
    return Info(depth, Cp(0), (parse_move(game, text),), expected_outcome=value)


def surprised(game, move, reply, after, report=lambda message: None):
    """Return a memory with a move that was predicted to win and then lost."""
    memory = LearnedPositions(PositionLearner(LearningAdapter(game), report))
    memory.experience.enable()
    memory.experience.record_search(game, info(game, move, 0.5))
    game.play(parse_move(game, move))
    game.play(parse_move(game, reply))
    memory.experience.record_search(game, info(game, after, -0.25))
    game.undo()
    game.undo()
    return memory


@pytest.mark.parametrize(
    ("name", "options"),
    [("checkers", {}), ("chess", {}), ("connect-four", {}), ("nim", {}), ("othello", {"size": 4})],
)
def test_lessons_are_stored_in_a_file_and_reloaded(name, options, tmp_path):
    game = games.new_game(name, **options)
    memory = LearnedPositions.from_file(tmp_path / "killers.db", game)
    first = next(iter(game.moves()))
    memory.experience.record_search(game, Info(3, Cp(0), (first,), expected_outcome=0.3))
    game.play(first)
    game.play(reply := next(iter(game.moves())))
    memory.experience.record_search(
        game, Info(3, Cp(0), (next(iter(game.moves())),), expected_outcome=-0.3)
    )
    memory.experience.close()
    game.undo()
    kept = LearnedPositions.from_file(tmp_path / "killers.db", game)
    assert dict(kept.lessons()) == dict(memory.lessons())
    (lesson,) = kept.lessons().values()
    assert kept.lessons()[game.key()] is lesson
    assert (lesson.predicted, lesson.found, lesson.times) == (0.3, -0.3, 1)
    assert lesson.reply == game.text(reply)
    assert lesson.depth == 5  # the depth of a search that would find the same


def test_only_surprising_results_are_stored():
    game = played("connect-four")
    heard = []
    memory = surprised(game, "4", "4", "3", heard.append)
    assert len(memory.lessons()) == 1
    assert heard == ["experience: 4 predicted 0.5, found -0.25 after 4"]
    calm = LearnedPositions(PositionLearner(LearningAdapter(game)))
    calm.experience.enable()
    calm.experience.record_search(game, info(game, "4", 0.5))
    game.play(parse_move(game, "4"))
    game.play(parse_move(game, "4"))
    calm.experience.record_search(game, info(game, "3", 0.495))
    assert not calm.lessons()


@pytest.mark.parametrize("name", [name for name in algorithms() if name != "b-star"])
def test_algorithms_use_stored_lessons_in_the_tree(name):
    """The best-looking move is not played if it leads to a known surprise."""
    game = played("tic-tac-toe", "a3", "b3", "a2")  # X must block at a1
    evaluate = games.evaluation("tic-tac-toe")
    found = algorithm_spec.parse("alpha-beta").new(game, evaluate).search(game, 3)
    assert game.text(found.move) == "a1"
    memory = surprised(game, "a1", "c3", "b2")
    written = algorithm_spec.parse(name)
    search = written.new(game, evaluate, seed=1)
    search.killer_memory = memory
    events = []
    game.play(parse_move(game, "a1"))
    wanted = game.key()
    game.undo()
    learned = search._learned_value
    search._learned_value = lambda outcome, ply: (
        events.append((outcome, ply)) or learned(outcome, ply)
    )
    search.search(game, 3)
    assert (0.25, 1) in events or not written.supports(game)
    assert memory.lessons()[wanted].found == -0.25


def test_deeper_search_ignores_shallower_lessons():
    game = played("connect-four")
    memory = surprised(game, "4", "4", "3")
    evaluate = games.evaluation("connect-four")

    def nodes(depth, memory):
        search = algorithm_spec.parse("minimax").new(game, evaluate)
        search.killer_memory = memory
        search.search(game, depth)
        return search.counts.nodes

    (lesson,) = memory.lessons().values()
    assert lesson.depth == 6
    assert nodes(5, memory) < nodes(5, None)
    for known in memory.experience.lookup(game).values():
        object.__setattr__(known, "depth", 1)
    assert nodes(4, memory) == nodes(4, None)


def test_rejects_a_damaged_or_foreign_file(tmp_path):
    file = tmp_path / "killers.db"
    for text in ("{}", "[1]", "SQLite format 3\0 and so on"):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"killers\.db: .*damaged"):
            LearnedPositions.from_file(file, games.new_game("nim"))
        assert file.read_text() == text


def test_rejects_unsupported_games_without_creating_a_file(tmp_path):
    class Strange:
        turn = 0

        def key(self):
            return frozenset()

    with pytest.raises(ValueError, match="Strange: positions cannot be stored"):
        LearnedPositions.from_file(tmp_path / "killers.db", Strange())
    with pytest.raises(ValueError, match="not supported in games of chance"):
        LearnedPositions.from_file(tmp_path / "killers.db", games.new_game("pig"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("after", ["no JSON", '{"uci": "e9"}', '{"x": 1}', "[" * 100_000])
def test_ignores_lessons_with_invalid_keys(tmp_path, after):
    game = games.new_game("nim")
    made = LearningAdapter(game)
    key = made.position_key(game)
    known = [
        LearnedMove(made.game, key, str(each), each, "", 0.5, -0.5, 4) for each in (key, after)
    ]
    LearnedMoveDatabase(tmp_path / "file").add(known)
    assert list(LearnedPositions.from_file(tmp_path / "file", game).lessons()) == [game.key()]
