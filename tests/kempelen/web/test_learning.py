"""Pages of the lab are served in a sandbox."""

import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.search.catalogue import algorithms
from kempelen.lab import step_pages
from kempelen.web.learn.page import MAX_WAITING, SANDBOX_POLICY
from kempelen.web.site_context import SiteResources
from tests.kempelen.web.support import serving

PAGE = "<title>Alpha &amp; beta</title><script>document.title = 'drawn ' + origin</script>"


def test_only_html_pages_in_lessons_folder_are_served(tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "steps.html").write_text(PAGE)
    (folder / "notes.txt").write_text("secret")
    (tmp_path / "other.html").write_text("secret")
    (folder / "odd name.html").write_text("secret")
    with serving(tmp_path / "web.sqlite", offers=SiteResources(lessons=folder)) as served:
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


def test_step_page_accepts_only_offered_choices(tmp_path: Path) -> None:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    form = "game=tic-tac-toe&algorithm=alpha-beta&depth=2&language=es"
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        choices = json.loads(served.ask("GET", "/lessons/choices")[2])
        games, remarks = choices["games"], choices["remarks"]
        assert "fail-hard" in remarks["en"]["alpha-beta-hard"]
        assert remarks["es"]["mcts"].strip() == "mcts: otro nombre de uct"
        assert "alpha-beta" in games["nim"]
        assert "alpha-beta" not in games["pig"]
        status, headers, text = served.ask("POST", "/lessons/steps", form.encode())
        assert status == 200
        assert "<title>alpha-beta: tic-tac-toe</title>" in text
        assert '<html lang="es">' in text
        (policy,) = headers.get_all("Content-Security-Policy") or ()
        assert policy == SANDBOX_POLICY
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


def shown_steps(text: str) -> dict[str, Any]:
    """Return the data of a page of steps."""
    data = text.partition('id="data">')[2].partition("</script>")[0]
    steps_data: dict[str, Any] = json.loads(data)
    return steps_data


def asked(**form: str) -> bytes:
    usual = {"game": "tree", "algorithm": "b-star", "depth": "3", "language": "en"}
    return urlencode(usual | form).encode()


def test_visitor_tree_is_searched_to_its_leaves() -> None:
    """Also if it is deeper than the tree that is shown first."""
    form = {"game": "tree", "algorithm": "negascout-1", "tree": "[[[[[[3, 5]], 9]]], -1]"}
    recording = shown_steps(step_pages.render_page(form))["recording"]
    last = recording["steps"][-1]["said"][-1]
    assert last == ["ends", {"node": 1}, "3"]


@pytest.mark.thorough
def test_visitor_tree_is_searched_by_every_algorithm(tmp_path: Path) -> None:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    tree = "[{name: N2, bounds: [1, 4], children: [5, 0.123456]}, [2, [7, -3]]]"
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        known = json.loads(served.ask("GET", "/lessons/choices")[2])
        assert known["tree"] == ["tree", step_pages.MAX_TEXT_LENGTH]
        for algorithm in known["games"]["tree"]:
            body = asked(tree=tree, algorithm=algorithm)
            status, _, text = served.ask("POST", "/lessons/steps", body)
            assert status == 200
            steps_data = shown_steps(text)
            assert steps_data["served"] is True
            assert steps_data["recording"]["steps"]
            # The tree can be edited on the page, with its names and bounds.
            assert steps_data["recording"]["given"] == {
                "children": [
                    {"name": "N2", "lower": 1, "upper": 4,
                     "children": [{"value": 5}, {"value": 0.123456}]},
                    {"children": [{"value": 2}, {"children": [{"value": 7}, {"value": -3}]}]},
                ]
            }  # fmt: skip
        # The default is the tree of the lecture notes; both are searched to their leaves.
        status, _, text = served.ask("POST", "/lessons/steps", asked(algorithm="alpha-beta"))
        assert shown_steps(text)["recording"]["steps"][-2]["said"][0] == [
            "return",
            {"node": 0},
            "11",
        ]


NESTED = "[" * 45 + "1" + "]" * 45


