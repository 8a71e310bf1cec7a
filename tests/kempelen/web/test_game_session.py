"""Concurrent events in one game: visitors come and go, the opponent thinks, clocks run."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from agent.limits import Cp, Info
from kempelen.match.game.game_result import Termination, win
from kempelen.web.channel import Channel, OnMessage
from kempelen.web.database import Database
from kempelen.web.engine_quota import EngineQuota
from kempelen.web.play import game_session
from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.boards import GoGame
from kempelen.web.play.game_session import GameSession
from kempelen.web.play.page import PlayPage
from kempelen.web.play.setup import GameSetup
from kempelen.web.site_context import SiteContext
from protocols.client.process import EngineError
from protocols.client.uci import PlayResult
from protocols.server.admission import ANONYMOUS
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from tests.waiting import PATIENCE, eventually


class Page:
    """A fake channel of a page."""

    language = "en"

    def __init__(self, owner: str = ANONYMOUS) -> None:
        self.owner = self.visitor = owner
        self.sent: list[Any] = []
        self.rejected = ""
        self.messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def send(self, message: Any) -> None:
        self.sent.append(message)

    def send_text(self, text: str) -> None:
        self.sent.append(text)

    async def reject(self, reason: str) -> None:
        self.rejected = reason

    async def run(self, on_message: OnMessage) -> None:
        while (message := await self.messages.get()) is not None:
            await on_message(message)

    def do(self, what: str, **more: Any) -> None:
        self.messages.put_nowait({"do": what, **more})

    def leave(self) -> None:
        self.messages.put_nowait(None)


class SlowOpponent:
    """Plays when released, stops searches slowly, and fails after being closed."""

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


def make_session(site: SiteContext, *moves: str, **setup: Any) -> GameSession:
    chosen = {"game": "tic-tac-toe", **setup}
    return GameSession(
        SavedGame("game", ANONYMOUS, GameSetup(**chosen), list(moves)), site, Archive(site.database)
    )


def attend(session: GameSession, page: Page) -> asyncio.Task[None]:
    return asyncio.create_task(session.serve(cast(Channel, page)))


@pytest.fixture
def opponents(monkeypatch: pytest.MonkeyPatch) -> list[SlowOpponent]:
    invited: list[SlowOpponent] = []

    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        invited.append(SlowOpponent(board.legal_moves()[0]))
        return invited[-1]

    monkeypatch.setattr(game_session, "start_opponent", invite)
    return invited


def use_hint_engine(monkeypatch: pytest.MonkeyPatch, engine: Any) -> None:
    """Let `engine` search for hints, and check moves."""

    async def start(setup: GameSetup, board: Any, site: SiteContext) -> Any:
        return engine

    monkeypatch.setattr(game_session, "start_hint_engine", start)


async def test_player_returning_while_opponent_closes_plays_on(
    site: SiteContext, opponents: list[SlowOpponent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_session, "IDLE_OPPONENT_TIMEOUT_S", 0.0)
    session = make_session(site, side=1)
    first, second = Page(), Page()
    visit = attend(session, first)
    await eventually(lambda: bool(opponents) and opponents[0].searching.is_set())
    first.leave()
    await visit
    await opponents[0].ending.wait()
    again = attend(session, second)

    def answered() -> bool:
        for each in opponents:
            each.released.set()
        return bool(session.saved.moves) or bool(session.state()["trouble"])

    await eventually(answered)
    assert session.state()["trouble"] == ""
    assert len(session.saved.moves) == 1
    assert site.engine_quota.total == 1
    second.leave()
    await again
    await eventually(lambda: site.engine_quota.total == 0)


async def test_opponent_is_kept_while_player_is_connected(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, side=1)
    page = Page()
    visit = attend(session, page)
    await eventually(lambda: bool(opponents) and opponents[0].searching.is_set())
    await session._suspend_unless_watched()  # like a timer that was set before
    opponents[0].released.set()
    await eventually(lambda: len(session.saved.moves) == 1)
    page.leave()
    await visit
    await session.suspend()


async def test_actions_from_two_pages_are_serialized(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, side=0)
    pages = [Page(), Page()]
    visits = [attend(session, page) for page in pages]
    pages[0].do("move", move="b2")
    await eventually(lambda: bool(opponents) and opponents[0].searching.is_set())
    pages[0].do("back")
    await opponents[0].ending.wait()
    pages[1].do("again")  # while the first page waits for the search to stop
    await eventually(lambda: not session.saved.moves)
    opponents[0].released.set()
    await asyncio.sleep(0.2)
    assert session.state()["trouble"] == ""
    assert (session.saved.moves, session.state()["thinking"]) == ([], False)
    for page in pages:
        page.leave()
    await asyncio.gather(*visits)
    await session.suspend()


async def test_started_action_completes_after_disconnect(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, side=0)
    page = Page()
    visit = attend(session, page)
    page.do("move", move="b2")
    await eventually(lambda: bool(opponents) and opponents[0].searching.is_set())
    page.do("resign")
    await opponents[0].ending.wait()
    visit.cancel()
    await eventually(lambda: session.saved.game_result is not None)
    assert session.saved.game_result is not None
    assert session.saved.game_result.result == "1-0"  # a win of the second player, who is White
    assert opponents[0].closed
    assert site.engine_quota.total == 0


async def test_game_with_joining_visitor_is_not_idle(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next visitor would get another session of the same game."""
    session = make_session(site, side=0)
    settling, settled = asyncio.Event(), asyncio.Event()

    async def settle() -> None:
        settling.set()
        await settled.wait()

    monkeypatch.setattr(session, "_continue_game", settle)
    assert session.idle
    page = Page()
    visit = attend(session, page)
    await settling.wait()
    assert not session.idle
    settled.set()
    page.leave()
    await visit


