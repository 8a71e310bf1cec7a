"""Functions shared by all search nodes: draws, evaluation and principal variation."""

from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.endings import DRAWN, NOT_OVER, WON, variant_result
from agent.chess.board.movegen import ALL, generate
from agent.chess.board.position import is_insufficient_material, is_repetition
from agent.chess.board.records import (
    EVALUATION_CACHE_ENTRIES,
    FIFTY_MOVES,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.board.rules import ENDS_EARLY, IS_STANDARD, POCKETS
from agent.chess.endgames.dtm_tables import NO_SCORE, may_have_table, tablebase_score
from agent.chess.evaluation.endgame_knowledge import is_known_draw
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, call_evaluator, int64
from agent.kernel.scores import MATE, MAX_EVALUATION, MAX_PLY, NO_EVALUATION
from agent.kernel.transposition_table import data_evaluation, signed_16

DRAW = 0  # centipawns
_INDEX_MASK = U64(EVALUATION_CACHE_ENTRIES - 1)
_VALUE_MASK = U64(0xFFFF)


@kernel
def evaluate(worker: Worker, ply: int) -> int:
    """Return the static evaluation at `ply`, cached if possible. It is never a mate score."""
    key = position_at(worker, ply).key
    index = int64(key & _INDEX_MASK)
    entry = worker.evaluation_cache[index]
    if (entry ^ key) <= _VALUE_MASK:
        return signed_16(entry)
    value = call_evaluator(worker.evaluate, worker, ply)
    value = min(max(value, -MAX_EVALUATION), MAX_EVALUATION)
    if not worker.stop:  # a failed user evaluation sets `stop`, and its value is invalid
        worker.evaluation_cache[index] = (key & ~_VALUE_MASK) | (U64(value) & _VALUE_MASK)
    return value


@kernel
def static_evaluation(worker: Worker, ply: int, data: Bits) -> int:
    """Return the static evaluation from the table entry `data`, or compute it if it is missing."""
    value = data_evaluation(data) if data else NO_EVALUATION
    return evaluate(worker, ply) if value == NO_EVALUATION else value


@kernel
def enter_node(worker: Worker, ply: int) -> None:
    """Count a node, clear its principal variation, and set `worker.stop` at the node limit."""
    worker.nodes += 1
    if worker.nodes >= worker.node_limit:
        worker.stop = 1
    if ply > worker.seldepth:
        worker.seldepth = ply
    frame_at(worker, ply).pv_length = 0


@kernel
def has_legal_moves(worker: Worker, ply: int) -> bool:
    return generate(position_at(worker, ply), frame_at(worker, ply), 0, ALL, ALL_SQUARES, True) > 0


@kernel
def is_drawn(worker: Worker, ply: int) -> bool:
    """Return whether the position is a draw by material, repetition or the fifty-move rule."""
    position = position_at(worker, ply)
    if is_insufficient_material(position) or is_repetition(worker, ply):
        return True
    if POCKETS or position.halfmoves < FIFTY_MOVES:
        return False
    return not position.checkers or has_legal_moves(worker, ply)


@kernel
def terminal_score(worker: Worker, ply: int) -> int:
    """Return the score of a drawn, tablebase or maximum-ply node, or NO_SCORE for other nodes."""
    position = position_at(worker, ply)
    if ENDS_EARLY:
        result = variant_result(position)
        if result != NOT_OVER:
            if result == DRAWN:
                return DRAW
            return MATE - ply if result == WON else ply - MATE
    if is_drawn(worker, ply) or (IS_STANDARD and is_known_draw(position)):
        return DRAW
    if IS_STANDARD and worker.tablebase and may_have_table(position):
        score = tablebase_score(worker, ply, position)
        if score != NO_SCORE:
            return score
    return evaluate(worker, ply) if ply >= MAX_PLY else NO_SCORE


@kernel
def extend_pv(worker: Worker, ply: int, move: int) -> None:
    """Set the principal variation at `ply` to `move`, followed by that of the next ply."""
    frame, child = frame_at(worker, ply), frame_at(worker, ply + 1)
    frame.pv[0] = move
    length = min(child.pv_length, MAX_PLY - 1)
    for i in range(length):
        frame.pv[i + 1] = child.pv[i]
    frame.pv_length = length + 1
