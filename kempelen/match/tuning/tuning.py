"""Tune engine parameters by games between two copies of the engine."""

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from agent.go.parts import GO as GO_PART
from agent.go.settings import SETTINGS
from agent.kernel import compilation
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import GO
from kempelen.match.config.settings import Settings
from kempelen.match.engines.engine_pool import EnginePool
from kempelen.match.engines.engine_protocols import (
    MatchContext,
    make_player,
    make_uci_player,
    protocol_spec,
)
from kempelen.match.engines.players import EnginePlayer, UciEngine
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.match_game import GameAssignment, GameVoidError, play_game
from kempelen.match.game.openings import Opening, opening_selector
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.rating.match_statistics import StrengthEstimate, estimate_strength
from kempelen.match.runner import RunStoppedError
from kempelen.match.tuning.spsa import Spsa, Trial, TunableParameter
from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError
from protocols.client.uci import Option
from protocols.cluster.client import ClusterClient, worker_note
from protocols.cluster.errors import ClusterError, SchedulerLostError, WorkersLostError
from protocols.cluster.worker import WorkerTask
from protocols.tasks import cancel_all, retry

DEFAULT_STEP_COUNT = 20  # the default step is the option's range divided by this
# Go settings whose range is at most this are tuned in units of 1/1000, others in units of 1/10.
MAX_FINE_VALUE = 2

Returned = TypeVar("Returned")
Report = Callable[[int], None]
# White's score in each game of a pair.
Scores = list[float]


class TrialSource(Protocol):
    """A source of trials. For each trial, call `ask`, play it, and call `tell`."""

    asked: int
    told: int
    trial_count: int

    def ask(self) -> Trial:
        """Return the next trial."""

    def tell(self, trial: Trial, balance: float) -> None:
        """Report a result. `balance` is the number of wins minus losses with `trial.plus`."""


class VerificationTrials:
    """A source of trials that compare the tuned values with the start values."""

    def __init__(self, spsa: Spsa, trials: int) -> None:
        self.trial_count = trials
        self.asked = self.told = 0
        self.counts = [0] * 5  # pairs by points of the tuned values: 0, 1/2, ..., 2
        start = {tunable.name: round(tunable.start) for tunable in spsa.tunables}
        self._trial = Trial(spsa.values(), start, {})

    def ask(self) -> Trial:
        self.asked += 1
        return self._trial

    def tell(self, trial: Trial, balance: float) -> None:
        """Count a pair by `balance`, the number of wins minus losses of the tuned values."""
        self.told += 1
        self.counts[round(balance) + 2] += 1


async def engine_options(engine: EngineSettings) -> Mapping[str, Option]:
    """Start an engine and return its options by lower-case name. Raise SettingsError on failure."""
    player = make_uci_player(engine)
    try:
        await player.start()
        return dict(player.options)
    except EngineError as error:
        raise SettingsError(f"engine {engine.name}: {error}") from None
    finally:
        await player.close()


def parse_tunables(options: Mapping[str, Option], wanted: Sequence[str]) -> list[TunableParameter]:
    """Return the spin options to tune, each of which is given as NAME or NAME=STEP.

    `options` has lower-case keys. Raise SettingsError if a name does not belong to a spin option.
    """
    tunables = []
    for text in wanted:
        name, _, step = text.partition("=")
        option = options.get(name.lower())
        if option is None or option.type != "spin" or option.min is None or option.max is None:
            known = ", ".join(sorted(o.name for o in options.values() if o.type == "spin"))
            raise SettingsError(f"{name}: unknown spin option (expected one of: {known})")
        _check_step(text, step)
        step_size = (
            float(step) if step else max((option.max - option.min) / DEFAULT_STEP_COUNT, 0.5)
        )
        tunables.append(
            TunableParameter(option.name, float(option.default), option.min, option.max, step_size)
        )
    return tunables


def parse_go_tunables(wanted: Sequence[str]) -> list[TunableParameter]:
    """Return the Go search settings to tune, each of which is given as NAME or NAME=STEP.

    `setting_scale` converts their values to integers. Raise SettingsError if a name is unknown.
    """
    tunables = []
    for text in wanted:
        name, _, step = text.partition("=")
        setting = SETTINGS.get(name)
        if setting is None:
            known = ", ".join(SETTINGS)
            raise SettingsError(f"{name}: unknown Go search setting (expected one of: {known})")
        _check_step(text, step)
        units = setting_scale(name)
        low, high = round(setting.low * units), round(setting.high * units)
        step_size = float(step) * units if step else (high - low) / DEFAULT_STEP_COUNT
        tunables.append(
            TunableParameter(name, round(setting.default * units), low, high, step_size)
        )
    return tunables


