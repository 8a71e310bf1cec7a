"""The tasks of assignments, and the tests that grade a student's function.

A test yields the result of each case: "" if it is right, otherwise an explanation. Its points are
proportional to the number of right cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from random import Random
from types import MappingProxyType
from typing import Any

from agent.game import CHANCE
from agent.games.connect_four import ConnectFour
from agent.games.connect_four import evaluate as evaluate_connect_four
from agent.games.pig import Pig
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import NO_ANNOTATION, ChanceTree, Node, NodeAnnotation, Tree
from agent.io.message import Message, MessageError
from agent.search import algorithm_spec
from agent.search.tree_cursor import Label
from kempelen.lab.assignments.observed_game import ObservedGame

# A student's function.
Solution = Callable[..., Any]
Cases = Iterator[str]

TOLERANCE = 1e-6
RANDOM_TREES = 20
# Search depth in matches, and number of games against each opponent.
MATCH_DEPTH, MATCH_GAMES = 3, 8
PLAYOUTS = 100
EXPLORATION = sqrt(2)


class StudentError(MessageError, ValueError):
    """Raised if a student's function fails. The message explains it to the student."""


class Unreadable:
    """A value of a student's function that is not a number, known by its text only."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


@dataclass(frozen=True)
class GradedTest:
    """A test of one function, with the maximum number of points."""

    name: str
    points: int
    cases: Callable[[Solution], Cases]
    requires: str = ""  # an earlier test, without whose points this one is not run


@dataclass(frozen=True)
class Task:
    """A task: students write `function` in the file `file`."""

    name: str
    file: str
    function: str
    tests: tuple[GradedTest, ...]

    @property
    def points(self) -> int:
        """The maximum number of points of all tests."""
        return sum(test.points for test in self.tests)


def static_value(game: ObservedGame) -> float:
    """Return the value of an inner node of a tree for MAX, or 0: the evaluation of the tests."""
    game.record_leaf()
    tree = game.position
    return (tree.note.static_value or 0) if isinstance(tree, Tree) else 0


# Values of positions.


def _call(solution: Solution, game: ObservedGame, depth: int, *window: float) -> Any:
    return solution(game, depth, *window, static_value)


def _value_case(
    solution: Solution, game: Any, depth: int, expected: float, name: str, *window: float
) -> str:
    value = _call(solution, ObservedGame(game), depth, *window)
    return _compared(value, depth, expected, name)


def _compared(value: Any, depth: int, expected: float, name: str) -> str:
    if not _is_number(value):
        return Message("{}, depth {}: not a number: {}", name, depth, _shortened(value))
    if abs(value - expected) > TOLERANCE:
        return Message(
            "{}, depth {}: expected {:g}, but the function returned {:g}",
            name, depth, expected + 0.0, value + 0.0,
        )  # fmt: skip
    return ""


def _undo_case(solution: Solution, game: Any, name: str, *window: float) -> str:
    observed = ObservedGame(game)
    _call(solution, observed, 9, *window)
    if not observed.plays and not isinstance(game.root, int):
        return Message("{}: the function played no moves", name)
    if observed.plies:
        return Message(
            "{}: {} moves were played but not undone (every play needs an undo)",
            name, observed.plies,
        )  # fmt: skip
    return ""


def _tree_cases(*window: float) -> dict[str, Callable[[Solution], Cases]]:
    """Return the tests of a function that searches trees, by name."""

    def one_level(solution: Solution) -> Cases:
        for root in (7, [3, 9, 4], [-5, -2]):
            name = Message("tree {}", root)
            expected = root if isinstance(root, int) else max(root)
            yield _value_case(solution, Tree(list(root) if isinstance(root, list) else root), 9,
                              expected, name, *window)  # fmt: skip

    def random_trees(solution: Solution) -> Cases:
        random = Random(1)
        for number in range(RANDOM_TREES):
            root = random_tree(random, 2 + number % 3)
            yield _value_case(
                solution, Tree(root), 9, minimax(root), Message("tree {}", root), *window
            )

    def horizon(solution: Solution) -> Cases:
        random = Random(2)
        for _ in range(5):
            root = random_tree(random, 3)
            notes = {
                path: NodeAnnotation(static_value=random.randint(-9, 9))
                for path in inner_nodes(root)
            }
            for depth in (0, 1, 2):
                tree = Tree(root, notes)
                expected = minimax(_cut_tree(root, notes, depth))
                name = Message(
                    "tree {} (static values stand before brackets)", tree_text(root, notes)
                )
                yield _value_case(solution, tree, depth, expected, name, *window)

    def restored(solution: Solution) -> Cases:
        yield _undo_case(
            solution, Tree([[3, 5], [2, 9]]), Message("tree {}", "[[3, 5], [2, 9]]"), *window
        )
        yield _undo_case(
            solution, Tree([[[4, 1], 6], 7]), Message("tree {}", "[[[4, 1], 6], 7]"), *window
        )

    def tic_tac_toe(solution: Solution) -> Cases:
        for squares in ("a1 b2 a2 a3 c1 b1", "b2 a1 c3 a3", "a1 c3 a3 a2 c1"):
            game = TicTacToe()
            names = {game.text(move): move for move in game.moves()}
            for square in squares.split():
                game.play(names[square])
            expected = _reference_value(game, "minimax", 9)
            name = Message("tic-tac-toe after {}", squares)
            yield _value_case(solution, game, 9, expected, name, *window)

    return {
        "one level": one_level,
        "random trees": random_trees,
        "horizon": horizon,
        "undo": restored,
        "tic-tac-toe": tic_tac_toe,
    }


def cut_offs(solution: Solution) -> Cases:
    """Alpha-beta must evaluate the leaves that it cannot cut off, and no others."""
    random = Random(3)
    for number in range(RANDOM_TREES):
        root = random_tree(random, 3 + number % 2)
        game = ObservedGame(Tree(root))
        _call(solution, game, 9, -inf, inf)
        expected = [".".join(map(str, path)) for path in alpha_beta_leaves(root)]
        found = list(game.leaves.values())
        if found == expected:
            yield ""
            continue
        extra = [label for label in found if label not in expected]
        if extra:
            yield Message(
                "tree {}: leaf {} was evaluated, but alpha-beta cuts it off (moves {})",
                root, extra[0], extra[0].replace(".", ", "),
            )  # fmt: skip
        else:
            yield Message(
                "tree {}: expected the leaves {} (such as {}: moves {}), "
                "but the function evaluated {}",
                root, " ".join(expected), expected[0], expected[0].replace(".", ", "),
                " ".join(found) or Message("none"),
            )  # fmt: skip


def chance_node(solution: Solution) -> Cases:
    """Compare the value of a chance node with the mean of its children."""
    for root, chances in (([4, 8], (0.5, 0.5)), ([2, 6, 10], (0.5, 0.25, 0.25))):
        expected = sum(value * chance for value, chance in zip(root, chances, strict=True))
        tree = ChanceTree(list(root), {(): NodeAnnotation(chances=chances)})
        name = Message("chance node {} with the probabilities {}", root, chances)
        yield _value_case(solution, tree, 9, expected, name)


def chance_trees(solution: Solution) -> Cases:
    """MAX, chance, MIN, chance and so on."""
    random = Random(4)
    for number in range(RANDOM_TREES):
        root = random_tree(random, 2 + number % 3)
        notes = {
            path: NodeAnnotation(chances=(0.25, 0.75) if size == 2 else (0.5, 0.25, 0.25))
            for path, size in inner_nodes(root).items()
            if len(path) % 2
        }
        tree = ChanceTree(root, notes)
        expected = _reference_value(tree, "expectiminimax", 99)
        name = Message("tree {} (with probabilities)", tree_text(root, notes))
        yield _value_case(solution, tree, 9, expected, name)


def pig_positions(solution: Solution) -> Cases:
    """Chance events cost no depth, and a player may move twice in a row."""

    def mover_lead(game: Any) -> float:
        return (-1 if game.turn == 1 else 1) * pig_lead(ObservedGame(game))

    for moves, depth in (("", 1), ("", 2), ("roll 5", 2), ("roll 6 hold", 2)):
        game = Pig(8)
        for move in moves.split():
            game.play(move)  # type: ignore[arg-type]
        expected = _reference_value(game, "expectiminimax", depth, evaluate=mover_lead)
        observed = ObservedGame(game)
        name = Message("Pig to 8 after {!r}", moves)
        yield _compared(solution(observed, depth, pig_lead), depth, expected, name)


# Evaluations of Connect Four.


def evaluation_is_a_number(solution: Solution) -> Cases:
    """Check that the evaluation returns finite numbers, which depend on the position."""
    games = list(_connect_four_positions())
    values = [solution(ObservedGame(game)) for game in games]
    is_constant = all(value == values[0] for value in values)
    for game, value in zip(games, values, strict=True):
        if not _is_number(value):
            yield Message("not a number: {}\n{}", _shortened(value), _board(game))
        elif is_constant:
            yield Message("the value is {} in all positions", _shortened(value))
        else:
            yield ""


def evaluation_is_symmetric(solution: Solution) -> Cases:
    """Compare the values of positions and their mirror images."""
    for game in _connect_four_positions():
        mirrored = ConnectFour(game.width, game.height)
        for column in game._played:
            mirrored.play(game.width - 1 - column)
        values = solution(ObservedGame(game)), solution(ObservedGame(mirrored))
        is_right = all(map(_is_number, values)) and abs(values[0] - values[1]) <= TOLERANCE
        yield "" if is_right else Message(
            "the value is {}, but that of the mirror image is {}\n{}",
            *map(_shortened, values), _board(game),
        )  # fmt: skip


def evaluation_prefers_threats(solution: Solution) -> Cases:
    """Compare positions with an open three of the mover, or the opponent, with one without."""
    for columns, better in (("263640", 1), ("026304", -1), ("303136", 1), ("031363", -1)):
        game, quiet = ConnectFour(), ConnectFour()
        for quiet_column, column in enumerate(columns):
            game.play(int(column))
            quiet.play(quiet_column)
        values = solution(ObservedGame(game)), solution(ObservedGame(quiet))
        if all(map(_is_number, values)) and better * (values[0] - values[1]) > 0:
            yield ""
            continue
        text = (
            "the player to move (m) threatens to win: the function returns {} here, but {} "
            "if no discs are connected. It should return more here.\n{}"
            if better > 0
            else "the opponent (t) threatens to win: the function returns {} here, but {} "
            "if no discs are connected. It should return less here.\n{}"
        )
        yield Message(text, *map(_shortened, values), _board(game))


# Selection of MCTS.


def untried_first(solution: Solution) -> Cases:
    """Children without visits come first, in their order."""
    cases = []
    for children in (
        [(0, 0.0), (3, 2.0)],
        [(3, 2.0), (0, 0.0), (0, 0.0)],
        [(3, 2.0), (1, -1.0), (0, 0.0)],
    ):
        expected = next(index for index, (visits, _) in enumerate(children) if not visits)
        cases.append((children, expected))
    yield from _selection_cases(solution, cases)


def greatest_bound(solution: Solution) -> Cases:
    """Otherwise the child with the greatest upper confidence bound is selected."""
    random = Random(5)
    cases: list[tuple[list[tuple[int, float]], int]] = []
    while len(cases) < RANDOM_TREES:
        children = []
        for _ in range(random.randint(2, 5)):
            visits = random.randint(1, 30)
            children.append((visits, float(random.randint(-visits, visits))))
        bounds = upper_bounds(children)
        if sorted(bounds)[-1] - sorted(bounds)[-2] > TOLERANCE:
            cases.append((children, bounds.index(max(bounds))))
    yield from _selection_cases(solution, cases)


def _selection_cases(
    solution: Solution, cases: Sequence[tuple[list[tuple[int, float]], int]]
) -> Cases:
    """Compare the selected children. A function that always returns the same index gets nothing."""
    failures, answers = [], []
    for children, expected in cases:
        parent = sum(visits for visits, _ in children)
        found = solution(parent, list(children))
        answers.append(found)
        is_right = found == expected and not isinstance(found, bool)
        failures.append("" if is_right else Message(
            "select({}, {}): expected {}, but the function returned {}",
            parent, children, expected, _shortened(found),
        ))  # fmt: skip
    if all(found == answers[0] for found in answers):
        failures = [next(filter(None, failures))] * len(failures)
    yield from failures


def upper_bounds(children: Sequence[tuple[int, float]]) -> list[float]:
    """Return W/N + C sqrt(ln N(parent) / N) of each child."""
    parent = sum(visits for visits, _ in children)
    return [total / visits + EXPLORATION * sqrt(log(parent) / visits) for visits, total in children]


# Matches.

Chooser = Callable[[Any], Any]


def _match(
    new_game: Callable[[], Any], student: Chooser, opponents: Sequence[tuple[str, Chooser, float]]
) -> Cases:
    """Play against each opponent. Each is given with the points per game that are needed."""
    for name, opponent, needed in opponents:
        points = 0.0
        for number in range(MATCH_GAMES):
            game, random = new_game(), Random(number // 2)
            side = number % 2
            plies = 0
            while game.outcome() is None and plies < 200:
                if game.turn == CHANCE:
                    events, chances = zip(*game.chance_outcomes(), strict=True)
                    game.play(random.choices(events, chances)[0])
                elif plies < 2:  # both sides of a pair of games begin with the same moves
                    game.play(random.choice(list(game.moves())))
                    plies += 1
                else:
                    game.play((student if game.turn == side else opponent)(game))
                    plies += 1
            outcome = (game.outcome() or 0) * (-1 if side else 1)
            points += 0.5 + 0.5 * ((outcome > 0) - (outcome < 0))
        if points >= needed * MATCH_GAMES:
            yield ""
        else:
            yield Message(
                "match against {}: {:g} points in {} games (at least {:g} are needed)",
                Message(name), points, MATCH_GAMES, needed * MATCH_GAMES,
            )  # fmt: skip


def _best_move(game: Any, value_for_max: Callable[[ObservedGame], float]) -> Any:
    """Return the move after which the value is best for the player to move."""
    sign = -1 if game.turn == 1 else 1
    moves, values = list(game.moves()), []
    for move in moves:
        game.play(move)
        try:
            values.append(sign * _number(value_for_max(ObservedGame(game))))
        finally:
            game.undo()
    return moves[values.index(max(values))]


def _random_mover() -> Chooser:
    random = Random(6)
    return lambda game: random.choice(list(game.moves()))


def _searcher(name: str, depth: int, evaluate: Callable[[Any], float] | None = None) -> Chooser:
    def choose(game: Any) -> Any:
        spec = algorithm_spec.parse(name)
        return spec.new(game, evaluate or (lambda game: 0)).search(game, depth).pv[0]

    return choose


def _search_match(*window: float) -> Callable[[Solution], Cases]:
    def play(solution: Solution) -> Cases:
        def choose(game: Any) -> Any:
            return _best_move(
                game, lambda after: solution(after, MATCH_DEPTH, *window, static_value)
            )

        opponents = [
            ("a random player", _random_mover(), 0.75),
            ("alpha-beta with depth 2", _searcher("alpha-beta", 2), 0.5),
        ]
        yield from _match(TicTacToe, choose, opponents)

    return play


def pig_lead(game: ObservedGame) -> float:
    """Evaluate Pig by the difference of the scores, with half of the points of this turn."""
    scores, player, rolled, _ = game.position.state
    points = list(scores)
    points[player] += rolled / 2
    return float(points[0] - points[1]) / 100


def _expectiminimax_match(solution: Solution) -> Cases:
    def choose(game: Any) -> Any:
        return _best_move(game, lambda after: solution(after, 1, pig_lead))

    opponents = [("a random player", _random_mover(), 0.6)]
    yield from _match(lambda: Pig(20), choose, opponents)


def _evaluation_match(solution: Solution) -> Cases:
    def evaluate(game: Any) -> float:
        return _number(solution(ObservedGame(game)))

    def new_game() -> ConnectFour:
        return ConnectFour(6, 5)

    yield from _match(
        new_game,
        _searcher("alpha-beta", 2, evaluate),
        [
            ("a random player", _random_mover(), 0.75),
            ("alpha-beta with depth 2", _searcher("alpha-beta", 2), 0.5),
            (
                "Kempelen's evaluation with depth 1",
                _searcher("alpha-beta", 1, evaluate_connect_four),
                0.5,
            ),
        ],
    )


def _selection_match(solution: Solution) -> Cases:
    yield from _match(
        TicTacToe,
        lambda game: _mcts_move(game, solution, Random(7)),
        [
            ("a random player", _random_mover(), 0.75),
            ("alpha-beta with depth 2", _searcher("alpha-beta", 2), 0.4),
        ],
    )


def _mcts_move(game: Any, select: Solution, random: Random) -> Any:
    """Return the move with the most visits after some playouts that use a student's selection."""
    # Visits and total rewards of the player who moved to the node, by the moves from the root.
    statistics: dict[tuple[Any, ...], list[float]] = {(): [0, 0.0]}
    for _ in range(PLAYOUTS):
        path: tuple[Any, ...] = ()
        while game.outcome() is None and statistics[path][0]:
            moves = list(game.moves())
            known = [statistics.get((*path, move), [0, 0.0]) for move in moves]
            children = [(int(visits), total) for visits, total in known]
            index = select(sum(visits for visits, _ in children), children)
            if index not in range(len(moves)):
                raise StudentError(
                    "select returned {} for {} children", _shortened(index), len(children)
                )
            move = moves[int(index)]
            path = (*path, move)
            statistics.setdefault(path, [0, 0.0])
            game.play(move)
        length = 0
        while game.outcome() is None:
            game.play(random.choice(list(game.moves())))
            length += 1
        reward = game.outcome()
        for _ in range(length):
            game.undo()
        for ply in range(len(path), -1, -1):
            node = statistics[path[:ply]]
            node[0] += 1
            node[1] += reward if game.turn == 1 else -reward
            if ply:
                game.undo()
    moves = list(game.moves())
    return max(moves, key=lambda move: statistics.get((move,), [0])[0])


