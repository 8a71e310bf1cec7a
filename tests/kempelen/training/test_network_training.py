"""Test network training: gradients, learning, and reproducibility after interruptions."""

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import yaml

from agent.chess.board.packed_position import (
    BLACK_PIECE,
    BLACK_TO_MOVE,
    CASTLING_ROOK,
    packed_dtype,
    unpack_board,
)
from agent.chess.evaluation import nnue_format, nnue_reference
from agent.chess.evaluation.nnue_format import SCORE_SCALE, NnueNetwork
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.io.container import ContainerFormat
from agent.io.file_lock import lock_path
from agent.io.files import name_in_errors
from kempelen.cli import EXIT_BROKEN_PIPE, main
from kempelen.commands.train_fit import settings_from
from kempelen.training import checkpoint_file, network_data
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.dataset import TRAINING, VALIDATION, Dataset
from kempelen.training.dataset_blocks import Packed
from kempelen.training.dataset_operations import PositionSelection, filter_positions, shuffle, split
from kempelen.training.dataset_writer import DatasetWriter
from kempelen.training.gradient_descent import MAX_PARAMETER
from kempelen.training.gradients import (
    TILE,
    Floats,
    GradientWorker,
    NetworkShape,
    Optimizer,
    aligned_rows,
    input_indices,
)
from kempelen.training.network_data import TrainingData
from kempelen.training.network_settings import (
    PositionFilter,
    Target,
    TrainingSettings,
)
from kempelen.training.network_trainer import (
    BatchStream,
    NetworkTrainer,
    initial_parameters,
    network_parameters,
    squared_error,
)
from kempelen.training.selfplay import SelfPlayPlan, generate
from kempelen.training.streamed_positions import StreamedPositions
from tests import in_process

EVERYTHING = PositionFilter(first_ply=0, largest_score=30_000)
PLAIN = Target(0.0, 400.0)
SMALL = {"neurons": 32, "epochs": 3, "batch": 256}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions.bin"
    list(generate(path, SelfPlayPlan(SelfPlaySettings(nodes=40), seed=4), "test", 4_000, 2))
    return path


@pytest.fixture(scope="module")
def positions(played: Path) -> Packed:
    with Dataset(played) as dataset:
        found: Packed = dataset[:]
    return found


def packed_of(board: chess.Board, score: int = 0, result: int = 0) -> np.void:
    """Pack a board like the kernel."""
    packed = np.zeros(1, packed_dtype)[0]
    pieces = [0, 0]
    for number, square in enumerate(chess.scan_forward(board.occupied)):
        piece = board.piece_at(square)
        assert piece is not None
        kind = piece.piece_type - 1
        if board.castling_rights & chess.BB_SQUARES[square]:
            kind = CASTLING_ROOK
        pieces[number >> 4] |= (kind + BLACK_PIECE * (not piece.color)) << 4 * (number & 15)
    packed["occupied"], packed["pieces"] = board.occupied, pieces
    packed["state"] = 64 + BLACK_TO_MOVE * (not board.turn)
    packed["fullmoves"], packed["score"], packed["result"] = board.fullmove_number, score, result
    return packed


def random_boards(games: int, seed: int) -> list[chess.Board]:
    """All positions of random games, half of them from Chess960 starts."""
    generator = random.Random(seed)
    found = []
    for game in range(games):
        number = generator.randrange(960)
        board = chess.Board.from_chess960_pos(number) if game % 2 else chess.Board()
        while not board.is_game_over() and board.ply() < 200:
            board.push(generator.choice(list(board.legal_moves)))
            found.append(board.copy(stack=False))
    return found


def inputs_of(positions: Packed) -> list[tuple[list[int], list[int]]]:
    """The active inputs of each position, for the mover's view and for the other's."""
    return [
        (views[0, :rows].tolist(), views[1, :rows].tolist())
        for views, rows in zip(*input_indices(positions), strict=True)
    ]


def settings_of(folder: Path, data: Path, **entries: Any) -> TrainingSettings:
    made = {"filter": EVERYTHING, **SMALL, **entries}
    return TrainingSettings((str(data),), str(folder / "made.nnue"), **made)


def trained(settings: TrainingSettings, data: TrainingData, threads: int = 2) -> Checkpoint:
    *_, last = NetworkTrainer(settings, data, threads).run()
    return last


def config(folder: Path, **entries: Any) -> Path:
    """Write a settings file."""
    made = {"output": str(folder / "made.nnue"), **SMALL, **entries}
    path = folder / "train.yaml"
    path.write_text(yaml.safe_dump(made))
    return path


@pytest.mark.thorough
def test_inputs_match_reference_model() -> None:
    boards = random_boards(games=24, seed=1)
    assert {board.turn for board in boards} == {True, False}
    assert any(board.castling_rights & ~(chess.BB_A1 | chess.BB_H1) for board in boards)
    found = inputs_of(np.array([packed_of(board) for board in boards]))
    for board, (own, other) in zip(boards, found, strict=True):
        assert sorted(own) == nnue_reference.active_features(board, board.turn)
        assert sorted(other) == nnue_reference.active_features(board, not board.turn)


