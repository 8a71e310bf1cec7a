"""Independent implementations that log each step, in the forms of MAX and MIN of the lecture notes.

They do not use agent.search. Each takes a `Log` and a tree of integers with MAX at the root, and
returns the value for MAX. An entry of the log is one step. `lines` names the lines of pseudo-code
that are at work, by short words, and `said` what changes at the parent.
"""

from dataclasses import dataclass, field
from math import ceil, inf, isfinite, nextafter
from typing import Any

Label = tuple[int, ...]


@dataclass
class Entry:
    """A step: "enter", "leaf", "cut", "store", "return" or "guess"."""

    kind: str
    label: Label
    value: Any = None
    window: tuple[float, float] | None = None
    test: tuple[str, float] | None = None
    again: bool = False
    remembered: bool = False
    is_leaf: bool = False
    skipped: int = 0
    best: float | None = None
    lines: set[str] = field(default_factory=set)
    said: list[tuple[Any, ...]] = field(default_factory=list)


class Log:
    """The steps of a search, and its counts."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.nodes = self.leaves = self.cutoffs = self.researches = 0
        self._calls: set[str] = set()

    def add(self, kind: str, label: Label, *lines: str, **data: Any) -> Entry:
        entry = Entry(kind, label, lines={*lines}, **data)
        if kind == "enter":
            entry.lines |= self._calls
            self._calls = set()
        self.entries.append(entry)
        return entry

    def call(self, *lines: str) -> None:
        """The lines that are about to call the recursive method."""
        self._calls = {*lines}

    def take(self, *lines: str, said: tuple[Any, ...] | None = None) -> None:
        """The caller takes the value that was just returned."""
        self.entries[-1].lines |= {*lines}
        if said is not None:
            self.entries[-1].said.append(said)

    def leaf(self, label: Label, value: Any, line: str = "leaf") -> None:
        self.leaves += 1
        self.add("leaf", label, line, value=value)

    def returned(self, label: Label, value: Any, *lines: str, **data: Any) -> Any:
        self.add("return", label, *lines, value=value, **data)
        return value

    def cut(self, label: Label, by: int, node: list[Any], *lines: str, **data: Any) -> None:
        self.cutoffs += 1
        self.add("cut", label, *lines, value=by, skipped=len(node) - by, **data)


def is_max(label: Label) -> bool:
    return len(label) % 2 == 0


def side(line: str, label: Label) -> str:
    """A line that is for MAX or for MIN."""
    return f"{line}-{'max' if is_max(label) else 'min'}"


def after(value: float) -> float:
    """The next greater value: windows of integers are one wide."""
    return value + 1 if isinstance(value, int) else nextafter(value, inf)


def before(value: float) -> float:
    return value - 1 if isinstance(value, int) else nextafter(value, -inf)


def minimax(log: Log, node: Any, label: Label = (), *, sided: bool = False) -> float:
    """`sided`: MAX and MIN have their own lines."""
    log.add("enter", label, "head")
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", is_leaf=True)
    best = -inf if is_max(label) else inf
    take = side("take", label) if sided else "take"
    for number, child in enumerate(node, 1):
        value = minimax(log, child, (*label, number), sided=sided)
        better = value > best if is_max(label) else value < best
        best = value if better else best
        log.take(take, said=("best", label, value) if better else None)
    return log.returned(label, best, "return")


def expectiminimax(log: Log, node: Any) -> float:
    return minimax(log, node, sided=True)


def expectimax(
    log: Log,
    node: Any,
    chances: dict[Label, tuple[float, ...]],
    label: Label = (),
    *,
    maximises: bool = True,
) -> float:
    """Minimax with chance nodes, after which the same player is to move as before."""
    log.add("enter", label, "head")
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", is_leaf=True)
    if label in chances:
        mean = 0.0
        for number, child in enumerate(node, 1):
            value = expectimax(log, child, chances, (*label, number), maximises=maximises)
            mean += chances[label][number - 1] * value
            log.take("take-chance", said=("sum", label, mean))
        return log.returned(label, mean, "return")
    best = -inf if maximises else inf
    for number, child in enumerate(node, 1):
        value = expectimax(log, child, chances, (*label, number), maximises=not maximises)
        better = value > best if maximises else value < best
        best = value if better else best
        log.take(
            "take-max" if maximises else "take-min", said=("best", label, value) if better else None
        )
    return log.returned(label, best, "return")


def two_valued(log: Log, node: Any, label: Label = ()) -> float:
    log.add("enter", label, "head")
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, 1 if node > 0 else -1, "leaf", is_leaf=True)
    wanted = 1 if is_max(label) else -1
    for number, child in enumerate(node, 1):
        value = two_valued(log, child, (*label, number))
        log.take("take")
        if value == wanted:
            log.cut(label, number, node, "cut")
            return log.returned(label, wanted, "cut")
    return log.returned(label, -wanted, "return")


def and_or(log: Log, node: Any, label: Label = ()) -> float:
    log.add("enter", label, "head")
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        value = 1 if node > 0 else -1
        log.add("store", label, "store", value=(value, value))
        return log.returned(label, value, "return", is_leaf=True)
    wanted = 1 if is_max(label) else -1
    found = -wanted
    for number, child in enumerate(node, 1):
        value = and_or(log, child, (*label, number))
        log.take("take")
        if value == wanted:
            log.cut(label, number, node, side("cut", label))
            found = wanted
            break
    log.add("store", label, "store", value=(found, found))
    return log.returned(label, found, "return")


def alpha_beta(
    log: Log,
    node: Any,
    label: Label = (),
    alpha: float = -inf,
    beta: float = inf,
    *,
    again: bool = False,
) -> float:
    """Fail-soft."""
    window = alpha, beta
    log.add("enter", label, "head", window=window, again=again)
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", window=window, is_leaf=True)
    best = -inf if is_max(label) else inf
    for number, child in enumerate(node, 1):
        value = alpha_beta(log, child, (*label, number), alpha, beta)
        log.take("take")
        if value > best if is_max(label) else value < best:
            best = value
            log.take(said=("best", label, value))
        if is_max(label) and value > alpha:
            alpha = value
            log.take(said=("alpha", label, value))
        if not is_max(label) and value < beta:
            beta = value
            log.take(said=("beta", label, value))
        if alpha >= beta:
            log.cut(label, number, node, "cut", window=(alpha, beta))
            break
    return log.returned(label, best, "return", window=window)


def hard(log: Log, node: Any, label: Label = (), alpha: float = -inf, beta: float = inf) -> float:
    """Alpha-beta of 'Tema 2', whose values of inner nodes stay inside the window."""
    window = alpha, beta
    log.add("enter", label, "head", window=window)
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", window=window, is_leaf=True)
    for number, child in enumerate(node, 1):
        value = hard(log, child, (*label, number), alpha, beta)
        log.take(side("take", label))
        if is_max(label) and value > alpha:
            alpha = value
            log.take(said=("alpha", label, value))
        if not is_max(label) and value < beta:
            beta = value
            log.take(said=("beta", label, value))
        if alpha >= beta:
            log.cut(label, number, node, "cut", window=(alpha, beta))
            return log.returned(label, beta if is_max(label) else alpha, "cut", window=window)
    return log.returned(label, alpha if is_max(label) else beta, "return", window=window)


def height(node: Any) -> int:
    return 1 + max(map(height, node)) if isinstance(node, list) else 0


def pvs(log: Log, node: Any) -> float:
    return _null_windows(log, node, (), -inf, inf, height(node), "pvs")


def negascout_1(log: Log, node: Any) -> float:
    return _null_windows(log, node, (), -inf, inf, height(node), "negascout-1")


def negascout_2(log: Log, node: Any) -> float:
    return _null_windows(log, node, (), -inf, inf, height(node), "negascout-2")


def _null_windows(
    log: Log, node: Any, label: Label, alpha: float, beta: float, below: int, form: str
) -> float:
    """The listings of 'Tema 3.2', with MIN written out. `below` is the distance to maxdepth."""
    window = alpha, beta
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", window=window, is_leaf=True)
    maximises = is_max(label)

    def search(number: int, low: float, high: float, line: str, again: bool = False) -> float:
        child = (*label, number)
        log.call(line)
        log.add("enter", child, "head", window=(low, high), again=again)
        value = _null_windows(log, node[number - 1], child, low, high, below - 1, form)
        log.take(line)
        return value

    for number in range(1, len(node) + 1):
        first = number == 1
        line = "first" if first and form == "pvs" else "test"
        if first:
            value = search(number, alpha, beta, line)
        elif maximises:
            value = search(number, alpha, after(alpha), line)
        else:
            value = search(number, before(beta), beta, line)
        if not first and alpha < value < beta and (form != "negascout-1" or below > 1):
            log.researches += 1
            low, high = (value, beta) if maximises else (alpha, value)
            if form == "negascout-2":
                low, high = alpha, beta
            value = search(number, low, high, "again", again=True)
        log.take("take")
        if maximises and value > alpha:
            alpha = value
            log.take(said=("alpha", label, value))
        if not maximises and value < beta:
            beta = value
            log.take(said=("beta", label, value))
        if alpha >= beta:
            log.cut(label, number, node, "cut", window=(alpha, beta))
            break
    return log.returned(label, alpha if maximises else beta, "return", window=window)


def _entered(search: Any) -> Any:
    """The listings of null windows enter the root themselves."""

    def begun(log: Log, node: Any) -> float:
        log.add("enter", (), "head", window=(-inf, inf))
        return search(log, node)

    return begun


def scout(log: Log, node: Any, label: Label = (), *, again: bool = False) -> float:
    """EVAL of 'Tema 2'."""
    log.add("enter", label, "head", again=again)
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node)
        return log.returned(label, node, "leaf", is_leaf=True)
    log.call("first")
    best = scout(log, node[0], (*label, 1))
    log.take("first", said=("best", label, best))
    for number, child in enumerate(node[1:], 2):
        sign, line = (">", "test-max") if is_max(label) else ("≥", "test-min")
        log.call(line)
        holds = _test(log, child, (*label, number), sign, best)
        log.take(line)
        if holds == is_max(label):
            log.researches += 1
            log.call(side("again", label))
            best = scout(log, child, (*label, number), again=True)
            log.take(side("again", label), said=("best", label, best))
    return log.returned(label, best, "return")


def _test(log: Log, node: Any, label: Label, sign: str, bound: float) -> bool:
    """TEST of 'Tema 2'."""
    test = sign, bound
    log.add("enter", label, "test-head", test=test)
    log.nodes += 1
    if not isinstance(node, list):
        log.leaf(label, node, "compare")
        holds = node > bound if sign == ">" else node >= bound
        return log.returned(label, holds, "compare", test=test, is_leaf=True)
    for number, child in enumerate(node, 1):
        line = side("ask", label)
        log.call(line)
        holds = _test(log, child, (*label, number), sign, bound)
        log.take(line)
        if holds == is_max(label):
            log.cut(label, number, node, line)
            return log.returned(label, holds, line, test=test)
    return log.returned(label, not is_max(label), "none", test=test)


def mtd_f(log: Log, root: Any, guess: float = 0) -> float:
    """MTDF and AlphaBetaWithMemory of 'Tema 3.2'."""
    lower: dict[Label, float] = {}
    upper: dict[Label, float] = {}

    def search(node: Any, label: Label, alpha: float, beta: float) -> float:
        log.nodes += 1
        window = alpha, beta
        if lower.get(label, -inf) >= beta or upper.get(label, inf) <= alpha:
            value = lower[label] if lower.get(label, -inf) >= beta else upper[label]
            return log.returned(label, value, "remember", window=window, remembered=True)
        is_leaf = not isinstance(node, list)
        if is_leaf:
            log.leaf(label, node)
            value = lower[label] = upper[label] = node
        else:
            value = -inf if is_max(label) else inf
            for number, child in enumerate(node, 1):
                log.add("enter", (*label, number), "head", window=window)
                found = search(child, (*label, number), alpha, beta)
                log.take("take")
                if found > value if is_max(label) else found < value:
                    value = found
                    log.take(said=("best", label, value))
                if value >= beta if is_max(label) else value <= alpha:
                    log.cut(label, number, node, "cut", window=window, best=value)
                    break
            if value >= beta:
                lower[label] = value
            else:
                upper[label] = value
        log.add("store", label, "store", value=(lower.get(label, -inf), upper.get(label, inf)))
        return log.returned(label, value, "return", window=window, is_leaf=is_leaf)

    low, high, value = -inf, inf, guess
    passes = 0
    while low < high:
        beta = after(value) if value == low else value
        log.call("guess", "search")
        log.add("enter", (), "head", window=(before(beta), beta), again=passes > 0)
        value = search(root, (), before(beta), beta)
        passes += 1
        if value < beta:
            high = value
        else:
            low = value
        log.take("search", "passed", said=("bounds", (), low, high))
    log.researches = passes - 1
    return value


def sss_star_mtd(log: Log, root: Any) -> float:
    return mtd_f(log, root, inf)


def dual_star_mtd(log: Log, root: Any) -> float:
    return mtd_f(log, root, -inf)


def best_node(log: Log, root: Any) -> tuple[int, float]:
    """BNS of 'Tema 3.2', with an unlimited range. Return the best move and a bound on its value."""
    log.nodes += 1
    if len(root) == 1:
        log.call("try")
        value = alpha_beta(log, root[0], (1,))
        log.take("try")
        return 1, value
    moves = list(range(1, len(root) + 1))
    low, high = -inf, inf
    while True:
        if isfinite(low) and isfinite(high):
            guess: float = low + (high - low) * (len(moves) - 1) / len(moves)
            guess = guess if low < guess else high
        elif isfinite(low):
            guess = low + max(1, abs(low))
        elif isfinite(high):
            guess = high - max(1, abs(high))
        else:
            guess = 0
        guess = ceil(guess)
        log.add("guess", (), *({"narrow", "guess"} if low > -inf or high < inf else {"guess"}),
                value=(guess, len(moves)))  # fmt: skip
        values = {}
        for move in moves:
            log.call("try")
            child, again = root[move - 1], low > -inf or high < inf
            values[move] = alpha_beta(log, child, (move,), guess - 1, guess, again=again)
            log.take("try")
        better = [move for move in moves if values[move] >= guess]
        if better:
            moves, low = better, min(values[move] for move in better)
        else:
            high = max(values.values())
        if len(moves) == 1 or low >= high:
            best = max(moves, key=lambda move: values[move])
            return best, values[best]


@dataclass
class Bounded:
    """A node of B* with the bounds of its value for MAX."""

    label: Label
    low: float
    high: float
    parent: "Bounded | None" = None
    children: "list[Bounded]" = field(default_factory=list)


def b_star(root: Any) -> tuple[int, float, list[tuple[Label, dict[Label, tuple[float, float]]]]]:
    """B* of 'Tema 3.2' with the strategy PROVEBEST, without bounds of inner nodes.

    Return the best move, the lower bound of its value, and for each expansion the node, and all
    bounds at this moment. The last entry is the end.
    """
    top = Bounded((), -inf, inf)
    steps = []
    everything = [top]

    def note(label: Label) -> None:
        steps.append((label, {each.label: (each.low, each.high) for each in everything}))

    def merit(each: Bounded) -> tuple[float, float]:
        if is_max(each.label[:-1]):
            return each.high, each.low
        return -each.low, -each.high

    current = top
    while True:
        if not current.children:
            note(current.label)
            node = root
            for number in current.label:
                node = node[number - 1]
            for number, child in enumerate(node, 1):
                bounds = (-inf, inf) if isinstance(child, list) else (child, child)
                current.children.append(Bounded((*current.label, number), *bounds, current))
            everything += current.children
        ranked = sorted(current.children, key=merit, reverse=True)
        combine = max if is_max(current.label) else min
        low = max(current.low, combine(each.low for each in current.children))
        high = min(current.high, combine(each.high for each in current.children))
        if (low, high) != (current.low, current.high):
            current.low, current.high = low, high
            if current.parent is not None:
                current = current.parent
                continue
        if current is not top:
            current = ranked[0]
            continue
        best, *others = ranked
        if (not others and best.low >= best.high) or (others and best.low >= others[0].high):
            note(())
            return best.label[0], best.low, steps
        current = others[0] if others and best.low >= best.high else best


TRACES = {
    "minimax": minimax,
    "negamax": minimax,
    "expectiminimax": expectiminimax,
    "minimax-two-valued": two_valued,
    "and-or": and_or,
    "alpha-beta": alpha_beta,
    "null-move": alpha_beta,  # there is no null move in a tree
    "alpha-beta-hard": hard,
    "pvs": _entered(pvs),
    "negascout-1": _entered(negascout_1),
    "negascout-2": _entered(negascout_2),
    "scout": scout,
    "mtd-f": mtd_f,
    "sss-star-mtd": sss_star_mtd,
    "dual-star-mtd": dual_star_mtd,
}