@pytest.mark.parametrize(
    ("tree", "english", "spanish"),
    [
        ("[[3, 5], [2", "tree: invalid YAML: expected ',' or ']'", "árbol: YAML no válido"),
        ("[[3, x]]", "tree: 1.2: invalid node 'x'", "árbol: 1.2: nodo no válido: 'x'"),
        ("[]", "tree: root: empty list", "árbol: la raíz: lista vacía"),
        (
            "[3, 1" + "0" * 30 + "]",
            "tree: 2: value is too large (at most 9007199254740992",
            "árbol: 2: el valor es demasiado grande (como mucho 9007199254740992",
        ),
        (
            "[{bounds: [0, 1" + "0" * 400 + "], children: [1]}]",
            "tree: 1: bound is too large",
            "árbol: 1: la cota es demasiado grande",
        ),
        (
            f"[{', '.join(['1'] * 2000)}]",
            "tree: too many nodes (at most 2000)",
            "árbol: demasiados nodos (como mucho 2000)",
        ),
        (
            "[&a [1, 1, 1, 1, 1, 1], &b [*a, *a, *a, *a, *a, *a], &c [*b, *b, *b, *b, *b, *b], "
            "[*c, *c, *c, *c, *c, *c, *c, *c]]",
            "tree: too many nodes (at most 2000)",
            "árbol: demasiados nodos (como mucho 2000)",
        ),
        (NESTED, "too many levels below the root (at most 40", "demasiados niveles bajo la"),
        ("[" * 9999, "tree: invalid YAML: nested too deeply", "árbol: YAML no válido"),
        ("&a [1, *a]", "tree: invalid YAML: recursive", "árbol: YAML no válido"),
        ("1" * 20_001, "tree: too long (at most 20000 characters)", "como mucho 20000 caracteres"),
    ],
)
def test_invalid_or_oversized_tree_error_is_translated(
    tree: str, english: str, spanish: str
) -> None:
    form = {"game": "tree", "algorithm": "alpha-beta", "tree": tree}
    for language, wanted in (("en", english), ("es", spanish)):
        with pytest.raises(ValueError, match=r"árbol|tree") as refused:
            step_pages.render_page(form | {"language": language})
        assert wanted in str(refused.value)


TREES = st.recursive(
    st.one_of(st.integers(), st.floats(), st.text(max_size=3), st.none(), st.booleans()),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "bounds", "value", "children", "x"]), below, max_size=4
        )
    ),
    max_leaves=9,
)


@given(TREES, st.sampled_from(list(algorithms())))
def test_any_tree_is_searched_or_rejected(tree: object, algorithm: str) -> None:
    form = {"game": "tree", "algorithm": algorithm, "tree": yaml.safe_dump(tree)}
    with contextlib.suppress(ValueError):
        assert step_pages.render_page(form)


def test_step_page_errors_are_translated_to_spanish(tmp_path: Path) -> None:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        for form, wanted in (
            ({"game": "x"}, "juego o algoritmo desconocido"),
            ({"game": "pig", "algorithm": "alpha-beta"}, "alpha-beta: no admite pig"),
            (
                {"game": "nim", "algorithm": "minimax", "depth": "9"},
                "profundidad: debe estar entre 1 y 5",
            ),
        ):
            status, headers, text = served.ask(
                "POST", "/lessons/steps", asked(language="es", **form), Accept="text/html"
            )
            assert (status, text) == (400, f"{wanted}\n")
            assert headers["Content-Type"] == "text/plain; charset=utf-8"


def test_pending_step_page_requests_are_limited(tmp_path: Path) -> None:
    free = threading.Event()
    offers = SiteResources(steps=lambda asked: "made" if free.wait(60) else "")
    with (
        serving(tmp_path / "web.sqlite", offers=offers) as served,
        ThreadPoolExecutor(MAX_WAITING + 1) as pool,
    ):
        asked = [
            pool.submit(served.ask, "POST", "/lessons/steps", b"", Cookie="language=es")
            for _ in range(MAX_WAITING + 1)
        ]
        refused = next(as_completed(asked, 60)).result()
        free.set()
        assert (refused[0], "vuelve a intentarlo" in refused[2]) == (503, True)
        assert sorted(each.result()[0] for each in asked) == [200] * MAX_WAITING + [503]


def test_no_lessons_are_offered_by_default(tmp_path: Path) -> None:
    with serving(tmp_path / "web.sqlite") as served:
        assert served.ask("GET", "/lessons")[2] == "[]"
        assert served.ask("GET", "/lessons/steps.html")[0] == 404
        assert served.ask("GET", "/lessons/choices")[2] == "{}"
        assert served.ask("POST", "/lessons/steps", b"game=nim")[0] == 404
        assert "/static/learn.js" in served.ask("GET", "/learn")[2]


@pytest.mark.thorough
def test_lesson_scripts_run_with_null_origin(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "steps.html").write_text(PAGE)
    offers = SiteResources(lessons=tmp_path)
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        browser.open(f"{served.base}/learn")
        browser.wait("return document.querySelector('main li a')")
        browser.find("main li a").click()
        browser.wait("return document.querySelector('main iframe')")
        browser.driver.switch_to.frame(browser.find("main iframe"))
        title = browser.wait("return document.title.startsWith('drawn') && document.title")
        browser.driver.switch_to.default_content()
        assert title == "drawn null"


