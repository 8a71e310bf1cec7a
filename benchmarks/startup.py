"""Start-up time: from process start to uciok and to readyok, compared with Stockfish and Python.

    python benchmarks/startup.py

Times are measured with the existing cache and with an empty one. Use --no-cold to skip the slow
compilation. With --beside, sources in another folder are measured too.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from report import KEMPELEN, parser, show, stockfish


def answer_times(
    command: list[str], environment: dict[str, str], folder: str | None = None
) -> tuple[float, float]:
    """Return the seconds from process start to uciok and to readyok.

    folder: the folder that the process is started in.
    """
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        times = []
        for question, answer in (("uci", "uciok"), ("isready", "readyok")):
            engine.stdin.write(question + "\n")
            engine.stdin.flush()
            while not engine.stdout.readline().startswith(answer):
                pass
            times.append(time.perf_counter() - began)
        engine.stdin.write("quit\n")
        engine.stdin.flush()
    return times[0], times[1]


def plain_python() -> float:
    """Return the seconds that `python -c pass` takes."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def cold_times(sources: str | None = None) -> tuple[float, float, float, float]:
    """Return the seconds with an empty cache: to uciok, to readyok, to compile, and in total."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "KEMPELEN_CACHE_DIR": folder}
        uciok, readyok = answer_times(KEMPELEN, environment, sources)
    times = []
    for command in (
        [
            sys.executable,
            "-c",
            "from agent.kernel import compilation; compilation.load('alphabeta')",
        ],
        [*KEMPELEN[:-1], "warmup"],
    ):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "KEMPELEN_CACHE_DIR": folder}
            began = time.perf_counter()
            subprocess.run(
                command, env=environment, cwd=sources, check=True, stdout=subprocess.DEVNULL
            )
            times.append(time.perf_counter() - began)
    return uciok, readyok, times[0], times[1]


def main() -> int:
    """Measure and compare. The programs take turns."""
    arguments = parser(__doc__)
    arguments.add_argument("--runs", type=int, default=21)
    arguments.add_argument(
        "--no-cold", action="store_true", help="skip the measurements with an empty cache"
    )
    arguments.add_argument(
        "--beside", metavar="FOLDER", help="folder of other sources to compare with"
    )
    options = arguments.parse_args()
    other = stockfish()
    environment = dict(os.environ)
    ours, theirs, python, beside = [], [], [], []
    for _ in range(options.runs):
        python.append(plain_python())
        ours.append(answer_times(KEMPELEN, environment))
        if options.beside:
            beside.append(answer_times(KEMPELEN, environment, options.beside))
        if other:
            theirs.append(answer_times([other], environment))

    def row(name: str, times: list[tuple[float, float]]) -> tuple[str, float, float, float]:
        first, second = zip(*times, strict=True)
        return name, statistics.median(first), max(first), statistics.median(second)

    rows: list[tuple[str, float, float, float | str]] = [
        ("python -c pass", statistics.median(python), max(python), ""),
        row("Kempelen, warm", ours),
    ]
    if beside:
        rows.append(row(f"Kempelen in {options.beside}", beside))
    if theirs:
        rows.append(row("Stockfish", theirs))
    if not options.no_cold:
        for sources in (None, options.beside) if options.beside else (None,):
            where = f" in {sources}" if sources else ""
            uciok, readyok, for_play, whole = cold_times(sources)
            rows.append((f"Kempelen{where}, cold", uciok, uciok, readyok))
            rows.append((f"compilation for play{where}", for_play, for_play, ""))
            rows.append((f"compilation, whole{where}", whole, whole, ""))
    columns = ("program", "uciok s (median)", "worst", "readyok s (median)")
    show("start-up, seconds from process start", columns, rows, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
