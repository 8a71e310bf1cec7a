"""Test tuning: the trace equals the evaluation, and a fit recovers known weights."""

import json
import re
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest

from agent.chess.board.packed_position import unpack_board
from agent.chess.evaluation import weights as weights_module
from agent.chess.evaluation.evaluation_trace import trace
from agent.chess.evaluation.terms import TERM_OFFSETS
from agent.chess.evaluation.weights import WEIGHTS
from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.cli import main
from kempelen.training import texel
from kempelen.training.dataset import TRAINING, VALIDATION, Dataset
from kempelen.training.selfplay import SelfPlayPlan, generate
from tests.systems import module_or_skip

pytestmark = pytest.mark.early


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions"
    list(
        generate(
            path, SelfPlayPlan(SelfPlaySettings(nodes=60), 9, "handcrafted"), "test", 13_000, 1
        )
    )
    return path


def letters(board: chess.Board, side: chess.Color) -> str:
    """Return a side's pieces without the king, in alphabetical order: BNPPQR."""
    held = (piece.symbol().upper() for piece in board.piece_map().values() if piece.color == side)
    return "".join(sorted(held)).replace("K", "")


def is_known(board: chess.Board) -> bool:
    """Return whether the ending has its own evaluation: one side mates with pieces only."""
    for strong in chess.COLORS:
        own, enemy = letters(board, strong).replace("P", ""), letters(board, not strong)
        bishops = board.bishops & board.occupied_co[strong]
        pair = bishops & chess.BB_LIGHT_SQUARES and bishops & chess.BB_DARK_SQUARES
        mates = pair or "BN" in own or "NNN" in own or "Q" in own or "R" in own
        if (mates and not enemy) or (own == "Q" and enemy == "R"):
            return True
    return False


@pytest.mark.thorough
def test_trace_times_weights_equals_evaluation(played: Path, thorough: bool) -> None:
    with Dataset(played) as dataset:
        positions = dataset[:][:: 1 if thorough else 3]
    known = np.array([is_known(unpack_board(each)) for each in positions])
    assert known.any()
    traces = trace(positions[known])
    assert not traces.counts.any()
    assert not (traces.middlegame + traces.endgame).any()
    traces = trace(positions[~known])
    middlegame, endgame = (traces.counts @ texel.start_weights()).T
    total = traces.middlegame * middlegame + traces.endgame * endgame
    # The evaluation is truncated to integer centipawns.
    assert np.abs(total - traces.evaluations).max() < 1
    assert (traces.endgame <= 1 - traces.middlegame).all()
    assert np.abs(traces.evaluations).max() > 500
    counted = (traces.counts != 0).any(axis=0)
    assert counted.mean() > 0.75


def test_weights_source_file_matches_tuner_output() -> None:
    assert texel.format_weights_module(WEIGHTS) == Path(weights_module.__file__).read_text()


def test_written_weights_are_read_back() -> None:
    changed = dict(WEIGHTS)
    changed["tempo"] = changed["tempo"]._replace(values=((123, -45),))
    scope: dict[str, object] = {"__name__": "weights"}
    exec(texel.format_weights_module(changed), scope)
    assert scope["WEIGHTS"] == changed


def sample(size: int, seed: int, weights: np.ndarray, scale: float) -> texel.TracedPositions:
    """Make positions whose results follow from `weights`."""
    generator = np.random.default_rng(seed)
    number = size * len(weights) // 60
    rows, terms = (
        generator.integers(size, size=number),
        generator.integers(len(weights), size=number),
    )
    values = generator.choice([-2.0, -1.0, 1.0, 2.0], number) * (terms != TERM_OFFSETS["tempo"])
    tempo = np.full(size, TERM_OFFSETS["tempo"])
    entries = np.append(rows, np.arange(size)), np.append(terms, tempo)
    counts = module_or_skip("scipy.sparse").csr_matrix(
        (np.append(values, np.ones(size)), entries), (size, len(weights))
    )
    phases, none = generator.random(size), np.zeros(size)
    made = texel.TracedPositions(counts, phases, 1 - phases, none, none)
    evaluations = made.evaluate(weights)
    expected = texel.expected_score(evaluations, scale)
    results = (generator.random(size) < expected).astype(float)
    return texel.TracedPositions(made.counts, phases, 1 - phases, evaluations, results)


def test_fit_recovers_true_weights() -> None:
    start = texel.start_weights()
    truth = start + np.random.default_rng(3).choice([-40.0, 40.0], start.shape)
    training, validation = sample(40_000, 1, truth, 250), sample(4_000, 2, truth, 250)
    fit = texel.fit(training, validation, iterations=40, result_share=0.6)
    assert fit.final_loss < fit.initial_loss
    found = np.array([pair for term in fit.weights.values() for pair in term.values])
    assert np.corrcoef((found - start).ravel(), (truth - start).ravel())[0, 1] > 0.8


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("in_endgames", [60, 0])
def test_constant_score_offset_does_not_change_tempo_weight(in_endgames: int) -> None:
    truth = texel.start_weights()
    made = [sample(20_000, seed, truth, 250) for seed in (1, 2)]
    found = [60 * each.middlegame + in_endgames * each.endgame for each in made]
    training, validation = (
        replace(each, scores=each.scores + more) for each, more in zip(made, found, strict=True)
    )
    fit = texel.fit(training, validation, iterations=20, result_share=0.0)
    assert fit.weights["tempo"] == WEIGHTS["tempo"]
    assert fit.final_loss < fit.initial_loss + 0.001
    weights = np.array([pair for term in fit.weights.values() for pair in term.values])
    assert np.abs(weights - truth).mean() < 5


