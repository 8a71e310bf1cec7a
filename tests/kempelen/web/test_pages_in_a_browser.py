"""The pages in a real browser: games by mouse, keyboard and screen reader."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kempelen.web.support import Served, serving
from tests.waiting import free_port, listens, until

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.kempelen.web.gestures import state


def click_square(browser: Browser, square: str) -> None:
    """Click a chess square; White is at the bottom."""
    board = browser.find("cg-board")
    size = board.size["width"] / 8
    right = ("abcdefgh".index(square[0]) - 3.5) * size
    down = (4.5 - int(square[1])) * size
    actions = ActionChains(browser.driver, duration=0)
    actions.move_to_element_with_offset(board, round(right), round(down)).click().perform()


def test_game_can_be_played_by_keyboard_alone(browser: Browser, served: Served) -> None:
    """The quick test: form, board, moves by keyboard and text, result, no console errors."""
    browser.open(f"{served.base}/play?game=tic-tac-toe")
    browser.wait("return document.querySelector('form.start')")
    browser.find("#field-seconds").clear()
    browser.find("#field-seconds").send_keys("0.1", Keys.ENTER)
    state(browser)
    assert browser.run("return document.querySelectorAll('rect.press').length") == 9
    browser.run("document.querySelector('rect.press').focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    browser.wait("return document.querySelectorAll('.moves li').length >= 2")
    assert browser.text(".moves li") == "b2"
    while not (now := state(browser)).get("result"):
        at = now["ply"]
        names = browser.run(
            "return [...document.querySelectorAll('rect.press')].map(r => r.ariaLabel)"
        )
        browser.find("#move").send_keys(names[0].rpartition(": ")[2], Keys.ENTER)
        browser.wait("return document.querySelector('main').dataset.ply !== arguments[0]", at)
    status = browser.text("[role=status].status")
    assert "a complete line" in status or "the board is full" in status
    assert browser.complaints() == []


@pytest.mark.thorough
def test_chess_game_can_be_played_by_clicks(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='chess', seconds=0.05)}")
    browser.wait("return document.querySelector('cg-board piece')")
    chance = random.Random(5)
    while not (now := state(browser)).get("result"):
        move = chance.choice(json.loads(now["legal"]))
        click_square(browser, move[:2])
        click_square(browser, move[2:4])
        if len(move) > 4:
            browser.find(f"[data-piece={move[4]}]").click()
        browser.wait(
            "return document.querySelector('main').dataset.ply !== arguments[0]", now["ply"]
        )
    assert now["result"] in ("0-1", "1/2-1/2")
    assert re.search("You won|You lost|Draw", browser.text(".status"))
    assert browser.barriers() == []
    # Two moves share a number, which stands at White's.
    numbers = browser.run(
        "return [...document.querySelectorAll('.moves li')].map((move) => "
        "[move.value, getComputedStyle(move).listStyleType !== 'none'])"
    )
    assert numbers == [[1 + ply // 2, ply % 2 == 0] for ply in range(int(now["ply"]))]
    browser.find("[data-step=first]").click()
    browser.wait("return document.querySelectorAll('cg-board piece.pawn').length === 16")
    assert browser.complaints() == []


@pytest.mark.thorough
def test_go_game_can_be_played_by_clicks(browser: Browser, served: Served) -> None:
    game = served.begin(game="go", options={"size": 9}, seconds=0.05)
    browser.open(f"{served.base}/play/{game}")
    chance = random.Random(9)
    moves = 0
    while not (now := state(browser)).get("result"):
        points = browser.find_all("rect.press")
        moves += 1
        if moves > 12 or not points:
            browser.find("[data-action=pass]").click()
        else:
            chance.choice(points).click()
        browser.wait(
            "return document.querySelector('main').dataset.ply !== arguments[0]", now["ply"]
        )
    assert "+" in browser.text(".status")  # the score, or the resignation
    assert browser.barriers() == []
    assert browser.complaints() == []


@pytest.mark.thorough
def test_go_on_rectangular_board_can_be_played_by_clicks(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play?game=go")
    browser.wait("return document.querySelector('#field-option-height')")
    fill = (
        "const box = document.querySelector(arguments[0]); box.value = arguments[1];"
        "box.dispatchEvent(new Event('input'))"
    )
    browser.run(fill, "#field-option-width", "9")
    assert browser.run("return document.querySelector('#field-option-height').value") == "9"
    browser.run(fill, "#field-option-height", "13")
    browser.run(fill, "#field-seconds", "0.1")
    browser.find("form.start button").click()
    assert state(browser)["ply"] == "0"
    for corner in ("A13", "J1"):
        browser.wait("return document.querySelector(`[aria-label=${arguments[0]}]`)", corner)
    # White cannot capture these stones with two moves, as it could in the corners.
    for ply, name in ((0, "A12"), (2, "J2")):
        browser.wait("return document.querySelector('main').dataset.ply === arguments[0]", str(ply))
        browser.wait("return document.querySelector(`[aria-label=${arguments[0]}]`)", name)
        browser.run("document.querySelector(`[aria-label=${arguments[0]}]`).scrollIntoView()", name)
        browser.click(f"rect.press[aria-label={name}]")
    browser.wait("return document.querySelector('main').dataset.ply > 2")
    assert len(browser.find_all(".stone.black")) == 2
    box = "const {width, height} = document.querySelector('svg.go .wood').getBoundingClientRect();"
    ratio = browser.run(f"{box} return height / width")
    assert ratio == pytest.approx(138 / 98, rel=0.01)
    assert browser.run("return document.querySelectorAll('svg.go .star').length") == 5
    browser.run("document.querySelector('[data-action=resign]')?.click()")
    assert browser.barriers() == []
    assert browser.complaints() == []


@pytest.mark.thorough
def test_othello_game_can_be_played_by_clicks(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='othello', seconds=0.02)}")
    while not (now := state(browser)).get("result"):
        points = browser.find_all("rect.press")
        if points:
            points[0].click()
        else:
            browser.find("[data-action=pass]").click()
        browser.wait(
            "return document.querySelector('main').dataset.ply !== arguments[0]", now["ply"]
        )
    assert len(browser.find_all(".moves li")) == int(now["ply"])
    assert browser.barriers() == []
    assert browser.complaints() == []


@pytest.mark.thorough
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_play_pages_are_accessible_and_fit_on_phone(
    browser: Browser, served: Served, theme: str, language: str
) -> None:
    """At the width of a phone, in both languages and themes."""
    browser.driver.set_window_size(400, 800)
    try:
        browser.open(f"{served.base}/play")
        browser.run(f"document.cookie = 'theme={theme}; path=/'")
        browser.run(f"document.cookie = 'language={language}; path=/'")
        browser.open(f"{served.base}/play")
        browser.wait("return document.querySelector('form.start button')")
        assert browser.run("return document.documentElement.lang") == language
        assert browser.barriers() == []
        assert browser.run("return document.body.scrollWidth <= innerWidth")
        browser.open(f"{served.base}/play/{served.begin(game='go', seconds=0.05)}")
        state(browser)
        assert browser.barriers() == []
        assert browser.run("return document.body.scrollWidth <= innerWidth")
        assert browser.complaints() == []
    finally:
        browser.driver.delete_all_cookies()
        browser.driver.set_window_size(1280, 900)


@pytest.mark.thorough
def test_html_in_names_and_positions_is_escaped(
    browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A game from a file that prints HTML, and an engine with HTML in its name."""
    from kempelen.web.site_context import SiteResources

    evil = "<img src=x onerror=alert(1)>"
    source = (Path(__file__).with_name("test_playing.py")).read_text().split("'''")[1]
    (tmp_path / "count.py").write_text(source.replace("<b>", evil))
    offers = SiteResources(
        games=(f"{tmp_path / 'count.py'}:Count",), engines={evil: "uci /no/such/program"}
    )
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        browser.open(f"{served.base}/play/{served.begin(game=offers.games[0], seconds=0.05)}")
        state(browser)
        assert evil in browser.text("pre.position")
        browser.open(f"{served.base}/play/{served.begin(opponent=evil, side='second')}")
        browser.wait("return document.querySelector('.error').textContent")
        assert evil in browser.text(".left")
        browser.open(f"{served.base}/play")
        browser.wait("return document.querySelector('table')")
        assert browser.text("td a[href*=play]") in ("Chess", "Count")
        assert "Count" in [each.text for each in browser.find_all("#field-game option")]
        assert browser.find_all("main img") == []
        assert browser.complaints() == []


@pytest.mark.thorough
def test_game_continues_after_server_is_killed(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"

    def begin() -> subprocess.Popen[bytes]:
        words = ["web", "--no-browser", "--address", f"127.0.0.1:{port}"]
        process = subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", *words, "--games", str(tmp_path / "g.sqlite")],
            stderr=subprocess.DEVNULL,
        )
        assert until(lambda: listens(port))
        return process

    process = begin()
    try:
        browser.open(f"{base}/play?game=othello")
        browser.wait("return document.querySelector('form.start button.main')")
        browser.find("form.start button.main").click()
        state(browser)
        browser.find("rect.press").click()
        browser.wait("return document.querySelectorAll('.moves li').length >= 2")
        before = state(browser)
        page = browser.run("return document.querySelector('.left').innerHTML")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        browser.wait("return document.getElementById('connection').textContent")
        process = begin()
        browser.wait("return !document.getElementById('connection').textContent")
        assert state(browser) == before
        assert browser.run("return document.querySelector('.left').innerHTML") == page
        browser.find("rect.press").click()
        browser.wait("return document.querySelectorAll('.moves li').length >= 4")
    finally:
        process.kill()
        process.wait()
        browser.complaints()  # the rejected connection
