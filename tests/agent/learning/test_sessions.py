"""Sessions with an opponent model: UCI, xboard and the command line."""

import json
from pathlib import Path

import pytest

from agent.learning.opponent_database import OpponentDatabase
from agent.learning.opponent_game_record import REPORTED, SCORE, GameRecord
from tests.in_process import run
from tests.protocols.uci.conftest import EngineSession
from tests.protocols.xboard.conftest import XboardConversation
from tests.waiting import PATIENCE

FALL = "e2e4 e7e5 g1f3 d8g5 f3g5 a7a6 g5f3 a6a5"
GO = "go wtime 60000 btime 30000 nodes 100"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "habits.jsonl"


@pytest.fixture
def talk(file):
    made = EngineSession()
    made.say("setoption name OwnBook value false", f"setoption name HabitsFile value {file}")
    made.ask("setoption name UCI_Opponent value GM 2500 human Ann Other")
    yield made
    assert made.uci.close(PATIENCE)


def won(moves: str = FALL, opponent: str = "Ann Other", points: float = 1.0) -> GameRecord:
    return GameRecord(opponent, tuple(moves.split()), 0, points)


def play(talk, moves: str) -> list[str]:
    """Play a game with these moves of the opponent. Return ours."""
    played: list[str] = []
    ours = []
    for reply in [*moves.split(), ""]:
        (line,) = [
            line
            for line in talk.ask(f"position startpos moves {' '.join(played)}", GO)
            if line.startswith("bestmove")
        ]
        ours.append(line.split()[1])
        played += [ours[-1], reply]
    return ours


def test_game_is_saved_under_opponent_name(talk, file) -> None:
    ours = play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("setoption name GameResult value 1-0")
    (game,) = OpponentDatabase(file).read("ann other")
    assert (game.points, game.known, game.lowest) == (1.0, REPORTED, 1.0)
    assert list(game.moves[::2]) == ours
    assert len(game.scores) == 5
    assert game.scores[0] == 9
    talk.ask("ucinewgame")
    assert len(OpponentDatabase(file).read()) == 1


def test_last_game_is_saved_after_bestmove_without_ucinewgame(talk, file, monkeypatch) -> None:
    before = play(talk, "e7e5 d7d5 c7c5 b7b5")

    def report_calls(name):
        real = getattr(OpponentDatabase, name)
        monkeypatch.setattr(
            OpponentDatabase, name, lambda *arguments: (talk.heard.put(name), real(*arguments))[1]
        )

    report_calls("add")
    report_calls("read")
    said = talk.ask("position startpos", GO)
    assert [line.split()[0] for line in said[-3:]] == ["bestmove", "add", "read"]
    assert len(talk.uci.session.opponent._profile.games) == 1
    said = talk.ask("position startpos moves a2a3 a7a6", GO)
    assert not {"add", "read"} & set(said)
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert list(game.moves[::2]) == before


def test_reported_game_is_known_without_ucinewgame(talk, file) -> None:
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("setoption name GameResult value 1-0", "position startpos", GO)
    assert len(talk.uci.session.opponent._profile.games) == 1


def test_forfeit_result_is_recorded(talk, file) -> None:
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("setoption name GameResult value 0-1 Forfeit")
    (game,) = OpponentDatabase(file).read()
    assert (game.points, game.known, game.forfeit) == (0.0, REPORTED, True)


def test_winning_line_is_played_again(talk, file) -> None:
    OpponentDatabase(file).add(won())
    said = talk.ask("ucinewgame", "position startpos", GO)
    assert said[-1] == "bestmove e2e4 ponder e7e5"
    assert "info string opponent Ann Other: e2e4 scored 1/1" in said
    said = talk.ask("position startpos moves e2e4 e7e5 g1f3 d8g5", GO)
    assert said[-1] == "bestmove f3g5 ponder a7a6"
    # The opponent deviates: the search chooses the move.
    said = talk.ask("position startpos moves e2e4 e7e5 g1f3 b8c6", GO)
    assert said[-1].startswith("bestmove a2a3")


