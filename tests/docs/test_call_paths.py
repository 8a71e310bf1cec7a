"""The call paths on the architecture page are those of the running program."""

import asyncio
import sys
from types import SimpleNamespace

import pytest

from agent.threads.serial_executor import SerialExecutor
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.match_game import MatchGame
from kempelen.web.database import Database
from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.game_session import GameSession
from kempelen.web.play.setup import GameSetup
from kempelen.web.site_context import SiteContext
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.uci.protocol import UciProtocol
from tests.kempelen.match.support import play, settings
from tests.pages import Page
from tests.support import PACKAGES, ROOT
from tests.waiting import PATIENCE

PAGE = Page("docs/architecture.md")
HAND_OVER = "-- the agent's thread --"
MAX_HOPS = 9


def call_stack():
    """Return the product's functions on the stack, outermost first, as `file function`."""
    calls = []
    frame = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(f"{ROOT}/") and path.removeprefix(f"{ROOT}/").split("/")[0] in PACKAGES:
            calls.append(f"{path.removeprefix(f'{ROOT}/')} {frame.f_code.co_qualname}")
        frame = frame.f_back
    return calls[::-1]


@pytest.fixture
def record(monkeypatch):
    """Return a function that starts to record the way to the next call of the chess kernel."""
    from agent.chess.search import alphabeta_search

    def record(module=alphabeta_search, kernel="search_window"):
        path, reached = [], []
        submit, called = SerialExecutor.submit, getattr(module, kernel)

        def noting_submit(executor, work, long_running=False, **options):
            if not reached:
                path.extend([*call_stack(), HAND_OVER])
            return submit(executor, work, long_running, **options)

        def noting_kernel(*arguments):
            if not reached:
                reached.append(kernel)
                path.extend(call_stack())
            return called(*arguments)

        monkeypatch.setattr(SerialExecutor, "submit", noting_submit)
        monkeypatch.setattr(module, kernel, noting_kernel)
        return path

    return record


def finish(protocol, *lines):
    """Handle lines, and wait for the answers."""
    for line in lines:
        list(protocol.handle_line(line))
    assert protocol.drain(PATIENCE)


def test_go_takes_the_documented_path(record):
    uci = UciProtocol("name", "author", lambda line: None, lambda path: None)
    finish(uci, "setoption name OwnBook value false", "isready", "go depth 1")
    path = record()
    finish(uci, "go depth 3")
    assert uci.close(PATIENCE)
    check(path, "go")


def test_genmove_takes_the_documented_path(record):
    from agent.go import search

    gtp = GtpProtocol("name", "1", print, print, Settings(options={"size": 9}, nodes=50))
    finish(gtp, "clear_board")
    path = record(search, "run_simulations")
    finish(gtp, "genmove b")
    assert gtp.close(PATIENCE)
    check(path, "genmove")


async def test_match_move_takes_the_documented_path(record, monkeypatch):
    paths = []
    move = MatchGame._move

    async def recorded_move(game, player):
        paths.append(record())
        return await move(game, player)

    monkeypatch.setattr(MatchGame, "_move", recorded_move)
    engines = [EngineSettings("chess", name, protocol=EngineProtocol.AGENT) for name in "AB"]
    limits = {"time": TimeControl(nodes=100), "adjudication": Adjudication(maxmoves=1)}
    await play(settings(*engines, games=1, **limits))
    path = [call for call in paths[0] if "recorded_move" not in call]
    check(path[path.index("kempelen/match/game/match_game.py MatchGame.play") :], "match-move")


async def test_web_move_takes_the_documented_path(record, monkeypatch, tmp_path):
    site = SiteContext(ServerLimits(), EventLog(print), Database(tmp_path / "web.sqlite"))
    saved = SavedGame("game", "", GameSetup(seconds=0.1))
    session = GameSession(saved, site, Archive(site.database))
    page = SimpleNamespace(send=print)

    async def answer(move):
        await session._handle_message(page, {"do": "move", "move": move})
        async with asyncio.timeout(PATIENCE):
            await session._search_task

    await answer("h2h3")
    path, create = record(), asyncio.create_task

    def noting_create(coroutine):
        path.extend(call_stack())
        return create(coroutine)

    monkeypatch.setattr(asyncio, "create_task", noting_create)
    await answer("h3h4")
    await session.suspend()
    check(path, "web-move", max_hops=12)


def check(path, name, max_hops=MAX_HOPS):
    (block,) = PAGE.having(f"path-{name}")
    assert path == block.text.splitlines()
    assert path.count(HAND_OVER) == 1
    assert len(path) - 2 <= max_hops  # every call after the first, and the hand-over
