"""Test `kempelen lab assignment`: its folders, the tests, and the grading of hostile code."""

import csv
import json
import pickle
import re
import shutil
import sys
from dataclasses import replace
from math import inf, log, sqrt
from pathlib import Path

import pytest

from kempelen.console.translation import translate
from kempelen.lab.assignment import csv_table, make_folder
from kempelen.lab.assignments.grader import (
    Grade,
    GradedResult,
    grade,
    run_tests,
    student_value,
)
from kempelen.lab.assignments.tasks import TASKS, minimax, random_tree
from kempelen.lab.assignments.worker import answer
from tests.kempelen.lab.test_spanish import assert_spanish

SOLUTIONS = Path(__file__).parents[2] / "data" / "assignment"


def solution(task):
    known = {}
    source = (SOLUTIONS / TASKS[task].file).read_text(encoding="utf-8")
    exec(source, known)
    return known[TASKS[task].function]


def graded(task, function):
    """The points of each test, and the explanations, without a process."""

    def call(*arguments):
        sent = pickle.loads(pickle.dumps(arguments))
        reply = json.loads(json.dumps(answer(function, sent, "en")))
        return student_value(reply, arguments, TASKS[task])

    results = list(run_tests(TASKS[task], call))
    return {test.name: points for test, points, _ in results}, {
        test.name: str(text) for test, _, text in results if text
    }


@pytest.mark.parametrize("task", TASKS)
def test_right_solution_gets_all_points(task):
    points, explanations = graded(task, solution(task))
    assert explanations == {}
    assert points == {test.name: test.points for test in TASKS[task].tests}
    assert sum(points.values()) == TASKS[task].points == 10


def test_minimax_that_forgets_whose_turn_it_is_is_explained():
    def wrong(game, depth, evaluate):
        if (outcome := game.outcome()) is not None:
            return outcome
        if depth == 0:
            return evaluate(game)
        values = []
        for move in game.moves():
            game.play(move)
            values.append(wrong(game, depth - 1, evaluate))
            game.undo()
        return max(values)

    points, explanations = graded("minimax", wrong)
    assert points["one level"] == 1
    assert points["undo"] == 1
    assert points["random trees"] < 3
    found = re.fullmatch(
        r"tree (\[.*\]), depth 9: expected (.*), but the function returned (.*)",
        explanations["random trees"],
    )
    assert minimax(json.loads(found[1])) == float(found[2]) != float(found[3])


def test_forgotten_undo_and_illegal_moves_are_explained():
    def forgets(game, depth, evaluate):
        while (outcome := game.outcome()) is None:
            game.play(game.moves()[0])
        return outcome

    points, explanations = graded("minimax", forgets)
    assert points["undo"] == 0
    assert explanations["undo"] == (
        "tree [[3, 5], [2, 9]]: 2 moves were played but not undone (every play needs an undo)"
    )

    def illegal(game, depth, evaluate):
        game.play(17)

    assert "play: illegal move 17 (legal moves: 1, 2)" in graded("minimax", illegal)[1]["undo"]


def test_minimax_in_place_of_alpha_beta_gets_no_points_for_cut_offs():
    plain = solution("minimax")

    def without_cuts(game, depth, alpha, beta, evaluate):
        return plain(game, depth, evaluate)

    points, explanations = graded("alpha-beta", without_cuts)
    assert points["random trees"] == 2
    assert points["cut-offs"] < 3
    assert re.search("leaf [0-9.]+ was evaluated, but alpha-beta cuts it off",
                     explanations["cut-offs"])  # fmt: skip


def test_cutting_too_much_is_explained():
    def eager(game, depth, alpha, beta, evaluate):
        return game.outcome() if not game.moves() else first(game)

    def first(game):
        game.play(game.moves()[0])
        value = eager(game, 0, 0, 0, None)
        game.undo()
        return value

    assert "but the function evaluated 1." in graded("alpha-beta", eager)[1]["cut-offs"]


def test_chance_as_a_player_gets_no_points():
    def pessimist(game, depth, evaluate):
        return solution("minimax")(game, depth, evaluate)

    points, _ = graded("expectiminimax", pessimist)
    assert points["chance node"] == 0
    assert points["chance trees"] < 3
    assert points["random trees"] == 1


