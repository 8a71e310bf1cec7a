from math import inf
from pathlib import Path

from agent.games.tree import EXAMPLE, Tree, evaluate, read_tree
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.sss_star import DualStar, SSSStar, State, write_state
from agent.search.tracing import Listed, traced

DATA = Path(__file__).parents[3] / "data" / "trees"
ROWS = Path(__file__).parents[4] / "kempelen" / "lab" / "notes" / "sss_star.txt"


def test_states_match_the_lecture_notes_row_by_row():
    rows = []

    def tell(event):
        if isinstance(event, Listed):
            rows.append(", ".join(map(write_state, event.states)))

    search = traced(SSSStar(evaluate), tell)
    found = search.search(read_tree(DATA / "sss_star.yaml"), 4)
    expected = ROWS.read_text(encoding="utf-8").splitlines()
    assert [f"{number} {row}" for number, row in enumerate(rows, 1)] == expected
    assert found.value == 11
    assert found.pv == (2, 2, 2, 1)
    assert search.counts.leaves == 8
    assert search.counts.peak_open == 4


def test_alpha_beta_has_no_cutoffs_in_the_example():
    search = AlphaBeta(evaluate)
    assert search.search(Tree(EXAMPLE), 4).value == 11
    assert search.counts.leaves == 16
    assert search.counts.cutoffs == 0


def test_dual_star_raises_its_bound_to_the_value():
    events = []
    search = traced(DualStar(evaluate), events.append)
    assert search.search(Tree(EXAMPLE), 4).value == 11
    last = [event.states[0].bound for event in events if isinstance(event, Listed)]
    # It works on negated values, whose bounds fall.
    assert last == sorted(last, reverse=True)
    assert last[-1] == -11


def test_states_are_written_as_in_the_notes():
    assert write_state(State((), False, inf)) == "(ε, V, ∞)"
    assert write_state(State((2, 1), True, 15.0)) == "(2.1, S, 15)"
    assert write_state(State((1,), True, 2.5)) == "(1, S, 2.5)"
