"""Test `kempelen lab step`: the page in a browser, and the terminal."""

import json
import re
from pathlib import Path

import pytest

from agent.games import catalogue
from agent.games.tree import Tree, evaluate, parse_tree, read_tree
from agent.search import algorithm_spec
from agent.search.catalogue import algorithms
from kempelen.lab import step, terminal_replay
from kempelen.lab.problems import SearchProblem
from kempelen.lab.recordings.record_search import record_search
from kempelen.lab.recordings.recording import Replay
from tests.browser import Browser
from tests.kempelen.lab.test_recording import recorded
from tests.kempelen.lab.test_spanish import assert_spanish

# The state after n steps forward and m back equals that after n - m forward, and Python's replay.
BACK_AND_FORTH = """
const page = Kempelen.stepPage, replay = page.replay;
const states = [replay.state()];
const go = (step) => { if (step % 16) replay.go(step); else { page.go(step); page.view.draw(); } };
for (let step = 1; step <= replay.length; step += 1) { go(step); states.push(replay.state()); }
page.show();
page.view.draw();
const end = JSON.stringify([...replay.fields].filter(([, known]) => Object.keys(known).length));
const wrong = [];
for (let step = replay.length; step >= 0; step -= 1) {
  go(step);
  if (replay.state() !== states[step]) wrong.push(step);
}
const fresh = new Kempelen.Replay(page.recording);
for (const [n, m] of [[replay.length, 3], [replay.length >> 1, 1], [7, 5]]) {
  const forward = Math.min(n, replay.length), back = Math.min(m, forward);
  fresh.go(0); fresh.go(forward);
  for (let step = 0; step < back; step += 1) fresh.back();
  if (fresh.state() !== states[forward - back]) wrong.push([n, m]);
}
return {wrong, length: replay.length, end, drawn: page.view.drawn, said: page.said.textContent};
"""


def opened(browser: Browser, folder: Path, recording, language="en") -> None:
    page = folder / "page.html"
    page.write_text(step.render_page(recording, language), encoding="utf-8")
    browser.open(page)


def check(browser, tmp_path, recording, language="en"):
    opened(browser, tmp_path, recording, language)
    told = browser.run(BACK_AND_FORTH)
    assert told["wrong"] == []
    assert told["length"] == len(recording.steps)
    assert told["drawn"] > 0
    replay = Replay(recording)
    replay.seek(len(recording.steps))
    fields = {node: known for node, known in replay.fields.items() if known}
    assert dict(json.loads(told["end"])) == fields
    assert browser.complaints() == []


def test_page_is_navigated_by_keyboard(browser, tmp_path):
    """A quick test of a reader who uses the keyboard only."""
    at = SearchProblem("tree", Tree([[3, 12], [2, 4], [1, 8, 7]]), lambda game: 0, 9)
    recording = record_search(at, algorithm_spec.parse("alpha-beta"))
    check(browser, tmp_path, recording)
    opened(browser, tmp_path, recording)
    at = "return Kempelen.stepPage.replay.at"
    right, left, home, end = "\ue014", "\ue012", "\ue011", "\ue010"
    browser.press(right, right, right, left)
    assert browser.run(at) == 2
    browser.press("c")
    assert browser.run("return Kempelen.stepPage.replay.step.kind") == "cut"
    assert "Cut-off at" in browser.text(".said")
    assert "α ≥ β" in browser.text(".code .lit")
    browser.press("v")
    assert browser.run("return Kempelen.stepPage.replay.step.turns") is True
    browser.press(end)
    assert browser.run(at) == len(recording.steps)
    browser.press(home)
    assert browser.run(at) == 0
    browser.find("[data-does=end]").click()
    assert browser.run(at) == len(recording.steps)
    browser.find("[data-does=start]").click()
    assert browser.run(at) == 0
    browser.press("\ue004", "\ue004")  # to the next control by keyboard
    assert browser.run("return document.activeElement.tagName") in ("BUTTON", "INPUT", "SELECT")
    browser.run("document.activeElement.blur(); Kempelen.stepPage.speed.value = 10")
    browser.press(" ")
    browser.wait(f"return Kempelen.stepPage.replay.at === {len(recording.steps)}")
    browser.wait("return Kempelen.stepPage.timer === null")
    assert browser.complaints() == []


