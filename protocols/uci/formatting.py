"""Format search results as UCI lines."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from agent.io.sanitize import escape_lines
from agent.limits import Cp, Info, Mate, Progress, Result, Score

if TYPE_CHECKING:
    import chess

MAX_MESSAGE_LENGTH = 1000

# The win probability is a logistic function of the score in centipawns. It is 0.5 at WIN_MIDPOINT,
# and each WIN_SCALE multiplies the odds by e. The loss probability is the opponent's win
# probability. Source: fitted to self-play games with the default network, 1,000 nodes per move
# (line `winning` of `kempelen train data statistics`).
WIN_MIDPOINT = 118.0
WIN_SCALE = 106.0


def info_string(message: str) -> str:
    """Return an `info string` line with a message, cut to MAX_MESSAGE_LENGTH characters."""
    return f"info string {escape_lines(' '.join(message.split()))[:MAX_MESSAGE_LENGTH]}"


def info_line(info: Info[chess.Move], show_wdl: bool = False) -> str:
    """Return the `info` line for a principal variation."""
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
    """Return the `info` line for a search in progress."""
    nps = nodes_per_second(progress.nodes, seconds)
    line = f"info nodes {progress.nodes} nps {nps} hashfull {progress.hashfull}"
    line += f" time {round(seconds * 1e3)}"
    if progress.current_move is not None:
        line += (
            f" currmove {progress.current_move.uci()} currmovenumber {progress.current_move_number}"
        )
    return line


def bestmove_line(result: Result[chess.Move]) -> str:
    if result.move is None:
        return "bestmove (none)"
    line = f"bestmove {result.move.uci()}"
    return line if result.ponder is None else f"{line} ponder {result.ponder.uci()}"


def score_text(score: Score) -> str:
    """Return a score such as `cp 25` or `mate -3`."""
    return f"cp {score.value}" if isinstance(score, Cp) else f"mate {score.moves}"


def nodes_per_second(nodes: int, seconds: float) -> int:
    """Return the nodes per second, or 0 if no time has passed."""
    return int(nodes / seconds) if seconds > 0 else 0


def wdl(score: Score) -> tuple[int, int, int]:
    """Return the probabilities of a win, a draw and a loss in permille."""
    if isinstance(score, Mate):
        return (1000, 0, 0) if score.moves > 0 else (0, 0, 1000)
    win, loss = _win_permille(score.value), _win_permille(-score.value)
    return win, 1000 - win - loss, loss


def _win_permille(centipawns: int) -> int:
    exponent = (WIN_MIDPOINT - centipawns) / WIN_SCALE
    return round(1000 / (1 + exp(min(exponent, 100.0))))
