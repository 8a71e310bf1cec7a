"""Tunes an engine's spin options by games of the engine against itself."""

import asyncio
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agent.go.parts import GO as GO_PART
from agent.go.settings import SETTINGS
from agent.kernel import compilation
from kempelen.console.settings_codec import SettingsError
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
from kempelen.match.engines.players import UciPlayer
from kempelen.match.game.adjudication import Adjudicator
from kempelen.match.game.match_game import Assignment, play_game
from kempelen.match.game.openings import Opening, opening_selector
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.rating.match_statistics import StrengthEstimate, estimate_strength
from kempelen.match.runner import RunStoppedError
from kempelen.match.tuning.spsa import Spsa, Trial, Tunable
from protocols.client.process import EngineError
from protocols.client.uci import Option
from protocols.cluster.client import ClusterClient, worker_note
from protocols.cluster.errors import ClusterError, SchedulerLostError, WorkersLostError
from protocols.cluster.worker import WorkerTask
from protocols.tasks import cancel_all

DEFAULT_STEP_COUNT = 20  # a range has so many steps, where no step is given
MAX_FINE_VALUE = (
    2  # settings of the Go search up to this are tuned in thousandths, others in tenths
)
MAX_FAILURES = 10  # pairs without a result, one after the other

Report = Callable[[int], None]
# Of each game of a pair White's score, None where it has no result, and what befell it.
Scores = list[tuple[float | None, str]]


class TrialSource(Protocol):
    """Trials that are asked for, played and told."""

    asked: int
    told: int
    trial_count: int

    def ask(self) -> Trial:
        """Return the next trial."""

    def tell(self, trial: Trial, balance: float) -> None:
        """Take its result: wins less losses of the side that played with `plus`."""


class VerificationTrials:
    """Trials of the numbers found against those there were."""

    def __init__(self, spsa: Spsa, trials: int) -> None:
        """Prepare so many pairs of games."""
        self.trial_count = trials
        self.asked = self.told = 0
        self.counts = [0] * 5  # pairs by the points of the numbers found, from 0 to 2
        start = {tunable.name: round(tunable.start) for tunable in spsa.tunables}
        self._trial = Trial(spsa.values(), start, {})

    def ask(self) -> Trial:
        """Return the one trial there is."""
        self.asked += 1
        return self._trial

    def tell(self, trial: Trial, balance: float) -> None:
        """Count a pair."""
        self.told += 1
        self.counts[round(balance) + 2] += 1


async def engine_options(engine: EngineSettings) -> Mapping[str, Option]:
    """Start an engine and return its options by their lower-case names."""
    player = make_uci_player(engine)
    try:
        await player.start()
        return dict(player.options)
    except EngineError as error:
        raise SettingsError(f"engine {engine.name}: {error}") from None
    finally:
        await player.close()


def parse_tunables(options: Mapping[str, Option], wanted: Sequence[str]) -> list[Tunable]:
    """Return what to tune: each of `wanted` is NAME or NAME=STEP.

    Raises SettingsError for a name that is no spin option.
    """
    found = []
    for text in wanted:
        name, _, step = text.partition("=")
        option = options.get(name.lower())
        if option is None or option.type != "spin" or option.min is None or option.max is None:
            known = ", ".join(sorted(o.name for o in options.values() if o.type == "spin"))
            raise SettingsError(f"{name} is not a spin option of the engine; it has {known}")
        _check_step(text, step)
        spread = float(step) if step else max((option.max - option.min) / DEFAULT_STEP_COUNT, 0.5)
        found.append(Tunable(option.name, float(option.default), option.min, option.max, spread))
    return found


def parse_go_tunables(wanted: Sequence[str]) -> list[Tunable]:
    """Return which settings of the Go search to tune: each of `wanted` is NAME or NAME=STEP.

    They are tuned as whole numbers of their units. Raises SettingsError for a name that is none.
    """
    found = []
    for text in wanted:
        name, _, step = text.partition("=")
        setting = SETTINGS.get(name)
        if setting is None:
            raise SettingsError(f"{name} is no setting of the Go search; it has {_known()}")
        _check_step(text, step)
        units = setting_scale(name)
        low, high = round(setting.low * units), round(setting.high * units)
        spread = float(step) * units if step else (high - low) / DEFAULT_STEP_COUNT
        found.append(Tunable(name, round(setting.default * units), low, high, spread))
    return found


def setting_scale(name: str) -> int:
    """Return in how many whole numbers a setting of the Go search is tuned for each 1 of it."""
    return 1000 if SETTINGS[name].high <= MAX_FINE_VALUE else 10


def _known() -> str:
    return ", ".join(SETTINGS)


def _check_step(text: str, step: str) -> None:
    if step and not re.fullmatch(r"\d+(\.\d+)?", step):
        raise SettingsError(f"{text}: write NAME or NAME=STEP, the step a number")


