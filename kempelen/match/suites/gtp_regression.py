"""Regression tests of GTP engines: files of commands, some with the answer that is expected.

The format is that of GNU Go's regression suites, which GoGui's and Fuego's share: a file holds GTP
commands, and `#` begins a comment. A command with a number in front is a test if the next line
that begins with `#?` says what is expected:

    loadsgf games/one.sgf 20
    10 reg_genmove black
    #? [D4|E5]

In the brackets is a regular expression that the whole answer has to match, or, after `!`, must
not. `*` behind them says that the test is known to fail, `&` that nothing is expected. Source:
'Regression testing' in the GNU Go documentation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agent.io.files import read_text
from agent.io.read_errors import convert_read_errors
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from protocols.client.engine import EngineOptionError
from protocols.client.gtp import EngineRefusalError, GtpClient
from protocols.client.process import EngineError, EngineNotFoundError

MAX_FILE_SIZE = 16 << 20
# What of a game goes wrong where a command is refused, beside its position, and which commands put
# a game right: what is agreed on outlives a cleared board.
STATE_BROKEN_BY = {
    "boardsize": "size", "rectangular_boardsize": "size", "komi": "komi",
    "kata-set-rules": "rules", "kata-set-rule": "rules",
}  # fmt: skip
STATE_RESTORED_BY = {
    "clear_board": ("position",), "loadsgf": ("position", "size"), "boardsize": ("size",),
    "rectangular_boardsize": ("size",), "komi": ("komi",), "kata-set-rules": ("rules",),
}  # fmt: skip
# What leaves tests with another position than they are of, where it is refused.
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
    """What the answer to a command should be. text: as the file has it, without brackets.

    known_to_fail: it is told, but is no news, if it is not so. ignored: any answer will do.
    """

    text: str
    pattern: re.Pattern[str]
    negated: bool
    known_to_fail: bool = False
    ignored: bool = False

    def is_met_by(self, answer: str) -> bool:
        """Judge an answer; upper and lower case are the same."""
        return bool(self.pattern.fullmatch(" ".join(answer.split()))) != self.negated


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a file, at its line. number: "" if it has none; expected: of a test."""

    line: int
    number: str
    command: str
    expected: Expectation | None = None


@dataclass(frozen=True, slots=True)
class RegressionFile:
    """A file of tests, as it was read."""

    path: Path
    steps: tuple[Step, ...]

    @property
    def tests(self) -> list[Step]:
        """The commands of which something is expected, or only the answer asked for."""
        return [step for step in self.steps if step.expected]


class RegressionOutcome(StrEnum):
    """What became of a test. Only FAILED is worse than it was known to be."""

    PASSED = "passed"
    FAILED = "failed"
    KNOWN_FAILURE = "failed as expected"
    UNEXPECTED_PASS = "passed unexpectedly"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class RegressionResult:
    """A test with its outcome. answer: the engine's; error: why there is none that counts."""

    file: str
    step: Step
    outcome: RegressionOutcome
    answer: str = ""
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RejectedCommand:
    """A command between the tests that the engine refused, in its words."""

    file: str
    step: Step
    words: str


def read_regression_file(path: Path) -> RegressionFile:
    """Return the commands of a file; raises SettingsError, naming the line, for a broken one."""
    with convert_read_errors(path, SettingsError):
        lines = read_text(path, MAX_FILE_SIZE, encoding="utf-8-sig").splitlines()
    steps: list[Step] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if line.startswith("#?"):
            expected = _expectation(line, f"{path}, line {number}")
            last = steps[-1] if steps else None
            if last is None or not last.number or last.expected:
                raise SettingsError(f"{path}, line {number}: no numbered command before it")
            steps[-1] = Step(last.line, last.number, last.command, expected)
        elif command := line.partition("#")[0].strip():
            match = _NUMBERED.fullmatch(command)
            name, command = (match[1], match[2]) if match else ("", command)
            steps.append(Step(number, name, command))
    found = RegressionFile(path, tuple(steps))
    if not found.tests:
        raise SettingsError(f"{path}: no tests in it: numbered commands, then #? [...]")
    return found


def _expectation(line: str, where: str) -> Expectation:
    match = _EXPECTED.fullmatch(line)
    if match is None:
        raise SettingsError(f"{where}: write #? [...], with * or & behind it: {line[:60]!r}")
    text, marks = match.groups()
    negated = text.startswith("!")
    try:
        pattern = re.compile(text.removeprefix("!"), re.IGNORECASE)
    except re.error as error:
        raise SettingsError(f"{where}: no regular expression: {error}") from None
    return Expectation(text, pattern, negated, "*" in marks, "&" in marks)


async def run_regression(
    files: list[RegressionFile],
    engine: EngineSettings,
    patience: float,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[list[RegressionResult], list[RejectedCommand]]:
    """Put files of tests to an engine, which is started for each; return what became of them.

    patience: seconds for an answer. report: is told how many tests are done. Raises SettingsError
    if the engine cannot be started for the first file.
    """
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        report(done)

    runs = [RegressionRun(file, patience, count) for file in files]
    for run in runs:
        await run.run(engine, first=run is runs[0])
    return [each for run in runs for each in run.results], [
        each for run in runs for each in run.rejected
    ]


class RegressionRun:
    """One file put to one process of an engine."""

    def __init__(self, file: RegressionFile, patience: float, count: Callable[[], None]) -> None:
        self.results: list[RegressionResult] = []
        self.rejected: list[RejectedCommand] = []
        self._file = file
        self._patience = patience
        self._count = count
        # Why the game is not the one that the file means, by what of it is another.
        self._broken_state: dict[str, str] = {}

    async def run(self, engine: EngineSettings, *, first: bool) -> None:
        """Give all commands. Where the engine fails, the tests that are left fail with it.

        first: an engine that cannot be started raises SettingsError.
        """
        client = GtpClient(
            engine.command,
            engine.arguments,
            start_limit=engine.start_limit,
            ready_limit=engine.ready_limit,
        )
        failure = ""
        try:
            try:
                await client.start()
            except (EngineError, OSError) as error:
                if first or isinstance(error, EngineNotFoundError | EngineOptionError):
                    message = f"engine {engine.name} does not start: {error}"
                    raise SettingsError(message) from None
                failure = str(error)
            for step in self._file.steps:
                if not failure:
                    failure = await self._run_step(client, step)
                elif step.expected:
                    self._judge(step, error=failure)
        finally:
            await client.close()

    async def _run_step(self, client: GtpClient, step: Step) -> str:
        """Give one command; return how the engine failed, "" if it did not."""
        began = time.perf_counter()
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
                    what = STATE_BROKEN_BY.get(name, "position")
                    self._broken_state[what] = (
                        f"line {step.line}, {step.command}: {error.engine_message}"
                    )
            return ""
        except EngineError as error:
            if step.expected:
                self._judge(step, error=str(error))
            return str(error)
        for what in STATE_RESTORED_BY.get(step.command.split()[0], ()):
            self._broken_state.pop(what, None)
        if step.expected:
            self._judge(step, answer, seconds=time.perf_counter() - began)
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
            error = error or f"refused: {answer}"
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
        """Return a command with the path of its SGF file, which the file says from where it is."""
        word, _, rest = command.partition(" ")
        if word == "loadsgf" and rest.strip():
            whole = rest.strip()
            first, _, number = whole.rpartition(" ")
            for name, more in ((whole, ""), (first, f" {number}")):
                place = self._file.path.parent / name
                if name and place.is_file():
                    return f"{word} {place.absolute()}{more}"
        return command
