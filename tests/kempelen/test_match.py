"""The commands match, match ratings and match sprt."""

import asyncio
import json
import sys
from pathlib import Path

import chess.pgn
import pytest

from agent.machine import usable_cpus
from kempelen.cli import main
from kempelen.console.settings_codec import SettingsError
from kempelen.match import runner
from kempelen.match.config.engine_arguments import engine_entries, parse_entries
from kempelen.match.config.run_settings import RunSettings, parse_cpus
from kempelen.match.config.settings import parse_settings
from kempelen.match.config.time_control import TimeControl
from tests.support import FAILING, failing


def spec(failure="none", **entries):
    command, arguments = failing(failure)
    text = ",".join(f"{name}={value}" for name, value in entries.items())
    return f"cmd={command},args={' '.join(arguments)},name={failure}" + (f",{text}" if text else "")


def match(*arguments):
    line = ["match", "--engine", spec(), "--engine", spec("no-info"), "--nodes", "10"]
    return main([*line, "--maxmoves", "6", *map(str, arguments)])


def test_match_writes_pgn_and_logs_and_is_resumed(capsys, tmp_path):
    ledger, pgn, logs = tmp_path / "l", tmp_path / "g.pgn", tmp_path / "logs"
    status = match("--games", 4, "--ledger", ledger, "--pgn", pgn, "--log-dir", logs)
    assert status == 0
    assert "none" in capsys.readouterr().out
    assert pgn.read_text().count("[Event ") == 4
    log = (logs / "no-info.log").read_text()
    assert "> setoption name OwnBook value false" in log
    assert "< bestmove" in log
    assert match("--games", 4, "--ledger", ledger) == 2
    assert "--resume" in capsys.readouterr().err
    assert match("--games", 6, "--ledger", ledger, "--resume", "--pgn", pgn) == 0
    assert pgn.read_text().count("[Event ") == 6
    assert main(["match", "ratings", str(pgn), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["games"] for row in rows] == [6, 6]
    assert main(["match", "ratings", str(pgn), "--json", "--anchor", "none=2000"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["elo"] for row in rows}["none"] == 2000
    assert main(["match", "ratings", str(pgn), "--anchor", "nobody=2000"]) == 2
    assert "unknown player nobody (expected one of: " in capsys.readouterr().err


def test_match_prints_a_json_result(capsys):
    assert match("--games", 2, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["summary"]["played"]) == ("complete", 2)


def test_match_and_ratings_report_the_same_elo(capsys, tmp_path):
    pgn = tmp_path / "g.pgn"
    line = ["match", "--engine", spec(), "--engine", spec("no-move"), "--nodes", "1", "--json"]
    assert main([*line, "--games", "6", "--pgn", str(pgn)]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    found = summary["comparison"]["estimate"]
    assert found["elo"]["error"] > 100
    assert main(["match", "ratings", str(pgn), "--json"]) == 0
    for rows in (summary["rows"], json.loads(capsys.readouterr().out)):
        rated = {row["name"]: (row["elo"], row["error"]) for row in rows}
        value, error = found["elo"]["value"], found["elo"]["error"]
        assert rated == {"none": (value, error), "no-move": (-value, error)}


PGN = '[Event "{}"]\n[Round "{}"]\n[White "{}"]\n[Black "{}"]\n[Result "{}"]\n\n{}\n\n'


def test_ratings_pair_games_by_event_and_round(capsys, tmp_path):
    def rate(*games):
        file = tmp_path / "games.pgn"
        file.write_text("".join(PGN.format(*game, game[-1]) for game in games))
        assert main(["match", "ratings", str(file), "--json"]) == 0
        return {row["name"]: row for row in json.loads(capsys.readouterr().out)}

    won_by_white = [("e", "1", "A", "B", "1-0"), ("e", "1", "B", "A", "1-0")] * 4
    narrow = rate(*won_by_white)["A"]["error"]
    assert (
        narrow
        == rate(*(("e", f"1.1-2.1.{n % 2 + 1}", *g[2:]) for n, g in enumerate(won_by_white)))["A"][
            "error"
        ]
    )
    for other in (
        [("e", str(number), *game[2:]) for number, game in enumerate(won_by_white)],
        [("e", "?", *game[2:]) for game in won_by_white],
        [(str(number), *game[1:]) for number, game in enumerate(won_by_white)],
        [("e", "1", "A", "B", result) for result in ("1-0", "0-1") * 4],
    ):
        wide = rate(*other)["A"]
        assert wide["elo"] == 0
        assert wide["error"] > 2 * narrow


def ratings(capsys, file, *arguments):
    """Return the players of each group with their ratings, and standard error."""
    assert main(["match", "ratings", str(file), "--json", *arguments]) == 0
    out, err = capsys.readouterr()
    groups = {}
    for row in json.loads(out):
        groups.setdefault(row["group"], {})[row["name"]] = round(row["elo"])
    return [*groups.values()], err


def test_players_who_have_not_met_are_ranked_in_groups(capsys, tmp_path):
    file = tmp_path / "games.pgn"
    pairs = [("A", "B"), ("B", "A"), ("B", "C"), ("X", "Y"), ("X", "Y")]
    results = ["1-0", "0-1", "1/2-1/2", "1-0", "1/2-1/2"]
    file.write_text(
        "".join(PGN.format("e", "?", *names, r, r) for names, r in zip(pairs, results, strict=True))
    )
    (first, second), error = ratings(capsys, file)
    assert ({*first}, [*second]) == ({"A", "B", "C"}, ["X", "Y"])
    assert sum(second.values()) == 0
    assert "2 groups of players have not met" in error
    assert f"not comparable: {', '.join(first)}; X, Y" in error
    assert main(["match", "ratings", str(file)]) == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line]
    assert lines[0] == ["group", "1"]
    assert lines.index(["group", "2"]) == 5
    # The same ratings as without the other group.
    together = file.read_text()
    file.write_text(together[together.index('[Event "e"]\n[Round "?"]\n[White "X"]') :])
    (alone,), error = ratings(capsys, file)
    assert (alone, error) == (second, "")
    # An anchor alone has its group; two anchors connect their groups.
    file.write_text(together)
    anchored, error = ratings(capsys, file, "--anchor", "X=2000")
    assert anchored[0] == first
    assert (anchored[1]["X"], "2 groups" in error) == (2000, True)
    (connected,), error = ratings(capsys, file, "--anchor", "X=2000", "--anchor", "A=1900")
    assert (connected["X"], connected["A"], error) == (2000, 1900, "")


def test_ratings_say_which_games_were_ignored(capsys, tmp_path):
    file = tmp_path / "games.pgn"
    games = [("A", "B", "1-0"), ("A", "B", "*"), ("A", "A", "1-0")]
    file.write_text("".join(PGN.format("e", "?", *game, game[-1]) for game in games))
    _, error = ratings(capsys, file)
    expected = "read 1 game, skipped 2: game 2, no result; game 3, A plays against itself"
    assert error == f"kempelen: {file}: {expected}\n"
    file.write_text("1. e4 1-0\n\n" + PGN.format("e", "?", "A", "B", "*", "*"))
    assert main(["match", "ratings", str(file)]) == 1
    expected = "read 0 games, skipped 2: game 1, unknown players; game 2, no result"
    assert expected in capsys.readouterr().err


@pytest.mark.thorough
def test_a_knockout_names_its_winner(capsys):
    line = ["match", "--engine", spec(), "--engine", spec("no-move"), "--engine", spec("no-info")]
    line += ["--format", "knockout", "--nodes", "1", "--maxmoves", "4"]
    assert main([*line, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["winner"] == summary["rows"][0]["name"] == "none"
    final = summary["bracket"][-1][0]
    assert (final["first"], final["second"], final["winner"]) == ("none", "no-info", "none")
    assert main(line) == 0
    assert "winner: none" in capsys.readouterr().out


@pytest.mark.thorough
def test_match_ends_when_the_sprt_is_decided(capsys):
    line = ["match", "--engine", spec(), "--engine", spec("no-move"), "--nodes", "1", "--json"]
    status = main([*line, "--games", "1000", "--sprt", "elo0=0,elo1=100"])
    result = json.loads(capsys.readouterr().out)
    assert status == 0
    assert result["status"] == "decided"
    assert result["summary"]["played"] < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "name=x"], "missing cmd=PROGRAM"),
        (["--engine", "cmd=no-such-program"], "no-such-program"),
        (["--engine", "nonsense"], "expected NAME=VALUE"),
        (["--engine", "cmd=x,speed=9"], "speed: unknown key (expected one of: agent, algorithm, "),
        (
            ["--engine", "cmd=x,opt.Hash=16"],
            "set an engine option with option.Hash=...",
        ),
        (["--engine", "cmd=x,options.Hash=16"], "set an engine option with option.Hash=..."),
        (["--engine", "cmd=x,Hash=16"], "set an engine option with option.NAME=..."),
        (["--engine", "cmd=x,options=Hash"], "options: unknown key (expected one of"),
        (["--each", "protocol.x=1"], "protocol.x: unknown"),
        (["--tc", "fast"], "expected moves/base+increment"),
        (["--games", "0"], "at least 1"),
        (["--openings", "/no/such.epd"], "/no/such.epd"),
        (["--sprt", "elo0=9,elo1=1"], "elo0 must be less"),
        (["--sprt", "elo0=nan,elo1=1"], "elo0 must be less"),
        (["--sprt", "elo0=0,elo1=5000"], "elo0 and elo1 must be between -4000 and 4000"),
        (["--sprt", "elo0=0,elo0=1"], "--sprt: elo0 is given twice"),
        (["--engine", "cmd=x,name=a,name=b"], "--engine: name is given twice"),
        (["--draw", "score=5,score=9"], "--draw: score is given twice"),
        (["--resign", "movecount=1,score=-600"], "resign: score must be at least 1 (got -600)"),
        (["--resign", "movecount=0"], "resign: movecount must be at least 1 (got 0)"),
        (["--draw", "movecount=0,score=5"], "draw: movecount must be at least 1"),
        (["--draw", "score=-5"], "draw: score must be at least 0"),
        (["--maxmoves", "-3"], "maxmoves must be at least 1"),
        (["--opening-plies", "-2"], "plies must be at least 0"),
        (["--games", "2000000000"], "games and rounds: must give at most 1000000 games"),
        (["--engine", 'cmd=x,args=uci "x'], '--engine: uci "x: No closing quotation'),
        (["--engine", 'cmd=x "y'], "No closing quotation"),
        (["--each", "start_limit=nan"], "start_limit: must be from 0 to 1e+30 seconds (got nan)"),
        (["--nodes", "9" * 400], "time: numbers must be finite and at most 1e+30"),
        (["--tc", "9" * 31], "time: numbers must be finite and at most 1e+30"),
        (["--engine", "cmd=  "], "--engine: missing cmd=PROGRAM"),
        (["--resume"], "--resume requires --ledger"),
        (["--ledger", "/no/such/folder/l"], "folder not found"),
        (["--pgn", "/no/such/folder/l"], "folder does not exist"),
        (["--mqtt", "mqtt://me:secret@host"], "must not contain user or password"),
        (["--broker", "other"], "embedded"),
    ],
)
def test_invalid_arguments_are_rejected(capsys, arguments, message):
    assert match(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert "secret" not in error


@pytest.mark.parametrize("read", ["openings", "ledger", "else"])
def test_pgn_output_does_not_overwrite_an_existing_file(tmp_path, capsys, read):
    file = tmp_path / "mine.pgn"
    file.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 *\n')
    before = file.read_bytes()
    named = {"openings": ["--openings", str(file)], "ledger": ["--ledger", str(file)], "else": []}
    assert match("--pgn", str(file), *named[read]) == 2
    assert "mine.pgn" in capsys.readouterr().err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("time", "own", "expected"),
    [
        ("10+0.1", {"margin": "1"}, TimeControl(base=10, increment=0.1, margin=1)),
        ({"nodes": 9, "margin": 2}, {"patience": 5}, TimeControl(nodes=9, margin=2, patience=5)),
        ({"nodes": 9, "margin": 2}, "40/60", TimeControl(moves=40, base=60, margin=2)),
        ({"nodes": 9, "margin": 2}, {"depth": 1, "margin": 3}, TimeControl(depth=1, margin=3)),
        ({"margin": 2}, {"depth": 1}, TimeControl(depth=1, margin=2)),
    ],
)
def test_engine_inherits_missing_time_settings(time, own, expected):
    engine = {"command": "a", "time": own}
    assert parse_settings({"time": time, "engines": [engine, engine]}).time_control(0) == expected


