import json
import time
from collections import Counter
from pathlib import Path

import chess
import pytest

from kempelen.match.suites.epd_suite import read_epd_file
from protocols.client.engine import START_LIMIT
from tests import in_process
from tests.support import failing

MATES = Path(__file__).parents[1] / "data" / "mates.epd"

MATE = '6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; dm 1; id "back rank";\n'
TOO_LONG = '6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; dm 2; id "too long";\n'


def epd(*arguments):
    return in_process.run("suite", *arguments)


@pytest.fixture
def files(tmp_path):
    good, bad = tmp_path / "good.epd", tmp_path / "bad.epd"
    good.write_text(MATE, "utf-8")
    bad.write_text(TOO_LONG, "utf-8")
    return good, bad


@pytest.mark.thorough
def test_table_shows_totals_and_unsolved_positions(files, warm_cache):
    done = epd(*files, "--depth", 4, "--concurrency", 2)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["good.epd", "1", "1", "100.0%", "0"] in [line[:5] for line in lines]
    assert ["all", "1", "2", "50.0%", "0"] in [line[:5] for line in lines]
    assert ["too", "long", "Rd8#", "#2", "Rd8#", "#1"] in lines


def test_json_reports_the_results_of_a_user_engine(files):
    command, arguments = failing("none")
    words = " ".join(arguments)
    engine = f"cmd={command},args={words},name=first"
    done = epd(files[0], "--engine", engine, "--nodes", 1, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["engine"] == "first"
    assert (found["files"][0]["solved"], found["files"][0]["positions"]) == (0, 1)
    assert (found["positions"][0]["move"], found["positions"][0]["dm"]) == ("d1a1", 1)


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def test_points_are_added_up_and_invalid_lines_are_counted(tmp_path):
    path = tmp_path / "sts.epd"
    path.write_text(
        f'{START} bm a3; c0 "a3=10, a4=2"; id best;\n{START} bm e5;\n'
        f'{START} bm e4; c0 "e4=10, a3=3"; id good;\n{START} bm e4; c0 "e4=10"; id none;\n',
        "utf-8",
    )
    command, arguments = failing("none")  # plays a2a3
    engine = f"cmd={command},args={' '.join(arguments)}"
    done = epd(path, "--engine", engine, "--nodes", 1, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["files"][0]["points"], found["files"][0]["max_points"]) == (13, 30)
    assert found["skipped"] == 1
    assert [row["points"] for row in found["positions"]] == [10, 3, 0]
    done = epd(path, "--engine", engine, "--nodes", 1)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["good", "e4", "a3", "(3", "of", "10", "points)"] in [line[:7] for line in lines]
    assert [line[-3:] for line in lines if line[0] == "sts.epd"] == [["13", "30", "43.3%"]]
    assert "sts.epd, line 2: bm: illegal san: 'e5'" in done.stderr
    assert "3 positions read, 1 skipped" in done.stderr


def test_engine_failures_and_bad_arguments_are_reported(files, tmp_path):
    command, arguments = failing("dies")
    engine = f"cmd={command},args={' '.join(arguments)}"
    done = epd(files[0], "--engine", engine, "--nodes", 1)
    assert done.returncode == 1
    assert "cannot go on" in done.stdout
    for words, reason in (
        ([files[0]], "--movetime, --nodes or --depth"),
        ([tmp_path / "none.epd", "--depth", 1], "none.epd"),
        ([files[0], "--depth", 1, "--engine", "cmd=no-such-engine"], "no-such-engine"),
        ([files[0], "--depth", 1, "--engine", "cmd=/bin/ls"], "engine ls: could not start"),
        ([files[0], "--depth", 1, "--engine", "cmd=bot,proto=mqtt"], "does not support bots"),
        (
            [files[0], "--depth", 1, "--engine", "cmd=phalanx,proto=xboard"],
            "requires a UCI engine (got xboard)",
        ),
    ):
        done = epd(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert reason in done.stderr


@pytest.mark.parametrize(
    ("spec", "patience"), [("cmd=cat", 1), ("cmd=cat,start_limit=1", 100)], ids=["given", "spec"]
)
def test_silent_engine_times_out_at_startup(files, spec, patience):
    began = time.monotonic()
    done = epd(*files, "--depth", 1, "--engine", spec, "--timeout", patience)
    assert time.monotonic() - began < START_LIMIT
    assert (done.returncode, done.stdout) == (2, "")
    assert "engine cat: could not start: no uciok within 1 s" in done.stderr


def test_the_mates_are_many_distinct_and_varied():
    problems = read_epd_file(MATES)
    lengths = Counter(problem.mate for problem in problems)
    assert sorted(lengths) == [2, 3, 4, 5]
    assert min(lengths.values()) >= 25
    assert len({problem.fen for problem in problems}) == len(problems)
    pieces = [chess.popcount(chess.Board(problem.fen).occupied) for problem in problems]
    assert min(pieces) <= 4
    assert max(pieces) >= 16


def forces(board, move, moves):
    """Return whether a move mates in at most `moves` moves, by brute force with python-chess."""
    board.push(move)
    replies = list(board.legal_moves)
    answer = bool(replies) or board.is_check()
    if replies and moves == 1:
        answer = False
    for reply in replies if answer else ():
        board.push(reply)
        answer = any(forces(board, attack, moves - 1) for attack in list(board.legal_moves))
        board.pop()
        if not answer:
            break
    board.pop()
    return answer


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize(
    "problem",
    [each for each in read_epd_file(MATES) if each.mate == 2][::2],
    ids=lambda problem: problem.name,
)
def test_mates_in_two_have_correct_solutions(problem):
    board = chess.Board(problem.fen)
    moves = list(board.legal_moves)
    assert not any(forces(board, move, 1) for move in moves)
    assert {move.uci() for move in moves if forces(board, move, 2)} == set(problem.best)


@pytest.mark.thorough
def test_sampled_mates_are_solved_with_exact_length(tmp_path, warm_cache):
    sample = tmp_path / "sample.epd"
    sample.write_text("\n".join(MATES.read_text("utf-8").splitlines()[1::15]), "utf-8")
    done = epd(sample, "--nodes", 2_000_000, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["files"][0]["positions"] == 8
    assert [row["id"] for row in found["positions"] if not row["solved"]] == []


@pytest.mark.thorough
def test_files_with_the_same_name_are_listed_by_path(tmp_path, warm_cache):
    paths = [tmp_path / folder / "same.epd" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(MATE, "utf-8")
    done = epd(*paths, "--depth", 1, "--json")
    assert [each["file"] for each in json.loads(done.stdout)["files"]] == list(map(str, paths))
    done = epd(paths[0], "--movetime", "nan")
    assert (done.returncode, done.stdout) == (2, "")
    assert "finite" in done.stderr