# Reference values, written independently of the algorithms.


def random_tree(random: Random, depth: int) -> Any:
    """Return a random tree with 2 or 3 children per inner node, some of them leaves."""
    if depth == 0:
        return random.randint(-20, 20)
    return [
        random_tree(random, depth - 1 if random.random() < 0.85 else 0)
        for _ in range(random.randint(2, 3))
    ]


def inner_nodes(root: Node, path: Label = ()) -> dict[Label, int]:
    """Return the number of children of each inner node, by path."""
    if not isinstance(root, list):
        return {}
    found = {path: len(root)}
    for number, child in enumerate(root, 1):
        found |= inner_nodes(child, (*path, number))
    return found


def tree_text(node: Node, notes: Mapping[Label, NodeAnnotation], path: Label = ()) -> str:
    """Return a tree as text, with static values before brackets and probabilities of children."""
    if not isinstance(node, list):
        return str(node)
    note = notes.get(path, NO_ANNOTATION)
    children = [tree_text(child, notes, (*path, number)) for number, child in enumerate(node, 1)]
    if note.chances:
        pairs = zip(note.chances, children, strict=True)
        children = [f"{chance:g}: {child}" for chance, child in pairs]
    prefix = "" if note.static_value is None else f"{note.static_value:g}"
    return f"{prefix}[{', '.join(children)}]"


