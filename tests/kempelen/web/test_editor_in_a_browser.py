"""The board editor, and the tools of the analysis of a position, in a real browser."""

from urllib.parse import parse_qs, urlsplit

import pytest

from kempelen.web.analyse import live_analysis
from tests.kempelen.web.support import Served
from tests.waiting import until

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser import Browser
from tests.kempelen.web.test_boards_in_a_browser import current, piece_at, play, square

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("no_complaints")]

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FRENCH = "rnbqkbnr/ppp2ppp/4p3/3pP3/3P4/8/PPP2PPP/RNBQKBNR b KQkq - 0 3"
PASSING = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3"


def edit(browser: Browser, served: Served, query: str = "") -> None:
    browser.open(f"{served.base}/editor{query}")
    browser.wait("return document.querySelector('[data-action=analyse]')?.disabled === false")


def fen(browser: Browser) -> str:
    return str(browser.run("return document.getElementById('fen').value"))


def shows(browser: Browser, text: str) -> None:
    """Wait until the field shows a FEN."""
    browser.wait("return document.getElementById('fen').value === arguments[0]", text)


def tool(browser: Browser, name: str) -> None:
    browser.find(f"[data-tool='{name}']").click()


def click(browser: Browser, *names: str) -> None:
    for name in names:
        actions = ActionChains(browser.driver, duration=0)
        actions.move_to_element_with_offset(*square(browser, name)).click().perform()


def fault(browser: Browser) -> str:
    browser.wait("return document.querySelector('.faults').textContent")
    assert not browser.find("[data-action=analyse]").is_enabled()
    return str(browser.text(".faults"))


def test_pieces_are_set_by_clicks_and_faults_are_named(browser: Browser, served: Served) -> None:
    edit(browser, served)
    assert fen(browser) == START
    browser.find("[data-action=clear]").click()
    assert fault(browser) == "The board is empty."
    tool(browser, "white king")
    click(browser, "g1")
    browser.wait(
        "return document.querySelector('.faults').textContent === 'The black king is missing.'"
    )
    tool(browser, "black king")
    click(browser, "g8")
    tool(browser, "white rook")
    click(browser, "g4", "h1", "a4")
    tool(browser, "erase")
    click(browser, "h1")
    browser.wait(
        "return document.querySelector('.faults').textContent"
        " === 'The side that is not to move is in check.'"
    )
    Select(browser.find("#side")).select_by_visible_text("Black")
    shows(browser, "6k1/8/8/8/R5R1/8/8/6K1 b - - 0 1")
    browser.wait("return !document.querySelector('.faults').textContent")
    assert browser.barriers() == []
    browser.find("[data-action=analyse]").click()
    browser.wait("return location.pathname === '/analyse' && document.querySelector('.lines li')")
    assert until(lambda: piece_at(browser, "g4") == "white rook")


def test_pieces_are_dragged_onto_the_board_and_off_it(browser: Browser, served: Served) -> None:
    edit(browser, served)
    drag = ActionChains(browser.driver, duration=50)
    drag.click_and_hold(browser.find("[data-tool='white queen']"))
    drag.move_to_element_with_offset(*square(browser, "e5")).release().perform()
    shows(browser, START.replace("8/8/8/8", "8/4Q3/8/8"))
    drag = ActionChains(browser.driver, duration=50)
    drag.move_to_element_with_offset(*square(browser, "e5")).click_and_hold()
    drag.move_to_element_with_offset(*square(browser, "e4")).release().perform()
    shows(browser, START.replace("8/8/8/8", "8/8/4Q3/8"))
    drag = ActionChains(browser.driver, duration=50)
    drag.move_to_element_with_offset(*square(browser, "e4")).click_and_hold()
    drag.move_to_element(browser.find("#fen")).release().perform()
    shows(browser, START)
    browser.find("[data-action=flip]").click()
    browser.wait("return document.querySelector('.cg-wrap.orientation-black')")


