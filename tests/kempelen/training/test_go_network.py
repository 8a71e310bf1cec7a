"""Self-play of Go with targets, and the network trained on them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.go.network_file import read as read_network
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.go_network_trainer import GoNetworkTrainer, GoTrainingSettings
from kempelen.training.go_selfplay import GoSelfPlayPlan, generate, read
from kempelen.training.workers import GamesError
from tests import in_process

PLAN = GoSelfPlayPlan(size=5, playouts=30, seed=4, targets=True)
GAMES, SETTINGS = 24, GoTrainingSettings(blocks=1, epochs=3, batch=32)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "games.txt"
    *_, last = generate(path, PLAN, "test", GAMES, 1)
    assert last == GAMES
    return path


def test_targets_are_those_of_the_searches(played: Path) -> None:
    manifest, games = read(played)
    assert manifest == PLAN.manifest("test")
    assert manifest["targets"]
    for game in games:
        targets = game.targets
        assert targets
        assert len(targets.visits) == len(game.moves) - game.opening
        for pairs in targets.visits:
            counts = [count for _, count in pairs]
            assert counts == sorted(counts, reverse=True)
            assert sum(counts) >= 20
        assert all(abs(value) <= 1 for value in targets.values)
        score = sum(targets.owners) / 100 - targets.komi
        assert abs(score) < 6 or (score > 0) == (game.result > 0)
    assert len({game.targets.komi for game in games if game.targets}) > 1


@pytest.mark.parametrize(
    ("old", "new"),
    [('"visits":[[[', '"visits":[[[-7'), ('"owners":[', '"owners":[0,'), ("}\n", "\n")],
)
def test_damaged_targets_are_reported(played: Path, tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "games.txt"
    head, _, rest = played.read_text().partition("\n")
    path.write_text(f"{head}\n{rest.replace(old, new, 1)}")
    with pytest.raises(GamesError, match="line 2: invalid game"):
        read(path)


def test_gradients_are_those_of_the_losses(played: Path) -> None:
    trainer = GoNetworkTrainer(SETTINGS, read(played)[1], 5)
    numbers = np.arange(8)
    batch = trainer.positions.batch(numbers, numbers, 0.5)
    gradients, _ = trainer.gradients(batch)
    start = trainer.parameters.copy()
    direction = gradients / np.linalg.norm(gradients)
    losses = []
    for sign in (1, -1):
        trainer.parameters[:] = start + sign * 1e-3 * direction
        losses.append(trainer.gradients(batch)[1][:3].sum())
    slope = (losses[0] - losses[1]) / 2e-3
    assert slope == pytest.approx(np.linalg.norm(gradients), rel=0.05)


def test_interrupted_training_makes_the_same_network(played: Path, tmp_path: Path) -> None:
    games = read(played)[1]
    whole = GoNetworkTrainer(SETTINGS, games, 5)
    *_, history = whole.run(tmp_path / "whole", ["a"])
    assert len(history) == SETTINGS.epochs
    assert history[-1].moves < history[0].moves
    first = GoNetworkTrainer(SETTINGS, games, 5)
    run = first.run(tmp_path / "part", ["a"])
    assert [len(next(run)), len(next(run))] == [0, 1]
    run.close()
    again = GoNetworkTrainer(SETTINGS, games, 5)
    assert [len(found) for found in again.run(tmp_path / "part", ["a"])] == [1, 2, 3]
    assert (again.parameters == whole.parameters).all()
    other = GoNetworkTrainer(replace(SETTINGS, rate=1e-3), games, 5)
    with pytest.raises(TrainingError, match="rate"):
        list(other.run(tmp_path / "part", ["a"]))


@pytest.mark.thorough
def test_commands_play_games_and_train_on_them(tmp_path: Path) -> None:
    played, output = tmp_path / "games.txt", tmp_path / "n.network"
    words = ["--game", "go", "--targets", "--size", "5", "--playouts", "30", "--games", "20"]
    assert in_process.run("train", "selfplay", played, *words).returncode == 0
    words = ["--blocks", "1", "--epochs", "1", "--batch", "32", "-o", str(output)]
    done = in_process.run("train", "tune", "network", played, *words)
    assert done.returncode == 0
    assert "epoch 1: held-out games" in done.stdout
    network = read_network(output)
    assert network.sizes == (5,)
    assert network.manifest["source"]["playouts"] == PLAN.playouts


def test_games_without_targets_are_refused(tmp_path: Path) -> None:
    games = read_games_without_targets(tmp_path)
    with pytest.raises(TrainingError, match="have no targets"):
        GoNetworkTrainer(SETTINGS, games, 5)
    with pytest.raises(TrainingError, match="too few games"):
        GoNetworkTrainer(SETTINGS, games[:3], 5)


def read_games_without_targets(folder: Path) -> list:
    *_, _last = generate(folder / "plain", replace(PLAN, targets=False, playouts=1), "test", 20, 1)
    return read(folder / "plain")[1]
