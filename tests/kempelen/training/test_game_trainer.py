"""Test learning by self-play: it learns, is reproducible, and can be interrupted."""

import hashlib
import json
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from agent.evaluation import EvaluationError, load
from agent.evaluation_loading import load_game_evaluation
from agent.games import catalogue
from agent.games.board_symmetry import find_symmetries
from agent.games.connect_four import ConnectFour
from agent.games.policy_value_net import read
from agent.games.position_encoding import PositionEncoding, encoding_for, from_json
from agent.search.algorithm_spec import parse as configured
from agent.search.algorithms.alpha_beta import AlphaBeta
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.game_trainer import GameTrainer, GameTrainingSettings
from kempelen.training.selfplay_batch import SelfPlaySettings
from kempelen.training.small_network import AdamOptimizer, TrainingBatch, random_layers
from kempelen.training.td_lambda import TdSettings


def settings(steps=2, game="tic-tac-toe", **others):
    play = SelfPlaySettings(playouts=12, longest=40)
    look = TdSettings(longest=60)
    known = {"games": 6, "neurons": (16,), "options": {}, "play": play, "look": look} | others
    return GameTrainingSettings(game=game, steps=steps, **known)


def learned(path, wanted, most=None):
    """Learn, and stop after some steps as a signal would. Return the learned file's content."""
    learner = GameTrainer(wanted)
    for history in learner.run(path.with_suffix(".run")):
        if len(history) == most:
            return None
    learner.network({}).write(path)
    return path.read_bytes()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("neurons", [(16,), ()], ids=["network", "weights"])
def test_an_interrupted_run_makes_the_same_file(tmp_path, neurons):
    wanted = settings(3, neurons=neurons)
    whole = learned(tmp_path / "whole.learned", wanted)
    assert learned(tmp_path / "parts.learned", wanted, most=1) is None
    assert learned(tmp_path / "parts.learned", wanted, most=2) is None
    assert learned(tmp_path / "parts.learned", wanted) == whole
    other = settings(3, neurons=neurons, seed=1)
    assert learned(tmp_path / "other.learned", other) != whole


def test_checkpoint_of_other_run_or_damaged_is_rejected(tmp_path):
    path = tmp_path / "a.learned"
    learned(path, settings(1))
    with pytest.raises(TrainingError, match=r"a\.run: has other settings \(steps was 1, is 2\)"):
        learned(path, settings(2))
    run = path.with_suffix(".run")
    content = bytearray(run.read_bytes())
    content[-40] ^= 1
    run.write_bytes(content)
    with pytest.raises(TrainingError, match=r"a\.run: damaged; remove it"):
        learned(path, settings(1))
    run.write_bytes(b"nonsense")
    with pytest.raises(TrainingError, match=r"a\.run: not a checkpoint file"):
        learned(path, settings(1))


@pytest.mark.thorough(keep=6)
@pytest.mark.parametrize("game", sorted({*catalogue.builtin_names()} - {"chess", "go", "checkers"}))
@pytest.mark.parametrize("neurons", [(8,), ()], ids=["network", "weights"])
def test_every_game_can_be_learned_and_evaluated(tmp_path, game, neurons):
    play = SelfPlaySettings(playouts=4, longest=12)
    wanted = settings(1, game, games=2, neurons=neurons, play=play, look=TdSettings(longest=12))
    learned(tmp_path / "a.learned", wanted)
    kind = catalogue.find(game)
    value = load_game_evaluation(kind, f"learned:{tmp_path / 'a.learned'}")(kind.new())
    assert -1 < value < 1


def test_gradients_match_finite_differences():
    generator = np.random.default_rng(3)
    learner = AdamOptimizer(random_layers([5, 7, 4], generator))
    for each in learner.parameters:
        each += generator.normal(0, 0.5, each.shape)
    learner.parameters = [each.astype(np.float64) for each in learner.parameters]
    legal = np.array([[True, True, False], [True, True, True]])
    targets = np.array([[0.3, 0.7, 0], [0.2, 0.2, 0.6]])
    examples = TrainingBatch(generator.normal(size=(2, 5)), targets, legal, np.array([0.5, -1]))
    gradients, _ = learner.gradients(examples)
    for parameter, gradient in zip(learner.parameters, gradients, strict=True):
        for place in np.ndindex(parameter.shape):
            kept, around = parameter[place], []
            for step in (1e-5, -1e-5):
                parameter[place] = kept + step
                around.append(sum(learner.gradients(examples)[1]))
            parameter[place] = kept
            assert gradient[place] == pytest.approx((around[0] - around[1]) / 2e-5, abs=1e-4)


