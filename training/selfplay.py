"""Self-play on several processes, appended to one file of positions.

Game n is played by process n modulo their number and follows from the manifest and n alone, and
the games are written in their order: the file is the same however many processes there are, and
however often it was interrupted.
"""

import hashlib
import itertools
import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import numpy as np

from agent.evaluation import EvaluationError, load
from agent.kernel import sources_digest
from agent.packed import packed_dtype
from agent.selfplay import OpeningsError, Rules
from training.positions import Damage, Packed, Writer

if TYPE_CHECKING:
    from agent.chess.selfplay import SelfPlay

BLOCK_GAMES = 32


class SelfPlayError(Exception):
    """Self-play cannot go on; the message says why."""


@dataclass(frozen=True)
class Plan:
    """What is played: together with a game's number it determines the game."""

    rules: Rules
    seed: int = 1
    evaluation: str = "handcrafted"
    openings: tuple[str, ...] = ()  # FENs; the start position if none

    def manifest(self, version: str) -> dict[str, Any]:
        """Return what a file of such games says of itself."""
        return {
            "engine": version,
            "kernel": sources_digest(),
            "evaluation": self.evaluation,
            "evaluation_digest": _digest(self.evaluation),
            "seed": self.seed,
            "openings": list(self.openings),
            "rules": asdict(self.rules),
        }


@dataclass(frozen=True)
class Progress:
    """What a run has written so far."""

    positions: int  # in the file, those of earlier runs included
    games: int
    duplicates: int  # left out by this run
    damages: list[Damage]  # found in the file, whose games are lost


def _digest(evaluation: str) -> str:
    """Hash the file of an evaluation that is in a file."""
    place = Path(evaluation.rpartition(":")[0])
    if place.suffix != ".py" or not place.is_file():
        return ""
    return hashlib.sha256(place.read_bytes()).hexdigest()[:16]


def generate(
    path: Path, plan: Plan, version: str, positions: int, processes: int
) -> Iterator[Progress]:
    """Play until the file holds at least so many positions; yield at the start and every block.

    Raises PositionsError if the file cannot be used, SelfPlayError if a process fails; what has
    been written stays, and the same call goes on from there.
    """
    with Writer(path, plan.manifest(version), BLOCK_GAMES) as writer:
        yield _progress(writer)
        if writer.positions >= positions:
            return
        with _players(plan, writer.next_game, processes) as players:
            turns = itertools.cycle(players)
            while writer.positions < positions:
                if writer.add(_next_game(next(turns))):
                    yield _progress(writer)


def _progress(writer: Writer) -> Progress:
    return Progress(writer.positions, writer.next_game, writer.duplicates, writer.damages)


def _next_game(player: Connection) -> Packed:
    try:
        message = player.recv()
    except EOFError:
        raise SelfPlayError("a process of the self-play ended unexpectedly") from None
    if isinstance(message, str):
        raise SelfPlayError(message)
    return np.frombuffer(message, packed_dtype)


@contextmanager
def _players(plan: Plan, first_game: int, processes: int) -> Iterator[list[Connection]]:
    """Start processes that send the games from `first_game` on, in turn; end them at the end."""
    context = multiprocessing.get_context("spawn")
    players: list[Connection] = []
    running = []
    try:
        for index in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_play, args=(plan, first_game + index, processes, theirs), daemon=True
            )
            process.start()
            theirs.close()
            players.append(ours)
            running.append(process)
        yield players
    finally:
        for player in players:
            player.close()
        for process in running:
            process.terminate()
        for process in running:
            process.join()


def _play(plan: Plan, first_game: int, step: int, connection: Connection) -> None:
    """Be one process: send games, as bytes, until nobody listens; or, as text, what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    try:
        player = player_of(plan)
        for number in itertools.count(first_game, step):
            connection.send(player.play(number).tobytes())
    except OSError:  # the parent has gone
        return
    except (EvaluationError, OpeningsError) as error:
        connection.send(str(error))


def player_of(plan: Plan) -> "SelfPlay":
    """Make what plays the games of a plan, compiling it if need be."""
    from agent.chess.selfplay import SelfPlay

    openings = [chess.Board(fen) for fen in plan.openings]
    return SelfPlay(plan.rules, plan.seed, openings, load(plan.evaluation))
