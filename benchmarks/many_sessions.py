"""Load test of many UCI sessions in one process: late answers, and memory per session (Linux).

    python benchmarks/many_sessions.py
    python benchmarks/many_sessions.py --sessions 20 --minutes 0.2 --every 2.5

Each session plays its own game. At random moments, it requests a move within a fixed number of
milliseconds. The time is measured from just before `go` is sent. Later answers count as late. The
`chess` package checks the moves. A process that only sleeps runs at the same time. How late it
wakes up shows the timing error of the machine itself.
"""

import argparse
import gc
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heapreplace
from random import Random

import chess
from harness import memory, parser, percentile, show_figures

from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.scheduler import SearchScheduler
from protocols.permissions import Permissions
from protocols.session_context import SessionContext
from protocols.stdio import SWITCH_INTERVAL
from protocols.uci.protocol import UciProtocol

LOADING = 120.0  # timeout in seconds for loading, which may compile the kernel
MAX_PLIES = 120  # plies; then a new game begins


@dataclass
class Measurements:
    """The counted events.

    seconds: time of each answer.
    nodes: nodes of each search.
    """

    seconds: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    asked: int = 0
    unanswered: int = 0
    twice: int = 0
    illegal: int = 0
    unsearched: int = 0


class Player:
    """A session and its game."""

    def __init__(
        self,
        number: int,
        session_context: SessionContext,
        milliseconds: int,
    ) -> None:
        self._chance = Random(number)
        self._heard: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        self.uci = UciProtocol(
            "bench", "", self._hear, lambda _: None, session_context=session_context
        )
        self._milliseconds = milliseconds
        self._board = chess.Board()
        self._nodes = 0
        self._asked_at: float | None = None

    def _hear(self, line: str) -> None:
        self._heard.put((time.perf_counter(), line))

    def say(self, line: str) -> None:
        """Send a line, and discard the immediate output."""
        for _ in self.uci.handle_line(line):
            pass

    def await_line(self, start: str) -> None:
        """Wait for an output line that starts with `start`."""
        while not self._heard.get(timeout=LOADING)[1].startswith(start):
            pass

    def ask(self, figures: Measurements) -> None:
        """Check the last answer, and request the next move."""
        self.judge(figures)
        if self._board.is_game_over() or self._board.ply() > MAX_PLIES:
            self._board.reset()
            self.say("ucinewgame")
        moves = " ".join(move.uci() for move in self._board.move_stack)
        self.say(f"position startpos moves {moves}" if moves else "position startpos")
        self._asked_at = time.perf_counter()
        self.say(f"go movetime {self._milliseconds}")
        figures.asked += 1

    def judge(self, figures: Measurements) -> None:
        """Check and count the last answer, and reply with a random move."""
        if self._asked_at is None:
            return
        answers, searched = [], False
        while not self._heard.empty():
            at, line = self._heard.get()
            words = line.split()
            if line.startswith("info depth"):
                searched = True
                if "nodes" in words:
                    self._nodes = int(words[words.index("nodes") + 1])
            elif words[0] == "bestmove":
                answers.append((at, words[1]))
        figures.unanswered += not answers
        figures.twice += len(answers) > 1
        figures.unsearched += not searched
        if not answers:
            return
        figures.seconds.append(answers[0][0] - self._asked_at)
        figures.nodes.append(self._nodes if searched else 0)
        self._asked_at = None
        move = chess.Move.from_uci(answers[0][1])
        if move not in self._board.legal_moves:
            figures.illegal += 1
            return
        self._board.push(move)
        if not self._board.is_game_over():
            self._board.push(self._chance.choice(list(self._board.legal_moves)))


# Sleeps until its input ends. Prints how late it woke up in ms: 99th percentile and maximum.
SLEEPER = """
import select, sys, time
late = []
while not select.select([sys.stdin], [], [], 0)[0]:
    due = time.perf_counter() + 0.02
    time.sleep(0.02)
    late.append(1000 * (time.perf_counter() - due))
late.sort()
print(round(late[int(0.99 * len(late))], 1), round(late[-1], 1))
"""


def resident() -> float:
    """Return the resident memory of this process in MB, without garbage."""
    gc.collect()
    return memory("self")


def play(players: Sequence[Player], options: argparse.Namespace) -> tuple[Measurements, int]:
    """Let all sessions play; return the counts and the maximum number of threads."""
    figures, chance, most = Measurements(), Random(0), 0
    began = time.perf_counter()
    due = [(began + chance.random() * options.every, n) for n in range(len(players))]
    heapify(due)
    while due[0][0] < began + 60 * options.minutes:
        at, number = due[0]
        time.sleep(max(at - time.perf_counter(), 0.0))
        most = max(most, threading.active_count())
        players[number].ask(figures)
        heapreplace(due, (at + options.every * (0.8 + 0.4 * chance.random()), number))
    for player in players:
        player.uci.drain()
        player.judge(figures)
    return figures, most


def main() -> int:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--sessions", type=int, default=200)
    arguments.add_argument(
        "--every", type=float, default=25.0, help="seconds between the moves of a session"
    )
    arguments.add_argument("--move-time", type=int, default=200, help="milliseconds per move")
    arguments.add_argument("--minutes", type=float, default=3.0)
    arguments.add_argument("--hash", type=int, default=4, help="hash size in MB of each session")
    options = arguments.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL)

    scheduler = SearchScheduler(usable_cores())
    budget = MemoryBudget((options.sessions + 1) * options.hash)
    session_context = SessionContext(Permissions(megabytes=options.hash), scheduler, budget)

    def join(number: int) -> Player:
        player = Player(number, session_context, options.move_time)
        for word in ("uci", "setoption name OwnBook value false", "isready"):
            player.say(word)
        player.await_line("readyok")
        return player

    first = join(0)
    first.say("go movetime 100")
    first.await_line("bestmove")
    alone = resident()
    players = [join(number) for number in range(1, options.sessions + 1)]
    time.sleep(1)
    idle, threads = resident(), threading.active_count()
    busy, began = time.process_time(), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as sleeper:
        figures, most = play(players, options)
        slept = ", ".join(sleeper.communicate()[0].split())
    busy = (time.process_time() - busy) / (time.perf_counter() - began)
    playing = resident()
    for player in (first, *players):
        player.uci.close(5.0)

    late = sum(seconds > options.move_time / 1000 for seconds in figures.seconds)
    found = {
        "sessions": options.sessions,
        "moves asked for": figures.asked,
        "answered not at all, or twice": f"{figures.unanswered}, {figures.twice}",
        "illegal moves": figures.illegal,
        "late": late,
        "made without a search": figures.unsearched,
    }
    for percent in (50, 90, 99, 99.9, 100):
        answered = 1000 * percentile(figures.seconds, percent)
        found[f"answered after, ms, {percent:g} %"] = round(answered)
    for percent in (1, 10, 50):
        found[f"nodes of a move, {percent} %"] = int(percentile(figures.nodes, percent))
    found |= {
        "processors in use": busy,
        "a process that only sleeps wakes up late by, ms, 99 % and 100 %": slept,
        "MB, process with one session": alone,
        "MB of an idle session": (idle - alone) / options.sessions,
        f"MB of a playing session, its hash of {options.hash} MB included": (
            (playing - alone) / options.sessions
        ),
        "MB left, all sessions closed": resident(),
        "threads, idle and at most": f"{threads}, {most}",
    }
    show_figures("many sessions in one process", found, options.json)
    return int(bool(late or figures.illegal or figures.unanswered or figures.twice))


if __name__ == "__main__":
    raise SystemExit(main())
