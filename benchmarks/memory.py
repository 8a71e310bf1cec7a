"""Peak memory of a searching UCI engine by hash size, compared with other programs (Linux).

python benchmarks/memory.py --beside FOLDER
"""

import time

import chess
import chess.engine
from harness import Program, compare, comparison_parser, memory


def main() -> None:
    """Measure and compare."""
    arguments = comparison_parser(__doc__, runs=1)
    arguments.add_argument("--seconds", type=float, default=3.0, help="seconds per search")
    options = arguments.parse_args()

    def measure(program: Program, _: None) -> dict[str, float]:
        found = {}
        for megabytes, threads in ((1, 1), (16, 1), (16, 2), (256, 1)):
            with chess.engine.SimpleEngine.popen_uci(
                list(program.command), timeout=60, cwd=program.folder
            ) as engine:
                engine.configure({"Hash": megabytes, "Threads": threads})
                engine.ping()
                engine.analyse(chess.Board(), chess.engine.Limit(time=options.seconds))
                time.sleep(0.1)
                peak = memory(engine.transport.get_pid(), "VmHWM")
            found[f"Hash {megabytes}, Threads {threads}"] = peak
        return found

    compare("peak memory, MB", options, measure)


if __name__ == "__main__":
    main()