def test_castling_and_en_passant_are_offered_where_they_are_legal(
    browser: Browser, served: Served
) -> None:
    edit(browser, served, f"?fen={PASSING.replace(' ', '_')}")
    passing = Select(browser.find("#passing"))
    assert [each.text for each in passing.options] == ["none", "d6", "f6"]
    passing.select_by_visible_text("d6")
    shows(browser, PASSING.replace(" - ", " d6 "))
    tool(browser, "erase")
    click(browser, "h1")
    browser.wait("return document.getElementById('castling-K').disabled")
    shows(browser, PASSING.replace("RNBQKBNR w KQkq -", "RNBQKBN1 w Qkq d6"))
    browser.find("#castling-q").click()
    shows(browser, PASSING.replace("RNBQKBNR w KQkq -", "RNBQKBN1 w Qk d6"))
    browser.driver.refresh()
    browser.wait("return document.getElementById('fen')?.value")
    shows(browser, PASSING.replace("RNBQKBNR w KQkq -", "RNBQKBN1 w Qk d6"))
    field = browser.find("#fen")
    field.clear()
    field.send_keys("nonsense", Keys.ENTER)
    assert fault(browser).startswith("position: expected 8 rows")
    browser.complaints()  # of the status 422
    browser.find("[data-action=start]").click()
    shows(browser, START)


def test_edited_position_is_played(browser: Browser, served: Served) -> None:
    edit(browser, served, f"?fen={FRENCH.replace(' ', '_')}")
    browser.find("[data-action=play]").click()
    browser.wait("return location.pathname === '/play' && document.querySelector('form.start')")
    browser.wait("return document.getElementById('field-fen')?.value")
    assert browser.run("return document.getElementById('field-fen').value") == FRENCH
    browser.find("form.start button.main").click()
    browser.wait("return document.querySelector('cg-board piece')")
    assert until(lambda: piece_at(browser, "e5") == "white pawn")
    # A finished game can be analysed, but not played.
    browser.open(f"{served.base}/editor?fen=7k/6Q1/6K1/8/8/8/8/8_b_-_-_0_1")
    browser.wait("return document.querySelector('[data-action=analyse]')?.disabled === false")
    assert not browser.find("[data-action=play]").is_enabled()


