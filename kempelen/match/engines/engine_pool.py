import asyncio
from collections.abc import Callable, Sequence

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings, Restart
from kempelen.match.engines.engine_protocols import protocol_spec
from kempelen.match.engines.players import EnginePlayer
from protocols.client.engine import EngineOptionError
from protocols.client.process import EngineError, EngineNotFoundError

# Creates a player for a board.
PlayerFactory = Callable[[EngineSettings, int], EnginePlayer]


class EnginePool:
    """A pool of running engines, which are reused for many games and replaced after a failure.

    An engine that was started for a board is reused only there. All callers may use board 1.
    """

    def __init__(
        self,
        engines: Sequence[EngineSettings],
        make: PlayerFactory,
        *,
        idle: int,
        report: Callable[[str], None],
    ) -> None:
        """Keep at most `idle` unused engines. Call `report` with errors between games."""
        self._report = report
        self._engines = engines
        self._make = make
        self._max_idle = idle
        self._idle: list[tuple[tuple[int, int], EnginePlayer]] = []
        self._in_use: set[EnginePlayer] = set()

    async def acquire(self, index: int, board: int = 1) -> EnginePlayer:
        """Return an engine that is ready for a new game. Raise EngineError if it does not start."""
        while (idle := self._pop_idle(index, board)) is not None:
            try:
                await idle.new_game()
                return idle
            except EngineError as error:
                self._report(f"engine {self._engines[index].name}, between games: {error}")
                await self.discard(idle)
        player = self._make(self._engines[index], board)
        self._in_use.add(player)
        try:
            await player.start()
            await player.new_game()
        except EngineError:
            await self.discard(player)
            raise
        return player

    def _pop_idle(self, index: int, board: int) -> EnginePlayer | None:
        for i in range(len(self._idle) - 1, -1, -1):
            if self._idle[i][0] == (index, board):
                player = self._idle.pop(i)[1]
                self._in_use.add(player)
                return player
        return None

    async def release(self, index: int, player: EnginePlayer, board: int = 1) -> None:
        """Return an engine to the pool, or close it if it must restart before each game."""
        if self._engines[index].restart is Restart.ON:
            await self.discard(player)
            return
        self._in_use.discard(player)
        self._idle.append(((index, board), player))
        while len(self._idle) > self._max_idle:
            await self._idle.pop(0)[1].close()

    async def discard(self, player: EnginePlayer) -> None:
        await asyncio.shield(player.close())
        self._in_use.discard(player)

    async def check_engines(self, *, all_must_start: bool = True) -> None:
        """Start each engine once. Raise SettingsError for a missing program or an invalid option.

        If `all_must_start` is true, also raise SettingsError if an engine fails to start for any
        other reason. MQTT bots are exempt, because they may come online later.
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
                        f"engine {settings.name}: could not start {settings.command} "
                        f"with protocol {settings.protocol}: {error}"
                    ) from None

        await asyncio.gather(*(check_engine_start(i) for i in range(len(self._engines))))

    async def close(self) -> None:
        """Close all engines, including those in use."""
        players = [player for _, player in self._idle] + list(self._in_use)
        self._idle.clear()
        self._in_use.clear()
        await asyncio.gather(*(player.close() for player in players), return_exceptions=True)
