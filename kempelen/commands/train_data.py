"""`kempelen data`: look at files of training positions, and make others of them."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.chess.parts import ALPHABETA, SELFPLAY
from agent.machine import usable_cores
from kempelen.console.argument_types import non_negative_int, positive_int, positive_seconds
from kempelen.console.cluster_arguments import configure_cluster
from kempelen.console.terminal import load_kernels, print_error, progress_bar, stdout_reserved

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.dataset_operations import DerivedFile

COMMAND = "kempelen data"
DEFAULT_CHECKED_GAMES = 20
MAX_SHARE_LENGTH = 20  # characters
RESUMABLE = ("merge", "shuffle", "split", "filter", "rescore")
# The options of `filter`, by the names of the fields that they set, and what they keep.
FILTERS = {
    "most_score": "whose score is at most N centipawns, for whichever side",
    "least_pieces": "with N pieces or more, kings and pawns included",
    "most_pieces": "with N pieces or fewer",
    "first_ply": "from the game's ply N on",
    "last_ply": "up to the game's ply N",
    "most_halfmoves": "at most N halfmoves after a capture or a pawn's move",
    "results_agree": "whose score and result agree: not lost by who is ahead by over N centipawns",
}


def configure(parser: ArgumentParser) -> None:
    """Declare the sub-commands and their arguments."""
    from kempelen.training.uci_scorer import SEARCH_TIMEOUT

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, help_line: str, several: bool = False) -> ArgumentParser:
        action = actions.add_parser(name, help=help_line, description=help_line)
        metavar, number = ("FILE", "+") if several else ("FILE", None)
        action.add_argument(
            "files" if several else "file", type=Path, nargs=number, metavar=metavar
        )
        action.add_argument("--json", action="store_true", help="print one JSON object")
        return action

    def add_output(action: ArgumentParser) -> None:
        action.add_argument(
            "-o", "--output", type=Path, required=True, metavar="FILE", help="begin it, or go on"
        )

    add("show", "print what files say of themselves, and how much is in them", several=True)
    add_output(add("merge", "write the games of several files to one, no position twice", True))
    shuffle = add("shuffle", "write the games of files in random order", several=True)
    add_output(shuffle)
    shuffle.add_argument(
        "--seed", type=non_negative_int, default=1, help="of the order (default 1)"
    )
    split = add("split", "write the games of a file to two, to learn from and to judge by")
    split.add_argument(
        "-o",
        "--output",
        type=Path,
        nargs=2,
        required=True,
        metavar=("TRAIN", "VALIDATION"),
        help="begin them, or go on",
    )
    split.add_argument(
        "--share", type=_parse_share, default=Fraction(1, 20), help="of the second (default 0.05)"
    )
    chosen = add("filter", "write the positions of a file that are wanted")
    add_output(chosen)
    for name, kept in FILTERS.items():
        option = f"--{name.replace('_', '-')}"
        chosen.add_argument(option, type=non_negative_int, metavar="N", help=f"keep those {kept}")
    check = add("check", "look for damage, duplicates and what cannot be, and play games again")
    check.add_argument(
        "--games",
        type=positive_int,
        default=DEFAULT_CHECKED_GAMES,
        help=f"play so many again (default {DEFAULT_CHECKED_GAMES})",
    )
    check.add_argument(
        "--evaluation", default="", help="the one that played: a function of yours is run"
    )
    statistics = add("statistics", "tell what positions are like, in numbers and a picture", True)
    statistics.add_argument("--plot", type=Path, metavar="FILE.png", help="draw it")
    rescore = add("rescore", "give positions the scores of another engine")
    add_output(rescore)
    rescore.add_argument("--engine", required=True, metavar="COMMAND", help="a UCI engine")
    rescore.add_argument("--nodes", type=positive_int, help="where each search ends")
    rescore.add_argument(
        "--depth", type=positive_int, help="where each search ends, instead or too"
    )
    rescore.add_argument(
        "--option",
        type=_parse_option,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the engine; may be repeated",
    )
    rescore.add_argument(
        "--one-in", type=positive_int, default=1, metavar="N", help="keep one position in so many"
    )
    rescore.add_argument(
        "--seed", type=non_negative_int, default=1, help="of which are kept (default 1)"
    )
    rescore.add_argument(
        "--processes", type=positive_int, default=usable_cores(), help="default: one a core"
    )
    rescore.add_argument(
        "--timeout",
        type=positive_seconds,
        default=SEARCH_TIMEOUT,
        metavar="SECONDS",
        help=f"wait so long for the score of a position (default {SEARCH_TIMEOUT:.0f})",
    )
    configure_cluster(rescore, "score")


def run(arguments: Namespace) -> int:
    """Do what the sub-command says; the exit status is 1 where a check fails, 2 for misuse."""
    from agent.evaluation import EvaluationError
    from kempelen.training.dataset import DatasetError
    from kempelen.training.workers import GamesError
    from protocols.client.process import EngineError

    try:
        return _ACTIONS[arguments.action](arguments)
    except (EngineError, EvaluationError, GamesError, DatasetError, ValueError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        if arguments.action in RESUMABLE:
            print_error("interrupted; the same line goes on from here", COMMAND)
        raise
    return 2


def show(path: Path, as_json: bool) -> int:
    """Print what a file says of itself and what is in it."""
    from kempelen.training.dataset import Dataset
    from kempelen.training.manifests import with_opening_counts

    with Dataset(path) as dataset:
        contents = dataset.contents[0]
        found = with_opening_counts(contents.manifest) | {
            "positions": contents.positions,
            "games": contents.games,
            "bytes": path.stat().st_size,
            "damaged_bytes": sum(damage.length for damage in contents.damages),
        }
    if as_json:
        print(json.dumps(found))
    else:
        _print_entries(found)
    return 0


def check(path: Path, games: int, evaluation: str, as_json: bool) -> int:
    """Look at every position, and play some games again; the status is 1 if anything is wrong."""
    from kempelen.training import dataset_check

    load_kernels(ALPHABETA, SELFPLAY)
    with stdout_reserved():
        found = dataset_check.check_dataset(path, games, evaluation.strip())
    if as_json:
        print(json.dumps(asdict(found) | {"sound": found.is_valid}))
        return 0 if found.is_valid else 1
    print(
        f"{found.positions} positions, {found.duplicates} of them duplicates; "
        f"{found.damaged_bytes} bytes damaged\n"
        f"{found.illegal} of {found.legality_checked} positions illegal\n"
        f"{found.games_differing} of {found.games_replayed} games replayed otherwise"
    )
    if found.searched:
        print(
            f"searches ten times as long differ from the labels by {found.median_difference:.0f} "
            f"centipawns (median of {found.searched})"
        )
    if found.not_replayed:
        print_error(f"no game replayed: {found.not_replayed}")
    return 0 if found.is_valid else 1


def _print_entries(entries: dict[str, Any], indent: str = "") -> None:
    """Print entries, a line each; files that it was made of below their name."""
    for name, value in entries.items():
        if isinstance(value, list) and any("manifest" in each for each in value):
            for source in value:
                print(f"{indent}{name}")
                plain = {key: each for key, each in source.items() if key != "manifest"}
                _print_entries(plain | source["manifest"], f"{indent}  ")
        else:
            print(f"{indent}{name:18} {value}")


def _show(arguments: Namespace) -> int:
    for number, path in enumerate(arguments.files):
        if len(arguments.files) > 1 and not arguments.json:
            print(f"{chr(10) * (number > 0)}{path}")
        show(path, arguments.json)
    return 0


def _check(arguments: Namespace) -> int:
    return check(arguments.file, arguments.games, arguments.evaluation, arguments.json)


def _merge(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    with _games_progress(arguments.files) as told:
        made = dataset_operations.merge(arguments.files, arguments.output, told)
    return _print_written([made], arguments, "they were there before")


def _shuffle(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    with _games_progress(arguments.files) as told:
        made = dataset_operations.shuffle(arguments.files, arguments.output, arguments.seed, told)
    return _print_written([made], arguments, "they were there before")


def _split(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    training, validation = arguments.output
    with _games_progress([arguments.file]) as told:
        made = dataset_operations.split(arguments.file, training, validation, arguments.share, told)
    return _print_written(made, arguments)


def _filter(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    wanted = {name: getattr(arguments, name) for name in FILTERS}
    if all(value is None for value in wanted.values()):
        names = ", ".join(f"--{name.replace('_', '-')}" for name in FILTERS)
        raise ValueError(f"nothing says which positions are wanted: give one or more of {names}")
    with _games_progress([arguments.file]) as told:
        made = dataset_operations.filter_positions(
            arguments.file, arguments.output, dataset_operations.PositionSelection(**wanted), told
        )
    return _print_written([made], arguments, "they are not wanted")


def _rescore(arguments: Namespace) -> int:
    from kempelen.training.cluster_workers import cluster_threads
    from kempelen.training.rescoring import RescoreTask, rescore

    if arguments.nodes is None and arguments.depth is None:
        raise ValueError("nothing says where a search ends: give --depth, --nodes or both")
    task = RescoreTask(
        source=arguments.file,
        command=arguments.engine,
        nodes=arguments.nodes,
        depth=arguments.depth,
        one_in=arguments.one_in,
        seed=arguments.seed,
        options=dict(arguments.option),
        limit=arguments.timeout,
    )
    with (
        cluster_threads(arguments, COMMAND) as threads,
        _games_progress([arguments.file]) as told,
    ):
        made = rescore(task, arguments.output, arguments.processes, told, threads)
    return _print_written([made], arguments, "they were not chosen")


def _statistics(arguments: Namespace) -> int:
    from kempelen.training import statistics_command

    _report_damage(arguments.files)
    return statistics_command.run(arguments)


def _games_progress(files: list[Path]) -> AbstractContextManager[Callable[[int], None]]:
    """Say what of the files is damaged, and show how many of their games are done."""
    return progress_bar("games", _report_damage(files))


def _report_damage(files: list[Path]) -> int:
    """Say what of the files is damaged; return how many games there are."""
    from kempelen.training.dataset import Dataset

    with Dataset(*files) as dataset:
        for path, contents in zip(files, dataset.contents, strict=True):
            for damage in contents.damages:
                print_error(
                    f"{path}: {damage.length} bytes at {damage.offset} are damaged; their games "
                    "are lost, the others are used",
                    COMMAND,
                )
        return dataset.games


def _print_written(
    made: list[DerivedFile] | tuple[DerivedFile, ...], arguments: Namespace, why: str = ""
) -> int:
    """Print what was written; with --json one object a file."""
    for each in made:
        if arguments.json:
            print(json.dumps(asdict(each)))
            continue
        rest = f"; {each.left_out} left out, as {why}" if why and each.left_out else ""
        print(f"{each.file}: {each.positions} positions of {each.games} games{rest}")
    return 0


def _parse_share(text: str) -> Fraction:
    try:
        # An exponent could ask for more digits than there is memory.
        share = Fraction(text if len(text) <= MAX_SHARE_LENGTH and "e" not in text.lower() else "0")
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise ArgumentTypeError(f"expected a share between 0 and 1, not {text!r}")
    return share


def _parse_option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals or not text.isprintable():
        raise ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


_ACTIONS: dict[str, Callable[[Namespace], int]] = {
    "show": _show,
    "merge": _merge,
    "shuffle": _shuffle,
    "split": _split,
    "filter": _filter,
    "check": _check,
    "statistics": _statistics,
    "rescore": _rescore,
}
