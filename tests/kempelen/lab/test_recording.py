"""Test that recordings match the algorithms, and that replay works in both directions."""

import json
import re
import string
from itertools import pairwise
from math import log, sqrt

import pytest

from agent.games import catalogue
from agent.games.batch_evaluation import BatchEvaluation
from agent.games.tree import Tree, read_tree
from agent.search import algorithm_spec
from agent.search.catalogue import algorithms
from agent.search.tracing import CutOff, Evaluated, Listed
from kempelen.lab import pseudocode
from kempelen.lab.language import MOVE_WORDS
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem
from kempelen.lab.recordings.record_search import MAX_NODES, record_search
from kempelen.lab.recordings.recorder import recorded_value
from kempelen.lab.recordings.recording import SEARCH_NODE, NodeName, Replay, diff_rows
from kempelen.lab.step_sentences import SENTENCES, translations
from kempelen.lab.terminal_replay import RecordingFormatter
from kempelen.lab.traced_search import trace_search

NODES = 120  # of a recording of a game
SAMPLE = ("nim", "pig", "tree")


def subject_of(game):
    kind = catalogue.find(game)
    depth = UNLIMITED_DEPTH if game == "tree" else 2
    return SearchProblem(game, kind.new(), kind.evaluate, depth, 16 if game == "tree" else 1)


def recorded(game, name, most=NODES):
    """The recording of a small search, or None if the algorithm does not support the game."""
    algorithm = algorithm_spec.parse(f"{name}+playouts=12" if name in BY_PLAYOUTS else name)
    at = subject_of(game)
    return record_search(at, algorithm, max_nodes=most) if algorithm.supports(at.game) else None


def every_part(recording):
    for step in recording.steps:
        yield from step.sentences


