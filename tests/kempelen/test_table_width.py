"""Tables printed to a pipe or a file are not truncated."""

import json

import pytest

from kempelen.console.plain_table import PlainTable
from kempelen.console.terminal import table_console
from tests import in_process

LONG = "a-player-with-a-long-name-" * 8
NAME = LONG[:50]


def test_tables_are_as_wide_as_their_content(capsys: pytest.CaptureFixture[str]) -> None:
    table = PlainTable("player", *(f"column {number}" for number in range(20)), box=None)
    table.add_row(LONG, *map(str, range(1_000_000, 1_000_020)))
    table_console().print(table)
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.split("  ")[-1].strip() == "column 19"
    assert row.split()[0] == LONG
    assert row.split()[-1] == "1000019"
    assert "…" not in heading + row


def test_swiss_table_in_a_pipe_shows_full_headings() -> None:
    engines = [word for name in "ABCD" for word in ("--engine", f"agent=chess,name={NAME}{name}")]
    done = in_process.run(
        *("match", *engines, "--format", "swiss", "--nodes", 1, "--maxmoves", 1, "--games", 2)
    )
    assert done.returncode == 0, done.stderr
    headings = done.stdout.splitlines()[0].split()
    assert headings[:6] == ["player", "points", "byes", "Buchholz", "S-B", "Elo"]
    assert f"{NAME}A" in done.stdout
    assert "…" not in done.stdout


def test_suite_tables_in_a_pipe_show_full_answers(tmp_path) -> None:
    file = tmp_path / f"{LONG[:100]}.tst"
    file.write_text("1 name\n#? [another-name]\n")
    done = in_process.run("suite", file, "--", "--game", "nim", "--report-name", LONG)
    assert LONG in done.stdout
    assert file.name in done.stdout.splitlines()[-1]
    found = json.loads(in_process.run("suite", file, "--json", "--", "--game", "nim").stdout)
    assert found["files"][0]["tests"] == 1
