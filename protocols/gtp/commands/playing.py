"""Commands for setting up, playing and scoring a game."""

from __future__ import annotations

import re
from os.path import exists
from typing import TYPE_CHECKING

from agent.games.go import MAX_KOMI
from protocols.gtp.board import score_text
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import COLOURS, SYNTAX_ERROR, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

# The number or the vertex of a move, before which `loadsgf` stops.
LOADSGF_END = re.compile("[0-9]{1,8}|[A-HJ-Z][1-9][0-9]?|pass", re.IGNORECASE)


def _boardsize(gtp: GtpSession, arguments: Arguments) -> str:
    """Set the board size from one or two numbers. As in KataGo, a colon may separate them."""
    words = arguments.rest()
    edges = Arguments(words[0].split(":") if len(words) == 1 else words)
    width = edges.integer()
    height = edges.integer() if edges else None
    edges.expect_end()
    gtp.board.resize(width, height)
    gtp.new_game()
    return ""


def _clear_board(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    gtp.board.clear()
    gtp.new_game()
    return ""


def _komi(gtp: GtpSession, arguments: Arguments) -> str:
    text = arguments.peek() if arguments else "(none)"
    try:
        komi = arguments.real() + 0.0  # Turns -0.0 into 0.0.
    except GtpError:
        raise GtpError(f"{SYNTAX_ERROR}: invalid komi {text} (expected a number)") from None
    arguments.expect_end()
    if abs(komi) >= MAX_KOMI:
        raise GtpError(f"unacceptable komi: {text} (must be between -{MAX_KOMI} and {MAX_KOMI})")
    if isinstance(gtp.board, GtpGoBoard):  # GTP also requires this command in other games.
        gtp.board.set_komi(komi)
        gtp.on_position_changed()
    return ""


def _fixed_handicap(gtp: GtpSession, arguments: Arguments) -> str:
    count = arguments.integer()
    arguments.expect_end()
    return gtp.go_board.fixed_handicap(count)


def _place_free_handicap(gtp: GtpSession, arguments: Arguments) -> str:
    count = arguments.integer()
    arguments.expect_end()
    return gtp.go_board.place_free_handicap(count)


def _set_free_handicap(gtp: GtpSession, arguments: Arguments) -> str:
    gtp.go_board.set_free_handicap(arguments.rest())
    return ""


def _set_position(gtp: GtpSession, arguments: Arguments) -> str:
    gtp.go_board.set_position(arguments.moves())
    gtp.on_position_changed()
    gtp.wait_until_loaded()
    return ""


def _clear_cache(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    gtp.clear_cache()
    return ""


def _loadsgf(gtp: GtpSession, arguments: Arguments) -> str:
    words = [arguments.word(), *arguments.rest()]
    until: int | str | None = None
    if len(words) > 1 and LOADSGF_END.fullmatch(words[-1]) and not exists(" ".join(words)):
        until = words.pop()
        until = int(until) if until.isdecimal() else until
    turn = gtp.go_board.load(" ".join(words), until)
    gtp.new_game()
    return COLOURS[turn]


def _printsgf(gtp: GtpSession, arguments: Arguments) -> str:
    if not arguments:
        return gtp.go_board.sgf()
    gtp.go_board.save(" ".join(arguments.rest()))
    return ""


def _play(gtp: GtpSession, arguments: Arguments) -> str:
    player, move = arguments.player(), arguments.word()
    arguments.expect_end()
    gtp.board.play_text(player, move)
    return ""


def _genmove(gtp: GtpSession, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.expect_end()
    gtp.board.require_game_length()
    return gtp.play_result(player, gtp.think(player))


def _kgs_genmove_cleanup(gtp: GtpSession, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.expect_end()
    gtp.board.require_game_length()
    with gtp.go_board.cleaning_up():
        return gtp.play_result(player, gtp.think(player), never_resign=True)


def _reg_genmove(gtp: GtpSession, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.skip_seed()
    arguments.expect_end()
    return gtp.board.game.text(gtp.think(player).move)


def _kata_search(gtp: GtpSession, arguments: Arguments) -> str:
    """Do the same as `genmove`, but do not play the move."""
    player = arguments.player()
    arguments.expect_end()
    return gtp.result_text(player, gtp.think(player))


def _kata_search_cancellable(gtp: GtpSession, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.expect_end()
    gtp.stop_on_input()
    return gtp.result_text_unless_cancelled(player, gtp.think(player))


def _undo(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    gtp.board.undo_moves(1)
    gtp.on_position_changed()
    return ""


def _gg_undo(gtp: GtpSession, arguments: Arguments) -> str:
    count = arguments.integer() if arguments else 1
    arguments.expect_end()
    gtp.board.undo_moves(count)
    gtp.on_position_changed()
    return ""


def _final_score(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.skip_seed()
    arguments.expect_end()
    return score_text(gtp.board.result())


COMMANDS = {
    "boardsize": Command(_boardsize),
    "rectangular_boardsize": Command(_boardsize),
    "clear_board": Command(_clear_board),
    "komi": Command(_komi),
    "fixed_handicap": Command(_fixed_handicap, go_only=True),
    "place_free_handicap": Command(_place_free_handicap, go_only=True),
    "set_free_handicap": Command(_set_free_handicap, go_only=True),
    "set_position": Command(_set_position, go_only=True),
    "clear_cache": Command(_clear_cache),
    "loadsgf": Command(_loadsgf, go_only=True, requires_trust=True),
    "printsgf": Command(
        _printsgf, go_only=True, requires_trust=True, trust_free_without_arguments=True
    ),
    "play": Command(_play),
    "genmove": Command(_genmove),
    "kgs-genmove_cleanup": Command(_kgs_genmove_cleanup, go_only=True),
    "reg_genmove": Command(_reg_genmove),
    "kata-search": Command(_kata_search),
    "kata-search_cancellable": Command(_kata_search_cancellable),
    "undo": Command(_undo),
    "gg-undo": Command(_gg_undo),
    "final_score": Command(_final_score),
}