@pytest.mark.thorough
def test_exercise_answer_is_checked_in_browser(browser: Any, tmp_path: Path) -> None:
    from kempelen.lab import language
    from kempelen.lab.exercises import page
    from kempelen.lab.exercises.exercise import ExerciseSpec
    from kempelen.lab.exercises.generator import make_exercise

    made = make_exercise(ExerciseSpec("values"))
    page.write_page(tmp_path / "exercise.html", [made], language.translator("en"), "en", "Ada")
    offers = SiteResources(lessons=tmp_path)
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        browser.open(f"{served.base}/lessons/exercise.html")
        browser.wait("return document.querySelector('#answer')")
        browser.run("document.querySelector('#answer').value = arguments[0]", made.key_text())
        browser.find("#check").click()
        assert browser.wait("return document.querySelector('#feedback').textContent") == "correct"


STEPS = "return globalThis.Kempelen && Kempelen.stepPage.replay.length"


@pytest.mark.thorough
def test_search_steps_are_shown_in_browser(browser: Any, tmp_path: Path) -> None:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        browser.open(f"{served.base}/learn")
        browser.wait("return document.querySelector('main form button')")
        assert not browser.find("iframe").is_displayed()
        assert not browser.find("#tree").is_displayed()
        browser.run("""const game = document.getElementById("game"); game.value = "nim";
            game.dispatchEvent(new Event("change"));""")
        assert browser.find("#algorithm").get_property("value") == "alpha-beta"  # unchanged
        browser.find("main form button").click()
        browser.driver.switch_to.frame("steps")
        assert browser.wait(STEPS) > 10
        assert not browser.complaints()


@pytest.mark.thorough
def test_visitor_tree_is_edited_and_searched_in_browser(browser: Any, tmp_path: Path) -> None:
    offers = SiteResources(choices=step_pages.choices, steps=step_pages.render_page)
    with serving(tmp_path / "web.sqlite", offers=offers) as served:
        browser.open(f"{served.base}/learn")
        browser.wait("return document.querySelector('main form button')")
        choose = """for (const [id, value] of Object.entries(arguments[0])) {
            const field = document.getElementById(id);
            field.value = value;
            field.dispatchEvent(new Event("change"));
        }"""
        browser.run(choose, {"game": "tree"})
        browser.run(choose, {"algorithm": "b-star", "tree": "[[3, 12], {name: N9, children: [2]}]"})
        assert browser.find("#tree").is_displayed()
        assert not browser.find("#depth").is_displayed()
        browser.find("main form button").click()
        browser.driver.switch_to.frame("steps")
        nodes = "return globalThis.Kempelen && Kempelen.stepPage?.recording.nodes"
        wanted = f"{nodes}.map((node) => node.known ?? node.name ?? '').join(' ') === arguments[0]"
        browser.wait(wanted, "  N9 3 12 2")
        own = browser.find(".own textarea").get_property("value")
        assert own == '[[3, 12], {name: "N9", children: [2]}]\n'
        assert browser.text(".own p") == ""
        browser.find_all(".own [data-does='add a child']")[-1].click()  # adds a child to the 2
        browser.find("[data-does='search this tree']").click()
        browser.wait(wanted, "  N9 3 12  2")
        assert browser.run("return Kempelen.stepPage.recording.algorithm") == "b-star"
        browser.driver.switch_to.default_content()
        typed = browser.find("#tree").get_property("value")
        assert typed == '[[3, 12], {name: "N9", children: [[2]]}]\n'
        assert not browser.complaints()
        browser.run(choose, {"tree": "[[3, x]]"})
        browser.find("main form button").click()
        browser.driver.switch_to.frame("steps")
        browser.wait("return document.body.innerText.includes(\"1.2: invalid node 'x'\")")
        browser.complaints()  # the HTTP error status


@pytest.mark.thorough
def test_standalone_step_page_shows_command_line(browser: Any, tmp_path: Path) -> None:
    text = step_pages.render_page({"game": "tree", "algorithm": "scout"})
    page = tmp_path / "alone.html"
    page.write_text(text.replace('"served":true', '"served":false'), encoding="utf-8")
    browser.open(page)
    assert not browser.find("[data-does='search this tree']").is_displayed()
    command = "kempelen lab step --tree tree.yaml --algorithm scout -o steps.html"
    assert command in browser.text(".own p")