def check(recording):
    """Check the invariants of every recording."""
    assert json.loads(json.dumps(recording.as_json(), allow_nan=False))["nodes"]
    for number, node in enumerate(recording.nodes):
        assert -1 <= node.parent < number or not number
    for step in recording.steps:
        assert set(step.lines) <= set(range(len(recording.listing)))
        assert step.lines, step
        assert all(SEARCH_NODE <= node < len(recording.nodes) for node, _, _ in step.changes)
    for key, parts in every_part(recording):
        fields = string.Formatter().parse(SENTENCES[key])
        used = {int(field) for _, field, _, _ in fields if field}
        assert used <= set(range(len(parts))), (key, parts)
    replay = Replay(recording)
    states = [replay.state()]
    while replay.forward():
        states.append(replay.state())
    assert all(one != other or not step.changes for (one, other), step in
               zip(pairwise(states), recording.steps, strict=True))  # fmt: skip
    for at in range(len(states) - 1, -1, -1):
        assert replay.state() == states[at]
        assert replay.step_count == at
        assert replay.back() == (at > 0)
    end = len(recording.steps)
    for forward, back in ((end, end // 2), (end // 3, 5), (end // 2, 1)):
        replay.seek(0)
        replay.seek(forward)
        replay.seek(max(0, forward - back))
        assert replay.state() == states[max(0, forward - back)]


@pytest.mark.thorough(keep=6)
@pytest.mark.parametrize("name", algorithms())
def test_every_algorithm_is_replayed_forward_and_back(name):
    for game in SAMPLE:
        recording = recorded(game, name)
        if recording is not None:
            check(recording)


@pytest.mark.thorough
@pytest.mark.parametrize("game", [each for each in catalogue.builtin_names() if each not in SAMPLE])
def test_every_algorithm_is_replayed_on_every_game(game):
    for name in algorithms():
        recording = recorded(game, name)
        if recording is not None:
            check(recording)


def at_end(recording):
    replay = Replay(recording)
    replay.seek(len(recording.steps))
    return replay


BY_PLAYOUTS = "uct", "ucb1", "alphazero"


@pytest.mark.parametrize("name", algorithms())
def test_final_state_matches_the_search_result_and_counts(name):
    at = subject_of("tree")
    algorithm = algorithm_spec.parse(f"{name}+playouts=40" if name in BY_PLAYOUTS else name)
    search = at.search(algorithm)
    found = search.search(at.game, at.depth)
    replay = at_end(record_search(at, algorithm))
    counts = replay.fields[SEARCH_NODE]
    assert counts["nodes"] == search.counts.nodes
    assert counts["leaves"] == search.counts.leaves
    assert counts.get("cutoffs", 0) == search.counts.cutoffs
    assert not replay.lists.get("stack")
    if name in BY_PLAYOUTS:
        nodes = replay.recording.nodes
        visits = [replay.fields[number].get("visits", 0) for number in replay.fields if number >= 0]
        below = [
            replay.fields.get(number, {}).get("visits", 0)
            for number, node in enumerate(nodes)
            if node.parent == 0
        ]
        assert max(visits) == replay.fields[0]["visits"] == sum(below) == 40
        assert counts["playouts"] == 40
    elif search.exact:
        assert replay.fields[0]["value"].lstrip("≤≥") == f"{found.value:g}"
        assert len(replay.recording.principal) == len(found.pv) + 1


def test_alpha_beta_steps_show_bounds_and_cutoff_reasons():
    at = SearchProblem("tree", Tree([[3, 12], [2, 4]]), lambda game: 0, UNLIMITED_DEPTH)
    recording = record_search(at, algorithm_spec.parse("alpha-beta"))
    replay = Replay(recording)
    assert replay.next_value_change()
    assert [key for key, _ in replay.step.sentences] == ["return", "best", "beta"]
    assert replay.fields[1]["beta"] == "3"
    assert replay.next_cutoff()
    assert replay.step.sentences == (
        ("cut-one", (NodeName(2), NodeName(5))),
        ("cut-why", ("3", "2")),
    )
    assert recording.listing[replay.step.lines[0]].strip().startswith("if α ≥ β")
    assert [row[0] for row in replay.lists["stack"]] == [0, 2]
    replay.seek(10**6)
    assert "value" not in replay.fields.get(6, {})  # it was cut off
    assert recording.nodes[6].known == "4"


@pytest.mark.parametrize(
    ("leaves", "key"),
    [
        ("[[3, 3], [2, 4, 5]]", "cut"),
        ("[[3, 3], [2, 4]]", "cut-one"),
        ("[[3, 3], [4, 2]]", "cut-last"),
    ],
)
def test_cutoff_text_depends_on_the_number_of_skipped_moves(leaves, key):
    at = SearchProblem("t", Tree(json.loads(leaves)), lambda game: 0.0, UNLIMITED_DEPTH)
    recording = record_search(at, algorithm_spec.parse("alpha-beta"))
    (cut,) = [step for step in recording.steps if step.kind == "cut"]
    assert cut.sentences[0][0] == key


@pytest.mark.parametrize("name", ["sss-star", "dual-star"])
@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("tree", {}),
        ("random-tree", {"branching": 4, "depth": 4, "seed": 5}),
        ("random-tree", {"branching": 2, "depth": 7, "seed": 6}),
        ("nim", {"heaps": [2, 3, 1]}),
    ],
)
def test_open_list_matches_the_algorithm_at_every_step(game, options, name):
    kind = catalogue.find(game)
    at = SearchProblem(game, kind.new(**options), kind.evaluate, UNLIMITED_DEPTH)
    algorithm = algorithm_spec.parse(name)
    events = trace_search(at, algorithm).events
    wanted = [event.states for event in events if isinstance(event, Listed)]
    replay = Replay(record_search(at, algorithm))
    labels = [()]
    for place in replay.recording.nodes[1:]:
        labels.append((*labels[place.parent], place.place))
    sign = 1 if name == "sss-star" else -1
    assert len(wanted) > 20
    for states in wanted:
        assert replay.forward()
        rows = replay.lists["open"]
        assert [(labels[node], status, value) for node, (_, status, value) in rows] == [
            (label, "solved" if solved else "live", recorded_value(sign * bound))
            for label, solved, bound in states
        ]
        listed = {number for number, each in replay.fields.items() if "status" in each}
        assert listed == {node for node, _ in rows}
    assert replay.forward()
    assert not replay.lists["open"]
    assert not replay.forward()


