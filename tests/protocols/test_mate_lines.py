"""Both chess protocols show a mate with its complete variation."""

import chess
import pytest

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.engine.backend import ChessBackend
from agent.limits import Info, Mate
from openings.endgame_tables import open_tables
from tests.protocols.uci.conftest import EngineSession
from tests.protocols.xboard.conftest import XboardConversation
from tests.support import factory_fixture, mates

ROOK = "8/8/8/3k4/8/8/8/KR6 w - - 0 1"

make_uci = factory_fixture(EngineSession, EngineSession.close)
make_xboard = factory_fixture(XboardConversation, XboardConversation.close)


def backend(report):
    """Return an engine with the tables of the package."""
    return ChessBackend(report, lambda _: BuiltinTablebase(open_tables()[0]))


def mate_line(score, text):
    return Info(1, Mate(score), tuple(map(chess.Move.from_uci, text.split())))


@pytest.mark.parametrize("search", ["alphabeta", "mcts"])
def test_uci_shows_every_line_of_a_table_mate_to_the_end(make_uci, search):
    conversation = make_uci(backend)
    conversation.say(f"setoption name Search value {search}", "setoption name Hash value 4")
    conversation.say("setoption name MultiPV value 3", "isready")
    conversation.hear_until("readyok")
    *infos, answer = conversation.ask(f"position fen {ROOK}", "go depth 20")
    infos = [line for line in infos if " pv " in line]
    assert {line.split(" multipv ")[1].split()[0] for line in infos} == {"1", "2", "3"}
    for line in infos:
        score = int(line.split(" score mate ")[1].split()[0])
        assert mates(chess.Board(ROOK), mate_line(score, line.split(" pv ")[1]))
    _, move, _, reply = answer.split()
    assert infos[-1].split(" pv ")[1].split()[:2] == [move, reply]


def test_xboard_shows_a_table_mate_to_the_end(make_xboard):
    conversation = make_xboard(backend)
    conversation.say("xboard", "protover 2", "option OwnBook=0", "post", "ping 1")
    conversation.hear_until("pong 1")
    heard = conversation.ask(f"setboard {ROOK}", "sd 20", "go")
    lines = [line for line in heard if "\t" in line]
    assert lines
    for line in lines:
        numbers, variation = line.split("\t")
        assert mates(chess.Board(ROOK), mate_line(int(numbers.split()[1]) - 100_000, variation))
