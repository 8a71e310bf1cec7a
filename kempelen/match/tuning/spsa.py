"""Simultaneous perturbation stochastic approximation (Spall, 1992), as engine tuners use it.

All numbers are varied at once: one side plays with theta + c d, the other with theta - c d, where
each component of d is +1 or -1 at random, and theta moves towards the side that scored more. The
perturbation c and the gain fall with the number of trials by Spall's exponents.
"""

import contextlib
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import read_text, replace_atomically
from agent.io.write_checks import require_writable
from kempelen.console.settings_codec import SettingsError

ALPHA, GAMMA = 0.602, 0.101  # Spall's exponents of the gain and of the perturbation
STABILITY = 0.1  # of all trials, for which the gain hardly falls


@dataclass(frozen=True, slots=True)
class Tunable:
    """A whole number to tune. step: the perturbation at the last trial; gain: likewise."""

    name: str
    start: float
    least: int
    most: int
    step: float
    gain: float = 0.002

    def __post_init__(self) -> None:
        if not self.least <= self.start <= self.most:
            raise SettingsError(f"{self.name}: {self.start} is not in {self.least}..{self.most}")
        if self.step <= 0 or self.gain <= 0:
            raise SettingsError(f"{self.name}: step and gain must be greater than 0")


@dataclass(frozen=True, slots=True)
class Trial:
    """One perturbation: the numbers of both sides, and how far a full win moves each."""

    plus: Mapping[str, int]
    minus: Mapping[str, int]
    update_steps: Mapping[str, float]


class Spsa:
    """The state of one tuning: `ask` for a trial, play it, `tell` its result."""

    def __init__(
        self,
        tunables: Sequence[Tunable],
        trials: int,
        seed: int = 0,
        made_with: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Begin a tuning. made_with: by names, how trials are played; a file keeps it."""
        self.tunables = tuple(tunables)
        self.trial_count = trials
        self.made_with = dict(made_with or {})
        self.asked = self.told = 0
        self.theta = {tunable.name: float(tunable.start) for tunable in tunables}
        self._random = random.Random(seed)
        self.save_error = ""

    def ask(self) -> Trial:
        """Return the next trial; several may be under way at once."""
        self.asked += 1
        stability = STABILITY * self.trial_count
        plus, minus, moves = {}, {}, {}
        for tunable in self.tunables:
            step = tunable.step * (self.trial_count / self.asked) ** GAMMA
            fall = (stability + self.trial_count) / (stability + self.asked)
            gain = tunable.gain * tunable.step**2 * fall**ALPHA / step
            sign = self._random.choice((-1, 1))
            plus[tunable.name] = self._rounded(tunable, sign * step)
            minus[tunable.name] = self._rounded(tunable, -sign * step)
            moves[tunable.name] = sign * gain
        return Trial(plus, minus, moves)

    def _rounded(self, tunable: Tunable, offset: float) -> int:
        """Return a whole number near theta + offset, right in the mean."""
        value = self.theta[tunable.name] + offset
        return self._clamped(tunable, value // 1 + (self._random.random() < value % 1))

    @staticmethod
    def _clamped(tunable: Tunable, value: float) -> int:
        return int(min(max(value, tunable.least), tunable.most))

    def tell(self, trial: Trial, balance: float) -> None:
        """Move theta; balance: wins less losses of the side that played with `plus`."""
        self.told += 1
        for tunable in self.tunables:
            value = self.theta[tunable.name] + trial.update_steps[tunable.name] * balance
            self.theta[tunable.name] = min(max(value, tunable.least), tunable.most)

    def values(self) -> dict[str, int]:
        """Return the numbers found so far."""
        return {name: round(value) for name, value in self.theta.items()}

    @contextlib.contextmanager
    def locked_state(self, path: Path | None) -> Iterator[None]:
        """Go on from a file, if there is one, which no other process may use meanwhile.

        Raises SettingsError if it is in use, holds another tuning, or cannot be written.
        """
        with contextlib.ExitStack() as stack:
            if path is not None:
                require_writable([path], [], SettingsError, regular=True)
                stack.enter_context(
                    lock_or_raise(path, SettingsError, "in use: another process tunes with it")
                )
                if path.exists():
                    self.load(path)
                self.save(path)
                if self.save_error:
                    raise SettingsError(self.save_error)
            yield

    def save(self, path: Path) -> None:
        """Write the state to a file, whole or not at all; `unsaved` says why not."""
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
        """Go on from a file; raises SettingsError if it holds another tuning."""
        try:
            state = json.loads(read_text(path))
            same = state["trials"] == self.trial_count and state["tunables"] == [
                asdict(tunable) for tunable in self.tunables
            ]
            # Which states of earlier versions do not have, or not whole.
            kept = dict(state.get("made_with") or {})
            changed = describe_changes(
                kept, {name: self.made_with.get(name, kept[name]) for name in kept}
            )
            theta, told = {name: float(state["theta"][name]) for name in self.theta}, state["told"]
            if not isinstance(told, int) or told < 0 or not all(map(math.isfinite, theta.values())):
                raise ValueError("its numbers are none")
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise SettingsError(f"{path}: not the state of a tuning ({error})") from None
        if not same:
            raise SettingsError(
                f"{path} holds a tuning of other numbers or trials; name another --state"
            )
        if changed:
            reasons = "; ".join(changed)
            raise SettingsError(f"{path} was begun otherwise ({reasons}); name another --state")
        self.theta, self.told, self.asked = theta, told, told
        self._random.seed(f"{told}")
