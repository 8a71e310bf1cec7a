from dataclasses import dataclass

from agent.machine import usable_cpus
from kempelen.console.settings_codec import SettingsError

MAX_WAIT = 3_600_000
MAX_CPU = 1_048_575


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings that may differ when a tournament is resumed.

    `wait` is the time before the next game on a board, in milliseconds as in fastchess and
    cutechess. `pv` stores the principal variation of each move in the ledger. `check_mate_pvs`
    reports principal variations with a mate score that do not end in that mate. `affinity` contains
    the CPUs among which the boards are divided; without any, engines may use all.
    """

    wait: int = 0
    pv: bool = False
    check_mate_pvs: bool = False
    affinity: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.wait <= MAX_WAIT:
            raise SettingsError(f"wait: must be from 0 to {MAX_WAIT} ms (got {self.wait})")

    def cpus_of(self, board: int, size: int) -> tuple[int, ...]:
        """Return the `size` CPUs of a board (from 1), or () for all.

        Raise SettingsError if there are too few.
        """
        if missing := set(self.affinity) - set(usable_cpus()):
            raise SettingsError(
                f"affinity: CPU {min(missing)} is not usable by this process "
                f"(usable: {', '.join(map(str, usable_cpus())) or 'none on this system'})"
            )
        if not self.affinity:
            return ()
        cpus = self.affinity[(board - 1) * size : board * size]
        if len(cpus) < size:
            raise SettingsError(
                f"affinity: {board} games at a time require {board * size} CPUs "
                f"(got {len(self.affinity)})"
            )
        return cpus


def parse_cpus(text: str) -> tuple[int, ...]:
    """Parse a list of CPUs such as 3,5,7-11. Raise ValueError if it is invalid."""
    cpus: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start, end = int(first), int(last if dash else first)
        if not start <= end <= MAX_CPU:
            raise ValueError(f"invalid range {part!r}")
        cpus.extend(range(start, end + 1))
    return tuple(dict.fromkeys(cpus))