def minimax(node: Node, ply: int = 0) -> float:
    """Return the value of a tree for MAX, who moves at the root."""
    if not isinstance(node, list):
        return node
    return (min if ply % 2 else max)(minimax(child, ply + 1) for child in node)


def alpha_beta_leaves(root: Node) -> list[Label]:
    """Return the leaves that alpha-beta evaluates, in order."""
    leaves: list[Label] = []

    def value(node: Node, path: Label, alpha: float, beta: float) -> float:
        if not isinstance(node, list):
            leaves.append(path)
            return node
        for number, child in enumerate(node, 1):
            found = value(child, (*path, number), alpha, beta)
            if len(path) % 2:
                beta = min(beta, found)
            else:
                alpha = max(alpha, found)
            if alpha >= beta:
                break
        return beta if len(path) % 2 else alpha

    value(root, (), -inf, inf)
    return leaves


def _cut_tree(node: Node, notes: dict[Label, NodeAnnotation], depth: int, path: Label = ()) -> Node:
    """Replace the inner nodes at the horizon by their static values."""
    if not isinstance(node, list):
        return node
    if depth == 0:
        return notes[path].static_value or 0
    return [
        _cut_tree(child, notes, depth - 1, (*path, number)) for number, child in enumerate(node, 1)
    ]


