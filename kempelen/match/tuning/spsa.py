"""Simultaneous perturbation stochastic approximation (SPSA; Spall, 1992).

All parameters, the vector theta, are changed at the same time. One side plays with theta + c d and
the other with theta - c d, where each component of d is randomly +1 or -1. Then theta is moved
towards the side that scored more. The perturbation c and the gain decrease with Spall's exponents.
"""

import contextlib
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent.io import strict_json
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import replace_atomically
from agent.io.text_files import read_text
from agent.io.write_checks import require_writable
from kempelen.console.settings_codec import SettingsError

ALPHA, GAMMA = 0.602, 0.101  # Spall's exponents of the gain and of the perturbation
STABILITY = 0.1  # Spall's A as a fraction of all trials; the gain is nearly constant until then


@dataclass(frozen=True, slots=True)
class TunableParameter:
    """An integer parameter to tune, with its perturbation (`step`) and `gain` in the last trial."""

    name: str
    start: float
    least: int
    most: int
    step: float
    gain: float = 0.002

    def __post_init__(self) -> None:
        if not self.least <= self.start <= self.most:
            raise SettingsError(
                f"{self.name}: start value must be from {self.least} to {self.most} "
                f"(got {self.start})"
            )
        if self.step <= 0 or self.gain <= 0:
            raise SettingsError(f"{self.name}: step and gain must be greater than 0")


@dataclass(frozen=True, slots=True)
class Trial:
    """A pair of games between the parameter values `plus` and `minus`.

    `update_steps` contains the change of each parameter for a game won with `plus`.
    """

    plus: Mapping[str, int]
    minus: Mapping[str, int]
    update_steps: Mapping[str, float]


class Spsa:
    """The state of a tuning run. For each trial, call `ask`, play it, and call `tell`."""

    def __init__(
        self,
        tunables: Sequence[TunableParameter],
        trials: int,
        seed: int = 0,
        made_with: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Start a tuning run. A saved state must match the game settings `made_with`."""
        self.tunables = tuple(tunables)
        self.trial_count = trials
        self.made_with = dict(made_with or {})
        self.asked = self.told = 0
        self.theta = {tunable.name: float(tunable.start) for tunable in tunables}
        self._random = random.Random(seed)
        self.save_error = ""

    def ask(self) -> Trial:
        """Return the next trial. Several trials may be in progress at the same time."""
        self.asked += 1
        stability = STABILITY * self.trial_count
        plus, minus, update_steps = {}, {}, {}
        for tunable in self.tunables:
            step = tunable.step * (self.trial_count / self.asked) ** GAMMA
            decay = (stability + self.trial_count) / (stability + self.asked)
            gain = tunable.gain * tunable.step**2 * decay**ALPHA / step
            sign = self._random.choice((-1, 1))
            plus[tunable.name] = self._rounded(tunable, sign * step)
            minus[tunable.name] = self._rounded(tunable, -sign * step)
            update_steps[tunable.name] = sign * gain
        return Trial(plus, minus, update_steps)

    def _rounded(self, tunable: TunableParameter, offset: float) -> int:
        """Round up or down at random, so that the expected value does not change."""
        value = self.theta[tunable.name] + offset
        return self._clamped(tunable, value // 1 + (self._random.random() < value % 1))

    @staticmethod
    def _clamped(tunable: TunableParameter, value: float) -> int:
        return int(min(max(value, tunable.least), tunable.most))

    def tell(self, trial: Trial, balance: float) -> None:
        """Update the values. `balance` is the number of wins minus losses with `trial.plus`."""
        self.told += 1
        for tunable in self.tunables:
            value = self.theta[tunable.name] + trial.update_steps[tunable.name] * balance
            self.theta[tunable.name] = min(max(value, tunable.least), tunable.most)

    def values(self) -> dict[str, int]:
        """Return the current values by parameter name, rounded to integers."""
        return {name: round(value) for name, value in self.theta.items()}

    @contextlib.contextmanager
    def locked_state(self, path: Path | None) -> Iterator[None]:
        """Load the state file if it exists, and lock it until the block ends.

        Raise SettingsError if the file is in use, not writable, or from another tuning run.
        """
        with contextlib.ExitStack() as stack:
            if path is not None:
                require_writable([path], [], SettingsError, regular=True)
                stack.enter_context(lock_or_raise(path, SettingsError, "in use by another process"))
                if path.exists():
                    self.load(path)
                self.save(path)
                if self.save_error:
                    raise SettingsError(self.save_error)
            yield

    def save(self, path: Path) -> None:
        """Write the state file atomically. If this fails, store the error in `save_error`."""
        state = {
            "trials": self.trial_count,
            "told": self.told,
            "theta": self.theta,
            "tunables": [asdict(tunable) for tunable in self.tunables],
            "made_with": self.made_with,
        }
        try:
            replace_atomically(path, f"{json.dumps(state, indent=2)}\n".encode())
            self.save_error = ""
        except OSError as error:
            self.save_error = f"{path}: {error.strerror}"

    def load(self, path: Path) -> None:
        """Read a state file. Raise SettingsError if it is invalid or from another tuning run."""
        try:
            state = strict_json.loads(read_text(path))
            same = state["trials"] == self.trial_count and state["tunables"] == [
                asdict(tunable) for tunable in self.tunables
            ]
            # Files of earlier versions do not have all of these settings.
            saved = dict(state.get("made_with") or {})
            changed = describe_changes(
                saved, {name: self.made_with.get(name, saved[name]) for name in saved}
            )
            theta, told = {name: float(state["theta"][name]) for name in self.theta}, state["told"]
            if not isinstance(told, int) or told < 0 or not all(map(math.isfinite, theta.values())):
                raise ValueError("invalid numbers")
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise SettingsError(f"{path}: not a tuning state ({error})") from None
        if not same:
            raise SettingsError(
                f"{path}: made with other parameters or another number of trials "
                "(use another --state)"
            )
        if changed:
            reasons = "; ".join(changed)
            raise SettingsError(
                f"{path}: made with other settings: {reasons} (use another --state)"
            )
        self.theta, self.told, self.asked = theta, told, told
        self._random.seed(f"{told}")