def setting_scale(name: str) -> int:
    """Return the factor that converts a Go search setting to an integer for tuning."""
    return 1000 if SETTINGS[name].high <= MAX_FINE_VALUE else 10


def _check_step(text: str, step: str) -> None:
    if step and not re.fullmatch(r"\d+(\.\d+)?", step):
        raise SettingsError(f"{text}: invalid step (expected NAME or NAME=STEP with a number)")


async def tune(
    settings: Settings,
    spsa: Spsa,
    *,
    boards: int = 1,
    state: Path | None = None,
    report: Report,
    cluster: ClusterClient | None = None,
) -> None:
    """Play all trials of `spsa`, and save it to the file `state` after each trial.

    `settings` contains two engines that run the same program. UCI engines get the values as
    options, and other engines get them as `--set` arguments. Without `cluster`, the games are
    played on this machine. Raise SettingsError if an engine rejects the values, and RunStoppedError
    if an engine does not start or the cluster is lost.
    """

    def save() -> None:
        if state is not None:
            spsa.save(state)
        report(spsa.told)

    await _play(settings, spsa, 1, boards, save, cluster)


async def verify(
    settings: Settings,
    spsa: Spsa,
    pairs: int,
    *,
    boards: int = 1,
    report: Report,
    cluster: ClusterClient | None = None,
) -> StrengthEstimate | None:
    """Play `pairs` pairs of games with the tuned values against the start values.

    Return the estimated difference, or None if the values are equal or `pairs` is 0. Raise the same
    errors as `tune`.
    """
    if all(tunable.start == spsa.values()[tunable.name] for tunable in spsa.tunables) or not pairs:
        return None
    played = VerificationTrials(spsa, pairs)
    await _play(settings, played, 2, boards, lambda: report(played.told), cluster)
    return estimate_strength(played.counts)


async def _play(
    settings: Settings,
    trials: TrialSource,
    round_: int,
    boards: int,
    after: Callable[[], None],
    cluster: ClusterClient | None,
) -> None:
    tasks = []
    opening_of = opening_selector(settings)
    for number in range(1, boards + 1):
        executor = (
            LocalTrialExecutor(settings, number, print_error)
            if cluster is None
            else _DaskTrialExecutor(settings, cluster)
        )
        board = _TrialWorker(opening_of, trials, round_, executor, after)
        tasks.append(asyncio.create_task(board.play()))
    try:
        await asyncio.gather(*tasks)
    finally:
        await cancel_all(tasks)


class TrialExecutor(Protocol):
    """Plays the pairs of games for trials, one pair at a time."""

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        """Play a pair of games with the values of a trial, and return White's scores."""

    async def close(self) -> None:
        """Stop the current games and their engines."""


