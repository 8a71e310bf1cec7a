"""Tune parameters of an engine by self-play for the command `kempelen train tune search`."""

import argparse
import contextlib
import json
import math
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.chess.evaluation.loading import DEFAULT
from agent.evaluation import evaluation_digest
from agent.go.settings import SETTINGS
from kempelen.console import interruption
from kempelen.console.argument_types import board_size, positive_int
from kempelen.console.cluster_arguments import cluster_from, configure_cluster
from kempelen.console.settings_codec import SettingsError, decode, encode
from kempelen.console.terminal import load_kernels, print_error, progress_bar, table_console
from kempelen.match.config.engine_arguments import engine_entries, parse_entries
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import CHESS, GO, GameSettings
from kempelen.match.config.settings import (
    Adjudication,
    DrawRule,
    OpeningSettings,
    ResignRule,
    Settings,
)
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.openings import with_file_digests
from kempelen.match.rating.match_statistics import StrengthEstimate
from kempelen.match.runner import RunStoppedError, limit_concurrency
from kempelen.match.tuning.spsa import Spsa
from kempelen.match.tuning.tuning import (
    engine_options,
    parse_go_tunables,
    parse_tunables,
    setting_scale,
    tune,
    tuning_players,
    verify,
)

if TYPE_CHECKING:
    from protocols.cluster.client import ClusterAddress, ClusterClient

