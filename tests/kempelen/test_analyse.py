"""`kempelen analyse`: annotations, pictures, resumption and errors."""

import asyncio
import io
import json

import chess.pgn
import pytest
from sgfmill import sgf

from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.chess_review import parse_pgn
from kempelen.match.review.go_review import parse_sgf
from kempelen.match.review.move_annotation import PositionEval, annotator_name
from tests import in_process
from tests.support import failing

SCRIPT = "<script>alert(1)</script>"
MATED = f"""[Event "{SCRIPT}"]
[White "<b>Ann</b>"]
[Black "$x_1$"]
[Result "0-1"]

1. f3 {{weak {SCRIPT}}} e5 2. g4 $1 (2. e4 d6) 2... Qh4# 0-1

"""
EMPTY = '[White "C"]\n[Black "D"]\n[Result "*"]\n\n*\n\n'
CHESS960 = """[Variant "Chess960"]
[SetUp "1"]
[FEN "4k3/p7/8/8/8/8/8/1K4R1 w G - 0 1"]

1. O-O a5 *
"""
GO = (
    f"(;GM[1]FF[4]SZ[5]KM[0.5]PB[{SCRIPT}]PW[W]C[mine];B[cc];W[bb](;B[]BM[1];W[dd])(;B[aa]))"
    "(;GM[1]FF[4]SZ[5]KM[0.5];B[cc])"
)


def analyse(*arguments):
    return in_process.run("analyse", *arguments)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(MATED + EMPTY + CHESS960, "utf-8")
    return path


@pytest.mark.thorough
def test_chess_games_are_annotated(file, tmp_path, warm_cache):
    made, picture = tmp_path / "made.pgn", tmp_path / "made.svg"
    own = ("--engine", "agent=chess", "--concurrency", 1)
    done = analyse(file, *own, "--nodes", 3000, "-o", made, "-o", picture)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert next(line for line in lines if "g4??" in line)[:4] == ["2.", "g4??", "blunder", "#-1"]
    assert ["1", "<b>Ann</b>", "2"] in [line[:3] for line in lines]
    games = io.StringIO(made.read_text("utf-8"))
    game, empty, other = (chess.pgn.read_game(games) for _ in range(3))
    assert game.headers["Event"] == SCRIPT
    first, _, blunder, _ = game.mainline()
    assert f"weak {SCRIPT}" in first.comment  # existing comments stay
    assert first.eval().white().score() < 0
    assert blunder.nags == {chess.pgn.NAG_GOOD_MOVE}  # the annotator's mark stays
    assert game.headers["Annotator"].startswith("?; Kempelen, 3000 nodes")
    assert blunder.eval().white().mate() == -1
    replies = [node.san() for node in blunder.parent.variations]
    assert replies[:2] == ["g4", "e4"]
    assert len(replies) <= 3
    assert not list(empty.mainline())
    assert [node.san() for node in other.mainline()] == ["O-O", "a5"]
    drawn = picture.read_text("utf-8")
    assert "&lt;b&gt;Ann&lt;/b&gt; - $x_1$" in drawn
    assert "blunder (1)" in drawn
    assert {path.name for path in tmp_path.iterdir()} == {"games.pgn", "made.pgn", "made.svg"}


def review(text):
    """Return a game in which every move is a blunder, reviewed."""
    (game,) = parse_pgn(text, "x")
    known = AnalysisFile(None, "")
    for key in game.keys(known):
        known.add(key, PositionEval(0.9, cp=300))
    return game.annotated(known, annotator_name("E", TimeControl(nodes=9), "nodes"))


def test_marks_of_annotators_are_kept_and_those_of_engines_replaced():
    def marks(text):
        game = chess.pgn.read_game(io.StringIO(text))
        return [sorted(node.nags) for node in game.mainline()], game.headers["Annotator"]

    text = "1. e4! e5 $14 2. Nf3?? Nc6?! *"
    kept = [[1], [4, 14], [4], [6]]
    assert marks(review(text)) == (kept, "?; E, 9 nodes a move")
    assert marks(review(review(text))) == (kept, "?; E, 9 nodes a move")
    named = f'[Annotator "Ann; Bob"]\n\n{text}'
    assert marks(review(named)) == (kept, "Ann; Bob; E, 9 nodes a move")
    replaced = [[4], [4, 14], [4], [4]]
    engine = f'[Annotator "Kempelen 5, 70 nodes and 0.5 s a move"]\n\n{text}'
    assert marks(review(engine)) == (replaced, "E, 9 nodes a move")
    assert marks(review("1. e4 e5 *")) == ([[4], [4]], "E, 9 nodes a move")


