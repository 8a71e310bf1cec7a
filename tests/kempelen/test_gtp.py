"""`kempelen gtp`: the process, its options, and a game against GNU Go."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.learning.learned_move_database import LearnedMoveDatabase
from tests import in_process
from tests.external import program
from tests.waiting import PATIENCE

GAMES = Path(__file__).parents[1] / "data" / "games"


def gtp(text, *arguments, command=("gtp",)):
    return in_process.run(*command, *arguments, text=text)


@pytest.mark.thorough
def test_all_commands_are_answered_after_end_of_input():
    """Run as a process with pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "kempelen.cli", "gtp", "--time", "0.1"],
        input="boardsize 5\n1 genmove b\n2 lz-analyze w\n3 genmove w\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = [line for line in done.stdout.splitlines() if line.startswith(("=", "?"))]
    assert [answer.split(" ")[0] for answer in answers] == ["=", "=1", "=2", "=3"]


def test_default_game_is_19x19_go():
    done = gtp("showboard\nquit\nname\n", "--playouts", "1")
    assert done.stdout.splitlines()[1].startswith("19 . . .")
    assert "Kempelen" not in done.stdout


def test_experience_is_kept_in_a_file(tmp_path):
    """Also with a compiled search."""
    file = tmp_path / "experience.db"
    moves = "".join(f"genmove {'bw'[ply % 2]}\n" for ply in range(42))
    options = ["--game", "connect-four", "--no-book", "--depth", "1", "--time", "60"]
    done = gtp(moves, *options, "--learn", file)
    assert done.returncode == 0
    lessons = LearnedMoveDatabase(file).read_all()
    assert lessons
    assert f"kempelen: experience: {lessons[0].move} predicted " in done.stderr
    refused = gtp("", "--game", "pig", "--learn", file)
    assert refused.returncode == 2
    assert "learning is not supported in games of chance" in refused.stderr


def test_board_size_komi_playouts_and_seed_are_options():
    done = gtp(
        "query_boardsize\nfinal_score\ngenmove b\n",
        *["--boardsize", "5", "--komi", "0.5", "--playouts", "3", "--seed", "1", "--time", "60"],
    )
    assert done.stdout.split("\n\n")[:2] == ["= 5", "= W+0.5"]
    again = gtp(
        "genmove b\n", *["--boardsize", "5", "--komi", "0.5", "--playouts", "3", "--seed", "1"]
    )
    assert again.stdout.strip() == done.stdout.split("\n\n")[2]


@pytest.mark.parametrize(
    ("arguments", "parameter", "value"),
    [
        ([], "resignThreshold", "-0.9"),
        (["--resign", "0.1"], "resignThreshold", "-0.8"),
        ([], "allowResignation", "true"),
        (["--no-resign"], "allowResignation", "false"),
        ([], "ponderingEnabled", "false"),
        (["--ponder"], "ponderingEnabled", "true"),
        (["--threads", "3"], "numSearchThreads", "3"),
        (["--memory", "64"], "memory", "64"),
        (["--playouts", "9"], "maxVisits", "9"),
        (["--time", "0.25"], "maxTime", "0.25"),
    ],
)
def test_arguments_set_the_initial_parameter_values(arguments, parameter, value):
    done = gtp(f"kata-get-param {parameter}\n", *arguments, *("--algorithm", "mcts"))
    assert (done.stdout, done.stderr) == (f"= {value}\n\n", "")


def test_reported_name_and_version_can_be_set():
    done = gtp("name\nversion\n", "--report-name", "KataGo", "--report-version", "1.16")
    assert done.stdout == "= KataGo\n\n= 1.16\n\n"


