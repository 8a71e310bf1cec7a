"""What happens at once to one game: visitors come and go, an opponent thinks, clocks run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from protocols.client.process import EngineError
from protocols.client.uci import Answer
from protocols.server.door import NOBODY
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from tests.web.support import PATIENCE
from web.channel import Channel, Heard
from web.play import sitting as sittings
from web.play.archive import Archive, KeptGame
from web.play.setup import Setup
from web.play.sitting import Sitting
from web.site import Site
from web.store import Store
from web.tally import EngineTally


class Page:
    """One page, as a sitting has its channel."""

    language = "en"

    def __init__(self, owner: str = NOBODY) -> None:
        self.owner = owner
        self.told: list[Any] = []
        self.said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def tell(self, message: Any) -> None:
        self.told.append(message)

    def pass_on(self, text: str) -> None:
        self.told.append(text)

    async def run(self, heard: Heard) -> None:
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

    async def search(self, *arguments: Any) -> Answer:
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
        return Answer(self.move, None, None, 0.0)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(ServerLimits(), EventLog(lambda line: None), Store(tmp_path / "web.sqlite"))


def seated(site: Site, **setup: Any) -> Sitting:
    chosen = {"game": "tic-tac-toe", **setup}
    return Sitting(KeptGame("game", NOBODY, Setup(**chosen)), site, Archive(site.store))


def attend(sitting: Sitting, page: Page) -> asyncio.Task[None]:
    return asyncio.create_task(sitting.attend(cast(Channel, page)))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.fixture
def opponents(monkeypatch: pytest.MonkeyPatch) -> list[SlowOpponent]:
    invited: list[SlowOpponent] = []

    async def invite(setup: Setup, board: Any, site: Site) -> SlowOpponent:
        invited.append(SlowOpponent(board.legal()[0]))
        return invited[-1]

    monkeypatch.setattr(sittings, "opponent_of", invite)
    return invited


async def test_player_returning_while_opponent_closes_plays_on(
    site: Site, opponents: list[SlowOpponent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sittings, "UNASKED", 0.0)
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
        return bool(sitting.kept.moves) or bool(sitting.state()["trouble"])

    await until(answered)
    assert sitting.state()["trouble"] == ""
    assert len(sitting.kept.moves) == 1
    assert site.engines.in_all == 1
    second.leave()
    await again
    await until(lambda: site.engines.in_all == 0)


async def test_opponent_is_kept_while_player_is_connected(
    site: Site, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=1)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    await sitting._rest_unless_visited()  # as a timer does that was set before
    opponents[0].released.set()
    await until(lambda: len(sitting.kept.moves) == 1)
    page.leave()
    await coming
    await sitting.rest()


async def test_actions_from_two_pages_are_serialized(
    site: Site, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=0)
    pages = [Page(), Page()]
    coming = [attend(sitting, page) for page in pages]
    pages[0].do("move", move="b2")
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    pages[0].do("back")
    await opponents[0].ending.wait()
    pages[1].do("again")  # while the first waits for the end of the search
    await until(lambda: not sitting.kept.moves)
    opponents[0].released.set()
    await asyncio.sleep(0.2)
    assert sitting.state()["trouble"] == ""
    assert (sitting.kept.moves, sitting.state()["thinking"]) == ([], False)
    for page in pages:
        page.leave()
    await asyncio.gather(*coming)
    await sitting.rest()


async def test_started_action_completes_after_disconnect(
    site: Site, opponents: list[SlowOpponent]
) -> None:
    sitting = seated(site, side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("move", move="b2")
    await until(lambda: bool(opponents) and opponents[0].searching.is_set())
    page.do("resign")
    await opponents[0].ending.wait()
    coming.cancel()
    await until(lambda: sitting.kept.verdict is not None)
    assert sitting.kept.verdict is not None
    assert sitting.kept.verdict.result == "1-0"  # of the second player, who is White
    assert opponents[0].closed
    assert site.engines.in_all == 0


async def test_game_with_joining_visitor_is_not_idle(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next who comes would be given another one, and each would play alone."""
    sitting = seated(site, side=0)
    settling, settled = asyncio.Event(), asyncio.Event()

    async def settle() -> None:
        settling.set()
        await settled.wait()

    monkeypatch.setattr(sitting, "_settle", settle)
    assert sitting.idle
    page = Page()
    coming = attend(sitting, page)
    await settling.wait()
    assert not sitting.idle
    settled.set()
    page.leave()
    await coming


