"""The rules of the chess variant that the kernel is compiled for, as compile-time constants.

The kernel modules are imported once for each variant (see `agent.chess.variants`). The name of the
package of this module contains the variant. Numba removes branches on these constants before it
infers types, so a branch may use fields of `Position` that other variants do not have.
"""

STANDARD = "chess"
NAME = __name__.split(".")[1].removeprefix("chess").removeprefix("_") or STANDARD

IS_STANDARD: bool = NAME == STANDARD

# A king on one of the four central squares wins.
HILL: bool = NAME == "kingofthehill"
# The third check wins.
COUNTS_CHECKS: bool = NAME == "3check"
# White has no king, and loses if all its pieces are captured.
HORDE: bool = NAME == "horde"
# A king on the eighth rank wins, and no move may give check.
RACE: bool = NAME == "racingkings"
# Captures are compulsory, kings are ordinary pieces, and a side without a legal move wins.
FORCED_CAPTURES: bool = NAME == "antichess"
# A capture removes all pieces around it except pawns.
EXPLOSIONS: bool = NAME == "atomic"
# Captured pieces can be dropped by their captor.
POCKETS: bool = NAME == "crazyhouse"

# Whether legal moves are a subset of the generated ones.
FILTERS_MOVES: bool = RACE or EXPLOSIONS
# Whether a game can end although there are legal moves.
ENDS_EARLY: bool = HILL or COUNTS_CHECKS or HORDE or RACE or FORCED_CAPTURES or EXPLOSIONS
# Whether each side has exactly one king until the game ends.
HAS_BOTH_KINGS: bool = not (HORDE or FORCED_CAPTURES or EXPLOSIONS)

# Whether passing is worse than the best move in nearly all positions (null move pruning).
NULL_MOVES: bool = not (FORCED_CAPTURES or RACE)
# Whether exchanges on one square are worth the material exchanged (SEE).
EXCHANGES: bool = not (FORCED_CAPTURES or EXPLOSIONS)

# Whether a move changes the inputs of a network as in chess.
STANDARD_INPUT_CHANGES: bool = not (POCKETS or EXPLOSIONS)
