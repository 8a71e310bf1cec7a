"""Old names of commands, flags and settings work, and print their new names on standard error."""

import shlex
from argparse import ArgumentParser
from pathlib import Path

import pytest

from kempelen import cli
from kempelen.console.old_names import CommandParser, HiddenAlias, add_alias
from kempelen.console.server_settings import OLD_LIMITS, read_file
from kempelen.console.settings_codec import SettingsError
from tests import in_process

# Command line: old and new name in the notice, and a part of the command's own message.
OLD_COMMAND_LINES = {
    "analysis --report-as nobody": ("analysis", "katago-analysis", "kempelen katago-analysis"),
    "listen --idle-timeout 0": ("listen", "serve", "kempelen serve: --idle-timeout"),
    "serve --name /": ("serve --name", "mqtt bot", "--name: "),
    "serve --name=/": ("serve --name", "mqtt bot", "--name: "),
    "watch --wait x": ("watch", "mqtt watch", "kempelen mqtt watch: error: argument --wait"),
    "provide --url ftp://x": ("provide", "lichess", "kempelen lichess: "),
    "tournament none.yaml": ("tournament", "match", "none.yaml: No such file"),
    "ratings none.pgn": ("ratings", "match ratings", "none.pgn: No such file"),
    "sprt 1 2": ("sprt", "match sprt", "three counts of games"),
    "epd none --depth 1": ("epd", "suite", "none: No such file"),
    "regress none -- --playouts 1": ("regress", "suite", "none: No such file"),
    "regress none.epd": ("regress", "suite", "none.epd: No such file"),
    "try none:none --no-match": ("try", "check-eval", "kempelen check-eval: "),
    "selfplay none/x": ("selfplay", "train selfplay", "kempelen train selfplay: none/x: "),
    "data show none": ("data", "train data", "kempelen train data: none: No such file"),
    "train none.yaml": ("train FILE.yaml", "train fit", "kempelen train fit: none.yaml: No such"),
    "train --json none": ("train FILE.yaml", "train fit", "kempelen train fit: none: No such"),
    "tune patterns none -o x": ("tune", "train tune", "none: No such file"),
    "tables probe none": ("tables", "tablebase", "kempelen tablebase: "),
    "experience show none": ("experience", "learn", "kempelen learn: "),
    "habits list --file none": ("habits", "opponents", "kempelen opponents: "),
}