def test_user_evaluation_is_used_in_another_game(tmp_path):
    file = tmp_path / "corner.py"
    file.write_text("def value(game):\n    return -(game.discs(0) >> 19 & 1)\n", encoding="utf-8")
    options = ["--game", "othello", "--depth", "1", "--evaluation", f"{file}:value"]
    done = gtp("genmove b\n", *options)
    assert (done.stdout, done.stderr) == ("= d3\n\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--game", "chequers"],
            "unknown game 'chequers' (expected one of: backgammon, checkers, chess",
        ),
        (["--algorithm", "luck"], "unknown algorithm 'luck'"),
        (["--boardsize", "26"], "invalid board size 26"),
        (["--boardsize", "0x13"], "invalid board size '0x13'"),
        (["--komi", "nan"], "game go: komi must be a number (got NaN)"),
        (["--option", "komi=much"], "game go: komi must be a number (got 'much')"),
        (["--game", "checkers", "--boardsize", "10"], "game checkers has no --size"),
        (["--game", "nim", "--komi", "3"], "game nim: got an unexpected keyword argument 'komi'"),
        (["--game", "pig", "--algorithm", "pvs"], "pvs: games of chance are not supported"),
        (["--algorithm", "mcts+luck"], "mcts: unknown option 'luck' (expected one of: "),
        (["--evaluation", "missing.py:f"], "missing.py does not exist"),
        (["--time", "0"], "expected seconds above 0"),
        (["--set", "luck=1"], "--set luck=1: unknown setting luck (expected one of: capture, "),
        (["--set", "nakade=2"], "--set nakade=2: nakade must be from 0 to 1"),
        (["--set", "nakade=nan"], "--set nakade=nan: nakade must be from 0 to 1"),
        (["--set", "nakade"], "--set nakade: expected NAME=VALUE"),
        (["--set", "nakade=x"], "--set nakade=x: could not convert"),
        (["--set", "nakade=1", "--game", "nim"], "--set is only for the compiled search of Go"),
        (
            ["--set", "nakade=1", "--algorithm", "mcts"],
            "--set is only for the compiled search of Go",
        ),
        (["--resign", "0.5"], "expected a rate above 0 and below 0.5, not '0.5'"),
        (["--resign", "never"], "expected a rate above 0 and below 0.5, not 'never'"),
        (["--resign", "0.1", "--no-resign"], "not allowed with argument"),
        (
            ["--komi", "1e300"],
            "game go: komi must be between -1000000000 and 1000000000 (got 1e+300)",
        ),
        (["--memory", "99999999"], "not enough memory for a search of 99999999 MB"),
        (["--threads", "0"], "--threads"),
        (["--memory", "much"], "--memory"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    done = gtp("name\n", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_settings_reach_the_search():
    from argparse import ArgumentParser

    from kempelen.commands.gtp import _settings, configure

    parser = ArgumentParser()
    configure(parser)
    search_config = _settings(
        parser.parse_args(["--set", "nakade=0.5", "--set=near_1=12"])
    ).search_config
    assert search_config.settings == {"nakade": 0.5, "near_1": 12.0}


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("protocol_version", "= 2"),
        ("8 name", "=8 Kempelen"),
        ("boardsize 9", "="),
        ("uci", "id name Kempelen"),
        ("isready", "readyok"),
        ("joho debug on", ""),
    ],
)
def test_first_line_selects_the_protocol(warm_cache, line, answer):
    done = gtp(f"\n{line}\nquit\n", command=())
    assert done.returncode == 0
    assert done.stdout.splitlines()[:1] == [answer] or done.stdout.startswith(answer)


