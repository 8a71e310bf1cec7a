"""Format search results and messages as lines of the xboard protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.io.sanitize import sanitize_line
from agent.limits import Info, Mate, Progress, Score
from protocols.uci.formatting import MAX_MESSAGE_LENGTH, nodes_per_second

if TYPE_CHECKING:
    import chess

# A mate in N moves is sent as MATE_SCORE + N.
MATE_SCORE = 100_000
# Maximum length of an invalid line that is quoted in an error.
MAX_ECHO_LENGTH = 100


def error_line(reason: str, line: str) -> str:
    """Return the error message for a line, with brackets instead of parentheses in `reason`."""
    # Front ends search for the closing parenthesis.
    reason = _one_line(reason).replace("(", "[").replace(")", "]")
    return f"Error ({reason}): {echo(line)}"


def illegal_line(text: str, reason: str = "") -> str:
    """Return the error message for an illegal move."""
    return f"Illegal move{f' ({reason})' if reason else ''}: {echo(text)}"


def comment(message: str) -> str:
    """Return a comment line for the front end's log."""
    return f"# {sanitize_line(_one_line(message), MAX_MESSAGE_LENGTH)}"


def warning(message: str) -> str:
    """Return a `tellusererror` line, which the front end shows to the user."""
    return f"tellusererror {sanitize_line(_one_line(message), MAX_MESSAGE_LENGTH)}"


def score_number(score: Score) -> int:
    """Return a score in centipawns, or ±(MATE_SCORE + N) for a mate in N moves."""
    if isinstance(score, Mate):
        return MATE_SCORE + score.moves if score.moves > 0 else score.moves - MATE_SCORE
    return min(max(score.value, 1 - MATE_SCORE), MATE_SCORE - 1)


def thinking_line(info: Info[chess.Move], board: chess.Board, before: str = "") -> str:
    """Return a line of thinking output in the format of the protocol specification.

    During pondering, `before` is the opponent's expected move. A "!" or "?" at the end marks a
    lower or an upper bound.
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
    """Return moves in coordinate notation. Castling in Chess960 is written as O-O or O-O-O."""
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
    """Return the progress of an analysis as `stat01: time nodes ply mvleft mvtot mvname`."""
    nodes = max(info.nodes if info else 0, progress.nodes if progress else 0)
    total = board.legal_moves.count()
    done = min(progress.current_move_number, total) if progress else 0
    depth = info.depth if info else 0
    line = f"stat01: {round(seconds * 100)} {nodes} {depth} {total - done} {total}"
    if progress is None or progress.current_move is None:
        return line
    return f"{line} {board.xboard(progress.current_move)}"


def echo(text: str) -> str:
    """Return received text without control characters, cut to MAX_ECHO_LENGTH."""
    return sanitize_line(_one_line(text), MAX_ECHO_LENGTH)


def _one_line(text: str) -> str:
    return " ".join(text.split())
