"""A breakdown of a network's evaluation by piece and by output bucket."""

from collections.abc import Iterable
from dataclasses import dataclass

import chess

from agent.chess.evaluation.nnue_format import NnueNetwork
from agent.chess.evaluation.nnue_reference import bucket_index, bucket_scores, evaluate


@dataclass(frozen=True)
class NetworkBreakdown:
    """The breakdown of an evaluation in centipawns from White's point of view.

    `piece_values` maps the square of each piece, except kings, to the drop of the score if the
    piece is removed. `selected_output` is the index of the output bucket in use.
    """

    score: int
    piece_values: dict[chess.Square, int]
    outputs: tuple[int, ...]
    selected_output: int


def break_down(network: NnueNetwork, board: chess.Board) -> NetworkBreakdown:
    """Break down the network's score of a position, without endgame rules."""
    sign = 1 if board.turn else -1
    score = sign * evaluate(network, board)
    piece_values = {}
    for square, piece in board.piece_map().items():
        if piece.piece_type == chess.KING:
            continue
        without = board.copy(stack=False)
        without.remove_piece_at(square)
        piece_values[square] = score - sign * evaluate(network, without)
    outputs = tuple(sign * value for value in bucket_scores(network, board))
    selected_output = bucket_index(chess.popcount(board.occupied), network.buckets)
    return NetworkBreakdown(score, piece_values, outputs, selected_output)


def format_breakdown(network: NnueNetwork, board: chess.Board) -> list[str]:
    """Return a board with the value of each piece in pawns, and the bucket scores, as text."""
    breakdown = break_down(network, board)
    edge = "+" + "-------+" * 8
    lines = [edge]
    for rank in reversed(range(8)):
        squares = [chess.square(file, rank) for file in range(8)]
        pieces = (board.piece_at(square) for square in squares)
        lines.append(_row(piece.symbol() if piece else "" for piece in pieces))
        lines.append(
            _row(
                _pawns(breakdown.piece_values[s]) if s in breakdown.piece_values else ""
                for s in squares
            )
        )
        lines.append(edge)
    outputs = [_pawns(score) for score in breakdown.outputs]
    outputs[breakdown.selected_output] = f"[{outputs[breakdown.selected_output]}]"
    lines.append(f"Network: {network.shape}")
    lines.append(f"Outputs, fewest pieces first: {' '.join(outputs)}")
    return lines


def _row(cells: Iterable[str]) -> str:
    return "|" + "".join(f"{cell:^7}|" for cell in cells)


def _pawns(centipawns: int) -> str:
    return f"{centipawns / 100:+z.2f}"