async def test_clock_does_not_run_while_opponent_starts(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        await asyncio.sleep(0.4)
        opponent = SlowOpponent(board.legal_moves()[0])
        opponent.released.set()
        return opponent

    monkeypatch.setattr(game_session, "start_opponent", invite)
    session = make_session(site, "a1", "b1", side=1, base=0.3)
    page = Page()
    visit = attend(session, page)
    await eventually(lambda: len(session.saved.moves) > 2 or session.saved.game_result is not None)
    assert session.saved.game_result is None
    page.leave()
    await visit
    await session.suspend()


async def test_clocks_run_from_second_moves_on(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, side=0, base=60.0, increment=2.0)
    page = Page()
    visit = attend(session, page)
    await eventually(lambda: len(page.sent) > 1)
    assert session.state()["running"] == [False, False]
    page.do("move", move="a1")
    await eventually(lambda: bool(opponents) and opponents[0].searching.is_set())
    assert session.state()["running"] == [False, False]
    opponents[0].released.set()
    await eventually(lambda: len(session.saved.moves) == 2)
    assert session.saved.times == [60.0, 60.0]  # without the increment
    assert session.state()["running"] == [True, False]
    page.leave()
    await visit
    await session.suspend()
    saved = Archive(site.database).find("game")
    assert saved is not None
    resumed = GameSession(saved, site, Archive(site.database))  # as after a restart
    page = Page()
    visit = attend(resumed, page)
    await eventually(lambda: resumed.state()["running"] == [True, False])
    page.do("back")
    await eventually(lambda: not resumed.saved.moves)
    assert resumed.state()["running"] == [False, False]
    page.leave()
    await visit
    await resumed.suspend()


async def test_clock_does_not_run_while_opponent_is_unavailable(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def invite(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        raise EngineError("unavailable")

    monkeypatch.setattr(game_session, "start_opponent", invite)
    session = make_session(site, "a1", "b1", side=1, base=0.2)
    page = Page()
    visit = attend(session, page)
    await eventually(lambda: bool(session.state()["trouble"]))
    before = session.state()["clocks"]
    await asyncio.sleep(0.4)
    assert (session.saved.game_result, session.state()["clocks"]) == (None, before)
    page.leave()
    await visit
    await session.suspend()


async def test_hint_engine_counts_towards_engine_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = SiteContext(
        ServerLimits(sessions=1), EventLog(lambda line: None), Database(tmp_path / "web.sqlite")
    )
    counted = []

    async def advise(setup: GameSetup, board: Any, site: SiteContext) -> SlowOpponent:
        counted.append(site.engine_quota.total)
        engine = SlowOpponent(board.legal_moves()[0])
        engine.released.set()
        return engine

    monkeypatch.setattr(game_session, "start_hint_engine", advise)
    session = make_session(site, side=0)
    page = Page()
    visit = attend(session, page)
    page.do("hint")
    await eventually(lambda: any('"hint"' in str(message) for message in page.sent))
    assert (counted, site.engine_quota.total) == ([1], 0)
    site.engine_quota.acquire("another")
    page.do("hint")
    await eventually(lambda: "too many games in progress" in str(page.sent[-1]))
    assert (counted, site.engine_quota.total) == ([1], 1)
    page.leave()
    await visit


async def test_search_for_a_hint_ends_when_the_last_page_leaves(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SlowOpponent("b2")

    use_hint_engine(monkeypatch, engine)
    session, page = make_session(site, side=0), Page()
    visit = attend(session, page)
    page.do("hint")
    await engine.searching.wait()
    page.leave()
    await visit
    await eventually(lambda: engine.closed)
    assert engine.ending.is_set()
    await session.suspend()


async def test_hint_for_changed_position_is_discarded(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SlowOpponent("e2e4")

    use_hint_engine(monkeypatch, engine)
    session = make_session(site, game="chess", side=0)
    page = Page()
    visit = attend(session, page)
    page.do("hint")
    await engine.searching.wait()
    session.saved.moves[:] = ["d2d4"]  # another position with the same number of moves
    engine.released.set()
    await eventually(lambda: session._hint_task is None)
    assert not any("hint" in str(message) or "error" in str(message) for message in page.sent)
    page.leave()
    await visit


def test_engines_per_visitor_and_in_total_are_limited() -> None:
    quota = EngineQuota(ServerLimits(sessions=4, max_sessions_per_token=2))
    for _ in range(2):
        quota.acquire("alice")
    with pytest.raises(EngineError, match="too many of your games"):
        quota.acquire("alice")
    quota.acquire("bob")
    quota.release("alice")
    quota.acquire("alice")
    quota.acquire("carol")
    with pytest.raises(EngineError, match="too many games in progress"):
        quota.acquire("dave")
    everybody = EngineQuota(ServerLimits(sessions=4, max_sessions_per_token=2))
    for _ in range(4):
        everybody.acquire(ANONYMOUS)
    assert everybody.total == 4


async def test_dice_before_first_move_cannot_be_taken_back(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, game="backgammon", side=0)
    dice = list(session.board.moves)
    assert dice
    page = Page()
    visit = attend(session, page)
    page.do("back")
    await eventually(lambda: session.board.moves == session.saved.moves and len(page.sent) > 2)
    assert (session.board.moves, session.board.mover, opponents) == (dice, 0, [])
    page.leave()
    await visit


async def test_games_of_one_visitor_are_scored_one_at_a_time(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scoring a game takes seconds, and threads are shared by all visitors."""
    scored, release = [], threading.Event()

    def score(self: Any) -> None:
        scored.append(self)
        assert release.wait(PATIENCE)

    monkeypatch.setattr(GoGame, "view", score)
    pages, visits = [Page("alice"), Page("alice"), Page("bob")], []
    for page in pages:
        session = make_session(site, game="go", options={"size": 5})
        session.saved.owner, session.saved.game_result = page.owner, win(0, Termination.RULES)
        visits.append(attend(session, page))
    await eventually(lambda: site.game_locks._pending == {"alice": 2, "bob": 1})
    await eventually(lambda: len(scored) == 2)  # one of Alice, one of Bob
    release.set()
    for page in pages:
        page.leave()
    await asyncio.gather(*visits)
    assert len(set(scored)) == 3


async def test_end_of_a_game_on_a_full_disk_is_saved_when_the_session_ends(
    site: SiteContext,
) -> None:
    session, page = make_session(site), Page()
    name, database = session.saved.id, site.database
    archive = Archive(database)
    database.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON played BEGIN "
        "SELECT RAISE(ABORT, 'database or disk is full'); END"
    )
    attending = attend(session, page)
    page.do("resign")
    page.leave()
    await attending
    assert session.saved.game_result is not None
    assert archive.find(name) is None
    assert not session.idle  # so that it stays in memory
    database.execute("DROP TRIGGER full")
    await session.suspend()
    saved = archive.find(name)
    assert saved is not None
    assert saved.game_result == session.saved.game_result
    assert session.idle


class Scores:
    """A hint engine that expects a fixed outcome after each number of moves."""

    def __init__(self, outcomes: dict[int, float]) -> None:
        self.outcomes = outcomes
        self.seconds: list[float] = []

    async def search(self, request: Any, limit: float, on_info: Any = None) -> PlayResult:
        self.seconds.append(request.movetime)
        outcome = self.outcomes[len(request.moves)]
        info: Info[str] = Info(1, Cp(0), ("c3",), expected_outcome=outcome)
        return PlayResult("c3", None, info, 0.0)

    async def close(self) -> None:
        pass


def heard(page: Page, kind: str) -> list[dict[str, Any]]:
    """Return the messages of a kind that a page has received."""
    messages = [json.loads(each) if isinstance(each, str) else each for each in page.sent]
    return [message for message in messages if message["kind"] == kind]


async def test_blunder_is_played_only_after_the_warning(
    site: SiteContext, opponents: list[SlowOpponent], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Scores({0: 0.0, 1: 0.9})

    use_hint_engine(monkeypatch, engine)
    session, page = make_session(site, side=0), Page()
    visit = attend(session, page)
    page.do("move", move="a1", ply=0, check=True)
    await eventually(lambda: heard(page, "blunder"))
    (warning,) = heard(page, "blunder")
    assert (warning["move"], warning["reply"], warning["ply"]) == ("a1", "c3", 0)
    assert engine.seconds == [0.2, 0.2, 1.0, 1.0], "the longer search verifies the shorter one"
    assert session.saved.moves == []
    page.do("move", move="a1", ply=0)
    await eventually(lambda: session.saved.moves == ["a1"])
    page.leave()
    await visit
    await session.suspend()


@pytest.mark.parametrize("blunder", [True, False])
async def test_hint_requested_during_the_check_of_a_move_is_given_after_it(
    site: SiteContext,
    opponents: list[SlowOpponent],
    monkeypatch: pytest.MonkeyPatch,
    blunder: bool,
) -> None:
    engine, started, release = Scores({0: 0.0, 1: 0.9 * blunder}), asyncio.Event(), asyncio.Event()

    async def advise(setup: GameSetup, board: Any, site: SiteContext) -> Scores:
        started.set()
        await release.wait()
        return engine

    monkeypatch.setattr(game_session, "start_hint_engine", advise)
    session, page = make_session(site, side=0), Page()
    visit = attend(session, page)
    page.do("move", move="a1", ply=0, check=True)
    await started.wait()
    page.do("hint")
    await eventually(lambda: session._hint_wanted)
    release.set()
    if blunder:
        await eventually(lambda: heard(page, "hint"))
        assert heard(page, "blunder")
    else:
        await eventually(lambda: heard(page, "error"))
        assert "hint" in heard(page, "error")[0]["text"]
        assert session.saved.moves == ["a1"]
    page.leave()
    await visit
    await session.suspend()


@pytest.mark.parametrize("outcomes", [{0: 0.0, 1: 0.1}, {}])
async def test_good_move_is_played_after_the_check_and_a_failed_check_does_not_matter(
    site: SiteContext,
    opponents: list[SlowOpponent],
    monkeypatch: pytest.MonkeyPatch,
    outcomes: dict[int, float],
) -> None:
    use_hint_engine(monkeypatch, Scores(outcomes))
    session, page = make_session(site, side=0), Page()
    visit = attend(session, page)
    page.do("move", move="z9", ply=0, check=True)
    await eventually(lambda: heard(page, "error"))
    page.do("move", move="a1", ply=0, check=True)
    await eventually(lambda: session.saved.moves == ["a1"])
    assert heard(page, "blunder") == []
    if not outcomes:
        await eventually(lambda: "not checked" in heard(page, "error")[-1]["text"])
    page.leave()
    await visit
    await session.suspend()


async def test_move_that_ends_the_game_is_not_checked(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, page = make_session(site, side=0), Page()
    for move in ("a1", "b1", "a2", "b2"):
        session.board.play(move)
        session.saved.moves.append(move)
    monkeypatch.setattr(game_session, "start_hint_engine", None)
    visit = attend(session, page)
    page.do("move", move="a3", ply=4, check=True)
    await eventually(lambda: session.saved.game_result is not None)
    page.leave()
    await visit


async def test_visit_of_a_deleted_game_starts_no_opponent(
    site: SiteContext, opponents: list[SlowOpponent]
) -> None:
    session = make_session(site, side=1)
    session.deleted = True
    page = Page()
    await session.serve(cast(Channel, page))
    assert (page.rejected, opponents) == ("game not found", [])


async def test_checked_move_is_not_played_in_a_deleted_game(
    site: SiteContext, opponents: list[SlowOpponent], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(site, side=0)

    async def check(*moves: Any) -> None:
        session.deleted = True

    monkeypatch.setattr(session, "_find_refutation", check)
    await session._check_move([], "b2")
    assert (session.saved.moves, opponents) == ([], [])


async def test_game_that_is_deleted_while_it_is_opened_stays_deleted(
    site: SiteContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, archive = PlayPage(site), Archive(site.database)
    archive.save(SavedGame("game", ANONYMOUS, GameSetup(game="tic-tac-toe")))

    def resume(saved: SavedGame, *more: Any) -> GameSession:
        archive.delete(saved.id)
        return GameSession(saved, *more)

    monkeypatch.setattr("kempelen.web.play.page.GameSession", resume)
    assert await page._session("game", "visitor") is None
