"""Test that the keys of exercises match the algorithms, and that answers are marked by them."""

import re
from math import inf
from random import Random

import pytest

from agent.search.tracing import Entered, Evaluated
from kempelen.lab import language
from kempelen.lab.exercises.exercise import ExerciseSpec, search_events
from kempelen.lab.exercises.generator import KINDS, make_exercise, make_exercises
from kempelen.lab.exercises.marking import mark_answer
from kempelen.lab.language import format_label
from tests.kempelen.lab import exercise_reference as reference

FEW, MANY = 30, 1000
SHAPES = [(3, 3), (2, 4), (4, 2), (3, 2)]
NUMBERS = [
    pytest.param(range(FEW), id="few"),
    pytest.param(range(FEW, MANY), id="many", marks=pytest.mark.thorough),
]


def made(kind, seed, **other):
    depth, branching = SHAPES[seed % len(SHAPES)]
    return make_exercise(ExerciseSpec(kind, seed, depth=depth, branching=branching, **other))


def written(value):
    return str(int(value) if value == value // 1 < inf else value).replace("inf", "∞")


def expected(each):
    """The key by the reference solution; a set if order does not count."""
    if each.spec.kind == "values":
        values = reference.minimax(each.root)
        inner = [node.label for node in each.visible_nodes() if not node.is_leaf]
        return {f"{format_label(path)}={values[path]}" for path in inner}
    if each.spec.kind == "order":
        return tuple(map(format_label, reference.alpha_beta(each.root)[0]))
    if each.spec.kind == "cuts":
        return {
            f"{format_label(path)}{why}" for path, why in reference.alpha_beta(each.root)[1].items()
        }
    if each.spec.kind == "list":
        states = reference.sss_star(each.root)[0][each.row - 1]
        return tuple(
            f"({format_label(path)}, {sign}, {written(bound)})" for path, sign, bound in states
        )
    shown = {node.label: node for node in each.visible_nodes()}
    if each.spec.kind == "tests":
        return tuple(
            f"{format_label(path)}{sign}{bound}{'+' if answer else '-'}"
            for path, sign, bound, answer in reference.scout_tests(each.root)
        )
    if each.spec.kind == "windows":
        return tuple(
            f"{format_label(path)}({written(alpha)}, {written(beta)})"
            for path, alpha, beta in reference.pvs_windows(each.root)
        )
    if each.spec.kind == "passes":
        return checked_passes(each)
    if each.spec.kind == "backup":
        told = re.search("node ([0-9.]+) and has the reward (-?1)", each.question(str)[1])
        path, reward = tuple(map(int, told[1].split("."))), int(told[2])
        return {
            f"{format_label(at)}={int(total) + reward}/{int(visits) + 1}"
            for at in [path[:length] for length in range(len(path) + 1)]
            for total, visits in [shown[at].text.split("/")]
        }
    if each.spec.kind == "bounds":
        return {
            f"{format_label(path)}=[{lower}, {upper}]"
            for path, (lower, upper) in reference.intervals(shown).items()
            if not shown[path].is_leaf
        }
    if each.spec.kind == "nim":
        heaps = [int(node.text) for node in each.visible_nodes() if node.is_leaf]
        moves = {
            f"{at + 1}={left}"
            for at, heap in enumerate(heaps)
            for left in range(heap)
            if not reference.nim_wins(tuple(sorted((*heaps[:at], left, *heaps[at + 1 :]))))
        }
        digits = zip(*(f"{heap:04b}" for heap in heaps), strict=True)
        total = int("".join(str(column.count("1") % 2) for column in digits), 2)
        return {f"ε={total}", *moves}
    if each.spec.kind == "counts":
        b, d = map(int, re.findall("[0-9]+", each.visible_nodes()[0].text))
        levels = [b**level for level in range(d)]
        return {f"M={b**d}", f"N={sum(levels)}", f"K={reference.least_leaves(b, d)}"}
    if each.spec.kind == "expectiminimax":
        values = reference.expectiminimax(shown)
        return {
            f"{format_label(path)}={written(value)}"
            for path, value in values.items()
            if not shown[path].is_leaf
        }
    return (format_label(reference.uct_path(each.visible_nodes())),)


def checked_passes(each):
    """The key of MTD(f), if it follows the rules: each pass tests the last value, or one more."""
    exact, (lower, upper), value = reference.minimax(each.root)[()], (-inf, inf), 0
    for part in each.key:
        beta, result = map(int, part.split("="))
        assert beta == (value + 1 if value == lower else value)
        assert result <= beta - 1 if exact < beta else result >= beta
        assert exact <= result if result < beta else exact >= result
        lower, upper = (lower, result) if result < beta else (result, upper)
        value = result
    assert lower == upper == exact
    return each.key


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("seeds", NUMBERS)
@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_correct_and_answers_are_marked_by_them(kind, seeds):
    for seed in seeds:
        each = made(kind, seed)
        key = expected(each)
        assert (each.key if each.ordered or kind == "uct" else set(each.key)) == key
        assert each.key
        assert len(set(each.key)) == len(each.key)
        check_marks(each, Random(seed))


def check_marks(each, random):
    """The key is correct, in any order if order does not count; anything else is wrong."""
    separator = random.choice([" ", ", ", ";  ", "\n"])
    right = each.mark(separator.join(each.key))
    assert (right.right, right.points, right.wrong) == (True, len(each.key), ())
    shuffled = random.sample(each.key, len(each.key))
    if shuffled != list(each.key):
        assert each.mark(separator.join(shuffled)).right is not each.ordered
    place = random.randrange(len(each.key))
    without = [*each.key[:place], *each.key[place + 1 :]]
    other = another(each, place)
    for parts in (without, [*without, other], [*each.key, other]):
        mark = each.mark(" ".join(parts))
        assert not mark.right
        assert mark.points <= mark.parts
        assert mark.wrong == () or mark.wrong[0] in parts


def another(each, place):
    """A valid part that is not in the key."""
    part = each.key[place]
    if each.form == "labels":
        return f"{part}.9"
    if each.form == "tests":
        return part[:-1] + {"+": "-", "-": "+"}[part[-1]]
    digit = part.rstrip(")∞]")[-1]
    if not digit.isdigit():
        return part.replace("∞", "7")
    cut = part.rindex(digit)
    return f"{part[:cut]}{(int(digit) + 1) % 10}{part[cut + 1 :]}"


@pytest.mark.parametrize(
    ("algorithm", "seeds"),
    [
        ("sss-star", range(10)),
        ("scout", range(5)),
        pytest.param("sss-star", range(10, 200), marks=pytest.mark.thorough),
        *(
            pytest.param(name, range(30), marks=pytest.mark.thorough)
            for name in ("minimax", "pvs", "mtd-f", "dual-star", "negascout-2", "alpha-beta+table")
        ),
    ],
)
def test_order_key_is_the_leaf_order_of_the_algorithm(algorithm, seeds):
    for seed in seeds:
        each = made("order", seed, algorithm=algorithm)
        leaves = [
            event.label
            for event in search_events(each.root, algorithm)
            if isinstance(event, Evaluated)
        ]
        assert each.key == tuple(map(format_label, leaves))
        if algorithm == "sss-star":
            assert leaves == reference.sss_star(each.root)[1]
        check = each.mark(" ".join(each.key))
        assert check.right


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ("sss-star", "States with equal bounds are ordered from left to right in the tree."),
        ("dual-star", "States with equal bounds are ordered from left to right in the tree."),
        ("mtd-f", "The first guess is 0."),
        ("mtd-f+first_guess=7", "The first guess is 7."),
    ],
)
def test_order_question_states_tie_break_or_first_guess(algorithm, said):
    assert make_exercise(ExerciseSpec("order", algorithm=algorithm)).question(str)[1:] == [said]


