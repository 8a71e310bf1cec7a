"""Test `kempelen lab exercise`: the terminal, answers of scripts, sheets, and results."""

import io
import json
import re

import pytest

from kempelen.lab.exercises import marking, pdf_sheets
from kempelen.lab.exercises.exercise import ExerciseSpec
from kempelen.lab.exercises.generator import KINDS, make_exercise
from kempelen.lab.language import translator
from tests.kempelen.lab.test_spanish import assert_spanish


@pytest.fixture
def typed(monkeypatch):
    """Feed lines to the command through a standard input that is not a terminal."""
    return lambda *lines: monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*lines, ""])))


def key(kind, **other):
    return make_exercise(ExerciseSpec(kind, **other)).key_text()


def test_interactive_session_marks_answers_and_saves_results(lab, typed, tmp_path):
    results = tmp_path / "ana.json"
    typed("1=3", "what?", key("values"), "", "2.2")
    arguments = ["--kind", "values", "--kind", "cuts", "--kind", "order", "--name", "Ana"]
    status, out, err = lab("exercise", *arguments, "--results", results)
    assert (status, err) == (0, "")
    assert "wrong: 0 of 7 points; incorrect: 1=3" in out
    assert "invalid answer 'what?' (example: 1=3, 2=5, e=5)" in out
    assert out.count(f"key: {key('values')}") == 1
    assert f"key: {key('cuts')}" in out
    assert f"key: {key('order')}" not in out
    assert "1 of 3 correct, 0 on the first try" in out.splitlines()[-1]
    told = json.loads(results.read_text(encoding="utf-8"))
    assert [each["answers"] for each in told["exercises"]] == [["1=3", key("values")], [], ["2.2"]]
    assert [each["solved"] for each in told["exercises"]] == [False, True, False]


def test_key_is_not_shown_before_an_answer(lab, typed):
    typed()
    for kind in KINDS:
        status, out, _ = lab("exercise", "--kind", kind, "--seed", "3")
        assert status == 0
        assert "key:" not in out
        if kind != "uct":
            assert key(kind, seed=3) not in out


def test_answer_option_marks_the_answer(lab):
    right = [word for kind in KINDS for word in ("--answer", key(kind))]
    status, out, err = lab("exercise", *right)
    assert (status, err) == (0, "")
    assert [line.rpartition(": ")[2] for line in out.splitlines()] == ["correct"] * len(KINDS)
    status, out, _ = lab("exercise", "--kind", "uct", "--answer", "1")
    assert (status, out) == (1, "The path of UCT: wrong: 0 of 1 points; incorrect: 1\n")
    status, out, _ = lab("exercise", "--kind", "order", "--answer", "1.1.1 3", "--json")
    told = json.loads(out)
    assert (status, told["points"], told["wrong"], told["right"]) == (1, 1, ["3"], False)
    status, out, err = lab("exercise", "--kind", "uct", "--answer", "1=1")
    assert (status, out) == (2, "")
    assert "invalid answer '1=1' (example: 2.1)" in err


def test_json_output_includes_the_keys(lab):
    status, out, _ = lab("exercise", "--json", "--count", "2", "--student", "7")
    told = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [(each["kind"], each["number"]) for each in told] == [
        (kind, number) for kind in KINDS for number in (1, 2)
    ]
    assert {each["student"] for each in told} == {7}
    assert [each["key"] for each in told[:2]] == [
        list(make_exercise(ExerciseSpec("values", student=7, number=number)).key)
        for number in (1, 2)
    ]


def test_every_kind_is_shown_in_spanish(lab, typed):
    for arguments in (["--solve"], []):
        typed("?", "1.1 1.1", *[""] * len(KINDS))
        status, out, err = lab("exercise", *arguments, "--lang", "es")
        assert (status, err) == (0, "")
        assert_spanish(re.sub(r"\bv\b|alpha", "", out))
    assert f"0 de {len(KINDS)} correctos, 0 a la primera" in out


def test_collect_lists_the_results_of_all_students(lab, tmp_path):
    for name, answer in (("Ana", key("cuts", seed=6)), ("Beto", "1<=1")):
        given = ["--kind", "cuts", "--seed", "6", "--answer", answer, "--name", name]
        lab("exercise", *given, "--results", tmp_path / f"{name}.json")
    files = [tmp_path / "Ana.json", tmp_path / "Beto.json"]
    status, out, err = lab("exercise", "--collect", *files)
    parts = len(make_exercise(ExerciseSpec("cuts", 6)).key)
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["Ana", "6", "1", "cuts", "alpha-beta", "3", "3", "1", "1", "1", "1", f"{parts}/{parts}"],
        ["Beto", "6", "1", "cuts", "alpha-beta", "3", "3", "1", "0", "0", "1", f"0/{parts}"],
    ]
    _, out, _ = lab("exercise", "--collect", *files, "--json")
    told = [json.loads(line) for line in out.splitlines()]
    assert [each["exercises"][0]["right"] for each in told] == [True, False]
    assert_spanish(
        lab("exercise", "--collect", *files, "--lang", "es")[1]
        .replace("Ana", "")
        .replace("cuts", "")
    )


