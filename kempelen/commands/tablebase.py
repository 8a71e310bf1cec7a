"""`kempelen tablebase`: build, probe, check and pack endgame tablebases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.machine import usable_cores
from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import load_kernels, print_error, print_text

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    import chess

    from agent.chess.endgames.dtm_tables import DtmTables
    from openings.endgame_tables import BuiltTable, ProgressCallback


def configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, help_line: str) -> ArgumentParser:
        action = actions.add_parser(name, help=help_line, description=help_line)
        action.add_argument(
            "--folder", type=Path, help="folder of the tables (default: in your data folder)"
        )
        return action

    build = add("build", "build tables and their subtables; intact tables are kept")
    build.add_argument(
        "endings", nargs="*", metavar="KBNK", help="endgames (default: all with 3 and 4 pieces)"
    )
    build.add_argument(
        "--threads",
        type=positive_int,
        default=usable_cores(),
        help="number of tables built in parallel (default: one per core)",
    )
    probe = add("probe", "print the result of a position and of its moves")
    probe.add_argument("fen", metavar="FEN")
    stats = add(
        "stats", "print the numbers of wins, draws and losses, and the longest mates in moves"
    )
    stats.add_argument(
        "endings", nargs="*", metavar="KBNK", help="endgames (default: all existing tables)"
    )
    check = add("check", "verify the checksums of tables")
    check.add_argument(
        "endings", nargs="*", metavar="KBNK", help="endgames (default: all existing tables)"
    )
    for action in (build, probe, stats, check):
        action.add_argument("--json", action="store_true", help="print JSON, one object per line")
    pack = add("pack", "write compressed copies, as in the package")
    pack.add_argument("endings", nargs="+", metavar="KBNK")
    pack.add_argument("--target", type=Path, required=True, help="output folder")


def run(arguments: Namespace) -> int:
    """Run the chosen action. Return 1 if a table is damaged, or 2 if an argument is invalid."""
    from agent.chess.endgames.dtm_tables import TablebaseError
    from protocols.uci.parsing import UciError

    act = {"build": _build, "probe": _probe, "stats": _stats, "check": _check, "pack": _pack}
    try:
        return act[arguments.action](arguments)
    except (ValueError, UciError) as error:
        print_error(error, "kempelen tablebase")
        return 2
    except TablebaseError as error:
        print_error(error, "kempelen tablebase")
        return 1


def _folder(arguments: Namespace) -> Path:
    from openings.data_folders import table_folder

    return table_folder() if arguments.folder is None else arguments.folder


def _open(arguments: Namespace) -> DtmTables:
    from openings.endgame_tables import open_tables

    tables, problems = open_tables(arguments.folder)
    for problem in (*problems, *tables.drop_damaged()):
        print_error(problem, "kempelen tablebase")
    return tables


def _build(arguments: Namespace) -> int:
    from openings.endgame_tables import TableBuilder, build_order

    endings, folder = build_order(arguments.endings), _folder(arguments)
    load_kernels()
    with _progress_bars(len(endings)) as (watch, advance):
        build = TableBuilder(endings, folder, arguments.threads, watch)
        for built in build.run():
            advance(built)
            if arguments.json:
                found = {"ending": built.ending.name, "path": str(built.path), "kept": built.kept}
                print(json.dumps(found | ({"problem": built.problem} if built.problem else {})))
                continue
            if built.problem:
                print_error(
                    f"{built.ending.name}: built again: {built.problem}", "kempelen tablebase"
                )
            print(f"{built.ending.name}: {'exists' if built.kept else built.path}")
    return 0


class _NoProgress:
    """A progress display without output, for a standard error that is not a terminal."""

    def watch(self, name: str, share: float) -> None: ...

    def advance(self, built: BuiltTable) -> None: ...


@contextmanager
def _progress_bars(total: int) -> Iterator[tuple[ProgressCallback, Callable[[BuiltTable], None]]]:
    if not sys.stderr.isatty():
        no_progress = _NoProgress()
        yield no_progress.watch, no_progress.advance
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
        whole = progress.add_task("tables", total=total)
        tasks: dict[str, TaskID] = {}

        def watch(name: str, share: float) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=1.0)
            progress.update(tasks[name], completed=share)

        def advance(built: BuiltTable) -> None:
            progress.advance(whole)
            if built.ending.name in tasks:
                progress.remove_task(tasks.pop(built.ending.name))

        yield watch, advance


def _probe(arguments: Namespace) -> int:
    from protocols.uci.position import read_board

    board = read_board(arguments.fen)
    load_kernels()
    from agent.chess.endgames.builtin_tablebase import BuiltinTablebase

    own = BuiltinTablebase(_open(arguments))
    value = own.probe(board)
    if value is None:
        raise ValueError(_missing_reason(board))
    moves = []
    for move in board.legal_moves:
        san = board.san(move)
        board.push(move)
        moves.append((san, own.probe(board)))
        board.pop()
    # Best move first. Values are from the opponent's point of view, so they are negated.
    moves.sort(key=lambda found: -_sort_key(found[1]), reverse=True)
    if arguments.json:
        listed = [{"move": san, "mate": _mate_for_mover(after)} for san, after in moves]
        print(json.dumps({"fen": board.fen(), "mate": _mate_distance(value), "moves": listed}))
        return 0
    late = value and board.halfmove_clock + value - 1 > 100
    print(
        _format_mate(_mate_distance(value))
        + (", but the fifty-move rule may apply first" if late else "")
    )
    for san, after in moves:
        print(f"{san:8} {_format_mate(_mate_for_mover(after))}")
    return 0


def _missing_reason(board: chess.Board) -> str:
    import chess

    if board.castling_rights:
        return "positions with castling rights are not in the tables"
    if chess.popcount(board.occupied) > 4:
        return "the tables have positions with up to 4 pieces"
    return "missing table for this position; run `kempelen tablebase build` to build all tables"


def _mate_distance(value: int) -> int | None:
    from agent.chess.endgames.dtm_tables import moves_to_mate

    return moves_to_mate(value)


def _mate_for_mover(value: int | None) -> int | None:
    """Convert the table value after a move to moves to mate, for the player who made the move.

    The count includes that move. It is negative if the player is mated, and None for a draw.
    """
    if value is None or value == 0:
        return None
    return (value + 1) // 2 if value & 1 else -(value // 2)


def _sort_key(value: int | None) -> float:
    """Return a key that is highest for fast wins and lowest for fast losses of the side to move."""
    if not value:
        return 0
    return 1 / value if value % 2 == 0 else -1 / value


def _format_mate(mate: int | None) -> str:
    if mate is None:
        return "draw"
    if mate == 0:
        return "mated"
    return f"wins in {mate}" if mate > 0 else f"loses in {-mate}"


def _table_names(arguments: Namespace) -> list[str]:
    from agent.chess.endgames.table_index import all_endgames, endgame_from_name
    from openings.endgame_tables import table_path

    if arguments.endings:
        return [endgame_from_name(name).name for name in arguments.endings]
    folder = _folder(arguments)
    return [e.name for e in all_endgames() if table_path(folder, e).exists()]


def _stats(arguments: Namespace) -> int:
    from agent.chess.endgames.table_index import endgame_from_name
    from openings.endgame_tables import statistics

    tables = _open(arguments)
    wanted = [endgame_from_name(name).name for name in arguments.endings] or sorted(tables.names)
    rows = []
    for name in wanted:
        if name not in tables:
            raise ValueError(f"{name}: missing table; run `kempelen tablebase build {name}`")
        rows += list(statistics(endgame_from_name(name), tables[name]))
    if arguments.json:
        for row in rows:
            print(json.dumps(asdict(row)))
        return 0
    print(f"{'table':6}{'to move':>8}{'wins':>10}{'draws':>10}{'losses':>10}{'longest':>17}")
    for row in rows:
        longest = [
            f"{word} {mate}"
            for word, mate in (("win", row.longest_win), ("loss", row.longest_loss))
            if mate is not None
        ]
        print(
            f"{row.ending:6}{row.side:>8}{row.wins:10}{row.draws:10}{row.losses:10}"
            f"{', '.join(longest):>17}"
        )
    return 0


def _check(arguments: Namespace) -> int:
    from agent.chess.endgames.dtm_tables import TablebaseError
    from agent.chess.endgames.table_index import endgame_from_name
    from openings.endgame_tables import load_intact, table_path

    folder = _folder(arguments)
    names = _table_names(arguments)
    if not names:
        raise TablebaseError(f"no tables in {folder}; run `kempelen tablebase build`")
    failed = 0
    for name in names:
        problem = ""
        try:
            load_intact(table_path(folder, endgame_from_name(name)))
        except TablebaseError as error:
            problem, failed = str(error), 1
        if arguments.json:
            print(json.dumps({"ending": name, "whole": not problem, "problem": problem}))
        else:
            print_text(problem or f"{name}: intact")
    return failed


def _pack(arguments: Namespace) -> int:
    from agent.chess.endgames.table_index import endgame_from_name
    from openings.endgame_tables import write_compressed

    for name in arguments.endings:
        path = write_compressed(endgame_from_name(name), _folder(arguments), arguments.target)
        print(f"{path}: {path.stat().st_size} bytes")
    return 0
