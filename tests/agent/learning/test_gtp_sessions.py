"""GTP sessions with an opponent model, in tic-tac-toe."""

import json

import pytest

from agent.learning.opponent_database import OpponentDatabase
from agent.learning.opponent_game_record import GameRecord
from protocols.client.gtp import OPPONENT_COMMAND
from tests.in_process import run
from tests.protocols.gtp.conftest import EngineSession
from tests.waiting import PATIENCE


@pytest.fixture
def file(tmp_path):
    return tmp_path / "habits.jsonl"


def talk_with(file, **options):
    settings = {"game": "tic-tac-toe", "algorithm": "alpha-beta", "book": False, "depth": 1}
    return EngineSession(habits=str(file), **{**settings, **options})


WON = "b1 a1 c3 a3 a2 c1 b2 b3 c2"  # a depth-1 search would not open this way


def ask(talk, *lines):
    talk.say(*lines)
    return [line.removeprefix("= ") for line in talk.rest() if line != "="]


def test_winning_line_is_played_again(file):
    talk = talk_with(file)
    moves, start = tuple(WON.split()), talk.gtp.session.board.options_text
    OpponentDatabase(file).add(GameRecord("Ann", moves, 0, 1.0, start=start, game="tic-tac-toe"))
    ask(talk, f"{OPPONENT_COMMAND} Ann", "clear_board")
    for reply in moves[1:4:2]:
        ask(talk, "genmove b", f"play w {reply}")
    assert tuple(talk.gtp.session.board.moves) == moves[:4]
    assert "opponent Ann: b1 scored 1/1" in talk.reports
    assert talk.gtp.close(PATIENCE)


def test_finished_game_is_saved_once(file):
    talk = talk_with(file)
    ask(talk, f"{OPPONENT_COMMAND} Ann Other", "clear_board")
    while talk.gtp.session.board.game.outcome() is None:
        ask(talk, "genmove b" if talk.gtp.session.board.turn == 0 else f"play w {_last(talk)}")
    ask(talk, "name", "showboard", "clear_board")
    (game,) = OpponentDatabase(file).read("Ann Other", "tic-tac-toe")
    assert (game.side, game.game) == (0, "tic-tac-toe")
    assert len(game.moves) >= 5
    assert OpponentDatabase(file).read("Ann Other", "chess") == []
    told = json.loads(run("opponents", "show", "Ann Other", "--file", file, "--json").stdout)
    assert (told["game"], told["games"]) == ("tic-tac-toe", 1)
    refused = run("opponents", "show", "Ann Other", "--file", file, "--game", "chess")
    assert refused.returncode == 1
    assert "Ann Other: no games of chess (expected one of: tic-tac-toe)" in refused.stderr
    assert talk.gtp.close(PATIENCE)


def _last(talk):
    return talk.gtp.session.board.legal_moves()[-1]


def test_unfinished_game_is_not_saved(file):
    talk = talk_with(file)
    ask(talk, f"{OPPONENT_COMMAND} Ann", "genmove b", "play w a1", "clear_board")
    assert not file.exists()
    assert talk.gtp.close(PATIENCE)


def test_damaged_file_is_reported(file):
    file.write_text("x\n")
    talk = talk_with(file)
    ask(talk, f"{OPPONENT_COMMAND} Ann", "genmove b")
    assert talk.reports == [
        f"{file}: not an opponents file (not changed; use another file); playing without it"
    ]
    assert talk.gtp.close(PATIENCE)


def test_habits_option_is_rejected_for_go(file):
    refused = run("gtp", "--opponents", file)
    assert refused.returncode == 2
    assert "--opponents: not supported for Go" in refused.stderr


def test_game_with_engine_on_both_sides_is_not_saved(file):
    talk = talk_with(file)
    ask(talk, f"{OPPONENT_COMMAND} Ann", "clear_board")
    while talk.gtp.session.board.game.outcome() is None:
        ask(talk, "genmove b" if talk.gtp.session.board.turn == 0 else "genmove w")
    assert not file.exists()
    ask(talk, "clear_board")
    while talk.gtp.session.board.game.outcome() is None:
        ask(talk, "genmove b" if talk.gtp.session.board.turn == 0 else f"play w {_last(talk)}")
    assert len(OpponentDatabase(file).read("Ann")) == 1
    assert talk.gtp.close(PATIENCE)