async def test_clock_does_not_run_while_opponent_starts(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: Setup, board: Any, site: Site) -> SlowOpponent:
        await asyncio.sleep(0.4)
        opponent = SlowOpponent(board.legal()[0])
        opponent.released.set()
        return opponent

    monkeypatch.setattr(sittings, "opponent_of", invite)
    sitting = seated(site, side=1, base=0.3)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(sitting.kept.moves) or sitting.kept.verdict is not None)
    assert sitting.kept.verdict is None
    page.leave()
    await coming
    await sitting.rest()


async def test_clock_does_not_run_while_opponent_is_unavailable(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: Setup, board: Any, site: Site) -> SlowOpponent:
        raise EngineError("there is none")

    monkeypatch.setattr(sittings, "opponent_of", invite)
    sitting = seated(site, side=1, base=0.2)
    page = Page()
    coming = attend(sitting, page)
    await until(lambda: bool(sitting.state()["trouble"]))
    before = sitting.state()["clocks"]
    await asyncio.sleep(0.4)
    assert (sitting.kept.verdict, sitting.state()["clocks"]) == (None, before)
    page.leave()
    await coming
    await sitting.rest()


async def test_hint_engine_counts_towards_engine_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(
        ServerLimits(sessions=1), EventLog(lambda line: None), Store(tmp_path / "web.sqlite")
    )
    counted = []

    async def advise(setup: Setup, board: Any, site: Site) -> SlowOpponent:
        counted.append(site.engines.in_all)
        adviser = SlowOpponent(board.legal()[0])
        adviser.released.set()
        return adviser

    monkeypatch.setattr(sittings, "adviser_of", advise)
    sitting = seated(site, side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("hint")
    await until(lambda: any('"hint"' in str(told) for told in page.told))
    assert (counted, site.engines.in_all) == ([1], 0)
    site.engines.enter("another")
    page.do("hint")
    await until(lambda: "too many games are played here now" in str(page.told[-1]))
    assert (counted, site.engines.in_all) == ([1], 1)
    page.leave()
    await coming


async def test_hint_for_changed_position_is_discarded(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    adviser = SlowOpponent("e2e4")

    async def advise(setup: Setup, board: Any, site: Site) -> SlowOpponent:
        return adviser

    monkeypatch.setattr(sittings, "adviser_of", advise)
    sitting = seated(site, game="chess", side=0)
    page = Page()
    coming = attend(sitting, page)
    page.do("hint")
    await adviser.searching.wait()
    sitting.kept.moves[:] = ["d2d4"]  # and so is another position with as many moves
    adviser.released.set()
    await until(lambda: sitting._hint is None)
    assert not any("hint" in str(told) or "error" in str(told) for told in page.told)
    page.leave()
    await coming


def test_engines_per_visitor_and_in_total_are_limited() -> None:
    tally = EngineTally(ServerLimits(sessions=4, sessions_of_token=2))
    for _ in range(2):
        tally.enter("alice")
    with pytest.raises(EngineError, match="of yours"):
        tally.enter("alice")
    tally.enter("bob")
    tally.leave("alice")
    tally.enter("alice")
    tally.enter("carol")
    with pytest.raises(EngineError, match="too many games are played here now"):
        tally.enter("dave")
    everybody = EngineTally(ServerLimits(sessions=4, sessions_of_token=2))
    for _ in range(4):
        everybody.enter(NOBODY)
    assert everybody.in_all == 4
