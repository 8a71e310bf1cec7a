"""Reproduce the tables and figures of five Spanish lecture notes on game search.

Where the notes show data only in a picture, this module uses its own data. The text of the figure
mentions this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from agent.game import ChanceGame, NotatedGame, parse_move
from agent.games import catalogue
from agent.games.grundy import Grundy, solved
from agent.games.nim import Nim
from agent.games.random_tree import RandomTree
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import EXAMPLE, Tree
from agent.search import algorithm_spec, tree_complexity
from agent.search.algorithms.best_node_search import BestNodeOptions, BestNodeSearch
from agent.search.algorithms.sss_star import write_state
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.catalogue import algorithm
from agent.search.symmetry_reduced_game import SymmetryReducedGame
from agent.search.tracing import CutOff, Entered, Evaluated, Event, Listed, traced
from kempelen.lab import language, solve
from kempelen.lab.problems import UNLIMITED_DEPTH, SearchProblem
from kempelen.lab.search_tree import SearchTreeNode, search_tree
from kempelen.lab.traced_search import TracedSearch, trace_search

if TYPE_CHECKING:
    from agent.games.tree import Node

NOTES = {
    "000": "Tema 2: Búsqueda en Juegos",
    "001": "Fundamentos de Inteligencia Artificial 10: Estrategia de juego",
    "002": "Tema 6: Búsqueda con adversario",
    "003": "Juegos: Minimax y método Alfa-Beta",
    "004": "Técnicas de Inteligencia Artificial, Tema 3.2: Búsqueda adversaria en juegos",
}
_SSS_STAR_ROWS = Path(__file__).with_name("sss_star.txt")


@dataclass(frozen=True)
class NoteRow:
    """A number from the lecture notes, and the reproduced number.

    `said` is None if the text of the notes does not contain the number. `why` explains a known
    difference.
    """

    what: str
    said: str | None
    found: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the numbers are equal or the notes do not contain the number."""
        return self.said is None or self.said == self.found


@dataclass(frozen=True)
class TreePicture:
    """A tree to draw with a title. If `strategy` is true, it is a strategy without visit order."""

    title: str
    root: SearchTreeNode
    strategy: bool = False


@dataclass(frozen=True)
class NoteFigure:
    """A reproduced table or figure from the lecture notes."""

    note: str
    name: str
    title: str
    text: str
    rows: tuple[NoteRow, ...] = ()
    pictures: tuple[TreePicture, ...] = ()


def build_figures(translate: language.Translator) -> Iterator[NoteFigure]:
    """Yield all figures in the order of the lecture notes."""
    for make in FIGURE_BUILDERS:
        yield make(translate)


def _run(
    name: str,
    game: NotatedGame[Any],
    depth: int = UNLIMITED_DEPTH,
    evaluate: Callable[[Any], float] = lambda game: 0.0,
) -> TracedSearch:
    problem = SearchProblem(name, game, evaluate, depth)
    return trace_search(problem, algorithm_spec.parse(name))


def _sss_star(translate: language.Translator) -> NoteFigure:
    run = _run("sss-star", Tree(EXAMPLE))
    lists = [event.states for event in run.events if isinstance(event, Listed)]
    rows = [f"{row} {', '.join(map(write_state, states))}" for row, states in enumerate(lists, 1)]
    said = _SSS_STAR_ROWS.read_text(encoding="utf-8").splitlines()
    cutting = _run("alpha-beta", Tree(EXAMPLE)).counts
    table = [
        NoteRow(f"LISTA, {translate('row')} {number}", old, new)
        for number, (old, new) in enumerate(zip(said, rows, strict=True), 1)
    ]
    table += [
        NoteRow(translate("cut-offs of alpha-beta"), "0", str(cutting.cutoffs)),
        NoteRow(
            translate("leaves that SSS* evaluates, of all"),
            "1/2",
            f"{run.counts.leaves // 8}/{cutting.leaves // 8}",
        ),
    ]
    return NoteFigure(
        "000",
        "sss-star",
        translate("A run of SSS*, row by row"),
        translate(
            "The rows determine eight leaves. SSS* never evaluates the others. They are chosen "
            "here so that alpha-beta cuts nothing, as the note says."
        ),
        tuple(table),
        (TreePicture("SSS*", run.tree(translate)),),
    )


