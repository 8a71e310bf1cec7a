"""Tournament tables, brackets and charts in a browser."""

import itertools
import json
import time
from collections.abc import Iterator

import pytest

from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import SprtSettings
from kempelen.match.game.game_result import Termination
from kempelen.match.live.live_file import live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.match.pairing.formats import Format
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.records.game_record import GameRecord, MoveRecord
from kempelen.match.records.ledger import Ledger
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import Served, serving
from tests.kempelen.web.tournaments import chosen, write_ledger

pytest.importorskip("selenium")

from tests.browser import Browser

pytestmark = pytest.mark.thorough

LONG = "A player with a name that no column of a table on a phone would have room for"
NAMES = (LONG, "Ann", "Bob", "<b>Eve</b>", "Zoe")
ITSELF = "\N{EN DASH}"  # in a cross-table
OTHELLO = {
    "moves": ["d3"],
    "position": "\n".join(" ".join(row) for row in [
        "........", "........", "...X....", "...XX...", "...XO...", *["........"] * 3
    ]),
}  # fmt: skip


def write_game_of_king_of_the_hill(path: str) -> str:
    """Write a ledger with a finished game and return its path."""
    kept, match = Ledger(path), chosen("Ann", "Bob", games=2, name="Hill")
    kept.begin(match, resume=False)
    kept.record(
        GameRecord(
            pair=str(due_pairs(match, {})[0].key), game=1, white="Ann", black="Bob",
            fen="7k/8/8/8/8/4K3/8/8 w - - 0 1", opening=(), moves=(MoveRecord("e3e4"),),
            variant="kingofthehill", result="1-0", termination=Termination.RULES,
        )
    )  # fmt: skip
    kept.close()
    return path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a round-robin, a knockout, an SPRT, and matches of other games."""
    folder = tmp_path_factory.mktemp("tournaments")
    othello = GameSettings("othello")
    ledgers = [
        write_ledger(str(folder / "1.sqlite"), chosen(*NAMES, games=2, name="All")),
        write_ledger(
            str(folder / "2.sqlite"), chosen(*NAMES, games=2, name="Cup", format=Format.KNOCKOUT)
        ),
        write_ledger(
            str(folder / "3.sqlite"),
            chosen("New", "Old", games=400, name="Test", sprt=SprtSettings(0, 10)),
            games=60,
        ),
        write_ledger(
            str(folder / "4.sqlite"),
            chosen("Ann", "Bob", games=20, name="Othello", game=othello),
            moves=("d3", "c3", "c4"),
            games=2,
        ),
        write_game_of_king_of_the_hill(str(folder / "5.sqlite")),
    ]
    spectators = [LedgerView(path) for path in ledgers]
    with serving(
        folder / "web.sqlite", offers=SiteResources(spectators=lambda: spectators)
    ) as server:
        yield server


def check(browser: Browser, language: str = "en") -> None:
    """Check for console errors, accessibility, and the width of a phone."""
    assert browser.run("return document.documentElement.lang") == language
    assert browser.complaints() == []
    assert browser.barriers() == []
    with browser.on_a_phone():
        assert browser.fits()
        assert browser.barriers() == []


def section(browser: Browser, heading: str) -> list[list[str]]:
    """Return the texts of a table by its heading, row by row."""
    found: list[list[str]] = browser.wait(
        "const heading = [...document.querySelectorAll('h2')].find((each) => "
        "each.textContent === arguments[0]); const table = heading?.parentElement;"
        "return table && [...table.querySelectorAll('tr')].map((row) => "
        "[...row.children].map((cell) => cell.textContent))",
        heading,
    )
    return found


def test_round_robin_page_shows_cross_table(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/watch/1")
    heads, *rows = section(browser, "Cross-table")
    assert heads == ["", *(f"{place}{name}" for place, name in enumerate(NAMES, 1))]
    assert [row[0] for row in rows] == [f"{n}. {name}" for n, name in enumerate(NAMES, 1)]
    for one in range(5):
        assert rows[one][one + 1] == ITSELF
        for other in range(one):
            # The result of two games of two players.
            assert float(rows[one][other + 1]) + float(rows[other][one + 1]) == 2
    standings = section(browser, "Standings")[1:]
    points = {row[1]: float(row[4]) for row in standings}
    for name, row in zip(NAMES, rows, strict=True):
        assert points[name] == sum(float(cell) for cell in row[1:] if cell != ITSELF)
    assert [points[row[1]] for row in standings] == sorted(points.values(), reverse=True)
    check(browser)


def test_knockout_page_shows_bracket(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/watch/2")
    rounds = browser.wait(
        "const rounds = [...document.querySelectorAll('.bracket ol')].map((round) => "
        "[...round.children].map((match) => [...match.children].map((player) => "
        "[player.textContent, player.className])));"
        "return rounds.length && rounds"
    )
    assert [len(matches) for matches in rounds] == [4, 2, 1]
    assert sum(second[0] == "(bye)" for _, second in rounds[0]) == 3
    # The winner of a match plays in the next round; the last one wins the knockout.
    for matches, later in itertools.pairwise(rounds):
        winners = [name for match in matches for name, kind in match if kind == "won"]
        assert len(winners) == len(matches)
        for winner, (player, _) in zip(winners, (each for m in later for each in m), strict=True):
            assert player.rpartition(" ")[0] in winner
            assert winner.startswith(player.rpartition(" ")[0])
    (last,) = [name for name, kind in rounds[-1][0] if kind == "won"]
    assert f"Winner: {last.rpartition(' ')[0]}" in browser.text("main")
    assert browser.find(".bracket ol").get_attribute("aria-label") == "Round 1"
    check(browser)


def test_sprt_page_shows_curves(browser: Browser, served: Served) -> None:
    browser.open(f"{served.base}/watch/3")
    browser.wait("return document.querySelectorAll('.curves').length === 2")
    elo, ratio = browser.find_all(".curves")
    assert (elo.get_attribute("aria-label") or "").endswith("for New")
    points = browser.run(
        "return [...document.querySelectorAll('.curves polyline.line')]"
        ".map((line) => line.getAttribute('points').split(' ').length)"
    )
    assert points == [60, 60]
    names = browser.run(
        "return [...arguments[0].querySelectorAll('text')].map(t => t.textContent)", ratio
    )
    assert names == ["0", "-2.94", "2.94", "60", "0"]
    steps = browser.run(
        "return [...arguments[0].querySelectorAll('text')].map(t => t.textContent)", elo
    )
    values = [float(each) for each in steps[:-2]]
    assert len(values) >= 2
    assert 0 in values
    gaps = {later - earlier for earlier, later in itertools.pairwise(values)}
    assert len(gaps) == 1
    assert "SPRT: " in browser.text("main")
    assert browser.find_all(".curves .band") != []
    check(browser)


def test_othello_page_works_in_spanish_and_dark_theme(browser: Browser, served: Served) -> None:
    """Live and in replays, with the reasons for the results."""
    ledger = served.site.resources.spectators()[3]
    place = live_file_path(ledger._path)  # type: ignore[attr-defined]
    board = {
        "board": 1, "pair": "1.1-2.2", "game": 1, "white": "Ann", "black": "Bob", "fen": "",
        **OTHELLO, "white_clock": 5.0, "black_clock": 6.0, "last": "d3", "result": "",
        "termination": "", "turn": "black",
    }  # fmt: skip
    status = {"name": "Othello", "state": "running", "played": 2, "game": {"name": "othello"}}
    browser.open(f"{served.base}/watch/4")
    browser.run("document.cookie = 'language=es; path=/'; document.cookie = 'theme=dark; path=/'")
    try:
        snapshots = {"status": status, "boards/1": board}
        place.write_text(json.dumps({"time": time.time(), "snapshots": snapshots}), "utf-8")
        browser.open(f"{served.base}/watch/4")
        browser.wait("return document.querySelectorAll('.board svg.grid .stone').length === 5")
        assert browser.find_all(".board pre") == []
        label = browser.run("return document.querySelector('.board svg.grid').ariaLabel")
        assert "...X...." in label
        assert len(browser.find_all(".board .stone.white")) == 1
        assert "Negras" in browser.run("return document.querySelector('.side').textContent")
        # The page shows the side to move: Black moves again.
        turn = "return [...document.querySelectorAll('.side.turn')].map((each) => each.textContent)"
        (text,) = browser.run(turn)
        assert "Negras" in text
        check(browser, "es")
        game = browser.find("ul.games li")
        assert "triple repetición" in game.text or "tiempo agotado" in game.text
        browser.run("document.querySelector('ul.games a').click()")
        browser.wait("return document.querySelectorAll('.replay svg.grid .stone').length === 7")
        browser.find(".replay .steps button").click()
        assert len(browser.find_all(".replay svg.grid .stone")) == 4
        browser.press("\ue014")  # an arrow to the right
        assert len(browser.find_all(".replay .cell.played")) == 1
        check(browser, "es")
    finally:
        place.unlink(missing_ok=True)
        browser.driver.delete_all_cookies()


@pytest.mark.parametrize(
    ("language", "reason"),
    [("en", "a king reached the centre"), ("es", "un rey ha llegado al centro")],
)
def test_end_of_a_game_of_a_variant_is_explained(
    browser: Browser, served: Served, language: str, reason: str
) -> None:
    browser.open(f"{served.base}/watch")
    browser.run("document.cookie = `language=${arguments[0]}; path=/`", language)
    try:
        browser.open(f"{served.base}/watch/5")
        browser.wait("return document.querySelector('ul.games li')")
        assert reason in browser.text("ul.games li")
        check(browser, language)
    finally:
        browser.driver.delete_all_cookies()
