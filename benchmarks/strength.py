"""Strength of the engine: a gauntlet against other engines, on the scale of Stockfish's UCI_Elo.

    make strength
    python benchmarks/strength.py --games 200 --tc 10+0.1 --ledger strength.sqlite
    python benchmarks/strength.py --opponents toga2,SF2400 --games 40

Every opponent plays the same number of games, with one thread, no book, and 16 MB of hash if it has
the option. Games start from the built-in openings, in pairs with colours swapped. The levels of
Stockfish keep their nominal Elo. All other engines are rated by their games. Opponents that are not
installed are skipped. The ledger stores the games by engine version, time control and opponents. To
continue after an interruption or to add games, run the same command again.
"""

import argparse
import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from report import KEMPELEN, parser, show

from agent.machine import usable_cores
from kempelen import __version__
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import load_kernels
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication, DrawRule, ResignRule, Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.display import Display
from kempelen.match.pairing.formats import Format
from kempelen.match.rating.bradley_terry import Rating, rate
from kempelen.match.rating.standings import FAILURES, outcome_from_record, pair_results, pair_scores
from kempelen.match.records.game_record import GameRecord
from kempelen.match.records.ledger import LedgerError
from kempelen.match.runner import RunResult, limit_concurrency, play_tournament

HASH = 16
MARGIN = 0.05
ADJUDICATION = Adjudication(
    draw=DrawRule(movenumber=50, movecount=8, score=10),
    resign=ResignRule(movecount=4, score=900, twosided=True),
)
INTERRUPTED = 130


@dataclass(frozen=True)
class Opponent:
    """An engine to play against.

    elo: the fixed Elo of an engine that defines the scale, else None.
    """

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    options: dict[str, str | int | bool] = field(default_factory=dict)
    protocol: EngineProtocol = EngineProtocol.UCI
    margin: float = MARGIN
    elo: int | None = None

    @property
    def path(self) -> str | None:
        """The path of the installed program, or None. Includes Debian's folder of games."""
        folders = (
            os.environ.get("PATH", os.defpath),
            "/usr/games",
            str(Path(sys.executable).parent),
        )
        return shutil.which(self.program, path=os.pathsep.join(folders))

    def settings(self, time: TimeControl) -> EngineSettings:
        """Return the installed engine with its match settings."""
        return EngineSettings(
            self.path or self.program,
            self.name,
            self.arguments,
            protocol=self.protocol,
            options=self.options,
            time=replace(time, margin=self.margin),
        )


def level(elo: int) -> Opponent:
    """Return Stockfish with a UCI_Elo as an opponent."""
    options = {"Hash": HASH, "Threads": 1, "UCI_LimitStrength": True, "UCI_Elo": elo}
    return Opponent(f"SF{elo}", "stockfish", options=options, elo=elo)


OPPONENTS = (
    *map(level, (2400, 2600, 2800)),
    Opponent("glaurung", "glaurung", options={"Hash": HASH, "Threads": 1}),
    Opponent("toga2", "toga2", options={"Hash": HASH}),
    # It sometimes exceeds its time.
    Opponent("gnuchess", "gnuchess", ("--uci",), {"Hash": HASH}, margin=1.0),
    Opponent("phalanx", "phalanx", ("-b-", "-l-"), {"memory": HASH}, EngineProtocol.XBOARD, 0.2),
    Opponent(
        "hoichess",
        "hoichess",
        ("--norc", "--initcmd", f"hash size {HASH}M"),
        protocol=EngineProtocol.XBOARD,
        margin=0.2,
    ),
    Opponent("ethereal", "ethereal-chess", options={"Hash": HASH, "Threads": 1}),
    Opponent("sunfish", "sunfish-uci", margin=0.2),
)


def chosen(names: str | None) -> list[Opponent]:
    """Return the installed opponents with these comma-separated names; None means all."""
    known = {opponent.name: opponent for opponent in OPPONENTS}
    wanted = names.split(",") if names else list(known)
    if unknown := [name for name in wanted if name not in known]:
        raise SettingsError(f"no opponent {', '.join(unknown)}; there are {', '.join(known)}")
    for name in wanted:
        if known[name].path is None:
            program = known[name].program
            print(f"strength: {name} is left out: {program} is not installed", file=sys.stderr)
    return [known[name] for name in wanted if known[name].path is not None]


