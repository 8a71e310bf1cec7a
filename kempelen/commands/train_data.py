"""`kempelen train data`: show, merge, shuffle, split, filter, convert, check, rescore positions."""

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
from kempelen.console.argument_types import (
    AppendNamed,
    non_negative_int,
    positive_int,
    positive_seconds,
)
from kempelen.console.cluster_arguments import configure_cluster
from kempelen.console.old_names import add_alias
from kempelen.console.terminal import (
    load_kernels,
    print_error,
    print_text,
    progress_bar,
    stdout_reserved,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.dataset_operations import DerivationResult

COMMAND = "kempelen train data"
DEFAULT_CHECKED_GAMES = 20
MAX_SHARE_LENGTH = 20  # maximum characters, see `_parse_share`
RESUMABLE = ("merge", "shuffle", "split", "filter", "convert", "rescore")
# Flags of `filter`: the field of PositionSelection, and the help text.
FILTERS = {
    "--max-score": ("most_score", "keep positions with scores of at most N centipawns"),
    "--min-pieces": ("least_pieces", "keep positions with N pieces or more (with kings and pawns)"),
    "--max-pieces": ("most_pieces", "keep positions with N pieces or fewer"),
    "--first-ply": ("first_ply", "keep positions from ply N of the game"),
    "--last-ply": ("last_ply", "keep positions up to ply N of the game"),
    "--max-halfmoves": (
        "most_halfmoves", "keep positions at most N halfmoves after a capture or pawn move",
    ),
    "--results-agree": (
        "results_agree",
        "remove positions in which the side ahead by more than N centipawns lost the game",
    ),
}  # fmt: skip


def configure(parser: ArgumentParser) -> None:
    from kempelen.training.manifests import FORMATS, GAMES
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
            "-o",
            "--output",
            type=Path,
            required=True,
            metavar="FILE",
            help="output file; run the same command again to continue an interrupted run",
        )

    add("show", "print the manifests and sizes of files", several=True)
    add_output(add("merge", "merge the games of files, without duplicate positions", True))
    shuffle = add("shuffle", "write the games of files in random order", several=True)
    add_output(shuffle)
    shuffle.add_argument(
        "--seed", type=non_negative_int, default=1, help="random seed for the order (default: 1)"
    )
    split = add("split", "split the games of a file into training and validation games")
    split.add_argument(
        "-o",
        "--output",
        type=Path,
        nargs=2,
        required=True,
        metavar=("TRAIN", "VALIDATION"),
        help="output files; run the same command again to continue an interrupted run",
    )
    split.add_argument(
        "--share",
        type=_parse_share,
        default=Fraction(1, 20),
        help="fraction of validation games (default: 0.05)",
    )
    chosen = add("filter", "keep only some positions of a file")
    add_output(chosen)
    for flag, (name, text) in FILTERS.items():
        added = chosen.add_argument(flag, dest=name, type=non_negative_int, metavar="N", help=text)
        old_flag = "--" + name.replace("_", "-")  # old flags were named like the fields
        if old_flag != flag:
            add_alias(chosen, old_flag, added)
    converted = add("convert", "write the same positions in another format")
    add_output(converted)
    converted.add_argument(
        "--format",
        choices=FORMATS,
        default=GAMES,
        help="games: start positions, moves and scores, 3 to 5 bytes per position (default); "
        "positions: faster to write, about 9 bytes per position",
    )
    check = add("check", "check for damage, duplicates and illegal positions, and replay games")
    check.add_argument(
        "--games",
        type=positive_int,
        default=DEFAULT_CHECKED_GAMES,
        help=f"number of games to replay (default: {DEFAULT_CHECKED_GAMES})",
    )
    check.add_argument(
        "--evaluation",
        default="",
        help="evaluation that played the games, if it is your own function (its code is run)",
    )
    statistics = add("statistics", "print statistics of positions", True)
    statistics.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the statistics")
    rescore = add("rescore", "replace the scores by those of another engine")
    add_output(rescore)
    rescore.add_argument(
        "--engine", required=True, metavar="COMMAND", help="command line of a UCI engine"
    )
    rescore.add_argument("--nodes", type=positive_int, help="nodes per position")
    rescore.add_argument(
        "--depth", type=positive_int, help="depth per position; may be combined with --nodes"
    )
    rescore.add_argument(
        "--option",
        type=_parse_option,
        action=AppendNamed,
        default=[],
        metavar="NAME=VALUE",
        help="UCI option of the engine; may be repeated",
    )
    sample = rescore.add_argument(
        "--sample-every", dest="one_in", type=positive_int, default=1, metavar="N",
        help="keep one in N positions at random (default: all)",
    )  # fmt: skip
    add_alias(rescore, "--one-in", sample)
    rescore.add_argument(
        "--seed",
        type=non_negative_int,
        default=1,
        help="random seed for --sample-every (default: 1)",
    )
    rescore.add_argument(
        "--processes",
        type=positive_int,
        default=usable_cores(),
        help="number of processes (default: one per core)",
    )
    rescore.add_argument(
        "--timeout",
        type=positive_seconds,
        default=SEARCH_TIMEOUT,
        metavar="SECONDS",
        help=f"timeout per position (default: {SEARCH_TIMEOUT:.0f})",
    )
    configure_cluster(rescore, "score")


