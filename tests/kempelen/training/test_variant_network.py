"""Self-play in a variant, and the network trained on it."""

from pathlib import Path

import numpy as np
import pytest

from agent.chess.evaluation import nnue_reference
from agent.chess.evaluation.nnue_format import NnueNetwork, read
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.games.variants import board_class
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.variant_network import (
    VariantTrainer,
    VariantTrainingSettings,
    read_positions,
)
from kempelen.training.variant_selfplay import VariantSelfPlay, VariantSelfPlayPlan, generate
from tests import in_process
from tests.random_network import random_network

VARIANT = "crazyhouse"
PLAN = VariantSelfPlayPlan(VARIANT, SelfPlaySettings(nodes=60), seed=3)
POSITIONS = 500
SETTINGS = VariantTrainingSettings(epochs=20, batch=64)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions.txt"
    *_, last = generate(path, PLAN, POSITIONS)
    assert last.positions >= POSITIONS
    return path


def games_of(path: Path) -> list[str]:
    return path.read_text().split("\n\n")[:-1]


def test_positions_are_legal_and_have_the_result_of_their_game(played: Path) -> None:
    games = games_of(played)
    for game in games:
        lines = [line.split(" | ") for line in game.splitlines()]
        assert len({result for _, _, result in lines}) <= 1
        for fen, score, result in lines:
            assert board_class(VARIANT)(fen).is_valid()
            assert abs(int(score)) < 20000
            assert result in ("0", "0.5", "1")
    assert len(set(games)) == len(games)


def test_game_depends_on_its_number_only(played: Path) -> None:
    player = VariantSelfPlay(PLAN)
    for number in (4, 1):
        assert "\n".join(player.play(number)) == games_of(played)[number].strip("\n")


