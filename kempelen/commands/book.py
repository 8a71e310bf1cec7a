"""`kempelen book`: build, show, merge, prune, check and extend Polyglot opening books."""

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

from kempelen.console.argument_types import number_up_to, positive_int
from kempelen.console.terminal import (
    SkipReport,
    load_kernels,
    print_error,
    progress_bar,
    read_lines,
    with_progress,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import chess

    from agent.limits import Info, Score
    from openings import pgn_book
    from openings.book_extension import BookExtender
    from openings.polyglot import Entry

# `check`: depths of the first search and of the confirming search, and the loss in centipawns.
DEFAULT_DEPTH = 10
DEFAULT_CONFIRM_DEPTH = 18
DEFAULT_MARGIN = 150
# `extend`: defaults, and seconds between two saves.
DEFAULT_POSITIONS = 100
DEFAULT_NODES = 50_000
SAVE_INTERVAL = 10.0


def configure(parser: ArgumentParser) -> None:
    from openings.book_provider import SHIPPED_BOOK

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="build a book from repertoires, games and EPD files")
    _configure_build(build)
    show = actions.add_parser("show", help="print the moves of a book in a position")
    show.add_argument(
        "position", nargs="*", help="FEN, or moves from the start position (SAN or UCI)"
    )
    show.add_argument(
        "--book", type=Path, default=SHIPPED_BOOK, help="Polyglot book (default: the included one)"
    )
    show.set_defaults(act=_show)
    merge = actions.add_parser(
        "merge", help="merge books; the first book with a position takes precedence"
    )
    merge.add_argument("books", nargs="+", type=Path, metavar="BOOK")
    merge.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    merge.add_argument(
        "--add", action="store_true", help="add up the weights of each move in all books"
    )
    merge.set_defaults(act=_merge)
    prune = actions.add_parser("prune", help="remove moves that are rarely played")
    prune.add_argument("book", type=Path, metavar="BOOK")
    prune.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    prune.add_argument("--best", type=positive_int, help="maximum number of moves per position")
    prune.add_argument(
        "--min-share",
        type=_parse_percent,
        default=0.0,
        help="minimum share of the weights, in percent",
    )
    prune.set_defaults(act=_prune)
    check = actions.add_parser(
        "check", help="search all moves of a book and report the losing ones"
    )
    check.add_argument("book", type=Path, nargs="?", default=SHIPPED_BOOK, metavar="BOOK")
    check.add_argument("--depth", type=positive_int, default=DEFAULT_DEPTH, help="search depth")
    check.add_argument(
        "--margin", type=positive_int, default=DEFAULT_MARGIN, help="maximum loss in centipawns"
    )
    check.add_argument(
        "--confirm",
        type=positive_int,
        default=DEFAULT_CONFIRM_DEPTH,
        help=f"search depth to confirm losing moves (default: {DEFAULT_CONFIRM_DEPTH})",
    )
    check.set_defaults(act=_check)
    extend = actions.add_parser("extend", help="extend a book at its ends, by self-play and search")
    _configure_extend(extend)
    for action in (build, show, merge, prune, check, extend):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def _configure_build(build: ArgumentParser) -> None:
    build.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="YAML files, folders of YAML files, .pgn and .epd files; for the same position, YAML "
        "takes precedence over games, and games over EPD",
    )
    build.add_argument("-o", "--output", type=Path, required=True, metavar="BOOK")
    games = build.add_argument_group("games (PGN)")
    games.add_argument(
        "--depth", type=positive_int, default=24, help="plies used from each game (default: 24)"
    )
    games.add_argument(
        "--min-games",
        type=positive_int,
        default=3,
        help="minimum number of games with a move (default: 3)",
    )
    games.add_argument("--min-elo", type=positive_int, help="minimum rating of both players")
    games.add_argument(
        "--player", default="", metavar="NAME", help="use only the moves of this player"
    )
    for name, word in (("--since", "first date"), ("--until", "last date")):
        games.add_argument(
            name, type=_parse_date, metavar="DATE", help=f"{word} of the games: YYYY.MM.DD"
        )
    build.add_argument(
        "--min-score", type=int, metavar="CP", help="minimum score (ce) of EPD positions"
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
        help="write the whole book (.bin) or the new lines (.yaml); an existing file is extended",
    )
    extend.add_argument(
        "--positions",
        type=positive_int,
        default=DEFAULT_POSITIONS,
        help=f"number of positions to add (default: {DEFAULT_POSITIONS})",
    )
    extend.add_argument(
        "--nodes",
        type=positive_int,
        default=DEFAULT_NODES,
        help=f"nodes per position (default: {DEFAULT_NODES})",
    )
    extend.add_argument("--time", type=positive_int, metavar="SECONDS", help="time limit")
    extend.add_argument(
        "--depth", type=positive_int, default=30, help="maximum number of plies (default: 30)"
    )
    extend.add_argument(
        "--margin", type=positive_int, default=30, help="maximum loss of a move in centipawns"
    )
    extend.add_argument("--seed", type=int, help="random seed, for reproducible books")
    extend.set_defaults(act=_extend)


