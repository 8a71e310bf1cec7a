"""Test self-play: reproducible files after interruptions, and reproducible labels."""

import contextlib
import hashlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from agent.chess.board.packed_position import unpack_board
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.evaluation import SHIPPED_NETWORK, evaluation_digest
from kempelen.cli import main
from kempelen.training import dataset_check
from kempelen.training.dataset import ALL, TRAINING, VALIDATION, Dataset
from kempelen.training.dataset_blocks import DatasetError
from kempelen.training.dataset_operations import merge, shuffle, split
from kempelen.training.dataset_writer import DatasetWriter
from kempelen.training.selfplay import (
    SelfPlayPlan,
    SelfPlayProgress,
    _with_absolute_paths,
    create_player,
    generate,
)
from kempelen.training.workers import GamesError
from tests import in_process
from tests.systems import posix_only
from tests.waiting import until

pytestmark = pytest.mark.early

RULES = SelfPlaySettings(nodes=60)
PLAN = SelfPlayPlan(RULES, seed=3)
POSITIONS = 5000


def play(path: Path, plan: SelfPlayPlan = PLAN, processes: int = 2) -> SelfPlayProgress:
    *_, last = generate(path, plan, "test", POSITIONS, processes)
    return last


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file made by one process without interruption."""
    path = tmp_path_factory.mktemp("played") / "whole"
    play(path, processes=1)
    return path


def test_file_is_sound_and_games_can_be_replayed(played: Path) -> None:
    found = dataset_check.check_dataset(played, games=8)
    assert found.is_valid
    assert found.positions >= POSITIONS
    assert found.legality_checked == found.positions
    assert found.games_replayed == 8
    assert found.median_difference < 100


@pytest.mark.thorough
def test_check_does_not_replay_games_of_derived_files(played: Path, tmp_path: Path) -> None:
    parts = tmp_path / "training", tmp_path / "validation"
    merge([played], tmp_path / "merged", lambda done: None)
    shuffle([played], tmp_path / "shuffled", 1, lambda done: None)
    split(played, *parts, Fraction(1, 20), lambda done: None)
    for path in (tmp_path / "merged", tmp_path / "shuffled", *parts):
        found = dataset_check.check_dataset(path, games=1)
        assert found.is_valid
        assert found.not_replayed.startswith("its games were renumbered")


@pytest.mark.thorough
def test_check_runs_named_evaluation_only_if_trusted(tmp_path: Path) -> None:
    module = tmp_path / "mine.py"
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'a').close()\ndef evaluate(board):\n    return 0\n"
    module.write_text(code)
    spec = f"{module}:evaluate"
    path = tmp_path / "games"
    *_, last = generate(
        path, SelfPlayPlan(SelfPlaySettings(nodes=2), evaluation=spec), "test", 40, 1
    )
    assert last.positions >= 40
    ran.unlink()
    found = dataset_check.check_dataset(path, games=1)
    assert (found.games_replayed, found.searched) == (0, 0)
    assert f"--evaluation {spec}" in found.not_replayed
    assert found.is_valid
    assert not ran.exists()
    assert dataset_check.check_dataset(path, games=1, trusted=spec).games_replayed == 1
    assert ran.exists()
    module.write_text(code.replace("0\n", "1\n"))
    assert "has changed" in dataset_check.check_dataset(path, games=1, trusted=spec).not_replayed
    module.unlink()
    assert str(module) in dataset_check.check_dataset(path, games=1, trusted=spec).not_replayed
    checked = in_process.run("train", "data", "check", path)
    assert (checked.returncode, checked.stdout.count("\n")) == (0, 3)
    assert "no games replayed: " in checked.stderr


def test_positions_are_quiet_and_labelled_for_the_side_to_move(played: Path) -> None:
    with Dataset(played) as dataset:
        everything = dataset[:]
    assert not any(unpack_board(packed).is_check() for packed in everything[::7])
    assert {-1, 0, 1} == set(everything["result"].tolist())
    # With so few nodes, not every won game is won, but none is lost.
    decided = everything[everything["result"] != 0]
    clear = decided[np.abs(decided["score"]) > 800]
    agree = np.sign(clear["score"]) == clear["result"]
    assert len(clear) > 100
    assert agree.mean() > 0.95


def test_every_label_comes_from_a_search(tmp_path: Path) -> None:
    *_, last = generate(tmp_path / "short", SelfPlayPlan(SelfPlaySettings(nodes=1)), "test", 200, 1)
    with Dataset(tmp_path / "short") as dataset:
        assert len(dataset) == last.positions
        assert dataset[:]["depth"].min() >= 1


def test_oversized_manifest_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kempelen.training.dataset_blocks._MAX_BODY", 1 << 10)
    with pytest.raises(DatasetError, match="use fewer openings"):
        DatasetWriter(tmp_path / "file", {"openings": ["x" * 50] * 100}, 32)
    assert not (tmp_path / "file").exists()


@pytest.mark.thorough
def test_several_processes_make_the_same_file(played: Path, tmp_path: Path) -> None:
    play(tmp_path / "other", processes=2)
    assert (tmp_path / "other").read_bytes() == played.read_bytes()


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@pytest.mark.thorough
def test_killed_and_resumed_run_makes_same_file(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "killed"
    code = (
        "import sys; from pathlib import Path\n"
        "from agent.chess.search.selfplay_settings import SelfPlaySettings\n"
        "from kempelen.training.selfplay import *\n"
        "if __name__ == '__main__':\n"
        f"    plan = SelfPlayPlan({RULES!r}, seed=3)\n"
        f"    for _ in generate(Path(sys.argv[1]), plan, 'test', {POSITIONS}, 2): pass\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    generator = random.Random(5)
    sizes = []
    for longest in (0.0, 0.2, 0.2):
        size = size_of(path)
        process = subprocess.Popen([sys.executable, script, path])
        until(lambda: process.poll() is not None or size_of(path) > size + 500)  # noqa: B023
        time.sleep(generator.uniform(0, longest))
        process.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        process.wait()
        sizes.append(path.stat().st_size)
    assert sizes[0] < played.stat().st_size
    play(path)
    assert path.read_bytes() == played.read_bytes()


@pytest.mark.thorough
def test_incomplete_last_block_is_regenerated(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(played.read_bytes()[:-100])
    with Dataset(path) as dataset:
        assert 0 < len(dataset) < POSITIONS
    first, *_ = list(generate(path, PLAN, "test", POSITIONS, 1))
    assert not first.damages
    assert path.read_bytes() == played.read_bytes()


@pytest.mark.thorough
def test_damaged_block_is_found_and_other_games_are_used(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    content = bytearray(played.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4] = b"\0\1\2\3"
    path.write_bytes(content)
    with Dataset(played) as whole, Dataset(path) as damaged:
        (damage,) = damaged.contents[0].damages
        assert damage.offset < middle < damage.offset + damage.length
        assert len(whole.contents[0].blocks) - 1 == len(damaged.contents[0].blocks)
        lost = set(whole.game_numbers()) - set(damaged.game_numbers())
        assert len(lost) == 32
        for number in random.Random(1).sample(damaged.game_numbers(), 20):
            assert (whole.game(number).training == damaged.game(number).training).all()
    assert not dataset_check.check_dataset(path, games=1).is_valid
    first, *_ = list(generate(path, PLAN, "test", POSITIONS, 1))
    assert first.damages == [damage]


def test_other_settings_and_foreign_files_are_rejected(played: Path, tmp_path: Path) -> None:
    before = played.read_bytes()
    with pytest.raises(DatasetError, match="seed was 3, is 4"):
        play(played, SelfPlayPlan(RULES, seed=4))
    assert played.read_bytes() == before
    other = tmp_path / "letter.txt"
    other.write_text("Dear diary, " * 100)
    with pytest.raises(DatasetError, match="not a file of positions"):
        play(other)
    assert other.read_text() == "Dear diary, " * 100
    with pytest.raises(DatasetError, match="No such file"):
        Dataset(tmp_path / "none")


def test_second_writer_is_rejected(played: Path) -> None:
    first = generate(played, PLAN, "test", POSITIONS, 1)
    next(first)
    with pytest.raises(DatasetError, match="another process"):
        play(played)
    first.close()


@pytest.mark.thorough
def test_failing_evaluation_stops_run_with_reason(tmp_path: Path) -> None:
    module = tmp_path / "failing.py"
    module.write_text("def evaluate(board):\n    return 1 / 0\n")
    with pytest.raises(GamesError, match="ZeroDivisionError"):
        play(tmp_path / "file", SelfPlayPlan(RULES, evaluation=f"{module}:evaluate"), processes=1)


def test_shipped_network_is_default_and_identified_by_digest(tmp_path: Path) -> None:
    located, digest = _with_absolute_paths(PLAN)
    assert located == PLAN == SelfPlayPlan(RULES, seed=3, evaluation="nnue")
    assert digest == hashlib.sha256(SHIPPED_NETWORK.read_bytes()).hexdigest()[:16]
    assert PLAN.manifest("test")["evaluation_digest"] == digest
    other = tmp_path / "other.nnue"
    other.write_bytes(SHIPPED_NETWORK.read_bytes())
    located, same = _with_absolute_paths(
        SelfPlayPlan(RULES, evaluation=f"nnue:{os.path.relpath(other)}")
    )
    assert (Path(located.evaluation.removeprefix("nnue:")).is_absolute(), same) == (True, digest)


def test_evaluation_digest_depends_on_module_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "judges"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "mine.py").write_text("def evaluate(board):\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    first = evaluation_digest("judges.mine:evaluate")
    assert first == evaluation_digest(f"{package / 'mine.py'}:evaluate") != ""
    (package / "mine.py").write_text("def evaluate(board):\n    return 2\n")
    assert evaluation_digest("judges.mine:evaluate") != first
    for unknown in ("judges.none:evaluate", "none.at.all:evaluate", "sys:exit", "a..b:c", ":"):
        assert evaluation_digest(unknown) == ""
    assert evaluation_digest("handcrafted") == ""


@pytest.mark.parametrize("game", ["chess", "go"])
def test_invalid_path_is_rejected_before_compilation(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kempelen.commands.train_selfplay.load_kernels", pytest.fail)
    assert main(["train", "selfplay", str(tmp_path / "none" / "x"), "--game", game]) == 2
    assert "none/x: its folder does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--games", "5"], "--games is only for Go: add --game go"),
        (
            ["--game", "go", "--nodes", "5"],
            "--nodes is only for chess (expected for Go",
        ),
        (["--game", "go", "--positions", "5"], "--positions is only for chess"),
    ],
)
def test_options_of_other_game_are_rejected(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "selfplay", str(tmp_path / "x"), *words]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("field", ["occupied", "pieces"])
def test_check_counts_invalid_positions_as_illegal(
    field: str, played: Path, tmp_path: Path
) -> None:
    with Dataset(played) as dataset:
        some = dataset[:20].copy()
    some[field][3] = ~np.uint64(0)
    path = tmp_path / "strange"
    with DatasetWriter(path, {"engine": "another"}, block_games=1) as writer:
        writer.add(some)
    found = dataset_check.check_dataset(path, 1)
    assert (found.positions, found.illegal) == (20, 1)


@pytest.mark.thorough
def test_unplayable_openings_stop_run_with_reason(tmp_path: Path) -> None:
    lost = "4k3/8/8/8/8/8/8/QQQQK3 w - - 0 1"
    with pytest.raises(GamesError, match="1000 attempts all ended or decided the game"):
        play(tmp_path / "file", SelfPlayPlan(RULES, openings=(lost,)), processes=1)


@pytest.mark.thorough
def test_run_without_new_positions_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kempelen.training.selfplay.MAX_FRUITLESS_BLOCKS", 2)
    plan = SelfPlayPlan(SelfPlaySettings(nodes=5, random_plies=0), evaluation="handcrafted")
    with pytest.raises(GamesError, match="no new position in 64 games"):
        play(tmp_path / "file", plan, processes=1)
    with Dataset(tmp_path / "file") as dataset:
        assert 0 < len(dataset) < POSITIONS


def test_random_access_equals_reading_in_order(played: Path) -> None:
    with Dataset(played) as dataset:
        everything = np.concatenate(list(dataset.blocks()))
        assert len(everything) == len(dataset)
        indices = np.random.default_rng(1).integers(-len(dataset), len(dataset), 500)
        assert (dataset[indices] == everything[indices]).all()
        assert dataset[7] == everything[7]
        assert (dataset[10:5000:77] == everything[10:5000:77]).all()
        with pytest.raises(IndexError):
            dataset[len(dataset)]


def test_parts_are_whole_games_and_batches_are_shuffled(played: Path) -> None:
    with Dataset(played) as dataset:
        parts = {part: np.concatenate(list(dataset.blocks(part))) for part in range(3)}
        assert len(parts[TRAINING]) + len(parts[VALIDATION]) == len(parts[ALL])
        assert 0.02 < len(parts[VALIDATION]) / len(parts[ALL]) < 0.09
        held_out = {packed.tobytes() for packed in parts[VALIDATION]}
        for number in dataset.game_numbers():
            shares = {packed.tobytes() in held_out for packed in dataset.game(number).training}
            assert len(shares) < 2
        batches = list(dataset.batches(512, TRAINING, seed=1))
        assert {len(batch) for batch in batches[:-1]} == {512}
        shuffled = np.concatenate(batches)
        assert not (shuffled == parts[TRAINING]).all()
        assert (np.sort(shuffled.view("V32")) == np.sort(parts[TRAINING].view("V32"))).all()
        again = np.concatenate(list(dataset.batches(512, TRAINING, seed=1)))
        assert (again == shuffled).all()


def test_castling_and_en_passant_survive_packing() -> None:
    openings = (
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 12 40",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    )
    rules = SelfPlaySettings(nodes=20, random_plies=0, first_ply=0, opening_limit=30_000)
    boards = []
    for seed in range(6):
        games = create_player(SelfPlayPlan(rules, seed, openings=openings)).play(0)
        boards += [unpack_board(packed) for packed in games]
    fens = {board.fen(en_passant="fen") for board in boards}
    assert fens & set(openings)
    for before, after in itertools.pairwise(boards):
        if after.ply() == before.ply() + 1:
            nexts = []
            for move in before.legal_moves:
                before.push(move)
                nexts.append(before.board_fen())
                before.pop()
            assert after.board_fen() in nexts


def test_selfplay_command_generates_shows_and_checks(tmp_path: Path) -> None:
    command = ("train", "selfplay", tmp_path / "file", "--json")
    settings = ("--nodes", 50, "--positions", 1000, "--processes", 1)
    played = in_process.run(*command, *settings)
    assert played.returncode == 0, played.stderr
    made = json.loads(played.stdout)
    assert made["positions"] >= 1000
    shown = in_process.run(*command, "--show")
    assert shown.returncode == 0, shown.stderr
    manifest = json.loads(shown.stdout)
    assert manifest["positions"] == made["positions"]
    assert manifest["rules"]["nodes"] == 50
    assert in_process.run(*command, "--check", 2).returncode == 0
    refused = in_process.run(*command)
    assert refused.returncode == 2
    assert "has other settings" in refused.stderr


@pytest.mark.thorough
def test_chess_engine_does_not_import_selfplay() -> None:
    code = (
        "import sys; from agent.kernel import compilation; compilation.load('alphabeta')\n"
        "import agent.chess.engine.backend\n"
        "assert 'agent.chess.search.selfplay' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_worker_processes_end_when_command_is_killed(tmp_path: Path) -> None:
    words = ["train", "selfplay", str(tmp_path / "games"), "--nodes", "5000000", "--processes", "1"]
    line = [sys.executable, "-m", "kempelen.cli", *words]
    with subprocess.Popen(line, start_new_session=True) as run:
        assert until(lambda: any(used > 100 for _, used in members(run.pid)))
        run.kill()
    assert until(lambda: not members(run.pid))


def members(session: int) -> list[tuple[int, int]]:
    """Return the living processes of a session except its leader:

    their ids, and their CPU ticks.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            if int(words[3]) == session != int(path.parent.name) and words[0] != "Z":
                found.append((int(path.parent.name), int(words[11])))
    return found


_STARTS_WITH_BLOCKED_SIGNAL = """
import signal
from multiprocessing import resource_tracker
from kempelen.training.workers import _start
class Process:
    def start(self):
        resource_tracker.ensure_running()  # as a spawned process does
        print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
_start(Process())
print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


@posix_only("signal masks")
def test_first_worker_starts_with_blocked_ctrl_c():
    run = subprocess.run(
        [sys.executable, "-c", _STARTS_WITH_BLOCKED_SIGNAL],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["True", "False"]
