"""What the pages keep: choices in forms, saved games, and links to analyses, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kempelen.match.game.game_result import GameResult, Termination
from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.setup import GameSetup
from tests.kempelen.web.support import Served, serving

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser import Browser
from tests.kempelen.web.test_boards_in_a_browser import analyse, current, go, moves, play

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("no_complaints")]

PGN = """[White "Ana"]
[Black "Bob"]

1. e4 e5 2. Nf3 {natural} d6 (2... Nc6 3. Bb5 a6) 3. Bc4 *
"""
SGF = "(;GM[1]SZ[9]KM[7]PB[Ana];B[ee](;W[ce];B[cd])(;W[gc]C[other side]))"
DAY_S = 86400.0


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "web.sqlite") as server:
        yield server


def value(browser: Browser, name: str) -> str:
    return str(browser.run("return document.getElementById(arguments[0]).value", name))


def test_choices_for_a_game_are_kept(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play")
    browser.wait("return document.querySelector('form.start button')")
    Select(browser.find("#field-clock")).select_by_value("300+3")
    Select(browser.find("#field-game")).select_by_value("go")
    browser.wait("return document.getElementById('field-option-width')")
    Select(browser.find("#field-option-size")).select_by_value("other")
    browser.run("document.querySelector('form.start details').open = true")
    for name, text in (("option-width", "13"), ("option-height", "9")):
        field = browser.find(f"#field-{name}")
        field.clear()
        field.send_keys(text, Keys.TAB)
    Select(browser.find("#field-rules")).select_by_value("japanese")
    browser.driver.refresh()
    browser.wait("return document.getElementById('field-option-width')")
    assert value(browser, "field-game") == "go"
    assert [value(browser, f"field-option-{each}") for each in ("width", "height")] == ["13", "9"]
    assert value(browser, "field-rules") == "japanese"
    Select(browser.find("#field-game")).select_by_value("chess")
    assert value(browser, "field-clock") == "300+3"
    # A link names the game, and a position is not kept.
    browser.open(f"{served.base}/play?game=go&sgf=x")
    browser.wait("return document.getElementById('field-sgf')?.value === 'x'")
    browser.open(f"{served.base}/play")
    browser.wait("return document.getElementById('field-fen')?.value === ''")


def test_choices_for_an_analysis_are_kept(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelector('.lines li')")
    Select(browser.find("#nodes")).select_by_value("thorough")
    browser.find("#thinking").click()
    browser.driver.refresh()
    browser.wait("return document.querySelector('cg-board piece')")
    assert value(browser, "nodes") == "thorough"
    assert not browser.find("#thinking").is_selected()


def save_games(served: Served) -> None:
    """Save games of several days, won, lost, drawn and unfinished."""
    archive = Archive(served.site.database)
    for number, (setup, result) in enumerate(
        [
            (GameSetup(level=1600), "1-0"),
            (GameSetup(level=2100, side=1), "1-0"),
            (GameSetup(level=2100), "1/2-1/2"),
            (GameSetup("go", {"size": 5}), "0-1"),
            (GameSetup("othello"), ""),
        ]
    ):
        saved = SavedGame(f"game{number}", "-", setup)
        if result:
            saved.game_result = GameResult(result, Termination.RULES, "")
        archive.save(saved)
        served.site.database.execute(
            "UPDATE played SET changed = ? WHERE id = ?", 1.7e9 + number * DAY_S, saved.id
        )


def listed(browser: Browser, *expected: int) -> None:
    """Wait until the list shows these games, by their numbers."""
    browser.wait(
        "return [...document.querySelectorAll('tbody td:first-child a')]"
        ".map((each) => each.pathname).join() === arguments[0]",
        ",".join(f"/play/game{each}" for each in expected),
    )


def test_saved_games_are_searched(browser: Browser, served: Served) -> None:
    save_games(served)
    browser.open(f"{served.base}/play")
    listed(browser, 4, 3, 2, 1, 0)
    assert browser.barriers() == []
    result, game = Select(browser.find("#search-result")), Select(browser.find("#search-game"))
    result.select_by_visible_text("won")
    listed(browser, 3, 0)  # White won game 0, and Black game 3
    game.select_by_visible_text("Go")
    listed(browser, 3)
    result.select_by_visible_text("lost")
    browser.wait("return document.querySelector('main').textContent.includes('No game matches')")
    game.select_by_visible_text("any")
    listed(browser, 1)
    result.select_by_visible_text("drawn")
    listed(browser, 2)
    result.select_by_visible_text("in progress")
    listed(browser, 4)
    result.select_by_visible_text("any")
    browser.find("#search-opponent").send_keys("KEMPELEN 2100")
    listed(browser, 2, 1)
    browser.find("#search-opponent").clear()
    browser.find("#search-opponent").send_keys(Keys.SPACE)
    listed(browser, 4, 3, 2, 1, 0)
    # The days of the visitor's time zone.
    day = browser.run("return new Date(1.7e12 + 2 * 86400000).toLocaleDateString('sv')")
    for name, expected in (("since", (4, 3, 2)), ("until", (2,))):
        browser.run(
            "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', { bubbles: true }))",
            f"search-{name}",
            day,
        )
        listed(browser, *expected)


def test_saved_game_is_deleted_after_a_question_in_spanish(
    browser: Browser, served: Served
) -> None:
    save_games(served)
    browser.open(f"{served.base}/play")
    browser.run("document.cookie = 'language=es; path=/'; document.cookie = 'theme=dark; path=/'")
    browser.open(f"{served.base}/play")
    listed(browser, 4, 3, 2, 1, 0)
    browser.find_all("[data-action=delete]")[1].click()
    cell = browser.find_all("tbody tr")[1].find_elements("css selector", "td")[-1]
    assert "¿Eliminar esta partida?" in cell.text
    assert browser.barriers() == []
    cell.find_elements("css selector", "button")[1].click()
    assert cell.text == "Eliminar"
    browser.find_all("[data-action=delete]")[1].click()
    browser.find("[data-answer=yes]").click()
    listed(browser, 4, 2, 1, 0)
    browser.driver.refresh()
    listed(browser, 4, 2, 1, 0)
    assert "Tus partidas" in browser.text("main")
    with browser.on_a_phone():
        assert browser.fits()


def copied_link(browser: Browser) -> str:
    browser.run(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; };"
        "document.querySelector('[data-action=\"copy link\"]').click()"
    )
    return str(browser.wait("return window.copied"))


@pytest.mark.parametrize(
    ("text", "edit", "shown", "expected"),
    [
        (PGN, "Nc3", "2. Nc3", ["1. e4", "e5", "2. Nf3", "2. Nc3", "2... d6", "2... Nc6", "3. Bb5",
                               "a6", "3. Bc4"]),
        (SGF, "E3", "2. E3", ["1. E5", "2. C5", "2. G7", "2. E3", "3. C6"]),
    ],
)  # fmt: skip
def test_link_opens_the_analysis_for_another_visitor(
    browser: Browser, served: Served, tmp_path: Path, text: str, edit: str, shown: str,
    expected: list[str],
) -> None:  # fmt: skip
    analyse(browser, served, text)
    go(browser, "e5" if text is PGN else "1. E5")
    play(browser, edit)
    browser.wait(
        "return document.querySelector('.moves [aria-current]').textContent === arguments[0]", shown
    )
    link = copied_link(browser)
    listed_before = moves(browser)
    assert sorted(listed_before) == sorted(expected)
    # Another address has another store, as another browser has.
    with serving(tmp_path / "other.sqlite") as other:
        browser.open(link.replace(served.base, other.base))
        browser.wait("return document.querySelector('.moves [aria-current]')")
        assert moves(browser) == listed_before
        assert current(browser) == shown
        assert "Ana" in browser.text("h2")
        browser.driver.refresh()
        browser.wait("return document.querySelectorAll('.moves button').length > 3")
        assert moves(browser) == listed_before
        browser.press(Keys.HOME)
        browser.wait("return !document.querySelector('.moves [aria-current]')")
        # A change gets an address of its own.
        play(browser, "a3" if text is PGN else "A1")
        browser.wait(
            "return location.search.startsWith('?study=') && !location.hash.includes('text')"
        )
        browser.open(f"{other.base}/analyse#text=damaged")
        browser.driver.refresh()
        browser.wait("return document.querySelector('[role=alert]').textContent")
        assert browser.text("[role=alert]") == "The link is invalid."
        browser.open("about:blank")