def run(arguments: Namespace) -> int:
    """Return 0 on success, 1 if `check` finds losing or illegal moves, or 2 after an error."""
    from agent.evaluation import EvaluationError
    from openings.book_common import BookError
    from protocols.uci.parsing import UciError

    act: Callable[[Namespace], int] = arguments.act
    try:
        return act(arguments)
    except (BookError, EvaluationError, UciError) as error:
        print_error(error, "kempelen book")
        return 2


def _parse_percent(text: str) -> float:
    return number_up_to(100, text) / 100


def _print_result(arguments: Namespace, found: dict[str, object], text: str) -> int:
    print(json.dumps(found) if arguments.json else text)
    return 0


def _parse_date(text: str) -> str:
    if not re.fullmatch(r"\d{4}(\.\d\d(\.\d\d)?)?", text):
        raise ArgumentTypeError(f"expected a date such as 2024 or 2024.03.01, not {text!r}")
    return text


def _build(arguments: Namespace) -> int:
    from openings import book_common, epd_book, names, pgn_book, polyglot, repertoire

    pgn = [path for path in arguments.sources if path.suffix.lower() == ".pgn"]
    analysed = [path for path in arguments.sources if path.suffix.lower() == ".epd"]
    written = [path for path in arguments.sources if path not in pgn and path not in analysed]
    _check_output(arguments.output, arguments.sources)
    for path in pgn:
        pgn_book.check_readable(path)
    with progress_bar("reading repertoires", None):
        lines = repertoire.read(written)
        built = repertoire.build(lines)
    skipped = SkipReport("kempelen book")
    positions = epd_book.read(analysed, arguments.min_score, skipped, read_lines)
    filter_ = pgn_book.GameFilter(
        arguments.min_elo or 0, arguments.player, arguments.since or "", arguments.until or ""
    )
    with pgn_book.MoveCounts() as tally:
        collector = pgn_book.MoveCounter(tally, arguments.depth, filter_)
        for path in pgn:
            _collect_games(path, collector)
        played = pgn_book.book_entries(tally, arguments.min_games)
        merged = polyglot.merge([built.entries(), played, positions])
        with progress_bar("writing", None) as show:
            first = next(merged, None)
            if first is None:
                why = _format_counts(collector.game_counts)
                raise book_common.BookError(
                    f"{arguments.output}: not written, as no move was selected ({why})"
                )
            entries = _with_count(itertools.chain([first], merged), show)
            moves = polyglot.write(arguments.output, entries)
    if built.names:
        names.write(arguments.output.with_suffix(names.SUFFIX), built.names)
    found: dict[str, object] = {}
    if written:
        found.update(lines=len(lines), positions=len(built.weights), names=len(built.names))
    if pgn:
        found.update(games=collector.game_counts["used"])
        found.update(
            {f"games {what}": collector.game_counts[what] for what in ("left out", "damaged")}
        )
    if analysed:
        found.update({"EPD lines skipped": skipped.count})
    found.update(moves=moves)
    return _print_result(arguments, found, f"{arguments.output}: {_format_counts(found)}")


def _check_output(path: Path, sources: Iterable[Path]) -> None:
    from agent.io.write_checks import require_writable
    from openings import names
    from openings.book_common import BookError

    if path.suffix == names.SUFFIX:
        raise BookError(f"{path}: suffix reserved for opening names (choose another)")
    read = [each for source in sources for each in (source, *_files_in(source))]
    require_writable([path], read, BookError, regular=True)


def _files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _format_counts(found: Mapping[str, object]) -> str:
    return ", ".join(f"{count} {what}" for what, count in found.items()) or "no games"


def _collect_games(path: Path, collector: pgn_book.MoveCounter) -> None:
    from openings.pgn_book import count_moves

    with progress_bar(f"reading {path.name}", path.stat().st_size) as show:
        report = count_moves(path, collector, show)
    if report.skipped:
        print_error(f"{path}: {report.message()}", "kempelen book")