async def tune(
    settings: Settings,
    spsa: Spsa,
    *,
    boards: int = 1,
    state: Path | None = None,
    report: Report,
    cluster: ClusterClient | None = None,
) -> None:
    """Play pairs of games until all trials are told; `state` keeps what was learned.

    settings: two engines, which are the same program: one that speaks UCI takes the numbers as
    options, another as arguments (`--set` of `kempelen gtp`). cluster: where the games are played,
    if not on this machine; it is open. Raises SettingsError if games fail, and RunStoppedError if
    the cluster is lost.
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
    """Play the numbers found against those there were, in so many pairs; None if they are equal.

    Raises what `tune` does.
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
    for number in range(1, boards + 1):
        place = (
            LocalTrialExecutor(settings, number)
            if cluster is None
            else _DaskTrialExecutor(settings, cluster)
        )
        board = _TrialWorker(settings, trials, round_, place, after)
        tasks.append(asyncio.create_task(board.play()))
    try:
        await asyncio.gather(*tasks)
    finally:
        await cancel_all(tasks)


class TrialExecutor(Protocol):
    """Where pairs of games are played, one after the other."""

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        """Play a pair with the numbers of a trial."""

    async def close(self) -> None:
        """End what still runs there."""


class LocalTrialExecutor:
    """Two players on this machine."""

    def __init__(self, settings: Settings, board: int = 0) -> None:
        self._settings = settings
        self._board = board
        self._adjudicator = Adjudicator(settings.adjudication)
        self._pool = self._make_pool(settings.engines)
        self._by_options = all(protocol_spec(engine).speaks_uci for engine in settings.engines)

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        """Play a pair with the numbers of a trial. Raises SettingsError if no player starts."""
        if self._by_options:
            await self._configure(trial)
        else:
            await self._pool.close()
            self._pool = self._make_pool(_with_arguments(self._settings.engines, trial))
        games = [
            await play_game(
                self._settings,
                Assignment(key, number, opening, self._board),
                self._pool,
                self._adjudicator,
                lambda event: None,
            )
            for number in (1, 2)
        ]
        return [(game.white_score, game.detail) for game in games]

    async def close(self) -> None:
        """End the players."""
        await asyncio.shield(self._pool.close())
        self._adjudicator.close()

    def _make_pool(self, engines: Sequence[EngineSettings]) -> EnginePool:
        context = MatchContext(self._settings.game)
        return EnginePool(
            engines,
            lambda engine: make_player(engine, context),
            idle=2,
            report=lambda text: None,
        )

    async def _configure(self, trial: Trial) -> None:
        for index, values in enumerate((trial.plus, trial.minus)):
            try:
                player = await self._pool.acquire(index)
                assert isinstance(player, UciPlayer)
                await player.configure(values)
            except EngineError as error:
                raise SettingsError(f"{self._settings.engines[index].name}: {error}") from None
            await self._pool.release(index, player)


class _DaskTrialExecutor:
    """Players on whichever worker of a cluster is free."""

    def __init__(self, settings: Settings, cluster: ClusterClient) -> None:
        self._settings = settings
        self._cluster = cluster

    async def play(self, trial: Trial, key: PairKey, opening: Opening) -> Scores:
        name = f"pair {key}"
        try:
            scores: Scores = await self._cluster.run(
                name, play_trial, self._settings, trial, key, opening
            )
        except WorkersLostError as error:
            return [(None, str(error))] * 2
        except SchedulerLostError as error:
            raise RunStoppedError(str(error)) from None
        except (ClusterError, SettingsError) as error:
            raise SettingsError(f"{worker_note(error)}{error}") from None
        return scores

    async def close(self) -> None:
        """Leave it to whoever has opened the cluster."""


async def play_trial(
    errand: WorkerTask, settings: Settings, trial: Trial, key: PairKey, opening: Opening
) -> Scores:
    """Play a pair of games on a worker."""
    if settings.game.name == GO and not compilation.is_cached(GO_PART):
        # Else the first games would be those of the plain search.
        child = compilation.compile_in_child(GO_PART)
        with child:
            await asyncio.to_thread(child.wait)
    players = LocalTrialExecutor(settings)
    try:
        return await players.play(trial, key, opening)
    finally:
        await players.close()


class _TrialWorker:
    """Trials that are played one after the other."""

    def __init__(
        self,
        settings: Settings,
        trials: TrialSource,
        round_: int,
        place: TrialExecutor,
        after: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._trials = trials
        self._round = round_
        self._place = place
        self._after = after
        self._failures = 0

    async def play(self) -> None:
        """Play trials as long as there are any."""
        opening_of = opening_selector(self._settings)
        try:
            while self._trials.asked < self._trials.trial_count:
                trial = self._trials.ask()
                opening = opening_of(self._round, self._trials.asked)
                key = PairKey(self._round, self._trials.asked, 0, 1)
                scores = await self._place.play(trial, key, opening)
                balance = sum(
                    self._balance(score, number, detail)
                    for number, (score, detail) in enumerate(scores, 1)
                )
                self._trials.tell(trial, balance)
                self._after()
        finally:
            await self._place.close()

    def _balance(self, white_score: float | None, number: int, detail: str) -> float:
        if white_score is None:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                raise SettingsError(f"games end without a result: {detail}")
            return 0.0
        self._failures = 0
        return (2 * white_score - 1) * (1 if number == 1 else -1)


def _with_arguments(engines: Sequence[EngineSettings], trial: Trial) -> list[EngineSettings]:
    """Return both players, started with the numbers of a trial."""
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
    """Return the two players of a tuning."""
    return (
        dataclasses.replace(engine, name="plus"),
        dataclasses.replace(engine, name="minus"),
    )
