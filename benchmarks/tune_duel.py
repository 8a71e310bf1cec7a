"""Tune the constants of the search by SPSA, with in-process games of the engine against itself.

    python benchmarks/tune_duel.py RazorBase FutilityMargin=14 --pairs 8000 --state margins.json

It does the same as `kempelen train tune search --nodes N`, in a third of the time at 5,000 nodes,
and even faster at fewer nodes. Each pair of games starts from the same random opening with colours
swapped. STEP is the difference between the sides in NAME=STEP; the default is a tenth of the
constant. All constants are tuned if none is named. At the end, or with --check-only, the tuned
constants play against the original ones.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import chess
from duel import openings, play
from duel_side import TABLE_NODES, answer
from harness import elo_of_pairs, parser, show, show_progress

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.evaluation.evaluators import make_evaluator
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.search.parameters import _REDUCTIONS, _VALUES, PARAMETERS
from agent.chess.search.selfplay import _SelfPlayState
from agent.evaluation import evaluation_digest
from agent.kernel.record import allocate
from agent.kernel.table_memory import TableMemory
from agent.machine import usable_cores
from kempelen.console.settings_codec import SettingsError
from kempelen.match.tuning.spsa import Spsa, Trial, TunableParameter

Numbers = Mapping[str, int]

TABLES = _VALUES, _REDUCTIONS  # the tables that the kernel reads
# Three times the gain of kempelen.match.tuning.spsa, because a run has thousands of pairs, not
# tens of thousands.
GAIN = 0.006
SAVE_EVERY = 20  # number of pairs after which the state is saved


class Player:
    """One side of a duel, like duel.Side, whose search has its own constants."""

    def __init__(self, nodes: int) -> None:
        self._play, _ = allocate(_SelfPlayState)
        self._play["nodes"] = nodes
        self._table = TableMemory(2 + nodes // TABLE_NODES)
        self._evaluator = make_evaluator(load(DEFAULT), False, lambda: None)
        self._game = KernelBoard()
        self.set_parameters({})

    def set_parameters(self, numbers: Numbers) -> None:
        """Set the constants of the search. Other constants get their default values."""
        for parameter in PARAMETERS.values():
            parameter.set(numbers.get(parameter.name, parameter.default))
        self._tables = [table.copy() for table in TABLES]

    def new_game(self, fen: str) -> None:
        """Clear the state of the last game and set up a position."""
        self._table.clear()
        self._game = KernelBoard()
        self._game.load(chess.Board(fen))
        worker = self._game.worker
        worker["selective"] = 1
        worker["table"] = self._table.address
        worker["table_clusters"] = self._table.clusters
        self._evaluator.attach(self._game)

    def answer(self, move: int) -> tuple[int, int, int]:
        """Make the opponent's move and reply; see duel.Side."""
        for table, own in zip(TABLES, self._tables, strict=True):
            table[:] = own
        self._play["move"] = move
        state = answer(self._game.worker, self._play)
        return state, int(self._play["move"]), int(self._play["score"])


_players: list[Player] = []  # the players of this process


def play_pair(nodes: int, seed: str, plus: Numbers, minus: Numbers) -> int:
    """Play a pair of games; return the wins minus the losses of the side with `plus`."""
    if not _players:
        _players.extend(Player(nodes) for _ in range(2))
    first, second = _players
    first.set_parameters({})  # default constants, so that the choice of openings does not change
    board = next(openings(first, seed))
    first.set_parameters(plus)
    second.set_parameters(minus)
    return play(first, second, board) - play(second, first, board)


