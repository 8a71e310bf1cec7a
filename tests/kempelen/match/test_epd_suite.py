import pytest

from agent.limits import Cp, Mate
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.suites.epd_suite import EpdPosition, read_epd_file, run_suite
from protocols import tasks
from tests.kempelen.match.support import engine, unreliable_program
from tests.support import failing

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


@pytest.mark.parametrize(
    ("problem", "move", "score", "solved"),
    [
        (EpdPosition("", "", "", best=("e2e4", "d2d4")), "d2d4", None, True),
        (EpdPosition("", "", "", best=("e2e4", "d2d4")), "c2c4", None, False),
        (EpdPosition("", "", "", avoid=("f2f3",)), "e2e4", Cp(0), True),
        (EpdPosition("", "", "", avoid=("f2f3",)), "f2f3", Cp(0), False),
        (EpdPosition("", "", "", mate=3), "e2e4", Mate(3), True),
        (EpdPosition("", "", "", mate=3), "e2e4", Mate(4), False),
        (EpdPosition("", "", "", mate=3), "e2e4", Mate(2), False),
        (EpdPosition("", "", "", mate=3), "e2e4", Cp(3), False),
        (EpdPosition("", "", "", best=("d2d4",), mate=3), "e2e4", Mate(3), False),
    ],
)
def test_problem_requires_all_its_conditions(problem, move, score, solved):
    assert problem.is_solved_by(move, score) is solved


def test_epd_opcodes_are_parsed(tmp_path):
    path = tmp_path / "a.epd"
    path.write_text(f'# remark\n{START} bm e4 d4; am f3; id "one"; dm 4;\n\n{START} am g4;\n')
    one, two = read_epd_file(path)
    assert (one.name, one.best, one.avoid, one.mate) == (
        "one",
        ("e2e4", "d2d4"),
        ("f2f3",),
        4,
    )
    assert (two.name, two.best, two.mate) == ("a.epd:4", (), None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "expected 8 rows"),
        (f"{START} bm e5;", "illegal san"),
        (f'{START} bm "e4";', "bm: must be moves"),
        (f"{START} dm 4; am 3;", "am: must be moves"),
        (f"{START} dm 0;", "dm must be a number"),
        (f"{START} dm {'9' * 400};", "dm must be a number of moves from 1 to 1000"),
        (f'{START} id "no condition";', "bm, am or dm is missing"),
        ("8/8/8/8/8/8/8/8 w - - dm 1;", "illegal chess position"),
    ],
)
def test_invalid_epd_line_is_reported_by_number(tmp_path, line, reason):
    path = tmp_path / "a.epd"
    path.write_text(f"{START} bm e4;\n{line}\n", "utf-8")
    with pytest.raises(SettingsError, match=rf"a.epd, line 2: .*{reason}"):
        read_epd_file(path)


def test_missing_or_empty_file_is_rejected(tmp_path):
    with pytest.raises(SettingsError, match=r"none.epd"):
        read_epd_file(tmp_path / "none.epd")
    (tmp_path / "empty.epd").write_text("# nothing\n", "utf-8")
    with pytest.raises(SettingsError, match=r"no positions"):
        read_epd_file(tmp_path / "empty.epd")


@pytest.mark.thorough
async def test_engine_crash_fails_one_position_only():
    problems = [EpdPosition("f", str(n), START + " 0 1", avoid=("h2h4",)) for n in range(6)]
    progress = []
    results = await run_suite(problems, engine("dies", 2), TimeControl(nodes=1), 2, progress.append)
    assert [result.problem for result in results] == problems
    assert progress == [1, 2, 3, 4, 5, 6]
    failed = [result for result in results if result.error]
    assert failed
    assert all(result.solved for result in results if not result.error)
    assert len(failed) <= len(results) / 2


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("works", "errors"),
    [("-ne 2", ["dies"] * 3), ("-lt 2", ["dies", "start", "start"])],
    ids=["again", "no more"],
)
async def test_positions_wait_for_engine_that_does_not_start_again(
    tmp_path, monkeypatch, works, errors
):
    monkeypatch.setattr(tasks, "MIN_RETRY_PAUSE_S", 0.01)
    if works == "-lt 2":
        monkeypatch.setattr(tasks, "RETRY_TIMEOUT_S", 0)
    command, arguments = failing("dies")
    program = unreliable_program(tmp_path, works, [command, *arguments])
    problems = [EpdPosition("f", str(n), START + " 0 1", avoid=("h2h4",)) for n in range(3)]
    player = EngineSettings(program, name="x", start_limit=10)
    results = await run_suite(problems, player, TimeControl(nodes=1), 1)
    texts = {
        "dies": "ended with status 3: cannot go on",
        "start": "engine x: could not start: ended with status 4",
    }
    assert [result.error for result in results] == [texts[error] for error in errors]


async def test_unknown_engine_option_stops_suite():
    problems = [EpdPosition("f", "1", START + " 0 1", avoid=("h2h4",))]
    with pytest.raises(SettingsError, match="unknown option Nothing"):
        await run_suite(problems, engine(options={"Nothing": 1}), TimeControl(nodes=1), 1)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("failure", ["illegal", "null-move", "no-move", "empty-bestmove"])
async def test_illegal_or_missing_move_does_not_solve_problem(failure):
    problems = [EpdPosition("f", "1", START + " 0 1", avoid=("h2h4",))]
    (result,) = await run_suite(problems, engine(failure), TimeControl(nodes=1), 1)
    assert not result.solved
    assert "illegal move" in result.error
