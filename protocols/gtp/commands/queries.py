"""Commands that describe the board, the game and its estimated end, mostly from GNU Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.games.stones import BLACK, EMPTY
from protocols.gtp.analysis import RootInfo
from protocols.gtp.command import Command
from protocols.gtp.go_board import FinalStatus
from protocols.gtp.messages import COLOURS, SYNTAX_ERROR, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

FINAL_STATUSES: tuple[FinalStatus, ...] = (
    *("alive", "dead", "seki"),
    *("black_territory", "white_territory", "dame"),
)
# A point is settled if its expected owner (-1 to 1) is at least this far from 0.
SETTLED = 0.5


def _read_player(arguments: Arguments) -> int:
    player = arguments.player()
    arguments.expect_end()
    return player


def _query_boardsize(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return gtp.board.size


def _get_komi(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return f"{gtp.go_board.komi:.10g}"


def _get_handicap(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return str(gtp.go_board.handicap_count)


def _showboard(gtp: GtpSession, _: Arguments) -> str:
    return "\n" + str(gtp.board.game)


def _list_stones(gtp: GtpSession, arguments: Arguments) -> str:
    player = _read_player(arguments)
    return gtp.go_board.vertices_text(gtp.go_board.game.stones.sets[player + 1])


def _color(gtp: GtpSession, arguments: Arguments) -> str:
    colour = gtp.go_board.game.stones.board[gtp.go_board.point(arguments.word())]
    return "empty" if colour == EMPTY else COLOURS[colour - BLACK]


def _countlib(gtp: GtpSession, arguments: Arguments) -> str:
    return str(_liberties(gtp, arguments).bit_count())


def _findlib(gtp: GtpSession, arguments: Arguments) -> str:
    return gtp.go_board.vertices_text(_liberties(gtp, arguments))


def _liberties(gtp: GtpSession, arguments: Arguments) -> int:
    stones, vertex = gtp.go_board.game.stones, gtp.go_board.stone(arguments.word())
    return stones.liberties[stones.head[vertex]]


def _captures(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the number of stones that a player has captured."""
    return str(gtp.go_board.prisoners(_read_player(arguments)))


def _is_legal(gtp: GtpSession, arguments: Arguments) -> str:
    player, move = arguments.player(), arguments.word()
    arguments.expect_end()
    return "1" if gtp.board.is_legal(player, move) else "0"


def _all_legal(gtp: GtpSession, arguments: Arguments) -> str:
    return " ".join(gtp.board.legal_moves_of(_read_player(arguments)))


def _last_move(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    if not gtp.board.moves:
        raise GtpError("no previous move known")
    return _moves_from_last(gtp)[0]


def _move_history(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return "\n".join(_moves_from_last(gtp))


def _moves_from_last(gtp: GtpSession) -> list[str]:
    played = zip(reversed(gtp.board.movers), reversed(gtp.board.moves), strict=True)
    return [f"{COLOURS[player]} {move}" for player, move in played]


def _final_status(gtp: GtpSession, arguments: Arguments) -> str:
    vertex = gtp.go_board.point(arguments.word())
    arguments.skip_seed()
    arguments.expect_end()
    return gtp.go_board.final_status(vertex)


def _final_status_list(gtp: GtpSession, arguments: Arguments) -> str:
    word = arguments.word()
    status = next((status for status in FINAL_STATUSES if status == word), None)
    if status is None:
        expected = ", ".join(FINAL_STATUSES)
        raise GtpError(f"{SYNTAX_ERROR}: invalid status {word} (expected one of: {expected})")
    arguments.skip_seed()
    arguments.expect_end()
    return gtp.go_board.vertices_with_status(status)


def _estimate_score(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the expected score, and its limits if one side gets all unsettled points.

    As in GNU Go, the upper bound is the best result for White, and positive numbers favour White.
    After two passes, the score is the final score.
    """
    player = arguments.optional_player()
    arguments.expect_end()
    if gtp.go_board.game.is_over():
        final = 0.0 - gtp.go_board.result()
        return _format_estimate(final, final, final)
    player = gtp.board.turn if player is None else player
    lines = gtp.analysis_lines(player)
    lead = RootInfo.from_lines(lines).lead if any(line.visits for line in lines) else None
    shares = next((line.ownership for line in lines if line.ownership is not None), None)
    for_white = 1 if player else -1
    if shares is None:
        shares, for_white = gtp.playout_ownership(), -1
    whites = [for_white * share for share in shares]
    komi = gtp.go_board.game.area_komi
    score = sum(whites) + komi if lead is None else (lead if player else -lead)
    unsettled = [share for share in whites if abs(share) < SETTLED]
    upper = score + sum(1 - share for share in unsettled)
    lower = score - sum(1 + share for share in unsettled)
    return _format_estimate(score, lower, upper)


def _format_estimate(score: float, lower: float, upper: float) -> str:
    winner = "B" if score < 0 else "W"
    return f"{winner}+{abs(score):.1f} (upper bound: {upper:z.1f}, lower: {lower:z.1f})"


def _cputime(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    return f"{gtp.cpu_time():.3f}"


COMMANDS = {
    "query_boardsize": Command(_query_boardsize),
    "get_komi": Command(_get_komi, go_only=True),
    "get_handicap": Command(_get_handicap, go_only=True),
    "showboard": Command(_showboard),
    "list_stones": Command(_list_stones, go_only=True),
    "color": Command(_color, go_only=True),
    "countlib": Command(_countlib, go_only=True),
    "findlib": Command(_findlib, go_only=True),
    "captures": Command(_captures, go_only=True),
    "is_legal": Command(_is_legal),
    "all_legal": Command(_all_legal),
    "last_move": Command(_last_move),
    "move_history": Command(_move_history),
    "final_status": Command(_final_status, go_only=True),
    "final_status_list": Command(_final_status_list, go_only=True),
    "estimate_score": Command(_estimate_score, go_only=True),
    "cputime": Command(_cputime),
    "gomill-cpu_time": Command(_cputime),
}