@pytest.mark.thorough
def test_page_language_can_be_switched(browser, tmp_path):
    opened(browser, tmp_path, recorded("pig", "expectiminimax"), "es")
    browser.run("Kempelen.stepPage.go(20)")
    assert browser.run("return document.documentElement.lang") == "es"
    text = "return document.body.innerText"
    assert_spanish(
        re.sub("kempelen lab step .*|expectiminimax|English|pig|YAML", "", browser.run(text))
    )
    browser.run("""const pick = Kempelen.stepPage.pick; pick.value = "en";
                pick.dispatchEvent(new Event("change"));""")
    assert "pseudo-code" in browser.run(text)
    assert "return best" in browser.run(text)
    assert browser.complaints() == []


@pytest.mark.thorough
def test_tree_edited_in_the_page_can_be_loaded(browser, tmp_path, lab):
    opened(browser, tmp_path, recorded("go", "alpha-beta", most=10))
    own = ".own "
    browser.find(own + "li [data-does='add a child']").click()  # of the first: 3, 5, 0
    for field, number, value in (
        ("name", 1, "N2"), ("lower bound", 1, 1), ("upper bound", 1, 4), ("value", -1, 7),
    ):  # fmt: skip
        browser.run(
            """const wanted = `.own input[placeholder="${arguments[0]}"]`;
            const found = [...document.querySelectorAll(wanted)];
            const input = found.at(arguments[1]);
            input.value = arguments[2];
            input.dispatchEvent(new Event("change"));""",
            field, number, value,
        )  # fmt: skip
    browser.find_all(own + "[data-does=remove]")[1].click()  # the first child of the first
    text = browser.run("return Kempelen.stepPage.own.text.value")
    file = tmp_path / "own.yaml"
    file.write_text(text)
    tree = read_tree(file)
    assert tree.root == [[5, 0], [2, 7]]
    assert [(path, note.name, note.bounds) for path, note in tree.notes.items()] == [
        ((1,), "N2", (1, 4))
    ]
    assert lab("step", "--tree", file, "--algorithm", "b-star", "--text")[0] == 0
    assert browser.complaints() == []


@pytest.mark.thorough
def test_clicks_fold_nodes_and_hide_boards(browser, tmp_path):
    recording = recorded("tic-tac-toe", "minimax", most=400)
    opened(browser, tmp_path, recording)
    browser.run("Kempelen.stepPage.go(1e6); Kempelen.stepPage.view.fit()")
    width = browser.run("return Kempelen.stepPage.view.width")
    browser.run("""const view = Kempelen.stepPage.view, box = view.canvas.getBoundingClientRect();
        const [x, y] = view.at(1), at = {clientX: box.left + x, clientY: box.top + y, pointerId: 1};
        view.canvas.setPointerCapture = () => {};
        view.canvas.dispatchEvent(new PointerEvent("pointerdown", at));
        view.canvas.dispatchEvent(new PointerEvent("pointerup", at));""")
    assert browser.run("return [...Kempelen.stepPage.view.folded]") == [1]
    assert browser.run("return Kempelen.stepPage.view.width") < width
    browser.find("[data-does='unfold all']").click()
    assert browser.run("return Kempelen.stepPage.view.width") == width
    browser.find("[data-does=boards]").click()
    assert browser.run("return Kempelen.stepPage.view.boards") is False
    assert browser.complaints() == []


@pytest.mark.thorough
@pytest.mark.parametrize("game", catalogue.builtin_names())
def test_every_algorithm_is_replayed_on_every_game(browser, tmp_path, game):
    for number, name in enumerate(algorithms()):
        recording = recorded(game, name, most=40)
        if recording is not None:
            check(browser, tmp_path, recording, "en" if number % 2 else "es")


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "depth"), [("minimax", 4), ("sss-star", 5)])
def test_page_draws_only_visible_nodes_of_a_large_tree(browser, tmp_path, name, depth):
    """A frame draws only what fits on the screen, whatever the view."""
    kind = catalogue.find("random-tree")
    at = SearchProblem("t", kind.new(branching=12, depth=depth), kind.evaluate, depth, 1)
    recording = record_search(at, algorithm_spec.parse(name), max_nodes=20_000)
    assert len(recording.nodes) >= 20_000
    opened(browser, tmp_path, recording)
    drawn = browser.run("""
        const page = Kempelen.stepPage, view = page.view, drawn = [];
        const draw = () => { view.draw(); drawn.push(view.drawn); };
        page.go(page.replay.length); view.fit(); draw();
        for (let zoom = 0; zoom < 40; zoom += 1) { view.zoom(1.3, 400, 200); draw(); }
        view.scale = 0.6;
        for (const node of [0, 100, 15000, 20000]) { view.centre(node); draw(); }
        for (let step = 0; step < 50; step += 1) { page.go(page.replay.at - 1); draw(); }
        return drawn;""")
    assert len(browser.find_all(".side tr")) < 200  # of a long list its beginning
    assert max(drawn) < 12_000
    assert min(drawn[-50:]) > 0
    assert browser.complaints() == []


