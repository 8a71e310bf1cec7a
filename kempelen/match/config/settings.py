"""Tournament settings, which are stored in the ledger (SQLite) and compared on resume.

Options that may change between runs are in `run`, or, such as concurrency and output files, not
included. Times are in seconds.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent.games.variants import STANDARD, STANDARD_RULES, ChessRules, parse_variant
from agent.io.sanitize import sanitize_name
from kempelen.console.settings_codec import SettingsError, decode, differences, encode
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import CHESS, GameSettings
from kempelen.match.config.run_settings import RunSettings
from kempelen.match.config.time_control import TOLERANCE_KEYS, TimeControl, parse_clock
from kempelen.match.engines.engine_protocols import check_game_supported, protocol_spec
from kempelen.match.pairing.formats import Format
from kempelen.match.pairing.pairs import TournamentSize

# Maximum number of games in a tournament: all of them are scheduled before the first is played.
MAX_GAMES = 1_000_000
# Maximum absolute Elo of an SPRT hypothesis, for which the likelihoods are within floats' range.
MAX_ELO = 4000


# Players that do not end a search without limits.
NEEDS_LIMIT = (EngineProtocol.AGENT, EngineProtocol.LAB, EngineProtocol.MQTT)


class OpeningOrder(StrEnum):
    RANDOM = "random"
    SEQUENTIAL = "sequential"


class SprtModel(StrEnum):
    """The Elo scale of the SPRT hypotheses."""

    NORMALIZED = "normalized"
    LOGISTIC = "logistic"


def _require_min(where: str, **values: tuple[int | None, int]) -> None:
    for name, (value, minimum) in values.items():
        if value is not None and value < minimum:
            raise SettingsError(f"{where}: {name} must be at least {minimum} (got {value})")


@dataclass(frozen=True, slots=True)
class DrawRule:
    """Adjudicate a draw when all scores stay within `score` centipawns of 0.

    This must hold for the last `movecount` moves of both sides, since the last capture or pawn
    move, and after move number `movenumber` of the position. A mate score is never within `score`.
    """

    movenumber: int = 40
    movecount: int = 8
    score: int = 10

    def __post_init__(self) -> None:
        _require_min("draw", movenumber=(self.movenumber, 0), movecount=(self.movecount, 1))
        _require_min("draw", score=(self.score, 0))


@dataclass(frozen=True, slots=True)
class ResignRule:
    """Adjudicate a loss when the last `movecount` scores of a side are at most -`score` centipawns.

    If `twosided` is true, the scores of the opponent must also be at least `score`.
    """

    movecount: int = 3
    score: int = 600
    twosided: bool = False

    def __post_init__(self) -> None:
        _require_min("resign", movecount=(self.movecount, 1), score=(self.score, 1))


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The rules that end a game early.

    A game is a draw after `maxmoves` full moves, which are counted from the start position.
    `tables` is a list of folders with Syzygy tablebases, separated as in PATH.
    """

    draw: DrawRule | None = None
    resign: ResignRule | None = None
    maxmoves: int | None = None
    tables: str | None = None

    def __post_init__(self) -> None:
        _require_min("adjudication", maxmoves=(self.maxmoves, 1))


@dataclass(frozen=True, slots=True)
class OpeningSettings:
    """The source of the openings, which are cut to `plies` plies.

    `start` is the number of the first opening in the order, from 1.

    For chess, `file` is an EPD, FEN, PGN or YAML file, and None selects the built-in set. For other
    games, it is a text file with one move sequence per line, and None selects `plies` random moves.
    """

    file: str | None = None
    order: OpeningOrder = OpeningOrder.RANDOM
    plies: int | None = None
    digest: str = ""
    start: int = 1

    def __post_init__(self) -> None:
        _require_min("openings", plies=(self.plies, 0), start=(self.start, 1))