def test_pieces_are_set_by_the_keyboard_alone_in_spanish(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/editor")
    browser.run("document.cookie = 'language=es; path=/'; document.cookie = 'theme=dark; path=/'")
    edit(browser, served, "?fen=4k3/8/8/8/8/8/8/4K3_w_-_-_0_1")
    assert browser.find("[data-tool='white queen']").get_attribute("aria-label") == "dama blanca"
    browser.run("document.querySelector('[data-tool=\"white queen\"]').focus()")
    browser.press(Keys.ENTER)
    browser.run("document.querySelector('.overlay .press').focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    shows(browser, "4k3/1Q6/8/8/8/8/8/4K3 w - - 0 1")
    focused = "return document.activeElement.getAttribute('aria-label')"
    assert browser.run(focused) == "b7: dama blanca"
    browser.press(Keys.ENTER)
    shows(browser, "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    browser.find("[data-action=clear]").click()
    assert fault(browser) == "El tablero está vacío."
    assert browser.barriers() == []
    with browser.on_a_phone():
        assert browser.fits()


def points(browser: Browser, *names: str) -> None:
    for name in names:
        browser.run(
            "document.querySelector(`svg.go .press[aria-label='${arguments[0]}']`)"
            ".dispatchEvent(new MouseEvent('click'))",
            name,
        )


def test_go_stones_are_set_analysed_and_played(browser: Browser, served: Served) -> None:
    edit(browser, served)
    Select(browser.find("#game")).select_by_visible_text("Go")
    browser.wait("return document.querySelector('svg.go')")
    for name, size in (("columns", "7"), ("rows", "5")):
        field = browser.find(f"#{name}")
        field.clear()
        field.send_keys(size, Keys.TAB)
    points(browser, "C3", "D3")
    tool(browser, "O")
    points(browser, "E3", "A1", "G5")
    tool(browser, "erase")
    points(browser, "A1: White")
    Select(browser.find("#side")).select_by_visible_text("White")
    sgf = "(;GM[1]FF[4]SZ[7:5]PL[W]AB[cc][dc]AW[ga][ec])"
    browser.wait("return document.getElementById('sgf').value === arguments[0]", sgf)
    browser.wait("return document.querySelector('[data-action=analyse]').disabled === false")
    assert browser.barriers() == []
    browser.driver.refresh()
    browser.wait("return document.querySelectorAll('svg.go .stone').length === 4")
    browser.wait("return document.querySelector('[data-action=analyse]').disabled === false")
    address = browser.run("return location.href")
    browser.find("[data-action=analyse]").click()
    browser.wait("return location.pathname === '/analyse' && document.querySelector('.lines li')")
    assert len(browser.find_all("svg.go .stone")) == 4
    assert "sgf" in parse_qs(urlsplit(browser.run("return location.href")).query)
    browser.find("#move").send_keys("D4", Keys.ENTER)
    browser.wait("return document.querySelectorAll('svg.go .stone.white').length === 3")
    browser.open(address)
    browser.wait("return document.querySelector('[data-action=play]')?.disabled === false")
    browser.find("[data-action=play]").click()
    browser.wait("return location.pathname === '/play' && document.querySelector('form.start')")
    browser.wait("return document.getElementById('field-sgf')?.value")
    browser.run("document.getElementById('field-seconds').value = 0.1")
    browser.find("form.start button.main").click()
    # White begins: this is the opponent.
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    assert browser.run("return document.querySelector('main').dataset.ply") == "1"
    assert len(browser.find_all("svg.go .stone.black")) == 2
    assert len(browser.find_all("svg.go .stone.white")) == 3


def test_stones_without_liberties_are_named(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/editor?sgf=(;GM[1]FF[4]SZ[5]PL[B]AB[ae]AW[ad][be])")
    assert fault(browser).endswith("stones without liberties are set up")
    browser.complaints()  # of the status 422


def cells(browser: Browser, *places: tuple[int, int]) -> None:
    for row, column in places:
        browser.run(
            "document.querySelector(`.press[data-row='${arguments[0]}'][data-column='${arguments[1]}']`)"
            ".dispatchEvent(new MouseEvent('click'))",
            row,
            column,
        )


def reads(browser: Browser, text: str) -> None:
    """Wait until the field shows a position that has been checked."""
    browser.wait("return document.getElementById('position')?.value === arguments[0]", text)
    browser.wait("return document.querySelector('[data-action=analyse]').disabled === false")


def test_board_game_is_set_up_analysed_and_played(browser: Browser, served: Served) -> None:
    edit(browser, served)
    Select(browser.find("#game")).select_by_visible_text("Connect Four")
    browser.wait("return document.querySelector('svg.grid .cell')")
    cells(browser, (5, 3))
    reads(browser, "7/7/7/7/7/3X3 O")
    assert browser.find("#side").get_attribute("value") == "O"
    tool(browser, "O")
    cells(browser, (2, 3))
    assert fault(browser) == "position: empty square below a disc in column 4"
    cells(browser, (2, 3), (5, 6), (5, 5))
    tool(browser, "X")
    cells(browser, (4, 3))
    reads(browser, "7/7/7/7/3X3/3X1OO X")
    field = browser.find("#columns")
    field.clear()
    field.send_keys("8", Keys.TAB)
    reads(browser, "8/8/8/8/3X4/3X1OO1 X")
    assert browser.barriers() == []
    browser.driver.refresh()
    reads(browser, "8/8/8/8/3X4/3X1OO1 X")
    address = browser.run("return location.href")
    browser.find("[data-action=analyse]").click()
    browser.wait("return location.pathname === '/analyse' && document.querySelector('.lines li')")
    assert len(browser.find_all("svg.grid .stone")) == 4
    cells(browser, (3, 3))
    browser.wait("return document.querySelectorAll('svg.grid .stone').length === 5")
    assert current(browser) == "1. 4"
    assert parse_qs(urlsplit(browser.run("return location.href")).query).keys() == {"study"}
    browser.driver.refresh()
    browser.wait("return document.querySelectorAll('svg.grid .stone').length === 5")
    browser.find("[data-action='set up']").click()
    reads(browser, "8/8/8/3X4/3X4/3X1OO1 O")
    browser.open(address)
    reads(browser, "8/8/8/8/3X4/3X1OO1 X")
    browser.find("[data-action=play]").click()
    browser.wait("return document.getElementById('field-position')?.value")
    browser.run("document.getElementById('field-seconds').value = 0.1")
    browser.find("form.start button.main").click()
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    assert len(browser.find_all("svg.grid .stone")) == 4
    assert len(browser.find_all("svg.grid .cell")) == 48


def test_checkers_are_set_up_by_the_keyboard_in_spanish(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/editor")
    browser.run("document.cookie = 'language=es; path=/'")
    browser.open(f"{served.base}/editor?board=checkers&position=8/8/8/8/8/8/8/8_b")
    browser.wait("return document.querySelector('svg.grid .press')")
    assert [each.text for each in browser.find_all(".palette.tools button")] == [
        "Peón negro", "Dama negra", "Peón blanco", "Dama blanca", "Borrar",
    ]  # fmt: skip
    browser.run("document.querySelector('[data-tool=W]').focus()")
    browser.press(Keys.ENTER)
    browser.run("document.querySelector('svg.grid .press').focus()")
    browser.press(Keys.ENTER, Keys.ARROW_RIGHT, Keys.ENTER)
    browser.wait("return document.querySelectorAll('svg.grid .stone').length === 2")
    assert (
        browser.run("return document.getElementById('position').value") == "1W1W4/8/8/8/8/8/8/8 b"
    )
    browser.wait("return document.querySelector('[role=status]').textContent.includes('terminado')")
    Select(browser.find("#side")).select_by_visible_text("Blancas")
    reads(browser, "1W1W4/8/8/8/8/8/8/8 w")
    field = browser.find("#position")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("b7/8/8/8/8/8/8/8 b", Keys.ENTER)
    assert fault(browser) == "posición: pieza en una casilla clara de la fila 1"
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("nonsense", Keys.ENTER)
    browser.wait("return document.querySelector('.faults').textContent.startsWith('El texto')")
    assert browser.barriers() == []
    with browser.on_a_phone():
        assert browser.fits()


def test_pockets_and_checks_of_variants_are_edited(browser: Browser, served: Served) -> None:
    edit(browser, served, "?fen=4k3/8/8/8/8/8/8/4K3[]_w_-_-_0_1&variant=crazyhouse")
    for sign, count in (("Q", 1), ("p", 2)):
        field = browser.find(f"#pocket-{sign}")
        field.clear()
        field.send_keys(str(count), Keys.TAB)
    shows(browser, "4k3/8/8/8/8/8/8/4K3[Qpp] w - - 0 1")
    browser.driver.refresh()
    browser.wait("return document.getElementById('pocket-p')?.value === '2'")
    Select(browser.find("#variant")).select_by_visible_text("Three-check")
    shows(browser, START.replace(" 0 1", " 3+3 0 1"))
    Select(browser.find("#checks-black")).select_by_visible_text("1")
    shows(browser, START.replace(" 0 1", " 3+1 0 1"))
    browser.wait("return document.querySelector('[data-action=analyse]').disabled === false")
    address = browser.run("return location.href")
    browser.find("[data-action=analyse]").click()
    browser.wait("return location.pathname === '/analyse' && document.querySelector('.lines li')")
    browser.find("[data-action='set up']").click()
    browser.wait("return location.pathname === '/editor' && document.getElementById('fen')?.value")
    shows(browser, START.replace(" 0 1", " 3+1 0 1"))
    assert browser.find("#variant").get_attribute("value") == "3check"
    browser.open(address)
    browser.wait("return document.querySelector('[data-action=play]')?.disabled === false")
    browser.find("[data-action=play]").click()
    browser.wait("return document.getElementById('field-fen')?.value")
    fields = "return ['fen', 'variant'].map((key) => document.getElementById(`field-${key}`).value)"
    assert browser.run(fields) == [START.replace(" 0 1", " 3+1 0 1"), "3check"]


def test_unknown_variant_is_named(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/editor?fen={START.replace(' ', '_')}&variant=losers")
    browser.wait("return document.querySelector('.faults')?.textContent")
    assert fault(browser).startswith("variant: unknown 'losers' (expected one of: chess, ")
    assert not browser.find("[data-action=play]").is_enabled()
    edit(browser, served, f"?fen={START.replace(' ', '_')}&variant=koth")
    assert browser.find("#variant").get_attribute("value") == "kingofthehill"
    browser.open(f"{served.base}/play?game=chess&variant=losers")
    browser.wait("return document.querySelector('#field-variant')")
    browser.find("form.start button").click()
    browser.wait("return document.querySelector('form.start .error').textContent")
    error = browser.text("form.start .error")
    assert error.startswith("variant: unknown 'losers' (expected one of: chess, ")
    browser.complaints()  # that the server has rejected both


# The tools of the analysis


def test_number_of_lines_is_chosen_and_kept(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    Select(browser.find("#lines")).select_by_value("5")
    browser.wait("return document.querySelectorAll('.lines li').length === 5")
    browser.driver.refresh()
    browser.wait("return document.querySelectorAll('.lines li').length === 5")
    Select(browser.find("#lines")).select_by_value("1")
    browser.wait("return document.querySelectorAll('.lines li').length === 1")
    assert browser.barriers() == []


def test_search_goes_deeper_on_request(
    browser: Browser, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_analysis, "MAX_SECONDS", 0.1)
    browser.open(f"{served.base}/analyse")
    browser.run("""
        window.efforts = [];
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {
          const { kind, effort } = JSON.parse(text);
          if (kind === "look") window.efforts.push(effort);
          send.call(this, text);
        };
    """)
    deeper = "document.querySelector('[data-action=deeper]')"
    done = "document.querySelector('.searching').textContent.startsWith('Searched')"
    for effort in (1, 2):
        browser.wait(f"return {done} && !{deeper}.disabled")
        browser.run(f"{deeper}.click()")
        browser.wait("return window.efforts.at(-1) === arguments[0]", effort)
    browser.wait(f"return {done} && {deeper}.disabled")  # the limit
    play(browser, "e4")
    browser.wait("return window.efforts.at(-1) === 0")


def test_threat_is_shown(browser: Browser, served: Served) -> None:
    # White threatens mate, but Black is to move.
    browser.open(f"{served.base}/analyse?fen=6k1/5ppp/8/8/8/8/5PPP/3R2K1_b_-_-_0_1")
    browser.wait("return document.querySelector('.lines li')")
    threat = "document.querySelector('[data-action=threat]')"
    browser.run(f"{threat}.click()")
    browser.wait("return document.querySelector('.lines li')?.textContent.includes('Rd8#')")
    assert browser.run(f"return {threat}.getAttribute('aria-pressed')") == "true"
    browser.wait("return document.querySelector('.cg-shapes line[stroke=\"#882020\"]')")
    browser.run(f"{threat}.click()")
    browser.wait(
        "return /h[56]|g[56]|f[56]|Kf8/.test(document.querySelector('.lines li')?.textContent)"
    )
    # In check there is no threat.
    browser.open(f"{served.base}/analyse?fen=3R2k1/5p1p/8/8/8/8/5PPP/6K1_b_-_-_0_1")
    browser.wait("return document.querySelector('.lines li')")
    assert until(lambda: browser.run(f"return {threat}.disabled"))


def test_threat_of_go_is_shown(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse?sgf=(;GM[1]FF[4]SZ[5]PL[B]AB[cc]AW[cd])")
    browser.wait("return document.querySelector('.lines li')")
    browser.run("document.querySelector('[data-action=threat]').click()")
    browser.wait("return document.querySelector('.lines li')")
    assert browser.barriers() == []


def test_position_of_the_analysis_is_edited(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse?fen={FRENCH.replace(' ', '_')}")
    browser.wait("return document.querySelector('.lines li')")
    browser.run("document.querySelector('[data-action=\"set up\"]').click()")
    browser.wait("return document.getElementById('fen')?.value")
    assert fen(browser) == FRENCH
