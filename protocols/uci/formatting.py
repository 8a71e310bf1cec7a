"""What the engine says, as lines of UCI."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Mate, Progress, Result, Score

if TYPE_CHECKING:
    import chess

MAX_MESSAGE_LENGTH = 1000

# The chance to win is a logistic function of the score: one half at WIN_MIDPOINT centipawns, and e to 1
# in the odds for WIN_SCALE more. The chance to lose is that of the other side to win; the rest is
# the chance of a draw. The values are those of the engine's own games with the network that ships,
# at 1,000 nodes a move: `kempelen data statistics` fits them to positions of self-play and prints
# them in its line `winning`.
WIN_MIDPOINT = 118.0
WIN_SCALE = 106.0


def info_string(message: str) -> str:
    """Return a message as an `info string`, on one line of bearable length."""
    return f"info string {' '.join(message.split())[:MAX_MESSAGE_LENGTH]}"


def info_line(info: Info[chess.Move], show_wdl: bool = False) -> str:
    """Return one line of play."""
    words = [f"info depth {info.depth}"]
    if info.pv:
        words.append(f"seldepth {info.seldepth} multipv {info.multipv}")
    words.append(f"score {score_text(info.score)}")
    if info.bound:
        words.append(info.bound)
    if show_wdl:
        words.append("wdl {} {} {}".format(*wdl(info.score)))
    if info.pv:
        words.append(f"nodes {info.nodes} nps {nodes_per_second(info.nodes, info.time)}")
        words.append(f"hashfull {info.hashfull} tbhits {info.tbhits} time {round(info.time * 1e3)}")
        words.append("pv " + " ".join(move.uci() for move in info.pv))
    return " ".join(words)


def progress_line(progress: Progress[chess.Move], seconds: float) -> str:
    """Return where a search stands."""
    nps = nodes_per_second(progress.nodes, seconds)
    line = f"info nodes {progress.nodes} nps {nps} hashfull {progress.hashfull}"
    line += f" time {round(seconds * 1e3)}"
    if progress.current_move is not None:
        line += (
            f" currmove {progress.current_move.uci()} currmovenumber {progress.current_move_number}"
        )
    return line


def bestmove_line(result: Result[chess.Move]) -> str:
    """Return the answer."""
    if result.move is None:
        return "bestmove (none)"
    line = f"bestmove {result.move.uci()}"
    return line if result.ponder is None else f"{line} ponder {result.ponder.uci()}"


def score_text(score: Score) -> str:
    """Return a score as UCI writes it."""
    return f"cp {score.value}" if isinstance(score, Cp) else f"mate {score.moves}"


def nodes_per_second(nodes: int, seconds: float) -> int:
    """Return nodes a second."""
    return int(nodes / seconds) if seconds > 0 else 0


def wdl(score: Score) -> tuple[int, int, int]:
    """Return the chances to win, draw and lose, in permille: see WIN_MIDPOINT."""
    if isinstance(score, Mate):
        return (1000, 0, 0) if score.moves > 0 else (0, 0, 1000)
    win, loss = _win_permille(score.value), _win_permille(-score.value)
    return win, 1000 - win - loss, loss


def _win_permille(centipawns: int) -> int:
    exponent = (WIN_MIDPOINT - centipawns) / WIN_SCALE
    return round(1000 / (1 + exp(min(exponent, 100.0))))
