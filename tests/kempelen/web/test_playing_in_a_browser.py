"""What helps players on the play page, in a real browser: counts, sounds, warnings, levels."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from kempelen.match.game.game_result import GameResult, Termination, draw
from kempelen.web.play.archive import Archive, SavedGame
from kempelen.web.play.boards import replay_game
from kempelen.web.play.setup import GameSetup, parse_setup
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Served

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser import Browser

pytestmark = pytest.mark.thorough

# Two walls, and a dead stone behind White's.
COUNTED = [f"{column}{row}" for row in range(1, 8) for column in "DC"] + ["A1", "pass", "pass"]
# Records the frequencies of all sounds.
LISTEN = (
    "window.heard = []; const start = OscillatorNode.prototype.start;"
    "OscillatorNode.prototype.start = function (...when) {"
    " heard.push(this.frequency.value); return start.apply(this, when); }"
)


@pytest.fixture(autouse=True)
def tidy(browser: Browser, served: Served) -> Iterator[None]:
    yield
    assert browser.complaints() == []
    browser.driver.delete_all_cookies()
    browser.open(f"{served.base}/play")
    browser.run("localStorage.clear()")


def setup_of(form: dict[str, Any]) -> GameSetup:
    """Return a setup whose dice are always the same."""
    return replace(parse_setup(form, SiteResources()), seed=1)


def store(served: Served, name: str, form: dict[str, Any], moves: list[str]) -> str:
    """Store a game that is over by its rules, if it is over; return its path."""
    setup = setup_of(form)
    board = replay_game(setup, moves)
    saved = SavedGame(name, "-", setup, list(moves))
    if not board.legal_moves():
        saved.game_result = board.game_result()
    Archive(served.site.database).save(saved)
    return f"{served.base}/play/{name}"


def show(browser: Browser, served: Served, path: str, spanish: bool = False) -> None:
    if spanish:
        browser.open(f"{served.base}/play")
        browser.run("document.cookie = 'language=es; path=/'")
    browser.open(path)
    browser.wait("return document.querySelector('main').dataset.turn")


def status(browser: Browser, part: str) -> str:
    """Wait for a part of the status, and return the status."""
    browser.wait(
        "return document.querySelector('.status').textContent.includes(arguments[0])", part
    )
    return browser.text(".status")


@contextmanager
def touch(browser: Browser) -> Iterator[None]:
    """Use a phone with a touch screen in the block."""
    enable = {"enabled": True, "maxTouchPoints": 5}
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", enable)
    try:
        with browser.on_a_phone():
            yield
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def tap(browser: Browser, selector: str) -> None:
    """Touch the centre of an element."""
    x, y = browser.run(
        "const each = document.querySelector(arguments[0]);"
        "each.scrollIntoView({ block: 'center' }); const box = each.getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]",
        selector,
    )
    send = browser.driver.execute_cdp_cmd
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# Go


def go_path(served: Served, name: str, rules: str = "chinese") -> str:
    form = {"game": "go", "options": {"size": 7, "komi": 6.5}, "rules": rules}
    return store(served, name, form, COUNTED)


@pytest.mark.parametrize("spanish", [False, True])
def test_territory_and_points_are_shown_and_stones_disputed_by_clicks(
    browser: Browser, served: Served, spanish: bool
) -> None:
    show(browser, served, go_path(served, f"counted-{spanish}"), spanish)
    browser.wait("return document.querySelectorAll('svg.go .own.black').length === 21")
    assert len(browser.find_all("svg.go .own.white")) == 14
    assert len(browser.find_all("svg.go .stone.dead")) == 1
    assert len(browser.find_all("svg.go .stone .shadow")) == 15
    before = [each.text for each in browser.find_all(".count p")]
    if spanish:
        assert before[0] == "Negras: 28 puntos = territorio 21 + piedras 7"
        assert before[1] == "Blancas: 27,5 puntos = territorio 14 + piedras 7 + komi 6,5"
        assert "Has ganado: por puntos, N+0,5." in browser.text(".status")
    else:
        assert before[0] == "Black: 28 points = territory 21 + stones 7"
        assert before[1] == "White: 27.5 points = territory 14 + stones 7 + komi 6.5"
        assert "You won: by points, B+0.5." in browser.text(".status")
    assert browser.barriers() == []
    dead = browser.find("rect.press[aria-label^='A1:']")
    assert dead.get_attribute("aria-label") == (
        "A1: Negras, muerta" if spanish else "A1: Black, dead"
    )
    dead.click()
    browser.wait("return !document.querySelector('svg.go .stone.dead')")
    # The point keeps the focus, but the ring is for the keyboard.
    assert not browser.find_all("svg.go .press:focus-visible")
    assert not browser.find_all("svg.go .own.white")
    status(browser, "N+15,5" if spanish else "B+15.5")
    browser.driver.refresh()  # the server keeps the decision
    status(browser, "N+15,5" if spanish else "B+15.5")
    browser.wait("return document.querySelector(\"rect.press[aria-label^='A1:']\")")
    browser.run("document.querySelector(\"rect.press[aria-label^='A1:']\").focus()")
    browser.press(Keys.ENTER)
    browser.wait("return document.querySelectorAll('svg.go .stone.dead').length === 1")
    assert [each.text for each in browser.find_all(".count p")] == before


def test_prisoners_count_under_japanese_rules(browser: Browser, served: Served) -> None:
    show(browser, served, go_path(served, "japanese", "japanese"))
    browser.wait("return document.querySelector('.count p')")
    assert [each.text for each in browser.find_all(".count p")][:2] == [
        "Black: 21 points = territory 21 + prisoners 0",
        "White: 21.5 points = territory 14 + prisoners 1 + komi 6.5",
    ]


def test_game_is_resumed_after_a_disagreement(browser: Browser, served: Served) -> None:
    show(browser, served, go_path(served, "resumed"))
    browser.wait("return document.querySelector('[data-action=\"resume play\"]')")
    browser.find("[data-action='resume play']").click()
    browser.wait("return !document.querySelector('main').dataset.result")
    assert not browser.find(".after").is_displayed()
    assert not browser.find(".count").is_displayed()
    browser.wait("return document.querySelector('main').dataset.ply >= 16")


@pytest.mark.parametrize("spanish", [False, True])
def test_tap_on_a_point_is_confirmed_on_a_phone(
    browser: Browser, served: Served, spanish: bool
) -> None:
    form = {"game": "go", "options": {"size": 9}, "level": 2}
    with touch(browser):
        show(browser, served, store(served, f"tapped-{spanish}", form, []), spanish)
        browser.wait("return document.querySelectorAll('rect.press').length === 81")
        tap(browser, "rect.press[aria-label=E5]")
        browser.wait("return document.querySelector('.confirm')")
        assert browser.fits()
        assert browser.barriers() == []
        assert browser.find("main").get_attribute("data-ply") == "0"
        tap(browser, "rect.press[aria-label=D4]")
        browser.wait("return document.querySelector('svg.go').dataset.chosen === 'D4'")
        assert len(browser.find_all("svg.go .stone")) == 1
        assert browser.text(".confirm .main") == ("Jugar D4" if spanish else "Play D4")
        tap(browser, ".confirm button:last-child")
        browser.wait("return !document.querySelector('.confirm')")
        assert not browser.find_all("svg.go .stone")
        tap(browser, "rect.press[aria-label=D4]")
        browser.wait("return document.querySelector('.confirm')")
        tap(browser, ".confirm .main")
        browser.wait("return document.querySelector('.moves li')?.textContent === 'D4'")
        browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
        tap(browser, "rect.press[aria-label=A9]")
        browser.wait("return document.querySelector('.confirm')")
        tap(browser, "rect.press[aria-label=A9]")  # a second tap confirms, too
        browser.wait("return document.querySelectorAll('.moves li')[2]?.textContent === 'A9'")


# Chess

CAPTURES = ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5a2", "a1a2", "b8c6"]


@pytest.mark.parametrize("spanish", [False, True])
def test_captured_pieces_and_material_are_shown(
    browser: Browser, served: Served, spanish: bool
) -> None:
    path = store(served, f"captures-{spanish}", {"game": "chess"}, CAPTURES)
    show(browser, served, path, spanish)
    browser.wait("return document.querySelectorAll('.captured').length === 2")
    theirs, ours = browser.find_all(".captured")
    assert (ours.text, theirs.text) == ("♛♟+8", "♟♟")
    assert ours.get_attribute("aria-label") == (
        "capturas: dama 1, peón 1, +8" if spanish else "captured: queen 1, pawn 1, +8"
    )
    assert browser.barriers() == []
    browser.find("[data-step=first]").click()
    browser.wait("return !document.querySelector('.captured')")


def test_promoted_pawn_is_not_captured(browser: Browser, served: Served) -> None:
    form = {"game": "chess", "fen": "8/P6k/8/8/8/8/8/K7 w - - 0 1"}
    show(browser, served, store(served, "promoted", form, ["a7a8q", "h7g7"]))
    browser.wait("return document.querySelector('.captured')")
    assert [each.text for each in browser.find_all(".captured")] == ["+9"]


def test_title_of_the_tab_tells_whose_turn_it_is(browser: Browser, served: Served) -> None:
    for spanish, words in ((False, "Your turn."), (True, "Te toca jugar.")):
        game = served.begin(game="chess", seconds=0.05)
        show(browser, served, f"{served.base}/play/{game}", spanish)
        browser.wait("return document.title.startsWith(arguments[0])", words)
        browser.find("[data-action=resign]").click()
        browser.find("[data-answer=yes]").click()
        browser.wait("return document.querySelector('main').dataset.result")
        assert not browser.driver.title.startswith(words)


@pytest.mark.parametrize("spanish", [False, True])
def test_clock_warns_of_little_time(browser: Browser, served: Served, spanish: bool) -> None:
    game = served.begin(game="chess", base=2000.0)
    show(browser, served, f"{served.base}/play/{game}", spanish)
    browser.wait("return document.querySelectorAll('.clock').length === 2")
    assert not browser.find_all(".clock.low")
    game = served.begin(game="chess", base=9.0)
    show(browser, served, f"{served.base}/play/{game}", spanish)
    browser.wait("return document.querySelectorAll('.clock.low').length === 2")
    words = "Te queda poco tiempo." if spanish else "You have little time left."
    browser.wait(
        "return [...document.querySelectorAll('[role=status]')]"
        ".some((each) => each.textContent === arguments[0])",
        words,
    )
    assert browser.barriers() == []


def test_moves_captures_checks_and_the_end_sound_different(
    browser: Browser, served: Served
) -> None:
    fen = "7k/5ppp/8/8/8/8/p5PP/R6K w - - 0 1"
    game = served.begin(game="chess", fen=fen, seconds=0.05)
    show(browser, served, f"{served.base}/play/{game}")
    browser.wait("return document.querySelector('cg-board piece')")
    browser.run(LISTEN)
    browser.find("#move").send_keys("Rxa2", Keys.ENTER)
    browser.wait("return window.heard.includes(220)")  # a capture
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    browser.run("window.heard.length = 0")
    browser.find("#move").send_keys("h3", Keys.ENTER)
    browser.wait("return window.heard.length >= 1")
    assert browser.run("return window.heard[0]") == 330  # a move
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    browser.find("[data-action=resign]").click()
    browser.find("[data-answer=yes]").click()
    browser.wait("return window.heard.includes(587)")  # the end
    check = browser.run(
        "return import('/static/sounds.js').then((sounds) => sounds.soundOf("
        "{ ply: 0, board: {} }, { ply: 1, board: { check: true, text: ['Qh5+'] } }))"
    )
    assert check == "check"


@pytest.mark.parametrize("spanish", [False, True])
def test_sounds_can_be_switched_off_for_good(
    browser: Browser, served: Served, spanish: bool
) -> None:
    game = served.begin(game="chess", seconds=0.05)
    show(browser, served, f"{served.base}/play/{game}", spanish)
    browser.wait("return document.querySelector('cg-board piece')")
    assert browser.text("label:has([data-switch=sound])") == ("Sonido" if spanish else "Sound")
    browser.find("[data-switch=sound]").click()
    browser.driver.refresh()
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    assert not browser.find("[data-switch=sound]").is_selected()
    browser.run(LISTEN)
    browser.find("#move").send_keys("e4", Keys.ENTER)
    browser.wait("return document.querySelectorAll('.moves li').length >= 2")
    assert browser.run("return window.heard") == []
    assert browser.barriers() == []


# Other games


@pytest.mark.parametrize(
    ("form", "moves", "cells"),
    [
        ({"game": "connect-four"}, "1 2 1 2 1 2 1", [[2, 0], [3, 0], [4, 0], [5, 0]]),
        ({"game": "tic-tac-toe"}, "a1 b1 b2 c1 c3", [[2, 0], [1, 1], [0, 2]]),
    ],
)
def test_winning_line_is_marked(
    browser: Browser, served: Served, form: dict[str, Any], moves: str, cells: list[list[int]]
) -> None:
    show(browser, served, store(served, f"line-{form['game']}", form, moves.split()))
    browser.wait("return document.querySelector('svg.grid .won-line')")
    found = browser.run(
        "return [...document.querySelectorAll('.cell.won')]"
        ".map((each) => [each.getAttribute('y') / 10, each.getAttribute('x') / 10])"
    )
    assert sorted(found) == sorted(cells)
    assert browser.barriers() == []


@pytest.mark.parametrize(
    ("game", "spanish", "expected"),
    [
        ("othello", False, ["discs: 2", "discs: 2"]),
        ("othello", True, ["fichas: 2", "fichas: 2"]),
        ("checkers", False, ["pieces: 12", "pieces: 12"]),
        ("checkers", True, ["fichas: 12", "fichas: 12"]),
    ],
)
def test_discs_and_men_are_counted(
    browser: Browser, served: Served, game: str, spanish: bool, expected: list[str]
) -> None:
    show(browser, served, f"{served.base}/play/{served.begin(game=game)}", spanish)
    browser.wait("return document.querySelector('svg.grid .stone')")
    shown = [each.text.rpartition(" · ")[2] for each in browser.find_all(".player .who")]
    assert shown == expected


ENDS = [
    ("connect-four", {}, "1 2 1 2 1 2 1", "four in a row", "cuatro en línea"),
    ("tic-tac-toe", {}, "a1 b1 b2 c1 c3", "a complete line", "línea completa"),
    ("tic-tac-toe", {}, "a1 b1 c1 b2 a2 c2 b3 a3 c3", "the board is full", "tablero lleno"),
    ("othello", {"size": 4}, None, " discs to ", " fichas a "),
    ("checkers", {}, None, "no moves left", "sin jugadas posibles"),
    ("nim", {}, None, "no counters are left", "no quedan fichas"),
    ("grundy", {}, None, "no pile can be divided", "no quedan montones que dividir"),
    ("pig", {"target": 10}, None, "the target has been reached", "se ha alcanzado la puntuación"),
    ("backgammon", {}, None, "all checkers are borne off", "todas las fichas están fuera"),
    ("go", {"size": 5}, "C3 pass pass", "by points, B+", "por puntos, N+"),
]  # fmt: skip


@pytest.mark.parametrize(("game", "options", "moves", "english", "spanish"), ENDS)
def test_end_of_each_game_has_its_reason_in_both_languages(
    browser: Browser,
    served: Served,
    game: str,
    options: dict[str, Any],
    moves: str | None,
    english: str,
    spanish: str,
) -> None:
    form = {"game": game, "options": options}
    name = f"end-{game}-{english.strip().split()[0]}-{len(moves or '')}"
    path = store(served, name, form, play_out(form) if moves is None else moves.split())
    for language, words, outcomes in (
        (False, english, ("You won", "You lost", "Draw")),
        (True, spanish, ("Has ganado", "Has perdido", "Tablas")),
    ):
        show(browser, served, path, language)
        said = status(browser, words)
        assert any(outcome in said for outcome in outcomes)
        assert browser.barriers() == []


def play_out(form: dict[str, Any]) -> list[str]:
    """Return the moves of a whole game that somebody wins."""
    for seed in range(10):
        board, chance = replay_game(setup_of(form), []), random.Random(seed)
        while not board.too_long and (legal := board.legal_moves()):
            board.play(chance.choice(legal))
        if not board.too_long and board.game.outcome():
            return board.moves
    raise AssertionError("no game with a winner")


ENDINGS = [
    GameResult("1-0", Termination.CHECKMATE),
    GameResult("0-1", Termination.CHECKMATE),
    GameResult("0-1", Termination.RESIGNATION),
    GameResult("1-0", Termination.TIME),
    *(draw(reason) for reason in (
        Termination.STALEMATE, Termination.MATERIAL, Termination.REPETITION,
        Termination.FIFTY_MOVES, Termination.MAX_MOVES,
    )),
    draw(Termination.RULES, "by agreement"),
]  # fmt: skip


def test_every_end_of_a_chess_game_has_its_reason_in_both_languages(
    browser: Browser, served: Served
) -> None:
    english = ["checkmate", "checkmate", "resignation", "out of time", "stalemate",
               "insufficient material", "threefold repetition", "fifty-move rule",
               "move limit reached", "by agreement"]  # fmt: skip
    spanish = ["jaque mate", "jaque mate", "abandono", "tiempo agotado", "rey ahogado",
               "material insuficiente", "triple repetición", "regla de las cincuenta jugadas",
               "límite de jugadas alcanzado", "de común acuerdo"]  # fmt: skip
    for index, (ending, *words) in enumerate(zip(ENDINGS, english, spanish, strict=True)):
        saved = SavedGame(f"chess-end-{index}", "-", GameSetup(), ["e2e4", "e7e5"])
        saved.game_result = ending
        Archive(served.site.database).save(saved)
        for language, reason in zip((False, True), words, strict=True):
            show(browser, served, f"{served.base}/play/{saved.id}", language)
            said = status(browser, reason)
            outcome = {"1-0": ("You won", "Has ganado"), "0-1": ("You lost", "Has perdido")}.get(
                ending.result, ("Draw", "Tablas")
            )[language]
            score = ending.result.replace("1/2", "½")
            assert f"{outcome}: {reason} ({score})." in said
        browser.driver.delete_all_cookies()


# Levels, hints and warnings


@pytest.mark.parametrize("spanish", [False, True])
def test_levels_are_offered_in_every_game(browser: Browser, served: Served, spanish: bool) -> None:
    show_form = f"{served.base}/play"
    browser.open(show_form)
    if spanish:
        browser.run("document.cookie = 'language=es; path=/'")
    for game in ("chess", "go", "othello", "checkers", "connect-four", "backgammon"):
        browser.open(f"{show_form}?game={game}")
        browser.wait("return document.querySelector('#field-level')")
        names = [each.text for each in browser.find_all("#field-level option")]
        assert len(names) == 7
        assert names[0].startswith("principiante absoluto" if spanish else "absolute beginner")
        assert names[-1] == ("fuerza máxima" if spanish else "full strength")
    browser.run("document.getElementById('field-level').value = '0'")
    browser.find("form.start button").click()
    browser.wait("return document.querySelector('main').dataset.turn === 'mine'")
    name = "Kempelen principiante absoluto" if spanish else "Kempelen absolute beginner"
    assert name in browser.text(".left")
    browser.open(show_form)
    browser.wait("return document.querySelector('td')")
    assert name in browser.text("table")


@pytest.mark.parametrize("spanish", [False, True])
def test_hint_explains_itself(browser: Browser, served: Served, spanish: bool) -> None:
    fen = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
    show(browser, served, f"{served.base}/play/{served.begin(game='chess', fen=fen)}", spanish)
    browser.find("[data-action=hint]").click()
    words = "Pista: Ta8#. Es jaque mate." if spanish else "Hint: Ra8#. It is checkmate."
    assert status(browser, words) == words
    game = served.begin(game="chess", fen="6k1/8/8/3q4/8/2N5/8/6K1 w - - 0 1")
    show(browser, served, f"{served.base}/play/{game}", spanish)
    browser.find("[data-action=hint]").click()
    words = "Pista: Cxd5. Captura la dama." if spanish else "Hint: Nxd5. It takes the queen."
    assert status(browser, words).startswith(words)
    game = served.begin(game="chess", fen="6k1/8/8/8/3p4/2N5/8/N5K1 w - - 0 1")
    show(browser, served, f"{served.base}/play/{game}", spanish)
    browser.find("[data-action=hint]").click()
    status(browser, "Salva el caballo de c3." if spanish else "It saves the knight on c3.")


@pytest.mark.parametrize("spanish", [False, True])
def test_games_are_sorted_by_their_names(browser: Browser, served: Served, spanish: bool) -> None:
    browser.open(f"{served.base}/play")
    if spanish:
        browser.run("document.cookie = 'language=es; path=/'")
    ordered = (
        ["Ajedrez", "Damas", "Go", "Othello"] if spanish else ["Checkers", "Chess", "Go", "Othello"]
    )
    for path, selector in (("play", "#field-game"), ("editor", "#game")):
        browser.open(f"{served.base}/{path}")
        browser.wait("return document.querySelector(arguments[0])", selector)
        names = [each.text for each in browser.find_all(f"{selector} option")]
        assert [name for name in names if name in ordered] == ordered
        theme = Select(browser.find("#theme")).first_selected_option.text
        assert theme == ("Tema: automático" if spanish else "Theme: automatic")


@pytest.mark.usefixtures("limited_by_nodes")
@pytest.mark.parametrize("spanish", [False, True])
def test_blunder_is_taken_back_or_played_anyway(
    browser: Browser, served: Served, spanish: bool
) -> None:
    fen = "rnb1kbnr/pppp1ppp/8/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1"
    game = served.begin(game="chess", fen=fen, seconds=0.05)
    show(browser, served, f"{served.base}/play/{game}", spanish)
    assert not browser.find("[data-switch=warn]").is_selected()
    browser.find("[data-switch=warn]").click()
    blunder = "Dxf7" if spanish else "Qxf7"
    for answer in ("take it back", "play anyway"):
        browser.find("#move").send_keys(blunder, Keys.ENTER)
        browser.wait("return document.querySelector('.warning')")
        words = browser.text(".warning")
        assert words == (
            "Dxf7+ parece un error grave: tu rival puede responder Rxf7. Captura la dama."
            if spanish
            else "Qxf7+ looks like a blunder: your opponent can answer Kxf7. It takes the queen."
        )
        assert browser.barriers() == []
        # The move and the answer are drawn on the board.
        browser.wait("return document.querySelectorAll('.cg-shapes line').length === 2")
        assert browser.find("main").get_attribute("data-ply") == "0"
        browser.find(f"[data-answer='{answer}']").click()
        browser.wait("return !document.querySelector('.warning')")
        ply = browser.find("main").get_attribute("data-ply")
        if answer == "take it back":
            assert ply == "0"
            assert len(json.loads(browser.find("main").get_attribute("data-legal") or "[]")) > 20
    browser.wait("return document.querySelector('.moves li')")
    assert browser.text(".moves li") == blunder + "+"