class LocalTrialExecutor:
    """A TrialExecutor that plays on this machine with two engines."""

    def __init__(
        self, settings: Settings, board: int = 0, report: Callable[[str], None] = lambda text: None
    ) -> None:
        """`report` is called with a message if an engine does not start and is started again."""
        self._settings = settings
        self._board = board
        self._report = report
        self._adjudicator = Adjudicator(settings.adjudication)
        self._options: dict[str, Mapping[str, int]] = {}  # by engine name
        self._pool = self._make_pool(settings.engines)
        self._uses_options = all(protocol_spec(engine).speaks_uci for engine in settings.engines)

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        """Play a pair of games.

        Raise SettingsError if an engine rejects the values, and RunStoppedError if an engine does
        not start.
        """
        names = [engine.name for engine in self._settings.engines]
        if self._uses_options:
            self._options = dict(zip(names, (trial.plus, trial.minus), strict=True))
            await self._retry(self._configure)
        else:
            await self._pool.close()
            self._pool = self._make_pool(_with_arguments(self._settings.engines, trial))
        assignments = [GameAssignment(key, number, opening, self._board) for number in (1, 2)]
        return [await self._retry(partial(self._play_game, each)) for each in assignments]

    async def close(self) -> None:
        await asyncio.shield(self._pool.close())
        self._adjudicator.close()

    def _make_pool(self, engines: Sequence[EngineSettings]) -> EnginePool:
        return EnginePool(engines, self._make_player, idle=2, report=lambda text: None)

    def _make_player(self, engine: EngineSettings, board: int) -> EnginePlayer:
        # An engine that is restarted during a trial needs its values, too.
        options = {**engine.options, **self._options.get(engine.name, {})}
        engine = dataclasses.replace(engine, options=options)
        return make_player(engine, MatchContext(self._settings.game))

    async def _configure(self) -> None:
        for index, engine in enumerate(self._settings.engines):
            try:
                await self._configure_engine(index, self._options[engine.name])
            except EngineOptionError as error:
                raise SettingsError(f"engine {engine.name}: {error}") from None

    async def _configure_engine(self, index: int, values: Mapping[str, int]) -> None:
        player = await self._pool.acquire(index)
        try:
            assert isinstance(player, UciEngine)
            await player.configure(values)
        except EngineError:
            await self._pool.discard(player)
            raise
        await self._pool.release(index, player)

    async def _play_game(self, assignment: GameAssignment) -> float:
        game = await play_game(
            self._settings, assignment, self._pool, self._adjudicator, lambda event: None
        )
        assert game.white_score is not None
        return game.white_score

    async def _retry(self, attempt: Callable[[], Awaitable[Returned]]) -> Returned:
        try:
            return await retry(attempt, (EngineError, GameVoidError), self._report)
        except (EngineError, GameVoidError) as error:
            raise RunStoppedError(str(error)) from None


class _DaskTrialExecutor:
    """A TrialExecutor that plays on any free worker in a cluster."""

    def __init__(self, settings: Settings, cluster: ClusterClient) -> None:
        self._settings = settings
        self._cluster = cluster

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        arguments = f"pair {key}", play_trial, self._settings, trial, key, opening
        try:
            scores: Scores = await retry(
                lambda: self._cluster.run(*arguments), WorkersLostError, print_error
            )
        except (SchedulerLostError, WorkersLostError) as error:
            raise RunStoppedError(str(error)) from None
        except RunStoppedError as error:
            raise RunStoppedError(f"{worker_note(error)}{error}") from None
        except (ClusterError, SettingsError) as error:
            raise SettingsError(f"{worker_note(error)}{error}") from None
        return scores

    async def close(self) -> None:
        """Do nothing, because the caller closes the client."""


async def play_trial(
    task: WorkerTask, settings: Settings, trial: Trial, key: PairKey, opening: Opening
) -> Scores:
    if settings.game.name == GO and not compilation.is_cached(GO_PART):
        # Load the kernels first: otherwise the first games use the slower Python search.
        child = compilation.compile_in_child(GO_PART)
        with child:
            await asyncio.to_thread(child.wait)
    players = LocalTrialExecutor(settings)
    try:
        return await players.play(trial, key, opening)
    finally:
        await players.close()


class _TrialWorker:
    """Plays trials from a source, one at a time."""

    def __init__(
        self,
        opening_of: Callable[[int, int], Opening],
        trials: TrialSource,
        round_: int,
        executor: TrialExecutor,
        after: Callable[[], None],
    ) -> None:
        self._opening_of = opening_of
        self._trials = trials
        self._round = round_
        self._executor = executor
        self._after = after

    async def play(self) -> None:
        try:
            while self._trials.asked < self._trials.trial_count:
                trial = self._trials.ask()
                opening = self._opening_of(self._round, self._trials.asked)
                key = PairKey(self._round, self._trials.asked, 0, 1)
                first, second = await self._executor.play(trial, key, opening)
                self._trials.tell(trial, 2 * (first - second))
                self._after()
        finally:
            await self._executor.close()


def _with_arguments(engines: Sequence[EngineSettings], trial: Trial) -> list[EngineSettings]:
    return [
        dataclasses.replace(
            engine,
            arguments=(
                *engine.arguments,
                *(
                    f"--set={name}={value / setting_scale(name):g}"
                    for name, value in values.items()
                ),
            ),
        )
        for engine, values in zip(engines, (trial.plus, trial.minus), strict=True)
    ]


def tuning_players(engine: EngineSettings) -> tuple[EngineSettings, EngineSettings]:
    """Return copies of an engine with the names "plus" and "minus"."""
    return (
        dataclasses.replace(engine, name="plus"),
        dataclasses.replace(engine, name="minus"),
    )
