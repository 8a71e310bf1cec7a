"""Who plays against a visitor, or gives him a hint: our own agent, or a program that is offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from agent.border.command_line import split_command_line
from agent.chess.settings import SEARCHES
from protocols.client.gtp import GtpEngine, board_command
from protocols.client.inside import InsideEngine, no_log
from protocols.client.ours import AUTHORS
from protocols.client.process import EngineError
from protocols.client.uci import Answer, InfoCallback, SearchRequest, UciEngine
from protocols.client.xboard import XBoardEngine
from protocols.gtp.play import Settings
from protocols.gtp.protocol import Gtp
from protocols.pipes import Served
from protocols.uci.protocol import Uci
from web.play.boards import GoTable, PlayBoard
from web.play.setup import CHESS, Setup, own_evaluations
from web.site import Site

NAME = "Kempelen"
HINT_SECONDS = 1.0
# Beyond what is asked for, in seconds, before a search counts as hung.
PATIENCE = 60.0


class Adversary(Protocol):
    """What can be asked for moves: every client of an engine, once it has been started."""

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> Answer:
        """Return a move."""

    async def close(self) -> None:
        """End it."""


async def opponent_of(setup: Setup, board: PlayBoard, site: Site) -> Adversary:
    """Start the opponent of a game. Raises EngineError."""
    line = site.offers.engines.get(setup.opponent)
    if line is not None:
        return await _program(line, setup, board)
    if setup.opponent:
        raise EngineError("it is not offered here any more; begin another game")
    return await (_chess if setup.game == CHESS else _other)(setup, board, site)


async def adviser_of(setup: Setup, board: PlayBoard, site: Site) -> Adversary:
    """Start whoever gives hints: our own agent, as well as it plays. Raises EngineError."""
    plain = replace(
        setup, opponent="", level=None, algorithm="", evaluation="", base=None,
        seconds=HINT_SECONDS,
    )  # fmt: skip
    return await opponent_of(plain, board, site)


def _evaluation(setup: Setup, site: Site) -> str:
    """Return the evaluation of our own agent, as the option of that name takes it."""
    name = setup.evaluation or own_evaluations(setup.game)[0]
    return site.offers.evaluations.get(name, name)


async def _chess(setup: Setup, board: PlayBoard, site: Site) -> Adversary:
    def make(send: Callable[[str], None]) -> Served:
        return Uci(NAME, AUTHORS, send, no_log, allowance=site.allowance)

    engine = UciEngine(NAME, converse=lambda: InsideEngine(NAME, make=make))
    options: dict[str, str | int | float | bool] = {"Evaluation": _evaluation(setup, site)}
    options["Search"] = setup.algorithm or SEARCHES[0]
    options["UCI_Chess960"] = setup.chess960
    if setup.level is not None:
        options |= {"UCI_LimitStrength": True, "UCI_Elo": setup.level}
    return await _begun(engine, options)


async def _other(setup: Setup, board: PlayBoard, site: Site) -> Adversary:
    settings = Settings(
        game=setup.game,
        options=setup.options,
        algorithm=setup.algorithm or None,
        evaluation=_evaluation(setup, site),
        seconds=setup.seconds,
    )

    def make(send: Callable[[str], None]) -> Served:
        return Gtp(
            NAME, "", send, lambda text: site.log.note("told", text=text), settings, site.allowance
        )  # fmt: skip

    engine = GtpEngine(
        NAME, setup=_beginning(board), converse=lambda: InsideEngine(NAME, make=make)
    )
    return await _begun(engine, {})


async def _program(line: str, setup: Setup, board: PlayBoard) -> Adversary:
    protocol, command, *arguments = split_command_line(line)
    options: dict[str, str | int | float | bool] = {}
    engine: UciEngine | GtpEngine | XBoardEngine
    if protocol == "gtp":
        engine = GtpEngine(command, arguments, setup=_beginning(board))
    elif protocol == "xboard":
        engine = XBoardEngine(command, arguments)
    else:
        engine = UciEngine(command, arguments)
        if setup.chess960:
            options["UCI_Chess960"] = True
    return await _begun(engine, options)


async def _begun(
    engine: UciEngine | GtpEngine | XBoardEngine, options: Mapping[str, str | int | float | bool]
) -> Adversary:
    """Start an engine and set its options; one that fails is ended."""
    try:
        await engine.start()
        await engine.configure(options)
        await engine.new_game()
    except BaseException:
        await engine.close()
        raise
    return engine


def _beginning(board: PlayBoard) -> tuple[str, ...]:
    """Return the commands of GTP that begin a game."""
    if not isinstance(board, GoTable):
        return ("clear_board",)
    commands = [board_command(board.game), "clear_board", f"komi {board.board.komi:g}"]
    if board.setup.opponent == "":
        commands.append(f"kata-set-rules {board.setup.rules}")
    if board.handicap:
        commands.append(f"set_free_handicap {' '.join(board.handicap)}")
    return tuple(commands)