def _reference_value(
    game: Any, algorithm: str, depth: int, evaluate: Callable[[Any], float] = lambda game: 0
) -> float:
    value = algorithm_spec.parse(algorithm).new(game, evaluate).search(game, depth).value
    return -value if game.turn == 1 else value


def _connect_four_positions() -> Iterator[ConnectFour]:
    random, count = Random(8), 10
    while count:
        game = ConnectFour()
        for _ in range(random.randint(0, 20)):
            if game.moves():
                game.play(random.choice(game.moves()))
        if game.outcome() is None:
            count -= 1
            yield game


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value == value
        and abs(value) < inf
    )


def _number(value: Any) -> float:
    if not _is_number(value):
        raise StudentError("not a number: {}", _shortened(value))
    return float(value)


def _board(game: ConnectFour) -> str:
    return "\n".join(game.grid())


def call_text(task: Task, arguments: tuple[Any, ...]) -> Message:
    """Return the arguments of a call for a message: a tree, a board or numbers."""
    game = arguments[0]
    if not isinstance(game, ObservedGame):
        return Message("in {}({})", task.function, ", ".join(map(_shortened, arguments)))
    position = game.position
    if len(arguments) == 1:
        return Message("in the position\n{}", _board(position))
    if isinstance(position, Tree):
        text = tree_text(position.root, position.notes)
        return Message("in the tree {}, depth {}", text, arguments[1])
    return Message("with depth {} in the position\n{}", arguments[1], position)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _search_tests(*window: float) -> dict[str, Callable[[Solution], Cases]]:
    return {**_tree_cases(*window), "match": _search_match(*window)}