@pytest.mark.thorough
def test_result_share_selects_results_or_scores_as_target() -> None:
    start = texel.start_weights()
    made = [sample(20_000, seed, start, 250) for seed in (1, 2)]
    training, validation = (replace(each, scores=-each.scores) for each in made)
    by_results, by_scores = (
        texel.fit(training, validation, iterations=20, result_share=each) for each in (1.0, 0.0)
    )
    assert by_results.final_loss < by_results.initial_loss + 0.002
    assert by_scores.final_loss < by_scores.initial_loss - 0.02


def misleading() -> dict[int, texel.TracedPositions]:
    """Return training positions whose results follow from other weights than the validation's."""
    start = texel.start_weights()
    others = start + np.random.default_rng(3).choice([-60.0, 60.0], start.shape)
    return {TRAINING: sample(8_000, 1, others, 250), VALIDATION: sample(4_000, 2, start, 250)}


def test_fit_returns_weights_of_best_validation_iteration() -> None:
    start = texel.start_weights()
    truth = start + np.random.default_rng(3).choice([-40.0, 40.0], start.shape)
    training, validation = sample(2_000, 1, truth, 250), sample(4_000, 2, truth, 250)
    done: list[int] = []
    fit = texel.fit(training, validation, 200, 1.0, lambda number, _: done.append(number))
    assert fit.improved
    assert fit.iteration < done[-1] <= fit.iteration + texel.PATIENCE < 200
    again = texel.fit(training, validation, fit.iteration, 1.0)
    assert (again.weights, again.final_loss) == (fit.weights, fit.final_loss)
    for iterations in (1, fit.iteration - 1):
        assert texel.fit(training, validation, iterations, 1.0).final_loss > fit.final_loss


def test_fit_to_misleading_games_is_reported_as_worse() -> None:
    samples = misleading()
    fit = texel.fit(samples[TRAINING], samples[VALIDATION], iterations=60, result_share=1.0)
    assert not fit.improved
    assert fit.final_loss > fit.initial_loss


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_fit_from_material_recovers_true_weights(share: float) -> None:
    truth = texel.start_weights()
    training, validation = sample(40_000, 1, truth, 250), sample(4_000, 2, truth, 250)
    material = texel.material_weights()
    fit = texel.fit(training, validation, 60, share, start=material)
    assert fit.final_loss < fit.initial_loss - 0.01
    found = np.array([pair for term in fit.weights.values() for pair in term.values])
    # The scale is that of the material, so weights are determined up to a factor.
    learned = np.ones(len(truth), bool)
    first = TERM_OFFSETS["material"]
    learned[first : first + len(texel.MATERIAL)] = False
    assert np.corrcoef(found[learned].ravel(), truth[learned].ravel())[0, 1] > 0.5
    tempo = found[TERM_OFFSETS["tempo"]]
    assert 5 < tempo[0] == tempo[1] < 40
    assert texel.fit(training, validation, 1, share).weights["tempo"] == WEIGHTS["tempo"]


def test_material_start_has_only_material_weights() -> None:
    weights = texel.material_weights()
    first = TERM_OFFSETS["material"]
    assert weights[first : first + 5].tolist() == [[w, w] for w in (100, 300, 300, 500, 900)]
    assert np.count_nonzero(weights) == 10


def tune(*arguments: object) -> int:
    return main(["train", "tune", "evaluation", *map(str, arguments)])


@pytest.mark.thorough
def test_tune_evaluation_writes_new_weights(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {Path(weights_module.__file__).read_text()}
    for share in (0, 1):
        output = tmp_path / f"weights{share}.py"
        options = ("--iterations", 30, "--result-share", share, "--from", "material", "--json")
        assert tune(played, "-o", output, *options) == 0
        said = capsys.readouterr()
        found = json.loads(said.out)
        assert found["positions"] > 10_000
        assert found["validation_loss"] < found["validation_loss_before"]
        assert 0 < found["iteration"] <= 30
        assert f"only {found['positions']} positions for" in said.err
        texts.add(output.read_text())
        compile(output.read_text(), str(output), "exec")
    assert len(texts) == 3


@pytest.mark.thorough
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_tune_evaluation_keeps_old_weights_if_new_are_worse(
    played: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    form: list[str],
) -> None:
    samples = misleading()
    monkeypatch.setattr(texel, "read_sample", lambda dataset, part, limit: samples[part])
    output, new = tmp_path / "weights.py", tmp_path / "new.py"
    output.write_text("# the old ones\n")
    for file in (output, new):
        options = ("--iterations", 20, "--result-share", 1, *form)
        assert tune(played, "-o", file, *options) == 1
        said = capsys.readouterr()
        losses = re.search(r"games (\d\.\d+) after iteration \d+, before (\d\.\d+)", said.err)
        assert losses is not None
        assert float(losses[1]) > float(losses[2])
        assert "nothing written" in said.err
        if form:
            found = json.loads(said.out)
            assert found["file"] is None
            assert found["validation_loss"] > found["validation_loss_before"]
        else:
            assert said.out == ""
    assert output.read_text() == "# the old ones\n"
    assert not new.exists()


@pytest.mark.thorough
def test_too_few_positions_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = tmp_path / "few"
    list(generate(few, SelfPlayPlan(SelfPlaySettings(nodes=20), seed=2), "test", 1_500, 1))
    assert tune(few, "-o", tmp_path / "x.py") == 2
    assert "too few positions" in capsys.readouterr().err
    assert not (tmp_path / "x.py").exists()


def test_invalid_result_share_is_rejected(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        tune(played, "-o", tmp_path / "x.py", "--result-share", 2)
    assert ended.value.code == 2
    assert "--result-share" in capsys.readouterr().err


def test_missing_positions_file_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(tmp_path / "none", "-o", tmp_path / "x.py") == 2
    assert "No such file" in capsys.readouterr().err
    assert not (tmp_path / "x.py").exists()