@dataclass(frozen=True, slots=True)
class SprtSettings:
    """A sequential probability ratio test (SPRT) of `elo0` against `elo1`.

    `alpha` and `beta` are the probabilities of errors of types I and II.
    """

    elo0: float = 0.0
    elo1: float = 2.0
    alpha: float = 0.05
    beta: float = 0.05
    model: SprtModel = SprtModel.NORMALIZED

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise SettingsError("sprt: elo0 must be less than elo1")
        if not all(abs(elo) <= MAX_ELO for elo in (self.elo0, self.elo1)):
            raise SettingsError(f"sprt: elo0 and elo1 must be between -{MAX_ELO} and {MAX_ELO}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise SettingsError("sprt: alpha and beta must be between 0 and 0.5")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a tournament.

    `games` is the number of games per pairing and round. `time` is the default time control of the
    engines. `evaluations` and `books` map engine names to digests of their files.

    With `noswap`, the first engine of a pairing is always White, and each game has its own opening.
    With `reverse`, the second engine is White in the first game. In a gauntlet, the first `seeds`
    engines play against all others. `variant` is one of VARIANTS, or an alias of one.
    """

    engines: tuple[EngineSettings, ...]
    time: TimeControl | None = None
    name: str = "match"
    format: Format = Format.ROUND_ROBIN
    games: int = 2
    rounds: int = 1
    seed: int = 0
    chess960: bool = False
    variant: str = STANDARD
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: SprtSettings | None = None
    game: GameSettings = field(default_factory=GameSettings)
    evaluations: Mapping[str, str] = field(default_factory=dict)
    books: Mapping[str, str] = field(default_factory=dict)
    noswap: bool = False
    reverse: bool = False
    seeds: int = 1
    run: RunSettings = field(default_factory=RunSettings)

    @property
    def is_chess(self) -> bool:
        return self.game.name == CHESS

    @property
    def rules(self) -> ChessRules:
        return ChessRules(self.variant, self.chess960)

    @property
    def tournament_size(self) -> TournamentSize:
        return TournamentSize(
            len(self.engines), self.rounds, self.games, not self.noswap, self.reverse, self.seeds
        )

    @property
    def needs_bots(self) -> bool:
        return any(protocol_spec(engine).uses_broker for engine in self.engines)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "variant", parse_variant(self.variant))
        except ValueError as error:
            raise SettingsError(str(error)) from None
        if len(self.engines) < 2:
            raise SettingsError("engines: at least two are required")
        if self.games < 1 or self.rounds < 1:
            raise SettingsError("games and rounds must be at least 1")
        if self.format.rules.match_count(self.tournament_size) * self.games > MAX_GAMES:
            raise SettingsError(f"games and rounds: must give at most {MAX_GAMES} games in total")
        if self.sprt and (len(self.engines) != 2 or not self.format.rules.allows_sprt):
            raise SettingsError("sprt: requires exactly two engines and a round robin")
        if self.seeds != 1 and self.format is not Format.GAUNTLET:
            raise SettingsError("seeds: require a gauntlet")
        if not 1 <= self.seeds < len(self.engines):
            raise SettingsError(
                f"seeds: must be from 1 to {len(self.engines) - 1}, so that a seed has an opponent "
                f"(got {self.seeds})"
            )
        if self.sprt and self.noswap:
            raise SettingsError("sprt: requires pairs with swapped colours (without noswap)")
        if (self.noswap or self.reverse) and not self.format.rules.has_fixed_pairings:
            raise SettingsError("noswap and reverse: require a round robin or a gauntlet")
        for engine in self.engines:
            _check_engine(engine, engine.time or self.time, self.game)
            if protocol_spec(engine).start_position_only and self.rules != STANDARD_RULES:
                name = engine.name or engine.command
                raise SettingsError(f"engine {name}: {self.rules} is not supported by its protocol")
        if len({self.time_control(player).hourglass for player in range(len(self.engines))}) > 1:
            raise SettingsError("time: an hourglass requires one for every engine")
        if self.is_chess and self.game.options:
            raise SettingsError("game: chess has no options (use `openings` for start positions)")
        for engine in self.engines if self.run.affinity else ():
            if not protocol_spec(engine).is_process:
                name = engine.name or engine.command
                raise SettingsError(f"affinity: engine {name} must be a separate process")
        if self.run.check_mate_pvs and not self.is_chess:
            raise SettingsError("check_mate_pvs: requires chess")
        is_standard = self.is_chess and self.variant == STANDARD
        if not is_standard and any(engine.book for engine in self.engines):
            raise SettingsError("book: requires chess")
        if self.adjudication.tables and self.variant != STANDARD:
            raise SettingsError("tables: require chess")
        chess_only = (self.adjudication.draw, self.adjudication.resign, self.adjudication.tables)
        if not self.is_chess and (self.rules != STANDARD_RULES or any(chess_only)):
            raise SettingsError(
                f"game {self.game.name}: chess960, variants and adjudication by scores or tables "
                "require chess (maxmoves works in every game)"
            )
        if not (re.fullmatch(r"[^/+#]{1,100}", self.name) and self.name.isprintable()):
            raise SettingsError(
                "name: must have 1 to 100 characters, without / + # and control characters"
            )

    def with_unique_names(self) -> "Settings":
        """Return the settings with unique engine names, such as A and A-2.

        Characters that are invalid in tables, records or MQTT topics are replaced.
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

    @property
    def cpus_per_board(self) -> int:
        """The number of CPUs of a game: the threads of one engine, or of both if one ponders."""
        values = (
            value
            for engine in self.engines
            for name, value in engine.options.items()
            if name.lower() in ("threads", "cores") and str(value).isdecimal()
        )
        engines_at_work = 2 if any(engine.ponder for engine in self.engines) else 1
        return engines_at_work * max(map(int, map(str, values)), default=1)

    def time_control(self, player: int) -> TimeControl:
        control = self.engines[player].time or self.time
        assert control is not None
        return control

    @property
    def time_description(self) -> str:
        if self.time is not None:
            return str(self.time)
        return "; ".join(str(engine.time) for engine in self.engines)


def parse_settings(data: Mapping[str, Any]) -> Settings:
    """Decode tournament settings. Raise SettingsError if they are invalid.

    An engine's own `time` inherits missing values of `margin` and `patience` from the tournament.
    If the engine sets no limits, it also inherits the tournament's limits.
    """
    engines, time = data.get("engines"), _time_entries(data.get("time"))
    if not isinstance(engines, list) or not isinstance(time, Mapping):
        return decode(Settings, data)
    engines = [_inherit_time(engine, time) for engine in engines]
    return decode(Settings, {**data, "engines": engines, "time": time if _limits(time) else None})


def _inherit_time(engine: Any, time: Mapping[str, Any]) -> Any:
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
    """Raise SettingsError unless `asked` equals the saved settings `kept`. Games may be added."""
    kept = dataclasses.replace(kept, run=asked.run)
    changed = differences(encode(kept), encode(asked))
    extendable_settings = asked.format.rules.extendable_settings
    if "games" in extendable_settings and kept.rounds == asked.rounds == 1:
        _allow_increase(changed, "games")
    if "rounds" in extendable_settings:
        _allow_increase(changed, "rounds")
    if changed:
        lines = [
            f"  {name}: {_shown(old)} before, {_shown(new)} now"
            for name, (old, new) in changed.items()
        ]
        raise SettingsError(
            "the ledger has this tournament with different settings:\n"
            + "\n".join(lines)
            + "\nUse the previous settings (the number of games may grow), another --name, "
            "or another --ledger."
        )


def _check_engine(engine: EngineSettings, time: TimeControl | None, game: GameSettings) -> None:
    name, spec = engine.name or engine.command, protocol_spec(engine)
    if time is None:
        raise SettingsError(
            f"engine {name}: missing time control (set `time: 10+0.1` or `time: {{nodes: 1000}}` "
            "for this engine or for all)"
        )
    check_game_supported(engine, game)
    unsupported = [limit for limit in ("nodes", "depth") if limit not in spec.limits]
    if any(getattr(time, limit) for limit in unsupported):
        *others, last = ("tc", "movetime", *sorted(spec.limits))
        raise SettingsError(
            f"engine {name}: {' and '.join(unsupported)} not supported by {spec.name} "
            f"(use {', '.join(others)} or {last})"
        )
    if time.infinite and str(time) == "inf" and engine.protocol in NEEDS_LIMIT:
        raise SettingsError(
            f"engine {name}: tc=inf requires another limit, as {spec.name} would search for ever"
        )
    if time.playouts and "playouts" not in spec.limits:
        raise SettingsError(
            f"engine {name}: playouts require a lab agent (proto=lab) or a bot (proto=mqtt)"
        )


def _allow_increase(changed: dict[str, tuple[object, object]], name: str) -> None:
    old, new = changed.get(name, (0, 0))
    if isinstance(old, int) and isinstance(new, int) and new > old:
        del changed[name]


def _shown(value: object) -> str:
    """Format a setting. An engine is shown by its name."""
    if isinstance(value, dict):
        value = value.get("name") or {key: entry for key, entry in value.items() if entry}
    return repr(value)


def _stem(command: str) -> str:
    return re.split(r"[/\\]", command)[-1].removesuffix(".exe") or command
