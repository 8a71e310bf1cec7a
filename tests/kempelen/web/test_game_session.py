"""What happens at once to one game: visitors come and go, an opponent thinks, clocks run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kempelen.web.channel import Channel, OnMessage
from kempelen.web.database import Database
from kempelen.web.engine_quota import EngineQuota
from kempelen.web.play import game_session as sittings
from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.game_session import GameSession
from kempelen.web.play.setup import GameSetup
from kempelen.web.site_context import SiteContext
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult
from protocols.server.admission import ANONYMOUS
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from tests.kempelen.web.support import PATIENCE


class Page:
    """One page, as a sitting has its channel."""

    language = "en"

    def __init__(self, owner: str = ANONYMOUS) -> None:
        self.owner = owner
        self.told: list[Any] = []
        self.said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def send(self, message: Any) -> None:
        self.told.append(message)

    def send_text(self, text: str) -> None:
        self.told.append(text)

    async def run(self, heard: OnMessage) -> None:
        while (message := await self.said.get()) is not None:
            await heard(message)

    def do(self, what: str, **more: Any) -> None:
        self.said.put_nowait({"do": what, **more})

    def leave(self) -> None:
        self.said.put_nowait(None)


class SlowOpponent:
    """Plays when it is released, ends searches slowly, and searches no more once it is closed."""

    def __init__(self, move: str) -> None:
        self.move = move
        self.searching, self.ending = asyncio.Event(), asyncio.Event()
        self.released = asyncio.Event()
        self.closed = False

    async def search(self, *arguments: Any) -> PlayResult:
        self.searching.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.ending.set()
            await asyncio.sleep(0.05)
            raise
        await asyncio.sleep(0.2)
        if self.closed:
            raise EngineError("it is closed")
        return PlayResult(self.move, None, None, 0.0)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def site(tmp_path: Path) -> SiteContext:
    return SiteContext(
        ServerLimits(), EventLog(lambda line: None), Database(tmp_path / "web.sqlite")
    )


def seated(site: SiteContext, **setup: Any) -> GameSession:
    chosen = {"game": "tic-tac-toe", **setup}
    return GameSession(
        SavedGame("game", ANONYMOUS, GameSetup(**chosen)), site, Archive(site.database)
    )


def attend(sitting: GameSession, page: Page) -> asyncio.Task[None]:
    return asyncio.create_task(sitting.serve(cast(Channel, page)))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.fixture
def opponents(monkeypatch: pytest.MonkeyPatch) -> list[SlowOpponent]:
    invited: list[SlowOpponent] = []

    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        invited.append(SlowOpponent(board.legal()[0]))
        return invited[-1]

    monkeypatch.setattr(sittings, "start_opponent", invite)
    return invited


async def test_player_returning_while_opponent_closes_plays_on(
    site: SiteContext, opponents: list[SlowOpponent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sittings, "IDLE_OPPONENT_TIMEOUT_S", 0.0)
    sitting = seated(site, side=1)
    first, second = Page(), Page()
    coming = attend(sitting, first)
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    first.leave()
    await coming
    await opponents[0].ending.wait()
    again = attend(sitting, second)

    def answered() -> bool:
        for each in opponents:
            each.released.set()
        return bool(sitting.saved.moves) or bool(sitting.state()["trouble"])

    await until(answered)
    assert sitting.state()["trouble"] == ""
    assert len(sitting.saved.moves) == 1
    assert site.engine_quota.total == 1
    second.leave()
    await again
    await until(lambda: site.engine_quota.total == 0)


async def test_opponent_is_kept_while_player_is_connected(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=1)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    await sitting._suspend_unless_watched()  # as a timer does that was set before
    opponents[0].released.set()
    await until(lambda: len(sitting.saved.moves) == 1)
    page.leave()
    await coming
    await sitting.suspend()


async def test_actions_from_two_pages_are_serialized(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=0)
    pages = [Page(), Page()]
    coming = [attend(sitting, page) for page in pages]
    pages[0].do("move", move="b2")
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    pages[0].do("back")
    await opponents[0].ending.wait()
    pages[1].do("again")  # while the first waits for the end of the search
    await until(lambda: not sitting.saved.moves)
    opponents[0].released.set()
    await asyncio.sleep(0.2)
    assert sitting.state()["trouble"] == ""
    assert (sitting.saved.moves, sitting.state()["thinking"]) == ([], False)
    for page in pages:
        page.leave()
    await asyncio.gather(*coming)
    await sitting.suspend()


async def test_started_action_completes_after_disconnect(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("move", move="b2")
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    page.do("resign")
    await opponents[0].ending.wait()
    coming.cancel()
    await until(lambda: sitting.saved.game_result is not None)
    assert sitting.saved.game_result is not None
    assert sitting.saved.game_result.result == "1-0"  # of the second player, who is White
    assert opponents[0].closed
    assert site.engine_quota.total == 0


async def test_game_with_joining_visitor_is_not_idle(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next who comes would be given another one, and each would play alone."""
    sitting = seated(site, side=0)
    settling, settled = asyncio.Event(), asyncio.Event()

    async def settle() -> None:
        settling.set()
        await settled.wait()

    monkeypatch.setattr(sitting, "_continue_game", settle)
    assert sitting.idle
    page = Page()
    coming = attend(sitting, page)
    await settling.wait()
    assert not sitting.idle
    settled.set()
    page.leave()
    await coming


