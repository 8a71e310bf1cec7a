"""The pool that lends contestants to games and takes them back."""

import asyncio
from collections.abc import Callable, Sequence

from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError, EngineNotFoundError
from tournament.contestants import Contestant
from tournament.engine_protocols import kind_of
from tournament.engine_settings import EngineSettings, Restart
from tournament.values import SettingsError

MakeContestant = Callable[[EngineSettings], Contestant]


class ContestantPool:
    """Players between games. One that failed is closed, and a fresh one takes its place."""

    def __init__(
        self,
        engines: Sequence[EngineSettings],
        make: MakeContestant,
        *,
        idle: int,
        report: Callable[[str], None],
    ) -> None:
        """Keep at most `idle` unused players. report: is told what befell one between games."""
        self._report = report
        self._engines = engines
        self._make = make
        self._most_idle = idle
        self._idle: list[tuple[int, Contestant]] = []
        self._lent: set[Contestant] = set()

    async def take(self, index: int) -> Contestant:
        """Lend a player of one engine, ready for a new game; EngineError if none gets ready."""
        while (kept := self._take_idle(index)) is not None:
            try:
                await kept.new_game()
                return kept
            except EngineError as error:
                self._report(f"{self._engines[index].name}, between games: {error}")
                await self.discard(kept)
        player = self._make(self._engines[index])
        self._lent.add(player)
        try:
            await player.start()
            await player.new_game()
        except EngineError:
            await self.discard(player)
            raise
        return player

    def _take_idle(self, index: int) -> Contestant | None:
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == index:
                player = self._idle.pop(place)[1]
                self._lent.add(player)
                return player
        return None

    async def give(self, index: int, player: Contestant) -> None:
        """Take a player back for later games, unless it is restarted before each."""
        if self._engines[index].restart is Restart.ON:
            await self.discard(player)
            return
        self._lent.discard(player)
        self._idle.append((index, player))
        while len(self._idle) > self._most_idle:
            await self._idle.pop(0)[1].close()

    async def discard(self, player: Contestant) -> None:
        """Close a player that failed."""
        await asyncio.shield(player.close())
        self._lent.discard(player)

    async def probe(self, *, all_must_start: bool = True) -> None:
        """Start one player of each engine, and raise SettingsError for what no retry mends.

        all_must_start: so is a program that does not start; a bot may be late in any case.
        """

        async def probe_one(index: int) -> None:
            try:
                await self.give(index, await self.take(index))
            except (EngineOptionError, EngineNotFoundError) as error:
                name = self._engines[index].name
                raise SettingsError(f"engine {name}: {error}") from None
            except EngineError as error:
                settings = self._engines[index]
                if all_must_start and not kind_of(settings).behind_broker:
                    raise SettingsError(
                        f"engine {settings.name} ({settings.command}) does not start, as one "
                        f"that speaks {settings.protocol}: {error}"
                    ) from None

        await asyncio.gather(*(probe_one(i) for i in range(len(self._engines))))

    async def close(self) -> None:
        """Close all players, lent ones too."""
        players = [player for _, player in self._idle] + list(self._lent)
        self._idle.clear()
        self._lent.clear()
        await asyncio.gather(*(player.close() for player in players), return_exceptions=True)