def test_collect_shows_depth_and_algorithm_of_exercises(lab, tmp_path):
    """A teacher sees who has answered easier exercises than those assigned."""
    file = tmp_path / "Ana.json"
    asked = [
        ExerciseSpec("order", depth=2, algorithm="sss-star"), ExerciseSpec("order", depth=2),
        ExerciseSpec("list", branching=2), ExerciseSpec("uct"), ExerciseSpec("values"),
    ]  # fmt: skip
    for one in asked:
        given = ["--kind", one.kind, "--depth", one.depth, "--branching", one.branching]
        given += ["--algorithm", one.algorithm] if one.kind == "order" else []
        text = make_exercise(one).key_text()
        lab("exercise", *given, "--answer", text, "--name", "Ana", "--results", file)
    status, out, err = lab("exercise", "--collect", file)
    assert (status, err) == (0, "")
    total, *each = [line.split() for line in out.splitlines()[1:]]
    assert total[:7] == ["Ana", "0", "1", "5", "5", "5", "5"]
    assert [row[:5] for row in each] == [
        ["order", "sss-star", "2", "3", "1"],
        ["order", "alpha-beta", "2", "3", "1"],
        ["list", "sss-star", "3", "2", "1"],
        ["uct", "uct", "3", "3", "1"],
        ["values", "minimax", "3", "3", "1"],
    ]
    told = json.loads(lab("exercise", "--collect", file, "--json")[1])["exercises"]
    assert [[e["kind"], e["algorithm"], e["depth"], e["branching"]] for e in told] == [
        [*row[:2], int(row[2]), int(row[3])] for row in each
    ]
    spanish = lab("exercise", "--collect", file, "--lang", "es")[1]
    assert "algoritmo" in spanish.splitlines()[0]
    assert "profundidad" in spanish.splitlines()[0]
    assert_spanish(re.sub("Ana|order|list|values|uct|minimax|sss-star|alpha-beta", "", spanish))


def results(tmp_path, **changes):
    """A results file with some values changed."""
    one = {"kind": "cuts", "seed": 0, "student": 1, "number": 1, "depth": 3, "branching": 3,
           "algorithm": "alpha-beta", "answers": ["1<=1"], "solved": False}  # fmt: skip
    told = {"format": "kempelen lab exercise", "version": 1, "name": "Ana",
            "exercises": [one | changes.pop("one", {})]}  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps(told | changes), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "x"}, "not written by lab exercise"),
        ({"version": 2}, "unsupported version"),
        ({"name": 3}, "name or exercises missing"),
        ({"exercises": [{}]}, "exercise with a missing key"),
        ({"exercises": [3]}, "exercise with a missing key"),
        ({"exercises": [{}] * 300}, "more than 200 exercises"),
        ({"one": {"seed": "6"}}, "exercise with a value of the wrong type"),
        ({"one": {"seed": True}}, "exercise with a value of the wrong type"),
        ({"one": {"answers": ["1"] * 101}}, "exercise with too many answers"),
        ({"one": {"answers": ["1" * 5000]}}, "exercise with too many answers"),
        ({"one": {"depth": 50}}, "exercise depth: must be from 2 to 5 (got 50)"),
        (
            {"one": {"kind": "order", "algorithm": "alpha-beta+killer_memory=x"}},
            "not usable for exercises",
        ),
    ],
)
def test_collect_reports_invalid_files_and_reads_the_others(lab, tmp_path, changes, said):
    good = results(tmp_path).rename(tmp_path / "good.json")
    bad = results(tmp_path, **changes)
    status, out, err = lab("exercise", "--collect", bad, good)
    assert status == 1
    assert len(out.splitlines()) == 2
    assert f"{bad}: invalid results file: " in err
    assert said in err
    assert not (tmp_path / "x").exists()


def test_collect_recomputes_marks_and_escapes_names(lab, tmp_path):
    file = results(tmp_path, name="A\x1b[31mna", right=True, one={"right": True})
    _, out, _ = lab("exercise", "--collect", file, "--json")
    told = json.loads(out)
    assert "\x1b" not in told["name"]
    assert told["exercises"][0]["right"] is False
    status, out, err = lab("exercise", "--collect", tmp_path / "none.json")
    assert (status, out) == (1, "")
    assert "none.json: cannot read file" in err