def test_habits_need_same_opponent_and_file_and_no_analysis(talk, file) -> None:
    OpponentDatabase(file).add(won())
    for line in ("setoption name UCI_AnalyseMode value true",):
        said = talk.ask(line, "ucinewgame", "position startpos", GO)
        assert said[-1].startswith("bestmove a2a3")
    talk.ask("setoption name UCI_AnalyseMode value false")
    assert talk.ask("position startpos", GO)[-1].startswith("bestmove e2e4")
    for line in (
        "setoption name UCI_Opponent value none none computer Bob",
        "setoption name UCI_Opponent value",
    ):
        said = talk.ask(line, "position startpos", GO)
        assert said[-1].startswith("bestmove a2a3")
    talk.ask("setoption name UCI_Opponent value none none human Ann Other")
    said = talk.ask("setoption name HabitsFile value", "position startpos", GO)
    assert said[-1].startswith("bestmove a2a3")


ANALYSED = "position startpos moves d2d4 d7d5 c2c4 e7e6 b1c3 g8f6"
ANALYSES = {
    "infinite": (ANALYSED, "go infinite", "stop"),
    "mate": (ANALYSED, "go mate 1 nodes 100"),
    "mode": ("setoption name UCI_AnalyseMode value true", ANALYSED, GO),
}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_game_abandoned_for_analysis_is_saved(talk, file, analysis) -> None:
    ours = play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.say(*ANALYSES[analysis])
    assert sum(line.startswith("bestmove") for line in talk.rest()) == 1
    talk.ask("ucinewgame")
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert list(game.moves[::2]) == ours
    assert game.known == SCORE


def test_result_during_analysis_belongs_to_game(talk, file) -> None:
    ours = play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("setoption name UCI_AnalyseMode value true", ANALYSED, GO)
    talk.ask("setoption name GameResult value 0-1")
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert (list(game.moves[::2]), game.points, game.known) == (ours, 0.0, REPORTED)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_game_continues_after_analysis(talk, file, analysis) -> None:
    OpponentDatabase(file).add(won("e2e4 e7e5"))
    start = "position startpos moves e2e4 e7e5"
    (first,) = (line for line in talk.ask(start, GO) if line.startswith("bestmove"))
    played = f"{start} {first.split()[1]} d7d5"
    talk.say(*(line.replace(ANALYSED, played) for line in ANALYSES[analysis]))
    assert not any("opponent " in line for line in talk.rest())
    talk.ask("setoption name UCI_AnalyseMode value false")
    for reply in ("c7c5", "b7b5"):
        (answer,) = (line for line in talk.ask(played, GO) if line.startswith("bestmove"))
        played += f" {answer.split()[1]} {reply}"
    talk.ask(played, GO, "setoption name GameResult value 1-0")
    assert len(OpponentDatabase(file).read("Ann Other")) == 2
    assert " ".join(OpponentDatabase(file).read("Ann Other")[-1].moves).startswith(played[24:])


def test_unnamed_opponent_is_not_remembered(talk, file) -> None:
    talk.ask("setoption name UCI_Opponent value")
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("ucinewgame")
    assert not file.exists()


def test_book_move_choice_follows_past_results(talk, file) -> None:
    for _ in range(30):
        OpponentDatabase(file).add(won(points=0.25))
        OpponentDatabase(file).add(won("d2d4 d7d5", points=0.0))
    said = talk.ask("setoption name OwnBook value true", "setoption name BookVariety value best")
    assert said == []
    said = talk.ask("ucinewgame", "position startpos", GO)
    assert said[-1].startswith("bestmove e2e4")


def test_less_time_is_planned_in_known_trap_line(talk, file) -> None:
    def planned() -> float:
        talk.ask("debug on")
        board = "position startpos moves e2e4 e7e5 g1f3 d8g5 f3g5 a7a6 h2h3 h7h6"
        (line,) = [line for line in talk.ask(board, GO) if "time budget" in line]
        return float(line.split()[4])

    usual = planned()
    for _ in range(4):
        OpponentDatabase(file).add(won(f"{FALL[:29]} h2h3 h7h6 g2g3"))
    talk.ask("ucinewgame", "position startpos moves e2e4 e7e5 g1f3 d8g5 f3g5 a7a6", GO)
    assert talk.uci.session.opponent.time_factor == 0.5
    assert planned() == pytest.approx(usual / 2, abs=0.01)


def test_damaged_file_is_reported_and_unchanged(talk, file) -> None:
    file.write_text("1. e4 e5\n")
    said = talk.ask(f"setoption name HabitsFile value {file}")
    assert said == [
        f"info string {file}: not an opponents file (not changed; use another file); "
        "playing without it"
    ]
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("ucinewgame")
    assert file.read_text() == "1. e4 e5\n"


