"""What every node of a search needs: draws by the rules, the evaluation, the best line."""

from agent.chess.ending_tables import NO_SCORE, is_small, table_score
from agent.chess.moves import ALL, generate
from agent.chess.position import is_insufficient, is_repetition
from agent.chess.records import EVALUATIONS, FIFTY_MOVES, Worker, frame_at, position_at
from agent.chess.squares import EVERYWHERE
from agent.compiled.kernel import kernel
from agent.compiled.native import U64, Bits, call_evaluator, int64
from agent.compiled.scores import MAX_EVALUATION, MAX_PLY, NO_EVALUATION
from agent.compiled.table import data_evaluation, signed_16

DRAW = 0  # centipawns
_PLACE = U64(EVALUATIONS - 1)
_VALUE = U64(0xFFFF)


@kernel
def evaluate(worker: Worker, ply: int) -> int:
    """Call the worker's evaluation, or remember what it said; keep that apart from mates."""
    key = position_at(worker, ply).key
    place = int64(key & _PLACE)
    kept = worker.evaluations[place]
    if (kept ^ key) <= _VALUE:
        return signed_16(kept)
    value = call_evaluator(worker.evaluate, worker, ply)
    value = min(max(value, -MAX_EVALUATION), MAX_EVALUATION)
    if not worker.stop:  # as it is where a user's evaluation has failed
        worker.evaluations[place] = (key & ~_VALUE) | (U64(value) & _VALUE)
    return value


@kernel
def evaluation_once(worker: Worker, ply: int, data: Bits) -> int:
    """Return the evaluation that the node's table entry (0: none) keeps, else evaluate."""
    value = data_evaluation(data) if data else NO_EVALUATION
    return evaluate(worker, ply) if value == NO_EVALUATION else value


@kernel
def visit(worker: Worker, ply: int) -> None:
    """Count a node and see whether it was the last."""
    worker.nodes += 1
    if worker.nodes >= worker.node_limit:
        worker.stop = 1
    if ply > worker.seldepth:
        worker.seldepth = ply
    frame_at(worker, ply).pv_length = 0


@kernel
def has_moves(worker: Worker, ply: int) -> bool:
    """Tell whether there is a legal move."""
    return generate(position_at(worker, ply), frame_at(worker, ply), 0, ALL, EVERYWHERE, True) > 0


@kernel
def is_drawn(worker: Worker, ply: int) -> bool:
    """Tell whether the rules end the game here without a mate or stalemate."""
    position = position_at(worker, ply)
    if is_insufficient(position) or is_repetition(worker, ply):
        return True
    if position.halfmoves < FIFTY_MOVES:
        return False
    return not position.checkers or has_moves(worker, ply)


@kernel
def score_unsearched(worker: Worker, ply: int) -> int:
    """Return the score of a node that needs no search, else NO_SCORE.

    It is drawn, an endgame table knows it, or it lies at the end of the stack.
    """
    if is_drawn(worker, ply):
        return DRAW
    position = position_at(worker, ply)
    if worker.tables and is_small(position):
        score = table_score(worker, ply, position)
        if score != NO_SCORE:
            return score
    return evaluate(worker, ply) if ply >= MAX_PLY else NO_SCORE


@kernel
def extend_pv(worker: Worker, ply: int, move: int) -> None:
    """Make `move`, followed by the child's principal variation, the one at `ply`."""
    frame, child = frame_at(worker, ply), frame_at(worker, ply + 1)
    frame.pv[0] = move
    length = min(child.pv_length, MAX_PLY - 1)
    for i in range(length):
        frame.pv[i + 1] = child.pv[i]
    frame.pv_length = length + 1
