"""Our own engines in this process, as clients that call their sessions."""

import asyncio
import io
from contextlib import asynccontextmanager

import pytest

from agent.chess.engine.backend import ChessBackend
from agent.limits import SideClock
from protocols.client.engine import EngineOptionError, EngineTimeoutError
from protocols.client.in_process import InProcessChessClient
from protocols.client.in_process_game import InProcessGameClient
from protocols.client.process import EngineError, IoLog
from protocols.client.uci import SearchRequest
from protocols.gtp.session import Settings
from protocols.session_context import STANDALONE
from tests.waiting import PATIENCE

EVALUATIONS = """
def broken(board):
    raise ValueError("no idea")
"""
SLOW_GAME = """
import time
from agent.games.nim import Nim

class Slow(Nim):
    def moves(self):
        time.sleep(0.5)
        return super().moves()
"""
MOVE = SearchRequest(None, ("e2e4",), nodes=500)


@asynccontextmanager
async def running(client):
    try:
        await client.start()
        await client.new_game()
        yield client
    finally:
        await client.close()


@pytest.fixture
def evaluations(tmp_path):
    (tmp_path / "user.py").write_text(EVALUATIONS)
    return tmp_path / "user.py"


async def test_chess_client_searches_with_clocks_and_reports_moves_as_text():
    clocks = SideClock(60.0, 1.0), SideClock(30.0)
    request = SearchRequest(None, ("e2e4",), *clocks, nodes=300_000)
    infos = []
    async with running(InProcessChessClient("K", {"OwnBook": False})) as client:
        answer = await client.search(request, PATIENCE, infos.append)
    assert answer.info is not None
    assert answer.info.pv[:2] == (answer.move, answer.ponder)
    assert 0 < answer.elapsed < 60
    assert all(isinstance(move, str) for info in infos for move in info.pv)


@pytest.mark.parametrize("unless_compiling", [False, True])
async def test_chess_client_may_play_before_its_kernel_is_compiled(monkeypatch, unless_compiling):
    waits = []

    def wait(engine, job, *, unless_compiling=False):
        waits.append(unless_compiling)

    monkeypatch.setattr(ChessBackend, "wait_until_loaded", wait)
    client = InProcessChessClient("K", {"Hash": 2}, unless_compiling=unless_compiling)
    async with running(client):
        assert waits == [unless_compiling] * 3
        assert not client.compiling


async def test_chess_client_rejects_wrong_options():
    async with running(InProcessChessClient("K", {"hash": 2, "final choice": "visits"})) as client:
        for name, value, message in (
            ("Ha", 2, "K: unknown option Ha "),
            ("Hash", -1, "option Hash: invalid value -1 "),
            ("OwnBook", "maybe", "option OwnBook: invalid value 'maybe' "),
            ("Search", "x\ny", "option Search: invalid value "),
            ("Evaluation", "/no/file.py:f", "evaluation file /no/file.py does not exist"),
            ("Evaluation", "nonsense", "evaluation "),
            ("BookFile", "/no/book.bin", "could not open book /no/book.bin"),
        ):
            with pytest.raises(EngineOptionError) as raised:
                await client.configure({name: value})
            assert str(raised.value).startswith(message)
        assert len((await client.search(MOVE, PATIENCE)).move) == 4


async def test_failed_chess_search_is_an_error(evaluations):
    async with running(InProcessChessClient("K", {})) as client:
        await client.configure({"Evaluation": f"{evaluations}:broken", "OwnBook": False})
        with pytest.raises(EngineError, match=r"^evaluation .* failed: "):
            await client.search(MOVE, PATIENCE)
        with pytest.raises(EngineError, match=r"^illegal move: 'e2e5' in "):
            await client.search(SearchRequest(None, ("e2e5",), nodes=1), PATIENCE)
        await client.configure({"Evaluation": "handcrafted"})
        assert len((await client.search(MOVE, PATIENCE)).move) == 4


async def test_answer_of_a_search_that_timed_out_is_discarded():
    async with running(InProcessChessClient("K", {"OwnBook": False})) as client:
        with pytest.raises(EngineTimeoutError, match=r"no bestmove within 0\.2 s"):
            await client.search(SearchRequest(None, ()), 0.2)
        assert (await client.search(MOVE, PATIENCE)).move[1] in "678"
        cancelled = asyncio.create_task(client.search(SearchRequest(None, ()), PATIENCE))
        await asyncio.sleep(0.1)
        cancelled.cancel()
        assert (await client.search(MOVE, PATIENCE)).move[1] in "678"


async def test_chess960_position_and_finished_game():
    settings = {"UCI_Chess960": True, "OwnBook": False}
    async with running(InProcessChessClient("K", settings)) as client:
        request = SearchRequest("4k3/8/8/8/8/8/8/RK6 w A - 0 1", ("b1a1",), nodes=100)
        assert len((await client.search(request, PATIENCE)).move) == 4
        mated = SearchRequest("7k/6Q1/5K2/8/8/8/8/8 b - - 0 1", (), nodes=100)
        assert (await client.search(mated, PATIENCE)).move == "(none)"


async def test_log_contains_the_session_as_uci_text():
    log = io.StringIO()
    async with running(InProcessChessClient("K", {"Hash": 2}, log=IoLog(log))) as client:
        await client.search(MOVE, PATIENCE)
    lines = [line.split("] ", 1)[1] for line in log.getvalue().splitlines()]
    assert lines[:4] == [
        "> setoption name Hash value 2",
        "> ucinewgame",
        "> position startpos moves e2e4",
        "> go nodes 500",
    ]
    assert lines[-2].startswith("< info depth ")
    assert lines[-1].startswith("< bestmove ")


def game_client(name, seconds=0.05, handicap=(), **settings):
    chosen = Settings(game=name, seconds=seconds, **settings)
    return InProcessGameClient(chosen, STANDALONE, lambda text: None, handicap)


def request(moves, **limits):
    movers = [ply % 2 for ply in range(len(moves))]
    return SearchRequest(
        None, moves, side=1 - len(moves) % 2, mover=len(moves) % 2, movers=movers, **limits
    )


async def test_game_client_plays_on_and_takes_back():
    async with running(game_client("tic-tac-toe")) as client:
        first = await client.search(request([], movetime=0.05), PATIENCE)
        replies = [move for move in ("a1", "b2", "c3") if move != first.move][:2]
        for reply in replies:
            second = await client.search(request([first.move, reply], movetime=0.05), PATIENCE)
            assert second.move not in (first.move, reply)
        with pytest.raises(EngineError, match="illegal move"):
            await client.search(request([first.move, first.move], movetime=0.05), PATIENCE)
        clocks = {"white": SideClock(2.0, 0.1), "black": SideClock(2.0, 0.1)}
        assert (await client.search(request([first.move], **clocks), PATIENCE)).elapsed < 2


async def test_game_client_places_handicap_stones():
    async with running(game_client("go", handicap=("C3", "G7"), options={"size": 9})) as client:
        with pytest.raises(EngineError, match="illegal move"):
            await client.search(request(["c3"], movetime=0.05), PATIENCE)


async def test_game_search_without_an_answer_times_out(tmp_path):
    (tmp_path / "game.py").write_text(SLOW_GAME)
    async with running(game_client(f"{tmp_path / 'game.py'}:Slow")) as client:
        with pytest.raises(EngineTimeoutError, match=r"no move within 0\.2 s"):
            await client.search(request([], movetime=0.05), 0.2)