def gauntlet(opponents: Sequence[Opponent], options: argparse.Namespace) -> Settings:
    """Return the tournament. Its name depends on everything that must not be mixed in a ledger."""
    time = TimeControl.from_text(options.tc)
    program, *arguments = KEMPELEN
    ours = EngineSettings(
        program,
        "Kempelen",
        tuple(arguments),
        options={"Hash": HASH, "Threads": 1, "OwnBook": False},
        time=replace(time, margin=MARGIN),
    )
    engines = (ours, *(opponent.settings(time) for opponent in opponents))
    digest = hashlib.sha256(json.dumps(encode(engines)).encode()).hexdigest()[:8]
    return Settings(
        engines=engines,
        time=time,
        name=re.sub(r"[/+#]", "-", f"strength {options.label[:40]} {options.tc} {digest}"),
        format=Format.GAUNTLET,
        games=options.games,
        adjudication=ADJUDICATION,
    )


async def run(
    settings: Settings, options: argparse.Namespace
) -> tuple[RunResult, list[GameRecord]]:
    """Play the games that the ledger does not contain, and return all games."""
    display = Display()
    try:
        return await play_tournament(
            settings,
            ledger=options.ledger,
            resume=True,
            boards=options.concurrency,
            listeners=[display],
        )
    finally:
        display.close()


def table(
    opponents: Sequence[Opponent], records: Sequence[GameRecord]
) -> list[tuple[str, int, str, int, str, str, int]]:
    """Return a row for each player: its rating with error, and our score against it."""
    names = ["Kempelen", *(opponent.name for opponent in opponents)]
    # Player numbers in a record are those of the gauntlet: ours is the first.
    meetings = pair_scores(pair_results(map(outcome_from_record, records)))
    anchors = {opponent.name: opponent.elo for opponent in opponents if opponent.elo is not None}
    ratings = rate(names, meetings, anchors)
    return [row(rating, records, rating.name in anchors) for rating in ratings]


def row(
    rating: Rating, records: Sequence[GameRecord], fixed: bool
) -> tuple[str, int, str, int, str, str, int]:
    """Return a player's row. Kempelen's own row counts all games."""
    ours = [record for record in records if rating.name in (record.white, record.black)]
    scores = [
        record.white_score if record.white == "Kempelen" else 1 - record.white_score
        for record in ours
        if record.white_score is not None
    ]
    counts = "-".join(str(scores.count(score)) for score in (1.0, 0.5, 0.0))
    failures = sum(
        record.termination in FAILURES and _loser(record) == rating.name for record in ours
    )
    error = "fixed" if fixed else f"{rating.error:.0f}"
    share = f"{sum(scores) / len(scores):.1%}" if scores else ""
    return rating.name, round(rating.elo), error, len(scores), counts, share, failures


def _loser(record: GameRecord) -> str:
    return record.black if record.white_score == 1 else record.white


def version() -> str:
    """Return the commit of the engine, or its version if the commit is unknown."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() if described.returncode == 0 else __version__


def main() -> int:
    """Play and report."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=200, help="games against each opponent")
    arguments.add_argument(
        "--tc", default="10+0.1", help="time control in seconds, as base+increment"
    )
    arguments.add_argument("--ledger", default="strength.sqlite", metavar="FILE")
    arguments.add_argument(
        "--opponents",
        metavar="A,B",
        help="names of the opponents, separated by commas (default: all)",
    )
    arguments.add_argument(
        "--concurrency", type=int, help="concurrent games (default: number of cores)"
    )
    arguments.add_argument(
        "--label", default=version(), help="name of this engine version (default: its commit)"
    )
    options = arguments.parse_args()
    if options.concurrency is None:
        options.concurrency, _ = limit_concurrency(usable_cores(), oversubscribe=False)
    try:
        opponents = chosen(options.opponents)
        if not opponents:
            raise SettingsError("no opponent is installed: see docs/guide/matches.md")
        load_kernels()
        finish, records = asyncio.run(run(gauntlet(opponents, options), options))
    except (SettingsError, LedgerError) as error:
        print(f"strength: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("strength: interrupted; the same line goes on from here", file=sys.stderr)
        return INTERRUPTED
    columns = ("player", "Elo", "+-", "games", "+=-", "Kempelen's score", "failed")
    title = f"Kempelen {options.label} at {options.tc}, on the scale of Stockfish's UCI_Elo"
    show(title, columns, table(opponents, records), options.json)
    if not finish.complete:
        print(f"strength: {finish.reason}", file=sys.stderr)
    return 0 if finish.complete else 1


if __name__ == "__main__":
    raise SystemExit(main())
