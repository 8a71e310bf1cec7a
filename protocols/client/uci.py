"""A client for UCI engines, which does not trust the engine's output.

The client sends `isready` before every search, so a late `bestmove` of an earlier search is
discarded. Unknown lines and invalid numbers are ignored.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf

from agent.games.variants import STANDARD, ChessRules
from agent.io.sanitize import sanitize_name
from agent.limits import Cp, Info, Mate, Score, SideClock
from protocols.client.engine import (
    MAX_COUNT,
    MAX_SCORE,
    EngineClient,
    EngineOptionError,
    EngineState,
    Settings,
    parse_bool,
    unknown_option_message,
)
from protocols.client.own_engine import AUTHORS, is_option_error, is_search_error, own_message
from protocols.client.process import EngineError
from protocols.tasks import cancel_all
from protocols.uci.options import current_name

# Minimum seconds between live reports. Lines in between are not parsed.
INFO_INTERVAL = 0.2
# Maximum number of lines before `readyok` that are checked for errors.
MAX_KEPT_LINES = 100
# Options with longer names are ignored.
MAX_OPTION_NAME_LENGTH = 200
# The move of an engine that resigns, in protocols that support resignation.
RESIGNATION = "resign"
# Fields of `info` lines, which end a principal variation. Some contain one number.
INFO_NUMBERS = frozenset({
    *("depth", "seldepth", "multipv", "nodes", "time", "nps"),
    *("hashfull", "tbhits", "sbhits", "cpuload"),
})  # fmt: skip
INFO_FIELDS = INFO_NUMBERS | {
    *("pv", "score", "string", "wdl", "currmove", "currmovenumber", "currline", "refutation"),
}

VARIANT_OPTION = "UCI_Variant"

InfoCallback = Callable[[Info[str]], None]


def options_for_rules(rules: ChessRules) -> dict[str, str | int | float | bool]:
    """Return the options that make an engine play by the rules, as far as they are not default."""
    options: dict[str, str | int | float | bool] = {}
    if rules.chess960:
        options["UCI_Chess960"] = True
    if rules.variant != STANDARD:
        options[VARIANT_OPTION] = rules.variant
    return options


@dataclass(frozen=True, slots=True)
class Option:
    """An option that the engine has declared."""

    name: str
    type: str
    default: str = ""
    min: int | None = None
    max: int | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: str) -> str:
        """Return the text to send for `value`, or raise `EngineOptionError` if it is invalid."""
        if self.type == "check":
            return "true" if parse_bool(self.name, value) else "false"
        if self.type == "spin":
            self._check_spin(value)
        if self.type == "combo" and value.lower() not in map(str.lower, self.choices):
            choices = ", ".join(self.choices)
            raise EngineOptionError(
                f"option {self.name}: invalid value {value!r} (expected one of: {choices})"
            )
        return value

    def _check_spin(self, value: str) -> None:
        try:
            number = int(value)
        except ValueError:
            raise EngineOptionError(
                f"option {self.name}: invalid value {value!r} (expected an integer)"
            ) from None
        low = self.min if self.min is not None else number
        high = self.max if self.max is not None else number
        if not low <= number <= high:
            raise EngineOptionError(
                f"option {self.name}: invalid value {number} "
                f"(expected a number from {low} to {high})"
            )


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A position and the limits for searching it."""

    fen: str | None  # None: the start position
    moves: Sequence[str] = ()  # UCI notation for chess, the game's notation otherwise
    white: SideClock | None = None  # Either both clocks are set, or none.
    black: SideClock | None = None
    moves_to_go: int | None = None
    movetime: float | None = None  # in seconds
    nodes: int | None = None
    depth: int | None = None
    side: int = 0  # the side to move, 0 for White
    mover: int = 0  # the player to move, 0 for the first player of the game
    movers: Sequence[int] = ()  # the player of each move in `moves`, numbered like `mover`
    playouts: int | None = None  # GTP engines only

    @property
    def has_time_limit(self) -> bool:
        return self.movetime is not None or (self.white is not None and self.black is not None)

    def position_line(self) -> str:
        start = "startpos" if self.fen is None else f"fen {self.fen}"
        return " ".join(("position", start, *(("moves", *self.moves) if self.moves else ())))

    def go_line(self, *, ponder: bool = False) -> str:
        words = ["go", "ponder"] if ponder else ["go"]
        if self.white and self.black:
            words += ["wtime", _milliseconds(self.white.time, 1)]
            words += ["btime", _milliseconds(self.black.time, 1)]
            words += ["winc", _milliseconds(self.white.increment, 0)]
            words += ["binc", _milliseconds(self.black.increment, 0)]
        limits = {"movestogo": self.moves_to_go, "nodes": self.nodes, "depth": self.depth}
        for name, limit in limits.items():
            if limit is not None:
                words += [name, str(limit)]
        if self.movetime is not None:
            words += ["movetime", _milliseconds(self.movetime, 1)]
        if words == ["go"]:
            words.append("infinite")  # the engine ends the search (`tc=inf`)
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class PlayResult:
    """The engine's answer to a search request."""

    move: str  # as the engine wrote it
    ponder: str | None
    info: Info[str] | None  # the last search report
    elapsed: float  # duration of the search in seconds
    pondered: bool = False  # `info` includes the search before the opponent's move

    def __post_init__(self) -> None:
        # A move that the engine sent before the search began took no time.
        object.__setattr__(self, "elapsed", max(0.0, self.elapsed))