def test_students_get_different_but_reproducible_trees():
    def trees(student):
        made = make_exercises(
            KINDS, seed=4, student=student, count=1, depth=3, branching=3, algorithm="alpha-beta"
        )
        return [(each.root, each.key) for each in made]

    sheets = [trees(student) for student in range(1, 6)]
    assert sheets == [trees(student) for student in range(1, 6)]
    for kind in range(len(KINDS)):
        assert len({str(sheet[kind][0]) for sheet in sheets}) == len(sheets)


def test_seed_0_always_gives_the_same_exercises():
    """Old results are marked on the same trees."""
    each = make_exercise(ExerciseSpec("cuts", 0))
    assert each.root == [
        [[12, 3, 4], [3, 10, 5]],
        [[12, 9], [6, 6, 7], [4, 15]],
        [[5, 8], [8, 17, 10]],
    ]
    assert each.key == ("2.3≤10", "3.2≤10")
    assert make_exercise(ExerciseSpec("uct", 0)).key == ("2.2.1",)


@pytest.mark.parametrize(
    ("kind", "text", "parts"),
    [
        ("values", "E=5, 1 : -3; 2.1=+7 root=1.0 RAÍZ=2", ("ε=5", "1=-3", "2.1=7", "ε=1", "ε=2")),
        ("values", "1=-0 1=1.5 1=inf 2=-OO", ("1=0", "1=1.5", "1=∞", "2=-∞")),
        ("cuts", "2.2<=3 1.2>= 8,1=<2;1=>2", ("2.2≤3", "1.2≥8", "1≤2", "1≥2")),
        ("list", "(2.1,v,15) ( e , S , inf )(1,V,∞)", ("(2.1, V, 15)", "(ε, S, ∞)", "(1, V, ∞)")),
        ("order", "  1.1.1, 1.1.2\n2 ", ("1.1.1", "1.1.2", "2")),
        ("uct", "", ()),
        ("tests", "1.2>=8-, 2 > 5 + 1=>3\u2212", ("1.2≥8-", "2>5+", "1≥3-")),
        ("windows", "1(-oo,oo) 1.2 ( 7 , 8 )", ("1(-∞, ∞)", "1.2(7, 8)")),
        ("passes", "0=6 7:-7", ("0=6", "7=-7")),
        ("backup", "1.2=3/5, e = -1 / 9", ("1.2=3/5", "ε=-1/9")),
        ("bounds", "1=[3,6] e: [ 1, 4 ]", ("1=[3, 6]", "ε=[1, 4]")),
        ("counts", "m=81 N=40, k : 17", ("M=81", "N=40", "K=17")),
    ],
)
def test_answers_may_be_written_in_many_ways(kind, text, parts):
    assert make_exercise(ExerciseSpec(kind)).parse_answer(text) == parts


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("values", "1=3 2", "invalid answer '2' (example: 1=3, 2=5, e=5)"),
        ("values", "1=3x", "invalid answer '1=3x'"),
        ("cuts", "2.2=3", "invalid answer '2.2=3'"),
        ("list", "(1, X, 3)", "invalid answer '(1, x, 3)'"),
        ("order", "1.1 one", "invalid answer 'one'"),
        ("order", "1." * 3000, "too long"),
    ],
)
def test_unreadable_answers_are_rejected(kind, text, said):
    with pytest.raises(ValueError, match=r"invalid answer|too long") as caught:
        make_exercise(ExerciseSpec(kind)).parse_answer(text)
    assert said in str(caught.value)