def play_trials(
    arguments: argparse.Namespace,
    pool: ProcessPoolExecutor,
    wanted: int,
    ask: Callable[[], Trial],
    tell: Callable[[Trial, int], None],
    kind: str,
) -> None:
    """Play `wanted` trials, with at most one per process at a time.

    ask: returns the next trial.
    tell: called with a finished trial and its result.
    kind: label of the trials in the seeds and in the progress line.
    """
    under_way: dict[Future[int], Trial] = {}
    asked = told = 0
    while told < wanted:
        while asked < wanted and len(under_way) < arguments.processes:
            trial, seed = ask(), f"{arguments.seed}/{kind}/{arguments.told + asked}"
            job = pool.submit(play_pair, arguments.nodes, seed, trial.plus, trial.minus)
            under_way[job] = trial
            asked += 1
        for job in wait(under_way, return_when=FIRST_COMPLETED).done:
            tell(under_way.pop(job), job.result())
            told += 1
            show_progress(f"{kind}: {told} of {wanted} pairs")


@contextlib.contextmanager
def processes(number: int) -> Iterator[ProcessPoolExecutor]:
    """Start a pool of `number` processes. If the run ends early, do not wait for them."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(number, mp_context=context) as pool:
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                process.kill()
            raise


def tunable(text: str) -> TunableParameter:
    """Parse NAME or NAME=STEP. Exits if the name is unknown."""
    name, _, step = text.partition("=")
    if name not in PARAMETERS:
        raise SystemExit(f"tune_duel: {name} is no constant; there are {', '.join(PARAMETERS)}")
    one = PARAMETERS[name]
    usual = max(abs(one.default) / 10, 0.5)
    return TunableParameter(
        name, one.default, one.minimum, one.maximum, float(step) if step else usual, GAIN
    )


def main(arguments: argparse.Namespace) -> int:
    """Tune or continue tuning, then play the tuned constants against the original ones."""
    made_with: dict[str, str | int | None] = {}  # a final match may have other settings
    if not arguments.check_only:
        made_with = {"--nodes": arguments.nodes, "--seed": arguments.seed}
        made_with["evaluation"] = evaluation_digest(DEFAULT)
    tunables = [tunable(text) for text in arguments.names or PARAMETERS]
    spsa = Spsa(tunables, arguments.pairs, made_with=made_with)
    try:
        with spsa.locked_state(arguments.state):
            return tune(arguments, spsa)
    except SettingsError as error:
        raise SystemExit(f"tune_duel: {error}") from None


def tune(arguments: argparse.Namespace, spsa: Spsa) -> int:
    """Play the remaining pairs, then the final match."""
    arguments.told = spsa.told
    counts = [0] * 5

    def learn(trial: Trial, balance: int) -> None:
        spsa.tell(trial, balance)
        if spsa.told % SAVE_EVERY == 0 or spsa.told == arguments.pairs:
            spsa.save(arguments.state)

    def count(trial: Trial, balance: int) -> None:
        counts[balance + 2] += 1

    before = {name: PARAMETERS[name].default for name in spsa.values()}
    with processes(arguments.processes) as pool:
        if not arguments.check_only:
            left = arguments.pairs - spsa.told
            play_trials(arguments, pool, left, spsa.ask, learn, "tuning")
        found = Trial(spsa.values(), before, {})
        play_trials(arguments, pool, arguments.check, lambda: found, count, "check")
    rows = [(name, str(before[name]), str(value)) for name, value in spsa.values().items()]
    title = f"after {spsa.told} pairs at {arguments.nodes} nodes a move"
    if arguments.check:
        title += f"; {elo_of_pairs(counts)} Elo in {2 * arguments.check} games"
    show(title, ("constant", "before", "found"), rows, arguments.json)
    return 0


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("names", nargs="*", metavar="NAME[=STEP]")
    options.add_argument(
        "--state", type=Path, required=True, help="store the state in FILE, or continue with it"
    )
    options.add_argument("--pairs", type=int, default=8000)
    options.add_argument("--check", type=int, default=400, help="pairs of games in the final match")
    options.add_argument("--check-only", action="store_true", help="play only the final match")
    options.add_argument("--nodes", type=int, default=5000, help="soft node limit per move")
    options.add_argument("--processes", type=int, default=usable_cores())
    options.add_argument("--seed", default="1")
    sys.exit(main(options.parse_args()))
