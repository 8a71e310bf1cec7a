"""Setting a game up, playing it, and telling how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.games.go import MOST_KOMI
from protocols.gtp.analysis import Aloud
from protocols.gtp.boards import score_text
from protocols.gtp.command import Command
from protocols.gtp.go_board import GoBoard
from protocols.gtp.values import COLOURS, SYNTAX_ERROR, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.play import GtpPlay


def _boardsize(gtp: GtpPlay, arguments: Arguments) -> str:
    """Take an edge, or the columns and the rows, which KataGo parts by a colon too."""
    words = arguments.rest()
    edges = Arguments(tuple(words[0].split(":") if len(words) == 1 else words))
    width = edges.number()
    height = edges.number() if edges else None
    edges.end()
    gtp.board.resize(width, height)
    gtp.new_game()
    return ""


def _clear_board(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    gtp.board.clear()
    gtp.new_game()
    return ""


def _komi(gtp: GtpPlay, arguments: Arguments) -> str:
    komi = arguments.real() + 0.0  # no -0
    arguments.end()
    if abs(komi) >= MOST_KOMI:
        raise GtpError("unacceptable komi")
    if isinstance(gtp.board, GoBoard):  # other games have none, but must know the command
        gtp.board.set_komi(komi)
        gtp.turned_back()
    return ""


def _get_komi(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    return f"{gtp.go_board.komi:.10g}"


def _fixed_handicap(gtp: GtpPlay, arguments: Arguments) -> str:
    number = arguments.number()
    arguments.end()
    return gtp.go_board.fixed_handicap(number)


def _place_free_handicap(gtp: GtpPlay, arguments: Arguments) -> str:
    number = arguments.number()
    arguments.end()
    return gtp.go_board.place_free_handicap(number)


def _set_free_handicap(gtp: GtpPlay, arguments: Arguments) -> str:
    gtp.go_board.set_free_handicap(arguments.rest())
    return ""


def _set_position(gtp: GtpPlay, arguments: Arguments) -> str:
    """KataGo's: put stones on the board, whatever was there, without a history."""
    gtp.go_board.set_position(arguments.moves())
    gtp.turned_back()
    gtp.settle()
    return ""


def _clear_cache(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    gtp.forget()
    return ""


def _loadsgf(gtp: GtpPlay, arguments: Arguments) -> str:
    words = [arguments.word(), *arguments.rest()]
    number = None
    if len(words) > 1 and words[-1].isascii() and words[-1].isdecimal() and len(words[-1]) < 9:
        number = int(words.pop())
    turn = gtp.go_board.load(" ".join(words), number)
    gtp.new_game()
    return COLOURS[turn]


def _printsgf(gtp: GtpPlay, arguments: Arguments) -> str:
    """Return the game, or write it to the file that is named."""
    if not arguments:
        return gtp.go_board.sgf()
    gtp.go_board.save(" ".join(arguments.rest()))
    return ""


def _play(gtp: GtpPlay, arguments: Arguments) -> str:
    player, move = arguments.player(), arguments.word()
    arguments.end()
    gtp.board.play(player, move)
    return ""


def _genmove(gtp: GtpPlay, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.end()
    return gtp.play_best(player)


def _kgs_genmove_cleanup(gtp: GtpPlay, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.end()
    with gtp.go_board.cleaning_up():
        return gtp.play_best(player, to_the_end=True)


def _reg_genmove(gtp: GtpPlay, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.end()
    return gtp.board.game.text(gtp.best(player, Aloud(gtp.report)).move)


def _undo(gtp: GtpPlay, arguments: Arguments) -> str:
    arguments.end()
    gtp.board.undo()
    gtp.turned_back()
    return ""


def _gg_undo(gtp: GtpPlay, arguments: Arguments) -> str:
    number = arguments.number() if arguments else 1
    arguments.end()
    gtp.board.undo_all(number)
    gtp.turned_back()
    return ""


def _final_score(gtp: GtpPlay, _: Arguments) -> str:
    return score_text(gtp.board.result())


def _final_status_list(gtp: GtpPlay, arguments: Arguments) -> str:
    status = arguments.word()
    if status not in ("alive", "dead", "seki"):
        raise GtpError(SYNTAX_ERROR)
    return gtp.go_board.chains(status)  # type: ignore[arg-type]


def _showboard(gtp: GtpPlay, _: Arguments) -> str:
    return "\n" + str(gtp.board.game)


COMMANDS = {
    "boardsize": Command(_boardsize),
    "rectangular_boardsize": Command(_boardsize),
    "clear_board": Command(_clear_board),
    "komi": Command(_komi),
    "get_komi": Command(_get_komi, go=True),
    "fixed_handicap": Command(_fixed_handicap, go=True),
    "place_free_handicap": Command(_place_free_handicap, go=True),
    "set_free_handicap": Command(_set_free_handicap, go=True),
    "set_position": Command(_set_position, go=True),
    "clear_cache": Command(_clear_cache),
    "loadsgf": Command(_loadsgf, go=True, trusted=True),
    "printsgf": Command(_printsgf, go=True, trusted=True, bare=True),
    "play": Command(_play),
    "genmove": Command(_genmove),
    "kgs-genmove_cleanup": Command(_kgs_genmove_cleanup, go=True),
    "reg_genmove": Command(_reg_genmove),
    "undo": Command(_undo),
    "gg-undo": Command(_gg_undo),
    "final_score": Command(_final_score),
    "final_status_list": Command(_final_status_list, go=True),
    "showboard": Command(_showboard),
}
