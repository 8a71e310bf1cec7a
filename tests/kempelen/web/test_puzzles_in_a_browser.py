"""Mistakes of analysed games are tried again, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.setup import GameSetup
from tests.kempelen.web.support import Served, serving

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.kempelen.web.test_boards_in_a_browser import analyse

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("no_complaints")]

# Black blunders with 5... Bxd1.
LEGAL = """[White "Ana"]
[Black "Bob"]

1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0
"""
SGF = "(;GM[1]SZ[5]KM[0.5]PB[Ana]PW[Bob];B[cc];W[bb];B[];W[dd])"
QUEEN = "4k3/8/8/3q4/8/8/8/3QK3 w - - 0 1"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server of its own for each test: the browser keeps the puzzles by address."""
    with serving(tmp_path / "web.sqlite") as server:
        yield server


def review(browser: Browser, served: Served, text: str = "", address: str = "") -> None:
    """Review a text, or the game of an address, on the analysis page."""
    if text:
        analyse(browser, served, text)
    else:
        browser.open(f"{served.base}{address}")
        browser.wait("return document.querySelector('.lines li')")
    browser.run("document.getElementById('nodes').value = 'quick'")
    browser.run("document.querySelector('button.main:not(details *)').click()")
    browser.wait("return document.querySelector('a[data-side]')?.checkVisibility()")
    browser.wait(
        "return /^(Review|Análisis) /.test(document.querySelector('[role=status]').textContent)"
    )


def learn(browser: Browser, side: int) -> None:
    """Follow the link to the mistakes of a player."""
    browser.run(f"document.querySelector('a[data-side=\"{side}\"]').click()")
    browser.wait("return location.pathname === '/puzzles' && document.querySelector('.puzzles li')")


def choose(browser: Browser, move: str) -> None:
    """Choose the puzzle in which a move was played."""
    browser.run(
        "[...document.querySelectorAll('.puzzles button')]"
        ".find((each) => each.textContent.includes(arguments[0])).click()",
        move,
    )
    browser.wait("return document.querySelector('main').textContent.includes(arguments[0])", move)


def attempt(browser: Browser, move: str) -> str:
    """Type a move, and return the verdict."""
    browser.find("#move").send_keys(move, Keys.ENTER)
    browser.wait("return document.querySelector('.verdict.good, .verdict.bad')")
    return str(browser.text(".verdict"))


def item(browser: Browser, move: str) -> str:
    return str(
        browser.run(
            "return [...document.querySelectorAll('.puzzles button')]"
            ".find((each) => each.textContent.includes(arguments[0])).textContent",
            move,
        )
    )


def press(browser: Browser, action: str) -> None:
    """Press a button, by script: buttons move when text arrives."""
    button = "document.querySelector(`[data-action='${arguments[0]}']`)"
    browser.wait(f"return {button}?.checkVisibility()", action)
    browser.run(f"{button}.click()", action)


def test_mistakes_of_a_player_are_tried_again_and_judged(browser: Browser, served: Served) -> None:
    review(browser, served, LEGAL)
    learn(browser, 1)
    choose(browser, "5... Bxd1")
    assert "Black to move. In the game, 5... Bxd1 was a blunder." in browser.text("main")
    browser.wait("return document.querySelector('.cg-wrap.orientation-black')")
    assert browser.barriers() == []
    assert attempt(browser, "Bxd1").startswith("Bxd1 is not good enough: it lowers ")
    assert "(failed)" in item(browser, "Bxd1")
    press(browser, "retry")
    assert attempt(browser, "Qh4").startswith("Qh4 is not good enough: it lowers ")
    press(browser, "retry")
    assert "dxe5 is " in attempt(browser, "dxe5")
    assert "(failed)" in item(browser, "Bxd1")  # the first try counts
    browser.driver.refresh()
    browser.wait("return document.querySelector('.puzzles li')")
    assert "(failed)" in item(browser, "Bxd1")
    assert browser.barriers() == []


def test_illegal_try_is_explained_and_can_be_repeated(browser: Browser, served: Served) -> None:
    review(browser, served, LEGAL)
    learn(browser, 1)
    choose(browser, "5... Bxd1")
    browser.find("#move").send_keys("Ke4", Keys.ENTER)
    browser.wait("return document.querySelector('[role=alert]').textContent === 'Illegal move.'")
    assert "(new)" in item(browser, "Bxd1")
    assert "dxe5 is " in attempt(browser, "dxe5")
    assert "(solved)" in item(browser, "Bxd1")
    browser.complaints()  # of the status 422