def test_last_game_is_saved_on_close(file) -> None:
    talk = EngineSession()
    talk.say("setoption name OwnBook value false", f"setoption name HabitsFile value {file}")
    talk.ask("setoption name UCI_Opponent value none none computer Bob")
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    assert talk.uci.close(PATIENCE)
    assert [game.opponent for game in OpponentDatabase(file).read()] == ["Bob"]


def in_a_game_over_xboard(file) -> XboardConversation:
    """Return an xboard session in the middle of a game that is recorded in the file."""
    talk = XboardConversation()
    talk.ask("xboard", "protover 2", "option OwnBook=0", f"option HabitsFile={file}", "new")
    talk.ask("name Ann Other", "sd 3")
    for move in ("e2e4", "d2d4", "c2c4", "b2b4"):
        talk.ask(f"usermove {move}")
    return talk


def test_xboard_game_is_saved(file) -> None:
    talk = XboardConversation()
    talk.ask("xboard", "protover 2", "option OwnBook=0", f"option HabitsFile={file}", "new")
    talk.ask("name Ann Other", "sd 3", "time 6000", "otim 600", "usermove e2e4")
    for move in ("d2d4", "c2c4", "b2b4"):
        talk.ask("time 6000", "otim 60", f"usermove {move}")
    talk.ask("result 0-1 {White resigns}")
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert (game.points, game.known, game.side, game.lowest) == (1.0, REPORTED, 1, 0.1)
    assert game.moves[::2] == ("e2e4", "d2d4", "c2c4", "b2b4")
    assert talk.uci.close(PATIENCE)


def test_xboard_result_after_analysis_belongs_to_game(file) -> None:
    talk = in_a_game_over_xboard(file)
    talk.ask("analyze", "undo", "undo", "exit", "result 0-1 {White resigns}")
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert (game.points, game.known, game.side) == (1.0, REPORTED, 1)
    assert game.moves[::2] == ("e2e4", "d2d4", "c2c4", "b2b4")
    assert talk.uci.close(PATIENCE)


def test_xboard_forfeit_is_recorded(file) -> None:
    talk = in_a_game_over_xboard(file)
    talk.ask("result 1-0 {Black forfeits on time}")
    (game,) = OpponentDatabase(file).read("Ann Other")
    assert (game.points, game.known, game.forfeit) == (0.0, REPORTED, True)
    assert talk.uci.close(PATIENCE)


def test_aborted_game_is_not_saved(talk, file) -> None:
    play(talk, "e7e5 d7d5 c7c5 b7b5")
    talk.ask("setoption name GameResult value *", "ucinewgame")
    assert not file.exists()


# The command.


def test_opponents_can_be_listed_shown_and_forgotten(file) -> None:
    for game in (won(), won(), won("d2d4 d7d5", points=0.0), won(opponent="Bob")):
        OpponentDatabase(file).add(game)
    shown = run("opponents", "show", "ann other", "--file", file)
    assert shown.returncode == 0
    assert "1. e4 e5 2. Nf3 Qg5" in shown.stdout
    assert "King's Knight Opening" in shown.stdout
    told = json.loads(run("opponents", "show", "Ann Other", "--file", file, "--json").stdout)
    assert (told["games"], told["sides"]["first"]["points"]) == (3, 2.0)
    assert [each["played_again"] for each in told["openings"]] == [True, False]
    listed = json.loads(run("opponents", "list", "--file", file, "--json").stdout)
    assert listed["opponents"][0] == {"name": "Ann Other", "games": 3, "points": 2.0}
    assert "Bob" in run("opponents", "list", "--file", file).stdout
    assert run("opponents", "forget", "Ann Other", "--file", file).stdout == "3 games deleted\n"
    gone = run("opponents", "show", "Ann Other", "--file", file)
    assert gone.returncode == 1
    assert f"Ann Other: unknown opponent in {file} (expected one of: Bob)" in gone.stderr


def test_command_rejects_missing_or_damaged_file(file) -> None:
    missing = run("opponents", "list", "--file", file)
    assert missing.returncode == 1
    assert f"{file}: file does not exist" in missing.stderr
    file.write_text("x\n")
    damaged = run("opponents", "list", "--file", file)
    assert damaged.returncode == 1
    assert "not an opponents file" in damaged.stderr
