"""Start opponents and hint engines for the play page."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from agent.chess.engine.settings import SEARCHES
from agent.game import ChanceGame
from agent.games.go_rules import DEFAULT_RULES
from agent.io.command_line import split_command_line
from agent.search.defaults import MCTS
from kempelen.web.play.boards import GoGame, PlayedGame
from kempelen.web.play.setup import (
    CHESS,
    GameSetup,
    builtin_evaluations,
    is_go,
)
from kempelen.web.site_context import SiteContext
from protocols.client.gtp import GtpClient, boardsize_command
from protocols.client.in_process import InProcessChessClient
from protocols.client.in_process_game import InProcessGameClient
from protocols.client.process import EngineError
from protocols.client.uci import (
    InfoCallback,
    PlayResult,
    SearchRequest,
    UciClient,
    options_for_rules,
)
from protocols.client.xboard import XboardClient
from protocols.gtp.rules import read_rules
from protocols.gtp.session import Settings

ENGINE_NAME = "Kempelen"
HINT_SECONDS = 1.0
# Time limits of the search for mistakes, and of the search that verifies a mistake.
CHECK_SECONDS = 0.2, 1.0
# A search counts as hung after its time limit plus this time in seconds.
SEARCH_TIMEOUT_MARGIN_S = 60.0


class Opponent(Protocol):
    """A running engine that chooses moves or hints."""

    async def search(
        self, request: SearchRequest, limit: float, on_info: InfoCallback | None = None
    ) -> PlayResult:
        """Return a move within `limit` seconds. Raise EngineError if the engine fails."""

    async def close(self) -> None: ...


async def start_opponent(
    setup: GameSetup, board: PlayedGame, site: SiteContext, *, advises: bool = False
) -> Opponent:
    """Start the opponent for a game. Raise EngineError if the engine fails to start.

    If it `advises`, the engine searches every move, without books, and does not resign.
    """
    line = site.resources.engines.get(setup.opponent)
    if line is not None:
        return await _start_external(line, setup, board)
    if setup.opponent:
        raise EngineError("no longer available; start another game")
    start = _start_chess if setup.game == CHESS else _start_game
    return await start(setup, board, site, advises)


def is_compiling(opponent: Opponent | None) -> bool:
    """Return whether a slower search plays until the opponent's search has been compiled."""
    return isinstance(opponent, InProcessChessClient) and opponent.compiling


async def start_hint_engine(setup: GameSetup, board: PlayedGame, site: SiteContext) -> Opponent:
    """Start the built-in engine at full strength. Raise EngineError if this fails."""
    plain = replace(
        setup, opponent="", level=None, algorithm="", evaluation="", base=None,
        seconds=HINT_SECONDS,
    )  # fmt: skip
    return await start_opponent(plain, board, site, advises=True)


def _evaluation(setup: GameSetup, site: SiteContext) -> str:
    name = setup.evaluation or builtin_evaluations(setup.game)[0]
    return site.resources.evaluations.get(name, name)


async def _start_chess(
    setup: GameSetup, board: PlayedGame, site: SiteContext, advises: bool
) -> Opponent:
    options: dict[str, str | int | float | bool] = {"Evaluation": _evaluation(setup, site)}
    options["Search"] = setup.algorithm or SEARCHES[0]
    options |= options_for_rules(setup.chess_rules)
    options["OwnBook"] = not advises
    if setup.level is not None:
        options |= {"UCI_LimitStrength": True, "UCI_Elo": setup.level}
    context = site.session_context
    return await _start(InProcessChessClient(ENGINE_NAME, options, context, unless_compiling=True))


async def _start_game(
    setup: GameSetup, board: PlayedGame, site: SiteContext, advises: bool
) -> Opponent:
    algorithm = setup.algorithm or None
    if setup.level is not None and algorithm is None and isinstance(board.game, ChanceGame):
        algorithm = MCTS  # a level chooses among several lines, and expectiminimax reports one
    settings = Settings(
        game=setup.game,
        options=setup.options,
        algorithm=algorithm,
        evaluation=_evaluation(setup, site),
        seconds=setup.seconds,
        rules=read_rules(setup.rules) if is_go(setup.game) else DEFAULT_RULES,
        book=not advises and setup.level is None,
        resigns=not advises,
        level=setup.level,
    )
    handicap = board.handicap if isinstance(board, GoGame) else ()
    position = board.position if isinstance(board, GoGame) else None

    def report(text: str) -> None:
        site.log.write_limited("told", text=text)

    engine = InProcessGameClient(settings, site.session_context, report, handicap, position)
    return await _start(engine)


async def _start_external(line: str, setup: GameSetup, board: PlayedGame) -> Opponent:
    protocol, command, *arguments = split_command_line(line)
    engine: UciClient | GtpClient | XboardClient
    if protocol == "gtp":
        engine = GtpClient(command, arguments, setup_commands=_setup_commands(board))
    elif protocol == "xboard":
        engine = XboardClient(command, arguments, rules=setup.chess_rules)
    else:
        engine = UciClient(command, arguments, settings=options_for_rules(setup.chess_rules))
    return await _start(engine)


async def _start(
    engine: UciClient | GtpClient | XboardClient | InProcessChessClient | InProcessGameClient,
) -> Opponent:
    """Start an engine. If this fails, close it and raise the error."""
    try:
        await engine.start()
        await engine.new_game()
    except BaseException:
        await engine.close()
        raise
    return engine


def _setup_commands(board: PlayedGame) -> tuple[str, ...]:
    if not isinstance(board, GoGame):
        return ("clear_board",)
    commands = [boardsize_command(board.game), "clear_board", f"komi {board.komi:g}"]
    if board.handicap:
        commands.append(f"set_free_handicap {' '.join(board.handicap)}")
    stones, _ = board.position or ((), 0)
    commands += [f"play {'BW'[player]} {vertex}" for player, vertex in stones]
    return tuple(commands)
