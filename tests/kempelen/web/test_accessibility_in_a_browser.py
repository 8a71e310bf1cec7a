"""Every page for everybody: axe, at the width of a desk and of a phone, in both themes."""

import json
import time
from collections.abc import Iterator

import chess
import pytest

from kempelen.lab import step_pages
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.live.live_file import live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Served, serving
from tests.kempelen.web.tournaments import chosen, write_ledger

pytest.importorskip("selenium")

from tests.browser import Browser
from tests.kempelen.web.test_boards_in_a_browser import open_steps

pytestmark = pytest.mark.thorough

LESSON = '<!doctype html><html lang="en"><title>Minimax</title><main><h1>Minimax</h1></main></html>'
IMPACTS = ("minor", "moderate", "serious", "critical")
SCORES = [[20, None], [-30, None], [None, 5]]
PAGES = {
    "/play": "form.start button",
    "/play chess": "cg-board piece",
    "/play go": "svg.go .press",
    "/play othello": "rect.press",
    "/play backgammon": "svg.points .press",
    "/play pig": "pre.position",
    "/play nim": "pre.position",
    "/analyse": ".lines li",
    "/analyse?board=checkers&position=8/8/8/2w5/1b6/8/8/8_w": ".lines li",
    "/editor": "cg-board piece",
    "/editor?variant=crazyhouse": ".pockets:not([hidden]) input",
    "/editor?variant=3check": "#checks-white",
    "/editor?board=checkers": "rect.press",
    "/puzzles": "main h1",
    "/watch": "main ul a",
    "/watch/1": ".board cg-board piece",
    "/watch/1/board/1": ".large cg-board piece",
    "/watch/1/board/1?screen": ".large cg-board piece",
    "/watch/1#game=1.1-2.1.1": ".replay cg-board piece",
    "/watch/2": "main h1",
    "/learn": "form button",
    "/learn/minimax.html": "iframe",
    "/lessons/minimax.html": "h1",
    "/nowhere": "h1",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a running match, another tournament, and a lesson."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "minimax.html").write_text(LESSON)
    one = write_ledger(str(folder / "1.sqlite"), chosen("Ann", "Bob", games=20), games=2)
    othello = GameSettings("othello")
    two = write_ledger(
        str(folder / "2.sqlite"), chosen("A", "B", "C", games=2, game=othello), moves=("d3", "c3")
    )
    said = {"ply": 3, "depth": 9, "cp": None, "mate": 5, "nodes": 100, "pv": ["g1f3", "b8c6"]}
    board = {
        "board": 1, "pair": "1.1-2.1", "game": 1, "white": "Ann", "black": "Bob",
        "fen": chess.STARTING_FEN, "moves": ["e2e4", "e7e5"], "turn": "white",
        "position": "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "white_clock": 5.0, "black_clock": 6.0, "last": "e5", "result": "", "termination": "",
        "white_said": said, "black_said": {**said, "ply": 2, "pv": ["e7e5"]}, "scores": SCORES[:2],
    }  # fmt: skip
    snapshots = {"status": {"name": "match", "state": "running", "played": 2}, "boards/1": board}
    content = {"time": time.time() + 3600, "snapshots": snapshots}
    live_file_path(one).write_text(json.dumps(content), "utf-8")
    spectators = [LedgerView(one), LedgerView(two)]
    offers = SiteResources(
        spectators=lambda: spectators, lessons=folder, choices=step_pages.choices,
        steps=step_pages.render_page,
    )  # fmt: skip
    with serving(folder / "web.sqlite", offers=offers) as server:
        yield server


def address(served: Served, page: str) -> str:
    path, _, game = page.partition(" ")
    if not game:
        return served.base + path
    options = {"options": {"size": 9}} if game == "go" else {}
    return f"{served.base}{path}/{served.begin(game=game, seconds=0.05, **options)}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_accessible(browser: Browser, served: Served, width: int, theme: str) -> None:
    send = browser.driver.execute_cdp_cmd
    screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 900}
    found = {}
    send("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.open(f"{served.base}/play")
        browser.run(f"document.cookie = 'theme={theme}; path=/'")
        for page, selector in PAGES.items():
            browser.open(address(served, page))
            browser.wait("return document.querySelector(arguments[0])", selector)
            if barriers := browser.barriers(IMPACTS):
                found[page] = barriers
            if not browser.fits():
                found[f"{page} is too wide"] = []
        assert found == {}
    finally:
        browser.driver.delete_all_cookies()
        send("Emulation.clearDeviceMetricsOverride", {})
        browser.complaints()  # of the status 404


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_steps_of_an_algorithm_are_accessible(browser: Browser, served: Served, theme: str) -> None:
    open_steps(browser, served, theme)
    browser.wait("return document.querySelector('main iframe')?.checkVisibility()")
    browser.driver.switch_to.frame(browser.find("main iframe"))
    try:
        browser.wait("return document.readyState === 'complete' && document.querySelector('h1')")
        assert browser.barriers() == []
    finally:
        browser.driver.switch_to.default_content()
        browser.driver.delete_all_cookies()
    assert browser.barriers() == []