@pytest.mark.parametrize("most", [2000, pytest.param(MAX_NODES, marks=pytest.mark.thorough)])
def test_long_open_list_is_recorded_as_changes(most):
    """The size of a recording grows linearly with the nodes."""
    kind = catalogue.find("random-tree")
    at = SearchProblem(
        "t", kind.new(branching=12, depth=4 if most == 2000 else 5), lambda game: 0, 5
    )
    recording = record_search(at, algorithm_spec.parse("sss-star"), max_nodes=most)
    longest = 0
    replay = Replay(recording)
    while replay.forward():
        longest = max(longest, len(replay.lists["open"]))
    assert replay.fields[SEARCH_NODE]["nodes"] == most
    assert longest > (1500 if most == MAX_NODES else 140)
    rows = [
        len(put)
        for step in recording.steps
        for splices in step.lists.values()
        for _, _, put in splices
    ]
    assert sum(rows) < 2 * len(recording.nodes)


@pytest.mark.parametrize("name", ["mtd-f", "sss-star-mtd", "dual-star-mtd"])
def test_each_mtd_pass_highlights_its_line_and_updates_a_bound(name):
    at = subject_of("tree")
    algorithm = algorithm_spec.parse(name)
    search = at.search(algorithm)
    found = search.search(at.game, at.depth)
    recording = record_search(at, algorithm)
    opening = next(n for n, line in enumerate(recording.listing) if "β ← value" in line)
    closing = next(n for n, line in enumerate(recording.listing) if "upper ← value" in line)
    passes = [step for step in recording.steps if opening in step.lines]
    assert len(passes) == search.counts.researches + 1 > 1
    assert [step.sentences[0] for step in passes] == [
        ("new-pass", (number, step.sentences[-1][1][-1])) for number, step in enumerate(passes, 1)
    ]
    bounds = [step.sentences[-1] for step in recording.steps if closing in step.lines]
    assert len(bounds) == len(passes)
    assert bounds[-1] == ("bounds", (NodeName(0), f"{found.value:g}", f"{found.value:g}"))
    assert all("∞" in str(parts) for _, parts in bounds[:1])


WITH_TABLE = [f"{name}+table" for name in ("alpha-beta", "pvs", "negascout-2", "null-move", "bns")]


@pytest.mark.thorough(keep=5)
@pytest.mark.parametrize("name", [*algorithms(), *WITH_TABLE])
def test_every_pseudocode_step_line_is_highlighted(name):
    """Each step highlights a line of the pseudo-code."""
    algorithm = algorithm_spec.parse(f"{name}+playouts=12" if name in BY_PLAYOUTS else name)
    lines, lit = pseudocode.pseudocode(algorithm)
    assert any("table" in line for line in lines) == name.endswith("table")
    missing = {line for numbers in lit.values() for line in numbers}
    pig = catalogue.new_game("pig")
    at = [subject_of(game) for game in ("tree", "tic-tac-toe", "nim", "pig")]
    at.append(SearchProblem("pig", pig, lambda game: 5.0, 2))  # more than a win
    at += [
        SearchProblem(game, catalogue.new_game(game), lambda game: 0.0, 6)
        for game in ("nim", "chess")
    ]
    for each in at:
        if missing and algorithm.supports(each.game):
            recording = record_search(each, algorithm, max_nodes=3000)
            assert all(step.lines for step in recording.steps)
            missing -= {line for step in recording.steps for line in step.lines}
    assert [lines[line] for line in missing] == []


