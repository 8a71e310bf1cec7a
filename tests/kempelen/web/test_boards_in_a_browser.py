"""Boards, move trees and messages of the pages, in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kempelen.lab import step_pages
from kempelen.web.site_context import SiteResources
from protocols.xboard.draws import DrawPolicy
from tests.kempelen.web.support import Served, serving
from tests.waiting import until

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser import Browser
from tests.kempelen.web import gestures
from tests.kempelen.web.gestures import state

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("no_complaints")]

PGN = """[White "Ana"]
[Black "Bob"]

1. e4 e5 2. Nf3 {[%clk 0:05:00] natural} d6 (2... Nc6 3. Bb5 a6) 3. Bc4 Bg4 4. h3 *
"""
SGF = "(;GM[1]SZ[9]KM[7]PB[Ana];B[ee](;W[ce];B[cd])(;W[gc]C[other side]))"
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
LESSON = "<title>Minimax</title><h1>Minimax</h1>"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("boards")
    (folder / "minimax.html").write_text(LESSON)
    offers = SiteResources(lessons=folder, choices=step_pages.choices, steps=step_pages.render_page)
    with serving(folder / "web.sqlite", offers=offers) as server:
        yield server


def analyse(browser: Browser, served: Served, text: str) -> None:
    """Open a text on the analysis page."""
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelector('.lines li')")
    browser.run("document.getElementById('sourcing').open = true")
    browser.run("document.getElementById('source').value = arguments[0]", text)
    browser.find("details button").click()
    browser.wait("return location.search.startsWith('?study=')")


def moves(browser: Browser, selector: str = ".moves button") -> list[str]:
    found: list[str] = browser.run(
        "return [...document.querySelectorAll(arguments[0])].map((each) => each.firstChild.data)",
        selector,
    )
    return found


def current(browser: Browser) -> str:
    return str(
        browser.run("return document.querySelector('.moves [aria-current]')?.textContent ?? ''")
    )


def go(browser: Browser, move: str) -> None:
    """Click a move of the list by its text."""
    browser.run(
        "[...document.querySelectorAll('.moves button')]"
        ".find((each) => each.firstChild.data === arguments[0]).click()",
        move,
    )


def play(browser: Browser, move: str) -> None:
    """Type a move, and wait until it is shown."""
    browser.find("#move").send_keys(move, Keys.ENTER)
    browser.wait("return document.querySelector('.moves [aria-current]')")


def square(browser: Browser, name: str) -> tuple[Any, int, int]:
    """Return the board and the offset of a square from its centre; White is at the bottom."""
    board = browser.find("cg-board")
    size = board.size["width"] / 8
    right, down = ("abcdefgh".index(name[0]) - 3.5) * size, (4.5 - int(name[1])) * size
    return board, round(right), round(down)


def press(browser: Browser, name: str) -> None:
    actions = ActionChains(browser.driver, duration=0)
    actions.move_to_element_with_offset(*square(browser, name)).click().perform()


def drag(browser: Browser, start: str, end: str) -> None:
    actions = ActionChains(browser.driver, duration=50)
    actions.move_to_element_with_offset(*square(browser, start)).click_and_hold()
    actions.move_to_element_with_offset(*square(browser, end)).release().perform()


def piece_at(browser: Browser, name: str) -> str:
    """Return the colour and kind of the piece on a square, or "" for an empty one."""
    found = browser.run(
        "return [...document.querySelectorAll('cg-board piece')]"
        ".find((each) => each.cgKey === arguments[0])?.className ?? ''",
        name,
    )
    return " ".join(str(found).split()[:2])


def move(browser: Browser, start: str, end: str) -> None:
    """Click a piece, wait for the dots on the squares that it can go to, and click one."""
    press(browser, start)
    browser.wait("return document.querySelector('cg-board square.move-dest')")
    press(browser, end)


# The move tree


def test_another_move_is_added_as_a_variation(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    main_line = ["1. e4", "e5", "2. Nf3", "2... d6", "3. Bc4", "Bg4", "4. h3"]
    shown = moves(browser)
    assert [move for move in shown if move in main_line] == main_line
    assert moves(browser, ".variation button") == ["2... Nc6", "3. Bb5", "a6"]
    go(browser, "e5")
    play(browser, "f4")
    browser.wait("return document.querySelector('.moves [aria-current]').textContent === '2. f4'")
    assert moves(browser, ".variation button") == ["2. f4", "2... Nc6", "3. Bb5", "a6"]
    browser.find("[data-action=undo]").click()
    assert moves(browser) == shown
    assert current(browser) == "e5"


def test_variations_can_be_promoted_deleted_and_undone(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    browser.run("document.getElementById('editing').open = true")
    go(browser, "3. Bb5")
    browser.find("[data-action=promote]").click()
    assert moves(browser, ".variation button") == ["2... d6", "3. Bc4", "Bg4", "4. h3"]
    assert current(browser) == "3. Bb5"
    assert not browser.find("[data-action=promote]").is_enabled()
    browser.find("[data-action=delete]").click()
    assert "3. Bb5" not in moves(browser)
    assert current(browser).startswith("2... Nc6")
    browser.find("[data-action=undo]").click()
    browser.find("[data-action=undo]").click()
    assert moves(browser, ".variation button") == ["2... Nc6", "3. Bb5", "a6"]
    assert not browser.find("[data-action=undo]").is_enabled()


def test_edited_comments_and_marks_are_downloaded(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    analyse(browser, served, PGN)
    browser.run("document.getElementById('editing').open = true")
    go(browser, "2. Nf3")
    assert browser.text(".comment") == "natural"
    assert browser.barriers() == []
    browser.find("#note").clear()
    browser.find("#note").send_keys("best by test", Keys.TAB)
    browser.run(
        "const mark = document.getElementById('mark'); mark.value = '!';"
        "mark.dispatchEvent(new Event('change'))"
    )
    go(browser, "4. h3")
    play(browser, "Bh5")
    browser.wait("return document.querySelector('.moves [aria-current]').textContent === 'Bh5'")
    browser.download_to(tmp_path)
    browser.find("button.record").click()
    path = tmp_path / "game.pgn"
    assert until(lambda: path.exists() and path.stat().st_size)
    written = " ".join(path.read_text().split())
    assert "2. Nf3 $1 { [%clk 0:05:00] best by test }" in written
    assert "( 2... Nc6 3. Bb5 a6 )" in written
    assert "4. h3 Bh5" in written
    assert '[White "Ana"]' in written


def test_variations_of_go_are_shown_and_downloaded(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    analyse(browser, served, SGF)
    assert moves(browser) == ["1. E5", "2. C5", "2. G7", "3. C6"]
    go(browser, "1. E5")
    browser.click("svg.go rect.press[aria-label=F5]")
    browser.wait("return document.querySelector('.moves [aria-current]').textContent === '2. F5'")
    browser.click("svg.go .closed")
    assert "already a stone" in browser.text("[role=alert]")
    browser.download_to(tmp_path)
    browser.find("button.record").click()
    path = tmp_path / "game.sgf"
    assert until(lambda: path.exists() and path.stat().st_size)
    written = "".join(path.read_text().split())
    assert "(;W[gc]C[otherside])" in written
    assert "(;W[fe])" in written


def test_reload_and_back_keep_the_game_and_the_position(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    first = browser.run("return location.search")
    go(browser, "e5")
    play(browser, "Nc3")
    browser.wait("return document.querySelector('.moves [aria-current]').textContent === '2. Nc3'")
    before = moves(browser)
    browser.driver.refresh()
    browser.wait("return document.querySelector('.moves [aria-current]')")
    assert current(browser) == "2. Nc3"
    assert moves(browser) == before
    analyse(browser, served, SGF)
    assert moves(browser)[0] == "1. E5"
    browser.driver.back()
    browser.driver.back()
    browser.wait("return location.search === arguments[0]", first)
    browser.wait("return document.querySelectorAll('.moves button').length > 5")
    assert moves(browser) == before


def test_position_in_the_address_is_analysed(browser: Browser, served: Served) -> None:
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    browser.open(f"{served.base}/analyse")
    browser.run("document.cookie = 'theme=dark; path=/'")
    browser.open(f"{served.base}/analyse?fen={fen.replace(' ', '%20')}")
    browser.wait("return document.querySelector('.lines li')")
    assert browser.barriers() == []
    assert piece_at(browser, "f3") == "white knight"
    play(browser, "Bb5")
    assert current(browser) == "3. Bb5"
    browser.driver.refresh()
    browser.wait("return document.querySelector('.moves [aria-current]')")
    assert until(lambda: piece_at(browser, "b5") == "white bishop")
    browser.open(f"{served.base}/analyse?fen=nonsense")
    browser.wait("return document.querySelector('[role=alert]').textContent")
    assert until(lambda: piece_at(browser, "e2") == "white pawn")
    browser.complaints()  # of the status 422


def test_moves_are_announced_with_the_number_of_the_move(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    for move, words in (("4. h3", "After 4. h3."), ("Bg4", "After 3... Bg4.")):
        go(browser, move)
        assert browser.text("[role=status]") == words


# The board


def test_analysis_board_shows_legal_moves_and_can_be_dragged_on(
    browser: Browser, served: Served
) -> None:
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelector('.lines li')")
    press(browser, "g1")
    browser.wait("return document.querySelectorAll('cg-board square.move-dest').length === 2")
    drag(browser, "e2", "e4")
    browser.wait("return document.querySelector('.moves [aria-current]')")
    assert current(browser) == "1. e4"
    box = "return document.querySelector('cg-board').getBoundingClientRect()"
    assert browser.run(f"{box}.width > 0.7 * innerHeight")
    assert browser.run(f"{box}.bottom <= innerHeight")
    assert browser.barriers() == []


def test_line_of_the_engine_is_played_by_a_click(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    line = "document.querySelector('.lines li:nth-child(2)')"
    browser.wait(f"return {line}?.querySelectorAll('.move').length >= 4")
    browser.find("#thinking").click()  # so that the line stays
    assert until(lambda: not browser.find_all(".lines li"))
    browser.find("#thinking").click()
    browser.wait(f"return {line}?.querySelectorAll('.move').length >= 4")
    texts = browser.run(
        f"const all = [...{line}.querySelectorAll('.move')].slice(0, 3);"
        "const texts = all.map((each) => each.textContent); all[2].click(); return texts"
    )
    assert [text.split(". ")[0] for text in texts] == ["1", texts[1], "2"]
    browser.wait("return document.querySelectorAll('.moves button').length === 3")
    assert moves(browser) == texts
    assert until(lambda: current(browser) == texts[2])


def test_keys_of_the_analysis_board(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    browser.wait("return document.querySelector('.lines .move')")
    browser.press("f")
    browser.wait("return document.querySelector('.orientation-black')")
    browser.press("x")
    browser.wait("return document.querySelector('[data-action=threat]').ariaPressed === 'true'")
    browser.wait("return document.querySelector('.lines span.move')")  # threats are not played
    browser.press("l")
    browser.wait("return !document.querySelector('.lines li')")
    assert not browser.find("#thinking").is_selected()
    browser.press("l")
    browser.press(Keys.END)
    browser.wait("return document.querySelector('.lines button.move')")
    before = len(moves(browser))
    browser.press(Keys.SPACE)
    browser.wait("return document.querySelectorAll('.moves button').length > arguments[0]", before)
    typed = browser.find("#move")
    typed.send_keys("f")
    assert typed.get_attribute("value") == "f"
    assert browser.find_all(".orientation-black")


def test_wheel_over_the_board_steps_through_the_moves(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    browser.press(Keys.HOME)
    for turn, words in ((120, "After 1. e4."), (120, "After 1... e5."), (-120, "After 1. e4.")):
        origin = ScrollOrigin.from_element(browser.find("cg-board"))
        ActionChains(browser.driver).scroll_from_origin(origin, 0, turn).perform()
        assert until(lambda words=words: browser.text(".news") == words)


def test_comments_are_shown_among_the_moves(browser: Browser, served: Served) -> None:
    long = "a very long comment " * 21
    text = f"1. e4 {{natural}} e5 (1... c5 {{Sicilian}} 2. Nf3 d6) 2. Nf3 {{{long}}} *"
    analyse(browser, served, text)
    assert [each.text for each in browser.find_all(".moves .remark")] == [
        "natural", "Sicilian", f"{long[:400].strip()}…",
    ]  # fmt: skip
    # After a comment or a variation, Black's move has its number; inside a variation it has none.
    assert moves(browser) == ["1. e4", "1... e5", "1... c5", "2. Nf3", "d6", "2. Nf3"]


def test_main_line_has_two_columns_with_blocks_between_the_rows(
    browser: Browser, served: Served
) -> None:
    text = "1. e4 e5 (1... c5 2. Nf3 {Open} d6) 2. Nf3 {natural} Nc6 3. Bb5 a6 *"
    analyse(browser, served, text)
    check_columns(browser)
    with browser.on_a_phone():
        check_columns(browser)
        assert browser.fits()
    assert browser.barriers() == []


def check_columns(browser: Browser) -> None:
    """Check the layout of e4 e5, a variation, Nf3, a comment, Nc6, Bb5 and a6."""
    boxes = browser.run(
        "return [...document.querySelectorAll('.moves > *')].map((each) => {"
        "const { left, top, width } = each.getBoundingClientRect();"
        "return [Math.round(left), Math.round(top), width]; })"
    )
    white, black = boxes[0][0], boxes[1][0]
    assert white < black
    lefts = [white, black, None, white, None, black, white, black]
    for box, left in zip(boxes, lefts, strict=True):
        assert left in (None, box[0])
    tops = sorted({box[1] for box in boxes})
    assert [tops.index(box[1]) for box in boxes] == [0, 0, 1, 2, 3, 4, 5, 5]
    assert min(boxes[2][2], boxes[4][2]) > 1.8 * boxes[0][2]  # the full width


def test_promotion_can_be_cancelled_and_chosen_in_analysis(
    browser: Browser, served: Served
) -> None:
    browser.open(f"{served.base}/analyse?fen={PROMOTION.replace(' ', '%20')}")
    browser.wait("return document.querySelector('.lines li')")
    for cancel in (lambda: browser.press(Keys.ESCAPE), lambda: press(browser, "d4")):
        move(browser, "a7", "a8")
        browser.wait("return document.querySelectorAll('.promotion button').length === 4")
        assert browser.barriers() == []
        cancel()
        browser.wait("return !document.querySelector('.promotion')")
        assert until(lambda: piece_at(browser, "a7") == "white pawn")
        assert moves(browser) == []
    move(browser, "a7", "a8")
    browser.wait("return document.querySelector('.promotion')")
    # The pieces lie on the file of the pawn, from the square of the promotion downwards.
    places = browser.run(
        "return [...document.querySelectorAll('.promotion button')].map((each) => {"
        "const {left, top, width, height} = each.getBoundingClientRect();"
        "return [left + width / 2, top + height / 2, width]})"
    )
    for (x, y, width), name in zip(places, ("a8", "a7", "a6", "a5"), strict=True):
        assert (x, y) == pytest.approx(gestures.square(browser, name), abs=4)
        assert width > 0.9 * browser.find("cg-board").size["width"] / 8
    browser.find("[data-piece=n]").click()
    browser.wait("return document.querySelector('.moves [aria-current]')")
    assert current(browser) == "1. a8=N"


def begin_chess(browser: Browser, served: Served, **form: Any) -> str:
    """Begin a game of chess on the page Play, and return its id."""
    game = served.begin(game="chess", **form)
    browser.open(f"{served.base}/play/{game}")
    browser.wait("return document.querySelector('cg-board piece')")
    state(browser)
    return game


def test_promotion_in_a_game_can_be_cancelled(browser: Browser, served: Served) -> None:
    begin_chess(browser, served, seconds=0.05, fen=PROMOTION)
    move(browser, "a7", "a8")
    browser.wait("return document.querySelector('.promotion')")
    browser.press(Keys.ESCAPE)
    browser.wait("return !document.querySelector('.promotion')")
    assert until(lambda: piece_at(browser, "a7") == "white pawn")
    assert state(browser)["ply"] == "0"
    move(browser, "a7", "a8")
    browser.wait("return document.querySelector('.promotion')")
    browser.find("[data-piece=r]").click()
    browser.wait("return document.querySelector('.moves li')?.textContent === 'a8=R'")


def test_piece_of_pocket_is_dropped(browser: Browser, served: Served) -> None:
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3[NQnn] w - - 0 1"
    begin_chess(browser, served, variant="crazyhouse", seconds=0.05, fen=fen)
    assert [each.text for each in browser.find_all(".pocket.top button")] == ["2"]
    assert [each.text for each in browser.find_all(".pocket.bottom button")] == ["1", "1"]
    assert not browser.find(".pocket.top button").is_enabled()
    browser.find(".pocket.bottom [data-drop=N]").click()
    browser.wait("return document.querySelectorAll('cg-board square.drop-square').length === 46")
    press(browser, "e4")
    browser.wait("return document.querySelector('.moves li')?.textContent === 'N@e4'")
    assert piece_at(browser, "e4") == "white knight"
    browser.wait("return !document.querySelector('.pocket.bottom [data-drop=N]')")


def test_piece_is_dragged_from_a_pocket(browser: Browser, served: Served) -> None:
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3[NPnn] w - - 0 1"
    begin_chess(browser, served, variant="crazyhouse", seconds=0.05, fen=fen)
    assert browser.text(".about") == "Crazyhouse"
    assert not browser.find_all(".captured")
    for piece, name in (("P", "d1"), ("N", "e4")):
        button = browser.find(f".pocket.bottom [data-drop={piece}]")
        gestures.drag(browser, gestures.middle(browser, button), gestures.square(browser, name))
        if piece == "P":  # no pawn is dropped on the first rank
            browser.wait("return !document.querySelector('cg-board piece.dragging')")
            assert until(lambda: piece_at(browser, "d1") == "")
            assert state(browser)["ply"] == "0"
    browser.wait("return document.querySelector('.moves li')?.textContent === 'N@e4'")
    assert piece_at(browser, "e4") == "white knight"


@pytest.mark.parametrize("form", [{}, {"base": 600}, {"variant": "crazyhouse"}], ids=str)
def test_board_and_players_fit_the_window(
    browser: Browser, served: Served, form: dict[str, Any]
) -> None:
    begin_chess(browser, served, **form)
    heights = "const page = document.documentElement; return [page.scrollHeight, innerHeight]"
    scrolled, window = browser.run(heights)
    assert scrolled <= window
    assert browser.find("cg-board").size["height"] > 0.6 * window
    last = browser.find_all(".player")[-1]
    assert last.location["y"] + last.size["height"] <= window


def test_form_offers_variants_and_other_clocks(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play?game=chess")
    browser.wait("return document.querySelector('#field-clock')")
    Select(browser.find("#field-variant")).select_by_visible_text("Chess960")
    assert not browser.find("#field-minutes").is_displayed()
    Select(browser.find("#field-clock")).select_by_visible_text("other")
    assert not browser.find("#field-seconds").is_displayed()
    for name, value in (("minutes", "1.5"), ("increment", "2")):
        browser.find(f"#field-{name}").clear()
        browser.find(f"#field-{name}").send_keys(value)
    browser.find("form.start button").click()
    browser.wait("return document.querySelector('.about')?.textContent")
    assert browser.text(".about") == "Chess960 · 1.5+2"
    browser.open(f"{served.base}/play")
    browser.wait("return document.querySelector('tbody tr')")
    cells = [each.text for each in browser.find_all("tbody tr:first-child td")]
    assert [cells[0], cells[3]] == ["Chess960", "in progress Continue"]
    browser.run("localStorage.clear()")  # of the kept choices


def test_remaining_checks_are_shown(browser: Browser, served: Served) -> None:
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 1+3 0 1"
    game = served.begin(game="chess", variant="3check", seconds=0.05, fen=fen)
    browser.open(f"{served.base}/play/{game}")
    browser.wait("return document.querySelector('.pocket.bottom')?.textContent")
    texts = [browser.text(f".pocket.{place}") for place in ("top", "bottom")]
    assert texts == ["Checks left: 3", "Checks left: 1"]


@pytest.mark.parametrize(
    ("variant", "fen", "played", "reason", "goals"),
    [
        ("kingofthehill", "7k/8/8/8/8/4K3/8/8 w - - 0 1", "Ke4",
         "You won: a king reached the centre (1-0).", 4),
        ("3check", "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1", "Ra8", "You won: three checks (1-0).", 0),
        ("atomic", "4k3/4p3/8/8/8/8/8/4RK2 w - - 0 1", "Rxe7",
         "You won: a king exploded (1-0).", 0),
        ("antichess", "8/8/8/8/8/1p6/8/K7 w - - 0 1", "Ka2",
         "You won: no pieces or no moves left (1-0).", 0),
        ("horde", "8/8/8/8/4k3/8/4P3/4r3 b - - 0 1", "Rxe2",
         "You won: all white pieces were captured (0-1).", 0),
        ("racingkings", "8/K7/8/8/8/8/8/7k w - - 0 1", "Ka8",
         "You won: a king reached the eighth rank (1-0).", 8),
        ("racingkings", "7K/k7/8/8/8/8/8/8 b - - 0 1", "Ka8",
         "Draw: both kings reached the eighth rank (½-½).", 8),
    ],
)  # fmt: skip
def test_goal_of_a_variant_is_marked_and_the_end_is_explained(
    browser: Browser,
    served: Served,
    variant: str,
    fen: str,
    played: str,
    reason: str,
    goals: int,
) -> None:
    side = "second" if " b " in fen else "first"
    form = {"variant": variant, "fen": fen, "side": side, "seconds": 0.05}
    game = served.begin(game="chess", **form)
    browser.open(f"{served.base}/play/{game}")
    state(browser)
    browser.wait("return document.querySelector('cg-board piece')")
    assert len(browser.find_all("square.goal-square")) == goals
    browser.find("#move").send_keys(played, Keys.ENTER)
    browser.wait("return document.querySelector('main').dataset.result")
    assert browser.text(".status").endswith(reason)


def test_draw_by_agreement_is_not_explained_by_the_rules_of_the_variant(
    browser: Browser, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DrawPolicy, "accepts", lambda policy, board: True)
    game = served.begin(game="chess", variant="racingkings", seconds=0.05)
    browser.open(f"{served.base}/play/{game}")
    state(browser)
    browser.find("[data-action='offer draw']").click()
    browser.wait("return document.querySelector('main').dataset.result")
    assert browser.text(".status").endswith("Draw: by agreement (½-½).")


def test_moves_are_numbered_in_a_variant_with_more_fields_in_the_fen(
    browser: Browser, served: Served
) -> None:
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 3+3 0 7"
    game = served.begin(game="chess", variant="3check", seconds=0.05, fen=fen)
    browser.open(f"{served.base}/play/{game}")
    state(browser)
    browser.find("form input").send_keys("e4", Keys.ENTER)
    browser.wait("return document.querySelectorAll('.moves li').length === 2")
    assert [each.get_property("value") for each in browser.find_all(".moves li")] == [7, 7]
    state(browser)
    browser.find("[aria-label='Previous move']").click()
    browser.wait("return document.querySelector('.status').textContent.startsWith('7. e4')")


def test_premove_is_played_after_the_answer(browser: Browser, served: Served) -> None:
    # Without a book move, which is played at once.
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"
    begin_chess(browser, served, seconds=3, fen=fen)
    drag(browser, "e2", "e4")
    browser.wait("return document.querySelector('main').dataset.ply === '1'")
    drag(browser, "a2", "a3")
    browser.wait("return document.querySelector('cg-board square.current-premove')")
    browser.wait("return document.querySelectorAll('.moves li').length >= 3")
    assert browser.find_all(".moves li")[2].text == "a3"


# Messages


def test_error_of_an_illegal_move_stays(browser: Browser, served: Served) -> None:
    begin_chess(browser, served, seconds=0.05)
    # The error comes before the state, which must not overwrite it.
    browser.run(
        "window.seen = []; new MutationObserver(() => seen.push("
        "document.querySelector('.error').textContent)).observe("
        "document.querySelector('.error'), { childList: true, characterData: true, subtree: true })"
    )
    browser.find("#move").send_keys("e5", Keys.ENTER)
    browser.wait("return document.querySelector('.error').textContent")
    assert browser.text(".error") == "e5: not a legal move."
    assert browser.run("return window.seen.at(-1)") == "e5: not a legal move."
    # The text is selected, so that it can be corrected.
    assert browser.run("return document.getSelection().toString()") == "e5"
    browser.find("#move").send_keys("e4", Keys.ENTER)
    browser.wait("return document.querySelector('.moves li')")
    assert browser.find("#move").get_attribute("value") == ""
    assert browser.text(".error") == ""


def test_hint_clears_an_error(browser: Browser, served: Served) -> None:
    begin_chess(browser, served, seconds=0.05)
    browser.find("#move").send_keys("Ke2", Keys.ENTER)
    browser.wait("return document.querySelector('.error').textContent")
    browser.find("[data-action=hint]").click()
    browser.wait("return document.querySelector('.status').textContent.startsWith('Hint')")
    assert browser.text(".error") == ""


def test_click_on_an_occupied_point_is_explained(browser: Browser, served: Served) -> None:
    game = served.begin(game="go", options={"size": 9}, seconds=0.05)
    browser.open(f"{served.base}/play/{game}")
    state(browser)
    browser.find("svg.go rect.press[aria-label=E5]").click()
    browser.wait("return document.querySelector('main').dataset.ply >= '2'")
    state(browser)
    browser.find("svg.go rect.closed").click()
    assert browser.text(".error") == "There is already a stone there."


def test_click_during_the_turn_of_the_opponent_is_explained(
    browser: Browser, served: Served
) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='othello', seconds=5)}")
    state(browser)
    browser.find("rect.press").click()
    browser.wait("return document.querySelector('main').dataset.ply === '1'")
    browser.find("svg.grid .cell").click()
    assert browser.text(".error") == "It is not your turn."
    browser.wait("return document.querySelector('main').dataset.ply >= '2'")
    browser.wait("return !document.querySelector('.error').textContent")


# Replay


@pytest.fixture(scope="module")
def finished(served: Served) -> str:
    """A game of Go with a captured stone, and with a dead stone at its end."""
    from kempelen.match.game.game_result import GameResult, Termination
    from kempelen.web.play.archive import Archive, SavedGame
    from kempelen.web.play.setup import GameSetup

    captures = ["A1", "A2", "C3", "B1", "D4", "E5", "pass", "pass"]
    setup = GameSetup("go", {"size": 5}, seed=1)
    saved = SavedGame("finished", "-", setup, captures)
    saved.game_result = GameResult("1-0", Termination.RULES, "W+5")
    Archive(served.site.database).save(saved)
    return saved.id


def test_earlier_positions_show_their_own_prisoners_and_no_result(
    browser: Browser, served: Served, finished: str
) -> None:
    browser.open(f"{served.base}/play/{finished}")
    browser.wait("return document.querySelectorAll('.moves li').length === 8")
    assert "You lost" in browser.text(".status")
    assert "prisoners: 1" in browser.text(".left")
    browser.find_all(".moves li button")[2].click()
    browser.wait("return document.querySelector('.status').textContent.startsWith('Move 3 of 8')")
    assert browser.text(".status") == "Move 3 of 8: C3"
    assert "prisoners: 1" not in browser.text(".left")
    assert len(browser.find_all("svg.go .stone")) == 3
    browser.press(Keys.ARROW_RIGHT)
    browser.wait("return document.querySelector('.status').textContent.startsWith('Move 4 of 8')")
    browser.wait("return document.querySelector('.left').textContent.includes('prisoners: 1')")
    browser.press(Keys.END)
    browser.wait("return document.querySelector('.status').textContent.includes('You lost')")
    browser.press(Keys.HOME)
    browser.wait("return !document.querySelector('svg.go .stone')")


def test_earlier_moves_of_chess_have_the_number_of_the_move(
    browser: Browser, served: Served
) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='chess', seconds=0.05)}")
    browser.wait("return document.querySelector('cg-board piece')")
    for move, count in (("e4", 2), ("Nf3", 4)):
        state(browser)
        browser.find("#move").send_keys(move, Keys.ENTER)
        browser.wait("return document.querySelectorAll('.moves li').length >= arguments[0]", count)
    browser.find_all(".moves li button")[2].click()
    browser.wait("return document.querySelector('.status').textContent === '2. Nf3'")
    browser.press(Keys.ARROW_LEFT)
    browser.wait("return document.querySelector('.status').textContent.startsWith('1... ')")


def test_end_of_a_game_offers_analysis_rematch_and_new_game(
    browser: Browser, served: Served
) -> None:
    game = begin_chess(browser, served, seconds=0.05)
    browser.find("#move").send_keys("e4", Keys.ENTER)
    browser.wait("return document.querySelector('main').dataset.ply === '2'")
    assert not browser.find(".after").is_displayed()
    browser.find("[data-action=resign]").click()
    browser.find("[data-answer=yes]").click()
    browser.wait("return document.querySelector('main').dataset.result")
    assert browser.text(".status").startswith("You lost: resignation (0-1).")
    assert [each.text for each in browser.find_all(".after > *")] == [
        "Analyse", "Rematch", "New game"
    ]  # fmt: skip
    assert browser.barriers() == []
    browser.find("[data-action=rematch]").click()
    browser.wait("return !location.pathname.endsWith(arguments[0])", game)
    browser.wait("return document.querySelector('.cg-wrap.orientation-black')")
    browser.open(f"{served.base}/play/{game}")
    browser.wait("return document.querySelector('[data-action=analyse]')")
    browser.find("[data-action=analyse]").click()
    browser.wait("return document.querySelectorAll('.moves button').length === 2")
    assert moves(browser)[0] == "1. e4"
    browser.wait("return document.querySelector('.lines li')")


def test_opening_is_named(browser: Browser, served: Served) -> None:
    analyse(browser, served, PGN)
    go(browser, "2... d6")
    browser.wait("return document.querySelector('.opening').textContent.includes('Philidor')")
    assert browser.text(".opening").startswith("C41")


# Dice


def test_backgammon_is_drawn_and_played_by_clicks(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='backgammon', seconds=0.05)}")
    state(browser)
    browser.wait("return document.querySelectorAll('svg.points .stone').length === 30")
    assert browser.text(".status").startswith("Dice: ")
    assert "played" not in browser.text(".status")
    for _ in range(8):  # a play has at most four steps, of two clicks each
        browser.wait(
            "return document.querySelector('svg.points .press')"
            " || document.querySelector('main').dataset.ply !== '1'"
        )
        if browser.run("return document.querySelector('main').dataset.ply !== '1'"):
            break
        chosen = browser.find_all("svg.points .press.target")
        target = (chosen or browser.find_all("svg.points .press"))[0]
        ActionChains(browser.driver).move_to_element(target).click().perform()
    browser.wait("return document.querySelector('main').dataset.ply !== '1'")
    assert browser.barriers() == []


def test_dice_games_are_spanish_on_the_spanish_page(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play")
    browser.run("document.cookie = 'language=es; path=/'")
    browser.open(f"{served.base}/play/{served.begin(game='pig', seconds=0.05)}")
    state(browser)
    assert [each.text for each in browser.find_all(".choice button")] == ["Tirar", "Plantarse"]
    assert "Visitante: 0 puntos" in browser.text("pre.position")
    browser.find(".choice button").click()
    browser.wait("return document.querySelectorAll('.moves li').length >= 2")
    assert "Dados: " in browser.text(".moves")
    browser.open(f"{served.base}/play/{served.begin(game='backgammon', seconds=0.05)}")
    state(browser)
    assert browser.text(".status").startswith("Dados: ")
    for english in ("roll", "player", "bar:", "to play"):
        assert english not in browser.text("main")


def test_spanish_page_uses_spanish_letters_of_the_pieces(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/play")
    browser.run("document.cookie = 'language=es; path=/'")
    analyse(browser, served, PGN)
    assert "2. Cf3" in moves(browser)
    go(browser, "2. Cf3")
    play(browser, "Cf6")
    browser.wait(
        "return document.querySelector('.moves [aria-current]').textContent === '2... Cf6'"
    )
    begin_chess(browser, served, seconds=0.05)
    browser.find("#move").send_keys("Cc3", Keys.ENTER)
    browser.wait("return document.querySelectorAll('.moves li').length >= 2")
    assert browser.text(".moves li") == "Cc3"


# Pages


def test_unknown_address_shows_a_page_with_navigation(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/nowhere")
    assert browser.text("h1") == "404"
    assert browser.text("main p") == "page not found"
    assert browser.barriers() == []
    browser.complaints()  # of the status 404
    browser.find("nav a").click()
    browser.wait("return document.querySelector('form.start')")


def test_lesson_has_a_way_back(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/learn")
    browser.wait("return document.querySelector('main ul a')")
    browser.find("main ul a").click()
    browser.wait("return document.querySelector('main iframe')")
    assert browser.text("h1") == "Minimax"
    assert browser.find("main iframe").get_attribute("src").endswith("/lessons/minimax.html")
    assert browser.barriers() == []
    browser.find("main a").click()
    browser.wait("return document.querySelector('main ul a')")


def test_pages_load_at_most_150_kb_of_script_until_the_board_is_drawn(
    browser: Browser, served: Served
) -> None:
    for path, selector in (
        (f"/play/{served.begin(game='chess')}", "cg-board piece"),
        ("/analyse", "cg-board piece"),
    ):
        browser.open(f"{served.base}{path}")
        browser.wait(f"return document.querySelector('{selector}')")
        size = browser.run(
            "return performance.getEntriesByType('resource')"
            ".filter((each) => each.name.endsWith('.js'))"
            ".reduce((sum, each) => sum + each.decodedBodySize, 0)"
        )
        assert 0 < size < 150_000, json.dumps(size)


def open_steps(browser: Browser, served: Served, theme: str) -> None:
    """Ask for the steps of an algorithm in a theme. They are shown in a frame."""
    browser.open(f"{served.base}/learn")
    browser.run(f"document.cookie = 'theme={theme}; path=/'")
    browser.open(f"{served.base}/learn")
    browser.wait("return document.querySelector('form button')")
    browser.find("form button").click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lessons_follow_the_theme(browser: Browser, served: Served, theme: str) -> None:
    open_steps(browser, served, theme)
    for page in (None, "minimax.html"):
        if page is not None:
            browser.open(f"{served.base}/learn/{page}")
        browser.wait("return document.querySelector('main iframe')?.checkVisibility()")
        browser.driver.switch_to.frame(browser.find("main iframe"))
        dark = browser.wait(
            "return document.readyState === 'complete' && document.querySelector('h1')"
            " && String(matchMedia('(prefers-color-scheme: dark)').matches)"
        )
        shade = browser.run("return getComputedStyle(document.body).filter")
        browser.driver.switch_to.default_content()
        assert dark == str(theme == "dark").lower()
        if page is None:
            assert (shade == "none") == (theme == "light")


@pytest.mark.parametrize(("size", "stars"), [(7, 0), (9, 5), (13, 5), (19, 9), ("9x13", 5)])
def test_star_points_of_go_boards(
    browser: Browser, served: Served, size: int | str, stars: int
) -> None:
    browser.open(f"{served.base}/play/{served.begin(game='go', options={'size': size})}")
    browser.wait("return document.querySelector('svg.go .lines')")
    assert len(browser.find_all("svg.go .star")) == stars
    edges = [9, 13] if isinstance(size, str) else [size, size]
    assert len(browser.find_all("svg.go .mark")) == 2 * sum(edges)