def test_interrupted_run_continues(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "positions.txt"
    text = played.read_text()
    path.write_text(text[: len(text) * 2 // 3])
    *_, last = generate(path, PLAN, POSITIONS)
    assert path.read_text() == text
    assert last.games == len(games_of(played))


def test_training_lowers_the_loss_and_writes_a_network(played: Path, tmp_path: Path) -> None:
    positions = read_positions(played, VARIANT)
    assert len(positions.games) == sum(map(bool, played.read_text().split("\n")))
    trainer = VariantTrainer(SETTINGS, positions)
    first, *_, last = trainer.run()
    assert last[0] < 0.8 * first[0]
    network = trainer.network({"variant": VARIANT})
    network.write(tmp_path / "a.nnue")
    assert read(tmp_path / "a.nnue").manifest == {"variant": VARIANT}


def test_gradients_are_those_of_the_loss(played: Path) -> None:
    trainer = VariantTrainer(SETTINGS, read_positions(played, VARIANT))
    batch = trainer.training.take(np.arange(64))
    gradients, _ = trainer.gradients(batch)
    for gradient, parameters in zip(gradients, trainer.parameters, strict=True):
        start, length = parameters.copy(), np.linalg.norm(gradient)
        losses = []
        for sign in (1, -1):
            parameters[:] = start + sign * 1e-2 * gradient / length
            losses.append(trainer.loss(batch))
        parameters[:] = start
        assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(length, rel=0.05)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [(" | ", " ; ", "line 1"), ("/", "|", "line 1"), ("\n\n", "\n", "too few")],
)
def test_invalid_files_are_reported(
    played: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "positions.txt"
    path.write_text(played.read_text().replace(old, new))
    with pytest.raises(TrainingError, match=message):
        read_positions(path, VARIANT)
    with pytest.raises(TrainingError, match="No such file"):
        read_positions(tmp_path / "missing.txt", VARIANT)


def test_network_is_that_of_the_best_epoch(played: Path) -> None:
    """Without training, it corrects by almost nothing."""
    settings = VariantTrainingSettings(epochs=1, batch=64, rate=1e-9)
    trainer = VariantTrainer(settings, read_positions(played, VARIANT))
    list(trainer.run())
    network = trainer.network({})
    assert abs(nnue_reference.evaluate(network, board_class(VARIANT)())) < 100


def weights(network: NnueNetwork) -> list[object]:
    return [network.weights[0][name].tolist() for name in network.weights.dtype.names or ()]


def test_command_starts_from_initial_network(played: Path, tmp_path: Path) -> None:
    """If training does not improve it, it is written as it was."""
    start, output = tmp_path / "start.nnue", tmp_path / "end.nnue"
    trainer = VariantTrainer(SETTINGS, read_positions(played, VARIANT))
    first, *_, last = trainer.run()
    trainer.network({"variant": VARIANT}).write(start)
    initial = read(start)
    for rate, is_worse in [("1e-6", False), ("1", True)]:
        words = ["--variant", VARIANT, "--epochs", "1", "--batch", "64", "--rate", rate]
        done = in_process.run(
            "train", "tune", "variant", played, *words, "--initial", start, "-o", output
        )
        assert done.returncode == 0
        network = read(output)
        assert network.manifest["initial"] == initial.checksum
        assert network.manifest["settings"]["neurons"] == initial.neurons
        assert network.weights.tobytes() == initial.weights.tobytes()
        ((_, loss),) = network.manifest["losses"]
        assert (loss > first[1]) == is_worse
        assert ("no epoch lowered the loss" in done.stderr) == (not network.manifest["best_epoch"])
        assert network.manifest["best_epoch"] == (not is_worse)
        assert (loss == pytest.approx(last[1], rel=0.05)) == (not is_worse)
        output.unlink()


@pytest.mark.parametrize(
    ("initial", "output", "message"),
    [
        ("missing.nnue", "new.nnue", "No such file"),
        ("positions.txt", "new.nnue", "not a Kempelen network file"),
        ("start.nnue", "start.nnue", "start.nnue"),
    ],
)
def test_unusable_initial_network_is_reported(
    tmp_path: Path, initial: str, output: str, message: str
) -> None:
    (tmp_path / "positions.txt").write_text("no network\n")
    start = tmp_path / "start.nnue"
    random_network(32, 1).write(start)
    content = start.read_bytes()
    files = ["--initial", tmp_path / initial, "-o", tmp_path / output]
    done = in_process.run(
        "train", "tune", "variant", tmp_path / "positions.txt", "--variant", VARIANT, *files
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert start.read_bytes() == content
    assert not (tmp_path / "new.nnue").exists()


def test_commands_play_games_and_train_on_them(tmp_path: Path) -> None:
    path, output = tmp_path / "positions.txt", tmp_path / "zh.nnue"
    words = ["--variant", "zh", "--nodes", "40", "--positions", "300", "--processes", "1"]
    done = in_process.run("train", "selfplay", path, *words)
    assert done.returncode == 0
    assert "positions of" in done.stdout
    words = ["--variant", "zh", "--epochs", "1", "--batch", "32", "-o", str(output)]
    done = in_process.run("train", "tune", "variant", path, *words)
    assert done.returncode == 0
    assert "epoch 1: loss" in done.stdout
    manifest = read(output).manifest
    assert manifest["variant"] == VARIANT
    assert manifest["positions"] >= 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("selfplay", "p", "--variant", "bughouse"), "unknown 'bughouse'"),
        (("selfplay", "p", "--variant", "atomic", "--odds", "0.5"), "--odds is not for variants"),
        (("selfplay", "p", "--variant", "atomic", "--game", "go"), "--variant is only for chess"),
        (("tune", "variant", "p", "--variant", "koth", "-o", "n"), "uses the network of chess"),
        (("tune", "variant", "p", "--variant", "chess", "-o", "n"), "chess: uses the network"),
        (("tune", "variant", "p", "--variant", "x", "-o", "n"), "unknown 'x'"),
        (("tune", "variant", "p", "--variant", "zh", "-o", "n"), "No such file"),
    ],
)
def test_wrong_options_are_reported(words: tuple[str, ...], message: str) -> None:
    done = in_process.run("train", *words)
    assert done.returncode == 2
    assert message in done.stderr