def _node_number(label: tuple[int, ...]) -> int:
    """Return the heap index of a node: 1 for the root, 2n and 2n + 1 for children of n."""
    number = 1
    for place in label:
        number = 2 * number + place - 1
    return number


def _alpha_beta_example(translate: language.Translator) -> NoteFigure:
    leaves: Node = [
        [[[20, 25], [19, 22]], [[20, 21], [30, 31]]],
        [[[15, 18], [16, 26]], [[23, 24], [27, 28]]],
    ]
    run = _run("alpha-beta", Tree(leaves))
    root = run.tree(translate)
    values = {_node_number(node.label): node.value for node in root.iter_nodes()}
    visited = [_node_number(event.label) for event in run.events if isinstance(event, Evaluated)]
    cuts = [_node_number(event.label) for event in run.events if isinstance(event, CutOff)]
    left = [number for number in visited if number < 24]
    return NoteFigure(
        "000",
        "alpha-beta",
        translate("Alpha-beta, step by step"),
        translate(
            "Steps 1 to 9 give the values of the left half. The leaves of the right half, and "
            "those that are cut off, are chosen here."
        ),
        (
            NoteRow(
                translate("leaves on the left, in order"),
                "N16 N17 N18 N20 N21",
                " ".join(f"N{number}" for number in left),
            ),
            NoteRow("V(N8)", "20", values[8]),
            NoteRow(translate("V(N9), cut off by N18"), "≤19", values[9]),
            NoteRow("V(N4)", "20", values[4]),
            NoteRow("V(N10)", "20", values[10].lstrip("≥")),
            NoteRow(translate("V(N5), N11 cut off"), "≥20", values[5]),
            NoteRow("V(N2)", "20", values[2]),
            NoteRow("V(N1)", "20", values[1]),
            NoteRow(
                translate("cut-offs on the right"),
                translate("several"),
                translate("several") if sum(cut not in (5, 9) for cut in cuts) > 1 else "1",
            ),
        ),
        (TreePicture("alpha-beta", root),),
    )


def _dewey(translate: language.Translator) -> NoteFigure:
    root = search_tree(Tree(EXAMPLE), UNLIMITED_DEPTH, [], (), translate)
    for count, node in enumerate(root.iter_nodes(), 1):
        node.order, node.value, node.is_principal = count, language.format_label(node.label), False
    return NoteFigure(
        "000",
        "dewey",
        translate("Dewey's decimal notation"),
        "",
        pictures=(TreePicture("ε, 1, 1.1, ...", root, strategy=True),),
    )


def _scout(translate: language.Translator) -> NoteFigure:
    run = _run("scout", Tree([[8, 10], [12, 5]]))
    asked = [event for event in run.events if isinstance(event, Entered)]
    evaluated = [event.label for event in asked if event.procedure == "eval"]
    tested = [event.test for event in asked if event.label == (2,) and event.test]
    root = run.tree(translate)
    cutting = _run("alpha-beta", Tree([[8, 10], [12, 5]])).counts
    answer = {"≤8": translate("false"), ">8": translate("true")}
    return NoteFigure(
        "000",
        "scout",
        translate("SCOUT: a test instead of an evaluation"),
        translate(
            "The text gives the value of N1, the result of the test of N2, and that alpha-beta "
            "cuts nothing. The leaves are chosen here."
        ),
        (
            NoteRow("EVAL(N1)", "8", root.children[0].value),
            NoteRow(
                "TEST(N2, 8, >)",
                translate("false"),
                answer.get(root.children[1].value, root.children[1].value)
                if tested == [(">", 8)]
                else str(tested),
            ),
            NoteRow(
                translate("EVAL(N2) is called"),
                translate("no"),
                translate("yes") if (2,) in evaluated else translate("no"),
            ),
            NoteRow(
                translate("leaves that alpha-beta cuts off"),
                "0",
                str(4 - cutting.leaves),
            ),
        ),
        (TreePicture("SCOUT", root),),
    )


