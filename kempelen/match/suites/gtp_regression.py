"""Test GTP engines with regression files, which contain commands and expected responses.

This is the format of GNU Go's regression suites. A numbered command is a test if the next line that
starts with `#?` gives the expected response:

    loadsgf games/one.sgf 20
    10 reg_genmove black
    #? [D4|E5]

The brackets contain a regular expression for the whole response, negated by a leading `!`. A `*`
after the brackets marks a test that is known to fail, and a `&` marks a test that is not checked.
Source: 'Regression testing' in the GNU Go documentation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from agent.io.read_errors import convert_read_errors
from agent.io.text_files import read_text
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.match.config.engine_settings import EngineSettings
from protocols.client.gtp import EngineRefusalError, GtpClient
from protocols.client.process import EngineError
from protocols.tasks import retry

MAX_FILE_SIZE = 16 << 20
# The part of the game state that is wrong after a rejected command (default: the position), and the
# commands that restore this part. clear_board keeps the size, the komi and the rules.
STATE_BROKEN_BY = {
    "boardsize": "size", "rectangular_boardsize": "size", "komi": "komi",
    "kata-set-rules": "rules", "kata-set-rule": "rules",
}  # fmt: skip
STATE_RESTORED_BY = {
    "clear_board": ("position",), "loadsgf": ("position", "size"), "boardsize": ("size",),
    "rectangular_boardsize": ("size",), "komi": ("komi",), "kata-set-rules": ("rules",),
}  # fmt: skip
# If one of these commands is rejected, the following tests would run on a wrong position.
POSITION_COMMANDS = {
    "boardsize", "rectangular_boardsize", "clear_board", "komi", "play", "black", "white",
    "genmove", "genmove_black", "genmove_white", "undo", "gg-undo", "loadsgf", "set_position",
    "fixed_handicap", "place_free_handicap", "set_free_handicap", "trymove", "popgo",
    "gogui-setup", "gogui-setup_player", "gogui-play_sequence", "kata-set-rules", "kata-set-rule",
}  # fmt: skip

_EXPECTED = re.compile(r"#\?\s*\[(.*)\]([*&]*)\s*(?:#.*)?")
_NUMBERED = re.compile(r"(\d+)\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected response to a command, with the `text` between the brackets in the file.

    A failure of a `known_to_fail` test is not an error. Any response passes an `ignored` test.
    """

    text: str
    pattern: re.Pattern[str]
    negated: bool
    known_to_fail: bool = False
    ignored: bool = False

    def is_met_by(self, answer: str) -> bool:
        """Return whether a response is as expected, ignoring case and repeated spaces."""
        return bool(self.pattern.fullmatch(" ".join(answer.split()))) != self.negated


@dataclass(frozen=True, slots=True)
class Step:
    """A command in a regression file. `number` is its id, or "". Only tests have `expected`."""

    line: int
    number: str
    command: str
    expected: Expectation | None = None


@dataclass(frozen=True, slots=True)
class RegressionFile:
    path: Path
    steps: tuple[Step, ...]

    @property
    def tests(self) -> list[Step]:
        """The commands that have an expected response."""
        return [step for step in self.steps if step.expected]


class RegressionOutcome(StrEnum):
    """The outcome of a test. Only FAILED counts as a regression."""

    PASSED = "passed"
    FAILED = "failed"
    KNOWN_FAILURE = "failed as expected"
    UNEXPECTED_PASS = "passed unexpectedly"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class RegressionResult:
    """A test and its outcome. `error` is the reason why the response is not accepted."""

    file: str
    step: Step
    outcome: RegressionOutcome
    answer: str = ""
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RejectedCommand:
    """A command that is not a test and was rejected by the engine with the message `words`."""

    file: str
    step: Step
    words: str


def read_regression_file(path: Path) -> RegressionFile:
    """Read a regression file. Raise SettingsError, with the line number, if it is invalid."""
    with convert_read_errors(path, SettingsError):
        lines = read_text(path, MAX_FILE_SIZE).split("\n")
    steps: list[Step] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line.startswith("#?"):
            expected = _expectation(line, f"{path}, line {number}")
            last = steps[-1] if steps else None
            if last is None or not last.number or last.expected:
                raise SettingsError(f"{path}, line {number}: missing numbered command before #?")
            steps[-1] = Step(last.line, last.number, last.command, expected)
        elif command := line.partition("#")[0].strip():
            match = _NUMBERED.fullmatch(command)
            name, command = (match[1], match[2]) if match else ("", command)
            steps.append(Step(number, name, command))
    file = RegressionFile(path, tuple(steps))
    if not file.tests:
        raise SettingsError(f"{path}: no tests found (expected numbered commands and #? [...])")
    return file