def test_second_answer_for_a_node_is_marked_wrong():
    each = make_exercise(ExerciseSpec("values"))
    mark = each.mark(" ".join([*each.key, "1=99"]))
    assert (mark.right, mark.points, mark.wrong) == (False, len(each.key) - 1, ("1=99",))


@pytest.mark.parametrize(
    ("key", "answer", "ordered", "points"),
    [
        ("a b c d e f g h i j k", "a b c d e f g h i j x", False, 10),
        ("a b", "a x", False, 1),
        ("a b", "b a", False, 2),
        ("a b", "a", False, 1),
        ("a b", "a b x", False, 1),
        ("a b", "a b x y z", False, 0),
        ("a b c d", "b c d", True, 3),
        ("a b c d", "x b c d", True, 3),
        ("a b c d", "a x b c d", True, 3),
        ("a b c d", "a c b d", True, 3),
        ("a b c d", "a b c d", True, 4),
        ("a b c d", "a x b y c z d w", True, 0),
        ("a b a c", "a b a c", True, 4),
        ("a", "", True, 0),
    ],
)
def test_each_correct_part_is_a_point_and_each_superfluous_part_costs_one(
    key, answer, ordered, points
):
    mark = mark_answer(tuple(key.split()), tuple(answer.split()), ordered=ordered)
    assert mark.points == points
    assert mark.right == (points == mark.parts)


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_match_the_key_in_both_languages(kind):
    english, spanish = language.translator("en"), language.translator("es")
    for seed in range(5):
        each = made(kind, seed)
        for translate in (english, spanish):
            assert each.title(translate)
            assert each.question(translate)
        ours, theirs = each.explanation(english), each.explanation(spanish)
        assert len(ours) == len(theirs) > 0
        assert "\n".join(ours) != "\n".join(theirs)
        if kind in ("values", "expectiminimax", "bounds"):
            found = {line.partition(":")[0]: line.rpartition(": ")[2] for line in ours}
            assert {f"{node}={value}" for node, value in found.items()} == set(each.key)
        elif kind == "cuts":
            told = {path for line in ours for path in line.rpartition(": ")[2].split(", ")}
            assert told == {part.partition("≤")[0].partition("≥")[0] for part in each.key}
        elif kind == "list":
            assert ours[-1].partition("  ")[2] == each.key_text()
        elif kind == "uct":
            assert ours[-1].endswith(f" {each.key[0]}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (ExerciseSpec("sums"), "unknown exercise kind 'sums' (expected one of: values, order"),
        (ExerciseSpec("values", depth=9), "exercise depth: must be from 2 to 5 (got 9)"),
        (ExerciseSpec("values", branching=1), "exercise branching: must be from 2 to 5 (got 1)"),
        (ExerciseSpec("values", student=0), "exercise student: must be from 1 to"),
        (ExerciseSpec("values", depth=5, branching=5), "too many leaves for an exercise"),
        (ExerciseSpec("order", algorithm="uct"), "uct: not usable for exercises"),
        (ExerciseSpec("order", algorithm="abc"), "unknown algorithm 'abc'"),
        (
            ExerciseSpec("windows", algorithm="sss-star"),
            "sss-star: not usable for exercises on win",
        ),
        (ExerciseSpec("nim", tree="[1, 2]"), "--tree: no nim exercise is possible on this tree"),
        (ExerciseSpec("values", tree="[1, [x]]"), "2.1: invalid node 'x'"),
        (ExerciseSpec("values", tree="[1, [.inf]]"), "--tree: 2.1: exercises need values with at"),
        (ExerciseSpec("values", tree="[1, 0.123456]"), "--tree: 2: exercises need values with at"),
        (ExerciseSpec("windows", tree="[[1, 2.5], [3, 4]]"), "no windows exercise is possible"),
        (ExerciseSpec("passes", tree="[[1, 2.5], [3, 4]]"), "no passes exercise is possible"),
        (ExerciseSpec("values", tree="3"), "--tree: no values exercise is possible"),
        (ExerciseSpec("cuts", tree="[1, 2]"), "--tree: no cuts exercise is possible on this tree"),
        (
            ExerciseSpec("values", tree="{chances: equal, children: [1, 2]}"),
            "no values exercise is possible on this tree (expected one of: expectiminimax)",
        ),
    ],
)
def test_invalid_exercises_are_rejected(spec, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_exercise(spec)


def test_exercises_on_a_given_tree_are_about_that_tree():
    tree = "[[{name: A, children: [7, 3]}, [9, 1]], [[5, 8], [6, 2]]]"
    for kind in ("values", "order", "cuts", "list", "tests", "passes"):
        each = make_exercise(ExerciseSpec(kind, tree=tree))
        assert each.root == [[[7, 3], [9, 1]], [[5, 8], [6, 2]]]
        key = expected(each)
        assert (each.key if each.ordered else set(each.key)) == key
    tree = "{chances: [1/4, 3/4], children: [[8, 4], [2, 6]]}"
    each = make_exercise(ExerciseSpec("expectiminimax", tree=tree))
    assert each.key == ("ε=6.5", "1=8", "2=6")


@pytest.mark.parametrize("algorithm", ["negascout-1", "negascout-2"])
def test_windows_are_those_of_the_algorithm(algorithm):
    each = make_exercise(ExerciseSpec("windows", seed=3, algorithm=algorithm))
    assert each.title(str).endswith(algorithm)
    windows = [
        f"{format_label(event.label)}({written(event.window[0])}, {written(event.window[1])})"
        for event in search_events(each.root, algorithm)
        if isinstance(event, Entered) and event.label and len(event.label) < 3
    ]
    assert each.key == tuple(windows)


def test_means_with_many_decimals_are_asked_for_in_three_decimals():
    tree = "[{chances: equal, children: [1, 2, 4]}, {chances: [1/16, 15/16], children: [3, 2]}]"
    each = make_exercise(ExerciseSpec("expectiminimax", tree=tree))
    assert each.question(str)[-1] == "Round the values to 3 decimals."
    assert each.key == ("ε=2.333", "1=2.333", "2=2.063")
    assert each.mark("1=2.333, 2=2.063, e=2.333").right
    exact = make_exercise(ExerciseSpec("expectiminimax", seed=5))
    assert len(exact.question(str)) == 1
    large = "{chances: [1/16, 15/16], children: [12345, 12346]}"
    assert make_exercise(ExerciseSpec("expectiminimax", tree=large)).key == ("ε=12345.9375",)