def test_selection_without_exploration_is_explained():
    def greedy(parent, children):
        means = [total / visits if visits else inf for visits, total in children]
        return means.index(max(means))

    points, explanations = graded("mcts", greedy)
    assert points["untried"] == 3
    assert points["greatest bound"] < 5
    found = re.fullmatch(
        r"select\((\d+), (.*)\): expected (\d), but the function returned (\d)",
        explanations["greatest bound"],
    )
    bounds = [
        total / visits + sqrt(2) * sqrt(log(int(found[1])) / visits)
        for visits, total in eval(found[2])
    ]
    assert bounds.index(max(bounds)) == int(found[3]) != int(found[4])


def test_evaluation_is_compared_for_boards_with_a_threat():
    points, explanations = graded("evaluation", lambda game: "".join(game.grid()).count("m"))
    assert (points["number"], points["mirror"], points["threats"]) == (2, 2, 0)
    text, *board = explanations["threats"].split("\n")
    assert text == (
        "the player to move (m) threatens to win: the function returns 3 here, but 3 if no discs "
        "are connected. It should return more here."
    )
    assert len(board) == 6
    assert set("".join(board)) == set("mt.")
    assert "got no points" in explanations["match"]


@pytest.mark.parametrize("value", [0, False, float("nan"), None, "x"])
def test_constant_evaluation_gets_no_points(value):
    points, explanations = graded("evaluation", lambda game: value)
    assert set(points.values()) == {0}
    if value == 0 and not isinstance(value, bool):
        assert explanations["number"] == "the value is 0 in all positions"
    else:
        assert explanations["number"].startswith("not a number: ")
    assert explanations["mirror"] == "not run, because the test 'number' got no points"


@pytest.mark.parametrize("task", TASKS)
def test_function_that_returns_0_gets_no_points(task):
    points, _ = graded(task, lambda *arguments: 0)
    assert set(points.values()) == {0}


def test_function_that_never_plays_does_not_pass_the_undo_test():
    text = graded("minimax", lambda *arguments: 3)[1]["undo"]
    assert text == "tree [[3, 5], [2, 9]]: the function played no moves"


def test_error_of_the_game_names_the_line_of_the_student_and_the_position():
    def forgets(game, depth, evaluate):
        for move in game.moves():
            game.play(move)  # without undo
        return 0

    line = forgets.__code__.co_firstlineno + 2
    assert graded("minimax", forgets)[1]["one level"] == (
        "ValueError: play: illegal move 2 (no legal moves). The game is not at the position you "
        f"think; did you forget game.undo()? (test_assignment.py, line {line})\n"
        "in the tree [3, 9, 4], depth 9"
    )


def test_endless_recursion_names_the_line_of_the_student_and_a_cause():
    def deeper(game, depth, evaluate):
        game.moves()
        return deeper(game, depth, evaluate)

    text = graded("minimax", deeper)[1]["one level"]
    assert re.match(
        r"RecursionError: .* \(test_assignment.py, line \d+\); does depth reach 0\?", text
    )


def test_exceptions_are_explained_with_the_arguments():
    def fails(*arguments):
        raise KeyError(1)

    assert graded("mcts", fails)[1]["untried"].endswith("\nin select(3, [(0, 0.0), (3, 2.0)])")
    assert "\nin the position\n......" in graded("evaluation", fails)[1]["number"]
    assert graded("minimax", fails)[1]["horizon"].count("[") > 3
    assert "tic-tac-toe" in graded("minimax", fails)[1]
    assert "with depth 9 in the position\n" in graded("minimax", fails)[1]["tic-tac-toe"]


def test_missing_leaves_are_named_with_their_moves():
    text = graded("alpha-beta", lambda *arguments: 0)[1]["cut-offs"]
    assert re.search(r"\(such as 1.1.1: moves 1, 1, 1\), but the function evaluated none$", text)


def test_random_trees_have_both_players_and_leaves_at_different_depths():
    from random import Random

    random = Random(1)
    trees = [random_tree(random, 4) for _ in range(50)]
    assert len({str(tree) for tree in trees}) == 50
    assert any(isinstance(child, int) for tree in trees for child in tree)


