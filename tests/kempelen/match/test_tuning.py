import asyncio
import json
import math
import random
import sys
from types import SimpleNamespace

import chess
import pytest

from agent.io.file_lock import lock_path
from kempelen import cli
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import Adjudication, OpeningSettings, Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines import engine_protocols
from kempelen.match.game.openings import Opening
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.runner import RunStoppedError
from kempelen.match.tuning import tuning
from kempelen.match.tuning.spsa import Spsa, Trial, TunableParameter
from kempelen.match.tuning.tuning import VerificationTrials, engine_options, parse_tunables
from protocols import tasks
from protocols.client.process import EngineError
from protocols.client.uci import UciClient
from tests.external import program
from tests.kempelen.match.support import engine, unreliable_program
from tests.support import failing

TRIALS = 4000


def strength(values):
    """Return the Elo of a player; the best values are 30 and 700."""
    return -((values["a"] - 30) ** 2) / 20 - ((values["b"] - 700) ** 2) / 5000


def balance(trial, chance):
    """Play two games with results drawn by the players' strengths."""
    gap = strength(trial.plus) - strength(trial.minus)
    win = 1 / (1 + math.pow(10, -gap / 400))
    return sum(1 if chance.random() < win else -1 for _ in range(2))


def fake_engine_command():
    """Return the --engine value for an engine with the option Hash."""
    command, arguments = failing("none")
    return f"cmd={command},args={' '.join(arguments)}"


def test_spsa_finds_best_values_despite_noise():
    spsa = Spsa(
        [TunableParameter("a", 90, 0, 100, 5, 0.02), TunableParameter("b", 300, 0, 1000, 50, 0.02)],
        TRIALS,
        seed=3,
    )
    chance = random.Random(4)
    for _ in range(TRIALS):
        trial = spsa.ask()
        spsa.tell(trial, balance(trial, chance))
    found = spsa.values()
    assert strength({"a": 90, "b": 300}) < -200
    assert strength(found) > -20


def test_spsa_values_are_integers_within_range():
    spsa = Spsa([TunableParameter("a", 1, 1, 3, 5)], 50)
    for _ in range(50):
        trial = spsa.ask()
        assert {trial.plus["a"], trial.minus["a"]} <= {1, 2, 3}
        spsa.tell(trial, 2)
        assert 1 <= spsa.theta["a"] <= 3


def test_spsa_perturbation_is_unbiased():
    spsa = Spsa([TunableParameter("a", 10.25, 0, 20, 1.5)], 1)
    trials = []
    for _ in range(4000):
        spsa.asked = 0
        trials.append(spsa.ask())
    assert sum(t.plus["a"] + t.minus["a"] for t in trials) / 8000 == pytest.approx(10.25, abs=0.1)
    assert {abs(t.plus["a"] - t.minus["a"]) for t in trials} <= {2, 3, 4}


def test_state_is_loaded_only_for_same_tuning(tmp_path):
    path = tmp_path / "state.json"
    spsa = Spsa([TunableParameter("a", 5, 0, 10, 1)], 10)
    spsa.tell(spsa.ask(), 2)
    spsa.save(path)
    again = Spsa([TunableParameter("a", 5, 0, 10, 1)], 10)
    again.load(path)
    assert (again.theta, again.told) == (spsa.theta, 1)
    with pytest.raises(SettingsError, match="other parameters"):
        Spsa([TunableParameter("a", 5, 0, 10, 2)], 10).load(path)
    path.write_text("{")
    with pytest.raises(SettingsError, match="not a tuning state"):
        again.load(path)


