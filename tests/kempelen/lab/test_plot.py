import json
import re
from math import isnan

import pytest

from kempelen.lab.plot import THEORY_CURVES

SMALL = ["--branching", "3", "--depth", "3", "--trees", "2"]


def test_points_agree_with_theory(lab):
    status, out, _ = lab("plot", *SMALL, "--json")
    assert status == 0
    points = json.loads(out)["points"]
    for point in points:
        b, d = point["branching"], point["depth"]
        least = b ** -(-d // 2) + b ** (d // 2) - 1
        if point["algorithm"] == "minimax":
            assert point["leaves"] == b**d
        assert point["leaves"] >= least
    shapes = {(point["branching"], point["depth"]) for point in points}
    assert shapes == {(3, 1), (3, 2), (3, 3), (2, 3)}


def test_pearl_curve_is_not_drawn_below_the_minimum():
    laws = {name: law for name, law, _ in THEORY_CURVES}
    drawn = {
        (b, d) for b in range(2, 5) for d in range(1, 9) if not isnan(laws["R^d (Pearl)"](b, d))
    }
    for b, d in drawn:
        assert laws["R^d (Pearl)"](b, d) >= laws["Knuth-Moore"](b, d)
    assert (2, 8) in drawn
    assert (2, 2) not in drawn


def test_distinct_leaves_are_counted_once(lab):
    def leaves(*options):
        _, out, _ = lab("plot", *SMALL, "--algorithm", "scout", "--json", *options)
        return [point["leaves"] for point in json.loads(out)["points"]]

    every, distinct = leaves(), leaves("--distinct")
    assert all(one >= other for one, other in zip(every, distinct, strict=True))
    assert sum(distinct) < sum(every)
    assert max(distinct) <= 27


@pytest.mark.thorough
def test_plot_labels_all_lines(lab, tmp_path):
    picture = tmp_path / "leaves.svg"
    status, out, _ = lab("plot", *SMALL, "-o", picture, "--lang", "es")
    assert (status, out) == (0, f"{picture}\n")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    for text in ("alpha-beta", "mtd-f", "Knuth-Moore", "b^d", "R^d (Pearl)", "hojas"):
        assert any(text in each for each in texts), text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to do (use -o FILE or --json)"),
        (["--json", "--depth", "30"], "at most 100000 leaves"),
        (["--json", "--branching", "1"], "expected a branching factor of at least 2"),
        (["--json", "--algorithm", "foo"], "unknown algorithm 'foo'"),
    ],
)
def test_invalid_arguments_are_rejected(lab, arguments, message):
    status, out, err = lab("plot", *arguments)
    assert (status, out) == (2, "")
    assert message in err
