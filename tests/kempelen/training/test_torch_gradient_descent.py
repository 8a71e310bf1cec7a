"""Test that PyTorch's steps equal the kernels', and that a missing PyTorch is reported."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from agent.chess.evaluation import nnue_format
from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.cli import main
from kempelen.training import checkpoint
from kempelen.training.dataset import TRAINING, Dataset
from kempelen.training.gradient_descent import CompiledGradientDescent
from kempelen.training.gradients import NetworkShape
from kempelen.training.network_settings import Target
from kempelen.training.network_trainer import initial_parameters
from kempelen.training.selfplay import SelfPlayPlan, generate
from kempelen.training.torch_gradient_descent import TorchGradientDescent

SHAPE, TARGET = NetworkShape(64, 8), Target(0.3, 400)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions.bin"
    list(generate(path, SelfPlayPlan(SelfPlaySettings(nodes=40), seed=4), "test", 3_000, 2))
    return path


def config(folder: Path, **entries: Any) -> str:
    made: dict[str, Any] = {"output": str(folder / "made.nnue"), "neurons": 32, "batch": 256}
    made["filter"] = {"first_ply": 0}
    path = folder / "train.yaml"
    path.write_text(yaml.safe_dump(made | {"epochs": 3} | entries))
    return str(path)


@pytest.mark.thorough
def test_missing_pytorch_error_names_package(
    played: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["train", "fit", config(tmp_path, data=[str(played)], device="cuda")]) == 2
    assert "missing packages for device: " in capsys.readouterr().err


@pytest.mark.thorough
def test_pytorch_steps_match_compiled_kernels(played: Path) -> None:
    pytest.importorskip("torch", reason="by hand: pip install 'kempelen[train-gpu]'")
    with Dataset(str(played)) as dataset:
        batches = [next(dataset.batches(500, TRAINING, seed=seed)) for seed in range(6)]
    made = checkpoint.new_checkpoint({}, SHAPE)
    made.parameters[:] = initial_parameters(SHAPE, 7)
    copied = replace(made, state=made.state.copy())
    compiled = CompiledGradientDescent(SHAPE, TARGET, 0.01, 2)
    other = TorchGradientDescent(SHAPE, TARGET, 0.01, "cpu")
    compiled.load(made)
    other.load(copied)
    for number, batch in enumerate(batches, 1):
        expected = compiled.step(batch, number, 0.001)
        assert other.step(batch, number, 0.001) == pytest.approx(expected, rel=1e-4)
    rounded = [compiled.store(made), other.store(copied)]
    # A parameter halfway between two file values may be rounded either way.
    assert np.abs(rounded[0] - rounded[1]).max() < 1 / 60
    assert np.mean(rounded[0] != rounded[1]) < 0.01
    assert np.abs(made.parameters - copied.parameters).max() < 2e-3
    assert np.mean(np.abs(made.parameters - copied.parameters) > 1e-5) < 0.01
    outputs = [each.outputs(batches[0]) for each in (compiled, other)]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=0.01)
    compiled.close()
    other.close()


def test_pytorch_run_matches_kernel_losses_and_checks_device(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="by hand: pip install 'kempelen[train-gpu]'")
    assert main(["train", "fit", config(tmp_path, data=[str(played)])]) == 0
    kernels = nnue_format.read(tmp_path / "made.nnue")
    (tmp_path / "torch").mkdir()
    entries: dict[str, Any] = {"data": [str(played)], "device": "cpu"}
    assert main(["train", "fit", config(tmp_path / "torch", **entries)]) == 0
    network = nnue_format.read(tmp_path / "torch" / "made.nnue")
    expected, losses = (np.array(each.manifest["losses"]) for each in (kernels, network))
    np.testing.assert_allclose(losses, expected, rtol=0.02)
    assert network.manifest["settings"]["device"] == "PyTorch"
    capsys.readouterr()
    assert main(["train", "fit", config(tmp_path / "torch", data=[str(played)])]) == 2
    assert "(device was PyTorch, is not given)" in capsys.readouterr().err
    entries |= {"device": "abacus", "output": str(tmp_path / "other.nnue")}
    assert main(["train", "fit", config(tmp_path, **entries)]) == 2
    assert "device: PyTorch cannot use 'abacus': " in capsys.readouterr().err
