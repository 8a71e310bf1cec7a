import re

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


CASTLING = "4k3/8/8/8/8/8/8/4K2R w K -"


@pytest.mark.parametrize(
    ("line", "best", "name"),
    [
        (f"{CASTLING} bm 0-0; id A.001;", ("e1g1",), "A.001"),
        (f"{CASTLING} bm O-O!;", ("e1g1",), "a.epd:1"),
        (f"{START} bm Nf3!; id WAC.001 b;", ("g1f3",), "WAC.001 b"),
        (f"{START} bm 1. e4, d4!? Nf3+=;", ("e2e4", "d2d4", "g1f3"), "a.epd:1"),
        (f'{START} 0 1; bm e2e4; id "a; \\"b\\"";', ("e2e4",), 'a; "b"'),
        (f"{START} 0 1 bm e4", ("e2e4",), "a.epd:1"),
        (f'{START} bm "e4";id"x";', ("e2e4",), "x"),
        ("8/P6k/8/8/8/8/8/K7 w - - bm a8=Q! a8(R);", ("a7a8q", "a7a8r"), "a.epd:1"),
    ],
)
def test_lines_of_published_suites_are_read(tmp_path, line, best, name):
    path = tmp_path / "a.epd"
    path.write_text(line + "\n", "utf-8")
    (problem,) = read_epd_file(path)
    assert (problem.best, problem.name) == (best, name)


STS = (
    "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; "
    'id "Undermine.001"; c0 "f5=10, Be5+=2, Bf2=3, Bg4=2"; c7 "f5 Be5+ Bf2 Bg4"; c8 "10 2 3 2";'
)


def test_points_for_moves_are_read_from_comments(tmp_path):
    path = tmp_path / "a.epd"
    path.write_text(
        f'{STS}\n{START} c0 "Nf3=7,e4 = 7, d4=1";\n{START} bm e4; c0 "score=good";\n'
        f'{START} bm e4; c0 "elo=2400"; c1 "e4=3";\n', "utf-8",
    )  # fmt: skip
    undermine, only_points, comment, other = read_epd_file(path)
    moves = ("f4f5", "d4e5", "d4f2", "f3g4", "g1g2")
    assert [undermine.points_for(move) for move in moves] == [10, 2, 3, 2, 0]
    assert (undermine.max_points, undermine.best) == (10, ("f4f5",))
    assert (only_points.max_points, only_points.best) == (7, ("g1f3", "e2e4"))
    assert (comment.points, comment.max_points) == ((), 0)
    assert other.points == (("e2e4", 3),)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "expected 8 rows"),
        (f"{START} bm e5;", "illegal san"),
        (f"{START} bm --;", "bm: invalid move '--'"),
        (f"{START} dm 4; am 3;", "am: invalid san: '3'"),
        (f'{START} bm e4; c0 "e4=10, e5=2";', "c0: illegal san: 'e5'"),
        (f"{START} dm 2.5;", "dm must be a number"),
        (f"{START} dm 0;", "dm must be a number"),
        (f"{START} dm {'9' * 400};", "dm must be a number of moves from 1 to 1000"),
        (f'{START} id "no condition";', "bm, am or dm is missing"),
        ("8/8/8/8/8/8/8/8 w - - dm 1;", "illegal chess position"),
    ],
)
def test_invalid_epd_line_is_named_and_skipped(tmp_path, line, reason):
    path = tmp_path / "a.epd"
    path.write_text(f"{START} bm e4;\n{line}\n{START} bm d4;\n", "utf-8")
    messages = []
    assert [each.best for each in read_epd_file(path, on_invalid=messages.append)] == [
        ("e2e4",),
        ("d2d4",),
    ]
    (message,) = messages
    assert re.match(rf"a.epd, line 2: .*{reason}", message)
    path.write_text(line, "utf-8")
    with pytest.raises(SettingsError, match=rf"no positions found \(a.epd, line 1: .*{reason}"):
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
