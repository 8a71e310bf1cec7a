"""Test the exercise page in a browser: it marks like the command, and its file is collected."""

import json
from random import Random

import pytest

from kempelen.lab.exercises.exercise import ExerciseSpec
from kempelen.lab.exercises.generator import KINDS, make_exercise
from kempelen.lab.exercises.page import html
from kempelen.lab.exercises.results import mark_attempts, read_results

MARK = """
return arguments[0].map(([index, text]) => {
  const each = exerciseMarks.data.exercises[index];
  let parts;
  try {
    parts = exerciseMarks.parts(each.form, text);
  } catch (error) {
    return null;
  }
  const mark = exerciseMarks.mark(each.key, parts, each.ordered);
  return [parts, mark.right, mark.points, mark.parts, mark.wrong];
});
"""


def opened(browser, tmp_path, made, translate=str, language="en"):
    page = tmp_path / "page.html"
    page.write_text(html(made, translate, language), encoding="utf-8")
    browser.open(page)
    return made


@pytest.mark.thorough
def test_answers_by_keyboard_are_marked_and_saved(browser, tmp_path):
    from selenium.webdriver.common.keys import Keys

    made = opened(browser, tmp_path, [make_exercise(ExerciseSpec(kind, seed=8)) for kind in KINDS])
    browser.find("#answer").click()
    browser.press("?", Keys.ENTER)
    assert "(example: " in browser.text("#feedback")
    browser.find("#answer").clear()
    browser.find("#answer").send_keys("1=99", Keys.ENTER)
    assert browser.text("#feedback").startswith("wrong: 0 of")
    assert browser.find_all("#key") == []
    for each in made[:4]:
        browser.find("#answer").clear()
        browser.find("#answer").send_keys(each.key_text())
        browser.press(Keys.ENTER)
        assert browser.text("#feedback") == "correct"
        assert browser.text("#key") == f"key: {each.key_text()}"
        assert len(browser.find_all("#solution li")) == len(each.explanation(str))
        browser.press(Keys.ENTER)  # the next one
    assert browser.text("#title") == "5. The path of UCT"
    browser.run("document.querySelector('[data-label=\"1\"]').focus()")
    browser.press(Keys.ENTER)
    assert browser.find("#answer").get_attribute("value") == "1"
    browser.find("#show").click()
    assert browser.text("#key") == f"key: {made[4].key_text()}"
    assert browser.text("#count") == f"4 of {len(KINDS)} correct, 3 on the first try"
    browser.find("#name").send_keys("Ana")
    file = tmp_path / "ana.json"
    file.write_text(browser.run("return exerciseMarks.results()"), encoding="utf-8")
    name, attempts = read_results(file)
    assert name == "Ana"
    assert [(each.right, each.right_at_first) for each in mark_attempts(attempts)] == [
        (True, False), *[(True, True)] * 3, (False, False),
    ]  # fmt: skip
    assert [each.solved for each in attempts] == [False] * 4 + [True]
    assert browser.complaints() == []
    browser.find("#save").click()


@pytest.mark.thorough
def test_page_and_command_give_the_same_marks(browser, tmp_path):
    made = [make_exercise(ExerciseSpec(kind, seed)) for kind in KINDS for seed in range(40)]
    opened(browser, tmp_path, made)
    random = Random(1)
    strange = [
        "",
        "1",
        "1=2",
        "e=-0",
        "1>=3.50",
        "(1, V, oo)",
        "root RAÍZ",
        "1.",
        "(1,V)",
        "\u00a01",
    ]
    given = []
    for index, each in enumerate(made):
        parts = list(each.key)
        place = random.randrange(len(parts))
        answers = [
            ", ".join(parts),
            " ".join(random.sample(parts, len(parts))).lower(),
            ";".join(parts[:place] + parts[place + 1 :]),
            " ".join([*parts, parts[place]]),
            " ".join([*parts[:place], parts[place].replace("1", "3"), *parts[place + 1 :]]),
            random.choice(strange),
        ]
        given += [(index, text) for text in answers]
    unread = 0
    for (index, text), told in zip(given, browser.run(MARK, given), strict=True):
        each = made[index]
        try:
            mark = each.mark(text)
        except ValueError:
            assert told is None, text
            unread += 1
            continue
        assert told == [
            list(each.parse_answer(text)), mark.right, mark.points, mark.parts, list(mark.wrong),
        ], text  # fmt: skip
    assert 20 < unread < len(given) / 4


@pytest.mark.thorough
def test_page_shows_every_exercise_like_the_terminal(browser, tmp_path):
    from kempelen.lab import language

    made = [
        make_exercise(ExerciseSpec(kind, seed, depth=depth, branching=branching))
        for kind in KINDS
        for seed, (depth, branching) in enumerate([(2, 2), (3, 5), (4, 3), (5, 2)])
    ]
    translate = language.translator("es")
    opened(browser, tmp_path, made, translate, "es")
    for each in made:
        nodes = browser.run(
            "return [...document.querySelectorAll('#tree .node')].map((node) => "
            "[node.dataset.label, node.querySelector('text').textContent])"
        )
        expected = [
            [language.format_label(node.label), node.text or translate(node.mover)]
            for node in each.visible_nodes()
        ]
        assert nodes == expected
        shown = browser.text("#question").split()
        assert shown == " ".join(each.question(translate)).split()
        if browser.find("#next").is_enabled():
            browser.find("#next").click()
    told = json.loads(browser.run("return exerciseMarks.results()"))
    assert told["exercises"] == []
    assert browser.complaints() == []
