"""Start-up time: from process start to uciok and to readyok, compared with other programs.

    python benchmarks/startup.py
    python benchmarks/startup.py --no-cold --beside FOLDER

Warm times use the existing cache of compiled kernels, cold times an empty one. Cold times are slow,
and are measured in the first run only.
"""

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from harness import KEMPELEN, Engine, Program, compare, comparison_parser

PYTHON = Program("python -c pass", (sys.executable, "-c", "pass"))
COMPILATIONS = {
    "compiled for play": [
        *(sys.executable, "-c"),
        "from agent.kernel import compilation; compilation.load('alphabeta')",
    ],
    "all compiled": [*KEMPELEN, "warmup"],
}


def answer_times(program: Program, prefix: str, env: dict[str, str]) -> dict[str, float]:
    """Return the seconds from process start to uciok and to readyok."""
    began = time.perf_counter()
    with Engine(program.command, cwd=program.folder, env=env) as engine:
        found = {}
        for line, answer in (("uci", "uciok"), ("isready", "readyok")):
            engine.time(line, answer)
            found[f"{prefix}, to {answer}"] = time.perf_counter() - began
        engine.say("quit")
        engine.process.wait()
    return found


def run_time(command: Any, **options: Any) -> float:
    """Return the seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - began


def cold_times(program: Program) -> dict[str, float]:
    """Return the seconds to the answers and to compile, each with an empty cache."""
    found = {}
    for name, command in {"cold": None, **COMPILATIONS}.items():
        with tempfile.TemporaryDirectory() as folder:
            env = os.environ | {"KEMPELEN_CACHE_DIR": folder}
            if command is None:
                found |= answer_times(program, name, env)
            else:
                found[name] = run_time(command, cwd=program.folder, env=env)
    return found


def main() -> None:
    """Measure and compare."""
    arguments = comparison_parser(__doc__, runs=21)
    arguments.add_argument("--no-cold", action="store_true", help="skip the cold times")
    options = arguments.parse_args()
    cold: set[str] = set()

    def measure(program: Program, _: None) -> dict[str, float]:
        if program == PYTHON:
            return {"warm, to uciok": run_time(program.command)}
        found = answer_times(program, "warm", dict(os.environ))
        if not options.no_cold and program.name not in cold and program.command[0] == KEMPELEN[0]:
            cold.add(program.name)
            found |= cold_times(program)
        return found

    compare("start-up, seconds from process start", options, measure, others=[PYTHON])


if __name__ == "__main__":
    main()
