"""Check an evaluation of any game for errors and asymmetries, and measure its speed."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from numbers import Integral
from typing import Any, Protocol

from agent.evaluation import Evaluation, EvaluationError, evaluation_failure, load
from kempelen.training.watchdog import ReportActivity, run_with_watchdog

# Timeouts in seconds for one call in a search, for loading the file, and for compiling.
CALL_TIMEOUT = 10.0
LOAD_TIMEOUT_S = 30.0
COMPILING_TIMEOUT = 300.0
# Duration of speed measurements in seconds.
CALL_BENCH_SECONDS, SEARCH_BENCH_SECONDS = 0.5, 2.0

# Relative tolerance between the single value and the batch value of a position.
RELATIVE_TOLERANCE = 0.01

# Maximum number of failures and uneven positions in the report.
MAX_SHOWN = 3


class EvaluationUnderTest(Protocol):
    """An evaluation for some game, and the positions on which it is checked.

    `batch` is the maximum number of positions per call, or 0 if each call takes one position.
    `max_value` is the largest allowed absolute value, or None if values are unbounded.
    `absolute_tolerance` is the allowed difference between single and batch values.
    """

    name: str
    compiled: bool
    batch: int
    max_value: float | None
    absolute_tolerance: float

    def prepare(self) -> None:
        """Compile the evaluation if necessary. Raise EvaluationError on failure."""

    def positions(self) -> Iterable[tuple[str, Any]]:
        """Yield (name, position) pairs. Advancing the iterator may change earlier positions."""

    def evaluate(self, position: Any) -> Any:
        """Return the value of a position. The evaluation may raise any exception."""

    def to_batch_item(self, position: Any) -> Any:
        """Convert a position to the item type of `evaluate_batch`."""

    def evaluate_batch(self, kept: Sequence[Any]) -> Sequence[float]:
        """Return the value of each position. Raise EvaluationError on failure."""

    def with_colours_swapped(self, position: Any) -> tuple[str, Any] | None:
        """Return (name, position) with swapped colours, or None if swapping is not supported."""

    def calls_per_second(self, seconds: float) -> float:
        """Measure for `seconds` seconds, and return the number of calls per second."""

    def nodes_per_second(self, seconds: float) -> tuple[float, float]:
        """Return the search speed with this evaluation, and that with the default evaluation."""


@dataclass(frozen=True)
class CallFailure:
    """An error message, the number of calls that raised it, and the first failing position."""

    message: str
    calls: int
    position: str


@dataclass(frozen=True)
class AsymmetricPosition:
    """The values of a position for the side to move, before and after swapping the colours."""

    position: str
    value: float
    exchanged: float


@dataclass(frozen=True)
class EvaluationReport:
    """The results of the checks. Speeds are None if a call failed.

    `calls` includes the calls on positions with swapped colours.
    `types` maps type names of returned Python values to numbers of calls.
    `beyond` counts the values that reach or exceed the bound `greatest`.
    `pairs` counts the positions that were also evaluated with swapped colours.
    `uneven` counts the pairs with different values, and `worst` holds those that differ most.
    `one_sided` means that the values seem to be for a fixed colour instead of the side to move.
    `usual_nodes_a_second` is the search speed with the default evaluation.
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
    worst: tuple[AsymmetricPosition, ...]
    one_sided: bool
    calls_a_second: float | None = None
    nodes_a_second: float | None = None
    usual_nodes_a_second: float | None = None


def load_with_watchdog(spec: str, load: Callable[[str], Evaluation] = load) -> Evaluation:
    """Return `load(spec)`, or raise WatchdogError if the call times out."""

    def work(report_activity: ReportActivity) -> Evaluation:
        report_activity(f"loading evaluation {spec}", LOAD_TIMEOUT_S)
        return load(spec)

    return run_with_watchdog(work)


def check_evaluation(
    examinee: EvaluationUnderTest, on_call: Callable[[int], None] = lambda calls: None
) -> EvaluationReport:
    """Check an evaluation and return a report.

    `on_call` receives the number of calls so far. Raise EvaluationError if compilation fails, and
    WatchdogError if a call times out.
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
        self._pairs: list[AsymmetricPosition] = []

    def report(self) -> EvaluationReport:
        examinee = self._examinee
        if examinee.compiled:
            self._report_activity(f"compiling {examinee.name}", COMPILING_TIMEOUT)
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
                self._pairs.append(AsymmetricPosition(name, value, exchanged))
        if batch:
            self._call_batch(batch)

    def _call_batch(self, batch: list[tuple[str, Any, float]]) -> None:
        description = f"{len(batch)} positions at once"
        self._report_activity(f"{self._examinee.name} on {description}", CALL_TIMEOUT)
        try:
            values = self._examinee.evaluate_batch([kept for _, kept, _ in batch])
        except EvaluationError as error:
            self._add_failure(str(error), description)
            return
        for (name, _, single_value), value in zip(batch, values, strict=True):
            if not isclose(
                value,
                single_value,
                rel_tol=RELATIVE_TOLERANCE,
                abs_tol=self._examinee.absolute_tolerance,
            ):
                message = f"evaluation {self._examinee.name}: different value in a batch"
                self._add_failure(
                    message,
                    f"{name}: {single_value:zg} alone, {value:zg} in a batch of {len(batch)}",
                )
                return

    def _call(self, name: str, position: Any) -> float | None:
        self._calls += 1
        self._report_activity(f"{self._examinee.name} on {name}", CALL_TIMEOUT)
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
            f"{examinee.name} in the speed test", CALL_BENCH_SECONDS + CALL_TIMEOUT
        )
        calls = examinee.calls_per_second(CALL_BENCH_SECONDS)
        self._report_activity(
            f"a search with {examinee.name}", 2 * SEARCH_BENCH_SECONDS + CALL_TIMEOUT
        )
        nodes, default_nodes = examinee.nodes_per_second(SEARCH_BENCH_SECONDS)
        return {
            "calls_a_second": calls,
            "nodes_a_second": nodes,
            "usual_nodes_a_second": default_nodes,
        }