def _expectation(line: str, where: str) -> Expectation:
    match = _EXPECTED.fullmatch(line)
    if match is None:
        raise SettingsError(f"{where}: invalid test {line[:60]!r} (expected #? [...], then * or &)")
    text, marks = match.groups()
    negated = text.startswith("!")
    try:
        pattern = re.compile(text.removeprefix("!"), re.IGNORECASE)
    except re.error as error:
        raise SettingsError(f"{where}: invalid regular expression: {error}") from None
    return Expectation(text, pattern, negated, "*" in marks, "&" in marks)


async def run_regression(
    files: list[RegressionFile],
    engine: EngineSettings,
    patience: float,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[list[RegressionResult], list[RejectedCommand]]:
    """Run each file with a new engine process. Return the results and the rejected commands.

    `patience` is the timeout for a response in seconds. `report` is called with the number of
    finished tests. Raise SettingsError if the engine does not start.
    """
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        report(done)

    runs = [RegressionRun(file, patience, count) for file in files]
    for run in runs:
        await run.run(engine, first=run is runs[0])
    return [result for run in runs for result in run.results], [
        command for run in runs for command in run.rejected
    ]


async def _started_client(engine: EngineSettings) -> GtpClient:
    client = GtpClient(
        engine.command,
        engine.arguments,
        start_limit=engine.start_limit,
        ready_limit=engine.ready_limit,
    )
    try:
        await client.start()
    except BaseException:
        await client.close()
        raise
    return client


class RegressionRun:
    """Runs one regression file with one engine process."""

    def __init__(self, file: RegressionFile, patience: float, count: Callable[[], None]) -> None:
        self.results: list[RegressionResult] = []
        self.rejected: list[RejectedCommand] = []
        self._file = file
        self._patience = patience
        self._count = count
        # Rejected commands by the part of the game state that they left wrong.
        self._broken_state: dict[str, str] = {}

    async def run(self, engine: EngineSettings, *, first: bool) -> None:
        """Send all commands to the engine. If the engine fails, the remaining tests fail too.

        Raise SettingsError if the engine does not start. If `first` is false, it has started before
        and is started again with pauses.
        """
        start = partial(_started_client, engine)
        try:
            client = await (start() if first else retry(start, EngineError, print_error))
        except EngineError as error:
            message = f"engine {engine.name}: could not start: {error}"
            raise SettingsError(message) from None
        failure = ""
        try:
            for step in self._file.steps:
                if not failure:
                    failure = await self._run_step(client, step)
                elif step.expected:
                    self._judge(step, error=failure)
        finally:
            await client.close()

    async def _run_step(self, client: GtpClient, step: Step) -> str:
        """Send one command. Return an error message if the engine failed, otherwise ""."""
        start = time.perf_counter()
        try:
            answer = await client.ask(self._located(step.command), self._patience)
        except EngineRefusalError as error:
            if step.expected:
                self._judge(step, error.engine_message, refused=True)
            else:
                self.rejected.append(
                    RejectedCommand(self._file.path.name, step, error.engine_message)
                )
                if (name := step.command.split()[0]) in POSITION_COMMANDS:
                    part = STATE_BROKEN_BY.get(name, "position")
                    self._broken_state[part] = (
                        f"line {step.line}, {step.command}: {error.engine_message}"
                    )
            return ""
        except EngineError as error:
            if step.expected:
                self._judge(step, error=str(error))
            return str(error)
        for part in STATE_RESTORED_BY.get(step.command.split()[0], ()):
            self._broken_state.pop(part, None)
        if step.expected:
            self._judge(step, answer, seconds=time.perf_counter() - start)
        return ""

    def _judge(
        self,
        step: Step,
        answer: str = "",
        *,
        refused: bool = False,
        error: str = "",
        seconds: float = 0.0,
    ) -> None:
        expected = step.expected
        assert expected is not None
        error = error or next(iter(self._broken_state.values()), "")
        if refused and (expected.negated or not expected.is_met_by(answer)):
            error = error or f"rejected: {answer}"
        good = not error and expected.is_met_by(answer)
        if expected.ignored:
            outcome = RegressionOutcome.IGNORED
        elif expected.known_to_fail:
            outcome = (RegressionOutcome.KNOWN_FAILURE, RegressionOutcome.UNEXPECTED_PASS)[good]
        else:
            outcome = (RegressionOutcome.FAILED, RegressionOutcome.PASSED)[good]
        name = self._file.path.name
        self.results.append(RegressionResult(name, step, outcome, answer, error, seconds))
        self._count()

    def _located(self, command: str) -> str:
        command_name, _, rest = command.partition(" ")
        if command_name == "loadsgf" and rest.strip():
            argument = rest.strip()
            first, _, number = argument.rpartition(" ")
            for name, suffix in ((argument, ""), (first, f" {number}")):
                path = self._file.path.parent / name
                if name and path.is_file():
                    return f"{command_name} {path.absolute()}{suffix}"
        return command