def outputs_of(shape: NetworkShape, parameters: Floats, positions: Packed) -> Floats:
    outputs = np.zeros(len(positions), np.float32)
    GradientWorker(shape).evaluate(np.ascontiguousarray(positions), parameters, outputs)
    return outputs


@pytest.mark.parametrize(("neurons", "buckets", "scale"), [(32, 1, 400), (96, 8, 250)])
def test_gradients_match_finite_differences(
    positions: Packed, neurons: int, buckets: int, scale: float
) -> None:
    chosen = np.random.default_rng(1).permutation(positions)[:60]
    shape, target = NetworkShape(neurons, buckets), Target(0.4, scale)
    start = initial_parameters(shape, seed=2)
    start[shape.biases_start : shape.outputs_start] = 0.1
    (gradients,) = aligned_rows(1, shape.padded_size)
    total = GradientWorker(shape).add_gradients(chosen, start, gradients, target, weight=1.0)

    def loss(parameters: Floats) -> float:
        return squared_error(outputs_of(shape, parameters, chosen), chosen, target) * len(chosen)

    assert total == pytest.approx(loss(start), rel=1e-5)
    generator = np.random.default_rng(3)
    sections = (
        (0, shape.biases_start),
        (shape.biases_start, shape.outputs_start),
        (shape.outputs_start, shape.size),
    )
    for begin, end in sections:
        (touched,) = np.nonzero(gradients[begin:end])
        assert len(touched)
        for number in generator.choice(touched, 40) + begin:
            sides = []
            for step in (2e-3, -2e-3):
                moved = start.copy()
                moved[number] += step
                (aligned_zeros,) = aligned_rows(1, shape.padded_size)
                aligned_zeros[:] = moved
                sides.append(loss(aligned_zeros))
            slope = (sides[0] - sides[1]) / 4e-3
            assert gradients[number] == pytest.approx(slope, abs=1e-3, rel=2e-2)
    # Inputs that occur in no position are unchanged.
    used = {place for views in inputs_of(chosen) for view in views for place in view}
    rows = gradients[: shape.biases_start].reshape(-1, neurons)
    assert set(np.nonzero(rows.any(axis=1))[0].tolist()) <= used


def test_optimizer_step_is_adamw_with_bounded_weights() -> None:
    shape = NetworkShape(32, 2)
    generator = np.random.default_rng(5)
    rows = aligned_rows(4, shape.padded_size)
    parameters, rounded, means, squares = rows
    parameters[:] = generator.normal(0, 1, shape.padded_size)
    optimizer = Optimizer(
        shape, parameters, rounded, means, squares, decay=0.1, limit=MAX_PARAMETER
    )
    value = parameters.astype(np.float64)
    mean, square = np.zeros_like(value), np.zeros_like(value)
    for number in range(1, 6):
        gradients = aligned_rows(3, shape.padded_size)
        gradients[:] = generator.normal(0, 1, gradients.shape)
        slope = gradients.astype(np.float64).sum(axis=0)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        root = np.sqrt(square / (1 - 0.999**number)) + 1e-8
        value = value * (1 - 0.02 * 0.1) - 0.02 * mean / (1 - 0.9**number) / root
        value = np.clip(value, -MAX_PARAMETER, MAX_PARAMETER)
        for begin, end in ((0, TILE), (TILE, shape.padded_size)):
            optimizer.step(gradients, number, 0.02, begin, end)
        assert not gradients.any()
    assert np.abs(parameters - value).max() < 1e-4
    assert np.abs(parameters).max() == MAX_PARAMETER
    assert (
        np.abs(rounded - parameters)[: shape.outputs_start].max()
        <= 0.5001 / nnue_format.NEURON_SCALE
    )
    assert np.abs(rounded - parameters)[: shape.size].max() <= 0.5001 / nnue_format.WEIGHT_SCALE


def test_stream_yields_every_position_once_per_pass() -> None:
    numbered = np.zeros(100, packed_dtype)
    numbered["fullmoves"] = np.arange(100)
    stream = BatchStream(numbered, 30, seed=1)
    drawn = [stream[number]["fullmoves"] for number in range(20)]
    assert all(len(batch) == 30 for batch in drawn)
    turns = np.concatenate(drawn).reshape(6, 100)
    assert all(sorted(turn) == list(range(100)) for turn in turns.tolist())
    assert len({tuple(turn) for turn in turns.tolist()}) == 6
    again = BatchStream(numbered, 30, seed=1)
    assert (again[13]["fullmoves"] == drawn[13]).all()
    assert (BatchStream(numbered, 30, seed=2)[0]["fullmoves"] != drawn[0]).any()


def streamed(path: Path, memory: int = 0, target: Target = PLAIN) -> TrainingData:
    return network_data.load([str(path)], EVERYTHING, target, memory=memory)