@dataclass(eq=False)
class UciClient(EngineClient):
    """A UCI engine. `options` contains its options by lower-case name.

    `defaults` contains the options to set at the start if the engine has them.

    After `ponder`, only `search`, `stop_pondering` and `close` are allowed.
    """

    defaults: Settings = field(default_factory=dict)
    author: str = ""
    options: dict[str, Option] = field(default_factory=dict)
    _pondered: SearchRequest | None = None
    _ponder_task: asyncio.Task[PlayResult] | None = None
    # Of the current search: its start, which is infinite while pondering, and the last live report.
    _started: float = inf
    _reported: float = inf
    _on_info: InfoCallback | None = None

    async def start(self) -> None:
        (await self._launch()).send("uci")
        await self._with_timeout(self.start_limit, "uciok", self._read_declarations())
        await self._ready(self.start_limit)
        self.state = EngineState.IDLE
        known = {
            name: self.defaults[name] for name in self.defaults if name.lower() in self.options
        }
        await self.configure({**known, **self.settings})

    async def configure(self, options: Settings) -> None:
        """Set options by case-insensitive name, or raise `EngineOptionError`."""
        self._expect_idle()
        if not options:
            return
        for name, value in options.items():
            self._send(setoption_line(*check_setting(self.options, self.name, name, value)))
        for line in await self._ready(self.ready_limit):
            if is_option_error(message := own_message(self.author, line)):
                raise EngineOptionError(message)

    async def set_opponent(self, name: str) -> None:
        if "uci_opponent" in self.options:
            await self.configure({"UCI_Opponent": f"none none computer {name}"})

    async def report_result(self, result: str, reason: str, *, forfeit: bool) -> None:
        """Set the option GameResult, an extension of UCI by Kempelen, if the engine has it."""
        # Kempelen accepts it without declaring it. Older versions declare it, under two names.
        option = self.options.get("gameresult") or self.options.get("game result")
        by_forfeit = forfeit and result != "*" and (not option or "1-0 forfeit" in option.choices)
        value = f"{result} forfeit" if by_forfeit else result
        if option is not None:
            await self.configure({option.name: value})
        elif self.author == AUTHORS:
            self._expect_idle()
            self._send(f"setoption name GameResult value {value}")
            await self._ready(self.ready_limit)

    async def new_game(self) -> None:
        self._expect_idle()
        self._send("ucinewgame")
        await self._ready(self.ready_limit)

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> PlayResult:
        """Return the engine's answer, or raise `EngineTimeoutError` after `limit` seconds.

        The engine remains usable after a timeout if it answers `stop`. Raise `EngineError` if the
        engine is Kempelen and reports a failed search.
        """
        task, pondered = self._ponder_task, self._pondered
        if task is not None and pondered is not None:
            if (pondered.fen, tuple(pondered.moves)) == (request.fen, tuple(request.moves)):
                self._ponder_task = None
                async with self._searching(limit, "bestmove"):
                    self._start_clock(on_info)
                    if not task.done():
                        self._send("ponderhit")
                    return replace(await task, pondered=True)
            await self.stop_pondering()
        self._expect_idle()
        await self._ready(self.ready_limit, before=request.position_line() + "\n")
        async with self._searching(limit, "bestmove"):
            self._send(request.go_line())
            self._start_clock(on_info)
            return await self._read_answer()

    def ponder(self, request: SearchRequest) -> None:
        """Search the position after the opponent's expected move, if the engine can ponder.

        The next `search` of that position continues the search.
        """
        self._expect_idle()
        if "ponder" not in self.options:
            return
        self.state = EngineState.SEARCHING
        self._started = self._reported = inf
        self._send(f"{request.position_line()}\n{request.go_line(ponder=True)}")
        self._pondered = request
        self._ponder_task = asyncio.create_task(self._read_answer())

    async def stop_pondering(self) -> None:
        """Discard the result of `ponder`. Raise EngineError if the engine fails."""
        task, self._ponder_task = self._ponder_task, None
        if task is not None:
            if not task.done():
                self._send("stop")
            await self._with_timeout(self.ready_limit, "bestmove", task)

    async def close(self) -> None:
        if self._ponder_task is not None:
            await cancel_all([self._ponder_task])
            self._ponder_task = None
        await super().close()

    def _start_clock(self, on_info: InfoCallback | None) -> None:
        self._started = self._reported = time.perf_counter()
        self._on_info = on_info

    def _interrupt(self) -> None:
        self._send("stop")

    async def _ready(self, limit: float, *, before: str = "") -> list[str]:
        """Wait for `readyok` and return the lines before it."""
        self._send(f"{before}isready")
        return await self._with_timeout(limit, "readyok", self._read_until("readyok"))

    async def _read_until(self, word: str) -> list[str]:
        assert self._process is not None
        lines: deque[str] = deque(maxlen=MAX_KEPT_LINES)
        while (line := await self._process.read_line()) != word:
            lines.append(line)
        return list(lines)

    async def _read_declarations(self) -> None:
        assert self._process is not None
        length = 0
        while (line := await self._process.read_line()) != "uciok":
            words = line.split(maxsplit=2)
            if words[:2] == ["id", "name"] and len(words) == 3:
                self.name = sanitize_name(words[2])
            elif words[:2] == ["id", "author"] and len(words) == 3:
                self.author = sanitize_name(words[2])
            elif words[:1] == ["option"]:
                length += len(line)
                self._require_kept_length(length, "list of options")
                option = parse_option(line)
                if option is not None:
                    self.options[option.name.lower()] = option

    async def _read_answer(self) -> PlayResult:
        assert self._process is not None
        last_scored = ""
        failure = ""
        while True:
            line = await self._process.read_line()
            if not failure and is_search_error(message := own_message(self.author, line)):
                failure = message
            if line.startswith("bestmove"):
                elapsed = max(self._process.arrived - self._started, 0.0)
                words = line.split()
                self.state = EngineState.IDLE
                if failure:
                    raise EngineError(failure)
                return PlayResult(
                    move=words[1] if len(words) > 1 else "",
                    ponder=words[3] if len(words) > 3 and words[2] == "ponder" else None,
                    info=parse_info(last_scored),
                    elapsed=elapsed,
                )
            if line.startswith("info ") and " score " in line and _is_first_pv(line):
                last_scored = line
                if self._on_info and time.perf_counter() - self._reported >= INFO_INTERVAL:
                    self._reported = time.perf_counter()
                    info = parse_info(line)
                    if info is not None:
                        self._on_info(info)


