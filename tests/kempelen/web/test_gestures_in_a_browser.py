"""Arrows, flipping, coordinates and the size of the boards, in a real browser."""

import json
import time
from collections.abc import Iterator
from typing import Any

import chess
import pytest

from agent.games import catalogue
from kempelen.match.live.live_file import live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.web.diagrams import board_labels
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Served, serving
from tests.kempelen.web.tournaments import chosen, write_ledger

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.kempelen.web.gestures import click, draw, middle, square, state, tab_to

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("no_complaints")]

COLOURS = {(): "green", ("Shift",): "red", ("Alt",): "blue", ("Shift", "Alt"): "yellow"}
SCREENS = {
    "phone": (390, 844),
    "phone on its side": (844, 390),
    "laptop": (1280, 800),
    "4K": (3840, 2160),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a running match of chess."""
    folder = tmp_path_factory.mktemp("gestures")
    ledger = write_ledger(str(folder / "run.sqlite"), chosen("Ann", "Bob", games=20), games=2)
    board = {
        "board": 1, "pair": "1.1-2.1", "game": 1, "white": "Ann", "black": "Bob",
        "fen": chess.STARTING_FEN, "moves": [], "position": chess.STARTING_FEN, "turn": "white",
        "white_clock": 5.0, "black_clock": 6.0, "last": "", "result": "", "termination": "",
    }  # fmt: skip
    snapshots = {"status": {"name": "match", "state": "running", "played": 2}, "boards/1": board}
    content = {"time": time.time() + 3600, "snapshots": snapshots}
    live_file_path(ledger).write_text(json.dumps(content), "utf-8")
    spectator = LedgerView(ledger)
    offers = SiteResources(spectators=lambda: [spectator])
    with serving(folder / "web.sqlite", offers=offers) as server:
        yield server


def open_page(browser: Browser, served: Served, page: str) -> None:
    """Open a page with a board, which is named by the page and the game."""
    name, _, game = page.partition(" ")
    if name == "play":
        options = {"options": {"size": 9}} if game == "go" else {}
        browser.open(f"{served.base}/play/{served.begin(game=game, seconds=0.05, **options)}")
        state(browser)
    elif name == "analyse":
        browser.open(f"{served.base}/analyse")
        browser.wait("return document.querySelector('.lines li')")
        browser.run("document.getElementById('thinking').click(); localStorage.clear()")
        browser.find(".left .steps button").click()  # removes the arrows of the best lines
        if game == "go":
            browser.run("document.getElementById('sourcing').open = true")
            browser.run("document.getElementById('source').value = '(;GM[1]SZ[9];B[ee])'")
            browser.find("details button").click()
            browser.run("document.getElementById('sourcing').open = false")
    else:
        browser.open(f"{served.base}/watch/1{game}")
    browser.wait("return document.querySelector('cg-board piece, svg.grid .cell, svg.grid .lines')")
    # Chessground sets the size of its board afterwards.
    browser.wait(
        "return document.querySelector('cg-board, svg.grid').getBoundingClientRect().width"
    )


CHESS_PAGES = ["play chess", "analyse chess", "watch /board/1"]
GRID_PAGES = ["play go", "analyse go", "play othello", "play checkers", "play backgammon"]


def chess_shapes(browser: Browser) -> list[list[str]]:
    """Return the kind and the colour of each drawn shape."""
    found: list[list[str]] = browser.run(
        "return [...document.querySelectorAll('svg.cg-shapes line, svg.cg-shapes circle')]"
        ".map((each) => [each.tagName, each.getAttribute('stroke')])"
    )
    return found


@pytest.mark.parametrize("page", CHESS_PAGES)
def test_arrows_and_circles_can_be_drawn_on_a_chess_board(
    browser: Browser, served: Served, page: str
) -> None:
    open_page(browser, served, page)
    browser.wait("return !document.querySelector('svg.cg-shapes line')")
    colours = set()
    for modifiers in COLOURS:
        draw(browser, square(browser, "g1"), square(browser, "f3"), *modifiers)
        browser.wait("return document.querySelector('svg.cg-shapes line')")
        ((kind, colour),) = chess_shapes(browser)
        colours.add(colour)
        assert kind == "line"
        draw(browser, square(browser, "g1"), square(browser, "f3"), *modifiers)
        browser.wait("return !document.querySelector('svg.cg-shapes line')")
    assert len(colours) == len(COLOURS)
    draw(browser, square(browser, "e4"), square(browser, "e4"))
    browser.wait("return document.querySelector('svg.cg-shapes circle')")
    click(browser, square(browser, "e5"))
    browser.wait("return !document.querySelector('svg.cg-shapes circle')")


@pytest.mark.parametrize("page", GRID_PAGES)
def test_arrows_and_circles_can_be_drawn_on_other_boards(
    browser: Browser, served: Served, page: str
) -> None:
    open_page(browser, served, page)
    places = browser.run("""
        const svg = document.querySelector("svg.grid"), box = svg.getBoundingClientRect();
        const { x, y, width, height } = svg.viewBox.baseVal;
        const scale = Math.min(box.width / width, box.height / height);
        const [w, h] = svg.dataset.cells.split(" ").map(Number);
        return [[0.5, 0.5], [2.5, 1.5], [4.5, 0.5]].map(([column, row]) => [
          box.left + box.width / 2 + (column * w - x - width / 2) * scale,
          box.top + box.height / 2 + (row * h - y - height / 2) * scale,
        ]);
    """)
    start, end, _ = places
    shapes = (
        "return [...document.querySelectorAll('svg.grid .marks > *')]"
        ".map((each) => each.getAttribute('class'))"
    )
    for modifiers, colour in COLOURS.items():
        draw(browser, start, end, *modifiers)
        assert browser.run(shapes) == [colour]
        tip = browser.run(
            "return document.querySelector('.marks polygon').getAttribute('points').split(' ')[0]"
        )
        wide, high = map(
            float,
            browser.run("return document.querySelector('svg.grid').dataset.cells").split()[:2],
        )
        assert tip == f"{2.5 * wide:g},{1.5 * high:g}"
        draw(browser, start, end, *modifiers)
        assert browser.run(shapes) == []
    draw(browser, start, start)
    draw(browser, end, end, "Shift")
    assert browser.run(shapes) == ["green", "red"]
    before = browser.run("return document.querySelector('main').dataset.ply")
    draw(browser, end, end)  # another colour replaces the first
    assert browser.run(shapes) == ["green", "green"]
    assert browser.run("return document.querySelector('main').dataset.ply") == before
    click(browser, places[2])
    assert browser.run(shapes) == []


def test_marks_stay_until_the_position_changes(browser: Browser, served: Served) -> None:
    open_page(browser, served, "play go")
    point = middle(browser, browser.find("rect.press[aria-label=E5]"))
    draw(browser, point, point)
    browser.find("[data-action=flip]").click()
    assert len(browser.find_all(".marks circle")) == 1
    assert middle(browser, browser.find(".marks circle")) == pytest.approx(point, abs=2)
    browser.find("#move").send_keys("C3", Keys.ENTER)
    browser.wait("return document.querySelector('.stone')")
    browser.wait("return !document.querySelector('.marks')")


# Flipping


def test_chess_board_can_be_flipped_on_all_pages(browser: Browser, served: Served) -> None:
    for page in CHESS_PAGES:
        open_page(browser, served, page)
        assert browser.find_all(".cg-wrap.orientation-white") != []
        above = "return document.querySelector('.player, .side')?.getBoundingClientRect().top"
        name = "return document.querySelector('.player, .side')?.textContent"
        first, place = browser.run(name), browser.run(above)
        flip = [each for each in browser.find_all("button") if each.text == "Flip the board"]
        flip[0].click()
        browser.wait("return document.querySelector('.cg-wrap.orientation-black')")
        if first is not None:  # the names change places
            assert browser.run(name) != first or browser.run(above) != place
        assert browser.barriers() == []


def test_flipped_go_board_is_played_where_it_is_pressed(browser: Browser, served: Served) -> None:
    open_page(browser, served, "play go")
    corner = middle(browser, browser.find("rect.press[aria-label=A9]"))
    browser.find("[data-action=flip]").click()
    assert middle(browser, browser.find("rect.press[aria-label=J1]")) == pytest.approx(
        corner, abs=2
    )
    assert browser.barriers() == []
    tab_to(browser, "rect.press")
    browser.run("document.querySelector('rect.press[aria-label=E5]').focus()")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.run("return document.activeElement.ariaLabel") == "D5"
    browser.press(Keys.ARROW_UP, Keys.ENTER)
    browser.wait("return document.querySelector('.moves li')?.innerText.trim() === 'D4'")


# Coordinates


@pytest.mark.parametrize(
    ("game", "columns", "rows"),
    [
        ("othello", "abcdefgh", "12345678"),
        ("tic-tac-toe", "abc", "321"),
        ("connect-four", "1234567", ""),
    ],
)
def test_coordinates_are_those_of_the_moves(
    browser: Browser, served: Served, game: str, columns: str, rows: str
) -> None:
    labels = board_labels(catalogue.new_game(game))["labels"]
    assert "".join(labels["columns"]) == columns
    assert "".join(labels["rows"]) == rows
    open_page(browser, served, f"play {game}")
    shown = browser.run(
        "return [...document.querySelectorAll('svg.grid .mark')].map((e) => e.textContent)"
    )
    assert "".join(shown) == columns + rows
    # A press on the cell beside the coordinates plays the move that is written with them.
    cell = browser.find("rect.press")
    name = browser.run("return arguments[0].ariaLabel", cell).rpartition(": ")[2]
    x, y = middle(browser, cell)
    for each in name:
        place = middle(browser, browser.find_all("svg.grid .mark")[(columns + rows).index(each)])
        assert min(abs(place[0] - x), abs(place[1] - y)) < 12


def test_squares_of_checkers_are_numbered_as_in_its_moves(browser: Browser, served: Served) -> None:
    open_page(browser, served, "play checkers")
    numbers = browser.find_all("svg.grid .number")
    assert [each.text for each in numbers] == [str(number) for number in range(1, 33)]
    cell = browser.find("rect.press")
    start = browser.run("return arguments[0].ariaLabel", cell).rpartition(": ")[2].partition("-")[0]
    x, y = middle(browser, cell)
    place = middle(browser, numbers[int(start) - 1])
    size = browser.run("return arguments[0].getBoundingClientRect().width", cell)
    assert abs(place[0] - x) < size / 2
    assert abs(place[1] - y) < size / 2


# Size


@pytest.fixture
def screen(browser: Browser) -> Iterator[Any]:
    """Set the size of the screen."""

    def resize(width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 900}
        browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    yield resize
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("name", SCREENS)
def test_board_is_sized_to_the_window(
    browser: Browser, served: Served, screen: Any, name: str
) -> None:
    width, height = SCREENS[name]
    screen(width, height)
    pages = [
        "play chess",
        "play go",
        "play othello",
        "analyse chess",
        "analyse go",
        "watch /board/1",
        "watch ",
    ]
    for page in pages:
        open_page(browser, served, page)
        box = browser.run(
            "const {width, height, bottom} = document.querySelector('cg-board, svg.grid')"
            ".getBoundingClientRect(); return {width, height, bottom}"
        )
        size = min(box["width"], box["height"])
        assert box["height"] <= height, page
        assert box["width"] <= width, page
        # At least three quarters of the shorter side, less the lines above and below the board.
        assert size >= 0.75 * (min(width, height) - 150 * (width > height)), (page, box)
        if width > height and not page.startswith("watch "):
            assert box["bottom"] <= height, page
        assert browser.fits(), page
