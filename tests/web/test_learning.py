"""Pages of the lab are shown in a box of their own."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest

from kempelen import web_steps
from tests.web.support import serving
from web.learn.page import MOST_WAITING, POLICY
from web.site import Offers

PAGE = "<title>Alpha &amp; beta</title><script>document.title = 'drawn ' + origin</script>"


def test_pages_of_the_folder_and_of_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "steps.html").write_text(PAGE)
    (folder / "notes.txt").write_text("secret")
    (tmp_path / "other.html").write_text("secret")
    (folder / "odd name.html").write_text("secret")
    with serving(tmp_path / "web.sqlite", offers=Offers(lessons=folder)) as served:
        listed = json.loads(served.ask("GET", "/lessons")[2])
        assert listed == [{"name": "steps.html", "title": "Alpha & beta"}]
        status, headers, text = served.ask("GET", "/lessons/steps.html")
        assert (status, text) == (200, PAGE)
        (policy,) = headers.get_all("Content-Security-Policy") or ()
        assert policy.startswith("sandbox allow-scripts allow-forms allow-downloads; default-src")
        assert "form-action 'none'" in policy
        assert "allow-same-origin" not in policy
        for name in ("notes.txt", "..%2fother.html", "odd%20name.html", "missing.html", ".html"):
            assert served.ask("GET", f"/lessons/{name}")[0] == 404


def test_a_page_of_steps_is_made_of_what_is_offered_alone(tmp_path: Path) -> None:
    offers = Offers(choices=web_steps.choices, steps=web_steps.page)
    form = "game=tic-tac-toe&algorithm=alpha-beta&depth=2&language=es"
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        games = json.loads(served.ask("GET", "/lessons/choices")[2])["games"]
        assert "alpha-beta" in games["nim"]
        assert "alpha-beta" not in games["pig"]
        status, headers, text = served.ask("POST", "/lessons/steps", form.encode())
        assert status == 200
        assert "<title>alpha-beta: tic-tac-toe</title>" in text
        assert '<html lang="es">' in text
        (policy,) = headers.get_all("Content-Security-Policy") or ()
        assert policy == POLICY
        for known, other in (
            ("alpha-beta", "alpha-beta%2Btable"), ("alpha-beta", "alphazero%2Bnetwork=x"),
            ("tic-tac-toe", "x.py:Game"), ("tic-tac-toe", "pig"), ("depth=2", "depth=99"),
        ):  # fmt: skip
            asked = form.replace(known, other).encode()
            assert served.ask("POST", "/lessons/steps", asked)[0] == 400
        assert served.ask("POST", "/lessons/steps", b"a=1&" * 20)[0] == 400
        elsewhere = {"Origin": "https://stranger.example"}
        assert served.ask("POST", "/lessons/steps", form.encode(), **elsewhere)[0] == 403
        assert served.ask("GET", "/lessons/steps")[0] == 404


def test_no_more_wait_for_pages_of_steps_than_a_few(tmp_path: Path) -> None:
    free = threading.Event()
    offers = Offers(steps=lambda asked: "made" if free.wait(60) else "")
    with (
        serving(tmp_path / "web.sqlite", offers=offers) as served,
        ThreadPoolExecutor(MOST_WAITING + 1) as pool,
    ):
        asked = [
            pool.submit(served.ask, "POST", "/lessons/steps", b"") for _ in range(MOST_WAITING + 1)
        ]
        refused = next(as_completed(asked, 60)).result()
        free.set()
        assert (refused[0], "try again" in refused[2]) == (503, True)
        assert sorted(each.result()[0] for each in asked) == [200] * MOST_WAITING + [503]


def test_without_a_folder_there_are_none(tmp_path: Path) -> None:
    with serving(tmp_path / "web.sqlite") as served:
        assert served.ask("GET", "/lessons")[2] == "[]"
        assert served.ask("GET", "/lessons/steps.html")[0] == 404
        assert served.ask("GET", "/lessons/choices")[2] == "{}"
        assert served.ask("POST", "/lessons/steps", b"game=nim")[0] == 404
        assert "/static/learn.js" in served.ask("GET", "/learn")[2]


@pytest.mark.thorough
def test_its_scripts_run_with_nobody_s_origin(tmp_path: Path) -> None:
    from tests.browser import started

    (tmp_path / "steps.html").write_text(PAGE)
    offers = Offers(lessons=tmp_path)
    with serving(tmp_path / "web.sqlite", offers=offers) as served, started(tmp_path) as browser:
        browser.open(f"{served.base}/learn")
        browser.wait("return document.querySelector('main li a')")
        browser.find("main li a").click()
        assert browser.wait("return document.title.startsWith('drawn') && document.title") == (
            "drawn null"
        )


@pytest.mark.thorough
def test_exercises_are_answered_there(tmp_path: Path) -> None:
    from kempelen.lab import exercise_page, words
    from kempelen.lab.exercise_kinds import Origin
    from kempelen.lab.exercise_making import exercise
    from tests.browser import started

    made = exercise(Origin("values"))
    exercise_page.write(tmp_path / "exercise.html", [made], words.language("en"), "en", "Ada")
    offers = Offers(lessons=tmp_path)
    with serving(tmp_path / "web.sqlite", offers=offers) as served, started(tmp_path) as browser:
        browser.open(f"{served.base}/lessons/exercise.html")
        browser.wait("return document.querySelector('#answer')")
        browser.run("document.querySelector('#answer').value = arguments[0]", made.written_key())
        browser.find("#check").click()
        assert browser.wait("return document.querySelector('#feedback').textContent") == "right"


@pytest.mark.thorough
def test_steps_are_shown_there(tmp_path: Path) -> None:
    from tests.browser import started

    offers = Offers(choices=web_steps.choices, steps=web_steps.page)
    with serving(tmp_path / "web.sqlite", offers=offers) as served, started(tmp_path) as browser:
        browser.open(f"{served.base}/learn")
        browser.wait("return document.querySelector('main form button')")
        browser.find("main form button").click()
        assert browser.wait("return globalThis.Kempelen && Kempelen.stepPage.replay.length") > 10
        assert not browser.complaints()
