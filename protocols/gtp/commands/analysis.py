"""Commands that report search results until the next input or until a move is played."""

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
    # CGOS reads only one line of analysis, and counts dead stones as alive in the score.
    with gtp.go_board.cleaning_up():
        _analyze(gtp, arguments, cgos_line, play=True, live=False)


def _analyze(
    gtp: GtpSession,
    arguments: Arguments,
    format_line: LineFormatter,
    *,
    play: bool = False,
    live: bool = True,
) -> None:
    request = read_request(arguments)
    board = gtp.board

    def find(text: str) -> Any:
        return _find_move(gtp, text)

    player = board.turn if request.player is None else request.player
    with board.player_to_move(player):
        if board.game.turn == CHANCE:
            raise GtpError("nothing to analyze: the next move is a chance event")
        legal = list(board.game.moves())
        search_moves = request.search_moves(player, legal, find)
    limits: Limits[Any] = Limits(
        search_moves=search_moves,
        restrictions=request.restrictions(find),
        moves_ownership=request.moves_ownership,
    )
    context = ReportContext(
        request, search_moves or legal, board.game.text, gtp.settings.max_pv_length
    )

    def send_lines(lines: Sequence[Info[Any]]) -> None:
        gtp.send(format_line(context, lines))

    needs_all = request.root or format_line is cgos_line
    max_lines = ALL_MOVES if needs_all else max(request.max_moves, request.min_moves)
    reporter = AnalysisReporter(gtp.report, send_lines, max_lines, live=live)
    report_interval = ReportInterval(request.interval, request.interval)
    if play:
        board.require_game_length()
    gtp.send(f"={gtp.current_command.id}")
    try:
        if play:
            result = gtp.think(player, reporter, report_interval, limits)
            gtp.send(f"play {gtp.play_result(player, result)}")
        else:
            gtp.analyze(player, reporter, report_interval, limits)
    except Exception as error:  # noqa: BLE001 - the response has started and must be completed
        gtp.report(describe(error))
    gtp.send("")


def _find_move(gtp: GtpSession, text: str) -> Any:
    try:
        if isinstance(gtp.board, GtpGoBoard):
            return gtp.board.vertex(text)
        return parse_move(gtp.board.game, text)
    except (GtpError, ValueError):
        raise GtpError(f"invalid move: {text}") from None


COMMANDS = {
    "lz-analyze": Command(_lz_analyze),
    "lz-genmove_analyze": Command(_lz_genmove_analyze),
    "cgos-analyze": Command(_cgos_analyze, go_only=True),
    "cgos-genmove_analyze": Command(_cgos_genmove_analyze, go_only=True),
    "kata-analyze": Command(_kata_analyze),
    "kata-genmove_analyze": Command(_kata_genmove_analyze),
}
