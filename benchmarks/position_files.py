"""Size and reading speed of files of positions: the formats `games` and `positions`.

    python benchmarks/position_files.py
    python benchmarks/position_files.py --data games.bin --rounds 9

The same positions are converted to both formats, and both files are read in turns, on one thread.
Without a file, quick self-play generates the positions.
"""

import statistics
import tempfile
import time
from pathlib import Path

from harness import show
from train_speed import data_file, data_parser

from kempelen.training.dataset import Dataset
from kempelen.training.dataset_operations import convert
from kempelen.training.manifests import FORMATS, POSITIONS


def read(path: Path) -> float:
    """Return the positions read per CPU second."""
    with Dataset(path) as dataset:
        began = time.process_time()
        count = sum(map(len, dataset.blocks()))
        return count / (time.process_time() - began)


def main() -> None:
    """Measure and print."""
    arguments = data_parser(__doc__)
    arguments.add_argument(
        "--rounds", type=int, default=5, help="times to read each file (default: 5)"
    )
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = data_file(given, folder)
        read(source)  # load or compile the decoder
        files = {format_: folder / format_ for format_ in FORMATS}
        written = {}
        for format_, path in files.items():
            began = time.process_time()
            made = convert(source, path, format_, lambda done: None)
            written[format_] = made.positions / (time.process_time() - began)
            read(path)  # warm up
        speeds: dict[str, list[float]] = {format_: [] for format_ in FORMATS}
        for _ in range(given.rounds):
            for format_, path in files.items():
                speeds[format_].append(read(path))
        ratios = {
            format_: statistics.median(
                one / other for one, other in zip(found, speeds[POSITIONS], strict=True)
            )
            for format_, found in speeds.items()
        }
        rows = [
            (
                format_,
                round(path.stat().st_size / made.positions, 2),
                round(written[format_]),
                round(statistics.median(speeds[format_])),
                round(ratios[format_], 2),
            )
            for format_, path in files.items()
        ]
    columns = ("format", "bytes a position", "converted a second", "read a second", "ratio")
    show(f"{made.positions} positions, one thread", columns, rows, given.json)


if __name__ == "__main__":
    main()