def test_terminal_prints_every_step(lab, tmp_path):
    tree = tmp_path / "small.yaml"
    tree.write_text("[[3, {name: N16, value: 12}], [2, 4]]")
    status, out, err = lab("step", "--tree", tree, "--text")
    assert (status, err) == (0, "")
    assert "N16 is a leaf with value 12." in out
    assert "Cut-off at 2, because of 2.1: 1 more move" in out
    assert len(out.splitlines()) == len(record_search(
        SearchProblem("t", read_tree(tree), lambda game: 0, 1000),
        algorithm_spec.parse("alpha-beta"),
    ).steps) + 1  # fmt: skip


def test_terminal_reports_a_search_stopped_by_a_limit(lab):
    stopped = "La búsqueda termina. Un límite ha detenido la búsqueda."
    for limit, said in ((["--nodes", "9"], True), ([], False)):
        out = lab("step", "--game", "tree", "--text", "--lang", "es", *limit)[1]
        assert (stopped in out.splitlines()[-1]) == said


@pytest.mark.thorough(keep=4)
@pytest.mark.parametrize("name", algorithms())
def test_terminal_steps_back_and_prints_spanish(name, capsys, monkeypatch):
    recording = recorded("tree", name)
    commands = iter(["", "", "c", "v", "b", "12", "9" * 5000, "\N{SUPERSCRIPT TWO}", "e", "b", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(commands))
    terminal_replay.step_through(recording, "es")
    out = capsys.readouterr().out
    assert f"{len(recording.steps) - 1}/{len(recording.steps)}" in out
    assert_spanish(re.sub(r"TEST|EVAL|\w*scout\(|\w+\(nodo", "", out))


@pytest.mark.thorough
def test_page_of_a_large_search_stays_below_16_mib(lab, tmp_path):
    page = tmp_path / "steps.html"
    status, _, _ = lab("step", "--game", "othello", "--algorithm", "sss-star", "--depth", "6",
                       "-o", page)  # fmt: skip
    assert status == 0
    assert page.stat().st_size < 16 << 20
    assert "sss-star: othello" in page.read_text()


def test_invalid_output_file_is_rejected(lab, tmp_path):
    status, _, err = lab("step", "-o", tmp_path / "page.txt")
    assert (status, "must end in .html" in err) == (2, True)
    status, _, err = lab("step", "-o", tmp_path / "none" / "page.html", "--lang", "es")
    assert (status, "no existe la carpeta" in err) == (2, True)
    assert lab("step")[0] == 2
    page = tmp_path / "page.html"
    assert lab("step", "-o", page)[:2] == (0, f"{page}\n")
    assert "Content-Security-Policy" in page.read_text(encoding="utf-8")


def test_page_uses_no_emoji():
    """Emoji fonts are missing on many machines, which then show an empty box."""
    from kempelen.lab import html_page

    text = "".join((html_page.PAGES / name).read_text(encoding="utf-8") for name in step.SCRIPTS)
    assert not re.findall(r"[\u23cf-\u23ff\U0001f000-\U0001ffff]", text)


@pytest.mark.thorough
def test_every_page_text_has_a_spanish_translation():
    """The texts that scripts look up, in quotes or in tables."""
    from kempelen.lab import html_page
    from kempelen.lab.step_sentences import WORDS

    asked = set()
    for name in step.SCRIPTS:
        text = (html_page.PAGES / name).read_text(encoding="utf-8")
        asked |= set(re.findall(r'\.word\("([^"]+)"\)', text))
        asked |= set(re.findall(r'this\.button\("([^"]+)"', text))
    assert len(asked) > 20
    assert asked <= set(WORDS.split(", "))


def test_pair_moves_together_by_steps_or_leaves(browser, tmp_path, lab):
    page, tree = tmp_path / "pair.html", tmp_path / "tree.yaml"
    tree.write_text("[[3, 12], [2, 4], [1, 8, 7]]")
    given = ["--tree", tree, "--algorithm", "alpha-beta,sss-star", "-o", page]
    assert lab("step", *given) == (0, f"{page}\n", "")
    browser.open(page)
    at = "return Kempelen.pairPage.pages.map((page) => page.replay.at)"
    leaves = "return Kempelen.pairPage.pages.map((page) => page.replay.field(-1, 'leaves') ?? 0)"
    right, home, end = "\ue014", "\ue011", "\ue010"
    browser.press(right, right, right)
    assert browser.run(at) == [3, 3]
    browser.run("""const mode = Kempelen.pairPage.mode; mode.value = "leaf";
                mode.dispatchEvent(new Event("change"));""")
    assert browser.run(at) == [0, 0]
    for count in (1, 2, 3):
        browser.press(right)
        assert browser.run(leaves) == [count, count]
    browser.press(end)
    lengths = browser.run("return Kempelen.pairPage.pages.map((page) => page.replay.length)")
    assert browser.run(at) == lengths
    browser.press(home)
    assert browser.run(at) == [0, 0]
    browser.run("""const pick = Kempelen.pairPage.pages[0].pick; pick.value = "es";
                pick.dispatchEvent(new Event("change"));""")
    text = browser.run("return document.body.innerText")
    assert "avanzan juntos por" in text
    assert "what happens" not in text
    assert browser.run("return Kempelen.pairPage.pages[1].language.current") == "es"
    assert browser.complaints() == []


def test_form_of_the_pseudo_code_is_switched_on_the_page(browser, tmp_path):
    recording = recorded("tic-tac-toe", "alpha-beta")
    opened(browser, tmp_path, recording)
    code = "return [...document.querySelectorAll('.code li')].map((line) => line.textContent)"
    lit = "return [...document.querySelectorAll('.code .lit')].map((line) => line.textContent)"
    assert browser.run(code) == recording.listing
    browser.run("Kempelen.stepPage.formed.click()")
    assert browser.run(code) == list(recording.other_listing)
    for number, recorded_step in enumerate(recording.steps[:60], 1):
        browser.run(f"Kempelen.stepPage.go({number})")
        lines = [recording.other_listing[line] for line in recorded_step.other_lines]
        assert browser.run(lit) == lines
    browser.run("Kempelen.stepPage.formed.click()")
    assert browser.run(code) == recording.listing
    opened(browser, tmp_path, recorded("tic-tac-toe", "sss-star"))
    assert browser.run("return Kempelen.stepPage.formed.hidden") is True


def test_two_algorithms_need_a_page(lab, tmp_path):
    for given in (
        ["--algorithm", "alpha-beta,scout", "--text"],
        ["--algorithm", "alpha-beta,scout,pvs", "-o", tmp_path / "page.html"],
    ):
        status, out, err = lab("step", *given)
        assert (status, out) == (2, "")
        assert "--algorithm: expected one algorithm, or two (A,B) with -o FILE.html" in err
    assert list(tmp_path.iterdir()) == []


def test_form_of_the_pseudo_code_can_be_chosen(lab):
    own = lab("step", "--algorithm", "alpha-beta", "--text")[1]
    other = lab("step", "--algorithm", "alpha-beta", "--form", "max-min", "--text")[1]
    assert "-alphabeta(child, -β, -α)" in own
    assert "MIN: best ← min of best and alphabeta(child, α, β)" in other
    assert "-alphabeta" not in other
    hard = lab("step", "--algorithm", "alpha-beta-hard", "--form", "negamax", "--text")[1]
    assert "α ← max of α and -alphabeta(child, -β, -α)" in hard


def test_own_tree_keeps_static_values_and_chances(browser, tmp_path):
    text = """{name: R, value: 2, children: [{chances: [1/2, 1/3, 1/6], children: [3, 5, [1, 8]]},
        {value: -4, bounds: [-9, 9], chances: equal, children: [2.5, {name: L, value: 7}]}]}"""
    tree = parse_tree(text, 100, 10)
    problem = SearchProblem("tree", tree, evaluate, 9)
    recording = record_search(problem, algorithm_spec.parse("expectiminimax"))
    opened(browser, tmp_path, recording)
    written = "return document.querySelector('.own textarea').value"
    again = parse_tree(browser.run(written), 100, 10)
    assert (again.root, again.notes) == (tree.root, tree.notes)
    browser.run("document.querySelector('.own [data-does=\"add a child\"]').click()")
    again = parse_tree(browser.run(written), 100, 10)
    assert again.root == [*tree.root, 0]
    assert again.note.static_value == 2
    assert browser.complaints() == []
