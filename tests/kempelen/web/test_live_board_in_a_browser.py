"""A running game on the page Watch: its moves, lines, graph and the big screen."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import pytest

from kempelen.match.config.game_settings import GameSettings
from kempelen.match.live.live_file import live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Served, serving
from tests.kempelen.web.tournaments import chosen, write_ledger

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from tests.browser import Browser

pytestmark = pytest.mark.thorough

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"]
DICE = {
    "backgammon": ["31", "8/5,6/5", "64"],
    "pig": ["roll", "4", "hold"],
}


@dataclass
class Live:
    """A server with tournaments, whose live files the tests write."""

    served: Served
    files: list[Path]

    def write(self, number: int, game: str, moves: list[str], **changes: Any) -> None:
        board = {
            "board": 1, "pair": "1.1-2.2", "game": 1, "white": "Ann", "black": "Bob", "fen": "",
            "moves": moves, "position": "", "turn": "white", "white_clock": 65.0,
            "black_clock": 66.0, "last": "", "result": "", "termination": "", **changes,
        }  # fmt: skip
        name = f"T{number}"
        status = {"name": name, "state": "running", "played": 2, "game": {"name": game}}
        content = {"time": time.time() + 3600, "snapshots": {"status": status, "boards/1": board}}
        self.files[number - 1].write_text(json.dumps(content), "utf-8")

    def chess(self, count: int) -> None:
        """Write a game of chess after a number of moves, with evaluations from the third on."""
        position = chess.Board()
        for move in MOVES[:count]:
            position.push_uci(move)
        turn = chess.COLOR_NAMES[position.turn]
        said = {"ply": count + 1, "depth": 9, "cp": 40, "mate": None, "nodes": 100}
        pv = [move.uci() for move in list(position.legal_moves)[:1]]
        scores = [None, None, [15, None], [25, None], [-35, None], [45, None]][:count]
        self.write(
            1, "chess", MOVES[:count], fen=chess.STARTING_FEN, position=position.fen(), turn=turn,
            scores=scores, **{f"{turn}_said": {**said, "pv": pv}},
        )  # fmt: skip


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    ledgers = [
        write_ledger(str(folder / "1.sqlite"), chosen("Ann", "Bob", games=20, name="T1"), games=1)
    ]
    for number, (game, moves) in enumerate(DICE.items(), 2):
        settings = chosen("Ann", "Bob", games=20, name=f"T{number}", game=GameSettings(game))
        path = str(folder / f"{number}.sqlite")
        ledgers.append(write_ledger(path, settings, moves=tuple(moves), opening=1, games=1))
    spectators = [LedgerView(path) for path in ledgers]
    offers = SiteResources(spectators=lambda: spectators)
    with serving(folder / "web.sqlite", offers=offers) as served:
        yield Live(served, [live_file_path(path) for path in ledgers])


@pytest.fixture(autouse=True)
def sound(browser: Browser) -> Iterator[None]:
    yield
    browser.driver.delete_all_cookies()
    assert browser.complaints() == []


def text(browser: Browser, selector: str) -> str:
    found = browser.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)
    return " ".join(str(found).split())


def test_moves_lines_and_graph_of_a_running_game(browser: Browser, live: Live) -> None:
    live.chess(4)
    browser.open(f"{live.served.base}/watch/1/board/1")
    browser.wait("return document.querySelector('.large .moves span')")
    assert text(browser, ".moves") == "1. e4 e5 2. Nf3 Nc6"
    points = (
        "return document.querySelector('.course polyline.line')"
        ".getAttribute('points').split(' ').length"
    )
    assert browser.run(points) == 3
    bar = "return document.querySelector('.bar').ariaLabel"
    assert browser.run(bar) == "Evaluation from White's point of view: +0.40"
    live.chess(5)
    browser.wait("return document.querySelectorAll('.moves span').length === 5")
    assert text(browser, ".moves").endswith("3. Bb5")
    assert browser.run(points) == 4
    # Black's own score of +0.40 is -0.40 for White.
    assert browser.run(bar).endswith("-0.40")
    browser.wait("return document.querySelector('.side .score').textContent.startsWith('-0.40')")
    assert text(browser, ".panel .line").startswith("-0.40 3... ")
    assert browser.barriers() == []


def test_running_game_is_analysed_from_its_last_move(browser: Browser, live: Live) -> None:
    live.chess(5)
    browser.open(f"{live.served.base}/watch/1/board/1")
    browser.wait("return document.querySelectorAll('.large .moves span').length === 5")
    assert text(browser, ".panel > p:not(.line, .moves, .actions)") == ""  # the list has the move
    browser.find("[data-action=analyse]").click()
    browser.wait("return document.querySelector('.moves [aria-current]')?.textContent === '3. Bb5'")
    assert text(browser, "h2") == "Ann \N{EN DASH} Bob"
    assert browser.barriers() == []


def test_checkmate_is_shown_as_the_result(browser: Browser, live: Live) -> None:
    position = chess.Board()
    moves = ["f2f3", "e7e5", "g2g4", "d8h4"]
    for move in moves:
        position.push_uci(move)
    said = {"ply": 4, "depth": 9, "cp": None, "mate": 1, "nodes": 100, "pv": moves[-1:]}
    live.write(
        1, "chess", moves, fen=chess.STARTING_FEN, position=position.fen(),
        scores=[None, None, None, [None, -1]], black_said=said, result="0-1",
        termination="checkmate",
    )  # fmt: skip
    browser.open(f"{live.served.base}/watch/1/board/1")
    browser.wait("return document.querySelector('.large .moves span')")
    assert "0-1 checkmate" in text(browser, ".panel")
    assert not re.search(r"#-?\d", text(browser, ".large"))  # only Qh4#
    assert browser.run("return document.querySelector('.bar').ariaLabel").endswith(": 0-1")


def test_big_screen_shows_the_board_alone(browser: Browser, live: Live) -> None:
    live.chess(6)
    page = f"{live.served.base}/watch/1/board/1"
    size = (
        "const box = document.querySelector('cg-board').getBoundingClientRect();"
        "return [box.width, box.bottom]"
    )
    send = browser.driver.execute_cdp_cmd
    try:
        for width, height in ((1280, 720), (3840, 2160), (844, 390)):
            screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            send("Emulation.setDeviceMetricsOverride", screen)
            browser.open(f"{page}?screen")
            browser.wait("return document.querySelector('.large .moves span')")
            browser.wait("return document.querySelector('cg-board')?.getBoundingClientRect().width")
            assert not browser.find("header").is_displayed()
            board, bottom = browser.run(size)
            assert 0.68 * height <= board <= height
            assert bottom <= height
            assert browser.run("return document.documentElement.scrollHeight") <= height
            letters = browser.run(
                "return parseFloat(getComputedStyle(document.querySelector('.clock')).fontSize)"
            )
            assert letters >= 0.035 * height
            assert browser.fits()
            assert browser.barriers() == []
    finally:
        send("Emulation.clearDeviceMetricsOverride", {})


def test_big_screen_is_entered_and_left(browser: Browser, live: Live) -> None:
    live.chess(6)
    browser.open(f"{live.served.base}/watch/1/board/1")
    browser.wait("return document.querySelector('.large .moves span')")
    left = "return !location.search && document.querySelector('header').checkVisibility()"
    browser.find("[data-action=screen]").click()
    browser.wait("return location.search === '?screen' && document.fullscreenElement")
    assert not browser.find("header").is_displayed()
    browser.run("document.exitFullscreen()")
    browser.wait(left)
    browser.open(f"{live.served.base}/watch/1/board/1?screen")
    browser.wait("return document.querySelector('.large .moves span')")
    browser.press(Keys.ESCAPE)
    browser.wait(left)


def test_replay_shows_the_graph_of_the_game(browser: Browser, live: Live) -> None:
    live.chess(6)
    browser.open(f"{live.served.base}/watch/1#game=1.1-2.1.1")
    browser.wait("return document.querySelector('.replay .course polyline')")
    browser.run(
        "const graph = document.querySelector('.replay .course');"
        "const box = graph.getBoundingClientRect();"
        "graph.dispatchEvent(new MouseEvent('click', { clientX: box.left + 0.3 * box.width }))"
    )
    assert text(browser, ".replay .moves [aria-current]") == "2. Nf3"
    assert "+0.10" in text(browser, ".replay p")
    browser.press(Keys.ARROW_RIGHT)
    # Black's own score of +0.11
    assert "-0.11" in text(browser, ".replay p")
    assert browser.barriers() == []


@pytest.mark.parametrize("game", DICE)
def test_dice_games_are_spanish_on_the_spanish_page(
    browser: Browser, live: Live, game: str
) -> None:
    number = list(DICE).index(game) + 2
    moves = DICE[game]
    live.write(number, game, moves)
    browser.open(f"{live.served.base}/watch")
    browser.run("document.cookie = 'language=es; path=/'")
    browser.open(f"{live.served.base}/watch/{number}/board/1")
    browser.wait("return document.querySelectorAll('.moves span').length === 3")
    assert "Dados: " in text(browser, ".moves")
    if game == "backgammon":
        browser.wait("return document.querySelectorAll('svg.points .stone').length === 30")
    else:
        assert "Bob: 4 puntos" in text(browser, "pre.position")
    browser.open(f"{live.served.base}/watch/{number}#game=1.1-2.1.1")
    browser.wait("return document.querySelectorAll('.replay .moves button').length === 3")
    for english in ("roll", "hold", "player", "bar:", " in this turn"):
        assert english not in browser.text("main")
    assert "Dados: " in text(browser, ".replay .moves")
    assert browser.barriers() == []