def test_streamed_positions_are_those_in_memory(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_data, "MIN_POOL", 700)
    for target in (PLAIN, Target(0, 400, trace_decay=0.5)):
        kept = network_data.load([str(played)], EVERYTHING, target)
        with contextlib.closing(streamed(played, target=target)) as data:
            assert isinstance(data.training, StreamedPositions)
            assert len(data.training) == len(kept.training)
            assert data.validation.tobytes() == kept.validation.tobytes()
            size = len(kept.training)
            stream = BatchStream(data.training, 300, seed=1)
            drawn = np.concatenate([stream[number] for number in range(2 * size // 300 + 1)])
            passes = drawn[:size], drawn[size : 2 * size]
            for each in passes:
                assert (np.sort(each.view("V32")) == np.sort(kept.training.view("V32"))).all()
            assert (passes[0] != passes[1]).any()
            # A batch does not depend on those that were read before.
            again = BatchStream(data.training, 300, seed=1)
            assert (again[9] == drawn[2700:3000]).all()
            assert (BatchStream(data.training, 300, seed=2)[0] != drawn[:300]).any()


def test_positions_are_streamed_if_they_need_more_memory(
    played: Path, positions: Packed, tmp_path: Path
) -> None:
    assert isinstance(streamed(played, memory=1).training, np.ndarray)
    with contextlib.closing(streamed(played)) as data:
        settings = settings_of(tmp_path, played, memory=0)
        trainer = NetworkTrainer(settings, data, 1)
        assert trainer.epoch_positions == len(data.training)
        assert trainer.run_settings["memory"] == 0
        assert "memory" not in settings.determining_settings()
    few = tmp_path / "few"
    with DatasetWriter(few, {"engine": "test"}, block_games=4) as writer:
        for game in range(20):
            writer.add(positions[9 * game : 9 * game + 9])
        writer.finish()
    wanted = PositionFilter(first_ply=30_000)
    with pytest.raises(TrainingError, match="no training positions"):
        network_data.load([str(few)], wanted, PLAIN, memory=0)


def test_streamed_run_resumes_identically_and_needs_the_same_memory(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        settings = {"data": [str(played)], "memory": 0, "epochs": 3}
        file = config(tmp_path / name, **settings)
        if name == "two":
            wanted = settings_from(str(file))
            with contextlib.closing(
                network_data.load(wanted.data, wanted.filter, wanted.target, memory=0)
            ) as data:
                run = NetworkTrainer(wanted, data, 1).run()
                while len(next(run).losses) < 2:
                    pass
                run.close()
        assert main(["train", "fit", str(file)]) == 0
        made.append((tmp_path / name / "made.nnue").read_bytes())
    assert made[0] == made[1]
    settings["memory"] = 1
    assert main(["train", "fit", str(config(tmp_path / "two", **settings))]) == 2
    assert "memory" in capsys.readouterr().err


@pytest.mark.thorough
def test_training_can_overfit_few_positions(
    played: Path, positions: Packed, tmp_path: Path
) -> None:
    few = np.random.default_rng(1).permutation(positions)[:64]
    settings = settings_of(tmp_path, played, epochs=300, batch=64, rate=0.01, buckets=1)
    made = trained(settings, TrainingData((), few, few))
    assert made.losses[0][1] > 0.01
    assert made.losses[-1][1] < 3e-4


def test_exported_network_matches_training_outputs(
    played: Path, positions: Packed, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path, played, neurons=64, epochs=4, buckets=4, batch=128)
    data = network_data.load(settings.data, settings.filter, settings.target)
    trainer = NetworkTrainer(settings, data, 2)
    *_, made = trainer.run()
    network = trainer.export(made, "test")
    some = positions[::23]
    outputs = outputs_of(NetworkShape(64, 4), made.best, some)
    scores = np.array([nnue_reference.evaluate(network, unpack_board(each)) for each in some])
    # Both integer divisions round down: by less than 1 / 64 / 255 of an output's unit, and by less
    # than a centipawn.
    lost = outputs.astype(np.float64) * SCORE_SCALE - scores
    assert -0.01 < lost.min() < lost.max() < 1 + SCORE_SCALE / 64 / 255 + 0.01
    assert len(np.unique(scores)) > 50


def test_tempo_is_subtracted_from_exported_scores(
    played: Path, positions: Packed, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path, played, epochs=2, batch=128)
    data = network_data.load(settings.data, settings.filter, settings.target)
    trainer = NetworkTrainer(settings, data, 2)
    *_, made = trainer.run()
    eager = trainer.export(made, "test")
    calm = NetworkTrainer(replace(settings, tempo=12), data, 2).export(made, "test")
    boards = [unpack_board(each) for each in positions[::23]]
    less = [
        nnue_reference.evaluate(eager, board) - nnue_reference.evaluate(calm, board)
        for board in boards
    ]
    assert {11, 12, 13} >= set(less)
    assert calm.manifest["settings"]["tempo"] == 12


@pytest.mark.parametrize("neurons", [32, 96])
def test_training_starts_from_existing_network(
    played: Path, positions: Packed, tmp_path: Path, neurons: int
) -> None:
    assert main(["train", "fit", str(config(tmp_path, data=[str(played)], rate=0.003))]) == 0
    first = nnue_format.read(tmp_path / "made.nnue")
    began = network_parameters(first, NetworkShape(neurons, 8), 5)
    scores = outputs_of(NetworkShape(neurons, 8), began, positions[::23]) * SCORE_SCALE
    expected = [nnue_reference.evaluate(first, unpack_board(each)) for each in positions[::23]]
    assert np.abs(scores - expected).max() <= 1 + SCORE_SCALE / 64 / 255 + 0.01

    (tmp_path / "next").mkdir()
    entries: dict[str, Any] = {"data": [str(played)], "neurons": neurons}
    entries["initial"] = str(tmp_path / "made.nnue")
    assert main(["train", "fit", str(config(tmp_path / "next", **entries))]) == 0
    second = nnue_format.read(tmp_path / "next" / "made.nnue")
    assert second.manifest["losses"][0][0] < first.manifest["losses"][0][0]
    assert second.manifest["initial"]["checksum"] == first.checksum
    assert second.manifest["source"].endswith(f" Before that: {first.manifest['source']}")
    if neurons > 32:  # the added neurons have an effect
        assert np.abs(second.weights["outputs"][0, :, :, 32:]).max() > 0


def test_unsuitable_initial_network_is_rejected(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries: dict[str, Any] = {"data": [str(played)], "epochs": 1, "positions": 256}
    wide = tmp_path / "wide.nnue"
    file = config(tmp_path, **{**entries, "neurons": 64, "output": str(wide)})
    assert main(["train", "fit", str(file)]) == 0
    capsys.readouterr()
    file = config(tmp_path, **entries, initial=str(wide))
    assert main(["train", "fit", str(file)]) == 2
    said = capsys.readouterr().err
    assert "initial: a network (768 -> 64)x2 -> 1x8 requires `neurons: 64` or more" in said
    assert main(["train", "fit", str(config(tmp_path, **entries, initial="none.nnue"))]) == 2
    assert "none.nnue: No such file" in capsys.readouterr().err
    # Another initial network makes another run.
    begun = {**entries, "neurons": 64}
    assert main(["train", "fit", str(config(tmp_path, **begun))]) == 0
    assert main(["train", "fit", str(config(tmp_path, **begun, initial=str(wide)))]) == 2
    assert "(initial was not given, is " in capsys.readouterr().err


def test_the_best_epoch_is_exported(played: Path, positions: Packed, tmp_path: Path) -> None:
    contrary = positions[:500].copy()
    contrary["score"] *= -1
    contrary["result"] *= -1
    settings = settings_of(tmp_path, played, rate=0.01)
    data = TrainingData((), positions, contrary)
    trainer = NetworkTrainer(settings, data, 2)
    bests = [each.best.copy() for each in trainer.run() if each.losses]
    made = Checkpoint({}, NetworkShape(32, 8))
    made.losses = [(0, 3.0), (0, 2), (0, 2)]
    assert made.best_epoch == 2
    *_, last = trainer.run()
    assert last.best_epoch == 1
    assert all((best == bests[0]).all() for best in bests)
    assert (last.best != last.parameters).any()
    outputs = outputs_of(NetworkShape(32, 8), last.best, contrary)
    assert squared_error(outputs, contrary, settings.target) == last.losses[0][1]


def test_filter_selects_positions_by_ply_and_score(played: Path) -> None:
    wanted = PositionFilter(first_ply=30, largest_score=150)
    data = network_data.load([str(played)], wanted, PLAIN)
    with Dataset(played) as dataset:
        for part, found in ((TRAINING, data.training), (VALIDATION, data.validation)):
            expected = [
                each
                for block in dataset.blocks(part)
                for each in block
                if unpack_board(each).ply() >= 30 and abs(int(each["score"])) <= 150
            ]
            assert found.tobytes() == np.array(expected).tobytes()
    assert len(data.validation) > 10


LONGER = {"epochs": 6, "positions": 8_000}


@pytest.fixture(scope="module")
def straight(played: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of an uninterrupted run on one thread."""
    folder = tmp_path_factory.mktemp("straight")
    file = config(folder, data=[str(played)], threads=1, **LONGER)
    assert main(["train", "fit", str(file)]) == 0
    return (folder / "made.nnue").read_bytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_run_stopped_between_epochs_resumes_identically(
    played: Path, straight: bytes, tmp_path: Path, threads: int
) -> None:
    settings = settings_from(str(config(tmp_path, data=[str(played)], **LONGER)))
    data = network_data.load(settings.data, settings.filter, settings.target)
    for done in (0, 1, 4):
        run = NetworkTrainer(settings, data, threads).run()
        assert len(next(run).losses) == done
        for made in run:
            if len(made.losses) in (1, 4):
                break
        run.close()
    assert main(["train", "fit", str(tmp_path / "train.yaml")]) == 0
    assert (tmp_path / "made.nnue").read_bytes() == straight
    # The run has ended; starting it again makes the same file.
    (tmp_path / "made.nnue").unlink()
    assert main(["train", "fit", str(tmp_path / "train.yaml")]) == 0
    assert (tmp_path / "made.nnue").read_bytes() == straight


@pytest.mark.thorough
def test_killed_and_resumed_run_makes_same_file(
    played: Path, straight: bytes, tmp_path: Path
) -> None:
    file = config(tmp_path, data=[str(played)], threads=2, **LONGER)
    kept = tmp_path / "made.nnue.checkpoint"
    generator, kills = random.Random(3), 0
    for epochs in (1, 3):
        process = subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", "train", "fit", str(file)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                if line.startswith(f"epoch {epochs}:"):
                    break
        time.sleep(generator.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        kills += process.wait() != 0
        assert kept.exists()
    assert kills
    assert main(["train", "fit", str(file)]) == 0
    assert (tmp_path / "made.nnue").read_bytes() == straight


def test_train_command_reports_results_and_writes_manifest(played: Path, tmp_path: Path) -> None:
    file = config(tmp_path, data=[str(played)], filter={"first_ply": 10}, buckets=2)
    run = in_process.run("train", "fit", file, "--json", "--plot", tmp_path / "losses.svg")
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)
    assert found["shape"] == "(768 -> 32)x2 -> 1x2"
    assert len(found["losses"]) == 3
    assert found["validation_loss"] == found["losses"][found["epoch"] - 1][1]
    assert found["losses"][2][0] < found["losses"][0][0]
    assert found["positions_a_second"] > 100
    network = nnue_format.read(found["file"])
    said = network.manifest
    assert said["licence"] == "GPL-3.0-or-later"
    assert said["settings"]["filter.first_ply"] == 10
    assert said["training positions"] == found["training_positions"] > 2_000
    assert said["validation positions"] == found["validation_positions"] > 100
    with Dataset(played) as dataset:
        (told,) = said["data"]
        manifest = dataset.contents[0].manifest
        assert told["manifest"] == {**manifest, "openings": 0}
        assert (told["positions"], told["games"]) == (len(dataset), dataset.games)
    assert said["source"] == (
        "Positions from games of Kempelen test against itself; scores by its own search at 40 "
        "nodes with the evaluation nnue; 0% of what was learned is how the games ended."
    )
    assert "validation" in (tmp_path / "losses.svg").read_text()
    again = in_process.run("train", "fit", file)
    assert "continuing after epoch 3" in again.stderr
    assert again.stdout.startswith(f"{found['file']}: (768 -> 32)x2 -> 1x2, epoch ")


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ({"nodes": 700}, "700 nodes"),
        ({"nodes": 1}, "1 node"),
        ({"depth": 6}, "depth 6"),
        ({"nodes": 700, "depth": 6}, "depth 6 or 700 nodes"),
    ],
)
def test_manifest_names_engine_that_scored_positions(
    ends: dict[str, int], words: str, played: Path, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path, played, result_share=0.25)
    data = network_data.load(settings.data, settings.filter, settings.target)
    scores = {"scores": {"engine": "Teacher 3"} | ends}
    rescored = replace(data.files[0], manifest={**data.files[0].manifest, **scores})
    both = replace(data, files=(*data.files, rescored))
    trainer = NetworkTrainer(settings, both, 1)
    *_, made = trainer.run()
    assert trainer.export(made, "test").manifest["source"] == (
        "Positions from games of Kempelen test against itself; scores by its own search at 40 "
        f"nodes with the evaluation nnue and Teacher 3 at {words}; "
        "25% of what was learned is how the games ended."
    )


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"nuerons": 64}, "nuerons: unknown key (expected one of: data, output"),
        ({"filter": {"ply": 3}}, "filter.ply: unknown"),
        ({"neurons": 100}, "neurons: must be a multiple of 32 from 32 to 2048 (got 100)"),
        ({"buckets": 3}, "buckets: must be one of 1, 2, 4, 8, 16, 32 (got 3)"),
        ({"epochs": 0}, "epochs: must be from 1"),
        ({"epochs": "many"}, "epochs: invalid value 'many' (expected a whole number)"),
        ({"positions": 0}, "positions: must be from 1"),
        ({"batch": 0}, "batch: must be from 1"),
        ({"rate": 0}, "rate: must be above 0"),
        ({"rate": 1.5}, "rate: must be above 0"),
        ({"final_rate": 2}, "final_rate: must be from 0 to 1 (got 2.0)"),
        ({"decay": -1}, "decay: must be from 0 to 1"),
        ({"scale": 0}, "scale: must be from 1 to 32767 (got 0.0)"),
        ({"result_share": 1.1}, "result_share: must be from 0 to 1 (got 1.1)"),
        ({"trace_decay": 2}, "trace_decay: must be from 0 to 1 (got 2.0)"),
        ({"tempo": -101}, "tempo: must be from -100 to 100 (got -101.0)"),
        ({"seed": -1}, "seed: must be from 0"),
        ({"threads": 0}, "threads: must be from 1"),
        ({"filter": {"first_ply": -1}}, "filter.first_ply: must be from 0"),
        ({"filter": {"largest_score": 0}}, "filter.largest_score: must be from 1"),
        ({"data": []}, "data: must name at least one file of positions"),
        ({"data": "one.bin"}, "data: invalid value 'one.bin' (expected a list)"),
        ({"output": ""}, "output: must name a network file"),
    ],
)
def test_invalid_settings_are_rejected(
    entries: dict[str, Any], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config(tmp_path, **{"data": ["positions.bin"], **entries})
    assert main(["train", "fit", str(file)]) == 2
    assert f"{file}: {reason}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "No such file"),
        ("- 1\n", "missing entries (expected `data:` and `output:`)"),
        ("data: [\n", "line 2"),
        ("output: x.nnue\n", "data: missing"),
        ("data: [x.bin]\n", "output: missing"),
    ],
)
def test_invalid_settings_file_is_rejected(
    text: str | None, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "train.yaml"
    if text is not None:
        file.write_text(text)
    assert main(["train", "fit", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"kempelen train fit: {file}: ")
    assert reason in said


def test_invalid_paths_are_rejected(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def complaint(*options: str, **entries: Any) -> str:
        file = config(tmp_path, **{"data": [str(played)], **entries})
        assert main(["train", "fit", str(file), *options]) == 2
        assert not list(tmp_path.glob("*.nnue"))
        return capsys.readouterr().err

    assert "none.bin: No such file" in complaint(data=[str(tmp_path / "none.bin")])
    assert "its folder does not exist" in complaint(output=str(tmp_path / "none" / "x.nnue"))
    assert "its folder does not exist" in complaint(checkpoint=str(tmp_path / "none" / "x"))
    assert "unknown picture format" in complaint("--plot", str(tmp_path / "losses.txt"))
    assert ": not a file of positions" in complaint(data=[__file__])
    copy = tmp_path / "copy.bin"
    copy.write_bytes(played.read_bytes())
    assert "copy.bin" in (said := complaint(output=str(copy)))
    assert "choose another file, or move it away" in said
    assert copy.read_bytes() == played.read_bytes()
    none = {"first_ply": 1000}
    assert "no training positions" in complaint(filter=none)
    assert "its folder does not exist" in complaint("--plot", str(tmp_path / "none" / "x.svg"))
    before = played.read_bytes()
    assert f"{played}: is an input file" in complaint(output=str(played))
    assert "train.yaml: is an input file" in complaint(checkpoint=str(tmp_path / "train.yaml"))
    assert f"{tmp_path}: is a folder" in complaint(output=str(tmp_path))
    same = str(tmp_path / "x.svg")
    assert "x.svg: given for two outputs" in complaint(output=same, checkpoint=same)
    assert "x.svg: given for two outputs" in complaint("--plot", same, output=same)
    assert played.read_bytes() == before


def test_data_needs_training_and_validation_positions(positions: Packed, tmp_path: Path) -> None:
    for games, reason in ((0, "no training positions"), (4, "no validation positions")):
        path = tmp_path / f"{games}.bin"
        with DatasetWriter(path, {"engine": "test"}, block_games=4) as writer:
            for game in range(games):
                writer.add(positions[9 * game : 9 * game + 9])
        with pytest.raises(TrainingError, match=reason):
            network_data.load([str(path)], EVERYTHING, PLAIN)


def test_validation_files_must_not_overlap_training_data(played: Path, tmp_path: Path) -> None:
    learned, held_out = tmp_path / "learned.bin", tmp_path / "held_out.bin"
    split(played, learned, held_out, Fraction(1, 10), lambda done: None)
    for target in (PLAIN, Target(0, 400, trace_decay=0.5)):
        data = network_data.load([str(learned)], EVERYTHING, target, [str(held_out)])
        for path, found in ((learned, data.training), (held_out, data.validation)):
            with Dataset(path) as dataset:
                assert (found["occupied"] == np.concatenate([*dataset.blocks()])["occupied"]).all()
    assert [file.name for file in data.files] == ["learned.bin"]
    assert [file.name for file in data.validation_files] == ["held_out.bin"]
    same = tmp_path / "same.bin"
    same.write_bytes(learned.read_bytes())
    with pytest.raises(TrainingError, match=r"validation: same\.bin shares games with"):
        network_data.load([str(learned)], EVERYTHING, PLAIN, [str(same)])
    wanted = tmp_path / "wanted.bin"
    filter_positions(learned, wanted, PositionSelection(least_pieces=20), lambda done: None)
    for data_file, judge in ((played, held_out), (learned, wanted), (wanted, learned)):
        with pytest.raises(TrainingError, match=f"{judge.name} shares games with"):
            network_data.load([str(data_file)], EVERYTHING, PLAIN, [str(judge)])
    file = config(tmp_path, data=[str(learned)], validation=[str(held_out)], epochs=1)
    assert main(["train", "fit", str(file)]) == 0
    said = nnue_format.read(tmp_path / "made.nnue").manifest
    assert [each["file"] for each in said["validation"]] == ["held_out.bin"]
    assert said["validation positions"] > 100
    siblings = [tmp_path / f"{score}.bin" for score in (1000, 2000)]
    for score, sibling in zip((1000, 2000), siblings, strict=True):
        filter_positions(played, sibling, PositionSelection(most_score=score), lambda done: None)
    with pytest.raises(TrainingError, match=r"2000\.bin shares games with"):
        network_data.load([str(siblings[0])], EVERYTHING, PLAIN, [str(siblings[1])])
    shorter = tmp_path / "shorter.bin"
    with Dataset(played) as dataset:
        contents = dataset.contents[0]
    shorter.write_bytes(played.read_bytes()[: contents.blocks[0].end])
    for one, other in ((played, shorter), (shorter, played)):
        with pytest.raises(TrainingError, match=f"{other.name} shares games with"):
            network_data.load([str(one)], EVERYTHING, PLAIN, [str(other)])
    chosen = [tmp_path / f"chosen_{each.name}" for each in (learned, held_out)]
    for part, choice in zip((learned, held_out), chosen, strict=True):
        filter_positions(part, choice, PositionSelection(most_score=1000), lambda done: None)
    network_data.load([str(chosen[0])], EVERYTHING, PLAIN, [str(chosen[1])])
    short = PositionFilter(first_ply=400)
    with pytest.raises(TrainingError, match=r"learned\.bin: no training positions"):
        network_data.load([str(learned)], short, PLAIN, [str(held_out)])


def test_intact_games_of_damaged_file_are_used(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.bin"
    path.write_bytes(played.read_bytes()[:-100])
    assert main(["train", "fit", str(config(tmp_path, data=[str(path)], epochs=1))]) == 0
    assert "cut.bin: " in (said := capsys.readouterr().err)
    assert "damaged bytes; their games are skipped" in said


def test_excessive_learning_rate_does_not_crash_training(played: Path, tmp_path: Path) -> None:
    file = config(tmp_path, data=[str(played)], rate=1, neurons=512, positions=512)
    assert main(["train", "fit", str(file)]) == 0
    assert nnue_format.read(tmp_path / "made.nnue").manifest["losses"][0][1] > 0.02


@pytest.mark.parametrize("field", ["occupied", "pieces"])
def test_invalid_positions_are_rejected(
    field: str, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Dataset.block

    def broken(dataset: Dataset, index: int, part: int) -> Any:
        positions, games = block(dataset, index, part)
        changed = positions.copy()
        changed[field][0] = ~np.uint64(0)
        return changed, games

    monkeypatch.setattr(Dataset, "block", broken)
    for memory in (None, 0):
        with pytest.raises(TrainingError, match="invalid positions"):
            network_data.load([str(played)], EVERYTHING, PLAIN, memory=memory)


Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda content: content[:-1], "damaged; remove it"),
        (lambda content: content[:20], "damaged"),
        (lambda content: content[:5000] + b"!!" + content[5002:], "damaged"),
        (lambda content: b"", "not a checkpoint file"),
        (lambda content: b"text" + content, "not a checkpoint file"),
    ],
)
def test_damaged_checkpoint_is_rejected_and_kept(
    damage: Damage,
    reason: str,
    played: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = config(tmp_path, data=[str(played)], epochs=1, positions=256)
    assert main(["train", "fit", str(file)]) == 0
    kept = tmp_path / "made.nnue.checkpoint"
    content = damage(kept.read_bytes())
    kept.write_bytes(content)
    capsys.readouterr()
    assert main(["train", "fit", str(file)]) == 2
    assert f"{kept}: {reason}" in capsys.readouterr().err
    assert kept.read_bytes() == content


def test_oversized_manifest_is_rejected_before_training(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = tmp_path / "started.nnue"
    arrays = np.zeros((768, 32)), np.zeros(32), np.zeros((8, 64)), np.zeros(8)
    NnueNetwork.quantize(*arrays, {"source": "x" * 500_000}).write(started)
    file = config(tmp_path, data=[str(played)], initial=str(started), epochs=10_000)
    assert main(["train", "fit", str(file)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "made.nnue: manifest of " in said.err
    assert "use fewer `epochs`" in said.err
    assert not (tmp_path / "made.nnue.checkpoint").exists()


@pytest.mark.parametrize("head", ['{"a":' * 5000 + "1" + "}" * 5000, "[]", "{}", "{"])
@pytest.mark.usefixtures("usual_recursion")
def test_checkpoint_with_invalid_header_is_rejected(head: str, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(ContainerFormat(b"magic").pack(head, b""))
    with pytest.raises(TrainingError, match="kept: not a checkpoint file"):
        checkpoint_file.read(path, b"magic", {}, "name another")


@pytest.mark.thorough
def test_run_with_other_settings_or_data_is_rejected(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries: dict[str, Any] = {"data": [str(played)], "epochs": 1, "positions": 256}
    assert main(["train", "fit", str(config(tmp_path, **entries))]) == 0
    before = (tmp_path / "made.nnue").read_bytes()
    capsys.readouterr()

    def complaint(**others: Any) -> str:
        assert main(["train", "fit", str(config(tmp_path, **entries | others))]) == 2
        assert (tmp_path / "made.nnue").read_bytes() == before
        return capsys.readouterr().err

    said = complaint(rate=0.01, filter={"largest_score": 500})
    assert "has other settings (rate was 0.001, is 0.01; " in said
    assert "filter.largest_score was 3000, is 500)" in said
    assert "use another checkpoint" in said
    other = tmp_path / "other.bin"
    list(generate(other, SelfPlayPlan(SelfPlaySettings(nodes=10), seed=8), "test", 1_500, 2))
    assert "(data[1] was " in complaint(data=[str(other)])
    assert "(data[2] was not given, is " in complaint(data=[str(played), str(other)])
    assert "(validation[1] was not given, is " in complaint(validation=[str(other)])
    # The path of a file and the number of threads do not matter.
    moved = tmp_path / "moved.bin"
    moved.write_bytes(played.read_bytes())
    assert main(["train", "fit", str(config(tmp_path, **entries | {"data": [str(moved)]}))]) == 0


def test_checkpoint_is_locked_by_one_process(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config(tmp_path, data=[str(played)])
    with lock_path(str(tmp_path / "made.nnue.checkpoint")):
        assert main(["train", "fit", str(file)]) == 2
    assert "is in use by another training process" in capsys.readouterr().err
    assert not (tmp_path / "made.nnue").exists()


def test_full_disk_error_names_file(
    played: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def replace(path: Path, content: bytes, *, durable: bool = False) -> None:
        with name_in_errors(path):
            full()

    file = config(tmp_path, data=[str(played)], epochs=1, positions=256)
    for place, fails, name in (
        ("kempelen.training.checkpoint_file.replace_atomically", replace, "made.nnue.checkpoint"),
        ("agent.chess.evaluation.nnue_format.replace_atomically", replace, "made.nnue"),
        ("matplotlib.figure.Figure.savefig", full, "losses.svg"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(place, fails)
            assert main(["train", "fit", str(file), "--plot", str(tmp_path / "losses.svg")]) == 2
        reason = f"{tmp_path / name}: {os.strerror(errno.ENOSPC)}"
        assert capsys.readouterr().err.splitlines()[-1] == f"kempelen train fit: {reason}"


@pytest.mark.thorough
def test_run_stopped_by_closed_output_resumes_from_last_epoch(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = config(tmp_path, data=[str(played)], positions=256)
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        command = [sys.executable, "-m", "kempelen.cli", "train", "fit", str(file)]
        run = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (EXIT_BROKEN_PIPE, "")
    assert main(["train", "fit", str(file)]) == 0
    assert "continuing after epoch 1\n" in capsys.readouterr().err


def test_interruption_is_reported(
    played: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*arguments: Any) -> NnueNetwork:
        raise KeyboardInterrupt

    monkeypatch.setattr(NetworkTrainer, "export", interrupt)
    assert main(["train", "fit", str(config(tmp_path, data=[str(played)]))]) == 130
    assert "interrupted; run the same command again" in capsys.readouterr().err


def test_data_files_with_renumbered_games_are_rejected(played: Path, tmp_path: Path) -> None:
    shuffled, chosen = tmp_path / "shuffled.bin", tmp_path / "chosen.bin"
    shuffle([played], shuffled, 1, lambda done: None)
    filter_positions(played, chosen, PositionSelection(most_score=1000), lambda done: None)
    with pytest.raises(TrainingError, match=r"data: .* and shuffled\.bin have the same games"):
        network_data.load([str(played), str(shuffled)], EVERYTHING, PLAIN)
    network_data.load([str(played), str(chosen), str(played)], EVERYTHING, PLAIN)
    parts = tmp_path / "one.bin", tmp_path / "other.bin"
    split(played, *parts, Fraction(1, 2), lambda done: None)
    network_data.load([*map(str, parts)], EVERYTHING, PLAIN)
    with pytest.raises(TrainingError, match="have the same games"):
        network_data.load([str(parts[0]), str(chosen)], EVERYTHING, PLAIN)


def test_single_step_epoch_gives_warning(played: Path, tmp_path: Path) -> None:
    for batch, warns in ((64, False), (1 << 14, True)):
        file = config(tmp_path, data=[str(played)], epochs=1, batch=batch)
        done = in_process.run("train", "fit", file)
        assert done.returncode == 0, done.stderr
        assert ("kempelen train fit: batch: 16384 of " in done.stderr) == warns
        (tmp_path / "made.nnue.checkpoint").unlink()
