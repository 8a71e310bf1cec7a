"""The tactical positions in tests/data/go: their number, variety and correctness."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from agent.games.go import COLUMNS, Go
from kempelen.match.suites.gtp_regression import read_regression_file
from tests import in_process
from tests.external import program

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "go"
# Positions for which GNU Go needs seconds per move.
SLOW = {"ladders", "nets"}


def boards():
    """Each position: file, game, colour to move, expected moves."""
    for path in sorted(FOLDER.glob("*.tst")):
        for step in read_regression_file(path).steps:
            words = step.command.split()
            if words[0] == "boardsize":
                game = Go(int(words[1]))
            elif words[0] == "komi":
                game.komi = float(words[1])
            elif words[0] == "play":
                player, move = words[1] == "white", vertex(game, words[2])
                assert game.is_legal(player, move), (path.name, step)
                game.play_as(player, move)
            elif step.expected:
                yield path.stem, game, words[1] == "white", step.expected


def vertex(game, text):
    return game.stones.shape.vertex(COLUMNS.index(text[0]), int(text[1:]) - 1)


def test_tactical_positions_are_legal_and_of_all_kinds():
    kinds, seen, colours, sizes = Counter(), set(), Counter(), set()
    for kind, game, white, expected in boards():
        kinds[kind] += 1
        colours[white] += 1
        sizes.add(game.size)
        seen.add((game.key(), game.komi, white, expected.text))
        moves = expected.text.removeprefix("!").split("|")
        assert moves
        for move in moves:
            assert game.stones.board[vertex(game, move)] == 0
            banned = kind == "kos" and expected.negated
            assert game.is_legal(white, vertex(game, move)) != banned
    assert kinds.total() >= 300
    assert len(seen) >= 0.99 * kinds.total()
    assert min(colours.values()) >= 100
    assert sizes == {9, 13, 19}
    assert set(kinds) == {
        "captures", "connect-and-dies", "escapes", "eyes", "kos", "ladders", "nakade", "nets",
        "races", "seki", "snapbacks", "throw-ins",
    }  # fmt: skip
    assert min(kinds.values()) >= 8


@pytest.fixture(scope="module")
def generator():
    path = ROOT / "scripts"
    sys.path.insert(0, str(path))
    try:
        import generate_tactics
    finally:
        sys.path.remove(str(path))
    return generate_tactics


@pytest.mark.thorough
def test_generator_reproduces_the_ladder_and_net_files(generator, tmp_path, monkeypatch):
    monkeypatch.setattr(generator, "closed_boards", lambda seed, report: {})
    generator.write(tmp_path, 1, lambda text: None)
    for name in ("ladders.tst", "nets.tst"):
        assert (tmp_path / name).read_text() == (FOLDER / name).read_text()
    text = (FOLDER / "ladders.tst").read_text()
    assert len(re.findall(r"# ladder: capture;", text)) >= 16
    assert len(re.findall(r"# ladder: broken, run 1;", text)) >= 16


def test_solver_finds_the_vital_point_of_three_in_a_row(generator):
    space, ring = {(0, 0), (1, 0), (2, 0)}, {(3, 0), (0, 1), (1, 1), (2, 1), (3, 1)}
    group = space | ring, generator.below(7)
    stones = dict.fromkeys(ring, "O")
    kill = generator.proved("", 9, stones, *group, (set(), ring))
    assert (kill.answers, kill.wrong) == (((1, 0),), False)
    # Both inner points of four in a row are equally good.
    space, ring = space | {(3, 0)}, {(4, 0), *((c, 1) for c in range(5))}
    stones = dict.fromkeys(ring, "O")
    assert generator.proved("", 9, stones, space | ring, generator.below(7), (set(), ring)) is None


@pytest.mark.needs("gnugo")
@pytest.mark.thorough
def test_gnu_go_solves_at_least_200_positions():
    files = [path for path in sorted(FOLDER.glob("*.tst")) if path.stem not in SLOW]
    command = f"{program('gnugo')} --mode gtp --chinese-rules --positional-superko"
    done = in_process.run("suite", *files, "--engine", command, "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert sum(file["passed"] for file in found["files"]) >= 200
    assert found["refused"] == []
