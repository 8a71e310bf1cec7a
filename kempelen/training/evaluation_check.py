"""An evaluation put to the test: called on many positions, as it is and as fast as it goes.

What it says is told as it is found, an `EvaluationReport`; nothing here knows what is being played:
that is the examinee's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from numbers import Integral
from typing import Any, Protocol

from agent.evaluation import Evaluation, EvaluationError, evaluation_failure, load
from kempelen.training.watchdog import ReportActivity, run_with_watchdog

# How long a call may last that a search could wait for, and the file and the compiler, in seconds.
CALL_TIMEOUT = 10.0
LOAD_TIMEOUT_S = 30.0
COMPILING_TIMEOUT = 300.0
# How long speeds are measured, in seconds.
CALL_BENCH_SECONDS, SEARCH_BENCH_SECONDS = 0.5, 2.0

# How far values may differ that networks find of a position alone and among others, of themselves.
RELATIVE_TOLERANCE = 0.01

# How many failures and uneven positions are kept.
MAX_SHOWN = 3


class EvaluationUnderTest(Protocol):
    """An evaluation of some game, and the positions to call it on.

    compiled: whether it is. batch: how many positions it judges at once at most, 0 if one.
    greatest: what values must stay below, None where they may be anything. rounding: how far two
    values may lie apart that mean the same, beside ROUNDING of them.
    """

    name: str
    compiled: bool
    batch: int
    max_value: float | None
    absolute_tolerance: float

    def prepare(self) -> None:
        """Compile it, where it is compiled. Raises EvaluationError."""

    def positions(self) -> Iterable[tuple[str, Any]]:
        """Generate positions with their names; each holds until the next is asked for."""

    def evaluate(self, position: Any) -> Any:
        """Return what it returns. May raise anything."""

    def to_batch_item(self, position: Any) -> Any:
        """Return what `evaluate_all` takes of a position."""

    def evaluate_batch(self, kept: Sequence[Any]) -> Sequence[float]:
        """Return what it returns of so many positions at once. Raises EvaluationError."""

    def with_colours_swapped(self, position: Any) -> tuple[str, Any] | None:
        """Return the position with the colours exchanged, None where the game knows no such."""

    def calls_per_second(self, seconds: float) -> float:
        """Return how often it can be called, measured for so long."""

    def nodes_per_second(self, seconds: float) -> tuple[float, float]:
        """Return the speed of a search with it, and with the shipped one, each for so long."""


@dataclass(frozen=True)
class CallFailure:
    """What went wrong in calls, in how many, and on which position first."""

    message: str
    calls: int
    position: str


@dataclass(frozen=True)
class UnevenPosition:
    """A position that is worth something else to its mover when the colours are exchanged."""

    position: str
    value: float
    exchanged: float


@dataclass(frozen=True)
class EvaluationReport:
    """What was found. Where calls failed nothing is measured.

    calls: how many positions it was called on, those with exchanged colours counted. types: of what
    it returned, where it is plain. beyond: how many values reach the greatest there can be. pairs:
    how many positions were compared with the same one of exchanged colours; uneven: how many of
    them differ; worst: those that differ most. one_sided: the values are White's, or Black's, where
    they should be the mover's. usual_nodes_a_second: with the shipped evaluation.
    """

    evaluation: str
    compiled: bool
    calls: int
    failed: int
    failures: tuple[CallFailure, ...]
    types: dict[str, int]
    lowest: float | None
    highest: float | None
    greatest: float | None
    beyond: int
    pairs: int
    uneven: int
    worst: tuple[UnevenPosition, ...]
    one_sided: bool
    calls_a_second: float | None = None
    nodes_a_second: float | None = None
    usual_nodes_a_second: float | None = None


def load_with_watchdog(spec: str, load: Callable[[str], Evaluation] = load) -> Evaluation:
    """Load an evaluation by `load`; raises StuckError if its file does not end."""

    def work(report_activity: ReportActivity) -> Evaluation:
        report_activity(f"the file of evaluation {spec}", LOAD_TIMEOUT_S)
        return load(spec)

    return run_with_watchdog(work)


def check_evaluation(
    examinee: EvaluationUnderTest, on_call: Callable[[int], None] = lambda calls: None
) -> EvaluationReport:
    """Put an evaluation to the test. watch: told how many positions it was called on.

    Raises EvaluationError if it cannot be compiled, and StuckError if a call does not come back.
    """
    return run_with_watchdog(
        lambda report_activity: _EvaluationCheck(examinee, report_activity, on_call).report()
    )


class _EvaluationCheck:
    def __init__(
        self,
        examinee: EvaluationUnderTest,
        report_activity: ReportActivity,
        on_call: Callable[[int], None],
    ) -> None:
        self._examinee = examinee
        self._report_activity = report_activity
        self._on_call = on_call
        self._calls = 0
        self._failures: dict[str, CallFailure] = {}
        self._types: Counter[str] = Counter()
        self._values: list[float] = []
        self._pairs: list[UnevenPosition] = []

    def report(self) -> EvaluationReport:
        examinee = self._examinee
        if examinee.compiled:
            self._report_activity(f"the compiler of {examinee.name}", COMPILING_TIMEOUT)
        examinee.prepare()
        self._call_all()
        speeds = {} if self._failures else self._measure_speeds()
        failures = sorted(self._failures.values(), key=lambda failure: -failure.calls)
        uneven = [pair for pair in self._pairs if pair.value != pair.exchanged]
        uneven.sort(key=lambda pair: -abs(pair.value - pair.exchanged))
        greatest = examinee.max_value
        return EvaluationReport(
            evaluation=examinee.name,
            compiled=examinee.compiled,
            calls=self._calls,
            failed=sum(failure.calls for failure in failures),
            failures=tuple(failures[:MAX_SHOWN]),
            types=dict(self._types),
            lowest=min(self._values, default=None),
            highest=max(self._values, default=None),
            greatest=greatest,
            beyond=sum(greatest is not None and abs(v) >= greatest for v in self._values),
            pairs=len(self._pairs),
            uneven=len(uneven),
            worst=tuple(uneven[:MAX_SHOWN]),
            one_sided=bool(uneven) and all(p.value == -p.exchanged for p in self._pairs),
            **speeds,
        )

    def _call_all(self) -> None:
        batch: list[tuple[str, Any, float]] = []
        for name, position in self._examinee.positions():
            other = self._examinee.with_colours_swapped(position)
            value = self._call(name, position)
            if self._examinee.batch and value is not None:
                batch.append((name, self._examinee.to_batch_item(position), value))
                if len(batch) == self._examinee.batch:
                    self._call_batch(batch)
                    batch = []
            if other is None:
                continue
            exchanged = self._call(*other)
            if value is not None and exchanged is not None:
                self._pairs.append(UnevenPosition(name, value, exchanged))
        if batch:
            self._call_batch(batch)

    def _call_batch(self, batch: list[tuple[str, Any, float]]) -> None:
        """Have positions judged at once: each is worth what it is worth alone."""
        together = f"{len(batch)} positions at once"
        self._report_activity(f"{self._examinee.name}, called on {together},", CALL_TIMEOUT)
        try:
            values = self._examinee.evaluate_batch([kept for _, kept, _ in batch])
        except EvaluationError as error:
            self._add_failure(str(error), together)
            return
        for (name, _, alone), value in zip(batch, values, strict=True):
            if not isclose(
                value, alone, rel_tol=RELATIVE_TOLERANCE, abs_tol=self._examinee.absolute_tolerance
            ):
                what = f"evaluation {self._examinee.name} judges a position otherwise among others"
                self._add_failure(what, f"{name}: {alone:g} alone, {value:g} among {len(batch)}")
                return

    def _call(self, name: str, position: Any) -> float | None:
        self._calls += 1
        self._report_activity(f"{self._examinee.name}, called on {name},", CALL_TIMEOUT)
        try:
            value = self._examinee.evaluate(position)
        except EvaluationError as error:
            self._add_failure(str(error), name)
            return None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's code may raise anything
            self._add_failure(str(evaluation_failure(self._examinee.name, error)), name)
            return None
        finally:
            self._on_call(self._calls)
        if not self._examinee.compiled:
            self._types[type(value).__name__] += 1
        number = int(value) if isinstance(value, Integral) else float(value)
        self._values.append(number)
        return number

    def _add_failure(self, message: str, position: str) -> None:
        before = self._failures.get(message)
        calls, first = (before.calls, before.position) if before else (0, position)
        self._failures[message] = CallFailure(message, calls + 1, first)

    def _measure_speeds(self) -> dict[str, float]:
        examinee = self._examinee
        self._report_activity(
            f"{examinee.name}, called again and again,", CALL_BENCH_SECONDS + CALL_TIMEOUT
        )
        calls = examinee.calls_per_second(CALL_BENCH_SECONDS)
        self._report_activity(
            f"a search with {examinee.name}", 2 * SEARCH_BENCH_SECONDS + CALL_TIMEOUT
        )
        nodes, usual = examinee.nodes_per_second(SEARCH_BENCH_SECONDS)
        return {
            "calls_a_second": calls,
            "nodes_a_second": nodes,
            "usual_nodes_a_second": usual,
        }