def _parse_position(words: list[str]) -> chess.Board:
    from protocols.uci.parsing import UciError, shorten
    from protocols.uci.position import read_board

    if words and "/" in words[0]:
        return read_board(" ".join(words))
    board = read_board(None)
    for word in " ".join(words).split():
        san = word.lstrip("0123456789.") if "." in word else word
        if not san:
            continue
        try:
            board.push(_parse_move(board, san))
        except ValueError:
            raise UciError(f"illegal move: {shorten(san)} in {board.fen()}") from None
    return board


def _parse_move(board: chess.Board, word: str) -> chess.Move:
    try:
        return board.parse_san(word)
    except ValueError:
        return board.parse_uci(word)


def _show(arguments: Namespace) -> int:
    from openings import names, polyglot
    from openings.book_provider import SHIPPED_BOOK

    board = _parse_position(arguments.position)
    with polyglot.opened_book(arguments.book) as reader:
        entries = list(reader.find_all(board, minimum_weight=0))
    beside = arguments.book.with_suffix(names.SUFFIX)
    known = names.read(beside if beside.exists() else SHIPPED_BOOK.with_suffix(names.SUFFIX))
    total = sum(entry.weight for entry in entries) or 1
    rows: list[dict[str, object]] = []
    for entry in entries:
        san = board.san(entry.move)
        board.push(entry.move)
        name = names.find_name(known, board)
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
    name = names.find_name(known, board)
    lines = [str(name or "unnamed"), board.fen()]
    for row in rows:
        games = f"  {row['score']:.1%} of {row['games']} games" if "games" in row else ""
        lines.append(f"{row['san']:8} {row['weight']:6} {row['share']:7.1%}{games}  {row['name']}")
    if not rows:
        lines.append("not in the book")
    found: dict[str, object] = {"fen": board.fen(), "name": str(name or ""), "moves": rows}
    return _print_result(arguments, found, "\n".join(lines))