def _deepening(translate: language.Translator) -> NoteFigure:
    rows = []
    for branching, depth in ((2, 5), (3, 4), (3, 6), (5, 4), (10, 3)):
        counts = _run("minimax", RandomTree(branching, depth)).counts
        inner_nodes = counts.nodes - counts.leaves
        label = f"B = {branching}, d = {depth}"
        formula = (branching**depth - 1) // (branching - 1)
        rows.append(NoteRow(f"{label}: (B^d - 1) / (B - 1)", str(formula), str(inner_nodes)))
        ratio = branching**depth * (branching - 1) / (branching**depth - 1)
        found = f"{counts.leaves / inner_nodes:.4g}"
        rows.append(NoteRow(f"{label}: B^d (B - 1) / (B^d - 1) ≈ B - 1", f"{ratio:.4g}", found))
    return NoteFigure(
        "000",
        "deepening",
        translate("Cost of progressive deepening: inner nodes"),
        translate("Counted in trees that minimax traverses."),
        tuple(rows),
    )


def _pruning(translate: language.Translator) -> NoteFigure:
    game = BeamLimitedGame(RandomTree(4, 3, seed=1), lambda game: 0.0, 4)
    rows = []
    for rank, move in enumerate(game.moves(), 1):
        game.play(move)
        said = str(4 - rank) if rank < 4 else None
        rows.append(NoteRow(f"Factor = 4 - {rank}", said, str(len(game.moves()))))
        game.undo()
    run = _run("minimax", game)
    return NoteFigure(
        "000",
        "heuristic-pruning",
        translate("Heuristic pruning"),
        translate(
            "Factor(node) = Factor(parent) - Rank(node), here from 4 at the root, with children "
            "ordered by g. Each node keeps at least one move, unless the game is over."
        ),
        tuple(rows),
        (TreePicture("minimax", run.tree(translate)),),
    )


def _all_alike(branching: int, depth: int) -> Tree:
    node: Node = 0
    for _ in range(depth):
        node = [node] * branching
    return Tree(node)


