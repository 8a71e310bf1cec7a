"""`kempelen book`: build opening books from what people write and play, look into them, check them.

`build` compiles YAML repertoires; `show`, `merge`, `prune` and `check` take any Polyglot book.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kempelen.console import warm_up, with_progress
from kempelen.numbers import positive

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import chess

    from agent.limits import Score

# The depth and the loss, in centipawns, at which `check` finds fault.
DEPTH = 10
MARGIN = 150


def configure(parser: ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    from openings.advisor import SHIPPED_BOOK

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="compile YAML repertoires to a Polyglot book")
    build.add_argument("sources", nargs="+", type=Path, metavar="YAML", help="files or folders")
    build.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    build.set_defaults(act=_build)
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
    check.set_defaults(act=_check)
    for action in (build, show, merge, prune, check):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Do it; the exit status is 1 where `check` finds fault, 2 where something cannot be done."""
    from openings.polyglot import BookError
    from protocols.uci.values import UciError

    act: Callable[[Namespace], int] = arguments.act
    try:
        return act(arguments)
    except (BookError, UciError) as error:
        print(f"kempelen book: {error}", file=sys.stderr)
        return 2


def _percent(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"expected a number from 0 to 100, not {text!r}")
    return number / 100


def _say(arguments: Namespace, found: dict[str, object], text: str) -> int:
    print(json.dumps(found) if arguments.json else text)
    return 0


def _build(arguments: Namespace) -> int:
    from openings import names, polyglot, repertoire

    lines = repertoire.read(arguments.sources)
    built = repertoire.build(lines)
    moves = polyglot.write(arguments.output, built.entries())
    names.write(arguments.output.with_suffix(names.SUFFIX), built.names)
    found: dict[str, object] = {
        "lines": len(lines),
        "positions": len(built.weights),
        "moves": moves,
        "names": len(built.names),
    }
    counts = ", ".join(f"{count} {what}" for what, count in found.items())
    return _say(arguments, found, f"{arguments.output}: {counts}")


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
        if statistics := polyglot.Statistics.unpack(entry.learn):
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
    books = map(polyglot.read, arguments.books)
    moves = polyglot.write(arguments.output, polyglot.merge(books, add=arguments.add))
    return _say(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _prune(arguments: Namespace) -> int:
    from openings import polyglot

    entries = polyglot.read(arguments.book)
    kept = polyglot.prune(entries, arguments.best, arguments.min_share)
    moves = polyglot.write(arguments.output, kept)
    return _say(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _check(arguments: Namespace) -> int:
    from openings import checking, polyglot

    with polyglot.reading(arguments.book) as reader:
        walk = checking.walk(reader)
    warm_up()
    judged = checking.judge(walk.visits, _searching(arguments.depth))
    scores = with_progress(judged, len(walk.visits), f"searching to depth {arguments.depth}")
    losing = [
        {"line": visit.san(), "score": checking.centipawns(score)}
        for visit, score in scores
        if checking.centipawns(score) < -arguments.margin
    ]
    found: dict[str, object] = {
        "moves": len(walk.visits),
        "illegal": walk.illegal,
        "unreachable": walk.unreachable,
        "losing": losing,
    }
    text = [f"loses {-int(str(each['score'])) / 100:.2f}: {each['line']}" for each in losing]
    text.append(
        f"{len(walk.visits)} moves searched, {len(losing)} losing, {walk.illegal} illegal, "
        f"{walk.unreachable} not reachable from the start"
    )
    _say(arguments, found, "\n".join(text))
    return 1 if losing or walk.illegal else 0


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
