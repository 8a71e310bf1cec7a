"""What a tournament is: frozen values that the ledger keeps and a resumed run must match.

Times are seconds. How a tournament is run (concurrency, where records go, who watches) is not
here: that may change from one run to the next.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent.io.sanitize import sanitize_name
from kempelen.console.settings_codec import SettingsError, decode, differences, encode
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.game_settings import CHESS, GameSettings
from kempelen.match.config.time_control import TOLERANCE_KEYS, TimeControl, parse_clock
from kempelen.match.engines.engine_protocols import check_game_supported, protocol_spec
from kempelen.match.pairing.formats import Format
from kempelen.match.pairing.pairs import TournamentSize

# Of one tournament: all of them are planned before the first is played.
MAX_GAMES = 1_000_000
# The bounds of a test: beyond, no result of games lies between them.
MAX_ELO = 200


class OpeningOrder(StrEnum):
    """In what order openings are used."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"


class SprtModel(StrEnum):
    """The scale of an SPRT's hypotheses."""

    NORMALIZED = "normalized"
    LOGISTIC = "logistic"


def _require_min(where: str, **values: tuple[int | None, int]) -> None:
    """Raise SettingsError for a value, given with the least it may be, that is less."""
    for name, (value, least) in values.items():
        if value is not None and value < least:
            raise SettingsError(f"{where}: {name} must be at least {least}, not {value}")


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A draw by scores near 0.

    From move `movenumber` on, all scores of the last `movecount` moves of both sides lie within
    `score` centipawns of 0.
    """

    movenumber: int = 40
    movecount: int = 8
    score: int = 10

    def __post_init__(self) -> None:
        _require_min("draw", movenumber=(self.movenumber, 0), movecount=(self.movecount, 1))
        _require_min("draw", score=(self.score, 0))


@dataclass(frozen=True, slots=True)
class ResignRule:
    """A loss for a side whose last `movecount` scores are at or below -`score` centipawns.

    twosided: only when the opponent's last scores agree.
    """

    movecount: int = 3
    score: int = 600
    twosided: bool = False

    def __post_init__(self) -> None:
        _require_min("resign", movecount=(self.movecount, 1), score=(self.score, 1))


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When a game is ended before its natural end. maxmoves: full moves, then it is a draw."""

    draw: DrawRule | None = None
    resign: ResignRule | None = None
    maxmoves: int | None = None
    tables: str | None = None

    def __post_init__(self) -> None:
        _require_min("adjudication", maxmoves=(self.maxmoves, 1))


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """Where games begin.

    Chess: from a file, EPD, FEN, PGN or YAML, or from the built-in set; plies: at most of its
    moves.
    Other games: from the lines of moves of a text file, or with so many plies made at random.
    """

    file: str | None = None
    order: OpeningOrder = OpeningOrder.RANDOM
    plies: int | None = None
    digest: str = ""

    def __post_init__(self) -> None:
        _require_min("openings", plies=(self.plies, 0))


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """A sequential test of elo0 against elo1 with error rates alpha and beta."""

    elo0: float = 0.0
    elo1: float = 2.0
    alpha: float = 0.05
    beta: float = 0.05
    model: SprtModel = SprtModel.NORMALIZED

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise SettingsError("elo0 must be less than elo1")
        if not all(abs(elo) <= MAX_ELO for elo in (self.elo0, self.elo1)):
            raise SettingsError(f"elo0 and elo1 must lie from -{MAX_ELO} to {MAX_ELO}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise SettingsError("alpha and beta must lie between 0 and 0.5")


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole tournament. games: of each pairing in each round.

    time: of every engine that has no time control of its own. evaluations: the digests of the files
    that evaluate for engines, by these engines' names (see `with_file_digests`).
    """

    engines: tuple[EngineSettings, ...]
    time: TimeControl | None = None
    name: str = "match"
    format: Format = Format.ROUND_ROBIN
    games: int = 2
    rounds: int = 1
    seed: int = 0
    chess960: bool = False
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: SprtSettings | None = None
    game: GameSettings = field(default_factory=GameSettings)
    evaluations: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_chess(self) -> bool:
        """Whether chess is played."""
        return self.game.name == CHESS

    @property
    def tournament_size(self) -> TournamentSize:
        """How large the tournament is."""
        return TournamentSize(len(self.engines), self.rounds, self.games)

    @property
    def needs_bots(self) -> bool:
        """Whether a player is a bot behind a broker."""
        return any(protocol_spec(engine).uses_broker for engine in self.engines)

    def __post_init__(self) -> None:
        if len(self.engines) < 2:
            raise SettingsError("at least two engines are needed")
        if self.games < 1 or self.rounds < 1:
            raise SettingsError("games and rounds must be at least 1")
        if self.format.rules.match_count(self.tournament_size) * self.games > MAX_GAMES:
            raise SettingsError(f"games and rounds make more than {MAX_GAMES} games in all")
        if self.sprt and (len(self.engines) != 2 or not self.format.rules.allows_sprt):
            raise SettingsError("sprt compares exactly two engines, in a round robin")
        for engine in self.engines:
            _check_engine(engine, engine.time or self.time, self.game)
            if self.chess960 and protocol_spec(engine).start_position_only:
                raise SettingsError(f"engine {engine.name or engine.command}: it plays no Chess960")
        if self.is_chess and self.game.options:
            raise SettingsError("game: chess has no options; `openings` say where games begin")
        chess_only = (self.adjudication.draw, self.adjudication.resign, self.adjudication.tables)
        if not self.is_chess and (self.chess960 or any(chess_only)):
            raise SettingsError(
                f"game {self.game.name}: chess960, and adjudication by scores or tables, are of "
                "chess; maxmoves is for every game"
            )
        if not (re.fullmatch(r"[^/+#]{1,100}", self.name) and self.name.isprintable()):
            raise SettingsError("name: 1 to 100 characters without / + # and control characters")

    def with_unique_names(self) -> "Settings":
        """Return the settings with every engine named, and equal names told apart: A, A-2.

        The names are plain text: they stand in tables, records and topics.
        """
        wanted = [
            sanitize_name(engine.name) or sanitize_name(_stem(engine.command)) or "engine"
            for engine in self.engines
        ]
        counts: Counter[str] = Counter()
        names: list[str] = []
        for name in wanted:
            counts[name] += 1
            candidate = name if counts[name] == 1 else f"{name}-{counts[name]}"
            while candidate in names or (counts[name] > 1 and candidate in wanted):
                counts[name] += 1
                candidate = f"{name}-{counts[name]}"
            names.append(candidate)
        engines = tuple(
            dataclasses.replace(engine, name=name)
            for engine, name in zip(self.engines, names, strict=True)
        )
        return dataclasses.replace(self, engines=engines)

    def time_control(self, player: int) -> TimeControl:
        """Return the time control of an engine, by its index."""
        control = self.engines[player].time or self.time
        assert control is not None
        return control

    @property
    def time_description(self) -> str:
        """The time control of all engines, or those of each."""
        if self.time is not None:
            return str(self.time)
        return "; ".join(str(engine.time) for engine in self.engines)


def parse_settings(data: Mapping[str, Any]) -> Settings:
    """Return the tournament that plain data, written by a user, describe.

    What an engine's `time` does not say of margin and patience is as in the tournament's, and so
    are the limits where it names none. Raises SettingsError.
    """
    engines, time = data.get("engines"), _time_entries(data.get("time"))
    if not isinstance(engines, list) or not isinstance(time, Mapping):
        return decode(Settings, data)
    engines = [_inherit_time(engine, time) for engine in engines]
    return decode(Settings, {**data, "engines": engines, "time": time if _limits(time) else None})


def _inherit_time(engine: Any, time: Mapping[str, Any]) -> Any:
    """Return an engine's entries with what its `time` has from the tournament's."""
    own = _time_entries(engine.get("time")) if isinstance(engine, Mapping) else None
    if not isinstance(own, Mapping):
        return engine
    inherited = time.keys() & TOLERANCE_KEYS if _limits(own) else time.keys()
    return {**engine, "time": {**{key: time[key] for key in inherited}, **own}}


def _limits(time: Mapping[str, Any]) -> set[str]:
    return time.keys() - TOLERANCE_KEYS


def _time_entries(time: Any) -> Any:
    return parse_clock(time) if isinstance(time, str) else time


def check_resumable(kept: Settings, asked: Settings) -> None:
    """Raise SettingsError unless `asked` continues `kept`: equal, or asking for more games."""
    changed = differences(encode(kept), encode(asked))
    extendable_settings = asked.format.rules.extendable_settings
    if "games" in extendable_settings and kept.rounds == asked.rounds == 1:
        _allow_increase(changed, "games")
    if "rounds" in extendable_settings:
        _allow_increase(changed, "rounds")
    if changed:
        lines = [f"  {name}: {old!r} before, {new!r} now" for name, (old, new) in changed.items()]
        raise SettingsError(
            "the ledger holds this tournament with other settings:\n"
            + "\n".join(lines)
            + "\nUse the settings of before (more games may be asked for), another --name, "
            "or another --ledger."
        )


def _check_engine(engine: EngineSettings, time: TimeControl | None, game: GameSettings) -> None:
    """Raise SettingsError for an engine that cannot play such a game, or with such limits."""
    name, kind = engine.name or engine.command, protocol_spec(engine)
    if time is None:
        raise SettingsError(
            f"engine {name}: time: missing; give it one, or one to all, such as `time: 10+0.1` "
            "or `time: {nodes: 1000}`"
        )
    check_game_supported(engine, game)
    absent = [limit for limit in ("nodes", "depth") if limit not in kind.limits]
    if any(getattr(time, limit) for limit in absent):
        *others, last = ("tc", "movetime", *sorted(kind.limits))
        raise SettingsError(
            f"engine {name}: {kind.name} has no {' or '.join(absent)}; "
            f"use {', '.join(others)} or {last}"
        )
    if time.playouts and "playouts" not in kind.limits:
        raise SettingsError(
            f"engine {name}: playouts are for agents of the lab (proto=lab) and for bots"
        )


def _allow_increase(changed: dict[str, tuple[object, object]], name: str) -> None:
    old, new = changed.get(name, (0, 0))
    if isinstance(old, int) and isinstance(new, int) and new > old:
        del changed[name]


def _stem(command: str) -> str:
    return re.split(r"[/\\]", command)[-1].removesuffix(".exe") or command
