"""The examples in the documentation work."""

import argparse
import re
import shlex
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.chess.search import bench
from kempelen.commands import match, train_selfplay
from kempelen.training import evaluation_check
from tests import in_process
from tests.pages import GUIDES, MEASUREMENTS, ROOT, Block, Page, cases, label
from tests.random_network import random_network

pytestmark = pytest.mark.early

KEMPELEN = Path(sys.executable).with_name("kempelen")
MATCHES = [
    (page, line)
    for page in [*GUIDES, *MEASUREMENTS]
    for line in re.findall(
        r"^kempelen match .*$|`kempelen match [^`]*--engine[^`]*`",
        page.text.replace("\\\n", ""),
        re.MULTILINE,
    )
]
FolderOf = Callable[[Page], Path]
# Timeout of a session in seconds.
PATIENCE = 300.0


def pattern(lines: list[str]) -> re.Pattern[str]:
    """Return a pattern for the lines; `...` matches any text, and alone any lines."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in lines
    ]
    return re.compile("".join(parts))


def talk(folder: Path, typed: list[str], until: str) -> str:
    """Send lines to the engine, the last one after a line that starts with `until`."""
    engine = subprocess.Popen(
        [KEMPELEN, "uci"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert engine.stdin
    assert engine.stdout
    patience = threading.Timer(PATIENCE, engine.kill)
    patience.start()
    engine.stdin.writelines(line + "\n" for line in typed[:-1])
    engine.stdin.flush()
    output = ""
    for line in engine.stdout:
        output += line
        if line.startswith(until):
            break
    output += engine.communicate(typed[-1], timeout=PATIENCE)[0]
    patience.cancel()
    return output


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(("page", "block"), cases("uci"), ids=label)
def test_uci_examples_match_output(page: Page, block: Block, folder_of: FolderOf) -> None:
    lines = block.text.splitlines()
    typed = [line[2:] for line in lines if line.startswith("> ")]
    shown = [line for line in lines if not line.startswith("> ")]
    searches = any(line.startswith("go") for line in typed)
    last = [line for line in shown if line != "..."][-1].partition("...")[0]
    output = talk(folder_of(page), typed, "bestmove" if searches else last)
    assert pattern(shown).search(output), output


@pytest.mark.parametrize(
    ("page", "block"), [*cases("gtp"), *cases("analysis"), *cases("xboard")], ids=label
)
def test_gtp_analysis_and_xboard_examples_match_output(
    page: Page, block: Block, folder_of: FolderOf
) -> None:
    command, *lines = block.text.splitlines()
    typed = "".join(line[2:] + "\n" for line in lines if line.startswith("> "))
    shown = [line for line in lines if not line.startswith("> ")]
    arguments = shlex.split(command.removeprefix("$ kempelen "))
    folder_of(page)
    run = in_process.run(*arguments, text=typed)
    assert (run.returncode, run.stderr) == (0, "")
    said = [line for line in run.stdout.splitlines() if line]
    assert pattern(shown).fullmatch("".join(f"{line}\n" for line in said)), run.stdout


# Slow transcripts, run with --thorough only.
THOROUGH = re.compile(
    r"kempelen (train selfplay|check-eval|doctor|match)"
    r"|kempelen lab (run --game connect-four|exercise|play|assignment)"
)


def is_slow(page: Page) -> bool:
    return all(THOROUGH.search(block.text) for block in page.having("console"))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.thorough] if is_slow(page) else [])
        for page in GUIDES
        if page.having("console")
    ],
    ids=label,
)
def test_console_examples_match_output(
    page: Page, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch, thorough: bool
) -> None:
    """The reader of a page types all its commands, one after the other, in one folder."""
    # tests/kempelen/test_bench.py runs the full search of `kempelen bench`.
    monkeypatch.setattr(bench, "POSITIONS", bench.POSITIONS[:2])
    monkeypatch.setattr(train_selfplay, "usable_cores", lambda: 1)  # each process loads the kernel
    # Shorten the speed measurements of `kempelen check-eval`.
    monkeypatch.setattr(evaluation_check, "CALL_BENCH_SECONDS", 0.01)
    monkeypatch.setattr(evaluation_check, "SEARCH_BENCH_SECONDS", 0.05)
    folder_of(page)
    blocks = page.having("console")
    text = "".join(each.text for each in blocks if thorough or not THOROUGH.search(each.text))
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "kempelen"
        run = in_process.run(*arguments)
        assert run.returncode == 0, run.stderr
        assert pattern(shown).fullmatch(run.stdout), run.stdout


def test_no_file_is_made_again_with_other_settings() -> None:
    """A file of another run is rejected, so each file has one command in all guides together."""
    makers = defaultdict(set)
    for page in GUIDES:
        for command in re.findall(r"kempelen [^`\n#]*", page.text.replace("\\\n", "")):
            words = command.split()
            for flag in ("selfplay", "-o", "--ledger", "--state", "--new-token"):
                if flag in words[:-1] and not {"--check", "--show"} & {*words}:
                    makers[words[words.index(flag) + 1]].add(" ".join(words))
    assert len(makers) > 20
    assert makers.pop("my.bin") == {  # extended in place
        "kempelen book build repertoire.yaml games.pgn analysed.epd -o my.bin --min-elo 2200 "
        "--min-games 5",
        "kempelen book extend my.bin -o my.bin --positions 500 --nodes 200000",
    }
    assert {"FILE"} >= {name for name, commands in makers.items() if len(commands) > 1}


@pytest.mark.parametrize(("page", "line"), MATCHES, ids=label)
def test_match_examples_name_two_engines(page: Page, line: str) -> None:
    parser = argparse.ArgumentParser()
    match.configure(parser)
    settings = match.settings_from(parser.parse_args(shlex.split(line.strip("`"))[2:]))
    assert len(settings.engines) == 2


@pytest.mark.thorough
def test_python_chess_example_plays_a_move(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(KEMPELEN.parent), prepend=":")
    run = subprocess.run(
        [sys.executable, "play.py"],
        capture_output=True, text=True, cwd=folder_of(Page("docs/guide/guis.md")), timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"[a-h][1-8][a-h][1-8]\n", run.stdout)


@pytest.mark.thorough
def test_read_positions_examples_run(folder_of: FolderOf) -> None:
    folder = folder_of(Page("docs/guide/training.md"))
    (folder / "torch.py").write_text("def from_numpy(array): return array")
    played = ("train", "selfplay", "positions.bin", "--positions", 500, "--nodes", 50)
    assert in_process.run(*played, "--processes", 1).returncode == 0
    for program in ("read.py", "load.py"):
        run = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, cwd=folder, check=True
        )
        assert len(run.stdout.split()) > 4


def test_network_example_runs(folder_of: FolderOf) -> None:
    folder = folder_of(Page("docs/guide/networks.md"))
    random_network(32, 4, manifest={"source": "chance"}).write(folder / "mine.nnue")
    run = subprocess.run(
        [sys.executable, "look.py", "mine.nnue"],
        capture_output=True, text=True, cwd=folder, check=True,
    )  # fmt: skip
    assert re.fullmatch(r"\(768 -> 32\)x2 -> 1x4 chance\n-?\d+\n", run.stdout)


@pytest.mark.parametrize(
    ("page", "block"), [(page, block) for page in GUIDES for block in page.excerpts()], ids=label
)
def test_file_excerpts_match_sources(page: Page, block: Block) -> None:
    assert block.text in (ROOT / block.name).read_text(encoding="utf-8")
