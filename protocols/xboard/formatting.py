"""What the engine says, as lines of xboard's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.io.sanitize import sanitize_line
from agent.limits import Info, Mate, Progress, Score
from protocols.uci.formatting import MAX_MESSAGE_LENGTH, nodes_per_second

if TYPE_CHECKING:
    import chess

# A score of so much means mate, in so many moves as it is more.
MATE_SCORE = 100_000
# So much of a line that is not understood is said back.
MAX_ECHO_LENGTH = 100


def error_line(reason: str, line: str) -> str:
    """Return what is wrong with a line; front ends look for the end of the reason's brackets."""
    reason = _one_line(reason).replace("(", "[").replace(")", "]")
    return f"Error ({reason}): {echo(line)}"


def illegal_line(text: str, reason: str = "") -> str:
    """Return that a move cannot be played."""
    return f"Illegal move{f' ({reason})' if reason else ''}: {echo(text)}"


def comment(message: str) -> str:
    """Return a message for the front end's log."""
    return f"# {sanitize_line(_one_line(message), MAX_MESSAGE_LENGTH)}"


def warning(message: str) -> str:
    """Return a message that the front end shows to the user."""
    return f"tellusererror {sanitize_line(_one_line(message), MAX_MESSAGE_LENGTH)}"


def score_number(score: Score) -> int:
    """Return a score as the protocol writes it, from the side of the one who searches."""
    if isinstance(score, Mate):
        return MATE_SCORE + score.moves if score.moves > 0 else score.moves - MATE_SCORE
    return min(max(score.value, 1 - MATE_SCORE), MATE_SCORE - 1)


def thinking_line(info: Info[chess.Move], board: chess.Board, before: str = "") -> str:
    """Return a line of play from a board; before: the move that led to it, if it is expected.

    Source: 'Thinking Output'. A score that is a bound has a mark of its own after the moves.
    """
    numbers = (
        info.depth,
        score_number(info.score),
        round(info.time * 100),
        info.nodes,
        info.seldepth,
        nodes_per_second(info.nodes, info.time),
        info.tbhits,
    )
    words = [before] if before else []
    words += pv_moves(board, info.pv)
    if info.bound:
        words.append("!" if info.bound == "lowerbound" else "?")
    return " ".join(map(str, numbers)) + "\t" + " ".join(words)


def pv_moves(board: chess.Board, moves: tuple[chess.Move, ...]) -> list[str]:
    """Return moves by coordinates; in Chess960 castling is O-O, which depends on the board."""
    if not board.chess960:
        return [move.uci() for move in moves]
    board, words = board.copy(stack=False), []
    for move in moves:
        words.append(board.xboard(move))
        board.push(move)
    return words


def stat01_line(
    seconds: float,
    info: Info[chess.Move] | None,
    progress: Progress[chess.Move] | None,
    board: chess.Board,
) -> str:
    """Return where an analysis stands: `stat01: time nodes ply mvleft mvtot mvname`."""
    nodes = max(info.nodes if info else 0, progress.nodes if progress else 0)
    total = board.legal_moves.count()
    done = min(progress.current_move_number, total) if progress else 0
    depth = info.depth if info else 0
    line = f"stat01: {round(seconds * 100)} {nodes} {depth} {total - done} {total}"
    if progress is None or progress.current_move is None:
        return line
    return f"{line} {board.xboard(progress.current_move)}"


def echo(text: str) -> str:
    """Return what was said, as it may be said back: plain, on one line, and not long."""
    return sanitize_line(_one_line(text), MAX_ECHO_LENGTH)


def _one_line(text: str) -> str:
    return " ".join(text.split())