def test_solution_can_be_viewed_and_a_summary_ends_the_pass(
    browser: Browser, served: Served
) -> None:
    review(browser, served, LEGAL)
    learn(browser, 1)
    count = len(browser.find_all(".puzzles li"))
    for number in range(count):
        press(browser, "solution")
        browser.wait(
            "return document.querySelector('.verdict').textContent.startsWith('Solution: ')"
        )
        last = number == count - 1
        assert browser.text("[data-action=next]") == ("Finish" if last else "Next")
        press(browser, "next")
    browser.wait("return document.querySelector('.summary')")
    assert browser.text(".summary") == f"Done. You solved 0 of {count} on the first try."
    assert browser.barriers() == []
    press(browser, "failed again")
    assert browser.find("[data-action=solution]").is_displayed()
    assert browser.text(".right").count("(failed)") == count


def queen_game(served: Served, side: int) -> str:
    """Save a game in which White leaves the queen to be taken, and Black takes it."""
    setup = GameSetup(side=side, fen=QUEEN)
    saved = SavedGame(f"queen{side}", "-", setup, ["d1d2", "d5d2", "e1d2"])
    Archive(served.site.database).save(saved)
    return saved.id


def test_mistakes_in_own_games_become_puzzles(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/puzzles")
    browser.wait("return document.querySelector('.summary')")
    assert browser.text(".summary").startswith("No puzzles yet. Play a game")
    assert browser.barriers() == []
    # Only those of the visitor: in the second game, White is the opponent.
    review(browser, served, address=f"/analyse?game={queen_game(served, 0)}")
    browser.open(f"{served.base}/puzzles")
    browser.wait("return document.querySelectorAll('.puzzles li').length === 1")
    assert "1. Qd2 (new)" in item(browser, "Qd2")
    assert "Unsolved: 1. Solved: 0." in browser.text("main")
    assert attempt(browser, "Qxd5") == "Qxd5 is the best move."
    press(browser, "next")
    assert browser.text(".summary") == "Done. You solved 1 of 1 on the first try."
    review(browser, served, address=f"/analyse?game={queen_game(served, 1)}")
    browser.open(f"{served.base}/puzzles")
    browser.wait("return document.querySelector('.summary')")
    assert browser.text(".summary") == "All puzzles are solved."
    assert "Unsolved: 0. Solved: 1." in browser.text("main")
    choose(browser, "1. Qd2")
    press(browser, "forget")
    browser.wait("return !document.querySelector('.puzzles li')")
    browser.driver.refresh()
    browser.wait("return document.querySelector('.summary')")
    assert browser.text(".summary").startswith("No puzzles yet.")


def test_mistakes_of_go_are_tried_again_in_spanish(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    browser.run("document.cookie = 'language=es; path=/'; document.cookie = 'theme=dark; path=/'")
    review(browser, served, SGF)
    learn(browser, 0)
    choose(browser, "3. paso")
    text = browser.text("main")
    assert "Aprende de tus errores" in text
    assert "Juegan negras. En la partida, 3. paso fue un error grave." in text
    browser.wait("return document.querySelectorAll('svg.go .stone').length === 2")
    assert browser.barriers() == []
    assert attempt(browser, "pass").startswith("paso no es suficiente: baja ")
    press(browser, "solution")
    browser.wait("return document.querySelector('.verdict').textContent.startsWith('Solución: ')")
    best = browser.text(".verdict").split()[1]
    press(browser, "retry")
    browser.run(
        "document.querySelector(`svg.go .press[aria-label='${arguments[0]}']`)"
        ".dispatchEvent(new MouseEvent('click'))",
        best,
    )
    browser.wait("return document.querySelector('.verdict.good')")
    assert browser.text(".verdict") == f"{best} es la mejor jugada."
    with browser.on_a_phone():
        assert browser.fits()


def test_unknown_analysis_is_named(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/puzzles?study=none&side=0")
    browser.wait("return document.querySelector('[role=alert]').textContent")
    alert: Any = browser.find("[role=alert]")
    assert alert.text == "This analysis is not kept in this browser."
    assert browser.barriers() == []