# Command line, old flag, new flag.
OLD_FLAGS = [
    ("match none.yaml --patience 5", "--patience", "--timeout"),
    ("match none.yaml --plies 5", "--plies", "--opening-plies"),
    ("match none.yaml --broker-patience 5", "--broker-patience", "--broker-timeout"),
    ("connect nowhere --patience 5", "--patience", "--timeout"),
    ("connect nowhere --pat 5", "--patience", "--timeout"),
    ("suite none.epd --depth 1 --patience 5", "--patience", "--timeout"),
    ("mqtt bot --name / --longest 5", "--longest", "--max-time"),
    ("mqtt bot --name / --broker-patience 5", "--broker-patience", "--broker-timeout"),
    (
        "mqtt watch --once --wait 0.5 --mqtt x --broker-patience=5",
        "--broker-patience",
        "--broker-timeout",
    ),
    ("lab run --game chess --fold", "--fold", "--symmetry"),
    ("lab run --game none --factor 3", "--factor", "--beam"),
    ("lab solve --game none --whole", "--whole", "--full-tree"),
    ("gtp --game none --habits x", "--habits", "--opponents"),
    ("gtp --game none --experience x", "--experience", "--learn"),
    ("train data filter none -o x --most-score 5", "--most-score", "--max-score"),
    ("train data filter none -o x --least-pieces 5", "--least-pieces", "--min-pieces"),
    ("train data filter none -o x --most-pieces 5", "--most-pieces", "--max-pieces"),
    ("train data rescore none -o x --engine x --one-in 5", "--one-in", "--sample-every"),
    *(
        (f"{command} {old}=0", old, new)
        for command in ("serve", "web")
        for old, new in (
            (f"--{old}".replace("_", "-"), f"--{new}".replace("_", "-"))
            for old, new in OLD_LIMITS.items()
        )
    ),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notices(errors: str) -> list[str]:
    return [line for line in errors.splitlines() if " is now " in line]


@pytest.mark.parametrize("line", OLD_COMMAND_LINES)
def test_old_command_runs_and_prints_a_notice(line: str) -> None:
    old, new, message = OLD_COMMAND_LINES[line]
    done = in_process.run(*shlex.split(line))
    assert notices(done.stderr) == [f"kempelen: '{old}' is now '{new}'"]
    assert message in done.stderr
    assert done.stdout == ""
    assert done.returncode == 2 or new == "opponents"


def test_every_old_command_is_tested() -> None:
    tested = {line.split()[0] for line in OLD_COMMAND_LINES}
    assert tested == {*cli.OLD_COMMANDS, "serve", "train"}
    assert not cli.OLD_COMMANDS.keys() & cli.COMMANDS.keys()


@pytest.mark.parametrize(("line", "old", "new"), OLD_FLAGS)
def test_old_flag_works_and_prints_a_notice(line: str, old: str, new: str) -> None:
    done = in_process.run(*shlex.split(line), text="")
    words = line.split()
    command = " ".join(words[: 2 + (words[1] == "data")] if words[0] in GROUPS else words[:1])
    assert notices(done.stderr) == [f"kempelen {command}: {old} is now {new}"]
    assert done.stdout == ""
    assert "usage:" not in done.stderr
    same = in_process.run(
        *shlex.split(line.replace(old, new).replace("--pat ", "--timeout ")), text=""
    )
    assert done.stderr.splitlines()[1:] == same.stderr.splitlines()
    assert done.returncode == same.returncode != 0


GROUPS = ("mqtt", "train", "lab")


@pytest.mark.parametrize(
    "command", ["serve", "web", "match", "gtp", "lab run", "train data filter"]
)
def test_help_omits_old_names(command: str) -> None:
    text = in_process.run(*command.split(), "--help").stdout
    old = {flag for _, flag, _ in OLD_FLAGS}
    assert not old & {word.strip("[],") for word in text.split()}


def test_help_groups_the_commands_and_omits_old_ones() -> None:
    text = in_process.run("--help").stdout
    lines = text.splitlines()
    for heading, group in cli.COMMAND_GROUPS.items():
        start = lines.index(f"{heading}:") + 1
        shown = [line.split()[0] for line in lines[start : start + len(group)]]
        assert shown == list(group)
    assert "detects the protocol" in text
    for old in cli.OLD_COMMANDS:
        assert f"  {old} " not in text


@pytest.mark.parametrize("group", cli.SUBCOMMANDS)
def test_help_of_a_group_names_its_commands(group: str) -> None:
    text = " ".join(in_process.run(group, "--help").stdout.split())
    for name, help_line in cli.SUBCOMMANDS[group].items():
        assert name in text
        assert help_line in text
        assert in_process.run(group, name, "--help").returncode == 0


def test_aliases_leave_abbreviated_flags_unambiguous() -> None:
    parser = CommandParser()
    add_alias(parser, "--idle", parser.add_argument("--idle-timeout", type=float, default=1.0))
    add_alias(parser, "--grace", parser.add_argument("--shutdown-timeout", type=float))
    assert parser.parse_args(["--idl", "3"]).idle_timeout == 3
    assert parser.parse_args(["--gra", "4"]).shutdown_timeout == 4
    assert parser.parse_args([]).idle_timeout == 1


def test_alias_of_a_repeated_flag_appends(capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser(prog="kempelen x")
    add_alias(parser, "--old", parser.add_argument("--new", action="append", default=[]))
    assert parser.parse_args(["--old", "1", "--new=2", "--old=3"]).new == ["1", "2", "3"]
    assert capsys.readouterr().err == "kempelen x: --old is now --new\n" * 2
    assert "--old" not in parser.format_help()
    assert HiddenAlias(["--x"], "x", target=parser._actions[0]).help != ""


@pytest.mark.parametrize(("old", "new"), OLD_LIMITS.items())
def test_old_limits_in_a_file_work(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.yaml").write_text(f"limits: {{{old}: 7}}\n")
    assert getattr(read_file("server.yaml").limits, new) == 7
    error = capsys.readouterr().err
    assert error == f"kempelen: server.yaml: limits.{old} is now limits.{new}\n"
    Path("server.yaml").write_text(f"limits: {{{old}: 7, {new}: 8}}\n")
    with pytest.raises(SettingsError, match=f"limits.{old}: old name of limits.{new}"):
        read_file("server.yaml")
