"""The evaluation a user names: the hand-made one, a network, or a function of their own.

    handcrafted          the built-in evaluation: each game's own, in chess the hand-made one
    nnue                 the network that ships, of chess (agent.chess.evaluation.loading): its default
    nnue:FILE            any other network
    module:function      a function of an importable module
    FILE.py:function     a function of a file
    learned:FILE         what `kempelen lab learn` has learned of a game, in that game

A plain function takes a `chess.Board` (position and rights, no history) and returns
centipawns for the side to move. A function decorated with `@evaluator` is compiled into the kernel:

    from agent.evaluation import KNIGHT, count, evaluator, position_at

    @evaluator
    def knights(worker, ply):
        position = position_at(worker, ply)
        own, enemy = position.sides[position.turn], position.sides[1 - position.turn]
        knights = position.kinds[KNIGHT]
        return 300 * (count(knights & own) - count(knights & enemy))

It may read the fields of the position (see `Position` in agent.chess.board.records: kinds, sides,
board, turn, checkers, pinned, castling, en_passant) and call the helpers that this
module lends: `position_at`, `king_square`, `count`, `first_square`, `bit`, `has`, the attack
functions, `game_phase` and `handcrafted`. Bitboards are uint64, so constants that meet them are
wrapped: `U64(1)`. An index into a row of the position counts from its front, never from its end;
one beyond either end raises IndexError. It must not write. It returns a number, whose fraction is
dropped; NaN and infinity end the search with a message, as every exception does. Values beyond
29,000 centipawns count as that, in plain functions too, which return whole numbers.

A function decorated with `@batched` judges many positions at once, as networks do best:

    from agent.evaluation import batched

    @batched(size=64)
    def evaluate(batch):
        return values              # or (values, priors)

A function whose first argument is called `batch` is one too, of 64 positions. `batch` has up to
`size` positions, as NumPy arrays: in chess a `ChessBatch`, in Go a `GoBatch`
(agent.games.chess_batch, agent.games.go_batch), in every other game a `GameBatch`
(agent.games.game_batch). `values` is an array of one number for each of them, for whoever is to move
there: centipawns in chess, any scale elsewhere. `priors`, of the shape (len(batch), batch.width),
has a number from 0 for each legal move, in the order of `batch.moves`: how promising it is beside
the others, whatever their sum; what stands beyond a position's moves does not count. Monte Carlo
tree search asks for whole batches; every other search asks for one position at a time.

In another compiled game, as `agent.connect_four`, a plain function takes the plain game and a
compiled one reads that game's records (`from agent.connect_four.records import position_at`); both
return a number on any scale.

What an evaluation finds is remembered by position: the clocks, or anything else beside pieces,
turn, castling rights and en passant, should not matter to it. This module imports neither Numba nor
NumPy by itself.
"""

import importlib
from typing import Any

from agent.evaluation_loading import load
from agent.evaluation_types import (
    DEFAULT_BATCH_SIZE,
    HANDCRAFTED,
    LEARNED,
    MAX_BATCH_SIZE,
    NETWORK,
    SHIPPED_NETWORK,
    BatchedEvaluator,
    Evaluation,
    EvaluationError,
    JittedEvaluator,
    batched,
    check,
    evaluation_digest,
    evaluation_failure,
    evaluator,
    from_function,
    learned_file,
    network_file,
    require_finite,
    require_integer,
    with_error_reporting,
)

__all__ = [
    "DEFAULT_BATCH_SIZE",
    "HANDCRAFTED",
    "LEARNED",
    "MAX_BATCH_SIZE",
    "NETWORK",
    "SHIPPED_NETWORK",
    "BatchedEvaluator",
    "Evaluation",
    "EvaluationError",
    "JittedEvaluator",
    "batched",
    "check",
    "evaluation_digest",
    "evaluation_failure",
    "evaluator",
    "from_function",
    "learned_file",
    "load",
    "network_file",
    "require_finite",
    "require_integer",
    "with_error_reporting",
]

# What a compiled evaluator may use, and where it lives.
_HELPERS = {
    "agent.chess.board.records": (
        "WHITE BLACK PAWN KNIGHT BISHOP ROOK QUEEN KING EMPTY NO_SQUARE position_at"
    ),
    "agent.kernel.intrinsics": "U64 count first_square last_square",
    "agent.chess.board.attacks": (
        "bit has attackers is_attacked king_square pawn_attacks piece_attacks"
        " bishop_attacks rook_attacks between line"
    ),
    "agent.chess.board.lookup_tables": "knight_attacks king_attacks",
    "agent.chess.evaluation.handcrafted": "game_phase handcrafted",
}
_HELPER_MODULES = {name: module for module, names in _HELPERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Lend the kernel's helpers to a user's evaluator, without importing them before."""
    if name in _HELPER_MODULES:
        return getattr(importlib.import_module(_HELPER_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
