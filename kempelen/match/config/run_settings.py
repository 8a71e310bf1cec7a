from dataclasses import dataclass

from kempelen.console.settings_codec import SettingsError

MAX_WAIT = 3_600_000


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings that may differ when a tournament is resumed.

    `wait` is the time before the next game on a board, in milliseconds as in fastchess and
    cutechess. `pv` stores the principal variation of each move in the ledger. `check_mate_pvs`
    reports principal variations with a mate score that do not end in that mate.
    """

    wait: int = 0
    pv: bool = False
    check_mate_pvs: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.wait <= MAX_WAIT:
            raise SettingsError(f"wait: must be from 0 to {MAX_WAIT} ms (got {self.wait})")