def lines_at(recording, *kinds):
    """The first highlighted line of each step of these kinds, with the key of its sentence."""
    return [
        (step.sentences[0][0], recording.listing[step.lines[0]].strip())
        for step in recording.steps
        if step.kind in kinds
    ]


def all_lines_at(recording, kind):
    """Every highlighted line of each step of this kind, with the key of its sentence."""
    return [
        (step.sentences[0][0], recording.listing[line].strip())
        for step in recording.steps
        if step.kind == kind
        for line in step.lines
    ]


def test_return_step_highlights_the_matching_return_line():
    at = SearchProblem("tree", Tree([[3, 12], [2, 4], [9, 8]]), lambda game: 0.0, UNLIMITED_DEPTH)
    told = {
        name: all_lines_at(record_search(at, algorithm_spec.parse(name)), "return")
        for name in ("alpha-beta-hard", "scout", "alpha-beta", "minimax-two-valued")
    }
    met = ("return", "if α ≥ β: return the bound that was met")
    assert told["alpha-beta-hard"].count(met) == 1
    assert ("return", "return best") in told["alpha-beta"]
    scout = [line for key, line in told["scout"] if key in ("yes", "no")]
    assert "if MIN is to move and not TEST(child, bound, sign): return false" in scout
    assert "return false if MAX is to move, else true" in scout
    assert "return best" not in scout
    wanted = ("return", "if value is what the mover wants: return value")
    assert wanted in told["minimax-two-valued"]


def test_best_node_search_narrows_its_bounds_after_each_guess():
    lines = lines_at(recorded("tree", "bns"), "guess")
    assert lines[0] == ("guess", "guess a value between lower and upper")
    recording = recorded("tree", "bns")
    narrow = next(n for n, line in enumerate(recording.listing) if "pass the test" in line)
    lit = [step.kind for step in recording.steps if narrow in step.lines]
    assert lit == ["guess"] * (len(lines) - 1) + ["done"]


@pytest.mark.thorough(keep=5)
@pytest.mark.parametrize("name", algorithms())
def test_every_step_has_a_description(name):
    for game in SAMPLE:
        recording = recorded(game, name)
        assert recording is None or all(step.sentences for step in recording.steps)


def test_node_answered_from_memory_is_marked_as_shared():
    kind = catalogue.find("nim")
    at = SearchProblem("nim", kind.new(heaps=[1, 2]), kind.evaluate, UNLIMITED_DEPTH)
    replay = at_end(record_search(at, algorithm_spec.parse("and-or")))
    shared = {
        number: fields["shared"] for number, fields in replay.fields.items() if "shared" in fields
    }
    nodes = replay.recording.nodes
    assert shared
    for node, first in shared.items():
        assert nodes[node].board == nodes[first].board
    assert {node.kind for node in nodes} == {"or", "and"}


def test_chance_events_have_probabilities():
    recording = recorded("pig", "expectiminimax")
    faces = [node for node in recording.nodes if node.chance is not None]
    assert {node.move for node in faces} == set("123456")
    assert all(abs(node.chance - 1 / 6) < 1e-9 for node in faces)
    assert any(key == "sum" for key, _ in every_part(recording))