@pytest.mark.parametrize("language", ["en", "es"])
def test_folder_describes_every_task_and_each_template_is_valid(tmp_path, language):
    make_folder(tmp_path / "new", list(TASKS.values()), language)
    readme = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    for task in TASKS.values():
        template = (tmp_path / "new" / task.file).read_text(encoding="utf-8")
        known = {}
        exec(template, known)
        with pytest.raises(NotImplementedError):
            known[task.function](*[None] * known[task.function].__code__.co_argcount)
        heading = template.partition("def ")[2].partition(":")[0]
        assert f"## {task.name}: `{heading}`" in readme
        for test in task.tests:
            assert f"{translate(test.name, language)} {test.points}" in readme
    assert "POINTS" not in readme
    for method in ("turn", "moves()", "play(move)", "undo()", "outcome()", "chance_outcomes()"):
        assert f"`game.{method}`" in readme


def test_no_file_is_overwritten(lab, tmp_path):
    status, out, err = lab("assignment", "--task", "mcts", "-o", tmp_path)
    assert (status, out, err) == (0, f"{tmp_path}\n", "")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["README.md", "mcts.py", "name.txt"]
    (tmp_path / "mcts.py").write_text("mine")
    status, out, err = lab("assignment", "-o", tmp_path)
    assert (status, out) == (2, "")
    assert "README.md already exists (use another folder)" in err
    assert (tmp_path / "mcts.py").read_text() == "mine"
    assert not (tmp_path / "minimax.py").exists()


def test_csv_has_a_line_per_student_and_no_formulas():
    task = TASKS["mcts"]
    results = tuple(GradedResult(task, test, 1, "why,\nso") for test in task.tests)
    table = csv_table([Grade(Path("a"), '=HYPERLINK("x")', results), Grade(Path("b"), "Bo", ())])
    rows = list(csv.reader(table.splitlines()))
    assert rows[0][:3] == ["name", "folder", "mcts: untried"]
    assert rows[1][:2] == ['\'=HYPERLINK("x")', "a"]
    assert rows[1][5:7] == ["3", "10"]
    assert rows[1][7] == "mcts, untried, greatest bound, match: why, / so"


def test_folders_without_solutions_are_rejected(lab, tmp_path):
    status, out, err = lab("assignment", "--grade", tmp_path)
    assert (status, out) == (2, "")
    assert "no solutions found (expected evaluation.py, minimax.py" in err
    assert "does not exist" in lab("assignment", "--grade", tmp_path / "missing")[2]
    assert "--csv requires --grade" in lab("assignment", "-o", tmp_path, "--csv", "x.csv")[2]


def test_did_you_mean_names_the_folders_inside_a_class(lab, tmp_path):
    shutil.copytree(SOLUTIONS, tmp_path / "class" / "ana")
    err = lab("assignment", "--grade", tmp_path / "class")[2]
    assert f"did you mean {tmp_path / 'class' / '*'}?" in err


