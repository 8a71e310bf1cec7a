"""Self-play of Go with targets, and the network trained on them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.games.go import Go
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


@pytest.mark.parametrize("plies", [0, 1])
def test_games_with_targets_begin_with_up_to_twice_the_random_moves(
    plies: int, tmp_path: Path
) -> None:
    path = tmp_path / "games.txt"
    list(generate(path, replace(PLAN, random_plies=plies, playouts=1), "test", 6, 1))
    manifest, games = read(path)
    assert manifest["random_plies"] == plies
    assert [game.opening for game in games] == [number % (2 * plies + 1) for number in range(6)]


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
    trainer = GoNetworkTrainer(SETTINGS, {5: read(played)[1]})
    numbers = np.arange(10)
    batch = trainer.positions[5].batch(numbers, numbers % 8, 0.5)
    with ThreadPoolExecutor() as threads:
        gradients, _ = trainer.gradients(5, batch, threads)
        start = trainer.parameters.copy()
        direction = gradients / np.linalg.norm(gradients)
        losses = []
        for sign in (1, -1):
            trainer.parameters[:] = start + sign * 1e-3 * direction
            losses.append(trainer.gradients(5, batch, threads)[1][:3].sum())
    slope = (losses[0] - losses[1]) / 2e-3
    assert slope == pytest.approx(np.linalg.norm(gradients), rel=0.05)


def test_interrupted_training_makes_the_same_network(played: Path, tmp_path: Path) -> None:
    games = {5: read(played)[1]}
    whole = GoNetworkTrainer(SETTINGS, games)
    *_, history = whole.run(tmp_path / "whole", ["a"])
    assert len(history) == SETTINGS.epochs
    assert history[-1][5].moves < history[0][5].moves
    first = GoNetworkTrainer(SETTINGS, games)
    run = first.run(tmp_path / "part", ["a"])
    assert [len(next(run)), len(next(run))] == [0, 1]
    run.close()
    again = GoNetworkTrainer(SETTINGS, games)
    *_, resumed = again.run(tmp_path / "part", ["a"])
    assert resumed == history
    assert (again.parameters == whole.parameters).all()
    other = GoNetworkTrainer(replace(SETTINGS, rate=1e-3), games)
    with pytest.raises(TrainingError, match="rate"):
        list(other.run(tmp_path / "part", ["a"]))


def test_games_of_several_sizes_are_learned_together(played: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, size=4)
    *_, _last = generate(tmp_path / "games.txt", plan, "test", GAMES, 1)
    trainer = GoNetworkTrainer(SETTINGS, {5: read(played)[1], 4: read(tmp_path / "games.txt")[1]})
    *_, history = trainer.run(tmp_path / "checkpoint", [])
    for size in (4, 5):
        assert history[-1][size].moves < history[0][size].moves
    network = trainer.network({})
    assert network.sizes == (4, 5)
    assert network.fits(Go(4))
    assert not network.fits(Go(6))
    # The komi of the games is from -5 to 15.
    assert [komi for komi in (-5.5, -5, 15, 15.5) if network.fits(Go(5, komi))] == [-5, 15]


def test_training_starts_from_the_initial_network(played: Path) -> None:
    games = {5: read(played)[1]}
    trained = GoNetworkTrainer(SETTINGS, games).network({})
    assert (GoNetworkTrainer(SETTINGS, games, trained).parameters == trained.parameters).all()
    with pytest.raises(TrainingError, match=r"1 blocks \(expected 2\)"):
        GoNetworkTrainer(replace(SETTINGS, blocks=2), games, trained)


@pytest.mark.thorough
def test_commands_play_games_and_train_on_them(tmp_path: Path) -> None:
    files = []
    for size in ("5", "4"):
        files.append(tmp_path / f"games{size}.txt")
        words = ["--game", "go", "--targets", "--size", size, "--playouts", "30", "--games", "20"]
        assert in_process.run("train", "selfplay", files[-1], *words).returncode == 0
    output, first = tmp_path / "n.network", tmp_path / "first.network"
    words = ["--blocks", "1", "--epochs", "1", "--batch", "32", "-o"]
    assert in_process.run("train", "tune", "network", files[0], *words, first).returncode == 0
    words = [*words, output, "--initial", first]
    done = in_process.run("train", "tune", "network", *files, *words)
    assert done.returncode == 0
    assert "epoch 1, held-out games:\n  4x4: moves" in done.stdout
    network = read_network(output)
    assert network.sizes == (4, 5)
    assert [source["size"] for source in network.manifest["sources"]] == [5, 4]
    assert network.manifest["initial"] == read_network(first).manifest


def test_games_without_targets_are_refused(tmp_path: Path) -> None:
    games = read_games_without_targets(tmp_path)
    with pytest.raises(TrainingError, match="have no targets"):
        GoNetworkTrainer(SETTINGS, {5: games})
    with pytest.raises(TrainingError, match="too few games"):
        GoNetworkTrainer(SETTINGS, {5: games[:3]})


def read_games_without_targets(folder: Path) -> list:
    *_, _last = generate(folder / "plain", replace(PLAN, targets=False, playouts=1), "test", 20, 1)
    return read(folder / "plain")[1]