def test_node_names_and_bounds_of_a_tree_are_recorded(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text(
        "name: N1\nchildren:\n- {name: N2, bounds: [3, 6], children: [{name: N4, value: 5}, 6]}\n"
        "- {name: N3, bounds: [1, 3], children: [2, 4]}\n"
    )
    tree = read_tree(file)
    assert tree.root == [[5, 6], [2, 4]]
    recording = record_search(
        SearchProblem("t", tree, lambda game: 0, UNLIMITED_DEPTH), algorithm_spec.parse("b-star")
    )
    assert [node.name for node in recording.nodes] == ["N1", "N2", "N3", "N4", "", "", ""]
    replay = Replay(recording)
    while replay.forward() and not replay.fields.get(2, {}).get("seen"):
        pass
    assert (replay.fields[2]["lower"], replay.fields[2]["upper"]) == ("1", "3")
    # N2 is at least 3, N3 at most 3, so the bounds alone decide which is better.
    assert not any("expanded" in replay.fields.get(node, {}) for node in (1, 2))


@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("", "ab"), ("abc", "c"), ("aa", "aaa"), ("abcd", "axd")]
)
def test_splice_is_correct_and_small(before, after):
    one, other = ([(0, (sign,)) for sign in text] for text in (before, after))
    splice = diff_rows(one, other)
    if splice is None:
        assert one == other
        return
    start, removed, rows = splice
    assert one[:start] + rows + one[start + removed :] == other
    assert removed + len(rows) <= abs(len(one) - len(other)) + 2


@pytest.mark.parametrize("name", algorithms())
def test_pseudocode_has_a_spanish_translation(name):
    lines, lit = pseudocode.pseudocode(algorithm_spec.parse(name))
    assert {"enter", "list", "expand", "select"} & lit.keys()
    english = {"if", "else", "return", "for", "each", "child", "best", "node", "the", "of", "while"}
    for line in lines:
        spanish = pseudocode.translate_line(line, "es")
        assert not english & set(spanish.replace("(", " ").replace(")", " ").split()), spanish


@pytest.mark.parametrize("priors", [True, False])
@pytest.mark.parametrize("name", ["uct", "alphazero", "ucb1"])
def test_batch_evaluated_playouts_are_recorded(name, priors):
    """Each playout ends at its own node, and the pseudo-code matches selection and evaluation."""

    def answer(taken):
        width = max(taken)
        values = [0.1 * moves - 0.5 for moves in taken]
        return values, [[1 / moves] * width for moves in taken] if priors else None

    judge = BatchEvaluation(lambda game, moves: len(moves), answer, 4)
    at = SearchProblem("tic-tac-toe", catalogue.new_game("tic-tac-toe"), judge, 9)
    recording = record_search(at, algorithm_spec.parse(f"{name}+playouts=40"), max_nodes=400)
    check(recording)
    judged = [step.node for step in recording.steps for key, _ in step.sentences if key == "judge"]
    assert len(judged) == 40
    if name != "ucb1":
        assert len(set(judged)) == 40
    replay = at_end(recording)
    assert replay.fields[0]["visits"] == 40
    for number, place in enumerate(recording.nodes):
        visited = judged.count(number) + sum(
            replay.fields[child].get("visits", 0)
            for child, each in enumerate(recording.nodes)
            if each.parent == number and child in replay.fields
        )
        assert replay.fields[number].get("visits", 0) == visited, place
    with_prior = priors or name == "alphazero"
    assert ("P·√N(parent)" in recording.listing[1]) == with_prior
    assert not any("at random" in line for line in recording.listing) or name == "alphazero"
    ((_, _, rows),) = next(
        step.lists["children"] for step in recording.steps if "children" in step.lists
    )
    assert {len(cells) for _, cells in rows} == {5 if with_prior else 4}


def playouts(root, spec, depth=UNLIMITED_DEPTH, seed=0):
    at = SearchProblem("tree", Tree(root), lambda game: 0.0, depth, Tree(root).max_utility())
    return record_search(at, algorithm_spec.parse(spec), seed=seed)


GROWING = [[[3, 5], [2, 9]], [[0, 1], [7, 4]]]


