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

from agent.border.plain_text import plain_name
from tournament.values import SettingsError, decode, differences, encode


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    GAUNTLET = "gauntlet"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


class Restart(StrEnum):
    """When an engine's process is started anew.

    AUTO: after a failure. ON: before every game. OFF: never; a failure ends the run.
    """

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class EngineProtocol(StrEnum):
    """How an engine is reached.

    A program that speaks UCI, xboard's protocol or GTP; our own agent for chess; an agent of the
    lab, any algorithm for any game; a bot over MQTT.
    """

    UCI = "uci"
    XBOARD = "xboard"
    GTP = "gtp"
    LAB = "lab"
    AGENT = "agent"
    MQTT = "mqtt"


# The protocols in which every game can be played.
GAME_PROTOCOLS = (EngineProtocol.GTP, EngineProtocol.LAB)
CHESS = "chess"
# The entries of a time control that are no limits.
TOLERANCES = frozenset({"margin", "patience"})


class Order(StrEnum):
    """In what order openings are used."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"


class SprtModel(StrEnum):
    """The scale of an SPRT's hypotheses."""

    NORMALIZED = "normalized"
    LOGISTIC = "logistic"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What a player may spend: a clock (moves/base+increment), or fixed limits, or both.

    moves: to be made in `base`, after which it is added again; 0 for the whole game.
    margin: how much later than allowed a move may arrive.
    patience: how long a search that has no clock and no movetime may take before it counts as
    hung. playouts: of an agent of the lab that searches by playouts.
    """

    moves: int = 0
    base: float | None = None
    increment: float = 0.0
    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None
    margin: float = 0.02
    patience: float = 60.0
    playouts: int | None = None

    def __post_init__(self) -> None:
        limits = (self.base, self.movetime, self.nodes, self.depth, self.playouts)
        if all(limit is None for limit in limits):
            raise SettingsError("a time control, movetime, nodes, depth or playouts is needed")
        if any(limit is not None and limit <= 0 for limit in limits):
            raise SettingsError("times, nodes, depth and playouts must be greater than 0")
        if min(self.moves, self.increment, self.margin, self.patience) < 0:
            raise SettingsError("moves, increment, margin and patience must not be negative")

    @classmethod
    def from_text(cls, text: str) -> "TimeControl":
        """Parse `moves/base+increment`; base is seconds or minutes:seconds."""
        match = re.fullmatch(r"(?:(\d+)/)?(?:(\d+):)?(\d+(?:\.\d*)?|\.\d+)(?:\+(\d*\.?\d+))?", text)
        if not match:
            raise SettingsError(
                f"time control {text!r}: write moves/base+increment in seconds, "
                "for example 40/60, 10+0.1 or 40/1:30+1"
            )
        moves, minutes, seconds, increment = match.groups()
        base = 60 * int(minutes or 0) + float(seconds)
        return cls(moves=int(moves or 0), base=base, increment=float(increment or 0))

    def __str__(self) -> str:
        parts = []
        if self.base is not None:
            moves = f"{self.moves}/" if self.moves else ""
            increment = f"+{self.increment:g}" if self.increment else ""
            parts.append(f"{moves}{self.base:g}{increment}")
        if self.movetime is not None:
            parts.append(f"{self.movetime:g}/move")
        if self.nodes is not None:
            parts.append(f"{self.nodes} nodes")
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.playouts is not None:
            parts.append(f"{self.playouts} playouts")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """One player and how to start it.

    command: a program, found like a shell finds it; for MQTT the bot's name; for our agent for
    chess "chess"; for an agent of the lab its algorithm. start_limit: seconds to answer `uci` and
    again for the first `isready`; ready_limit: for every other `isready`; quit_limit: to end by
    itself before it is killed.
    time: its own time control, where it differs from the tournament's (see `settings_of`).
    """

    command: str
    name: str = ""
    arguments: tuple[str, ...] = ()
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    protocol: EngineProtocol = EngineProtocol.UCI
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    time: TimeControl | None = None
    restart: Restart = Restart.AUTO
    start_limit: float = 35.0
    ready_limit: float = 15.0
    quit_limit: float = 5.0


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A draw by scores near 0.

    From move `movenumber` on, all scores of the last `movecount` moves of both sides lie within
    `score` centipawns of 0.
    """

    movenumber: int = 40
    movecount: int = 8
    score: int = 10


