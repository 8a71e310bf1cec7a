"""`kempelen book`: build opening books from what people write and play, look into them, check them.

`build` compiles YAML repertoires, PGN collections and EPD files; `show`, `merge`, `prune`, `check`
and `extend` take any Polyglot book.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kempelen.console import complain, progress, warm_up, with_progress
from kempelen.numbers import positive, up_to

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import chess

    from agent.limits import Info, Score
    from openings import games
    from openings.growing import Grower
    from openings.polyglot import Entry

# The depths and the loss, in centipawns, at which `check` suspects a move and finds fault.
DEPTH = 10
CONFIRM = 18
MARGIN = 150
# Of `extend`: how much is learned unless something else is asked for, and how often it is saved.
POSITIONS = 100
NODES = 50_000
SAVE_EVERY = 10.0


def configure(parser: ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    from openings.advisor import SHIPPED_BOOK

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="compile repertoires, games and EPD to a book")
    _configure_build(build)
    show = actions.add_parser("show", help="print what a book knows of a position")
    show.add_argument("position", nargs="*", help="a FEN, or moves from the start (SAN or UCI)")
    show.add_argument("--book", type=Path, default=SHIPPED_BOOK, help="default: the shipped book")
    show.set_defaults(act=_show)
    merge = actions.add_parser("merge", help="merge books; the first that has a position counts")
    merge.add_argument("books", nargs="+", type=Path, metavar="BOOK")
    merge.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    merge.add_argument("--add", action="store_true", help="add the weights of all books up")
    merge.set_defaults(act=_merge)
    prune = actions.add_parser("prune", help="leave out moves that are hardly played")
    prune.add_argument("book", type=Path, metavar="BOOK")
    prune.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    prune.add_argument("--best", type=positive, help="keep so many moves of a position")
    prune.add_argument("--min-share", type=_percent, default=0.0, help="percent of all weights")
    prune.set_defaults(act=_prune)
    check = actions.add_parser("check", help="search every move of a book for one that loses")
    check.add_argument("book", type=Path, nargs="?", default=SHIPPED_BOOK, metavar="BOOK")
    check.add_argument("--depth", type=positive, default=DEPTH, help="plies to search")
    check.add_argument(
        "--margin", type=positive, default=MARGIN, help="centipawns that may be lost"
    )
    check.add_argument(
        "--confirm",
        type=positive,
        default=CONFIRM,
        help=f"plies to search again what seems to lose (default {CONFIRM})",
    )
    check.set_defaults(act=_check)
    extend = actions.add_parser("extend", help="grow a book by self-play and search where it ends")
    _configure_extend(extend)
    for action in (build, show, merge, prune, check, extend):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def _configure_build(build: ArgumentParser) -> None:
    build.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="YAML files or folders of them, .pgn and .epd files; where several know a position, "
        "YAML counts before games and games before EPD",
    )
    build.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    games = build.add_argument_group("games (PGN)")
    games.add_argument("--depth", type=positive, default=24, help="plies of a game (default 24)")
    games.add_argument(
        "--min-games",
        type=positive,
        default=3,
        help="leave out moves played less often (default 3)",
    )
    games.add_argument("--min-elo", type=positive, help="of both players")
    games.add_argument("--player", default="", metavar="NAME", help="only this player's moves")
    for name, word in (("--since", "not before"), ("--until", "not after")):
        games.add_argument(name, type=_date, metavar="DATE", help=f"{word} YYYY.MM.DD")
    build.add_argument(
        "--min-score", type=int, metavar="CP", help="EPD: leave out positions of a lower ce"
    )
    build.set_defaults(act=_build)


def _configure_extend(extend: ArgumentParser) -> None:
    extend.add_argument(
        "sources", nargs="+", type=Path, metavar="SOURCE", help="Polyglot books or YAML files"
    )
    extend.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        help="a .bin for the whole book, or a .yaml for what was learned; if it is there, the "
        "work goes on from it",
    )
    extend.add_argument(
        "--positions", type=positive, default=POSITIONS, help=f"to learn (default {POSITIONS})"
    )
    extend.add_argument(
        "--nodes", type=positive, default=NODES, help=f"for each position (default {NODES})"
    )
    extend.add_argument("--time", type=positive, metavar="SECONDS", help="stop after so long")
    extend.add_argument("--depth", type=positive, default=30, help="plies at most (default 30)")
    extend.add_argument(
        "--margin", type=positive, default=30, help="centipawns that a move may be worse by"
    )
    extend.add_argument("--seed", type=int, help="for the same book each time")
    extend.set_defaults(act=_extend)


def run(arguments: Namespace) -> int:
    """Do it; the exit status is 1 where `check` finds fault, 2 where something cannot be done."""
    from agent.evaluation import EvaluationError
    from openings.weights import BookError
    from protocols.uci.values import UciError

    act: Callable[[Namespace], int] = arguments.act
    try:
        return act(arguments)
    except (BookError, EvaluationError, UciError) as error:
        complain(error, "kempelen book")
        return 2


def _percent(text: str) -> float:
    return up_to(100, text) / 100


def _say(arguments: Namespace, found: dict[str, object], text: str) -> int:
    print(json.dumps(found) if arguments.json else text)
    return 0


def _date(text: str) -> str:
    if not re.fullmatch(r"\d{4}(\.\d\d(\.\d\d)?)?", text):
        raise ArgumentTypeError(f"expected a date like 2024 or 2024.03.01, not {text!r}")
    return text


def _build(arguments: Namespace) -> int:
    from openings import epd, games, names, polyglot, repertoire, weights

    pgn = [path for path in arguments.sources if path.suffix.lower() == ".pgn"]
    analysed = [path for path in arguments.sources if path.suffix.lower() == ".epd"]
    written = [path for path in arguments.sources if path not in pgn and path not in analysed]
    _check_output(arguments.output, arguments.sources)
    for path in pgn:
        games.check(path)
    lines = repertoire.read(written)
    built = repertoire.build(lines)
    positions = epd.read(analysed, arguments.min_score)
    filter_ = games.Filter(
        arguments.min_elo or 0, arguments.player, arguments.since or "", arguments.until or ""
    )
    with games.Tally() as tally:
        collector = games.Collector(tally, arguments.depth, filter_)
        for path in pgn:
            _collect(path, collector)
        played = games.entries(tally, arguments.min_games)
        merged = polyglot.merge([built.entries(), played, positions])
        with progress("writing", None) as show:
            first = next(merged, None)
            if first is None:
                why = _counts(collector.games)
                raise weights.BookError(
                    f"{arguments.output} is not written: nothing was kept ({why})"
                )
            entries = _counted(itertools.chain([first], merged), show)
            moves = polyglot.write(arguments.output, entries)
    if built.names:
        names.write(arguments.output.with_suffix(names.SUFFIX), built.names)
    found: dict[str, object] = {}
    if written:
        found.update(lines=len(lines), positions=len(built.weights), names=len(built.names))
    if pgn:
        found.update(games=collector.games["used"])
        found.update({f"games {what}": collector.games[what] for what in ("left out", "damaged")})
    found.update(moves=moves)
    return _say(arguments, found, f"{arguments.output}: {_counts(found)}")


def _check_output(path: Path, sources: Iterable[Path]) -> None:
    """Raise BookError where a book could not be written in the end, or instead of a source."""
    from agent.border.unwritable import require_writable
    from openings import names
    from openings.weights import BookError

    if path.suffix == names.SUFFIX:
        raise BookError(f"{path}: the names of a book lie in such a file; call the book otherwise")
    read = [each for source in sources for each in (source, *_inside(source))]
    require_writable([path], read, BookError, regular=True)


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _counts(found: Mapping[str, object]) -> str:
    return ", ".join(f"{count} {what}" for what, count in found.items()) or "no games"


def _collect(path: Path, collector: games.Collector) -> None:
    from openings.games import collect

    with progress(f"reading {path.name}", path.stat().st_size) as show:
        collect(path, collector, show)


def _board(words: list[str]) -> chess.Board:
    from protocols.uci.position import read_board
    from protocols.uci.values import UciError, shorten

    if words and "/" in words[0]:
        return read_board(" ".join(words))
    board = read_board(None)
    for word in " ".join(words).split():
        san = word.lstrip("0123456789.") if "." in word else word
        if not san:
            continue
        try:
            board.push(_read(board, san))
        except ValueError:
            raise UciError(f"illegal move {shorten(san)} in {board.fen()}") from None
    return board


def _read(board: chess.Board, word: str) -> chess.Move:
    try:
        return board.parse_san(word)
    except ValueError:
        return board.parse_uci(word)


def _show(arguments: Namespace) -> int:
    from openings import names, polyglot
    from openings.advisor import SHIPPED_BOOK

    board = _board(arguments.position)
    with polyglot.reading(arguments.book) as reader:
        entries = list(reader.find_all(board, minimum_weight=0))
    beside = arguments.book.with_suffix(names.SUFFIX)
    known = names.read(beside if beside.exists() else SHIPPED_BOOK.with_suffix(names.SUFFIX))
    total = sum(entry.weight for entry in entries) or 1
    rows: list[dict[str, object]] = []
    for entry in entries:
        san = board.san(entry.move)
        board.push(entry.move)
        name = names.find(known, board)
        board.pop()
        row: dict[str, object] = {
            "san": san,
            "move": entry.move.uci(),
            "weight": entry.weight,
            "share": round(entry.weight / total, 4),
            "name": str(name or ""),
        }
        if statistics := polyglot.MoveStatistics.unpack(entry.learn):
            row["games"] = statistics.games
            row["score"] = round(statistics.points / statistics.games, 3)
        rows.append(row)
    name = names.find(known, board)
    lines = [str(name or "no name"), board.fen()]
    for row in rows:
        games = f"  {row['score']:.1%} of {row['games']} games" if "games" in row else ""
        lines.append(f"{row['san']:8} {row['weight']:6} {row['share']:7.1%}{games}  {row['name']}")
    if not rows:
        lines.append("not in the book")
    found: dict[str, object] = {"fen": board.fen(), "name": str(name or ""), "moves": rows}
    return _say(arguments, found, "\n".join(lines))


def _merge(arguments: Namespace) -> int:
    from openings import polyglot

    for book in arguments.books:
        polyglot.open_book(book).close()
    with progress("merging", sum(map(_size, arguments.books))) as show:
        books = [_counted(polyglot.read(book), show) for book in arguments.books]
        moves = polyglot.write(arguments.output, polyglot.merge(books, add=arguments.add))
    _carry_names(arguments.books, arguments.output)
    return _say(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _prune(arguments: Namespace) -> int:
    from openings import polyglot, weights

    with progress("pruning", _size(arguments.book)) as show:
        entries = _counted(polyglot.read(arguments.book), show)
        kept = polyglot.prune(entries, arguments.best, arguments.min_share)
        first = next(kept, None)
        if first is None:
            raise weights.BookError(
                f"{arguments.output} is not written: nothing is kept; ask for a smaller share"
            )
        moves = polyglot.write(arguments.output, itertools.chain([first], kept))
    _carry_names([arguments.book], arguments.output)
    return _say(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _size(book: Path) -> int:
    """Return how many entries a book has, for a progress bar."""
    from openings.polyglot import reading

    with reading(book) as reader:
        return len(reader)


def _counted(entries: Iterator[Entry], show: Callable[[int], None]) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if number % 1000 == 0:
            show(number)
        yield entry


def _carry_names(sources: list[Path], output: Path) -> None:
    """Write beside a book the names of what it is made of; the first source counts."""
    from openings import names, repertoire

    known: dict[int, names.Name] = {}
    for source in reversed(sources):
        beside = source.with_suffix(names.SUFFIX)
        if not _is_binary(source):
            known.update(repertoire.build(repertoire.read([source])).names)
        elif beside.exists():
            known.update(names.read(beside))
    if known:
        names.write(output.with_suffix(names.SUFFIX), known)


def _extend(arguments: Namespace) -> int:
    from openings import growing, polyglot, repertoire

    output: Path = arguments.output
    as_lines = output.suffix.lower() in repertoire.SUFFIXES
    # A book may grow in its place; what is learned as lines goes to a YAML file of its own.
    _check_output(output, arguments.sources if as_lines else [])
    grower = growing.Grower(
        _analysing(),
        random.Random(arguments.seed),
        arguments.nodes,
        arguments.depth,
        arguments.margin,
    )
    _take_sources(grower, arguments.sources, output, as_lines)
    before = len(grower.book)
    warm_up()

    def save() -> None:
        if as_lines:
            growing.write_lines(output, grower.learned())
        else:
            polyglot.write(output, grower.entries())

    learned = 0
    stopped = "asked for"
    began = saved = time.monotonic()
    try:
        with progress("learning", arguments.positions) as show:
            while learned < arguments.positions:
                if arguments.time and time.monotonic() - began >= arguments.time:
                    stopped = "time is up"
                    break
                if not grower.step():
                    stopped = f"the book is complete to {arguments.depth} plies"
                    break
                learned += 1
                show(learned)
                if time.monotonic() - saved >= SAVE_EVERY:
                    save()
                    saved = time.monotonic()
    finally:
        save()
        if not as_lines:
            _carry_names([*arguments.sources, output], output)
    avoided = sum(not known.weight for known in grower.learned())
    found: dict[str, object] = {
        "learned": learned,
        "positions": len(grower.book),
        "before": before,
        "avoided": avoided,
        "stopped": stopped,
    }
    text = (
        f"{output}: {learned} positions learned ({stopped}), {len(grower.book)} in all, "
        f"{avoided} moves found to lose"
    )
    return _say(arguments, found, text)


def _take_sources(grower: Grower, sources: list[Path], output: Path, as_lines: bool) -> None:
    from openings import polyglot, repertoire

    books = list(sources)
    if output.exists() and not as_lines and output not in sources:
        books.append(output)
    for path in books:
        if _is_binary(path):
            grower.take(polyglot.read(path))
        else:
            grower.take(repertoire.build(repertoire.read([path])).entries())
    if as_lines and output.exists():
        grower.take_lines(repertoire.read([output]))


def _is_binary(path: Path) -> bool:
    from openings.repertoire import SUFFIXES

    return not path.is_dir() and path.suffix.lower() not in SUFFIXES


def _analysing() -> Callable[[chess.Board, int, int], list[Info[chess.Move]]]:
    """Return a search to so many nodes, that gives so many lines, best first."""
    from agent.chess.search import KernelSearch
    from agent.limits import Limits

    search = KernelSearch()

    def analyse(board: chess.Board, nodes: int, lines: int) -> list[Info[chess.Move]]:
        search.arm()
        levels: list[list[Info[chess.Move]]] = []
        for info in search.deepen(board, Limits(nodes=nodes), lines):
            if info.multipv == 1:
                levels.append([])
            levels[-1].append(info)
        return max(reversed(levels), key=len)

    return analyse


def _check(arguments: Namespace) -> int:
    from openings import checking, polyglot

    with polyglot.reading(arguments.book) as reader:
        walk = checking.walk(reader)
    warm_up()

    def losing(visits: list[checking.Visit], depth: int) -> Iterator[tuple[checking.Visit, int]]:
        judged = checking.judge(visits, _searching(depth))
        for visit, score in with_progress(judged, len(visits), f"searching to depth {depth}"):
            if (value := checking.centipawns(score)) < -arguments.margin:
                yield visit, value

    suspects = [visit for visit, _ in losing(walk.visits, arguments.depth)]
    confirmed = [
        {"line": visit.san(), "score": value}
        for visit, value in losing(suspects, max(arguments.confirm, arguments.depth))
    ]
    found: dict[str, object] = {
        "moves": len(walk.visits),
        "illegal": walk.illegal,
        "unreachable": walk.unreachable,
        "suspected": len(suspects),
        "losing": confirmed,
    }
    text = [f"loses {-int(str(each['score'])) / 100:.2f}: {each['line']}" for each in confirmed]
    text.append(
        f"{len(walk.visits)} moves searched, {len(suspects)} suspected, {len(confirmed)} losing, "
        f"{walk.illegal} illegal, {walk.unreachable} not reachable from the start"
    )
    _say(arguments, found, "\n".join(text))
    return 1 if confirmed or walk.illegal else 0


def _searching(depth: int) -> Callable[[chess.Board], Score]:
    """Return the score, for the side to move, of a position with a legal move."""
    from agent.chess.search import KernelSearch
    from agent.limits import Limits

    search = KernelSearch()

    def score(board: chess.Board) -> Score:
        search.arm()
        *_, last = search.deepen(board, Limits(depth=depth))
        return last.score

    return score