def test_margin_alone_is_not_a_time_control():
    engines = [{"command": "a"}, {"command": "b", "time": {"depth": 1}}]
    with pytest.raises(SettingsError, match="engine a: missing time control"):
        parse_settings({"time": {"margin": 1}, "engines": engines})


def test_engine_that_exits_at_startup_fails_the_match(capsys):
    line = ["match", "--engine", spec("dies-at-once"), "--engine", spec(), "--nodes", "1"]
    assert main(line) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "engine dies-at-once" in output.err
    assert "could not start" in output.err
    assert "no licence found" in output.err


def test_program_that_is_not_an_engine_is_rejected(capsys):
    assert main(["match", "--engine", "cmd=/bin/ls", "--engine", spec(), "--nodes", "1"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("kempelen: engine ls: could not start /bin/ls with protocol uci")


def test_missing_time_control_error_lists_the_flags(capsys):
    line = ["match", "--engine", spec(movetime=1), "--engine", spec("no-info")]
    for more in ([], ["--margin", "1"], ["--each", "margin=1"]):
        assert main([*line, *more]) == 2
        error = capsys.readouterr().err
        for flag in ("--tc", "--movetime", "--nodes", "--depth", "--engine no-info"):
            assert flag in error


@pytest.mark.thorough
def test_tournament_file_is_validated_and_run(capsys, tmp_path):
    command, arguments = failing("none")
    file = tmp_path / "t.yaml"
    file.write_text(
        f"""
name: cup
format: swiss
rounds: 2
games: 2
time: {{nodes: 5}}
adjudication: {{maxmoves: 6, draw: {{movenumber: 30}}}}
each: {{command: {command}, arguments: {json.dumps(list(arguments))}}}
engines:
  - {{name: A}}
  - {{name: B, time: {{depth: 1}}, options: {{Hash: 2}}}}
  - {{name: C, time: 5+0.1}}
  - {{name: D}}
"""
    )
    assert main(["match", str(file), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert (summary["played"], summary["players"]) == (8, ["A", "B", "C", "D"])
    for old, new, message in [
        ("swiss", "ladder", "format: invalid value 'ladder' (expected one of: round-robin"),
        ("Hash: 2", "Hash: 2000", "Hash: invalid value"),
        ("rounds: 2", "rounds: two", "rounds: invalid value 'two' (expected a whole number)"),
        ("name: cup", "colour: red", "colour: unknown"),
        ("engines:", "engines: [", "t.yaml"),
        ("depth: 1", "deep: 1", r"engines[2].time.deep: unknown"),
    ]:
        bad = tmp_path / "bad" / "t.yaml"
        bad.parent.mkdir(exist_ok=True)
        bad.write_text(file.read_text().replace(old, new))
        assert main(["match", str(bad)]) == 2
        assert message in capsys.readouterr().err
    assert main(["match", "/no/such.yaml"]) == 2


def test_sprt_prints_the_llr_and_rejects_bad_arguments(capsys):
    assert main(["match", "sprt", "13", "37", "50", "25", "3", "--elo1", "4"]) == 0
    assert "-0.54912" in capsys.readouterr().out
    assert main(["match", "sprt", "1", "2"]) == 2
    assert main(["match", "sprt", "1", "2", "3", "--elo0", "5"]) == 2
    assert main(["match", "sprt", "40", "10", "50", "--elo0", "-300", "--elo1", "300"]) == 0
    capsys.readouterr()
    assert main(["match", "sprt", "99999999999999999999999", "1", "1"]) == 2
    assert "invalid counts: 99999999999999999999999 1 1 (" in capsys.readouterr().err


def test_engine_specification_is_parsed():
    assert parse_entries("a=1,b=x\\,y,option.Style of Play=Very Risky", "") == {
        "a": "1",
        "b": "x,y",
        "option.Style of Play": "Very Risky",
    }
    engine = engine_entries({"cmd": sys.executable, "args": "-u 'a b'", "env.X": "1", "tc": "1+1"})
    assert engine["arguments"] == ["-u", "a b"]
    assert engine["environment"] == {"X": "1"}
    assert engine["time"]["base"] == 1
    with pytest.raises(SettingsError):
        engine_entries({"name": "x"})


def game(*arguments):
    agents = ["--engine", "proto=lab,algorithm=alpha-beta,depth=2"]
    agents += ["--engine", "algorithm=mcts,playouts=5,seed=1,name=tree"]
    return main(["match", "--game", "othello", "--size", "4", *agents, *map(str, arguments)])


@pytest.mark.thorough
def test_lab_agents_play_a_resumable_othello_match(capsys, tmp_path):
    ledger, text, lines = tmp_path / "l", tmp_path / "games.txt", tmp_path / "games.json"
    assert game("--games", 2, "--ledger", ledger, "--records", text, "--json") == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert (summary["players"], summary["played"]) == (["alpha-beta", "tree"], 2)
    assert "othello size=4" in text.read_text()
    assert game("--games", 4, "--ledger", ledger, "--resume", "--records", lines) == 0
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [record["played"] for record in records] == ["othello size=4"] * 4
    assert text.read_text().splitlines()[2].startswith("B:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "hex"], "unknown game 'hex'"),
        (["--size", "5"], "board size must be even"),
        (["--option", "colour=1"], "colour"),
        (["--engine", "proto=lab,depth=1"], "requires algorithm="),
        (["--engine", "proto=lab,algorithm=sunrise,depth=1"], "unknown algorithm 'sunrise'"),
        (["--engine", "cmd=gnugo --mode gtp,depth=1"], "plays only chess"),
        (["--engine", "algorithm=minimax"], "--playouts for agents of the lab"),
        (["--opening-plies", "40"], "random plies end the game"),
        (["--resign", "movecount=3"], "require chess"),
        (["--records", "/no/such/folder/games.txt"], "folder does not exist"),
        (["--game", "chess"], "--size, --komi and --option are for other games"),
    ],
)
def test_invalid_game_arguments_are_rejected(capsys, arguments, message):
    assert game(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_command_is_split_unless_it_is_an_existing_file(tmp_path):
    program = tmp_path / "my engine"
    assert engine_entries({"cmd": "gnugo --mode gtp"})["arguments"] == ["--mode", "gtp"]
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "arguments" not in engine_entries({"cmd": str(program)})


@pytest.mark.thorough
def test_error_in_a_user_defined_game_is_reported(capsys, tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(
        (Path(__file__).parents[1] / "data/games/chomp.py")
        .read_text()
        .replace("        row, column = move\n", "        row, column = move\n        1 / 0\n")
    )
    agents = ["--engine", "algorithm=minimax,depth=1", "--engine", "algorithm=pvs,depth=1"]
    assert main(["match", "--game", f"{file}:Chomp", *agents, "--opening-plies", "0"]) in (1, 2)
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert main(["match", "--game", f"{file}:Chomp", *agents]) == 2
    assert "ZeroDivisionError: division by zero (broken.py, line" in capsys.readouterr().err


@pytest.mark.thorough
def test_tournament_file_of_another_game_is_validated_and_run(capsys, tmp_path):
    evaluation = tmp_path / "mine.py"
    evaluation.write_text("def flat(game):\n    return 0\n\ndef broken(game):\n    return 1 / 0\n")
    file, place = tmp_path / "t.yaml", evaluation.as_posix()
    file.write_text(
        f"""
game: {{name: tic-tac-toe, options: {{size: 3}}}}
openings: {{plies: 1}}
adjudication: {{maxmoves: 50}}
each: {{protocol: lab}}
engines:
  - {{command: alpha-beta, time: {{depth: 9}}}}
  - {{command: mcts, time: {{playouts: 3}}, options: {{seed: 1}}}}
  - {{command: negamax, time: {{depth: 1}}, options: {{evaluation: "{place}:flat"}}}}
"""
    )
    assert main(["match", str(file), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["players"] == ["alpha-beta", "mcts", "negamax"]
    assert summary["terminations"] == {"end of the game": 6}
    assert summary["rows"][0]["name"] == "alpha-beta"
    file.write_text(file.read_text().replace(":flat", ":broken"))
    assert main(["match", str(file)]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err
    file.write_text(file.read_text().replace("size: 3", "width: 3"))
    assert main(["match", str(file)]) == 2
    assert "(options: size" in capsys.readouterr().err
    file.write_text("game: othello\nengines: [{command: x}, {command: y}]\ntime: 1+1\n")
    assert main(["match", str(file)]) == 2
    assert "engine x: plays only chess" in capsys.readouterr().err


OURS = f"cmd={sys.executable},args=-m kempelen.cli uci,name=ours"


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("engine", [OURS, "agent=chess,name=ours"])
def test_invalid_engine_option_value_ends_the_match(capsys, engine, warm_cache):
    line = ["match", "--engine", spec(), "--nodes", "10", "--engine"]
    for option, reason in (
        ("Evaluation=nnue:typo.nnue", "typo.nnue: No such file"),
        ("BookFile=typo.bin", "could not open book typo.bin"),
    ):
        assert main([*line, f"{engine},option.{option}"]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert "engine ours: " in output.err
        assert reason in output.err


def test_engine_with_a_failing_evaluation_loses_the_game(capsys, tmp_path, warm_cache):
    (tmp_path / "failing.py").write_text("def evaluate(board):\n    return 1 // 0\n")
    evaluation = f"option.Evaluation={tmp_path / 'failing.py'}:evaluate,option.OwnBook=false"
    line = ["match", "--engine", spec(), "--engine", f"agent=chess,name=ours,{evaluation}"]
    pgn = tmp_path / "games.pgn"
    line += ["--pgn", str(pgn)]
    assert main([*line, "--nodes", "10", "--games", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["summary"]["rows"]
    assert {row["name"]: row["failures"] for row in rows} == {"none": 0, "ours": 2}
    assert "failing.py:evaluate failed: ZeroDivisionError" in pgn.read_text()


@pytest.mark.parametrize("word", ["nan", "inf"])
@pytest.mark.parametrize("option", ["--movetime", "--margin"])
def test_non_finite_times_are_rejected(capsys, option, word):
    assert match(option, word) == 2
    assert "finite" in capsys.readouterr().err


def test_pgn_has_the_requested_event_site_fields_and_notation(capsys, tmp_path):
    pgn = tmp_path / "g.pgn"
    line = ("--games", 1, "--pgn", pgn, "--event", "Cup", "--site", "Home", "--notation", "uci")
    assert match(*line, "--pgn-fields", "nodes,pv,latency") == 0
    text = pgn.read_text()
    assert '[Event "Cup"]\n[Site "Home"]' in text
    assert "n=1 pv=" in " ".join(text.split())
    with pytest.raises(SystemExit):
        match("--pgn-fields", "nodes,x")
    assert "unknown field 'x'" in capsys.readouterr().err


def test_epdout_has_the_final_position_of_each_game(capsys, tmp_path):
    epd, pgn, ledger = tmp_path / "g.epd", tmp_path / "g.pgn", tmp_path / "l"
    line = ("--games", 2, "--epdout", epd, "--pgn", pgn, "--ledger", ledger)
    assert match(*line) == 0
    assert match(*line, "--games", 4, "--resume") == 0
    finals = []
    with pgn.open() as file:
        while game := chess.pgn.read_game(file):
            finals.append(game.end().board())
    boards = [chess.Board.from_epd(line) for line in epd.read_text().splitlines()]
    assert [(b.epd(), o["hmvc"], o["fmvn"]) for b, o in boards] == [
        (board.epd(), board.halfmove_clock, board.fullmove_number) for board in finals
    ]
    assert len(finals) == 4
    assert match("--epdout", tmp_path / "x", "--pgn", tmp_path / "x") == 2
    assert "also given as --records" in capsys.readouterr().err


def test_latency_is_shown_on_request(capsys):
    assert match("--games", 1, "--show-latency") == 0
    assert "latency of none: " in capsys.readouterr().out
    assert match("--games", 1, "--show-latency", "--json") == 0
    assert set(json.loads(capsys.readouterr().out)["latency"]) == {"none"}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_engines_are_bound_to_the_cpus_of_their_board(capsys, tmp_path):
    script = tmp_path / "engine.py"
    script.write_text(
        "import os, runpy, sys\n"
        f"open(r'{tmp_path}/cpus', 'a').write(f'{{sorted(os.sched_getaffinity(0))}}\\n')\n"
        f"sys.argv = [r'{FAILING}']\nrunpy.run_path(r'{FAILING}', run_name='__main__')\n"
    )
    cpu = usable_cpus()[-1]
    engine = f"cmd={sys.executable},args={script}"
    line = ["match", "--engine", engine, "--engine", engine, "--nodes", "1", "--maxmoves", "2"]
    assert main([*line, "--games", "2", "--use-affinity", str(cpu)]) == 0
    assert set((tmp_path / "cpus").read_text().splitlines()) == {f"[{cpu}]"}
    two = ["--concurrency", "2", "--oversubscribe"]
    for extra, message in [
        ([*two, "--use-affinity", str(cpu)], "2 games at a time require 2 CPUs (got 1)"),
        (["--use-affinity", "99999"], "CPU 99999 is not usable"),
        (
            ["--use-affinity", "--engine", "agent=chess"],
            "engine Kempelen must be a separate process",
        ),
    ]:
        assert main([*line, "--games", "2", *extra]) == 2
        assert message in capsys.readouterr().err
    for cpus in ("x", "5-3", "3-", "0-99999999999"):
        with pytest.raises(SystemExit):
            main([*line, "--use-affinity", cpus])


def test_affinity_is_rejected_where_it_is_not_supported(capsys, monkeypatch):
    monkeypatch.setattr("kempelen.commands.match.usable_cpus", tuple)
    line = ["match", "--engine", "cmd=x", "--engine", "cmd=y", "--nodes", "1", "--use-affinity"]
    assert main(line) == 2
    assert "--use-affinity: not supported on this system (Linux only)" in capsys.readouterr().err


def test_cpus_are_divided_among_boards():
    assert parse_cpus("3,5,7-9") == (3, 5, 7, 8, 9)
    assert RunSettings().cpus_of(5, 2) == ()
    cpus = usable_cpus()[:2]
    if len(cpus) == 2:
        assert [RunSettings(affinity=cpus).cpus_of(board, 1) for board in (1, 2)] == [
            (cpus[0],), (cpus[1],)
        ]  # fmt: skip
        assert RunSettings(affinity=cpus).cpus_of(1, 2) == cpus


def test_limits_have_the_names_of_fastchess_too():
    entries = engine_entries({"cmd": "x", "st": "0.5", "timemargin": "50", "plies": "7"})
    assert entries["time"] == {"movetime": "0.5", "margin": "0.05", "depth": "7"}
    with pytest.raises(SettingsError, match="timemargin: invalid value 'x'"):
        engine_entries({"cmd": "x", "timemargin": "x"})


def test_book_of_an_engine_is_a_key_of_its_specification():
    entries = engine_entries({"cmd": "x", "book": "b.bin", "bookdepth": "8"})
    assert (entries["book"], entries["bookdepth"]) == ("b.bin", "8")


def test_run_waits_between_games_of_a_board(monkeypatch, tmp_path):
    waits = []

    async def sleep(seconds, sleep=asyncio.sleep):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(runner.asyncio, "sleep", sleep)
    ledger = tmp_path / "l"
    assert match("--games", 3, "--wait", 250, "--ledger", ledger) == 0
    assert waits.count(0.25) == 2
    assert match("--games", 4, "--ledger", ledger, "--resume") == 0  # without --wait
    assert waits.count(0.25) == 2
    assert match("--wait", -1) == 2


def test_infinite_time_control_replaces_a_clock(capsys):
    line = ["match", "--engine", spec(tc="inf", nodes=5), "--engine", spec("no-info")]
    assert main([*line, "--tc", "inf", "--maxmoves", "2", "--games", "1"]) == 0
    assert main([*line, "--tc", "hg9", "--maxmoves", "2", "--games", "1"]) == 2
    assert "hourglass requires one for every engine" in capsys.readouterr().err