@dataclass(frozen=True, slots=True)
class ResignRule:
    """A loss for a side whose last `movecount` scores are at or below -`score` centipawns.

    twosided: only when the opponent's last scores agree.
    """

    movecount: int = 3
    score: int = 600
    twosided: bool = False


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When a game is ended before its natural end. maxmoves: full moves, then it is a draw."""

    draw: DrawRule | None = None
    resign: ResignRule | None = None
    maxmoves: int | None = None
    tables: str | None = None


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """Where games begin.

    Chess: from a file, EPD, PGN or YAML, or from the built-in set; plies: at most of its moves.
    Other games: from the lines of moves of a text file, or with so many plies made at random.
    """

    file: str | None = None
    order: Order = Order.RANDOM
    plies: int | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """A sequential test of elo0 against elo1 with error rates alpha and beta."""

    elo0: float = 0.0
    elo1: float = 2.0
    alpha: float = 0.05
    beta: float = 0.05
    model: SprtModel = SprtModel.NORMALIZED

    def __post_init__(self) -> None:
        if self.elo0 >= self.elo1:
            raise SettingsError("elo0 must be less than elo1")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise SettingsError("alpha and beta must lie between 0 and 0.5")


@dataclass(frozen=True, slots=True)
class GameSettings:
    """What is played: chess, or a game of agent.games.catalogue with the options of its class."""

    name: str = CHESS
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> "GameSettings":
        """Take the name alone."""
        return cls(text)

    def __str__(self) -> str:
        return " ".join((self.name, *(f"{name}={value}" for name, value in self.options.items())))


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole tournament. games: of each pairing in each round.

    time: of every engine that has no time control of its own.
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

    @property
    def is_chess(self) -> bool:
        """Whether chess is played."""
        return self.game.name == CHESS

    @property
    def needs_bots(self) -> bool:
        """Whether a player is a bot behind a broker."""
        return any(engine.protocol is EngineProtocol.MQTT for engine in self.engines)

    def __post_init__(self) -> None:
        if len(self.engines) < 2:
            raise SettingsError("at least two engines are needed")
        if self.games < 1 or self.rounds < 1:
            raise SettingsError("games and rounds must be at least 1")
        if self.sprt and (len(self.engines) != 2 or self.format is Format.KNOCKOUT):
            raise SettingsError("sprt compares exactly two engines, in a round robin")
        for engine in self.engines:
            _check_engine(engine, engine.time or self.time, self.game)
            if self.chess960 and engine.protocol in GAME_PROTOCOLS:
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

    def named(self) -> "Settings":
        """Return the settings with every engine named, and equal names told apart: A, A-2.

        The names are plain text: they stand in tables, records and topics.
        """
        wanted = [
            plain_name(engine.name) or plain_name(_stem(engine.command)) or "engine"
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

    def time_of(self, player: int) -> TimeControl:
        """Return the time control of an engine, by its index."""
        control = self.engines[player].time or self.time
        assert control is not None
        return control

    @property
    def time_text(self) -> str:
        """The time control of all engines, or those of each."""
        if self.time is not None:
            return str(self.time)
        return "; ".join(str(engine.time) for engine in self.engines)


def settings_of(data: Mapping[str, Any]) -> Settings:
    """Return the tournament that plain data, written by a user, describe.

    What an engine's `time` does not say of margin and patience is as in the tournament's, and so
    are the limits where it names none. Raises SettingsError.
    """
    engines, time = data.get("engines"), _time_entries(data.get("time"))
    if not isinstance(engines, list) or not isinstance(time, Mapping):
        return decode(Settings, data)
    engines = [_completed(engine, time) for engine in engines]
    return decode(Settings, {**data, "engines": engines, "time": time if _limits(time) else None})


def _completed(engine: Any, time: Mapping[str, Any]) -> Any:
    """Return an engine's entries with what its `time` has from the tournament's."""
    own = _time_entries(engine.get("time")) if isinstance(engine, Mapping) else None
    if not isinstance(own, Mapping):
        return engine
    inherited = time.keys() & TOLERANCES if _limits(own) else time.keys()
    return {**engine, "time": {**{key: time[key] for key in inherited}, **own}}


def _limits(time: Mapping[str, Any]) -> set[str]:
    return time.keys() - TOLERANCES


def _time_entries(time: Any) -> Any:
    return clock_entries(time) if isinstance(time, str) else time


def clock_entries(text: str) -> dict[str, Any]:
    """Return the entries of a TimeControl that `moves/base+increment` stands for."""
    control = TimeControl.from_text(text)
    return {"moves": control.moves, "base": control.base, "increment": control.increment}


def refuse_changes(kept: Settings, asked: Settings) -> None:
    """Raise SettingsError unless `asked` continues `kept`: equal, or asking for more games."""
    changed = differences(encode(kept), encode(asked))
    if asked.format in (Format.ROUND_ROBIN, Format.GAUNTLET) and kept.rounds == asked.rounds == 1:
        _allow_growth(changed, "games")
    if asked.format is not Format.KNOCKOUT:
        _allow_growth(changed, "rounds")
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
    name, protocol = engine.name or engine.command, engine.protocol
    if time is None:
        raise SettingsError(
            f"engine {name}: time: missing; give it one, or one to all, such as `time: 10+0.1` "
            "or `time: {nodes: 1000}`"
        )
    if game.name != CHESS and protocol not in GAME_PROTOCOLS:
        raise SettingsError(
            f"engine {name} plays chess only: {game.name} is played by programs with the protocol "
            "gtp and agents with the protocol lab"
        )
    if protocol is EngineProtocol.XBOARD and time.nodes:
        raise SettingsError(f"engine {name}: xboard has no nodes; use tc, movetime or depth")
    if protocol is EngineProtocol.GTP and (time.nodes or time.depth):
        raise SettingsError(f"engine {name}: GTP has no nodes or depth; use tc or movetime")
    if time.playouts and protocol is not EngineProtocol.LAB:
        raise SettingsError(f"engine {name}: playouts are for agents of the lab (proto=lab)")


def _allow_growth(changed: dict[str, tuple[object, object]], name: str) -> None:
    old, new = changed.get(name, (0, 0))
    if isinstance(old, int) and isinstance(new, int) and new > old:
        del changed[name]


def _stem(command: str) -> str:
    return re.split(r"[/\\]", command)[-1].removesuffix(".exe") or command
