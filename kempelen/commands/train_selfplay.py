"""`kempelen train selfplay`: store positions (chess and variants) or games (Go) of self-play."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.chess.parts import ALPHABETA, SELFPLAY, variant_part
from agent.games.variants import STANDARD, VARIANTS, parse_variant
from agent.go.parts import GO
from agent.io.write_checks import require_writable
from agent.machine import usable_cores
from kempelen import __version__
from kempelen.console.argument_types import (
    board_size,
    fraction,
    non_negative_int,
    positive_int,
)
from kempelen.console.cluster_arguments import configure_cluster
from kempelen.console.terminal import load_kernels, print_error, progress_bar, stdout_reserved

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from kempelen.training.selfplay import SelfPlayPlan

DEFAULT_POSITIONS = 1_000_000
DEFAULT_GAMES = 1000  # of Go


def configure(parser: ArgumentParser) -> None:
    from agent.chess.search.selfplay_settings import SelfPlaySettings
    from kempelen.commands.train_data import DEFAULT_CHECKED_GAMES
    from kempelen.training.go_selfplay import GoSelfPlayPlan

    rules, plan = SelfPlaySettings(), GoSelfPlayPlan()
    parser.add_argument("file", type=Path, help="output file; an existing file is extended")
    parser.add_argument(
        "--positions",
        type=positive_int,
        help=f"number of positions in the file (default: {DEFAULT_POSITIONS})",
    )
    parser.add_argument(
        "--processes",
        type=positive_int,
        default=usable_cores(),
        help="number of processes (default: one per core)",
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="text file of the finished games of each seed: games in it are not played again, even "
        "if they are in a file on another machine",
    )
    configure_cluster(parser, "play")
    game = parser.add_argument_group("the games")
    game.add_argument(
        "--nodes", type=positive_int, help=f"minimum nodes per search (default: {rules.nodes})"
    )
    game.add_argument(
        "--evaluation",
        default="",
        help="evaluation, as in the UCI option Evaluation (default: the option's default)",
    )
    game.add_argument(
        "--game", choices=("chess", "go"), default="chess", help="game (default: chess)"
    )
    game.add_argument(
        "--variant",
        metavar="NAME",
        help="variant of chess, whose positions are stored as text: "
        f"{', '.join(VARIANTS[1:])} (default: {STANDARD})",
    )
    game.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    game.add_argument(
        "--openings",
        metavar="FILE",
        help="file of openings: EPD, FEN, PGN or YAML (default: the start position)",
    )
    game.add_argument(
        "--random-plies",
        type=non_negative_int,
        help="number of random opening moves; every second game has one more, and games with "
        "--targets have 0 to twice this number "
        f"(default: {rules.random_plies}; Go: {plan.random_plies})",
    )
    game.add_argument(
        "--chess960",
        type=fraction,
        metavar="SHARE",
        help="fraction of games from random Chess960 start positions, such as 0.1 (default: 0)",
    )
    game.add_argument(
        "--odds",
        type=fraction,
        metavar="SHARE",
        help="fraction of games in which one side begins without a random pawn, knight, bishop or "
        "rook (default: 0)",
    )
    go = parser.add_argument_group("Go games")
    go.add_argument(
        "--games", type=positive_int, help=f"number of games (default: {DEFAULT_GAMES})"
    )
    go.add_argument(
        "--size", type=board_size,
        help=f"board size, such as 13 or 9x13 (default: {plan.size})",
    )  # fmt: skip
    go.add_argument(
        "--playouts", type=positive_int, help=f"playouts per move (default: {plan.playouts})"
    )
    go.add_argument(
        "--targets",
        action="store_const",
        const=True,
        help="also store the visits and the final owners, to train a network; openings, komi and "
        "the first moves vary",
    )
    look = parser.add_argument_group("actions instead of playing").add_mutually_exclusive_group()
    look.add_argument("--show", action="store_true", help="print the manifest and size of the file")
    look.add_argument(
        "--check",
        type=positive_int,
        nargs="?",
        const=DEFAULT_CHECKED_GAMES,
        metavar="GAMES",
        help="check for damage and duplicates, and replay GAMES games",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Generate, show or check games. Return 1 if the check fails, or 2 after an error."""
    from agent.evaluation import EvaluationError
    from kempelen.commands import train_data
    from kempelen.console.settings_codec import SettingsError
    from kempelen.training.dataset_blocks import DatasetError
    from kempelen.training.workers import GamesError

    try:
        _reject_options_of_other_game(arguments)
        if arguments.game == "go":
            _play_go(arguments)
            return 0
        if arguments.variant is not None:
            _play_variant(arguments)
            return 0
        if arguments.show:
            return train_data.show(arguments.file, arguments.json)
        if arguments.check:
            return train_data.check(
                arguments.file, arguments.check, arguments.evaluation, arguments.json
            )
        with stdout_reserved():
            found = _generate(arguments)
        _print(found, arguments.json)
        return 0
    except (EvaluationError, GamesError, DatasetError, SettingsError) as error:
        print_error(error, "kempelen train selfplay")
        return 2
    except KeyboardInterrupt:
        print_error(
            "interrupted; run the same command again to continue", "kempelen train selfplay"
        )
        raise