def _merge(arguments: Namespace) -> int:
    from openings import polyglot

    for book in arguments.books:
        polyglot.open_book(book).close()
    with progress_bar("merging", sum(map(_entry_count, arguments.books))) as show:
        books = [_with_count(polyglot.read(book), show) for book in arguments.books]
        moves = polyglot.write(arguments.output, polyglot.merge(books, add=arguments.add))
    _copy_names(arguments.books, arguments.output)
    return _print_result(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _prune(arguments: Namespace) -> int:
    from openings import book_common, polyglot

    with progress_bar("pruning", _entry_count(arguments.book)) as show:
        entries = _with_count(polyglot.read(arguments.book), show)
        kept = polyglot.prune(entries, arguments.best, arguments.min_share)
        first = next(kept, None)
        if first is None:
            raise book_common.BookError(
                f"{arguments.output}: not written, as no move was selected; reduce --min-share"
            )
        moves = polyglot.write(arguments.output, itertools.chain([first], kept))
    _copy_names([arguments.book], arguments.output)
    return _print_result(arguments, {"moves": moves}, f"{arguments.output}: {moves} moves")


def _entry_count(book: Path) -> int:
    from openings.polyglot import opened_book

    with opened_book(book) as reader:
        return len(reader)


def _with_count(entries: Iterator[Entry], show: Callable[[int], None]) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if number % 1000 == 0:
            show(number)
        yield entry


def _copy_names(sources: list[Path], output: Path) -> None:
    """Merge the opening names of all sources into a file beside `output`. The first source wins."""
    from openings import names, repertoire

    known: dict[int, names.OpeningName] = {}
    for source in reversed(sources):
        beside = source.with_suffix(names.SUFFIX)
        if not _is_binary(source):
            known.update(repertoire.build(repertoire.read([source])).names)
        elif beside.exists():
            known.update(names.read(beside))
    if known:
        names.write(output.with_suffix(names.SUFFIX), known)


def _extend(arguments: Namespace) -> int:
    from openings import book_extension, polyglot, repertoire

    output: Path = arguments.output
    as_lines = output.suffix.lower() in repertoire.SUFFIXES
    # A book may overwrite its source, but new lines need a new YAML file.
    _check_output(output, arguments.sources if as_lines else [])
    grower = book_extension.BookExtender(
        _analyser(),
        random.Random(arguments.seed),
        arguments.nodes,
        arguments.depth,
        arguments.margin,
    )
    _load_sources(grower, arguments.sources, output, as_lines)
    before = len(grower.book)
    load_kernels()

    def save() -> None:
        if as_lines:
            book_extension.write_lines(output, grower.learned_moves())
        else:
            polyglot.write(output, grower.entries())

    learned = 0
    stopped = "done"
    began = saved = time.monotonic()
    try:
        with progress_bar("extending", arguments.positions) as show:
            while learned < arguments.positions:
                if arguments.time and time.monotonic() - began >= arguments.time:
                    stopped = "time limit"
                    break
                if not grower.step():
                    stopped = f"the book is complete to {arguments.depth} plies"
                    break
                learned += 1
                show(learned)
                if time.monotonic() - saved >= SAVE_INTERVAL:
                    save()
                    saved = time.monotonic()
    finally:
        save()
        if not as_lines:
            _copy_names([*arguments.sources, output], output)
    avoided = sum(not known.weight for known in grower.learned_moves())
    found: dict[str, object] = {
        "learned": learned,
        "positions": len(grower.book),
        "before": before,
        "avoided": avoided,
        "stopped": stopped,
    }
    text = (
        f"{output}: {learned} positions added ({stopped}), {len(grower.book)} in total, "
        f"{avoided} losing moves found"
    )
    return _print_result(arguments, found, text)


def _load_sources(grower: BookExtender, sources: list[Path], output: Path, as_lines: bool) -> None:
    from openings import polyglot, repertoire

    books = list(sources)
    if output.exists() and not as_lines and output not in sources:
        books.append(output)
    for path in books:
        if _is_binary(path):
            grower.add_entries(polyglot.read(path))
        else:
            grower.add_entries(repertoire.build(repertoire.read([path])).entries())
    if as_lines and output.exists():
        grower.add_lines(repertoire.read([output]))


def _is_binary(path: Path) -> bool:
    from openings.repertoire import SUFFIXES

    return not path.is_dir() and path.suffix.lower() not in SUFFIXES


def _analyser() -> Callable[[chess.Board, int, int], list[Info[chess.Move]]]:
    """Return a function that runs a MultiPV search and returns the lines, best first.

    The arguments of the function are the board, the node limit and the number of lines.
    """
    from agent.chess.search.alphabeta_search import AlphaBetaSearch
    from agent.limits import Limits

    search = AlphaBetaSearch()

    def analyse(board: chess.Board, nodes: int, lines: int) -> list[Info[chess.Move]]:
        search.clear_stop()
        levels: list[list[Info[chess.Move]]] = []
        for info in search.search(board, Limits(nodes=nodes), lines):
            if info.multipv == 1:
                levels.append([])
            levels[-1].append(info)
        return max(reversed(levels), key=len)

    return analyse


def _check(arguments: Namespace) -> int:
    import chess

    from openings import book_check, polyglot

    with polyglot.opened_book(arguments.book) as reader:
        walk = book_check.walk_book(reader)
    load_kernels()

    def losing(
        visits: list[book_check.BookLine], depth: int
    ) -> Iterator[tuple[book_check.BookLine, int]]:
        judged = book_check.score_lines(visits, _scorer(depth))
        for visit, value in with_progress(judged, len(visits), f"searching to depth {depth}"):
            if value < -arguments.margin:
                yield visit, value

    suspects = [visit for visit, _ in losing(walk.lines, arguments.depth)]
    confirmed = [
        {"line": chess.Board().variation_san(visit), "score": value}
        for visit, value in losing(suspects, max(arguments.confirm, arguments.depth))
    ]
    found: dict[str, object] = {
        "moves": len(walk.lines),
        "illegal": walk.illegal,
        "unreachable": walk.unreachable,
        "suspected": len(suspects),
        "losing": confirmed,
    }
    text = [f"loses {-int(str(each['score'])) / 100:.2f}: {each['line']}" for each in confirmed]
    text.append(
        f"{len(walk.lines)} moves searched, {len(suspects)} suspected, {len(confirmed)} losing, "
        f"{walk.illegal} illegal, {walk.unreachable} not reachable from the start"
    )
    _print_result(arguments, found, "\n".join(text))
    return 1 if confirmed or walk.illegal else 0


def _scorer(depth: int) -> Callable[[chess.Board], Score]:
    """Return a search to `depth` plies that scores a board for the player to move.

    The board must have a legal move.
    """
    from agent.chess.search.alphabeta_search import AlphaBetaSearch
    from agent.limits import Limits

    search = AlphaBetaSearch()

    def score(board: chess.Board) -> Score:
        search.clear_stop()
        *_, last = search.search(board, Limits(depth=depth))
        return last.score

    return score