EXIT_WORSE = 1
DEFAULT_NODES = {CHESS: 5000, GO: 500}
HANG_TIMEOUT = 60.0  # seconds per move in Go, whose engines get no clock
RANDOM_PLIES = 2  # in Go openings
# The default number of verification pairs is the number of tuning pairs divided by this.
PAIRS_PER_CHECK_PAIR = 10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parameters",
        nargs="*",
        metavar="NAME[=STEP]",
        help="spin option (for Go: search setting) to tune, and its step size (default: 1/20 of "
        "the range); without names, all tunable parameters of Kempelen",
    )
    parser.add_argument("--game", choices=(CHESS, GO), default=CHESS, help="default: chess")
    parser.add_argument(
        "--size", type=board_size, default=9,
        help="size of the Go board, such as 13 or 9x13 (default: 9)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", metavar="SPEC", help="engine to tune: cmd=..., as for match (default: Kempelen)"
    )
    parser.add_argument(
        "--pairs", type=positive_int, default=5000, help="number of pairs of games (default: 5000)"
    )
    parser.add_argument(
        "--check", type=int, metavar="PAIRS",
        help="number of pairs of games between the tuned and the old values, after the tuning "
        f"(default: a pair for every {PAIRS_PER_CHECK_PAIR} of --pairs)",
    )  # fmt: skip
    parser.add_argument(
        "--nodes", type=positive_int, help="nodes per move (default: 5000; for Go, 500)"
    )
    parser.add_argument("--tc", metavar="BASE+INC", help="a clock instead of --nodes")
    parser.add_argument(
        "--concurrency",
        type=positive_int,
        help="number of parallel games (default: 1; with a cluster, its total number of threads)",
    )
    configure_cluster(parser, "play")
    parser.add_argument(
        "--openings",
        metavar="FILE",
        help="file of openings: EPD, FEN, PGN or YAML (default: a built-in set)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed for openings and perturbations"
    )
    parser.add_argument(
        "--state", metavar="FILE", help="save the state to FILE, and continue from it if it exists"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tune the parameters and print their values. Return the exit status.

    The status is 1 if the tuned values lose against the start values or cannot be saved, 2 after an
    error, and otherwise 0.
    """
    try:
        spsa, checked = interruption.run(_run(arguments))
    except SettingsError as error:
        print_error(error)
        return 2
    except RunStoppedError as error:
        print_error(f"{error}{_resume_hint(arguments)}")
        return 1
    except KeyboardInterrupt:
        print_error(f"interrupted{_resume_hint(arguments)}")
        return interruption.exit_status()
    _print(spsa, checked, arguments.game, as_json=arguments.json)
    if spsa.save_error:
        print_error(f"{spsa.save_error}; the result above was not saved")
        return 1
    if checked is not None and checked.elo.value < 0:
        print_error(
            f"the tuned values are weaker than the old ones by {_format_elo(checked)} "
            "(keep the old values, or tune with more --pairs)"
        )
        return EXIT_WORSE
    return 0


def _resume_hint(arguments: argparse.Namespace) -> str:
    return f"; use --state {arguments.state} to continue" if arguments.state else ""


async def _run(arguments: argparse.Namespace) -> tuple[Spsa, StrengthEstimate | None]:
    if arguments.game == GO and arguments.engine is not None:
        raise SettingsError("--engine: requires --game chess (only Kempelen's Go search is tuned)")
    engine = _go_engine(arguments) if arguments.game == GO else _engine(arguments.engine)
    wanted = list(arguments.parameters)
    if not wanted and arguments.engine is None:
        wanted = _tunable_names(arguments.game)
    if not wanted:
        raise SettingsError("missing names of options to tune")
    if arguments.pairs < 1:
        raise SettingsError("--pairs must be at least 1")
    pairs = arguments.check
    if pairs is None:
        pairs = math.ceil(arguments.pairs / PAIRS_PER_CHECK_PAIR)
    if pairs < 0:
        raise SettingsError("--check must be at least 0")
    settings = _settings(arguments, engine)
    if arguments.game == GO:
        tuned = parse_go_tunables(wanted)
        if arguments.cluster is None:
            load_kernels(GO)  # otherwise the first games use the Python search
    else:
        tuned = parse_tunables(await engine_options(engine), wanted)
    spsa = Spsa(tuned, arguments.pairs, arguments.seed, _tuning_fingerprint(arguments, settings))
    state = Path(arguments.state) if arguments.state else None
    with spsa.locked_state(state):
        return await _tune(arguments, settings, spsa, state, pairs)


async def _tune(
    arguments: argparse.Namespace, settings: Settings, spsa: Spsa, state: Path | None, pairs: int
) -> tuple[Spsa, StrengthEstimate | None]:
    async with _cluster_executor(cluster_from(arguments)) as cluster:
        if cluster is None:
            boards, notice = limit_concurrency(arguments.concurrency or 1, oversubscribe=False)
            if notice:
                print_error(notice.text)
        else:
            boards = arguments.concurrency or cluster.threads
        with progress_bar("pairs", arguments.pairs, hourly=True) as show:
            await tune(settings, spsa, boards=boards, state=state, report=show, cluster=cluster)
        with progress_bar("check", pairs, hourly=True) as show:
            checked = await verify(
                settings, spsa, pairs, boards=boards, report=show, cluster=cluster
            )
    return spsa, checked


@contextlib.asynccontextmanager
async def _cluster_executor(
    address: "ClusterAddress | None",
) -> AsyncIterator["ClusterClient | None"]:
    if address is None:
        yield None
        return
    from protocols.cluster.client import ClusterClient
    from protocols.cluster.errors import ClusterError

    try:
        cluster = await ClusterClient.connect(address)
    except ClusterError as error:
        raise SettingsError(str(error)) from None
    try:
        await cluster.start(print_error)
        yield cluster
    finally:
        await cluster.close()


def _engine(spec: str | None) -> EngineSettings:
    if spec is None:
        arguments = ("-P", "-m", "kempelen.cli", "uci", "--tune")
        return EngineSettings(command=sys.executable, arguments=arguments, name="Kempelen")
    entries = engine_entries(parse_entries(spec, "--engine"))
    return decode(EngineSettings, {"name": entries["command"], **entries})


def _go_engine(arguments: argparse.Namespace) -> EngineSettings:
    command_line = [
        "-P",
        "-m",
        "kempelen.cli",
        "gtp",
        "--boardsize",
        str(arguments.size),
        "--no-book",
    ]
    if arguments.tc is None:
        command_line += ["--nodes", str(_nodes(arguments)), "--time", str(HANG_TIMEOUT)]
    return EngineSettings(
        command=sys.executable,
        arguments=tuple(command_line),
        name="Kempelen",
        protocol=EngineProtocol.GTP,
    )


def _tunable_names(game: str) -> list[str]:
    if game == GO:
        return list(SETTINGS)
    from agent.chess.search.parameters import PARAMETERS

    return list(PARAMETERS)


def _nodes(arguments: argparse.Namespace) -> int:
    return int(DEFAULT_NODES[arguments.game] if arguments.nodes is None else arguments.nodes)


def _tuning_fingerprint(
    arguments: argparse.Namespace, settings: Settings
) -> dict[str, str | int | None]:
    """Return the settings that a saved tuning state must match, by option name."""
    made_with = {
        "--game": arguments.game,
        "--engine": arguments.engine,
        "--tc": arguments.tc,
        "--nodes": None if arguments.tc else _nodes(arguments),
        "--openings": with_file_digests(settings).openings.digest,
        "--seed": arguments.seed,
    }
    if arguments.game == GO:
        return made_with | {"--size": str(arguments.size)}
    if arguments.engine is None:
        return made_with | {"evaluation": evaluation_digest(DEFAULT)}
    return made_with


def _settings(arguments: argparse.Namespace, engine: EngineSettings) -> Settings:
    if arguments.tc is not None:
        time = TimeControl.from_text(arguments.tc)
    elif arguments.game == GO:  # GTP has no node limit, so it is set by a command-line argument
        time = TimeControl(movetime=HANG_TIMEOUT)
    else:
        time = TimeControl(nodes=_nodes(arguments))
    settings = Settings(
        engines=tuning_players(engine),
        time=time,
        name="tune",
        games=2 * arguments.pairs,
        seed=arguments.seed,
        openings=OpeningSettings(file=arguments.openings),
    )
    if arguments.game == GO:
        return replace(
            settings,
            openings=replace(settings.openings, plies=RANDOM_PLIES),
            game=GameSettings(GO, {"size": arguments.size}),
        )
    return replace(
        settings,
        adjudication=Adjudication(
            draw=DrawRule(movenumber=40, movecount=8, score=10),
            resign=ResignRule(movecount=4, score=700, twosided=True),
        ),
    )


def _format_elo(checked: StrengthEstimate) -> str:
    return f"{abs(checked.elo.value):.1f} ± {checked.elo.error:.1f} Elo"


def _print(spsa: Spsa, checked: StrengthEstimate | None, game: str, *, as_json: bool) -> None:
    units = {
        tunable.name: setting_scale(tunable.name) if game == GO else 1 for tunable in spsa.tunables
    }
    tuned = {
        name: value / units[name] if units[name] > 1 else value
        for name, value in spsa.values().items()
    }
    if as_json:
        result = {"pairs": spsa.told, "values": tuned}
        print(json.dumps({**result, "check": encode(checked) if checked else None}))
        return
    from kempelen.console.plain_table import PlainTable

    table = PlainTable(title=f"after {spsa.told} pairs")
    for heading in ("parameter", "before", "tuned"):
        table.add_column(heading, justify="left" if heading == "parameter" else "right")
    for tunable in spsa.tunables:
        start = tunable.start / units[tunable.name]
        table.add_row(tunable.name, f"{start:zg}", f"{tuned[tunable.name]:zg}")
    table_console().print(table)
    if checked is not None and checked.elo.value >= 0:
        print(f"against the old values: +{_format_elo(checked)}, LOS {checked.los:.1%}")
