"""Time per frame of the `kempelen lab step` page on a large tree.

    python benchmarks/step_frames.py [--algorithm A] [--nodes N] [--steps N] [--json]

The recordings are minimax, and SSS* with its open list, on a random tree with branching factor 12.
Debian's chromium steps forward and back, and moves and zooms the view. The time of a frame is from
the command to the drawn picture, in milliseconds.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from agent.games import catalogue
from agent.search import algorithm_spec
from kempelen.lab.problems import SearchProblem
from kempelen.lab.recordings.record_search import record_search
from kempelen.lab.recordings.recording import Recording
from kempelen.lab.step import render_page
from tests.browser import Browser, started

STEP_ACTIONS = {
    "a step forward": "page.go(page.replay.at + 1)",
    "a step back": "page.go(page.replay.at - 1)",
    "the view moved": "view.centre(17 * round % length)",
    "the view zoomed": "view.zoom(round % 2 ? 1.2 : 1 / 1.2, 400, 200)",
}
TIMED = """
const page = Kempelen.stepPage, view = page.view, length = arguments[0], rounds = arguments[1];
const frames = [];
page.go(Math.floor(page.replay.length / 2)); view.draw();
for (let round = 0; round < rounds; round += 1) {
  const began = performance.now();
  %s; view.draw();
  view.canvas.getContext("2d").getImageData(0, 0, 1, 1);  // what was drawn is there
  frames.push(performance.now() - began);
}
return frames;
"""


def recorded(algorithm: str, nodes: int) -> Recording:
    """Return a recording with about `nodes` nodes.

    For SSS*, the tree is larger, because SSS* skips most of it.
    """
    kind = catalogue.find("random-tree")
    depth = 4 if algorithm == "minimax" else 5
    game = kind.new(branching=12, depth=depth)
    at = SearchProblem("random-tree", game, kind.evaluate, depth, 1)
    return record_search(at, algorithm_spec.parse(algorithm), max_nodes=nodes)


def frames_of(browser: Browser, page: Path, nodes: int, steps: int) -> dict[str, dict[str, float]]:
    """Return the frame times in milliseconds, by the type of change."""
    browser.open(page)
    found = {}
    for way, script in STEP_ACTIONS.items():
        frames = browser.run(TIMED % script, nodes, steps)
        frames.sort()
        last = frames[int(0.99 * len(frames))]
        found[way] = {"median": statistics.median(frames), "99%": last, "most": frames[-1]}
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--algorithm",
        action="append",
        help="algorithm; may be repeated (default: minimax and sss-star)",
    )
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=500, help="frames of each type (default: 500)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as browser:
        for algorithm in arguments.algorithm or ("minimax", "sss-star"):
            recording = recorded(algorithm, arguments.nodes)
            page = Path(folder) / f"{algorithm}.html"
            page.write_text(render_page(recording, "en"), encoding="utf-8")
            found = frames_of(browser, page, len(recording.nodes), arguments.steps)
            size = {"nodes": len(recording.nodes), "steps": len(recording.steps)}
            if arguments.json:
                print(json.dumps({"algorithm": algorithm, **size, "frames": found}))
                continue
            print(
                f"{algorithm}, {size['nodes']} nodes, {size['steps']} steps; milliseconds a frame:"
            )
            for way, times in found.items():
                print(f"{way:16}", *(f"{name} {value:7.1f}" for name, value in times.items()))


if __name__ == "__main__":
    main()