def test_state_is_rejected_if_game_settings_changed(tmp_path):
    def spsa(**made_with):
        return Spsa([TunableParameter("a", 5, 0, 10, 1)], 10, made_with=made_with)

    path = tmp_path / "state.json"
    spsa(nodes=100, tc=None).save(path)
    before = path.read_bytes()
    spsa(nodes=100, tc=None).load(path)
    with pytest.raises(
        SettingsError, match=r"settings: nodes was 100, is 200; tc was not given, is 1\+1 \(use"
    ):
        spsa(nodes=200, tc="1+1").load(path)
    assert path.read_bytes() == before
    state = json.loads(before)
    del state["made_with"]
    path.write_text(json.dumps(state))  # as earlier versions wrote it
    spsa(nodes=200, tc="1+1").load(path)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--nodes", "2"], "--nodes was 1, is 2"),
        (["--tc", "1+1"], "--tc was not given, is 1+1; --nodes was 1, is not given"),
        (["--seed", "2"], "--seed was 0, is 2"),
        (["--openings", "{}/o.epd"], "--openings was "),
        (["--engine", "{} --quiet"], "--engine was "),
    ],
)
def test_a_second_run_with_other_settings_is_refused(tmp_path, capsys, monkeypatch, more, reason):
    async def play_game(*arguments):
        return SimpleNamespace(white_score=0.5, detail="")

    monkeypatch.setattr(tuning, "play_game", play_game)
    (tmp_path / "o.epd").write_text("4k3/8/8/8/8/8/4P3/4K3 w - -\n")
    state = tmp_path / "state.json"
    line = [
        "train",
        "tune",
        "search",
        "Hash",
        "--engine",
        fake_engine_command(),
        "--pairs",
        "1",
        "--nodes",
        "1",
    ]
    line += ["--check", "0", "--state", str(state)]
    assert cli.main(line) == 0
    before = state.read_bytes()
    assert cli.main(line) == 0
    capsys.readouterr()
    places = {"--engine": fake_engine_command(), "--openings": tmp_path}
    assert cli.main([*line, *(word.replace("{}", str(places.get(more[0]))) for word in more)]) == 2
    assert f"{state}: made with other settings: {reason}" in capsys.readouterr().err
    assert state.read_bytes() == before


def test_state_is_locked_by_one_process(tmp_path, capsys):
    state = tmp_path / "state.json"
    line = [
        "train",
        "tune",
        "search",
        "Hash",
        "--engine",
        fake_engine_command(),
        "--pairs",
        "1",
        "--nodes",
        "1",
    ]
    with lock_path(str(state)):
        assert cli.main([*line, "--state", str(state)]) == 2
    assert "state.json is in use by another process" in capsys.readouterr().err
    assert not state.exists()


@pytest.mark.needs("stockfish")
def test_only_spin_options_can_be_tuned():
    engine = EngineSettings(command=program("stockfish"), name="stockfish")
    options = asyncio.run(engine_options(engine))
    assert [t.name for t in parse_tunables(options, ["skill level=2"])] == ["Skill Level"]
    with pytest.raises(SettingsError, match="unknown spin option"):
        parse_tunables(options, ["Ponder"])
    with pytest.raises(SettingsError, match="STEP"):
        parse_tunables(options, ["Skill Level=much"])


@pytest.mark.thorough
def test_search_constants_are_tuned_and_run_resumes(tmp_path, capsys):
    state = tmp_path / "state.json"
    command = ["train", "tune", "search", "FutilityMargin", "ReverseFutilityMargin=40"]
    command += ["--nodes", "40", "--pairs", "3"]
    command += ["--state", str(state), "--json", "--check", "0"]
    assert cli.main(command) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["pairs"] == 3
    assert result["check"] is None
    assert set(result["values"]) == {"FutilityMargin", "ReverseFutilityMargin"}
    assert json.loads(state.read_text())["told"] == 3
    assert cli.main(command) == 0
    assert json.loads(capsys.readouterr().out) == result


@pytest.mark.needs("stockfish")
def test_invalid_tuning_arguments_are_reported(capsys):
    spec = f"cmd={sys.executable},args=-c pass"
    assert cli.main(["train", "tune", "search", "Hash", "--engine", spec]) == 2
    assert "kempelen: engine" in capsys.readouterr().err
    assert cli.main(["train", "tune", "search", "--engine", f"cmd={program('stockfish')}"]) == 2
    assert "missing names of options" in capsys.readouterr().err
    command = ["train", "tune", "search", "Hash", "--tc", "1+1", "--engine", "cmd=gnugo,proto=gtp"]
    assert cli.main(command) == 2
    assert "protocol must be uci (got gtp)" in capsys.readouterr().err


