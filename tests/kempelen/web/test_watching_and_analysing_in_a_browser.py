"""A running tournament, and the analysis page, in a real browser."""

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import SprtSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.adjudication import Adjudication
from kempelen.match.live.live_file import LiveFile, live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.web.site_context import SiteResources
from tests.kempelen.match.support import play, settings
from tests.kempelen.web.support import Served, serving
from tests.waiting import until

pytest.importorskip("selenium")

from tests.browser import Browser

pytestmark = pytest.mark.thorough

SCRIPT = "<script>window.hurt = 1</script>"
IMAGE = "<img src=x onerror='window.hurt = 1'>"
PGN = f"""[Event "{SCRIPT}"]
[White "{IMAGE}"]
[Black "Bob"]

1. e4 {{{SCRIPT}}} e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0
"""
SGF = f"(;GM[1]SZ[5]KM[0.5]PB[{IMAGE}]PW[W]RE[B+3.5]C[{SCRIPT}];B[cc];W[bb];B[];W[dd])"


def player(name: str) -> EngineSettings:
    return EngineSettings("chess", name, protocol=EngineProtocol.AGENT)


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a running match, one game of which is finished.

    It starts after the browser.
    """
    folder = tmp_path_factory.mktemp("match")
    path = str(folder / "run.sqlite")
    chosen = settings(
        player(SCRIPT),
        player(IMAGE),
        games=4,
        time=TimeControl(nodes=150_000, patience=60),
        adjudication=Adjudication(maxmoves=10),
        sprt=SprtSettings(0, 5),
    )
    live = LiveFile(live_file_path(path))
    middle = threading.Event()

    def listen(event: Any) -> None:
        live(event)
        if type(event).__name__ == "GameFinished":
            middle.set()

    runner = threading.Thread(
        target=lambda: asyncio.run(play(chosen, path=path, listeners=[listen]))
    )
    runner.start()
    assert middle.wait(120)
    spectator = LedgerView(path)
    offers = SiteResources(spectators=lambda: [spectator])
    try:
        with serving(folder / "web.sqlite", offers=offers) as server:
            yield server
    finally:
        runner.join()
        live.close()


def check(browser: Browser) -> None:
    """Check for console errors, executed scripts, and accessibility."""
    assert browser.complaints() == []
    assert browser.run("return window.hurt") is None
    assert browser.barriers() == []


def fits(browser: Browser) -> bool:
    """Return whether the page fits on the screen of a phone."""
    with browser.on_a_phone():
        return browser.fits()


def judge(browser: Browser) -> None:
    """Start a review. By script, since the button moves when lines arrive."""
    browser.run("document.querySelector('button.main:not(details *)').click()")


def arrived(path: Path) -> str:
    """Wait for a download and return its text."""
    assert until(lambda: path.exists() and path.stat().st_size), list(path.parent.iterdir())
    return path.read_text(encoding="utf-8")


def test_running_tournament_can_be_watched_to_its_end(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/watch")
    browser.wait("return document.querySelectorAll('.board cg-board piece').length >= 2")
    assert SCRIPT in browser.text("main")
    before = browser.text(".board > p")
    browser.wait("return document.querySelector('.board > p').textContent !== arguments[0]", before)
    browser.wait("return document.querySelector('main ul a')")
    check(browser)
    browser.open(f"{served.base}/watch/1/board/1")
    browser.wait("return document.querySelectorAll('.large cg-board piece').length >= 2")
    box = "return document.querySelector('.large').getBoundingClientRect()"
    assert browser.run(f"{box}.bottom <= innerHeight")
    assert browser.run(f"{box}.width > 0.5 * innerHeight")
    check(browser)
    browser.open(f"{served.base}/watch/1")
    browser.wait("return document.querySelectorAll('ul.games a').length === 4")
    browser.wait("return document.querySelector('main > p').textContent.startsWith('complete')")
    browser.wait("return document.querySelectorAll('.curves').length === 2")
    assert len(browser.find_all("table tbody tr")) == 2
    browser.run("document.querySelector('ul.games a').click()")
    browser.wait("return document.querySelector('.replay cg-board piece')")
    browser.find(".replay .steps button").click()
    assert "Start" in browser.text(".replay p")
    browser.run("document.activeElement.blur()")
    browser.press("\ue014")  # an arrow to the right, wherever the focus is
    first = browser.find_all(".moves button")[0]
    assert first.get_attribute("aria-current") == "step"
    # Numbered from the position after the opening.
    number, _, _ = first.text.partition(".")
    assert f" {number}" in next(iter(served.site.resources.spectators()[0].games.values()))["fen"]
    assert fits(browser)
    check(browser)


def test_chess_game_is_analysed_in_browser(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    browser.wait("return document.querySelector('.cg-shapes line')")
    check(browser)
    browser.run("document.getElementById('sourcing').open = true")
    browser.run("document.getElementById('source').value = arguments[0]", PGN)
    browser.find("details button").click()
    browser.wait("return document.querySelectorAll('.moves button').length === 13")
    assert IMAGE in browser.text("h2")
    browser.run("document.getElementById('nodes').value = 'quick'")
    judge(browser)
    browser.wait("return document.querySelector('.course circle.blunder')")
    browser.wait("return document.querySelector('progress').hidden")
    browser.download_to(tmp_path)
    browser.run("document.querySelector('button.record').focus()")
    browser.press("\ue007")  # Enter
    browser.wait("return document.querySelector('[role=status]').textContent.includes('.pgn')")
    written = arrived(tmp_path / "analysed.pgn")
    assert SCRIPT in " ".join(written.split())
    assert written.count("[%eval") >= 12
    assert "$4" in written
    signs = browser.run("return [...document.querySelectorAll('.sign')].map((e) => e.textContent)")
    assert signs[9] == "??"
    heads, cells = (
        [each.text for each in browser.find_all(f"table {name}")]
        for name in ("thead th", "tbody td")
    )
    assert [head.splitlines()[0] for head in heads[-2:]] == ["ACPL", "accuracy"]
    assert int(cells[-2]) > 100  # Black is mated
    assert 0 < int(cells[-1].removesuffix(" %")) < 90
    browser.find_all(".moves button")[0].click()
    assert browser.text(".comment") == SCRIPT
    browser.find("#move").send_keys("d5\n")
    browser.wait("return document.querySelector('.moves .variation button[aria-current]')")
    assert len(browser.find_all(".moves button")) == 14
    assert fits(browser)
    check(browser)


def test_held_arrow_key_searches_only_some_positions(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    browser.run("document.getElementById('sourcing').open = true")
    browser.run("document.getElementById('source').value = arguments[0]", PGN)
    browser.find("details button").click()
    browser.wait("return document.querySelectorAll('.moves button').length === 13")
    browser.run("""
        window.sent = [];
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {
          window.sent.push(JSON.parse(text));
          send.call(this, text);
        };
        for (let i = 0; i < 12; i += 1)
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    """)
    browser.wait("return window.sent.at(-1)?.ply === 12")
    browser.wait("return document.querySelectorAll('.lines li').length >= 1")
    assert len(browser.run("return window.sent")) <= 2
    check(browser)


def test_go_game_is_analysed_in_spanish_and_dark_theme(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/analyse")
    browser.run("document.cookie = 'language=es; path=/'; document.cookie = 'theme=dark; path=/'")
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length")
    assert "Analizar" in browser.text("main")
    browser.run("document.getElementById('sourcing').open = true")
    browser.run("document.getElementById('source').value = arguments[0]", SGF)
    browser.find("details button").click()
    browser.wait("return document.querySelector('svg.go .own')")
    assert browser.text(".comment") == SCRIPT
    assert browser.text("h2").endswith(" N+3,5")
    judge(browser)
    browser.wait("return document.querySelector('.course circle.blunder')")
    browser.wait("return document.querySelector('progress').hidden")
    browser.press("\ue010")  # End
    browser.wait(r"return /, [+-]\d+,\d$/.test(document.querySelector('.bar').ariaLabel)")
    heads = [each.text for each in browser.find_all("table thead th")]
    assert heads[-2:] == ["pérdida media", "precisión"]
    assert re.fullmatch(r"\d+,\d %", browser.find_all("table tbody td")[4].text)
    check(browser)
    browser.open(f"{served.base}/watch/1")
    browser.wait("return document.querySelectorAll('table tbody tr').length === 2")
    check(browser)


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", "Black won by resignation; White won on time; White won by forfeit; Black won; "
               "B+7.5; Draw; no result; unknown result"),
        ("es", "Ganaron las negras por abandono; Ganaron las blancas por tiempo; "
               "Ganaron las blancas por infracción; Ganaron las negras; N+7,5; Tablas; "
               "sin resultado; resultado desconocido"),
    ],
)  # fmt: skip
def test_results_of_go_are_shown_in_words(
    browser: Browser, served: Served, language: str, shown: str
) -> None:
    players = "X \N{EN DASH} Y"
    results = "B+Resign", "W+T", "W+F", "B+", "B+7.5", "0", "Void", "?"
    browser.open(f"{served.base}/analyse")
    browser.run("document.cookie = `language=${arguments[0]}; path=/`", language)
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length")
    text = "".join(f"(;GM[1]SZ[5]PB[X]PW[Y]RE[{result}];B[cc])" for result in results)
    browser.run("document.getElementById('sourcing').open = true")
    browser.run("document.getElementById('source').value = arguments[0]", text)
    browser.find("details button").click()
    browser.wait("return document.querySelector('#games option')")
    texts = browser.run(
        "return [...document.querySelectorAll('#games option')].map((each) => each.textContent)"
    )
    expected = [f"{i}. {players} · {each}" for i, each in enumerate(shown.split("; "), 1)]
    assert texts == expected
    assert browser.text("h2") == f"{players} · {shown.partition(';')[0]}"


def test_very_long_player_name_can_be_analysed(browser: Browser, served: Served) -> None:
    """The text is longer than a message to the server may be."""
    name = "x" * 70_000
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    script = "document.getElementById('source').value = arguments[0]"
    browser.run("document.getElementById('sourcing').open = true")
    browser.run(script, f'[White "{name}"]\n\n1. e4 e5 *\n')
    browser.find("details button").click()
    browser.wait("return document.querySelectorAll('.moves button').length === 2")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    assert fits(browser)
    browser.find("#move").send_keys("d4\n")
    browser.wait("return document.querySelectorAll('.moves button').length === 3")
    browser.wait("return document.querySelectorAll('.lines li').length === 3")
    assert browser.complaints() == []


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("utf.pgn", "utf-8-sig", '[White "Réti"]\n\n1. e4 *\n'),
        ("old.pgn", "latin-1", '[White "Réti"]\n\n1. e4 *\n'),
        ("new.sgf", "utf-8", "(;GM[1]SZ[5]PB[柯洁];B[cc])"),
        ("old.sgf", "gb18030", "(;GM[1]SZ[5]CA[GB18030]PB[柯洁];B[cc])"),
        ("odd.sgf", "latin-1", "(;GM[1]SZ[5]CA[x-unknown]PB[Réti];B[cc])"),
    ],
)
def test_file_encoding_is_detected(
    browser: Browser, served: Served, tmp_path: Path, name: str, encoding: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    browser.open(f"{served.base}/analyse")
    browser.wait("return document.querySelector('.board-view > *')")
    browser.run("document.getElementById('sourcing').open = true")
    browser.find("#file").send_keys(str(path))
    browser.wait("return document.querySelectorAll('.moves button').length === 1")
    assert browser.text("h2").startswith("柯洁" if "柯" in text else "Réti")


def test_analysis_continues_after_server_restart(browser: Browser, tmp_path: Path) -> None:
    lines = "return document.querySelectorAll('.lines li').length"
    with serving(tmp_path / "web.sqlite") as server:
        browser.open(f"{server.base}/analyse")
        browser.wait(f"{lines} === 3")
    browser.wait("return document.getElementById('connection').textContent")
    browser.run("document.querySelector('.lines').replaceChildren()")
    with serving(tmp_path / "web.sqlite", port=server.port):
        browser.wait(f"{lines} === 3")
        assert not browser.run("return document.getElementById('connection').textContent")
        browser.complaints()  # the rejected connection
        browser.open("about:blank")