def test_nothing_heavy_is_imported_for_go():
    code = (
        "import sys, kempelen.commands.gtp as g; from protocols.gtp.protocol import GtpProtocol\n"
    )
    code += "GtpProtocol('', '', print, print)\n"
    code += "sys.exit(' '.join(n for n in ('numba', 'numpy', 'rich') if n in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_nothing_heavy_is_imported_to_answer_the_first_lines():
    """Compiled code is loaded in another thread meanwhile."""
    code = """
import sys
import threading
import kempelen.commands.gtp
from agent.kernel.kernel_loader import KernelLoader
from protocols.gtp.protocol import GtpProtocol
answered = threading.Event()
load = KernelLoader._load
KernelLoader._load = lambda self: (answered.wait(60), load(self))
heavy = "numba numpy llvmlite rich".split()
found = []
engine = GtpProtocol("", "", lambda text: found.extend(n for n in heavy if n in sys.modules), print)
for line in ("name", "boardsize 9", "play b E5", "quit"):
    list(engine.handle_line(line))
engine.drain()
answered.set()
sys.exit(" ".join(found) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report the reader")
def test_engine_exits_when_its_output_is_closed():
    process = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", "gtp", "--time", "1000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    process.stdin.write(b"name\ngenmove b\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"= Kempelen\n"
    time.sleep(0.5)
    process.stdin.close()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0


EARLY_END = "C3 D3 C4 D4 C5 D5 C2 D2 PASS PASS"


class GtpEngine:
    """A GTP program over pipes."""

    def __init__(self, *command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def ask(self, command):
        self.process.stdin.write(f"{command}\n")
        lines = list(itertools.takewhile(str.strip, self.process.stdout))
        assert lines[0].startswith("="), (command, lines)
        return "".join(lines).removeprefix("=").strip()

    def begin(self, moves):
        for command in ("boardsize 5", "clear_board", "komi 0.5"):
            self.ask(command)
        for number, move in enumerate(moves):
            self.ask(f"play {'bw'[number % 2]} {move}")

    def verdict(self):
        """Return the winner, the score and the dead stones."""
        score = self.ask("final_score")
        return score[:2], float(score[2:]), sorted(self.ask("final_status_list dead").split())

    def close(self):
        self.process.kill()
        self.process.communicate()


def play_until_passes(black, white, moves):
    """Add moves to a game, until both players pass after each other."""
    added = []
    while added[-2:] != ["PASS", "PASS"]:
        colour = (len(moves) + len(added)) % 2
        mover, other = ((black, white), (white, black))[colour]
        move = mover.ask(f"genmove {'bw'[colour]}").upper()
        if other is not mover:
            other.ask(f"play {'bw'[colour]} {move}")
        added.append(move)
    return added


@pytest.mark.thorough
@pytest.mark.needs("gnugo")
def test_game_against_gnu_go_is_scored_alike():
    theirs = GtpEngine(
        program("gnugo"),
        *["--mode", "gtp", "--level", "1", "--chinese-rules", "--seed", "1", "--never-resign"],
    )
    command = [sys.executable, "-m", "kempelen.cli", "gtp", "--playouts", "30", "--seed", "1"]
    ours = GtpEngine(*command)
    try:
        # White could still capture a stone when both pass; a stronger GNU Go, the referee, does.
        for moves in ([], EARLY_END.split()):
            for engine in (ours, theirs):
                engine.begin(moves)
            game = moves or play_until_passes(ours, theirs, [])
            theirs.ask("level 10")
            added = play_until_passes(theirs, theirs, game)
            assert moves == [] or len(added) > 2
            ours.begin(game + added if len(added) > 2 else game)
            assert ours.verdict() == theirs.verdict()
            assert len(game) > 5
            theirs.ask("level 1")
    finally:
        ours.close()
        theirs.close()


def test_rules_are_selected_by_option():
    done = gtp("clear_board\nkata-get-rules\n", "--rules", "tromp-taylor")
    assert done.returncode == 0, done.stderr
    assert '"friendlyPassOk":false' in done.stdout
    refused = gtp("name\n", "--rules", '{"ko":"SPIGHT"}')
    assert refused.returncode == 2
    assert 'argument --rules: ko: unsupported value "SPIGHT"' in refused.stderr


def test_game_options_and_node_limit_are_accepted():
    done = gtp(
        "gogui-rules_board\ngenmove black\n",
        *("--game", "nim", "--option", "heaps=1,2", "--option", "misere=true", "--nodes", "50"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("= a |\nb ||\n")
    refused = gtp("name\n", "--game", "nim", "--rules", "japanese")
    assert refused.returncode == 2
    assert "--rules: not supported for" in refused.stderr
    refused = gtp("name\n", "--game", "nim", "--option", "heap=1")
    assert refused.returncode == 2
    assert "(options: heaps, misere" in refused.stderr


USERS_GAME = """
print("my game")
from chomp import Chomp


class Exits(Chomp):
    def play(self, move):
        if len(self.bars) == 2:
            raise SystemExit(3)
        super().play(move)


class Late(Chomp):
    def text(self, move):
        return super().text(move) if len(self.bars) == 1 else 7


def value(game):
    print("I think")
    return 0


print("Who?", input())
"""


@pytest.mark.parametrize("name", ["Exits", "Late"])
def test_failing_user_game_does_not_stop_the_answers(tmp_path, name, monkeypatch):
    monkeypatch.syspath_prepend(GAMES)
    (tmp_path / "mine.py").write_text(USERS_GAME.replace("input()", "0"))
    game = ["--game", f"{tmp_path / 'mine.py'}:{name}", "--size", "3", "--depth", "1"]
    done = gtp("1 genmove b\n2 genmove w\n3 play w a2\n4 version\n", *game)
    answers = [line.split()[0][1:] for line in done.stdout.splitlines() if line[:1] in ("=", "?")]
    assert answers == ["1", "2", "3", "4"]
    assert "?2 internal error" in done.stdout


def test_user_file_cannot_use_stdin_or_stdout(tmp_path):
    """Run as a process without input."""
    text = USERS_GAME.replace('"Who?", input()', '"Who?", sys.stdin.read()').replace(
        "from chomp", f"import sys\nsys.path.insert(0, {str(GAMES)!r})\nfrom chomp"
    )
    (tmp_path / "mine.py").write_text(text)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kempelen.cli", "gtp", "--game", "mine.py:Chomp"),
            *("--evaluation", "mine.py:value", "--size", "3", "--depth", "1"),
        ],
        input="1 genmove b\n2 quit\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line] == ["=1", "=2"]
    assert "my game" in done.stderr
    assert "I think" in done.stderr