def test_marks_of_go_annotators_are_kept_and_those_of_engines_replaced():
    def marks(text):
        (game,) = parse_sgf(text, "x")
        known = AnalysisFile(None, "")
        for key in game.keys(known):
            known.add(key, PositionEval(0.9, lead=3.0))
        text = game.annotated(known, annotator_name("E", TimeControl(nodes=9), "visits"))
        root = sgf.Sgf_game.from_string(text).get_root()
        nodes = [root[0], root[0][0]]
        names = ("BM", "TE", "DO", "IT")
        found = [[name for name in names if node.has_property(name)] for node in nodes]
        return found, root.get("AN")

    moves = ";B[aa]TE[1];W[bb])"
    start = "(;GM[1]FF[4]SZ[5]KM[0.5]"
    assert marks(start + moves) == ([["TE"], ["BM"]], "?; E, 9 visits a move")
    assert marks(f"{start}AN[Ann]{moves}") == ([["TE"], ["BM"]], "Ann; E, 9 visits a move")
    engine = f"{start}AN[K, 50 visits a move]{moves}"
    assert marks(engine) == ([["BM"], ["BM"]], "E, 9 visits a move")


def test_damaged_games_are_skipped_and_named(tmp_path, warm_cache):
    file = tmp_path / "games.pgn"
    file.write_text("1. e4 *\n\n1. e4 e5 2. Qh6 *\n\n1. d4 *\n")
    command, words = failing("none")
    engine = f"cmd={command},args={' '.join(words)}"
    done = analyse(file, "--engine", engine, "--nodes", 1, "--json")
    assert done.returncode == 0, done.stderr
    assert [game["number"] for game in json.loads(done.stdout)["games"]] == [1, 3]
    assert "games.pgn: read 2 games, skipped 1: game 2, move 2 is illegal (2. Qh6)" in done.stderr
    file = tmp_path / "games.sgf"
    file.write_text("(;SZ[5];B[aa])(;SZ[5];B[aa];W[aa])(;SZ[99];B[aa])(;SZ[5];B[bb])")
    done = analyse(file, "--nodes", 1, "--json")
    assert done.returncode == 0, done.stderr
    assert [game["number"] for game in json.loads(done.stdout)["games"]] == [1, 4]
    reasons = "game 2, Illegal move 1: A5; game 3, size out of range: 99"
    assert f"games.sgf: read 2 games, skipped 2: {reasons}" in done.stderr


def test_analysis_is_kept_if_the_output_cannot_be_written(file, tmp_path, warm_cache, monkeypatch):
    made = tmp_path / "made.pgn"
    made.mkdir()
    command = (file, "--engine", "agent=chess", "--nodes", 100, "-o", made)
    refused = analyse(*command)
    assert (refused.returncode, "made.pgn: is a folder" in refused.stderr) == (2, True)
    # The file does not exist yet.
    monkeypatch.setattr("kempelen.commands.analyse.require_writable", lambda *_, **__: None)
    done = analyse(*command)
    assert done.returncode == 2
    assert f"cannot write {made}: Is a directory" in done.stderr
    assert "run the same command again to continue" in done.stderr
    kept = tmp_path / "made.pgn.part"
    assert kept.read_text("utf-8")
    made.rmdir()
    assert analyse(*command).returncode == 0
    assert made.is_file()
    assert not kept.exists()


def test_go_games_are_annotated(tmp_path, warm_cache):
    file, made = tmp_path / "games.sgf", tmp_path / "made.sgf"
    file.write_text(GO, "utf-8")
    done = analyse(file, "--nodes", 100, "-o", made, "--json")
    assert done.returncode == 0, done.stderr
    review, short = json.loads(done.stdout)["games"]
    assert (review["first"], len(review["moves"]), len(short["moves"])) == (SCRIPT, 4, 1)
    passed = review["moves"][2]
    assert (passed["move"], passed["grade"]) == ("pass", "blunder")
    assert passed["loss"] > 0.15
    tree = sgf.Sgf_game.from_string(made.read_text("utf-8"))
    assert tree.get_root().get("C") == "mine"
    assert tree.get_root().get("PB") == SCRIPT
    node = tree.get_main_sequence()[3]
    assert (node.get("BM"), node.get_move()) == (1, ("b", None))  # the annotator's mark stays
    assert "blunder" in node.get("C")
    lines = [child.get_move()[1] for child in node.parent]
    assert lines[:2] == [None, (4, 0)]
    assert len(lines) == 3


def test_a_pass_is_reviewed_as_a_lost_move_and_not_as_the_end(tmp_path, warm_cache):
    """White's pass would end the game if Black passed too, and Black would have the whole board."""
    file = tmp_path / "game.sgf"
    file.write_text("(;GM[1]FF[4]SZ[13]KM[7.5]RU[Japanese];B[jd];W[];B[dd];W[jj];B[dj])", "utf-8")
    done = analyse(file, "--nodes", 300, "--json")
    assert done.returncode == 0, done.stderr
    (review,) = json.loads(done.stdout)["games"]
    leads = [move["lead"] for move in review["moves"]]
    assert all(abs(lead) < 60 for lead in leads)
    assert review["moves"][2]["loss"] < 0.15  # at 300 visits, it varies by several percent