async def test_clock_does_not_run_while_opponent_starts(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        await asyncio.sleep(0.4)
        opponent = SlowOpponent(board.legal()[0])
        opponent.released.set()
        return opponent

    monkeypatch.setattr(sittings, "start_opponent", invite)
    sitting = seated(site, side=1, base=0.3)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(sitting.saved.moves) or sitting.saved.game_result is not None)
    assert sitting.saved.game_result is None
    page.leave()
    await coming
    await sitting.suspend()


async def test_clock_does_not_run_while_opponent_is_unavailable(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        raise EngineError("there is none")

    monkeypatch.setattr(sittings, "start_opponent", invite)
    sitting = seated(site, side=1, base=0.2)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(sitting.state()["trouble"]))
    before = sitting.state()["clocks"]
    await asyncio.sleep(0.4)
    assert (sitting.saved.game_result, sitting.state()["clocks"]) == (None, before)
    page.leave()
    await coming
    await sitting.suspend()


async def test_hint_engine_counts_towards_engine_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = SiteContext(
        ServerLimits(sessions=1), EventLog(lambda line: None), Database(tmp_path / "web.sqlite")
    )
    counted = []

    async def advise(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        counted.append(site.engine_quota.total)
        adviser = SlowOpponent(board.legal()[0])
        adviser.released.set()
        return adviser

    monkeypatch.setattr(sittings, "start_hint_engine", advise)
    sitting = seated(site, side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("hint")
    await until(lambda: any('"hint"' in str(told) for told in page.told))
    assert (counted, site.engine_quota.total) == ([1], 0)
    site.engine_quota.acquire("another")
    page.do("hint")
    await until(lambda: "too many games are played here now" in str(page.told[-1]))
    assert (counted, site.engine_quota.total) == ([1], 1)
    page.leave()
    await coming


async def test_hint_for_changed_position_is_discarded(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    adviser = SlowOpponent("e2e4")

    async def advise(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        return adviser

    monkeypatch.setattr(sittings, "start_hint_engine", advise)
    sitting = seated(site, game="chess", side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("hint")
    await adviser.searching.wait()
    sitting.saved.moves[:] = ["d2d4"]  # and so is another position with as many moves
    adviser.released.set()
    await until(lambda: sitting._hint_task is None)
    assert not any("hint" in str(told) or "error" in str(told) for told in page.told)
    page.leave()
    await coming


def test_engines_per_visitor_and_in_total_are_limited() -> None:
    tally = EngineQuota(ServerLimits(sessions=4, sessions_of_token=2))
    for _ in range(2):
        tally.acquire("alice")
    with pytest.raises(EngineError, match="of yours"):
        tally.acquire("alice")
    tally.acquire("bob")
    tally.release("alice")
    tally.acquire("alice")
    tally.acquire("carol")
    with pytest.raises(EngineError, match="too many games are played here now"):
        tally.acquire("dave")
    everybody = EngineQuota(ServerLimits(sessions=4, sessions_of_token=2))
    for _ in range(4):
        everybody.acquire(ANONYMOUS)
    assert everybody.total == 4