def test_answers_are_appended_to_the_results_file(lab, typed, tmp_path):
    file = tmp_path / "ana.json"
    given = ["exercise", "--kind", "uct", "--results", file]
    lab(*given, "--answer", "1", "--name", "Ana")
    lab(*given, "--answer", key("uct"))
    lab("exercise", "--kind", "cuts", "--results", file, "--answer", "1<=1")
    _, out, _ = lab("exercise", "--collect", file)
    parts = 1 + len(make_exercise(ExerciseSpec("cuts")).key)
    assert out.splitlines()[1].split() == ["Ana", "0", "1", "2", "1", "0", "3", f"1/{parts}"]
    typed("")
    lab("exercise", "--kind", "cuts", "--results", file)
    lab("exercise", "--kind", "cuts", "--results", file, "--answer", key("cuts"))
    assert lab("exercise", "--collect", file)[1] == out  # answers after the key do not count
    typed("1")
    file.write_text("my notes")
    assert lab(*given)[0] == 2
    assert file.read_text() == "my notes"
    status, out, _ = lab("exercise", "--results", tmp_path / "no" / "ana.json")
    assert (status, out) == (2, "")  # fails before the first question


def test_results_file_is_limited_to_200_exercises(lab, tmp_path):
    file = results(tmp_path)
    told = json.loads(file.read_text(encoding="utf-8"))
    (one,) = told["exercises"]
    listed = [one | {"number": number} for number in range(1, 201)]
    file.write_text(json.dumps(told | {"exercises": listed}), encoding="utf-8")
    before = file.read_bytes()
    status, _, err = lab("exercise", "--kind", "uct", "--results", file, "--answer", "1")
    assert (status, "use another results file" in err) == (2, True)
    assert file.read_bytes() == before
    assert lab("exercise", "--kind", "cuts", "--results", file, "--answer", "1<=1")[0] == 1


def test_results_file_keeps_at_most_100_answers(lab, typed, tmp_path):
    file = tmp_path / "ana.json"
    typed(*["1"] * 150, key("uct"))
    lab("exercise", "--kind", "uct", "--results", file)
    assert lab("exercise", "--collect", file)[1].split()[-5:] == ["1", "1", "0", "100", "1/1"]


def test_collect_rejects_a_duplicate_exercise(lab, tmp_path):
    file = results(tmp_path)
    told = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(told | {"exercises": told["exercises"] * 2}), encoding="utf-8")
    status, _, err = lab("exercise", "--collect", file)
    assert (status, "duplicate exercise" in err) == (1, True)


@pytest.mark.thorough
def test_sheet_and_key_pdfs_are_written(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["exercise", "--kind", "cuts", "--students", "2", "--branching", "2"]
    status, out, err = lab(*arguments, "--sheet", "one.pdf", "--key", "key.pdf")
    assert (status, out, err) == (0, "one.pdf\nkey.pdf\n", "")
    assert lab(*arguments, "--sheet", "again.pdf")[0] == 0
    one, again, keys = ((tmp_path / f"{name}.pdf").read_bytes() for name in ("one", "again", "key"))
    assert one == again != keys
    for pdf in (one, keys):
        assert pdf.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type /Page\b", pdf)) == 2


@pytest.mark.parametrize("keys", [True, False])
def test_sheets_show_questions_and_keys_on_request(keys):
    made = [make_exercise(ExerciseSpec(kind, seed=2, student=5)) for kind in KINDS]
    found = []
    for figure in pdf_sheets._pages(made, str, keys=keys):
        found += [text.get_text() for text in figure.texts]
        found += [text.get_text() for axes in figure.axes for text in axes.texts]
        assert all(-0.01 < text.get_position()[1] < 1 for text in figure.texts)
    said = " ".join(found)
    assert "student 5   seed 2" in said
    for number, each in enumerate(made, 1):
        assert f"{number}. {each.title(str)}" in said
        assert " ".join(each.question(str)).replace("  ", " ")[:60] in said.replace("  ", " ")
        assert (f"key: {each.key_text()}"[:60] in said) is keys
    leaves = {node.text for each in made for node in each.visible_nodes() if node.text}
    assert leaves <= set(found)


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("arguments", "said", "spanish"),
    [
        (["-o", "page.pdf"], "page.pdf: invalid page name (must end in .html)", "página no válido"),
        (["-o", "no/page.html"], "folder no does not exist", "no existe la carpeta no"),
        (["--sheet", "s.svg"], "s.svg: invalid sheet name (must end in .pdf)", "hoja no válido"),
        (
            ["--sheet", "s.pdf", "--key", "s.pdf"],
            "is also the --sheet file",
            "es también el fichero",
        ),
        (["--depth", "9"], "depth: must be from 2 to 5 (got 9)", "profundidad del ejercicio: debe"),
        (
            ["--kind", "cuts", "--algorithm", "scout"],
            "requires --kind order",
            "requiere --kind order",
        ),
        (["--algorithm", "uct"], "uct: not usable", "uct: no sirve"),
        (["--kind", "uct", "--answer", "1", "--answer", "1"], "2 answers for 1", "pide más"),
        (["--solve", "--results", "x"], "--results requires answers", "requiere respuestas"),
        (["--count", "99"], "too many exercises (at most 200)", "demasiados ejercicios"),
        (["--kind", "uct", "--answer", "?"], "invalid answer '?'", "respuesta no válida '?'"),
    ],
)
def test_invalid_arguments_are_rejected_in_both_languages(
    lab, tmp_path, monkeypatch, arguments, said, spanish
):
    monkeypatch.chdir(tmp_path)
    for language, text in (("en", said), ("es", spanish)):
        status, out, err = lab("exercise", *arguments, "--lang", language)
        assert (status, out) == (2, "")
        assert text in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_rule_of_marking_is_stated_beside_the_questions(lab, typed, tmp_path, language):
    translate = translator(language)
    rule = translate(marking.RULE)
    typed()
    assert rule in lab("exercise", "--kind", "cuts", "--lang", language)[1]
    page = tmp_path / "page.html"
    assert lab("exercise", "--kind", "cuts", "--lang", language, "-o", page)[0] == 0
    assert rule in page.read_text(encoding="utf-8")
    for keys in (True, False):
        for figure in pdf_sheets._pages(
            [make_exercise(ExerciseSpec("cuts"))], translate, keys=keys
        ):
            assert rule in " ".join(text.get_text() for text in figure.texts)