def test_csv_file_is_not_overwritten(lab, tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("mine")
    status, _, err = lab("assignment", "--grade", SOLUTIONS, "--csv", table)
    assert status == 2
    assert f"{table} already exists (use another file)" in err
    assert table.read_text() == "mine"


def test_name_is_read_in_common_encodings_or_else_the_folder_gives_it(tmp_path):
    def name(data):
        (tmp_path / "name.txt").write_bytes(data)
        return grade(tmp_path, [], "en", 1).name

    for encoding in ("utf-8", "utf-8-sig", "utf-16", "windows-1252"):
        assert name("Ana García".encode(encoding)) == "Ana García"
    for data in (b"\x81\x8d\x90 Bo", "Bo".encode("utf-16-le"), b"\n"):
        assert name(data) == tmp_path.name


def test_task_may_be_named_like_its_file(lab, tmp_path):
    assert lab("assignment", "--task", "alpha_beta", "-o", tmp_path)[0] == 0
    assert (tmp_path / "alpha_beta.py").exists()


@pytest.mark.parametrize("language", ["en", "es"])
def test_help_shows_teachers_how_to_grade_and_warns_them(lab, language):
    out = lab("assignment", "--help", "--lang", language)[1]
    assert "kempelen lab assignment --grade class/* --csv points.csv" in out
    warning = {"en": "runs the students' code with your permissions", "es": "con tus permisos"}
    assert warning[language] in " ".join(out.split())


def test_readme_of_some_tasks_grades_these_tasks(tmp_path):
    make_folder(tmp_path / "some", [TASKS["mcts"]], "en")
    make_folder(tmp_path / "all", list(TASKS.values()), "en")
    some, whole = ((tmp_path / name / "README.md").read_text("utf-8") for name in ("some", "all"))
    assert "assignment --grade . --task mcts\n" in some
    assert "assignment --grade .\n" in whole


@pytest.mark.thorough
def test_maximum_is_the_same_alone_and_in_a_class_with_missing_files(lab, tmp_path):
    shutil.copy(SOLUTIONS / "mcts.py", tmp_path)
    missing = "4 files are missing: evaluation.py, minimax.py, alpha_beta.py, expectiminimax.py"
    out = lab("assignment", "--grade", tmp_path)[1]
    assert out.endswith(f"\n{missing}\n\n{tmp_path.name}: 10/50 points\n")
    assert "minimax.py is missing" not in out
    out = lab("assignment", "--grade", tmp_path, tmp_path)[1]
    assert out.count("10/50") == 2
    assert out.count(f"{tmp_path}: {missing}") == 2


@pytest.mark.thorough
def test_task_is_abandoned_after_two_timeouts(lab, tmp_path):
    (tmp_path / "minimax.py").write_text("def minimax(game, depth, evaluate):\n while True: pass\n")
    given = ["--task", "minimax", "--timeout", "0.5", "--json"]
    tests = json.loads(lab("assignment", "--grade", tmp_path, *given)[1])["tests"]
    texts = [test["explanation"] for test in tests]
    assert [text.partition(" (")[0] for text in texts[:2]] == ["not finished after 0.5 s"] * 2
    assert texts[2:] == ["not run, after 2 timeouts"] * 4


@pytest.mark.thorough
def test_class_is_graded_and_collected(lab, tmp_path):
    for name in ("ana", "bo"):
        shutil.copytree(SOLUTIONS, tmp_path / name)
    (tmp_path / "bo" / "name.txt").unlink()
    (tmp_path / "bo" / "mcts.py").write_text("def select(parent, children):\n    return 0\n")
    table = tmp_path / "points.csv"
    folders = [tmp_path / "ana", tmp_path / "bo"]
    given = ["--task", "minimax", "--task", "mcts"]
    status, out, err = lab("assignment", "--grade", *folders, *given, "--csv", table)
    assert status == 0
    first, second = err.splitlines()  # the progress
    assert first == f"1/2 {folders[0]}: 20/20 points"
    assert second.startswith(f"2/2 {folders[1]}: 1")
    assert [line.split()[0] for line in out.splitlines()] == ["name", "Ana", "bo"]
    assert all(str(folder) in out for folder in folders)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [(row["name"], row["maximum"]) for row in rows] == [("Ana García", "20"), ("bo", "20")]
    assert rows[0]["points"] == "20"
    assert int(rows[1]["points"]) < 20
    assert rows[1]["minimax: random trees"] == "3"
    status, out, _ = lab("assignment", "--grade", tmp_path / "bo", *given, "--lang", "es")
    assert_spanish(re.sub("select|tree|bo:", "", out))


HOSTILE = {
    "loop": ("while True: pass", "not finished after 2 s"),
    "stubborn loop": (
        "while True:\n  try:\n   while True: pass\n  except BaseException: pass",
        "not finished after 2 s",
    ),
    "exit": ("import sys; sys.exit(0)", "SystemExit"),
    "hard exit": ("import os; os._exit(0)", "ended with status 0"),
    "crash": ("import ctypes; ctypes.string_at(0)", "killed by signal"),
    "memory": ("return len(bytes(3 << 30))", "MemoryError"),
    "output": ("print('x' * 10**7)\n return 0", "expected 1"),
    "result": ('print(\'{"test": 0, "points": 99}\')\n return 0', "expected 1"),
    "closed files": ("import os; os.closerange(0, 100)", "your program"),
    "big file": ("open('big', 'w').write('x' * 10**7)", "File too large"),
    "no text": ("raise ValueError('\\ud800\\x1b[31m')", "ValueError"),
    "recursion": ("return select(p, c)", "RecursionError"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HOSTILE)
def test_code_that_loops_crashes_prints_or_exits_does_not_hurt_the_grader(lab, tmp_path, name):
    code, reason = HOSTILE[name]
    bad, good = tmp_path / "bad", tmp_path / "good"
    bad.mkdir()
    (bad / "mcts.py").write_text(f"def select(p, c):\n {code}\n")
    shutil.copytree(SOLUTIONS, good)
    given = ["--task", "mcts", "--timeout", "2", "--json"]
    status, out, err = lab("assignment", "--grade", bad, good, *given)
    assert status == 0
    assert [line.split()[0] for line in err.splitlines()] == ["1/2", "2/2"]
    first, second = map(json.loads, out.splitlines())
    assert reason in first["tests"][0]["explanation"]
    assert first["points"] < 5
    assert second["points"] == 10
    assert list(bad.iterdir()) == [bad / "mcts.py"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("task", "code"),
    [
        (
            "mcts",
            "import sys\n"
            "class Any:\n"
            "  def __eq__(self, other): return True\n"
            "for name in ('__main__', 'kempelen.lab.assignments.grader'):\n"
            "  module = sys.modules.get(name)\n"
            "  if module:\n"
            "    module.run_test = module._run_test = lambda test, solution: (test.points, '')\n"
            "def select(p, c): return Any()\n",
        ),
        (
            "minimax",
            "import sys\n"
            "def minimax(game, depth, evaluate):\n"
            "  frame = sys._getframe()\n"
            "  while frame:\n"
            "    if 'expected' in frame.f_locals: return frame.f_locals['expected']\n"
            "    frame = frame.f_back\n"
            "  return 0\n",
        ),
    ],
)
def test_code_cannot_replace_the_tests_or_read_the_expected_values(lab, tmp_path, task, code):
    (tmp_path / TASKS[task].file).write_text(code)
    out = lab("assignment", "--grade", tmp_path, "--task", task, "--json")[1]
    assert json.loads(out)["points"] == 0


FORGED = [
    "[1]", "{}", '{"value": [1]}', '{"value": 1e999}', '{"leaves": 5, "value": 3}', "[" * 9999,
    '{"value": 1' + "0" * 2000 + "}", '{"text": "\\ud800"}', "9" * 5000, '{"error": 3}',
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["mcts", "minimax"])
def test_forged_answers_do_not_hurt_the_grader(lab, tmp_path, task):
    code = f"""
import gc, io
FORGED = {FORGED!r}
def {TASKS[task].function}(*arguments):
    for file in gc.get_objects():
        if isinstance(file, io.TextIOWrapper) and file.writable() and file.encoding == "utf-8":
            try:
                if not file.closed and file.fileno() > 2:
                    print(FORGED[NUMBER], file=file, flush=True)
            except Exception: pass
    return 0
"""
    folders = []
    for number in range(len(FORGED)):
        folders.append(tmp_path / str(number))
        folders[-1].mkdir()
        (folders[-1] / TASKS[task].file).write_text(code.replace("NUMBER", str(number)))
    status, out, err = lab("assignment", "--grade", *folders, "--task", task, "--json")
    assert status == 0, err
    points = [json.loads(line)["points"] for line in out.splitlines()]
    assert len(points) == len(FORGED)
    assert max(points) <= 2  # some guesses are right
    assert "invalid answer" in out


@pytest.mark.thorough
def test_waiting_for_the_processor_does_not_count(tmp_path):
    code = "import time\ndef select(p, c):\n time.sleep(0.05)\n return 0\n"
    (tmp_path / "mcts.py").write_text(code)
    task = replace(TASKS["mcts"], tests=TASKS["mcts"].tests[:2])
    texts = [each.explanation for each in grade(tmp_path, [task], "en", 0.5).results]
    assert len(texts) == 2
    if sys.platform == "linux":
        assert not any("not finished" in text for text in texts)


@pytest.mark.thorough
def test_file_that_does_not_load_fails_all_tests_at_once(lab, tmp_path):
    for code, reason in (
        ("while True: pass", "not finished after 1 s"),
        ("def select(p, c)", "SyntaxError"),
        ("x = 1", "mcts.py: function select is missing"),
    ):
        (tmp_path / "mcts.py").write_text(code)
        given = ["--task", "mcts", "--timeout", "1", "--json"]
        tests = json.loads(lab("assignment", "--grade", tmp_path, *given)[1])["tests"]
        assert all(reason in test["explanation"] for test in tests)
        assert [test["points"] for test in tests] == [0, 0, 0]


def test_example_of_the_readme_runs_with_a_solution(tmp_path, monkeypatch, capsys):
    make_folder(tmp_path / "new", [TASKS["minimax"]], "en")
    shutil.copy(SOLUTIONS / "minimax.py", tmp_path / "new" / "minimax.py")
    monkeypatch.syspath_prepend(str(tmp_path / "new"))
    readme = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall("```python\n(from .*?)```", readme, re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out == "3\n"
    monkeypatch.delitem(sys.modules, "minimax")
