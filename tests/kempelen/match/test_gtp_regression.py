import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.suites.gtp_regression import (
    RegressionOutcome,
    read_regression_file,
    run_regression,
)
from protocols import tasks
from tests.kempelen.match.support import unreliable_program
from tests.support import failing_gtp

SUITE = """\
# A comment, and a command without a number.
boardsize 9   # nine
10 reg_genmove black
#? [D4|E5]

20 reg_genmove white
# not at once
#? [!(A1|B2)]*  # a blunder
30 get_komi
31 reg_genmove black
#? []&
"""


def test_suite_commands_and_expected_answers_are_parsed(tmp_path):
    path = tmp_path / "a.tst"
    path.write_text(SUITE, "utf-8")
    file = read_regression_file(path)
    assert [(step.line, step.number, step.command) for step in file.steps] == [
        (2, "", "boardsize 9"),
        (3, "10", "reg_genmove black"),
        (6, "20", "reg_genmove white"),
        (9, "30", "get_komi"),
        (10, "31", "reg_genmove black"),
    ]
    one, two, three = (step.expected for step in file.tests)
    assert one.is_met_by("D4")
    assert one.is_met_by("e5")
    assert not one.is_met_by("E55")
    assert (one.known_to_fail, two.known_to_fail) == (False, True)
    assert not two.is_met_by("A1")
    assert two.is_met_by("PASS")
    assert two.is_met_by("A11")
    assert (two.ignored, three.ignored) == (False, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("clear_board\n#? [D4]\n", r"a.tst, line 2: missing numbered command"),
        ("1 reg_genmove b\n#? [D4]\n#? [D5]\n", r"a.tst, line 3: missing numbered command"),
        ("1 reg_genmove b\n#? D4\n", r"a.tst, line 2: invalid test .*expected #\? \[...\]"),
        ("1 reg_genmove b\n#? [D4]x\n", r"a.tst, line 2: invalid test .*expected #\? \[...\]"),
        ("1 reg_genmove b\n#? [D4(]\n", r"a.tst, line 2: invalid regular expression"),
        ("1 reg_genmove b\n", r"a.tst: no tests found"),
        ("", r"a.tst: no tests found"),
    ],
)
def test_invalid_suite_error_names_file_and_line(text, reason, tmp_path):
    path = tmp_path / "a.tst"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=reason):
        read_regression_file(path)
    with pytest.raises(SettingsError, match=r"cannot read .*none.tst"):
        read_regression_file(tmp_path / "none.tst")


def test_outcomes_have_readable_names():
    assert {str(outcome) for outcome in RegressionOutcome} == {
        "passed", "failed", "failed as expected", "passed unexpectedly", "ignored",
    }  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("works", ["-ne 2", "-lt 2"], ids=["again", "no more"])
async def test_next_file_waits_for_engine_that_does_not_start(tmp_path, monkeypatch, works):
    monkeypatch.setattr(tasks, "MIN_RETRY_PAUSE_S", 0.01)
    command, arguments = failing_gtp("none")
    program = unreliable_program(tmp_path, works, [command, *arguments])
    path = tmp_path / "a.tst"
    path.write_text("1 name\n#? [Failing none]\n")
    files = [read_regression_file(path)] * 2
    player = EngineSettings(program, name="x", start_limit=10, protocol=EngineProtocol.GTP)
    if works == "-lt 2":
        monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
        with pytest.raises(SettingsError, match="engine x: could not start: ended with status 4"):
            await run_regression(files, player, 10)
        return
    results, _ = await run_regression(files, player, 10)
    assert [result.outcome for result in results] == [RegressionOutcome.PASSED] * 2