def test_ten_of_eleven_right_values_are_ten_points(lab):
    specs = (ExerciseSpec("values", seed=seed) for seed in range(99))
    spec = next(each for each in specs if len(make_exercise(each).key) == 11)
    parts = make_exercise(spec).key
    answer = " ".join([*parts[:-1], f"{parts[-1].partition('=')[0]}=99"])
    status, out, _ = lab(
        "exercise", "--kind", "values", "--seed", spec.seed, "--answer", answer, "--json"
    )
    told = json.loads(out)
    assert (status, told["points"], told["parts"], told["right"]) == (1, 10, 11, False)


def test_own_tree_is_asked_about_and_marked_again_from_results(lab, tmp_path):
    tree, results = tmp_path / "tree.yaml", tmp_path / "ana.json"
    tree.write_text("[[3, 5], [2, 9]]")
    status, out, err = lab("exercise", "--tree", tree, "--kind", "values", "--solve")
    assert (status, err) == (0, "")
    assert "key: ε=3, 1=3, 2=2" in out
    given = ["--tree", tree, "--kind", "cuts", "--answer", "2.2<=3", "--results", results]
    status, out, err = lab("exercise", *given, "--name", "Ana")
    assert (status, out, err) == (0, "Cut-offs: correct\n", "")
    tree.unlink()
    assert "1/1" in lab("exercise", "--collect", results)[1].splitlines()[1]
    kinds = lab("exercise", "--tree", tree, "--json")
    assert kinds[0] == 2
    assert "tree.yaml: could not read the file" in kinds[2]


def test_own_tree_may_be_given_directly(lab):
    tree = "[[3, 5], [2, 9]]"
    status, out, err = lab("exercise", "--tree", tree, "--kind", "values", "--solve")
    assert (status, err) == (0, "")
    assert "key: ε=3, 1=3, 2=2" in out
    status, _, err = lab("exercise", "--tree", "[[3, 5], []]", "--kind", "values")
    assert status == 2
    assert "tree: 2: empty list" in err


def test_kinds_that_fit_an_own_tree_are_chosen(lab, tmp_path):
    tree = tmp_path / "tree.yaml"
    tree.write_text("[{chances: equal, children: [3, 5]}, 2]")
    status, out, _ = lab("exercise", "--tree", tree, "--json")
    assert (status, [json.loads(line)["kind"] for line in out.splitlines()]) == (
        0,
        ["expectiminimax"],
    )
    tree.write_text("[[3, 5], [2, 9]]")
    out = lab("exercise", "--tree", tree, "--json")[1]
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert {"values", "order", "cuts", "list", "tests", "passes"} <= set(kinds)
    tree.write_text("[[3, 5], [2, x]]")
    assert lab("exercise", "--tree", tree)[2] == (
        f"kempelen lab: {tree}: tree: 2.2: invalid node 'x' (expected a number or a list)\n"
    )


def test_results_without_trees_of_earlier_versions_are_read(lab, tmp_path):
    results = tmp_path / "ana.json"
    given = ["--kind", "values", "--answer", "1=3", "--results", results]
    lab("exercise", *given)
    data = json.loads(results.read_text())
    del data["exercises"][0]["tree"]
    results.write_text(json.dumps(data))
    status, out, err = lab("exercise", "--collect", results)
    assert (status, err) == (0, "")
    assert "values" in out
