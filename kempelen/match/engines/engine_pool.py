"""The pool that lends contestants to games and takes them back."""

import asyncio
from collections.abc import Callable, Sequence

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings, Restart
from kempelen.match.engines.engine_protocols import protocol_spec
from kempelen.match.engines.players import EnginePlayer
from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError, EngineNotFoundError

PlayerFactory = Callable[[EngineSettings], EnginePlayer]


class EnginePool:
    """Players between games. One that failed is closed, and a fresh one takes its place."""

    def __init__(
        self,
        engines: Sequence[EngineSettings],
        make: PlayerFactory,
        *,
        idle: int,
        report: Callable[[str], None],
    ) -> None:
        """Keep at most `idle` unused players. report: is told what befell one between games."""
        self._report = report
        self._engines = engines
        self._make = make
        self._max_idle = idle
        self._idle: list[tuple[int, EnginePlayer]] = []
        self._in_use: set[EnginePlayer] = set()

    async def acquire(self, index: int) -> EnginePlayer:
        """Lend a player of one engine, ready for a new game; EngineError if none gets ready."""
        while (kept := self._pop_idle(index)) is not None:
            try:
                await kept.new_game()
                return kept
            except EngineError as error:
                self._report(f"{self._engines[index].name}, between games: {error}")
                await self.discard(kept)
        player = self._make(self._engines[index])
        self._in_use.add(player)
        try:
            await player.start()
            await player.new_game()
        except EngineError:
            await self.discard(player)
            raise
        return player

    def _pop_idle(self, index: int) -> EnginePlayer | None:
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == index:
                player = self._idle.pop(place)[1]
                self._in_use.add(player)
                return player
        return None

    async def release(self, index: int, player: EnginePlayer) -> None:
        """Take a player back for later games, unless it is restarted before each."""
        if self._engines[index].restart is Restart.ON:
            await self.discard(player)
            return
        self._in_use.discard(player)
        self._idle.append((index, player))
        while len(self._idle) > self._max_idle:
            await self._idle.pop(0)[1].close()

    async def discard(self, player: EnginePlayer) -> None:
        """Close a player that failed."""
        await asyncio.shield(player.close())
        self._in_use.discard(player)

    async def check_engines(self, *, all_must_start: bool = True) -> None:
        """Start one player of each engine, and raise SettingsError for what no retry mends.

        all_must_start: so is a program that does not start; a bot may be late in any case.
        """

        async def check_engine_start(index: int) -> None:
            try:
                await self.release(index, await self.acquire(index))
            except (EngineOptionError, EngineNotFoundError) as error:
                name = self._engines[index].name
                raise SettingsError(f"engine {name}: {error}") from None
            except EngineError as error:
                settings = self._engines[index]
                if all_must_start and not protocol_spec(settings).uses_broker:
                    raise SettingsError(
                        f"engine {settings.name} ({settings.command}) does not start, as one "
                        f"that speaks {settings.protocol}: {error}"
                    ) from None

        await asyncio.gather(*(check_engine_start(i) for i in range(len(self._engines))))

    async def close(self) -> None:
        """Close all players, lent ones too."""
        players = [player for _, player in self._idle] + list(self._in_use)
        self._idle.clear()
        self._in_use.clear()
        await asyncio.gather(*(player.close() for player in players), return_exceptions=True)
