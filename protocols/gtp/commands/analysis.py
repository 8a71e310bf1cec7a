"""Thinking aloud: about a position until any input, or about a move that is then made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent.agent import ReportInterval, describe
from agent.game import CHANCE, parse_move
from agent.limits import Info, Limits
from protocols.gtp.analysis import (
    ALL_MOVES,
    AnalysisReporter,
    ReportContext,
    cgos_line,
    kata_line,
    lz_line,
    read_request,
)
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

LineFormatter = Callable[[ReportContext, Sequence[Info[Any]]], str]


def _lz_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, lz_line)


def _kata_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, kata_line)


def _cgos_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, cgos_line)


def _lz_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, lz_line, play=True)


def _kata_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    _analyze(gtp, arguments, kata_line, play=True)


def _cgos_genmove_analyze(gtp: GtpSession, arguments: Arguments) -> None:
    """CGOS reads one line of analysis only, the last, and counts dead stones as they stand."""
    with gtp.go_board.cleaning_up():
        _analyze(gtp, arguments, cgos_line, play=True, live=False)


def _analyze(
    gtp: GtpSession,
    arguments: Arguments,
    line: LineFormatter,
    *,
    play: bool = False,
    live: bool = True,
) -> None:
    """Think aloud: until any input, or to play."""
    request = read_request(arguments)
    board = gtp.board

    def find(text: str) -> Any:
        return _find_move(gtp, text)

    player = board.turn if request.player is None else request.player
    with board.player_to_move(player):
        if board.game.turn == CHANCE:
            raise GtpError("nothing to analyze: chance is to move")
        legal = list(board.game.moves())
        among = request.search_moves(player, legal, find)
    limits: Limits[Any] = Limits(
        search_moves=among,
        restrictions=request.restrictions(find),
        moves_ownership=request.moves_ownership,
    )
    scene = ReportContext(request, among or legal, board.game.text, gtp.settings.max_pv_length)

    def tell(lines: Sequence[Info[Any]]) -> None:
        gtp.send(line(scene, lines))

    whole = request.root or line is cgos_line
    max_lines = ALL_MOVES if whole else max(request.max_moves, request.min_moves)
    aloud = AnalysisReporter(gtp.report, tell, max_lines, live=live)
    report_interval = ReportInterval(request.interval, request.interval)
    if play:
        board.require_game_length()
    gtp.send(f"={gtp.current_command.id}")
    try:
        if play:
            gtp.send(f"play {gtp.generate_move(player, aloud, report_interval, limits)}")
        else:
            gtp.analyze(player, aloud, report_interval, limits)
    except Exception as error:  # noqa: BLE001 - the answer has begun and must end
        gtp.report(describe(error))
    gtp.send("")


def _find_move(gtp: GtpSession, text: str) -> Any:
    """Return the move that is written so, which need not be legal in Go; GtpError for none."""
    try:
        if isinstance(gtp.board, GtpGoBoard):
            return gtp.board.vertex(text)
        return parse_move(gtp.board.game, text)
    except (GtpError, ValueError):
        raise GtpError(f"no move {text}") from None


COMMANDS = {
    "lz-analyze": Command(_lz_analyze),
    "lz-genmove_analyze": Command(_lz_genmove_analyze),
    "cgos-analyze": Command(_cgos_analyze, go_only=True),
    "cgos-genmove_analyze": Command(_cgos_genmove_analyze, go_only=True),
    "kata-analyze": Command(_kata_analyze),
    "kata-genmove_analyze": Command(_kata_genmove_analyze),
}