def check_setting(
    options: Mapping[str, Option], engine: str, name: str, value: str | int | float | bool
) -> tuple[Option, str]:
    """Return the option called `name` and `value` as text, or raise `EngineOptionError`.

    `options` has lower-case keys. `engine` is the engine's name, for messages.
    """
    option = options.get(name.lower()) or options.get(current_name(name).lower())
    if option is None:
        available = ", ".join(sorted(option.name for option in options.values()))
        raise EngineOptionError(unknown_option_message(engine, name, available))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.isprintable():
        raise EngineOptionError(
            f"option {option.name}: invalid value {value!r} (expected one printable line)"
        )
    return option, option.check(text)


def setoption_line(option: Option, text: str) -> str:
    value = "" if option.type == "button" else f" value {text or '<empty>'}"
    return f"setoption name {option.name}{value}"


def parse_option(line: str) -> Option | None:
    """Parse an `option` line. Return None if the line is invalid."""
    keywords = {"name", "type", "default", "min", "max", "var"}
    parts: dict[str, list[str]] = {}
    choices: list[str] = []
    current = ""
    for word in line.split()[1:]:
        if word in keywords and not (current == "name" and not parts.get("name")):
            current = word
            parts.setdefault(current, [])
            if word == "var":
                choices.append("")
        elif current == "var":
            choices[-1] = f"{choices[-1]} {word}".strip()
        elif current:
            parts[current].append(word)
    name, option_type = " ".join(parts.get("name", [])), " ".join(parts.get("type", []))
    if not name or not option_type or len(name) > MAX_OPTION_NAME_LENGTH:
        return None
    default = " ".join(parts.get("default", []))
    return Option(
        name=name,
        type=option_type,
        default="" if default == "<empty>" else default,
        min=_number(parts.get("min", [])),
        max=_number(parts.get("max", [])),
        choices=tuple(choices),
    )


