"""The public interface for users who write their own evaluations.

An evaluation returns the value of a position for the side to move. Options and flags name an
evaluation by a string, which `load` accepts:

    handcrafted          the built-in evaluation of the game
    nnue                 the neural network that ships with Kempelen (chess only)
    nnue:FILE            another network (chess only)
    module:function      a function of an importable module
    FILE.py:function     a function of a file
    learned:FILE         a file written by `kempelen lab learn`, for the game it was trained on

docs/extend/evaluation.md and docs/extend/network.md contain examples. There are three kinds of
functions.

Plain functions take a position and are called from Python:

- In chess they take a `chess.Board` without move history, and return an int in centipawns.
- In every other game they take the game object, and return any finite number.

Compiled functions `function(worker, ply)` are marked with `@evaluator` and compiled into the
search:

- They run under Numba and must not modify the position.
- In chess they may read these fields of `Position` (agent.chess.board.records): kinds, sides,
  board, turn, checkers, pinned, castling, en_passant.
- In chess they may call the functions that this module provides, such as `position_at`, `count`,
  `first_square`, `king_square`, `bit`, `has`, `pawn_attacks`, `game_phase` and `handcrafted`.
- In another compiled game they read its own records, for example those of Connect Four
  (`from agent.connect_four.records import position_at`).
- Bitboards are uint64. Constants that are combined with bitboards must be wrapped: `U64(1)`.
- Indices must be in range. A negative index raises IndexError.
- The result is a number. In chess it is in centipawns and its fraction is dropped.

Batched functions `function(batch)` evaluate many positions in one call. They are marked with
`@batched(size=N)`, or have a first parameter named `batch` (size 64):

- `batch` holds up to `size` positions as NumPy arrays. It is a `ChessBatch` in chess
  (agent.games.chess_batch), a `GoBatch` in Go (agent.games.go_batch) and a `GameBatch` in every
  other game (agent.games.game_batch).
- They return `values`, or `values, priors`.
- `values` has shape (len(batch),) and contains one value per position for the side to move, in
  centipawns in chess and on any scale in other games.
- `priors` has shape (len(batch), batch.width) and contains a weight of at least 0 for each legal
  move, in the order of `batch.moves`. Weights need not sum to 1, and padding columns are ignored.
- Only Monte Carlo tree search uses whole batches. Other searches evaluate one position per call.

Rules for all functions:

- Values are cached by position. They must not depend on clocks, move counters or history. In chess
  they may depend on pieces, side to move, castling rights and the en passant square only.
- In chess, values are clamped to -29000..29000 centipawns.
- Exceptions, NaN and infinity end the search with an `EvaluationError`. The agent reports it and
  plays a legal move.
- Only compiled functions benefit from more than one search thread.

Importing this module imports neither Numba nor NumPy.
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

# Names available to compiled evaluators, grouped by the module that defines them.
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
    """Import the helpers of compiled evaluators on first use, because they need Numba."""
    if name in _HELPER_MODULES:
        return getattr(importlib.import_module(_HELPER_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