@pytest.mark.parametrize("spec", ["uct+playouts=30", "alphazero+playouts=30", "ucb1+playouts=30"])
def test_bounds_in_tree_and_table_belong_to_the_visits_beside_them(spec):
    replay = Replay(playouts(GROWING, spec))
    name, checked = spec.partition("+")[0], 0
    while replay.forward():
        rows = replay.lists.get("children", [])
        for node, cells in rows:
            fields = replay.fields.get(node, {})
            if replay.step.kind in ("select", "backup", "done") and cells[1]:
                assert (cells[1], cells[2], cells[3]) == (
                    fields["visits"], fields["total"], fields["bound"],
                )  # fmt: skip
                checked += 1
        if replay.step.kind == "backup" and name != "alphazero":
            for number, fields in replay.fields.items():
                parent = replay.recording.nodes[number].parent if number > 0 else -1
                if parent >= 0 and fields.get("visits"):
                    of = replay.fields[parent]["visits"]
                    mean = float(fields["total"]) / fields["visits"]
                    bound = mean + sqrt(2 * log(of) / fields["visits"])
                    assert float(fields["bound"]) == pytest.approx(bound, rel=0.02, abs=0.02)
    assert checked > 30


def test_table_of_children_names_every_child_by_its_path():
    for game in ("tree", "tic-tac-toe", "pig"):
        formatter = RecordingFormatter(recorded(game, "uct"), "en")
        replay = Replay(recorded(game, "uct"))
        while replay.forward():
            for _, (name, *_) in replay.lists.get("children", []):
                assert re.fullmatch(r"[0-9.]+( \(.+\))?", formatter.part(name)), name
                assert (game == "tree") == ("(" not in formatter.part(name))


def test_node_is_expanded_before_it_is_selected():
    recording = playouts(GROWING, "uct+playouts=12")
    replay, grown = Replay(recording), {0}
    while replay.forward():
        step = replay.step
        if step.kind == "select":
            assert recording.nodes[step.node].parent in grown
        if step.kind == "expand":
            ((key, (leaf, child)),) = step.sentences
            assert key == "grow"
            assert recording.nodes[child.node].parent == leaf.node
            grown.add(leaf.node)
    assert len(grown) > 2


@pytest.mark.parametrize("name", ["uct", "ucb1", "alphazero"])
def test_each_random_event_of_a_playout_is_a_step(name):
    recording = recorded("pig", name)
    formatter, replay, drawn = RecordingFormatter(recording, "en"), Replay(recording), 0
    while replay.forward():
        for key, parts in replay.step.sentences:
            if key == "drawn":
                parent, child = parts
                assert recording.nodes[parent.node].kind == "chance"
                assert recording.nodes[child.node].parent == parent.node
                assert replay.step.node == child.node
                assert replay.fields[child.node]["path"]
                assert "Chance: a random event leads from " in formatter.step(replay.step)
                drawn += 1
    assert drawn > 3


def test_playout_to_the_maximum_depth_is_not_called_a_playout_to_the_end():
    line = {
        depth: next(each for each in playouts(GROWING, "uct+playouts=8", depth).listing
                    if "simulation" in each)
        for depth in (2, 3)
    }  # fmt: skip
    assert line[3].endswith("play on at random to the end")
    assert line[2].endswith("to the end or the maximum depth, and evaluate there")
    keys = {key for key, _ in every_part(playouts(GROWING, "uct+playouts=8", 2))}
    assert {"cut-short-one", "cut-short-none"} <= keys
    assert not any(key.startswith("simulate") for key in keys)


