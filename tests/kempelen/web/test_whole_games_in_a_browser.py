"""Whole games by drag, by touch and by the keyboard alone, in a real browser."""

import json
import random
import re
from collections.abc import Iterator

import pytest

from tests.kempelen.web.support import Served

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from agent.games.variants import VARIANTS
from tests.browser import Browser
from tests.kempelen.web.gestures import (
    click,
    drag,
    focus_by_arrows,
    middle,
    square,
    state,
    tab_to,
    tap,
    wait_for_another_ply,
)

pytestmark = pytest.mark.thorough

POCKET_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/4K3[QRRBBNN] w kq - 0 1"
GO_MOVES = 8  # afterwards both sides pass


@pytest.fixture(autouse=True)
def sound(browser: Browser) -> Iterator[None]:
    yield
    assert browser.barriers() == []
    assert browser.complaints() == []


@pytest.fixture
def touch(browser: Browser) -> Iterator[None]:
    """A phone with a touch screen."""
    send = browser.driver.execute_cdp_cmd
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    send("Emulation.setDeviceMetricsOverride", screen)
    send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield
    send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    send("Emulation.clearDeviceMetricsOverride", {})


def begin(browser: Browser, served: Served, game: str, **form: object) -> None:
    browser.open(f"{served.base}/play/{served.begin(game=game, seconds=0.05, **form)}")
    state(browser)
    browser.wait("return document.querySelector('cg-board piece, svg.grid')")


def names(browser: Browser) -> list[str]:
    """Return the names of the places that can be pressed."""
    found: list[str] = browser.run(
        "return [...document.querySelectorAll('rect.press')].map((each) => each.ariaLabel)"
    )
    return found


def pass_if_needed(browser: Browser) -> bool:
    """Pass by the button if nothing else is possible."""
    if browser.find_all("rect.press"):
        return False
    browser.find("[data-action=pass]").click()
    return True


def moves_of(name: str) -> list[str]:
    """Return the moves that a place is named by, such as `row 3, column 2: black: 9-13, 9-14`."""
    return name.rpartition(": ")[2].split(", ")


# By drag


@pytest.mark.parametrize("variant", VARIANTS)
def test_chess_by_drag(browser: Browser, served: Served, variant: str) -> None:
    """In crazyhouse, the visitor begins with a pocket, and drops by drag and by clicks in turn."""
    form = {"variant": variant} | ({"fen": POCKET_FEN} if variant == "crazyhouse" else {})
    begin(browser, served, "chess", **form)
    chance = random.Random(3)
    played: list[str] = []
    while not (now := state(browser)).get("result"):
        legal = json.loads(now["legal"])
        move = chance.choice([each for each in legal if "@" in each] or legal)
        piece, dropped, target = move.partition("@")
        if dropped:
            source = middle(browser, browser.find(f".pocket.bottom [data-drop={piece}]"))
            if len(played) % 2:
                click(browser, source)
                click(browser, square(browser, target))
            else:
                drag(browser, source, square(browser, target))
        else:
            drag(browser, square(browser, move[:2]), square(browser, move[2:4]))
            if len(move) > 4:
                browser.find(f"[data-piece={move[4]}]").click()
        wait_for_another_ply(browser, now["ply"])
        played.append(move)
    assert re.search("You won|You lost|Draw", browser.text(".status"))
    assert any("@" in move for move in played) == (variant == "crazyhouse")
    moves = browser.find_all(".moves li")
    assert len(moves) in (2 * len(played), 2 * len(played) - 1)


def test_checkers_by_drag(browser: Browser, served: Served) -> None:
    begin(browser, served, "checkers")
    cell = (
        "const row = (n) => Math.floor((n - 1) / 4);"
        "const column = (n) => 2 * ((n - 1) % 4) + 1 - (row(n) % 2);"
        "return document.querySelector(`.press[data-row='${row(arguments[0])}']"
        "[data-column='${column(arguments[0])}']`) ?? [...document.querySelectorAll("
        "'.grid .cell')][8 * row(arguments[0]) + column(arguments[0])]"
    )
    while not (now := state(browser)).get("result"):
        move = json.loads(now["legal"])[0]
        numbers = [int(each) for each in move.replace("x", "-").split("-")]
        start, end = (
            middle(browser, browser.run(cell, each)) for each in (numbers[0], numbers[-1])
        )
        drag(browser, start, end)
        wait_for_another_ply(browser, now["ply"])
    assert re.search("You won|You lost|Draw", browser.text(".status"))


def test_backgammon_by_drag(browser: Browser, served: Served) -> None:
    begin(browser, served, "backgammon")
    ready = (
        "return document.querySelector('main').dataset.ply !== arguments[0] || document"
        ".querySelector('svg.points .press, [data-action=pass]:not([hidden]):not([disabled])')"
    )
    while not (now := state(browser)).get("result"):
        while state(browser)["ply"] == now["ply"] and browser.wait(ready, now["ply"]) is not True:
            if not browser.find_all("svg.points .press"):
                browser.find("[data-action=pass]").click()
                wait_for_another_ply(browser, now["ply"])
                break
            # Choose a man to see where it can go, and drag it there.
            source = browser.find("svg.points .press")
            start = middle(browser, source)
            browser.run("arguments[0].dispatchEvent(new MouseEvent('click'))", source)
            end = middle(browser, browser.find("svg.points .press.target"))
            chosen = browser.find("svg.points .press.chosen")
            browser.run("arguments[0].dispatchEvent(new MouseEvent('click'))", chosen)
            drag(browser, start, end)
            browser.wait("return !document.querySelector('svg.points .press.chosen')")
    assert re.search("You won|You lost|Draw", browser.text(".status"))