def _reject_options_of_other_game(arguments: Namespace) -> None:
    """Raise SettingsError if an option of the other game is given.

    Set the omitted options of both games to their default values.
    """
    from agent.chess.search.selfplay_settings import SelfPlaySettings
    from kempelen.console.settings_codec import SettingsError
    from kempelen.training.go_selfplay import GoSelfPlayPlan

    rules, plan = SelfPlaySettings(), GoSelfPlayPlan()
    if arguments.random_plies is None:
        arguments.random_plies = (plan if arguments.game == "go" else rules).random_plies
    defaults: dict[str, dict[str, Any]] = {
        "chess": {
            "positions": DEFAULT_POSITIONS, "nodes": rules.nodes, "openings": None,
            "evaluation": "", "check": None, "ledger": None,
            "chess960": 0.0, "odds": 0.0, "variant": None,
        },
        "go": {
            "games": DEFAULT_GAMES, "size": plan.size, "playouts": plan.playouts, "targets": False,
        },
    }  # fmt: skip
    for game, options in defaults.items():
        for name, value in options.items():
            given = getattr(arguments, name) not in (None, "")
            if given and game != arguments.game:
                option = f"--{name.replace('_', '-')}"
                if name == "check":
                    raise SettingsError(
                        "--check is only for chess (files of Go games are checked when read)"
                    )
                if game == "chess":
                    instead = ", ".join(f"--{each}" for each in (*defaults["go"], "random-plies"))
                    raise SettingsError(f"{option} is only for chess (expected for Go: {instead})")
                raise SettingsError(f"{option} is only for Go: add --game go")
            if not given:
                setattr(arguments, name, value)
    if arguments.variant is not None:
        arguments.variant = _variant(arguments)


def _variant(arguments: Namespace) -> str | None:
    """Return the variant to play, or None for chess. Raise SettingsError with another option."""
    from kempelen.console.settings_codec import SettingsError

    try:
        variant = parse_variant(arguments.variant)
    except ValueError as error:
        raise SettingsError(str(error)) from None
    if variant == STANDARD:
        return None
    for name in (
        "cluster",
        "openings",
        "evaluation",
        "ledger",
        "chess960",
        "odds",
        "check",
        "show",
    ):
        if getattr(arguments, name):
            raise SettingsError(f"--{name} is not for variants")
    return variant


def _plan(arguments: Namespace) -> SelfPlayPlan:
    from agent.chess.evaluation.loading import DEFAULT, load
    from agent.chess.search.selfplay_settings import SelfPlaySettings
    from agent.evaluation_loading import load_with_timeout
    from kempelen.console.settings_codec import SettingsError
    from kempelen.match.config.settings import OpeningSettings
    from kempelen.match.game import openings
    from kempelen.training.selfplay import SelfPlayPlan

    evaluation = arguments.evaluation.strip() or DEFAULT
    load_with_timeout(evaluation, load)  # report errors early
    fens: tuple[str, ...] = ()
    if arguments.openings:
        starts = openings.load_openings(OpeningSettings(file=arguments.openings))
        fens = tuple(_play_moves(start.fen, start.moves) for start in starts)
    rules = SelfPlaySettings(nodes=arguments.nodes, random_plies=arguments.random_plies)
    if rules.random_plies >= rules.max_plies - rules.first_ply:
        raise SettingsError(
            f"--random-plies {rules.random_plies}: too many, as a game ends after "
            f"{rules.max_plies} plies"
        )
    return SelfPlayPlan(rules, arguments.seed, evaluation, fens, arguments.chess960, arguments.odds)