@pytest.mark.parametrize(
    ("game", "options", "count"),
    [
        ("tic-tac-toe", {}, 8),
        ("connect-four", {}, 2),
        ("othello", {"size": 4}, 4),
        ("nim", {}, 1),
    ],
)
def test_board_symmetries_are_found(game, options, count):
    """Othello's symmetries that swap the colours of the start position are excluded."""
    at = catalogue.new_game(game, **options)
    assert len(find_symmetries(at, encoding_for(at).vocabulary)) == count


def test_symmetry_maps_squares_and_moves_consistently():
    """The image of a move played on the image of a board gives the image of the result."""
    at, image = catalogue.new_game("tic-tac-toe"), catalogue.new_game("tic-tac-toe")
    encoding = encoding_for(at)
    assert encoding.vocabulary == tuple(sorted(f"{file}{row}" for file in "abc" for row in "123"))
    for symmetry in find_symmetries(at, encoding.vocabulary)[1:]:
        to = np.argsort(symmetry.moves)
        for text in ("a3", "b1", "c2"):
            number = encoding.vocabulary.index(text)
            at.play(next(move for move in at.moves() if at.text(move) == text))
            wanted = encoding.vocabulary[to[number]]
            image.play(next(move for move in image.moves() if image.text(move) == wanted))
            signs = "".join(at.grid())
            assert "".join(signs[square] for square in symmetry.squares) == "".join(image.grid())
        for _ in range(3):
            at.undo()
            image.undo()


def play(first, second, seed):
    """Play a game of tic-tac-toe; return the first player's utility."""
    game = catalogue.new_game("tic-tac-toe")
    while game.outcome() is None:
        game.play((first, second)[game.turn](game))
    return game.outcome()


@pytest.mark.thorough
def test_learned_weights_beat_random_play(tmp_path):
    """One-ply lookahead with the weights of 300 games wins 90% of the games it starts."""
    learned(tmp_path / "w.learned", settings(6, games=50, neurons=()))
    evaluate = load_game_evaluation(
        catalogue.find("tic-tac-toe"), f"learned:{tmp_path / 'w.learned'}"
    )
    search, random = AlphaBeta(evaluate), Random(2)

    def looking(game):
        return search.search(game, 1).move

    def wandering(game):
        return random.choice(list(game.moves()))

    assert sum(play(looking, wandering, seed) for seed in range(50)) > 40


@pytest.mark.thorough
def test_learned_network_never_loses_tic_tac_toe(tmp_path):
    path = tmp_path / "t.learned"
    learned(path, settings(20, games=32, neurons=(64, 32), play=SelfPlaySettings(playouts=32)))
    kind, perfect = catalogue.find("tic-tac-toe"), AlphaBeta(catalogue.evaluation("tic-tac-toe"))
    for seed in range(4):
        written = configured(f"alphazero+playouts=100+network={path}")
        search = written.new(kind.new(), kind.evaluate, seed=seed)

        def own(game, search=search):
            return search.search(game, 99).move

        def other(game):
            return perfect.search(game, 9).move

        assert play(own, other, seed) >= 0
        assert play(other, own, seed) <= 0


def test_encoding_rejects_board_with_swapped_dimensions():
    lying, upright = ConnectFour(6, 4), ConnectFour(4, 6)
    encoding = from_json(encoding_for(lying).as_json())
    assert encoding.encode(lying)
    with pytest.raises(ValueError, match="size of ConnectFour differs from the trained size"):
        encoding.encode(upright)


