"""Tunes an engine's spin options by games of the engine against itself."""

import asyncio
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from protocols.client.process import EngineError
from protocols.client.uci import Option
from tournament.adjudication import Adjudicator
from tournament.game import Assignment, play_game
from tournament.openings import choose, load
from tournament.player import Player, Pool, UciPlayer
from tournament.schedule import PairKey
from tournament.settings import EngineSettings, Settings
from tournament.spsa import Spsa, Trial, Tunable
from tournament.values import SettingsError

STEPS = 20  # a range has so many steps, where no step is given
MOST_FAILURES = 10  # pairs without a result, one after the other

Report = Callable[[Spsa], None]


async def declared(engine: EngineSettings) -> Mapping[str, Option]:
    """Start an engine and return its options by their lower-case names."""
    player = UciPlayer(engine, chess960=False, log=None)
    try:
        await player.start()
        return dict(player.options)
    except EngineError as error:
        raise SettingsError(f"engine {engine.name}: {error}") from None
    finally:
        await player.close()


def tunables(options: Mapping[str, Option], wanted: Sequence[str]) -> list[Tunable]:
    """Return what to tune: each of `wanted` is NAME or NAME=STEP.

    Raises SettingsError for a name that is no spin option.
    """
    found = []
    for text in wanted:
        name, _, step = text.partition("=")
        option = options.get(name.lower())
        if option is None or option.kind != "spin" or option.low is None or option.high is None:
            known = ", ".join(sorted(o.name for o in options.values() if o.kind == "spin"))
            raise SettingsError(f"{name} is not a spin option of the engine; it has {known}")
        if step and not re.fullmatch(r"\d+(\.\d+)?", step):
            raise SettingsError(f"{text}: write NAME or NAME=STEP, the step a number")
        spread = float(step) if step else max((option.high - option.low) / STEPS, 0.5)
        found.append(Tunable(option.name, float(option.default), option.low, option.high, spread))
    return found


async def tune(
    settings: Settings, spsa: Spsa, *, boards: int = 1, state: Path | None = None, report: Report
) -> None:
    """Play pairs of games until all trials are told; `state` keeps what was learned.

    settings: two engines, which are the same program. Raises SettingsError if games fail.
    """
    runs = [_Board(settings, spsa, board, state, report) for board in range(1, boards + 1)]
    tasks = [asyncio.create_task(run.play()) for run in runs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Board:
    """One place where pairs are played, with two players of its own."""

    def __init__(
        self, settings: Settings, spsa: Spsa, number: int, state: Path | None, report: Report
    ) -> None:
        self._settings = settings
        self._spsa = spsa
        self._number = number
        self._state = state
        self._report = report
        self._failures = 0

    async def play(self) -> None:
        """Play trials as long as there are any."""
        openings = load(self._settings.openings, chess960=False)
        adjudicator = Adjudicator(self._settings.adjudication)
        pool = Pool(self._settings, _make_player, idle=2, report=lambda text: None)
        try:
            while self._spsa.asked < self._spsa.trials:
                trial = self._spsa.ask()
                opening = choose(openings, self._settings, 1, self._spsa.asked)
                key = PairKey(1, self._spsa.asked, 0, 1)
                await self._configure(pool, trial)
                balance = 0.0
                for number in (1, 2):
                    game = await play_game(
                        self._settings,
                        Assignment(key, number, opening, self._number),
                        pool,
                        adjudicator,
                        lambda event: None,
                    )
                    balance += self._balance(game.white_score, number, game.detail)
                self._spsa.tell(trial, balance)
                if self._state is not None:
                    self._spsa.save(self._state)
                self._report(self._spsa)
        finally:
            await asyncio.shield(pool.close())
            adjudicator.close()

    async def _configure(self, pool: Pool, trial: Trial) -> None:
        for index, values in enumerate((trial.plus, trial.minus)):
            try:
                player = await pool.take(index)
            except EngineError as error:
                raise SettingsError(f"{self._settings.engines[index].name}: {error}") from None
            assert isinstance(player, UciPlayer)
            await player.configure(values)
            await pool.give(index, player)

    def _balance(self, white_score: float | None, number: int, detail: str) -> float:
        if white_score is None:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise SettingsError(f"games end without a result: {detail}")
            return 0.0
        self._failures = 0
        return (2 * white_score - 1) * (1 if number == 1 else -1)


def _make_player(engine: EngineSettings) -> Player:
    return UciPlayer(engine, chess960=False, log=None)


def against_itself(engine: EngineSettings) -> tuple[EngineSettings, EngineSettings]:
    """Return the two players of a tuning."""
    return (
        dataclasses.replace(engine, name="plus"),
        dataclasses.replace(engine, name="minus"),
    )