def _tests(
    points: dict[str, int],
    cases: dict[str, Callable[[Solution], Cases]],
    requires: Mapping[str, str] = MappingProxyType({}),
) -> tuple[GradedTest, ...]:
    return tuple(
        GradedTest(name, number, cases[name], requires.get(name, ""))
        for name, number in points.items()
    )


TASKS = {
    task.name: task
    for task in (
        Task(
            "evaluation", "evaluation.py", "evaluate",
            _tests(
                {"number": 2, "mirror": 2, "threats": 3, "match": 3},
                {
                    "number": evaluation_is_a_number,
                    "mirror": evaluation_is_symmetric,
                    "threats": evaluation_prefers_threats,
                    "match": _evaluation_match,
                },
                {"mirror": "number", "threats": "number", "match": "threats"},
            ),
        ),
        Task(
            "minimax", "minimax.py", "minimax",
            _tests(
                {"one level": 1, "random trees": 3, "horizon": 2, "undo": 1, "tic-tac-toe": 1,
                 "match": 2},
                _search_tests(),
            ),
        ),
        Task(
            "alpha-beta", "alpha_beta.py", "alpha_beta",
            _tests(
                {"one level": 1, "random trees": 2, "cut-offs": 3, "horizon": 1, "undo": 1,
                 "match": 2},
                {**_search_tests(-inf, inf), "cut-offs": cut_offs},
            ),
        ),
        Task(
            "expectiminimax", "expectiminimax.py", "expectiminimax",
            _tests(
                {"chance node": 2, "random trees": 1, "chance trees": 3, "Pig": 2, "undo": 1,
                 "match": 1},
                {
                    **_search_tests(),
                    "chance node": chance_node,
                    "chance trees": chance_trees,
                    "Pig": pig_positions,
                    "match": _expectiminimax_match,
                },
            ),
        ),
        Task(
            "mcts", "mcts.py", "select",
            _tests(
                {"untried": 3, "greatest bound": 5, "match": 2},
                {
                    "untried": untried_first,
                    "greatest bound": greatest_bound,
                    "match": _selection_match,
                },
            ),
        ),
    )
}  # fmt: skip
