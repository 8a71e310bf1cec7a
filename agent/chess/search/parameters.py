"""The search parameters, which a tuner can change without recompilation.

`kempelen uci --tune` offers each parameter as a UCI option. Depths are in plies, margins in
centipawns, and reductions in 1024ths of a ply.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import external_number, external_table

_MAX_PARAMETERS = 128
_VALUES = np.zeros(_MAX_PARAMETERS, np.int64)

REDUCTION_UNIT = 1024  # one ply
_REDUCTION_TABLE_SIZE = 64  # larger depths and move numbers are clamped
_REDUCTIONS = np.zeros(_REDUCTION_TABLE_SIZE * _REDUCTION_TABLE_SIZE, np.int64)
_reduction: Callable[[int], int] = external_table("kempelen_reductions", _REDUCTIONS)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    index: int
    default: int
    minimum: int
    maximum: int

    @property
    def value(self) -> int:
        return int(_VALUES[self.index])

    def set(self, value: int) -> None:
        """Set the value for later searches. Raise `ValueError` if it is out of range."""
        if not self.minimum <= value <= self.maximum:
            raise ValueError(
                f"{self.name}: {value} is out of range (expected {self.minimum} to {self.maximum})"
            )
        _VALUES[self.index] = value
        _fill_reductions()


PARAMETERS: dict[str, Parameter] = {}


def _parameter(name: str, default: int, minimum: int, maximum: int) -> Callable[[], int]:
    index = len(PARAMETERS)
    PARAMETERS[name] = Parameter(name, index, default, minimum, maximum)
    _VALUES[index] = default
    return external_number("kempelen_parameters", _VALUES, index)


def _fill_reductions() -> None:
    """Tabulate `base + ln(depth) * ln(move_number) / divisor` in 1024ths of a ply."""
    base, divisor = (PARAMETERS[name].value / 100 for name in ("ReductionBase", "ReductionDivisor"))
    logarithms = [math.log(move_number) for move_number in range(1, _REDUCTION_TABLE_SIZE)]
    plies = base + np.outer(logarithms, logarithms) / divisor
    _REDUCTIONS.reshape(_REDUCTION_TABLE_SIZE, _REDUCTION_TABLE_SIZE)[1:, 1:] = (
        REDUCTION_UNIT * np.maximum(plies, 0)
    )


@kernel
def reduction(depth: int, move_number: int) -> int:
    """Return the base late move reduction in 1024ths of a ply. `move_number` starts at 1."""
    return _reduction(
        _REDUCTION_TABLE_SIZE * min(depth, _REDUCTION_TABLE_SIZE - 1)
        + min(move_number, _REDUCTION_TABLE_SIZE - 1)
    )


# Reverse futility pruning.
reverse_futility_depth = _parameter("ReverseFutilityDepth", 9, 1, 14)
reverse_futility_margin = _parameter("ReverseFutilityMargin", 46, 20, 200)
reverse_futility_improving = _parameter("ReverseFutilityImproving", 28, 0, 200)

# Razoring.
razor_base = _parameter("RazorBase", 395, 0, 2000)
razor_square = _parameter("RazorSquare", 146, 10, 800)

# Null move pruning.
null_move_depth = _parameter("NullMoveDepth", 3, 1, 8)
null_move_reduction = _parameter("NullMoveReduction", 4525, 1024, 8192)
null_move_share = _parameter("NullMoveShare", 365, 0, 800)  # per ply of depth
null_move_margin = _parameter("NullMoveMargin", 55, 50, 500)
null_most_lead = _parameter("NullMostLead", 2193, 0, 6000)
null_entry_margin = _parameter("NullEntryMargin", 65, -100, 200)
null_verification_depth = _parameter("NullVerificationDepth", 14, 4, 99)

# ProbCut from the transposition table, and internal iterative reduction.
table_plies = _parameter("TablePlies", 4, 1, 8)
table_margin = _parameter("TableMargin", 430, 50, 1500)
internal_reduction_depth = _parameter("InternalReductionDepth", 6, 2, 12)
internal_reduction_plies = _parameter("InternalReductionPlies", 6, 2, 20)

# Hindsight reduction, and updates of the last move's history by its evaluation gain.
hindsight_plies = _parameter("HindsightPlies", 2, 1, 6)  # minimum reduction of the last move
hindsight_margin = _parameter("HindsightMargin", 160, 0, 600)
gain_bonus = _parameter("GainBonus", 3, 0, 40)  # history per centipawn
gain_most_bonus = _parameter("GainMostBonus", 694, 0, 3000)

# Extensions.
singular_depth = _parameter("SingularDepth", 7, 4, 99)
singular_table_plies = _parameter("SingularTablePlies", 3, 1, 6)
singular_margin = _parameter("SingularMargin", 7, 4, 64)  # eighths of a centipawn per ply
double_margin = _parameter("DoubleMargin", 20, 0, 100)
check_exchange_margin = _parameter("CheckExchangeMargin", 51, -200, 1000)

# Pruning of moves.
late_pruning_depth = _parameter("LatePruningDepth", 8, 1, 16)
late_pruning_base = _parameter("LatePruningBase", 4, 1, 10)
late_pruning_square = _parameter("LatePruningSquare", 22, 4, 48)  # sixteenths of a move
late_pruning_not_improving = _parameter("LatePruningNotImproving", 9, 2, 16)  # sixteenths
futility_depth = _parameter("FutilityDepth", 9, 1, 14)
futility_base = _parameter("FutilityBase", 45, 0, 300)
futility_margin = _parameter("FutilityMargin", 107, 20, 300)
futility_history = _parameter("FutilityHistory", 42, 0, 300)  # at the maximum history
noisy_futility_depth = _parameter("NoisyFutilityDepth", 6, 1, 14)
noisy_futility_base = _parameter("NoisyFutilityBase", 361, 0, 1500)
noisy_futility_margin = _parameter("NoisyFutilityMargin", 163, 20, 600)
history_depth = _parameter("HistoryDepth", 5, 1, 14)
history_margin = _parameter("HistoryMargin", 4235, 1000, 30000)
exchange_depth = _parameter("ExchangeDepth", 8, 1, 14)
quiet_exchange_margin = _parameter("QuietExchangeMargin", 113, 10, 150)
noisy_exchange_margin = _parameter("NoisyExchangeMargin", 106, 20, 250)
quiescence_margin = _parameter("QuiescenceMargin", 163, 50, 3000)

# Late move reductions.
reduction_base = _parameter("ReductionBase", 84, 0, 200)
reduction_divisor = _parameter("ReductionDivisor", 243, 120, 400)
reduction_depth = _parameter("ReductionDepth", 3, 2, 6)
reduction_late_move = _parameter("ReductionLateMove", 2, 1, 8)
reduction_history = _parameter("ReductionHistory", 9118, 2000, 30000)
reduction_pv = _parameter("ReductionPv", 746, 0, 3072)
reduction_was_pv = _parameter("ReductionWasPv", 468, -1000, 3072)
reduction_cut = _parameter("ReductionCut", 1337, 0, 3072)
reduction_killer = _parameter("ReductionKiller", 297, 0, 3072)
reduction_not_improving = _parameter("ReductionNotImproving", 165, -1024, 2048)
reduction_table_noisy = _parameter("ReductionTableNoisy", 1204, 0, 2048)
reduction_noisy = _parameter("ReductionNoisy", -1767, -6000, 2048)
reduction_noisy_history = _parameter("ReductionNoisyHistory", 3311, 2000, 60000)
reduction_check = _parameter("ReductionCheck", 2896, -3000, 9000)
deeper_margin = _parameter("DeeperMargin", 88, 10, 400)

# Ordering of quiet moves, in units of history scores.
pawn_threat = _parameter("PawnThreat", 5780, -20000, 40000)
check_order = _parameter("CheckOrder", 5335, -20000, 40000)

# Histories.
history_bonus = _parameter("HistoryBonus", 30, 4, 64)
history_most_bonus = _parameter("HistoryMostBonus", 2205, 400, 4000)
# In 64ths of the bonus, up to ContinuationTwo.
history_malus = _parameter("HistoryMalus", 90, 10, 160)
noisy_bonus = _parameter("NoisyBonus", 58, 10, 200)
history_reply = _parameter("HistoryReply", 36, 0, 128)
history_anywhere = _parameter("HistoryAnywhere", 48, 0, 200)
continuation_one = _parameter("ContinuationOne", 68, 0, 160)
continuation_two = _parameter("ContinuationTwo", 54, 0, 160)

# Correction history.
correction_pawn = _parameter("CorrectionPawn", 49, 0, 400)
correction_piece = _parameter("CorrectionPiece", 102, 0, 300)
correction_line = _parameter("CorrectionLine", 73, 0, 300)
correction_rate = _parameter("CorrectionRate", 8, 1, 40)  # 64ths
correction_most_step = _parameter("CorrectionMostStep", 310, 32, 1000)

_fill_reductions()