def run(arguments: Namespace) -> int:
    """Run the chosen action. Return 1 if a check fails, or 2 after an error."""
    from agent.evaluation import EvaluationError
    from kempelen.training.dataset_blocks import DatasetError
    from kempelen.training.workers import GamesError
    from protocols.client.process import EngineError

    try:
        return _ACTIONS[arguments.action](arguments)
    except (EngineError, EvaluationError, GamesError, DatasetError, ValueError) as error:
        print_error(error, COMMAND)
    except KeyboardInterrupt:
        if arguments.action in RESUMABLE:
            print_error("interrupted; run the same command again to continue", COMMAND)
        raise
    return 2


def show(path: Path, as_json: bool) -> int:
    """Print the manifest and the size of a dataset file."""
    from kempelen.training.dataset import Dataset
    from kempelen.training.manifests import with_opening_counts

    with Dataset(path) as dataset:
        contents = dataset.contents[0]
        found = with_opening_counts(contents.manifest) | {
            "positions": contents.positions,
            "games": contents.games,
            "format": contents.format,
            "bytes": path.stat().st_size,
            "damaged_bytes": sum(damage.length for damage in contents.damages),
        }
    if as_json:
        print(json.dumps(found))
    else:
        _print_entries(found)
    return 0


def check(path: Path, games: int, evaluation: str, as_json: bool) -> int:
    """Check all positions of a dataset, and replay `games` games. Return 1 if a check fails."""
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
        f"{found.games_differing} of {found.games_replayed} replayed games differ"
    )
    if found.searched:
        print(
            f"median difference between the scores of {found.searched} positions and ten times "
            f"longer searches: {found.median_difference:.0f} centipawns"
        )
    if found.not_replayed:
        print_error(f"no games replayed: {found.not_replayed}")
    return 0 if found.is_valid else 1


def _print_entries(entries: dict[str, Any], indent: str = "") -> None:
    for name, value in entries.items():
        if isinstance(value, list) and any("manifest" in each for each in value):
            for source in value:
                print(f"{indent}{name}")
                plain = {key: each for key, each in source.items() if key != "manifest"}
                _print_entries(plain | source["manifest"], f"{indent}  ")
        else:
            print_text(f"{indent}{name:18} {value}")


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

    with _games_progress(arguments.files) as report:
        made = dataset_operations.merge(arguments.files, arguments.output, report)
    return _print_written([made], arguments, "duplicates")


def _shuffle(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    with _games_progress(arguments.files) as report:
        made = dataset_operations.shuffle(arguments.files, arguments.output, arguments.seed, report)
    return _print_written([made], arguments, "duplicates")


def _split(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    training, validation = arguments.output
    with _games_progress([arguments.file]) as report:
        made = dataset_operations.split(
            arguments.file, training, validation, arguments.share, report
        )
    return _print_written(made, arguments)


def _filter(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    wanted = {name: getattr(arguments, name) for name, _ in FILTERS.values()}
    if all(value is None for value in wanted.values()):
        raise ValueError(f"missing filter: add one or more of {', '.join(FILTERS)}")
    with _games_progress([arguments.file]) as report:
        made = dataset_operations.filter_positions(
            arguments.file, arguments.output, dataset_operations.PositionSelection(**wanted), report
        )
    return _print_written([made], arguments, "filtered")


def _convert(arguments: Namespace) -> int:
    from kempelen.training import dataset_operations

    with _games_progress([arguments.file]) as report:
        made = dataset_operations.convert(
            arguments.file, arguments.output, arguments.format, report
        )
    return _print_written([made], arguments)


def _rescore(arguments: Namespace) -> int:
    from kempelen.training.cluster_workers import cluster_threads
    from kempelen.training.rescoring import RescoreTask, rescore

    if arguments.nodes is None and arguments.depth is None:
        raise ValueError("missing search limit: add --depth, --nodes or both")
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
        _games_progress([arguments.file]) as report,
    ):
        made = rescore(task, arguments.output, arguments.processes, report, threads)
    return _print_written([made], arguments, "not sampled")


def _statistics(arguments: Namespace) -> int:
    from kempelen.training import statistics_command

    _report_damage(arguments.files)
    return statistics_command.run(arguments)


def _games_progress(files: list[Path]) -> AbstractContextManager[Callable[[int], None]]:
    return progress_bar("games", _report_damage(files))


def _report_damage(files: list[Path]) -> int:
    from kempelen.training.dataset import Dataset

    with Dataset(*files) as dataset:
        for path, contents in zip(files, dataset.contents, strict=True):
            for damage in contents.damages:
                print_error(
                    f"{path}: {damage.length} damaged bytes at offset {damage.offset}; their games "
                    "are skipped",
                    COMMAND,
                )
        return dataset.games


def _print_written(
    made: list[DerivationResult] | tuple[DerivationResult, ...], arguments: Namespace, why: str = ""
) -> int:
    """Print each result as text or JSON. `why` tells why positions were left out."""
    for each in made:
        if arguments.json:
            print(json.dumps(asdict(each)))
            continue
        rest = f"; {each.left_out} left out ({why})" if why and each.left_out else ""
        print(f"{each.file}: {each.positions} positions of {each.games} games{rest}")
    return 0


def _parse_share(text: str) -> Fraction:
    try:
        # A number with a large exponent could need more digits than fit into memory.
        share = Fraction(text if len(text) <= MAX_SHARE_LENGTH and "e" not in text.lower() else "0")
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise ArgumentTypeError(f"expected a fraction between 0 and 1, not {text!r}")
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
    "convert": _convert,
    "check": _check,
    "statistics": _statistics,
    "rescore": _rescore,
}
