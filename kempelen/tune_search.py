"""`kempelen tune search`: find better constants by games of an engine against itself (SPSA)."""

import argparse
import asyncio
import json
import math
import sys
from pathlib import Path

from kempelen.console import complain, progress
from kempelen.interruption import Interruption
from kempelen.match import engine_entries, parse_entries
from tournament.engine_settings import EngineSettings
from tournament.runner import boards_for
from tournament.settings import Adjudication, DrawRule, OpeningSettings, ResignRule, Settings
from tournament.spsa import Spsa
from tournament.statistics import Strength
from tournament.time_control import TimeControl
from tournament.tuning import against_itself, check, declared, tunables, tune
from tournament.values import SettingsError, decode, encode

WORSE = 1
CHECKED = 10  # one pair in so many, after the tuning, is played against the numbers before


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
    parser.add_argument(
        "--check", type=int, metavar="PAIRS",
        help="pairs of games, after that, of what was found against what there was "
        f"(default: a pair for every {CHECKED} of --pairs)",
    )  # fmt: skip
    parser.add_argument("--nodes", type=int, help="nodes for each move (default 5000)")
    parser.add_argument("--tc", metavar="BASE+INC", help="a clock instead of --nodes")
    parser.add_argument("--concurrency", type=int, default=1, help="games at once (default 1)")
    parser.add_argument("--openings", metavar="FILE", help="EPD, PGN or YAML (default: built in)")
    parser.add_argument("--seed", type=int, default=0, help="of openings and perturbations")
    parser.add_argument("--state", metavar="FILE", help="keep what is learned, and go on from it")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tune and print the numbers found.

    The exit status is 1 where they lose against the numbers before, or cannot be kept, and 2 where
    nothing could be played.
    """
    interruption = Interruption()
    try:
        spsa, checked = asyncio.run(_run(arguments, interruption))
    except SettingsError as error:
        complain(error)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        remedy = f"; --state {arguments.state} goes on from here" if arguments.state else ""
        complain(f"interrupted{remedy}")
        return interruption.status
    _print(spsa, checked, as_json=arguments.json)
    if spsa.unsaved:
        complain(f"{spsa.unsaved}; what was learned is shown above, and not kept")
        return 1
    if checked is not None and checked.elo.value < 0:
        complain(
            f"the numbers found are worse than those before by {_elo(checked)}: "
            "keep the old ones, or tune with more --pairs"
        )
        return WORSE
    return 0


async def _run(
    arguments: argparse.Namespace, interruption: Interruption
) -> tuple[Spsa, Strength | None]:
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
    pairs = arguments.check
    if pairs is None:
        pairs = math.ceil(arguments.pairs / CHECKED)
    if pairs < 0:
        raise SettingsError("--check must not be negative")
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
        complain(notice.text)
    with progress("pairs", arguments.pairs, hourly=True) as show:
        await tune(settings, spsa, boards=boards, state=state, report=show)
    with progress("check", pairs, hourly=True) as show:
        checked = await check(settings, spsa, pairs, boards=boards, report=show)
    return spsa, checked


def _engine(spec: str | None) -> EngineSettings:
    if spec is None:
        arguments = ("-P", "-m", "kempelen.cli", "uci", "--tune")
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


def _elo(checked: Strength) -> str:
    return f"{abs(checked.elo.value):.1f} ± {checked.elo.error:.1f} Elo"


def _print(spsa: Spsa, checked: Strength | None, *, as_json: bool) -> None:
    found = spsa.values()
    if as_json:
        result = {"pairs": spsa.told, "values": found}
        print(json.dumps({**result, "check": encode(checked) if checked else None}))
        return
    from rich.console import Console

    from kempelen.plain_table import PlainTable

    table = PlainTable(title=f"after {spsa.told} pairs")
    for heading in ("constant", "before", "found"):
        table.add_column(heading, justify="left" if heading == "constant" else "right")
    for tunable in spsa.tunables:
        table.add_row(tunable.name, f"{tunable.start:g}", str(found[tunable.name]))
    Console().print(table)
    if checked is not None and checked.elo.value >= 0:
        print(f"against those before: +{_elo(checked)}, LOS {checked.los:.1%}")