def test_check_plays_tuned_values_against_original_values():
    spsa = Spsa([TunableParameter("a", 5, 0, 10, 1), TunableParameter("b", 7, 0, 10, 1)], 10)
    spsa.theta["a"] = 8.3
    check = VerificationTrials(spsa, 3)
    for balance in (-2.0, 1.0, 1.0):
        trial = check.ask()
        assert (trial.plus, trial.minus) == ({"a": 8, "b": 7}, {"a": 5, "b": 7})
        check.tell(trial, balance)
    assert (check.asked, check.told, check.counts) == (3, 3, [1, 0, 0, 2, 0])


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("better", "status"), [(True, 0), (False, 1)])
def test_exit_status_is_1_if_tuned_values_lose_check(capsys, monkeypatch, better, status):
    played = []

    async def play_game(settings, assignment, *rest):
        """Let the tuned values win or lose all games; tuning games are draws."""
        played.append(assignment)
        checking = assignment.pair.round == 2
        score = float(better == (assignment.game == 1)) if checking else 0.5
        return SimpleNamespace(white_score=score, detail="")

    monkeypatch.setattr(tuning, "play_game", play_game)
    monkeypatch.setattr(Spsa, "values", lambda self: {"Hash": 50})
    command = [
        "train",
        "tune",
        "search",
        "Hash",
        "--engine",
        fake_engine_command(),
        "--pairs",
        "21",
    ]
    assert cli.main(command) == status
    output = capsys.readouterr()
    assert [assignment.pair.round for assignment in played] == [1] * 42 + [2] * 6
    assert ("weaker than the old ones by" in output.err) == (not better)
    assert ("against the old values: +" in output.out) == better
    assert cli.main([*command, "--check", "-1"]) == 2
    assert "--check must be at least 0" in capsys.readouterr().err


def test_unchanged_values_are_not_checked():
    spsa = Spsa([TunableParameter("a", 5, 0, 10, 1)], 10)
    assert asyncio.run(tuning.verify(None, spsa, 3, report=lambda completed: None)) is None


def test_unwritable_state_path_is_reported(tmp_path, capsys):
    line = [
        "train",
        "tune",
        "search",
        "Hash",
        "--engine",
        fake_engine_command(),
        "--pairs",
        "1",
        "--nodes",
        "1",
    ]
    assert cli.main([*line, "--state", str(tmp_path / "no" / "state.json")]) == 2
    assert "state.json: its folder does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("change", ['"told": "x"', '"told": -1', '"theta": {"Depth": NaN}'])
def test_damaged_state_is_rejected(tmp_path, change):
    path = tmp_path / "state.json"
    spsa = Spsa([TunableParameter("Depth", 5, 1, 9, 1)], 10)
    spsa.save(path)
    state = json.loads(path.read_text()) | json.loads("{" + change + "}")
    path.write_text(json.dumps(state))
    with pytest.raises(SettingsError, match="not a tuning state"):
        spsa.load(path)


@pytest.mark.thorough
def test_go_search_settings_are_tuned(tmp_path, capsys):
    state = tmp_path / "state.json"
    command = ["train", "tune", "search", "nakade=0.2", "near_1", "--game", "go", "--size", "5"]
    command += ["--nodes", "20", "--pairs", "1", "--check", "0", "--state", str(state), "--json"]
    assert cli.main(command) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["pairs"] == 1
    assert set(result["values"]) == {"nakade", "near_1"}
    assert result["values"]["nakade"] == pytest.approx(0.8, abs=0.05)
    assert result["values"]["near_1"] == pytest.approx(24, abs=1)


