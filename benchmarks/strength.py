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

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import KEMPELEN, MATCH_ENGINE, parser, show

from agent.machine import usable_cores
from kempelen import __version__

# Debian's folder of games, and that of programs from PyPI.
PATH = os.pathsep.join(
    [os.environ.get("PATH", os.defpath), "/usr/games", str(Path(sys.executable).parent)]
)
LEVELS = (2400, 2600, 2800)
SMALL = "option.Hash=16,option.Threads=1"
LIMITED = f"cmd=stockfish,{SMALL},option.UCI_LimitStrength=true,option.UCI_Elo="
# Engines by name, in the form of `kempelen match --engine`. Margins are for engines that sometimes
# exceed their time.
OPPONENTS = {f"SF{elo}": f"{LIMITED}{elo}" for elo in LEVELS} | {
    "glaurung": f"cmd=glaurung,{SMALL}",
    "toga2": "cmd=toga2,option.Hash=16",
    "gnuchess": "cmd=gnuchess,args=--uci,option.Hash=16,margin=1.0",
    "phalanx": "cmd=phalanx,args=-b- -l-,proto=xboard,option.memory=16,margin=0.2",
    "hoichess": 'cmd=hoichess,args=--norc --initcmd "hash size 16M",proto=xboard,margin=0.2',
    "ethereal": f"cmd=ethereal-chess,{SMALL}",
    "sunfish": "cmd=sunfish-uci,margin=0.2",
}
OURS = f"{MATCH_ENGINE},name=Kempelen,{SMALL},option.OwnBook=false"
DRAW, RESIGN = "movenumber=50,movecount=8,score=10", "movecount=4,score=900,twosided=true"


def installed(names: list[str]) -> list[str]:
    """Return those of the opponents that are installed. Exit if a name is unknown."""
    found = []
    for name in names:
        if name not in OPPONENTS:
            raise SystemExit(f"strength: no opponent {name}; there are {', '.join(OPPONENTS)}")
        program = re.match("cmd=([^,]+)", OPPONENTS[name])[1]
        if shutil.which(program, path=PATH):
            found.append(name)
        else:
            print(f"strength: {name} is left out: {program} is not installed", file=sys.stderr)
    return found


def version() -> str:
    """Return the commit of the engine, or its version if the commit is unknown."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    described = subprocess.run(command, capture_output=True, text=True, check=False)
    return described.stdout.strip() if described.returncode == 0 else __version__


def main() -> int:
    """Play the games that the ledger lacks, and rate all players."""
    arguments = parser(__doc__)
    arguments.add_argument("--games", type=int, default=200, help="games against each opponent")
    arguments.add_argument(
        "--tc", default="10+0.1", help="time control in seconds, as base+increment"
    )
    arguments.add_argument("--ledger", default="strength.sqlite", metavar="FILE")
    arguments.add_argument(
        "--opponents", default=",".join(OPPONENTS), metavar="A,B", help="names (default: all)"
    )
    arguments.add_argument(
        "--concurrency", type=int, default=usable_cores(), help="concurrent games (default: cores)"
    )
    arguments.add_argument(
        "--label", default=version(), help="name of this engine version (default: its commit)"
    )
    options = arguments.parse_args()
    names = installed(options.opponents.split(","))
    if not names:
        raise SystemExit("strength: no opponent is installed: see docs/guide/matches.md")
    engines = [OURS, *(f"{OPPONENTS[name]},name={name}" for name in names)]
    engines = [spec if "margin=" in spec else f"{spec},margin=0.05" for spec in engines]
    # Everything that must not be mixed in a ledger.
    digest = hashlib.sha256("\n".join(engines).encode()).hexdigest()[:8]
    name = re.sub(r"[/+#]", "-", f"strength {options.label[:40]} {options.tc} {digest}")
    with tempfile.TemporaryDirectory() as folder:
        command = [*KEMPELEN, "match", "--format", "gauntlet", "--name", name, "--tc", options.tc]
        command += ["--games", str(options.games), "--draw", DRAW, "--resign", RESIGN]
        command += ["--concurrency", str(options.concurrency), "--pgn", f"{folder}/games.pgn"]
        command += ["--ledger", options.ledger, "--resume"]
        command += [word for spec in engines for word in ("--engine", spec)]
        status = subprocess.run(command, env=os.environ | {"PATH": PATH}, check=False).returncode
        if status:
            return status
        rating = [*KEMPELEN, "match", "ratings", f"{folder}/games.pgn", "--json"]
        for elo in LEVELS:
            rating += ["--anchor", f"SF{elo}={elo}"] if f"SF{elo}" in names else []
        rated = json.loads(subprocess.run(rating, stdout=subprocess.PIPE, check=True).stdout)
    rows = [
        (row["name"], round(row["elo"]), round(row["error"]), row["games"], row["points"])
        for row in rated
    ]
    title = f"Kempelen {options.label} at {options.tc}, on the scale of Stockfish's UCI_Elo"
    show(title, ("player", "Elo", "+-", "games", "points"), rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