def _play_moves(fen: str, moves: tuple[str, ...]) -> str:
    import chess

    board = chess.Board(fen, chess960=True)
    for move in moves:
        board.push_uci(move)
    return board.fen()


def _generate(arguments: Namespace) -> dict[str, Any]:
    from kempelen.training.cluster_workers import cluster_threads
    from kempelen.training.dataset_blocks import DatasetError
    from kempelen.training.selfplay import generate

    plan = _plan(arguments)
    sources = [arguments.openings] if arguments.openings else []
    targets = [arguments.file] if arguments.ledger is None else [arguments.file, arguments.ledger]
    require_writable(targets, sources, DatasetError, regular=True)
    with cluster_threads(arguments, "kempelen train selfplay") as threads:
        if threads is None:
            load_kernels(ALPHABETA, SELFPLAY)
        run = generate(
            arguments.file,
            plan,
            __version__,
            arguments.positions,
            arguments.processes,
            threads,
            arguments.ledger,
        )
        with contextlib.closing(run):
            first = last = next(run)
            for damage in first.damages:
                print_error(
                    f"{arguments.file}: {damage.length} damaged bytes at offset {damage.offset}; "
                    "their games are lost",
                    "kempelen train selfplay",
                )
            began = time.monotonic()
            with progress_bar("positions", arguments.positions, hourly=True) as show:
                for last in run:
                    show(last.positions)
            seconds = time.monotonic() - began
    made = last.positions - first.positions
    return {
        "file": str(arguments.file),
        "positions": last.positions,
        "games": last.games,
        "duplicates": last.duplicates,
        "seconds": round(seconds, 1),
        "positions_an_hour": round(made / seconds * 3600) if made else 0,
        "bytes_a_position": round(arguments.file.stat().st_size / max(last.positions, 1), 2),
    }


def _play_variant(arguments: Namespace) -> None:
    from agent.chess.search.selfplay_settings import SelfPlaySettings
    from kempelen.training.variant_selfplay import VariantSelfPlayPlan, generate
    from kempelen.training.workers import GamesError

    require_writable([arguments.file], [], GamesError, regular=True)
    load_kernels(variant_part(arguments.variant))
    rules = SelfPlaySettings(nodes=arguments.nodes, random_plies=arguments.random_plies)
    plan = VariantSelfPlayPlan(arguments.variant, rules, arguments.seed)
    run = generate(arguments.file, plan, arguments.positions, arguments.processes)
    with (
        contextlib.closing(run),
        progress_bar("positions", arguments.positions, hourly=True) as show,
    ):
        for progress in run:
            show(progress.positions)
    found = {"file": str(arguments.file)} | asdict(progress)
    text = f"{arguments.file}: {progress.positions} positions of {progress.games} games"
    print(json.dumps(found) if arguments.json else text)


def _play_go(arguments: Namespace) -> None:
    """Generate games of Go, or print the manifest of an existing file if `--show` is given."""
    from kempelen.training.cluster_workers import cluster_threads
    from kempelen.training.go_selfplay import GoSelfPlayPlan, generate, read
    from kempelen.training.workers import GamesError

    path, found = arguments.file, dict[str, object]()
    if arguments.show:
        manifest, games = read(path)
        found = manifest | {"games": len(games)}
    else:
        require_writable([path], [], GamesError, regular=True)
        plan = GoSelfPlayPlan(
            size=arguments.size,
            playouts=arguments.playouts,
            random_plies=arguments.random_plies,
            seed=arguments.seed,
            targets=arguments.targets,
        )
        with cluster_threads(arguments, "kempelen train selfplay") as threads:
            if threads is None:
                load_kernels(GO)
            run = generate(path, plan, __version__, arguments.games, arguments.processes, threads)
            with (
                contextlib.closing(run),
                progress_bar("games", arguments.games, hourly=True) as update,
            ):
                for number in run:
                    update(number)
        found = {"file": str(path), "games": number}
    lines = (f"{name:18} {value}" for name, value in found.items())
    print(json.dumps(found) if arguments.json else "\n".join(lines))


def _print(found: dict[str, Any], as_json: bool) -> None:
    text = (
        f"{found['file']}: {found['positions']} positions of {found['games']} games, "
        f"{found['bytes_a_position']} bytes each; {found['positions_an_hour']} per hour"
    )
    print(json.dumps(found) if as_json else text)
