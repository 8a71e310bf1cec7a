"""`kempelen tune search`: find better constants by games of an engine against itself (SPSA)."""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from kempelen.console import complain, progress
from kempelen.interruption import Interruption
from kempelen.match import engine_entries, parse_entries
from tournament.runner import boards_for
from tournament.settings import (
    Adjudication,
    DrawRule,
    EngineSettings,
    OpeningSettings,
    ResignRule,
    Settings,
    TimeControl,
)
from tournament.spsa import Spsa
from tournament.tuning import against_itself, declared, tunables, tune
from tournament.values import SettingsError, decode


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "parameters",
        nargs="*",
        metavar="NAME[=STEP]",
        help="spin options to tune, and how far apart the sides play (default: a 20th of the "
        "range); for our own engine all constants of the search if none is named",
    )
    parser.add_argument("--engine", metavar="SPEC", help="cmd=..., as for match (default: ours)")
    parser.add_argument("--pairs", type=int, default=5000, help="pairs of games (default 5000)")
    parser.add_argument("--nodes", type=int, help="nodes for each move (default 5000)")
    parser.add_argument("--tc", metavar="BASE+INC", help="a clock instead of --nodes")
    parser.add_argument("--concurrency", type=int, default=1, help="games at once (default 1)")
    parser.add_argument("--openings", metavar="FILE", help="EPD, PGN or YAML (default: built in)")
    parser.add_argument("--seed", type=int, default=0, help="of openings and perturbations")
    parser.add_argument("--state", metavar="FILE", help="keep what is learned, and go on from it")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tune and print the numbers found; return the exit status."""
    interruption = Interruption()
    try:
        spsa = asyncio.run(_run(arguments, interruption))
    except SettingsError as error:
        complain(error)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        remedy = f"; --state {arguments.state} goes on from here" if arguments.state else ""
        complain(f"interrupted{remedy}")
        return interruption.status
    _print(spsa, as_json=arguments.json)
    if spsa.unsaved:
        complain(f"{spsa.unsaved}; what was learned is shown above, and not kept")
        return 1
    return 0


async def _run(arguments: argparse.Namespace, interruption: Interruption) -> Spsa:
    interruption.listen()
    engine = _engine(arguments.engine)
    wanted = list(arguments.parameters)
    if not wanted and arguments.engine is None:
        from agent.chess.parameters import PARAMETERS

        wanted = list(PARAMETERS)
    if not wanted:
        raise SettingsError("name the options to tune")
    if arguments.pairs < 1:
        raise SettingsError("--pairs must be at least 1")
    settings = _settings(arguments, engine)
    spsa = Spsa(tunables(await declared(engine), wanted), arguments.pairs, arguments.seed)
    state = Path(arguments.state) if arguments.state else None
    if state is not None and state.exists():
        spsa.load(state)
    if state is not None:
        spsa.save(state)
        if spsa.unsaved:
            raise SettingsError(spsa.unsaved)
    boards, notice = boards_for(arguments.concurrency, oversubscribe=False)
    if notice:
        print(f"kempelen: {notice.text}", file=sys.stderr)
    with progress("pairs", arguments.pairs, hourly=True) as show:
        await tune(settings, spsa, boards=boards, state=state, report=lambda spsa: show(spsa.told))
    return spsa


def _engine(spec: str | None) -> EngineSettings:
    if spec is None:
        arguments = ("-m", "kempelen.cli", "uci", "--tune")
        return EngineSettings(command=sys.executable, arguments=arguments, name="Kempelen")
    entries = engine_entries(parse_entries(spec, "--engine"))
    return decode(EngineSettings, {"name": entries["command"], **entries})


def _settings(arguments: argparse.Namespace, engine: EngineSettings) -> Settings:
    if arguments.tc is not None:
        time = TimeControl.from_text(arguments.tc)
    else:
        time = TimeControl(nodes=5000 if arguments.nodes is None else arguments.nodes)
    return Settings(
        engines=against_itself(engine),
        time=time,
        name="tune",
        games=2 * arguments.pairs,
        seed=arguments.seed,
        openings=OpeningSettings(file=arguments.openings),
        adjudication=Adjudication(
            draw=DrawRule(movenumber=40, movecount=8, score=10),
            resign=ResignRule(movecount=4, score=700, twosided=True),
        ),
    )


def _print(spsa: Spsa, *, as_json: bool) -> None:
    found = spsa.values()
    if as_json:
        print(json.dumps({"pairs": spsa.told, "values": found}))
        return
    from rich.console import Console

    from kempelen.plain_table import Table

    table = Table(title=f"after {spsa.told} pairs")
    for heading in ("constant", "before", "found"):
        table.add_column(heading, justify="left" if heading == "constant" else "right")
    for tunable in spsa.tunables:
        table.add_row(tunable.name, f"{tunable.start:g}", str(found[tunable.name]))
    Console().print(table)