def test_unusable_learned_files_are_rejected(tmp_path):
    path = tmp_path / "t.learned"
    content = bytearray(learned(path, settings(1)))
    with pytest.raises(EvaluationError, match=r"trained for tic-tac-toe, not usable"):
        load_game_evaluation(catalogue.find("othello"), f"learned:{path}")(
            catalogue.new_game("othello")
        )
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        EvaluationError, match=r"t\.learned: file is damaged .create a new one with kempelen"
    ):
        load(f"learned:{path}")
    path.write_bytes(b"no network")
    with pytest.raises(EvaluationError, match=r"t\.learned: not written by kempelen lab learn"):
        read(path)
    with pytest.raises(EvaluationError, match=r"none\.learned: No such file"):
        configured(f"alphazero+network={tmp_path / 'none.learned'}").new(
            catalogue.new_game("nim"), lambda game: 0
        )


def write_made_up(path, content, change, numbers=None):
    """Write a learned file with another header, and other parameters if given."""
    length = int.from_bytes(content[40:44], "little")
    head = json.dumps(json.loads(content[44 : 44 + length]) | change).encode()
    numbers = content[44 + length :] if numbers is None else numbers
    body = len(head).to_bytes(4, "little") + head + numbers
    path.write_bytes(content[:8] + hashlib.sha256(body).digest() + body)


@pytest.mark.parametrize(
    ("weight", "layers", "message"),
    [
        (float("nan"), 1, "weights must be finite"),
        (float("inf"), 1, "weights must be finite"),
        (65504, 12, "weights are too large"),
        (-65504, 12, "weights are too large"),
    ],
)
def test_nonfinite_or_overflowing_weights_are_rejected(tmp_path, weight, layers, message):
    path = tmp_path / "t.learned"
    content = learned(path, settings(1, neurons=()))
    shape = [read(path).encoding.inputs, *[8] * layers, 1]
    count = sum((rows + 1) * columns for rows, columns in pairwise(shape))
    numbers = np.zeros(count, "<f2")
    numbers[-9:] = weight  # in the last layer only, so that no sum overflows
    write_made_up(path, content, {"shape": shape}, numbers.tobytes())
    if np.isfinite(weight):
        judge = load_game_evaluation(catalogue.find("tic-tac-toe"), f"learned:{path}")
        assert np.isfinite(judge(catalogue.new_game("tic-tac-toe")))
    numbers[:] = weight
    write_made_up(path, content, {"shape": shape}, numbers.tobytes())
    with pytest.raises(
        EvaluationError, match=rf"t\.learned: invalid network file: {message}.* .create a new one"
    ):
        load(f"learned:{path}")


@pytest.mark.parametrize(
    "change",
    [
        {"shape": []},
        {"shape": [19]},
        {"shape": [19, -1, 1]},
        {"shape": [float("inf")]},
        {"options": []},
        {"encoding": {"view": "grid", "size": float("inf"), "vocabulary": []}},
    ],
    ids=str,
)
def test_learned_file_with_invalid_header_is_rejected(tmp_path, change):
    path = tmp_path / "t.learned"
    content = learned(path, settings(1, neurons=()))
    write_made_up(path, content, change, b"" if len(change.get("shape", "19")) < 2 else None)
    with pytest.raises(
        EvaluationError, match=r"t\.learned: invalid network file: .*create a new one"
    ):
        read(path)


class Circling:
    """A game that never ends: fill or empty the square."""

    turn = 0
    count = 0

    def moves(self):
        return [0]

    def play(self, move):
        self.count += 1
        assert self.count < 10_000

    def undo(self):
        self.count -= 1

    def outcome(self):
        return None

    def key(self):
        return self.count

    def text(self, move):
        return "go on"

    def grid(self):
        return ["m.t" if self.count % 2 else "mt.", "..."]

    def move_at(self, row, column):
        return None


def test_symmetry_search_handles_endless_game():
    assert len(find_symmetries(Circling(), ("go on",))) == 1


class Counting(Circling):
    def features(self):
        return [70_000.0]


def test_out_of_range_features_are_rejected():
    with pytest.raises(ValueError, match="features of Counting must be numbers from -65504"):
        PositionEncoding("features", 1, ("go on",)).encode(Counting())