def test_drop_on_a_wrong_square_is_refused(browser: Browser, served: Served) -> None:
    begin(browser, served, "checkers")
    source = browser.find("rect.press.source")
    start = middle(browser, source)
    drag(browser, start, middle(browser, browser.find("svg.grid .cell")))
    assert browser.text(".error") == "Illegal move."
    assert state(browser)["ply"] == "0"
    assert browser.find_all("svg.grid [transform]") == []


# By touch


@pytest.mark.usefixtures("touch")
def test_chess_by_touch(browser: Browser, served: Served) -> None:
    begin(browser, served, "chess")
    chance = random.Random(4)
    while not (now := state(browser)).get("result"):
        move = chance.choice(json.loads(now["legal"]))
        tap(browser, square(browser, move[:2]))
        browser.wait("return document.querySelector('cg-board square.selected')")
        tap(browser, square(browser, move[2:4]))
        if len(move) > 4:
            tap(browser, middle(browser, browser.find(f"[data-piece={move[4]}]")))
        wait_for_another_ply(browser, now["ply"])
    assert re.search("You won|You lost|Draw", browser.text(".status"))


@pytest.mark.usefixtures("touch")
def test_board_that_has_moved_is_touched_where_it_is(browser: Browser, served: Served) -> None:
    """A longer text above the board moves it, without scrolling or resizing."""
    begin(browser, served, "chess")
    before = square(browser, "e2")
    tap(browser, before)
    browser.wait("return document.querySelector('cg-board square.selected')")
    browser.run("document.querySelector('.chess-frame').style.transform = 'translateY(100px)'")
    assert square(browser, "e2")[1] == pytest.approx(before[1] + 100)
    tap(browser, square(browser, "e4"))
    wait_for_another_ply(browser, "0")


@pytest.mark.usefixtures("touch")
def test_go_by_touch(browser: Browser, served: Served) -> None:
    begin(browser, served, "go", options={"size": 9})
    chance = random.Random(5)
    moves = 0
    while not (now := state(browser)).get("result"):
        moves += 1
        if moves > GO_MOVES:
            tap(browser, middle(browser, browser.find("[data-action=pass]")))
        else:
            tap(browser, middle(browser, chance.choice(browser.find_all("rect.press"))))
            browser.wait("return document.querySelector('.confirm')")
            tap(browser, middle(browser, browser.find(".confirm .main")))
        wait_for_another_ply(browser, now["ply"])
    assert "+" in browser.text(".status")


@pytest.mark.usefixtures("touch")
@pytest.mark.parametrize("game", ["othello", "connect-four"])
def test_game_on_squares_by_touch(browser: Browser, served: Served, game: str) -> None:
    begin(browser, served, game)
    while not (now := state(browser)).get("result"):
        if not pass_if_needed(browser):
            tap(browser, middle(browser, browser.find("rect.press")))
        wait_for_another_ply(browser, now["ply"])
    assert re.search("You won|You lost|Draw", browser.text(".status"))


# By the keyboard alone: Tab, arrow keys, Enter and typed text


def test_chess_by_keyboard(browser: Browser, served: Served) -> None:
    begin(browser, served, "chess")
    chance = random.Random(6)
    while not (now := state(browser)).get("result"):
        tab_to(browser, "#move")
        browser.press(chance.choice(json.loads(now["legal"])), Keys.ENTER)
        wait_for_another_ply(browser, now["ply"])
    assert re.search("You won|You lost|Draw", browser.text(".status"))


def test_go_by_keyboard(browser: Browser, served: Served) -> None:
    begin(browser, served, "go", options={"size": 9})
    moves = 0
    while not (now := state(browser)).get("result"):
        moves += 1
        if moves > GO_MOVES:
            tab_to(browser, "#move")
            browser.press("pass", Keys.ENTER)
        else:
            tab_to(browser, "rect.press")
            browser.press(*[Keys.ARROW_DOWN] * moves, Keys.ARROW_RIGHT, Keys.ENTER)
        wait_for_another_ply(browser, now["ply"])
    assert "+" in browser.text(".status")


@pytest.mark.parametrize("game", ["checkers", "connect-four"])
def test_game_on_squares_by_keyboard(browser: Browser, served: Served, game: str) -> None:
    begin(browser, served, game)
    while not (now := state(browser)).get("result"):
        tab_to(browser, "rect.press")
        browser.press(Keys.ENTER)
        if browser.find_all("rect.press[aria-pressed=true]"):  # a piece, whose target comes next
            move = moves_of(browser.run("return document.activeElement.ariaLabel"))[0]
            row, column = browser.run(
                "const found = [...document.querySelectorAll('rect.press:not([aria-pressed])')]"
                ".find((each) => each.ariaLabel.split(': ').at(-1).split(', ').includes("
                "arguments[0])).dataset; return [Number(found.row), Number(found.column)]",
                move,
            )
            focus_by_arrows(browser, row, column)
            browser.press(Keys.ENTER)
        wait_for_another_ply(browser, now["ply"])
    assert re.search("You won|You lost|Draw", browser.text(".status"))