def parse_info(line: str) -> Info[str] | None:
    """Parse an `info` line. Return None if the line has no valid score."""
    numbers: dict[str, int] = {}
    score: Score | None = None
    bound = ""
    pv: tuple[str, ...] = ()
    words = line.split()
    index = 1
    while index < len(words):
        word = words[index]
        if word == "pv":
            pv = tuple(takewhile(lambda move: move not in INFO_FIELDS, words[index + 1 :]))
            index += 1 + len(pv)
            continue
        if word == "string":
            break
        if word == "score":
            score = _score(words[index + 1 : index + 3])
            index += 3
        elif word in ("lowerbound", "upperbound"):
            bound = word
            index += 1
        else:
            number = _number(words[index + 1 : index + 2])
            if number is not None and number >= 0:
                numbers[word] = number
                index += 1
            index += 1
    if score is None:
        return None
    return Info(
        depth=numbers.get("depth", 0),
        score=score,
        pv=pv,
        seldepth=numbers.get("seldepth", 0),
        multipv=numbers.get("multipv", 1),
        bound=bound,
        nodes=numbers.get("nodes", 0),
        time=numbers.get("time", 0) / 1000,
        hashfull=numbers.get("hashfull", 0),
        tbhits=numbers.get("tbhits", 0),
    )


def _is_first_pv(line: str) -> bool:
    return " multipv " not in line or " multipv 1 " in line


def _score(words: Sequence[str]) -> Score | None:
    value = _number(words[1:], MAX_SCORE)
    if value is None or words[0] not in ("cp", "mate"):
        return None
    return Cp(value) if words[0] == "cp" else Mate(value)


def _number(words: Sequence[str], maximum: int = MAX_COUNT) -> int | None:
    """Return the first word as an integer, or None if it is invalid or its magnitude too large."""
    try:
        number = int(words[0])
    except (ValueError, IndexError):
        return None
    return number if abs(number) <= maximum else None


def _milliseconds(seconds: float, minimum: int) -> str:
    return str(max(minimum, round(seconds * 1000)))