def _cost(translate: language.Translator) -> NoteFigure:
    explanation = translate(
        "the note's 2 B^((d+1)/2) counts the first term twice; Knuth and Moore have "
        "B^((d+1)/2) + B^((d-1)/2) - 1"
    )
    rows = []
    for branching, depth in ((2, 4), (3, 4), (5, 4), (2, 5), (3, 3), (4, 5)):
        prefix = f"B = {branching}, d = {depth}"
        tree = _all_alike(branching, depth)
        minimax_leaves = _run("minimax", tree).counts.leaves
        rows.append(NoteRow(f"{prefix}: MiniMax, B^d", str(branching**depth), str(minimax_leaves)))
        best = str(_run("alpha-beta", tree).counts.leaves)
        if depth % 2 == 0:
            said, what = 2 * branching ** (depth // 2) - 1, "2 B^(d/2) - 1"
        else:
            said = 2 * branching ** ((depth + 1) // 2) + branching ** ((depth - 1) // 2) - 1
            what = "2 B^((d+1)/2) + B^((d-1)/2) - 1"
        label = f"{prefix}: α-β, {translate('best case')}, {what}"
        rows.append(NoteRow(label, str(said), best, explanation if depth % 2 else ""))
    return NoteFigure(
        "000",
        "cost",
        translate("Computational cost"),
        translate(
            "Leaves counted in trees whose moves are all equally good: the best case of alpha-beta."
        ),
        tuple(rows),
    )


# The only tic-tac-toe game, up to the order of the last two squares, with the node counts of the
# notes.
_EXAMINED = (
    ("a3", "59,705", "2,338"),
    ("a3 b2 c1", "1,053", "318"),
    ("a3 b2 c1 b3 b1", "47", "42"),
    ("a3 b2 c1 b3 b1 a1 c3", "5", "5"),
)


def _examined_nodes(translate: language.Translator) -> NoteFigure:
    rows = []
    for line, without, cutting in _EXAMINED:
        for name, said in (("minimax", without), ("alpha-beta", cutting)):
            game = TicTacToe()
            for text in line.split():
                game.play(parse_move(game, text))
            search = algorithm(name)(lambda game: 0.0, algorithm(name).options())
            search.search(game, UNLIMITED_DEPTH)
            rows.append(NoteRow(f"{line}: {name}", said, f"{search.counts.nodes:,}"))
    return NoteFigure(
        "001",
        "examined-states",
        translate("States examined, without and with pruning"),
        translate(
            "Tic-tac-toe; the computer answers each move of the human. The boards are pictures in "
            "the note. This game reproduces all eight numbers."
        ),
        tuple(rows),
    )


def _open_lines(game: TicTacToe) -> float:
    """Return the number of lines open to the side to move, minus those open to the opponent."""
    return game.open_lines(game.turn) - game.open_lines(1 - game.turn)


def _open_lines_figure(translate: language.Translator) -> NoteFigure:
    game = TicTacToe()
    for text in ("b2", "a3"):
        game.play(parse_move(game, text))
    max_lines, min_lines = game.open_lines(0), game.open_lines(1)
    reduced_game = SymmetryReducedGame(TicTacToe())
    run = _run("minimax", reduced_game, 2, lambda reduced_game: _open_lines(reduced_game.game))
    root = run.tree(translate)
    rows = [
        NoteRow(
            "f(n), X b2, O a3", "5 - 4 = 1", f"{max_lines} - {min_lines} = {max_lines - min_lines}"
        )
    ]
    for child in root.children:
        what = f"{child.move}: {len(child.children)} {translate('answers')}"
        rows.append(NoteRow(what, None, child.value))
    rows.append(NoteRow(translate("best move"), None, root.value))
    return NoteFigure(
        "002",
        "tic-tac-toe",
        translate("Tic-tac-toe, two plies, without symmetric positions (and in 003)"),
        translate(
            "f(n) = E(n) = open lines of MAX minus those of MIN. The text gives one value; the "
            "others are in the pictures."
        ),
        tuple(rows),
        (TreePicture("minimax", root),),
    )


def _grundy(translate: language.Translator) -> NoteFigure:
    found = solve.solve_position(
        SearchProblem("grundy", Grundy(7), lambda game: 0.0, UNLIMITED_DEPTH)
    )
    rows = [
        NoteRow(
            translate("value for the first player"),
            None,
            f"{found.value:+z.0f}",
        )
    ]
    rows += [
        NoteRow(
            f"{translate('a heap of')} {heap}",
            None,
            translate("wins") if solved(Grundy(heap)) > 0 else translate("loses"),
        )
        for heap in range(1, 8)
    ]
    root = solve.strategy_tree(Grundy(7), found, translate, whole=True, merged=True)
    return NoteFigure(
        "002",
        "grundy",
        translate("Grundy's game as an AND/OR graph"),
        translate(
            "With 7 counters; the winning strategy is red. An arc joins the moves that all have to "
            "be answered, and a dashed line leads to the same position. The graph of the note is a "
            "picture, but it follows from the rules."
        ),
        tuple(rows),
        (TreePicture(translate("Grundy's game, 7 counters"), root, True),),
    )


def _chess_size(translate: language.Translator) -> NoteFigure:
    branching, depth = 35, 2 * 50
    leaves = tree_complexity.all_leaves(branching, depth)
    best = tree_complexity.min_leaves(branching, depth)
    return NoteFigure(
        "002",
        "chess-size",
        translate("The size of chess"),
        translate(
            "A mean of 35 moves in a position, and of 50 moves of each player in a game. Note 000 "
            "has the same numbers."
        ),
        (
            NoteRow("b^d", "35^100", f"{branching}^{depth}"),
            NoteRow(translate("leaves"), None, f"{leaves:.3g}"),
            NoteRow(f"α-β, {translate('best case')}", None, f"{best:.3g}"),
        ),
    )


def _guaranteed_value(translate: language.Translator) -> NoteFigure:
    leaves = [[9, 16], [7, 12], [2, 20]]
    run = _run("minimax", Tree([[*children] for children in leaves]))
    chosen = run.pv[0]
    root = run.tree(translate)
    return NoteFigure(
        "002",
        "minimax",
        translate("Minimax: the guaranteed value"),
        translate(
            "The text gives the value of the root, and the value that a mistake of MIN would "
            "allow. The other leaves are chosen here."
        ),
        (
            NoteRow(translate("value of the root"), "9", root.value),
            NoteRow(
                translate("after the same move, if MIN plays badly"),
                "16",
                language.format_value(max(leaves[chosen - 1])),
            ),
        ),
        (TreePicture("minimax", root),),
    )


def _tied_moves(translate: language.Translator) -> NoteFigure:
    run = _run("minimax", Tree([[4, 7], [4, 9], [3, 8]]))
    root = run.tree(translate)
    tied = [language.format_label(node.label) for node in root.children if node.value == root.value]
    return NoteFigure(
        "002",
        "plateau",
        translate("A plateau: ties among the moves of the root"),
        translate(
            "Several children of the root have the greatest value, and any of them may be chosen. "
            "The leaves are chosen here."
        ),
        (
            NoteRow(translate("value of the root"), None, root.value),
            NoteRow(translate("moves with this value"), None, ", ".join(tied)),
            NoteRow(translate("chosen move"), None, str(run.pv[0])),
        ),
        (TreePicture("minimax", root),),
    )


def _cuts(translate: language.Translator) -> NoteFigure:
    min_parent: Node = [[3, [4, 1]]]
    max_parent: Node = [5, [4, 9]]
    rows, drawn = [], []
    for title, said, tree, place in (
        (translate("cut β: A is MAX, its parent B has the provisional value"), "3", min_parent, 1),
        (translate("cut α: A is MIN, its parent B has the provisional value"), "5", max_parent, 0),
    ):
        run = _run("alpha-beta", Tree(tree))
        (cut,) = (event.label for event in run.events if isinstance(event, CutOff))
        window = next(
            event.window
            for event in run.events
            if isinstance(event, Entered) and event.label == cut and event.window
        )
        rows.append(NoteRow(title, said, language.format_value(window[place])))
        drawn.append(TreePicture(title, run.tree(translate)))
    return NoteFigure(
        "002",
        "cuts",
        translate("The cuts α and β"),
        translate("The text gives the bound of each cut. The other leaves are chosen here."),
        tuple(rows),
        tuple(drawn),
    )


def _efficiency(translate: language.Translator) -> NoteFigure:
    rows = []
    for branching, depth in ((2, 8), (3, 6), (5, 4)):
        mean = fmean(
            _run("alpha-beta", RandomTree(branching, depth, seed)).counts.leaves
            for seed in range(20)
        )
        rows.append(
            NoteRow(
                f"b = {branching}, d = {depth}: b^(d/2) = {branching ** (depth / 2):.4g}, "
                f"b^(3d/4) = {tree_complexity.random_order_leaves(branching, depth):.4g}, "
                f"b^d = {branching**depth}",
                None,
                f"{tree_complexity.min_leaves(branching, depth)} "
                f"{translate('at best')}, {mean:.1f} "
                f"{translate('in random order')}",
            )
        )
    return NoteFigure(
        "002",
        "efficiency",
        translate("Efficiency of alpha-beta"),
        translate(
            "The note gives orders of growth, not counts: O(b^(d/2)) in the best order, "
            "O(b^(3d/4)) in random order, O(b^d) for minimax. Means of 20 random trees."
        ),
        tuple(rows),
    )


def _win_label(value: float) -> str:
    """Return the label of note 003: 1 if MAX wins, 0 if MIN wins."""
    return "1" if value > 0 else "0"


def _nim(translate: language.Translator) -> NoteFigure:
    found = solve.solve_position(
        SearchProblem("nim", Nim((1, 2)), lambda game: 0.0, UNLIMITED_DEPTH)
    )
    root = solve.strategy_tree(Nim((1, 2)), found, translate, whole=True, label_value=_win_label)
    labels = sorted({node.value for node in root.iter_nodes() if node.is_leaf})
    return NoteFigure(
        "003",
        "nim",
        translate("Nim, with the winning strategy in red"),
        translate(
            "A subtree in which all final positions are won. The heaps of the note are only in its "
            "picture; these are 1 and 2."
        ),
        (
            NoteRow(
                translate("labels of the leaves, won by MIN and by MAX"), "0 1", " ".join(labels)
            ),
            NoteRow(translate("value"), None, root.value),
        ),
        (TreePicture("Nim 1, 2", root, strategy=True),),
    )


def _letters(translate: language.Translator) -> NoteFigure:
    run = _run("alpha-beta", Tree([[[2, 3], [5, 9]], [[0, -1], [7, 4]], [[2, 1], [5, 6]]]))
    root = run.tree(translate)
    (first, second, third) = root.children
    return NoteFigure(
        "003",
        "alpha-beta",
        translate("Alpha-beta, the nodes A to E"),
        translate("The text gives the bounds. The leaves are chosen here to produce them."),
        (
            NoteRow("A (MIN)", "3", first.value),
            NoteRow("B (MAX)", "≥5", first.children[1].value),
            NoteRow("C (MAX)", "3", root.value),
            NoteRow("D (MIN)", "≤0", second.value),
            NoteRow("E (MIN)", "≤2", third.value),
        ),
        (TreePicture("alpha-beta", root),),
    )


_KINDS = {"chess": False, "checkers": False, "go": False, "backgammon": True}


def _kinds(translate: language.Translator) -> NoteFigure:
    kinds = translate("deterministic, chance").split(", ")
    rows = []
    for name in catalogue.builtin_names():
        said = kinds[_KINDS[name]] if name in _KINDS else None
        rows.append(NoteRow(name, said, kinds[isinstance(catalogue.new_game(name), ChanceGame)]))
    return NoteFigure(
        "004",
        "kinds-of-games",
        translate("Kinds of games"),
        translate("The games of this program; all have perfect information."),
        tuple(rows),
    )


def _best_node(translate: language.Translator) -> NoteFigure:
    rows = []
    for children in (2, 3, 4):
        events: list[Event] = []
        search = BestNodeSearch[Any](lambda game: 0.0, BestNodeOptions(low=0, high=12))
        traced(search, events.append).search(
            Tree([[place, place + 2] for place in range(5, 5 + children)]), UNLIMITED_DEPTH
        )
        guess = next(
            event.window[1] for event in events if isinstance(event, Entered) and event.window
        )
        said = 12 * (children - 1) / children
        rows.append(
            NoteRow(
                f"nextGuess(0, 12, {children})",
                language.format_value(said),
                language.format_value(guess),
            )
        )
    return NoteFigure(
        "004",
        "best-node",
        translate("Best-node search: the first guess"),
        "α + (β - α) · (n - 1) / n",
        tuple(rows),
    )


FIGURE_BUILDERS: tuple[Callable[[language.Translator], NoteFigure], ...] = (
    *(_sss_star, _alpha_beta_example, _dewey, _scout, _deepening, _pruning, _cost, _examined_nodes),
    *(_chess_size, _open_lines_figure, _grundy, _guaranteed_value, _tied_moves, _cuts),
    *(_efficiency, _nim, _letters, _kinds, _best_node),
)


def omitted_figures(translate: language.Translator) -> list[tuple[str, str, str]]:
    """Return (lecture note, figure, reason for the omission) for each figure not reproduced."""
    leaves = translate("the tree is a picture, and the text gives none of its numbers")
    boards = translate("the boards are pictures without text")
    hidden = translate("too large; `lab cfr` and `lab max-n` have small games of these kinds")
    uncounted = translate("pictures without numbers; such trees can be drawn for any game")
    missing = (
        ("000", "minimax, and its modified form", leaves),
        ("000", "progressive deepening by levels", leaves),
        ("001", "the example of pruning", boards),
        ("001", "the killer move", boards),
        ("002", "alpha-beta, examples 1 and 2", leaves),
        ("003", "minimax on two plies", leaves),
        ("004", "battleship, bridge, poker, monopoly", hidden),
        ("004", "PVS, NegaScout, MTD(f), B*", leaves),
        ("004", "the phases of MCTS, and UCB", uncounted),
        ("004", "the values X1, X2, X3 of BNS", leaves),
    )
    return [(note, translate(figure), why) for note, figure, why in missing]