def test_trial_engines_start_with_their_own_settings(monkeypatch):
    seen = []

    async def play_game(settings, assignment, pool, *rest):
        """Let the player with the greater value win."""
        engines = pool._engines
        numbers = [float(each.arguments[-1].rpartition("=")[2]) for each in engines]
        seen.append((numbers, [each.arguments[-1] for each in engines], settings.game))
        first = numbers[0] > numbers[1]
        return SimpleNamespace(white_score=float(first == (assignment.game == 1)), detail="")

    monkeypatch.setattr(tuning, "play_game", play_game)
    spsa = Spsa(tuning.parse_go_tunables(["nakade=0.1"]), 30, seed=1)
    engine = EngineSettings(
        command=sys.executable, arguments=("gtp",), name="ours", protocol=EngineProtocol.GTP
    )
    settings = Settings(
        engines=tuning.tuning_players(engine),
        time=TimeControl(movetime=1),
        game=GameSettings("go", {"size": 5}),
        openings=OpeningSettings(plies=2),
    )
    asyncio.run(tuning.tune(settings, spsa, report=lambda completed: None))
    assert len(seen) == 60
    for numbers, words, game in seen:
        assert game.options == {"size": 5}
        assert all(word.startswith("--set=nakade=") for word in words)
        assert abs(numbers[0] - numbers[1]) > 0.05
        assert all(0 <= number <= 1 for number in numbers)
    assert spsa.values()["nakade"] > 800


def test_invalid_go_tuning_arguments_are_reported(capsys):
    line = ["train", "tune", "search", "--game", "go"]
    assert cli.main([*line, "luck"]) == 2
    assert "luck: unknown Go search setting (expected one of: capture, " in capsys.readouterr().err
    assert cli.main([*line, "nakade=x"]) == 2
    assert "invalid step" in capsys.readouterr().err
    assert cli.main([*line, "nakade", "--engine", "cmd=gnugo"]) == 2
    assert "--engine: requires --game chess" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main([*line, "nakade", "--size", "40"])
    assert "WIDTHxHEIGHT such as 9x13, not '40'" in capsys.readouterr().err


def trial_executor(player):
    settings = Settings(
        engines=tuning.tuning_players(player),
        time=TimeControl(nodes=1, patience=5),
        adjudication=Adjudication(maxmoves=4),
    )
    return tuning.LocalTrialExecutor(settings)


async def play_trial(executor):
    trial = Trial({"Hash": 5}, {"Hash": 7}, {})
    try:
        return await executor.play(trial, PairKey(1, 1, 0, 1), Opening(chess.STARTING_FEN))
    finally:
        await executor.close()


@pytest.mark.thorough
async def test_restarted_engine_keeps_values_of_trial(monkeypatch):
    started = []

    def make_player(player, context):
        started.append((player.name, dict(player.options)))
        return engine_protocols.make_player(player, context)

    monkeypatch.setattr(tuning, "make_player", make_player)
    # The tuned player is White in the first game and dies at its second move.
    scores = await play_trial(trial_executor(engine("dies", 2)))
    assert scores == [0.0, 0.0]
    values = {"plus": {"Hash": 5}, "minus": {"Hash": 7}}
    assert sorted({name for name, _ in started[2:]}) == ["plus"]
    assert all(options == values[name] for name, options in started)


async def test_tuning_stops_if_engine_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    command, arguments = failing("none")
    program = unreliable_program(tmp_path, "-le 1", [command, *arguments])
    player = EngineSettings(program, name="x", start_limit=10)
    with pytest.raises(RunStoppedError, match="ended with status 4"):
        await play_trial(trial_executor(player))


async def test_engine_that_fails_while_configured_is_closed(monkeypatch):
    closed = []

    class FailingEngine(UciClient):
        async def start(self):
            pass

        async def new_game(self):
            pass

        async def configure(self, options):
            raise EngineError("no answer")

        async def close(self):
            closed.append(self)

    monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0.1)
    monkeypatch.setattr(tasks, "MIN_RETRY_PAUSE_S", 0.2)
    monkeypatch.setattr(tuning, "make_player", lambda player, context: FailingEngine("x"))
    executor = trial_executor(EngineSettings("x", name="x"))
    with pytest.raises(RunStoppedError, match="no answer"):
        await executor.play(Trial({"Hash": 5}, {"Hash": 7}, {}), PairKey(1, 1, 0, 1), None)
    assert len(closed) == 2
    await executor.close()
