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

Localize = Callable[[str, str], str]  # selects the English or the Spanish text


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
    """A tree with the title of its picture. If `strategy` is true, it has no visit order."""

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


def build_figures(localize: Localize, translate: language.Translator) -> Iterator[NoteFigure]:
    """Yield all figures in the order of the lecture notes."""
    for make in FIGURE_BUILDERS:
        yield make(localize, translate)


def _run(
    name: str,
    game: NotatedGame[Any],
    depth: int = UNLIMITED_DEPTH,
    evaluate: Callable[[Any], float] = lambda game: 0.0,
) -> TracedSearch:
    problem = SearchProblem(name, game, evaluate, depth)
    return trace_search(problem, algorithm_spec.parse(name))


def _sss_star(localize: Localize, translate: language.Translator) -> NoteFigure:
    run = _run("sss-star", Tree(EXAMPLE))
    lists = [event.states for event in run.events if isinstance(event, Listed)]
    rows = [f"{row} {', '.join(map(write_state, states))}" for row, states in enumerate(lists, 1)]
    said = _SSS_STAR_ROWS.read_text(encoding="utf-8").splitlines()
    cutting = _run("alpha-beta", Tree(EXAMPLE)).counts
    table = [
        NoteRow(f"LISTA, {localize('row', 'fila')} {number}", old, new)
        for number, (old, new) in enumerate(zip(said, rows, strict=True), 1)
    ]
    table += [
        NoteRow(
            localize("cut-offs of alpha-beta", "podas de alfa-beta"), "0", str(cutting.cutoffs)
        ),
        NoteRow(
            localize("leaves that SSS* evaluates, of all", "hojas que evalúa SSS*, del total"),
            "1/2",
            f"{run.counts.leaves // 8}/{cutting.leaves // 8}",
        ),
    ]
    return NoteFigure(
        "000",
        "sss-star",
        localize("A run of SSS*, row by row", "Ejecución de SSS*, fila a fila"),
        localize(
            "The rows determine eight leaves. SSS* never evaluates the others. They are chosen "
            "here so that alpha-beta cuts nothing, as the note says.",
            "Las filas determinan ocho hojas. SSS* nunca evalúa las demás. Se han elegido aquí "
            "para que alfa-beta no pode nada, como dicen los apuntes.",
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


def _alpha_beta_example(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        localize("Alpha-beta, step by step", "Alfa-beta, paso a paso"),
        localize(
            "Steps 1 to 9 give the values of the left half. The leaves of the right half, and "
            "those that are cut off, are chosen here.",
            "Los pasos 1 a 9 dan los valores de la mitad izquierda. Las hojas de la mitad derecha, "
            "y las podadas, se han elegido aquí.",
        ),
        (
            NoteRow(
                localize("leaves on the left, in order", "hojas a la izquierda, en orden"),
                "N16 N17 N18 N20 N21",
                " ".join(f"N{number}" for number in left),
            ),
            NoteRow("V(N8)", "20", values[8]),
            NoteRow(localize("V(N9), cut off by N18", "V(N9), podado por N18"), "≤19", values[9]),
            NoteRow("V(N4)", "20", values[4]),
            NoteRow("V(N10)", "20", values[10].lstrip("≥")),
            NoteRow(localize("V(N5), N11 cut off", "V(N5), N11 podado"), "≥20", values[5]),
            NoteRow("V(N2)", "20", values[2]),
            NoteRow("V(N1)", "20", values[1]),
            NoteRow(
                localize("cut-offs on the right", "podas a la derecha"),
                localize("several", "varias"),
                localize("several", "varias")
                if sum(cut not in (5, 9) for cut in cuts) > 1
                else "1",
            ),
        ),
        (TreePicture("alpha-beta", root),),
    )


def _dewey(localize: Localize, translate: language.Translator) -> NoteFigure:
    root = search_tree(Tree(EXAMPLE), UNLIMITED_DEPTH, [], (), translate)
    for count, node in enumerate(root.iter_nodes(), 1):
        node.order, node.value, node.is_principal = count, language.format_label(node.label), False
    return NoteFigure(
        "000",
        "dewey",
        localize("Dewey's decimal notation", "Notación decimal de Dewey"),
        "",
        pictures=(TreePicture("ε, 1, 1.1, ...", root, strategy=True),),
    )


def _scout(localize: Localize, translate: language.Translator) -> NoteFigure:
    run = _run("scout", Tree([[8, 10], [12, 5]]))
    asked = [event for event in run.events if isinstance(event, Entered)]
    evaluated = [event.label for event in asked if event.procedure == "eval"]
    tested = [event.test for event in asked if event.label == (2,) and event.test]
    root = run.tree(translate)
    cutting = _run("alpha-beta", Tree([[8, 10], [12, 5]])).counts
    answer = {"≤8": localize("false", "FALSO"), ">8": localize("true", "CIERTO")}
    return NoteFigure(
        "000",
        "scout",
        localize("SCOUT: a test instead of an evaluation", "SCOUT: una prueba en vez de evaluar"),
        localize(
            "The text gives the value of N1, the result of the test of N2, and that alpha-beta "
            "cuts nothing. The leaves are chosen here.",
            "El texto da el valor de N1, el resultado de la prueba de N2, y que alfa-beta no poda "
            "nada. Las hojas se han elegido aquí.",
        ),
        (
            NoteRow("EVAL(N1)", "8", root.children[0].value),
            NoteRow(
                "TEST(N2, 8, >)",
                localize("false", "FALSO"),
                answer.get(root.children[1].value, root.children[1].value)
                if tested == [(">", 8)]
                else str(tested),
            ),
            NoteRow(
                localize("EVAL(N2) is called", "se llama a EVAL(N2)"),
                localize("no", "no"),
                localize("yes", "sí") if (2,) in evaluated else localize("no", "no"),
            ),
            NoteRow(
                localize("leaves that alpha-beta cuts off", "hojas que poda alfa-beta"),
                "0",
                str(4 - cutting.leaves),
            ),
        ),
        (TreePicture("SCOUT", root),),
    )


def _deepening(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        localize(
            "Cost of progressive deepening: inner nodes",
            "Coste de la bajada progresiva: nodos no terminales",
        ),
        localize(
            "Counted in trees that minimax traverses.",
            "Contados en árboles que minimax recorre.",
        ),
        tuple(rows),
    )


def _pruning(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        localize("Heuristic pruning", "Poda heurística"),
        localize(
            "Factor(node) = Factor(parent) - Rank(node), here from 4 at the root, with children "
            "ordered by g. Each node keeps at least one move, unless the game is over.",
            "Factor(Nodo) = Factor(Padre(Nodo)) - Rango(Nodo), aquí desde 4 en la raíz, con los "
            "hijos ordenados por g. Cada nodo conserva al menos una jugada, salvo que la partida "
            "haya acabado.",
        ),
        tuple(rows),
        (TreePicture("minimax", run.tree(translate)),),
    )


def _all_alike(branching: int, depth: int) -> Tree:
    node: Node = 0
    for _ in range(depth):
        node = [node] * branching
    return Tree(node)


def _cost(localize: Localize, translate: language.Translator) -> NoteFigure:
    explanation = localize(
        "the note's 2 B^((d+1)/2) counts the first term twice; Knuth and Moore have "
        "B^((d+1)/2) + B^((d-1)/2) - 1",
        "el 2 B^((d+1)/2) de los apuntes cuenta dos veces el primer término; Knuth y Moore dan "
        "B^((d+1)/2) + B^((d-1)/2) - 1",
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
        label = f"{prefix}: α-β, {localize('best case', 'mejor caso')}, {what}"
        rows.append(NoteRow(label, str(said), best, explanation if depth % 2 else ""))
    return NoteFigure(
        "000",
        "cost",
        localize("Computational cost", "Coste computacional"),
        localize(
            "Leaves counted in trees whose moves are all equally good: the best case of "
            "alpha-beta.",
            "Hojas contadas en árboles cuyas jugadas valen todas lo mismo: el mejor caso de "
            "alfa-beta.",
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


def _examined_nodes(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        localize("States examined, without and with pruning", "Estados examinados, sin y con poda"),
        localize(
            "Tic-tac-toe; the computer answers each move of the human. The boards are pictures in "
            "the note. This game reproduces all eight numbers.",
            "Gato (tres en raya); la computadora contesta cada jugada del humano. Los tableros son "
            "imágenes en los apuntes. Esta partida da los ocho números.",
        ),
        tuple(rows),
    )


def _open_lines(game: TicTacToe) -> float:
    """Return the number of lines open to the side to move, minus those open to the opponent."""
    return game.open_lines(game.turn) - game.open_lines(1 - game.turn)


def _open_lines_figure(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        what = f"{child.move}: {len(child.children)} {localize('answers', 'respuestas')}"
        rows.append(NoteRow(what, None, child.value))
    rows.append(NoteRow(localize("best move", "mejor jugada"), None, root.value))
    return NoteFigure(
        "002",
        "tic-tac-toe",
        localize(
            "Tic-tac-toe, two plies, without symmetric positions (and in 003)",
            "Tres en raya, dos niveles, sin posiciones simétricas (y en 003)",
        ),
        localize(
            "f(n) = E(n) = open lines of MAX minus those of MIN. The text gives one value; the "
            "others are in the pictures.",
            "f(n) = E(n) = líneas abiertas de MAX menos las de MIN. El texto da un valor; los "
            "demás están en las imágenes.",
        ),
        tuple(rows),
        (TreePicture("minimax", root),),
    )


def _grundy(localize: Localize, translate: language.Translator) -> NoteFigure:
    found = solve.solve_position(
        SearchProblem("grundy", Grundy(7), lambda game: 0.0, UNLIMITED_DEPTH)
    )
    rows = [
        NoteRow(
            localize("value for the first player", "valor para quien empieza"),
            None,
            f"{found.value:+.0f}",
        )
    ]
    rows += [
        NoteRow(
            f"{localize('a heap of', 'un montón de')} {heap}",
            None,
            localize("wins", "gana") if solved(Grundy(heap)) > 0 else localize("loses", "pierde"),
        )
        for heap in range(1, 8)
    ]
    root = solve.strategy_tree(Grundy(7), found, translate, whole=True)
    return NoteFigure(
        "002",
        "grundy",
        localize("Grundy's game as an AND/OR graph", "El juego de Grundy como grafo AND/OR"),
        localize(
            "With 7 counters; the winning strategy is red. The graph of the note is a picture, but "
            "it follows from the rules.",
            "Con 7 fichas; la estrategia ganadora está en rojo. El grafo es una imagen en los "
            "apuntes, pero se sigue de las reglas.",
        ),
        tuple(rows),
        (
            TreePicture(
                localize("Grundy's game, 7 counters", "Juego de Grundy, 7 fichas"), root, True
            ),
        ),
    )


def _efficiency(localize: Localize, translate: language.Translator) -> NoteFigure:
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
                f"{localize('at best', 'en el mejor caso')}, {mean:.1f} "
                f"{localize('in random order', 'en orden aleatorio')}",
            )
        )
    return NoteFigure(
        "002",
        "efficiency",
        localize("Efficiency of alpha-beta", "Eficiencia de alfa-beta"),
        localize(
            "The note gives orders of growth, not counts: O(b^(d/2)) in the best order, "
            "O(b^(3d/4)) in random order, O(b^d) for minimax. Means of 20 random trees.",
            "Los apuntes dan órdenes de crecimiento, no cuentas: O(b^(d/2)) en el mejor orden, "
            "O(b^(3d/4)) en uno aleatorio, O(b^d) en minimax. Medias de 20 árboles aleatorios.",
        ),
        tuple(rows),
    )


def _nim(localize: Localize, translate: language.Translator) -> NoteFigure:
    found = solve.solve_position(
        SearchProblem("nim", Nim((1, 2)), lambda game: 0.0, UNLIMITED_DEPTH)
    )
    root = solve.strategy_tree(Nim((1, 2)), found, translate, whole=True)
    return NoteFigure(
        "003",
        "nim",
        localize(
            "Nim, with the winning strategy in red", "Juego del Nim, en rojo la estrategia ganadora"
        ),
        localize(
            "A subtree in which all final positions are won. The heaps of the note are only in its "
            "picture; these are 1 and 2.",
            "Un subárbol cuyos finales son todos ganadores. Los montones de los apuntes solo están "
            "en la imagen; estos son de 1 y 2.",
        ),
        (NoteRow(localize("value", "valor"), None, f"{found.value:+.0f}"),),
        (TreePicture("Nim 1, 2", root, strategy=True),),
    )


def _letters(localize: Localize, translate: language.Translator) -> NoteFigure:
    run = _run("alpha-beta", Tree([[[2, 3], [5, 9]], [[0, -1], [7, 4]], [[2, 1], [5, 6]]]))
    root = run.tree(translate)
    (first, second, third) = root.children
    return NoteFigure(
        "003",
        "alpha-beta",
        localize("Alpha-beta, the nodes A to E", "Alfa-beta, los nodos A a E"),
        localize(
            "The text gives the bounds. The leaves are chosen here to produce them.",
            "El texto da las cotas. Las hojas se han elegido aquí para obtenerlas.",
        ),
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


def _kinds(localize: Localize, translate: language.Translator) -> NoteFigure:
    def kind(is_chance: bool) -> str:
        return (
            localize("chance", "probabilístico")
            if is_chance
            else localize("deterministic", "determinista")
        )

    rows = []
    for name in catalogue.builtin_names():
        said = kind(_KINDS[name]) if name in _KINDS else None
        rows.append(NoteRow(name, said, kind(isinstance(catalogue.new_game(name), ChanceGame))))
    return NoteFigure(
        "004",
        "kinds-of-games",
        localize("Kinds of games", "Tipos de juegos"),
        localize(
            "The games of this program; all have perfect information.",
            "Los juegos de este programa; todos son de información perfecta.",
        ),
        tuple(rows),
    )


def _best_node(localize: Localize, translate: language.Translator) -> NoteFigure:
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
        localize(
            "Best-node search: the first guess",
            "Búsqueda de mejor nodo (BNS): primera prueba",
        ),
        "α + (β - α) · (n - 1) / n",
        tuple(rows),
    )


FIGURE_BUILDERS: tuple[Callable[[Localize, language.Translator], NoteFigure], ...] = (
    *(_sss_star, _alpha_beta_example, _dewey, _scout, _deepening, _pruning, _cost, _examined_nodes),
    *(_open_lines_figure, _grundy, _efficiency, _nim, _letters, _kinds, _best_node),
)


def omitted_figures(localize: Localize) -> list[tuple[str, str, str]]:
    """Return the lecture note, the figure and the reason for each figure that is not reproduced."""
    leaves = localize(
        "the tree is a picture, and the text gives none of its numbers",
        "el árbol es una imagen, y el texto no da ninguno de sus números",
    )
    boards = localize("the boards are pictures without text", "los tableros son imágenes sin texto")
    hidden = localize(
        "games with hidden information or more than two players are not supported",
        "no se admiten juegos de información oculta ni de más de dos jugadores",
    )
    uncounted = localize(
        "pictures without numbers; such trees can be drawn for any game",
        "imágenes sin números; se pueden dibujar árboles así de cualquier juego",
    )
    cards, cartas = (
        "battleship, bridge, poker, monopoly",
        "hundir la flota, bridge, poker, monopoly",
    )
    missing = (
        ("000", "minimax, and its modified form", "minimax, y el modificado", leaves),
        ("000", "progressive deepening by levels", "la bajada progresiva por niveles", leaves),
        ("001", "the example of pruning", "el ejemplo de poda", boards),
        ("001", "the killer move", "el movimiento asesino", boards),
        ("002", "the minimax example with 9 and 16", "el ejemplo minimax con 9 y 16", leaves),
        ("002", "alpha-beta, examples 1 and 2", "alfa-beta, ejemplos 1 y 2", leaves),
        ("002", "the cuts α (5) and β (3)", "los cortes α (5) y β (3)", leaves),
        ("003", "minimax on two plies", "minimax en dos niveles", leaves),
        ("004", cards, cartas, hidden),
        ("004", "PVS, NegaScout, MTD(f), B*", "PVS, NegaScout, MTD(f), B*", leaves),
        ("004", "the phases of MCTS, and UCB", "las fases de MCTS, y UCB", uncounted),
        ("004", "the values X1, X2, X3 of BNS", "los valores X1, X2 y X3 de BNS", leaves),
    )
    return [(note, localize(english, spanish), why) for note, english, spanish, why in missing]