def test_interrupted_analysis_is_resumed(file, tmp_path, monkeypatch):
    """The engine is interrupted after three positions; the next run searches only the others."""
    from kempelen.match.suites.epd_suite import EngineRunner

    asked = []
    ask = EngineRunner.search

    async def counting(self, request):
        if len(asked) == 3 and most:
            raise asyncio.CancelledError
        asked.append(request)
        return await ask(self, request)

    monkeypatch.setattr(EngineRunner, "search", counting)
    command, words = failing("none")
    engine = f"cmd={command},args={' '.join(words)},name=E"
    made = tmp_path / "made.pgn"
    file.write_text(MATED + EMPTY, "utf-8")
    arguments = (file, "--engine", engine, "--nodes", 1, "--concurrency", 1, "-o", made)
    most = 3
    done = analyse(*arguments)
    assert done.returncode == 130
    assert "run the same command again to continue" in done.stderr
    assert "[%eval" in made.read_text("utf-8")
    kept = tmp_path / "made.pgn.part"
    assert len(kept.read_text("utf-8").splitlines()) == 3
    with kept.open("a", encoding="utf-8") as end:
        end.write('{"key": "cut sho')
    most = 0
    done = analyse(*arguments)
    assert done.returncode == 0, done.stderr
    # Five positions of the first game, one of them mate; the second game has the same position.
    # The verification of mistakes uses ten times the nodes.
    assert len([request for request in asked if request.nodes == 1]) == 4
    assert not kept.exists()


@pytest.mark.parametrize(
    ("name", "text", "words", "reason"),
    [
        ("none.pgn", None, (), "cannot read"),
        ("a.txt", "x", (), "unknown file type (expected .pgn for chess or .sgf for Go)"),
        ("a.pgn", "nothing", (), "no chess game with moves"),
        ("a.pgn", MATED.replace("f3", "f4 f5 Qa8"), (), "game 1, move 2 is illegal (2. Qa8)"),
        ("a.pgn", '[Variant "Losers"]\n\n1. e4 *', (), "variant Losers"),
        ("a.pgn", '[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n1. Ka2 *', (), "illegal start position"),
        ("a.pgn", "1. e4 -- 2. d4 *", (), "a.pgn: game 1, move 1 is a null move"),
        ("a.pgn", MATED, ("-o", "b.sgf"), "expected .pgn for games"),
        ("a.pgn", MATED, ("-o", "no/b.pgn"), "folder does not exist"),
        ("a.pgn", MATED, ("-o", "a.pgn"), "is an input file"),
        ("a.pgn", MATED, ("--movetime", "-1"), "--movetime must be a finite number above 0"),
        ("a.pgn", MATED, ("--engine", "cmd=no-such-engine"), "no-such-engine"),
        ("a.sgf", "(;SZ[", (), "a.sgf: "),
        ("a.sgf", "(;SZ[5])", (), "no game of Go with moves"),
        ("a.sgf", "(;SZ[1:5];B[aa])", (), "game 1, unsupported board size 1x5 (must be 2 to 19"),
        ("a.sgf", "(;SZ[25];B[aa])", (), "game 1, unsupported board size 25x25"),
        ("a.sgf", "(;SZ[5];B[aa];W[aa])", (), "a.sgf: game 1, Illegal move 1: A5"),
        ("a.sgf", "(;SZ[5])(;SZ[5];B[yy])", (), "a.sgf: game 2"),
        ("a.sgf", "(;SZ[5]KM[100000];B[aa])", (), "a.sgf: game 1, unsupported komi 100000"),
        ("a.sgf", "(;SZ[5]KM[3.75];B[aa])", (), "integer or half-integer, from -150 to 150"),
        ("a.sgf", GO, ("--engine", "cmd=x"), "--engine is only for chess"),
    ],
)
def test_invalid_games_and_arguments_are_rejected(tmp_path, monkeypatch, name, text, words, reason):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    done = analyse(name, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_crashed_engine_is_restarted_or_reported(tmp_path):
    file = tmp_path / "a.pgn"
    file.write_text(MATED, "utf-8")
    for after, status in ((2, 0), (1, 2)):
        command, words = failing("dies", after)
        engine = f"cmd={command},args={' '.join(words)}"
        done = analyse(file, "--engine", engine, "--nodes", 1, "--concurrency", 1)
        assert done.returncode == status
        assert ("cannot go on" in done.stderr) is bool(status)