def test_rewards_of_the_root_are_for_max():
    """MAX wins at every leaf: the mean reward of the root is 1, not -1."""
    replay = at_end(playouts([[1, 1], [1, 1]], "uct+playouts=10"))
    assert (replay.fields[0]["total"], replay.fields[0]["mean"]) == ("10", "1")
    assert (replay.fields[1]["total"], replay.fields[1]["visits"]) == ("5", 5)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("uct+playouts=40", r"The search ends: 1 is chosen, which has the most visits, N = \d+\."),
        ("uct+playouts=40+final=mean", "which has the greatest mean reward, W/N = "),
        ("uct+playouts=40+final=ucb", "which has the greatest upper bound, "),
        ("alpha-beta", "The search ends: the best move is 1, with the value 5."),
        ("bns", "The search ends: the best move is 1, with the value ≥2."),
        ("and-or", "The search ends: the best move is 1, with the value >0."),
        (
            "sss-star",
            "The root is solved: 5. The search ends: the best move is 1, with the value 5.",
        ),
        ("b-star", "It may end, because 1 is worth at least 5, and the others at most 1."),
    ],
)
def test_end_tells_the_chosen_move_and_why(spec, said):
    recording = playouts(GROWING, spec)
    assert re.search(said, RecordingFormatter(recording, "en").step(recording.steps[-1]))


def test_numbers_agree_with_their_nouns():
    """No "1 moves", "✂ 0" or "-0"."""
    for name in algorithms():
        for game in SAMPLE:
            if (recording := recorded(game, name)) is None:
                continue
            formatter = RecordingFormatter(recording, "en")
            for step in recording.steps:
                text = formatter.step(step)
                assert not re.search(r"\b1 (moves|nodes|children|states)\b|-0\b(?!\.\d)", text)
                for _, field, value in step.changes:
                    assert value != "-0"
                    assert field != "cut" or value != 0


def test_table_and_memory_steps_light_their_lines():
    lit = {
        "store": {"put best into the table"},
        "remember": {"if the table has a usable entry for node: return it"},
    }
    nim = catalogue.find("nim")
    at = SearchProblem("nim", nim.new(heaps=[2, 2]), nim.evaluate, UNLIMITED_DEPTH)
    recording = record_search(at, algorithm_spec.parse("alpha-beta+table"))
    found = set()
    for step in recording.steps:
        key = step.sentences[0][0]
        if key in lit:
            found.add(key)
            lines = {recording.listing[line].strip() for line in step.lines}
            take = "best ← max of best and -alphabeta(child, -β, -α); α ← max of α and best"
            assert lines - {take} == lit[key]
    assert found == lit.keys()


def test_chance_nodes_and_restarts_light_their_lines():
    pig = catalogue.new_game("pig")
    recording = record_search(
        SearchProblem("pig", pig, lambda game: 5.0, 2), algorithm_spec.parse("expectiminimax")
    )
    sums = [step for step in recording.steps if any(key == "sum" for key, _ in step.sentences)]
    assert sums
    for step in sums:
        lines = [recording.listing[line].strip() for line in step.lines]
        assert "chance: sum ← sum + probability · value(child)" in lines
        assert not any(line.startswith(("MAX", "MIN")) for line in lines)
    (anew,) = [step for step in recording.steps if step.kind == "anew"]
    assert "restart with a higher one" in recording.listing[anew.lines[0]]


def test_null_move_lights_the_line_of_the_pass():
    chess = catalogue.find("chess")
    at = SearchProblem(
        "chess", chess.new(fen="4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1"), chess.evaluate, 3
    )
    recording = record_search(at, algorithm_spec.parse("null-move+reduction=1"), max_nodes=3000)
    formatter = RecordingFormatter(recording, "en")
    passes = [step for step in recording.steps if recording.nodes[step.node].move == "pass"]
    entered = [step for step in passes if step.kind == "enter"]
    lines = [{formatter.line(line).strip() for line in step.lines} for step in entered]
    wanted = {"search(node, α, β):", "best ← the value if the mover passes, searched less deep"}
    assert lines
    assert all(each == wanted for each in lines)
    assert all(formatter.step(step).startswith("Let the mover pass at ") for step in entered)
    cuts = [step for step in recording.steps if step.sentences[0][0] == "cut-pass"]
    assert cuts
    assert all(
        [formatter.line(line).strip() for line in step.lines] == ["if even that reaches β: cut off"]
        for step in cuts
    )
    assert not any(key == "no-pass" for key, _ in every_part(recording))


