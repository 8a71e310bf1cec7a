"""The node count of the chess search: in benchmarks/bench.txt, and in commit messages."""

import json
import re
import shutil
import subprocess

import pytest

from kempelen.cli import main
from tests.support import ROOT

FILE = ROOT / "benchmarks" / "bench.txt"
WORDS = re.compile(r"\bBench: (\d+)")


def git(*arguments, status=0):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, status), done.stderr
    return done


def committed():
    return int(FILE.read_text())


@pytest.mark.thorough
def test_bench_node_count_matches_the_committed_count(warm_cache, capsys):
    assert main(["bench", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert nodes == committed(), (
        f"`kempelen bench` searches {nodes} nodes: if the search is meant to be another, "
        f"write {nodes} to benchmarks/bench.txt and `Bench: {nodes}` in the commit message"
    )


@pytest.fixture
def history():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a clone")


@pytest.mark.usefixtures("history")
def test_last_bench_commit_message_matches_the_bench_file():
    said = git("log", "-1", "--format=%H%n%B", "--extended-regexp", "--grep=\\bBench: [0-9]").stdout
    changed = git("log", "-1", "--format=%H", "--", str(FILE)).stdout.strip()
    in_work = git("status", "--porcelain", "--", str(FILE)).stdout
    if in_work or not said:
        return
    commit, message = said.split("\n", 1)
    number = int(WORDS.findall(message)[-1])
    newer = git("merge-base", "--is-ancestor", commit, changed, status=1).returncode == 1
    is_older = not newer and commit != changed
    assert number == committed() or is_older, (
        f"{commit:.10} says `Bench: {number}`, benchmarks/bench.txt {committed()}: "
        "commit what `kempelen bench` counts to that file"
    )
