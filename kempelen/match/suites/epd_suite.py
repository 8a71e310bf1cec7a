"""Test suites: positions with known answers, in EPD, put to an engine.

`bm` names the best moves, `am` moves to avoid, `dm` the number of moves to a forced mate, `id` the
position. One is solved if the engine's move is one of `bm` and none of `am`, and if its last
score is a mate in exactly `dm`; each condition counts where it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from agent.io.files import read_text
from agent.io.read_errors import convert_read_errors
from agent.limits import Mate, Score
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines.engine_protocols import make_uci_player
from kempelen.match.engines.players import UciPlayer
from openings import epd_line
from protocols.client.engine import EngineOptionError
from protocols.client.in_process import ProtocolFactory
from protocols.client.process import EngineError, EngineNotFoundError
from protocols.client.uci import PlayResult, SearchRequest
from protocols.tasks import cancel_all

MAX_FILE_SIZE = 256 << 20


@dataclass(frozen=True, slots=True)
class EpdPosition:
    """A position and what solves it; moves in UCI. mate: moves to the mate, None if not asked."""

    file: str
    name: str
    fen: str
    best: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    mate: int | None = None

    def is_solved_by(self, move: str, score: Score | None) -> bool:
        """Judge an engine's move and last score."""
        if self.best and move not in self.best:
            return False
        if self.mate is not None and score != Mate(self.mate):
            return False
        return move not in self.avoid


@dataclass(frozen=True, slots=True)
class EpdResult:
    """What an engine made of a problem. error: what went wrong, if it gave no answer."""

    problem: EpdPosition
    solved: bool
    move: str = ""
    score: Score | None = None
    depth: int = 0
    nodes: int = 0
    seconds: float = 0.0
    error: str = ""


def read_epd_file(path: Path, name: str = "") -> list[EpdPosition]:
    """Return the problems of an EPD file; raises SettingsError, naming the line, for a bad one.

    name: what the file is called in them, instead of its name.
    """
    with convert_read_errors(path, SettingsError):
        lines = read_text(path, MAX_FILE_SIZE, encoding="utf-8-sig").splitlines()
    problems = [
        _problem(line, name or path.name, number)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    if not problems:
        raise SettingsError(f"{path}: no positions in it")
    return problems


def _problem(line: str, file: str, number: int) -> EpdPosition:
    where = f"{file}, line {number}"
    try:
        board, operations = epd_line.parse(line)
        best, avoid = (_moves(operations, code) for code in ("bm", "am"))
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from None
    mate = operations.get("dm")
    if mate is not None and (not isinstance(mate, int) or mate < 1):
        raise SettingsError(f"{where}: dm is a number of moves, not {mate!r}")
    if not best and not avoid and mate is None:
        raise SettingsError(f"{where}: it asks for nothing: bm, am or dm is needed")
    name = str(operations.get("id") or f"{file}:{number}")
    return EpdPosition(file, name, board.fen(), best, avoid, mate)


def _moves(operations: dict[str, Any], code: str) -> tuple[str, ...]:
    return tuple(move.uci() for move in epd_line.moves(operations, code))


async def run_suite(
    problems: list[EpdPosition],
    engine: EngineSettings,
    limits: TimeControl,
    concurrency: int,
    report: Callable[[int], None] = lambda done: None,
) -> list[EpdResult]:
    """Put problems to so many processes of an engine at once; return the attempts in their order.

    report: is told how many are done. An engine that fails is started anew for the next problem.
    Raises SettingsError if it cannot be started at first, or has not an option.
    """
    attempts: dict[int, EpdResult] = {}
    waiting = iter(enumerate(problems))

    async def work() -> None:
        solver = EngineRunner(engine, limits)
        try:
            for place, problem in waiting:
                attempts[place] = await solver.solve(problem)
                report(len(attempts))
        finally:
            await solver.close()

    workers = [asyncio.create_task(work()) for _ in range(max(min(concurrency, len(problems)), 1))]
    try:
        await asyncio.gather(*workers)
    finally:
        await cancel_all(workers)
    return [attempts[place] for place in range(len(problems))]


class EngineRunner:
    """One engine that tries problems, started when it is needed. own: as of `Terms`."""

    def __init__(
        self,
        engine: EngineSettings,
        limits: TimeControl,
        *,
        chess960: bool = False,
        own: ProtocolFactory | None = None,
    ) -> None:
        self._engine = engine
        self._limits = limits
        self._chess960 = chess960
        self._own = own
        self._player: UciPlayer | None = None
        self._has_started = False

    async def solve(self, problem: EpdPosition) -> EpdResult:
        """Put a problem to the engine, with all forgotten that came before."""
        limits = self._limits
        request = SearchRequest(
            problem.fen, movetime=limits.movetime, nodes=limits.nodes, depth=limits.depth
        )
        try:
            answer = await self.search(request)
        except EngineError as error:
            return EpdResult(problem, solved=False, error=str(error))
        return _judge(problem, answer)

    async def search(self, request: SearchRequest) -> PlayResult:
        """Put a position to the engine, with all forgotten that came before.

        EngineError if it fails: it is started anew for the next one. SettingsError if it is not
        there, or has not an option.
        """
        limits = self._limits
        try:
            player = await self._started_player()
            await player.new_game()
            return await player.search(request, (limits.movetime or 0) + limits.patience)
        except (EngineOptionError, EngineNotFoundError) as error:
            raise SettingsError(f"engine {self._engine.name}: {error}") from None
        except EngineError:
            await self.close()
            raise

    async def close(self) -> None:
        """End the engine; it is started again when it is needed."""
        player, self._player = self._player, None
        if player is not None:
            await asyncio.shield(player.close())

    async def _started_player(self) -> UciPlayer:
        if self._player is None:
            self._player = make_uci_player(self._engine, chess960=self._chess960, own=self._own)
            try:
                await self._player.start()
            except (EngineOptionError, EngineNotFoundError):
                raise
            except EngineError as error:
                if not self._has_started:
                    message = f"engine {self._engine.name} does not start: {error}"
                    raise SettingsError(message) from None
                raise
            self._has_started = True
        return self._player


def _judge(problem: EpdPosition, answer: PlayResult) -> EpdResult:
    info = answer.info
    move = answer.move.lower()
    score = info.score if info else None
    if not _is_legal(problem.fen, move):
        return EpdResult(problem, solved=False, move=move, error=f"no legal move: {move[:20]!r}")
    return EpdResult(
        problem,
        problem.is_solved_by(move, score),
        move,
        score,
        info.depth if info else 0,
        info.nodes if info else 0,
        answer.elapsed,
    )


def _is_legal(fen: str, move: str) -> bool:
    try:
        return bool(chess.Board(fen).parse_uci(move))
    except ValueError:
        return False