def test_flat_monte_carlo_pseudocode_has_no_expansion():
    lines, lit = pseudocode.pseudocode(algorithm_spec.parse("ucb1"))
    assert "expand" not in lit
    assert not any("expansion" in line for line in lines)


def test_every_sentence_has_a_spanish_translation():
    spanish = translations()["es"]
    same = {key for key, english in SENTENCES.items() if english == spanish["sentences"][key]}
    assert same == {"no", "cut-why"}
    assert set(MOVE_WORDS) <= spanish["words"].keys()


def test_sss_star_uses_the_terms_of_the_lecture_notes():
    """In the lecture notes the list is LISTA, and its states are VIVO and SOLUCIONADO."""
    texts = translations()["es"]
    terms = [texts["words"][word] for word in ("open", "live", "solved")]
    assert terms == ["LISTA", "vivo", "solucionado"]
    lines, _ = pseudocode.pseudocode(algorithm_spec.parse("sss-star"))
    spanish = [pseudocode.translate_line(line, "es") for line in lines]
    told = [*spanish, *texts["sentences"].values()]
    assert not any("ABIERTA" in text or "OPEN" in text or "resuelt" in text for text in told)
    assert spanish[0].startswith("LISTA ← (raíz, vivo, ∞)")


def test_detailed_events_do_not_change_leaf_and_cutoff_counts():
    for name in ("alpha-beta+table", "mtd-f", "bns", "and-or"):
        at = subject_of("tree")
        algorithm = algorithm_spec.parse(name)
        events = trace_search(at, algorithm).events
        replay = at_end(record_search(at, algorithm))
        leaves = sum(isinstance(event, Evaluated) for event in events)
        cuts = sum(isinstance(event, CutOff) for event in events)
        assert replay.fields[SEARCH_NODE]["leaves"] == leaves
        assert replay.fields[SEARCH_NODE].get("cutoffs", 0) == cuts
        assert replay.lists.get("memory") or name == "bns"


@pytest.mark.parametrize("name", ["alpha-beta", "pvs", "negascout-2"])
def test_quiescence_search_does_not_call_an_inner_node_a_leaf(name):
    """Standing pat gives a node a first value; captures follow."""
    chess = catalogue.find("chess")
    game = chess.new(fen="6k1/8/8/3p1p2/4Q3/8/8/4K3 w - - 0 1")
    spec = algorithm_spec.parse(f"{name}+continuation")
    recording = record_search(SearchProblem("chess", game, chess.evaluate, 1), spec, max_nodes=400)
    said = {}
    for step in recording.steps:
        said.setdefault(step.sentences[0][0], []).append(step)
    for step, following in pairwise(recording.steps):
        if step.kind in ("evaluate", "stand"):
            assert following.kind == {"evaluate": "return", "stand": "enter"}[step.kind]
    assert said["stand"]
    formatters = [RecordingFormatter(recording, language) for language in ("en", "es")]
    for step in said["stand"]:
        (line,) = step.lines
        english, spanish = (each.line(line).strip() for each in formatters)
        assert english.startswith("in quiescence search: ")
        assert spanish.startswith("en la búsqueda de quietud: ")
        assert " without a move; " in formatters[0].step(step)
        assert " sin jugar; " in formatters[1].step(step)
    assert "stand" not in pseudocode.pseudocode(algorithm_spec.parse(name))[1]


def test_move_with_most_visits_is_not_said_to_be_chosen_if_it_is_proven_to_lose():
    root = [
        [[1, -1], [-1, -1], [1, -1, 1]],
        [[-1, -1], [1, -1, 1]],
        [[-1, 1], [-1, -1]],
    ]
    recording = playouts(root, "uct+playouts=12+solver", seed=5)
    assert RecordingFormatter(recording, "en").step(recording.steps[-1]) == (
        "The search ends: 2 is chosen; moves that rank higher are proven to lose."
    )
