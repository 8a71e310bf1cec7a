"""A UCI engine as an object: start, set options, search, close, each within a limit.

The client never trusts what it reads. Before every search the engine must answer `isready`, off
its clock, so that a late or second `bestmove` of an earlier search cannot be taken for the
answer to this one; unknown lines are skipped; numbers that are none are ignored.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.io.sanitize import sanitize_line, sanitize_name
from agent.limits import Cp, Info, Mate, Score, SideClock
from protocols.client.engine import EngineClient, EngineOptionError, EngineState, parse_bool
from protocols.client.own_engine import option_error, search_error
from protocols.client.process import EngineError

# Live reports are for people: more often than this, an engine's lines are not even parsed.
INFO_INTERVAL = 0.2
# Of what an engine says before it is ready, so many lines are looked at.
MAX_KEPT_LINES = 100
# The answer of an engine that gives its game up, where its protocol lets it.
RESIGNATION = "resign"

InfoCallback = Callable[[Info[str]], None]


@dataclass(frozen=True, slots=True)
class Option:
    """One option as the engine declares it."""

    name: str
    type: str
    default: str = ""
    min: int | None = None
    max: int | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: str) -> str:
        """Return the text to send for `value`, or raise EngineOptionError."""
        if self.type == "check":
            return "true" if parse_bool(self.name, value) else "false"
        if self.type == "spin":
            self._check_spin(value)
        if self.type == "combo" and value.lower() not in map(str.lower, self.choices):
            choices = ", ".join(self.choices)
            raise EngineOptionError(f"option {self.name} is one of {choices}, not {value!r}")
        return value

    def _check_spin(self, value: str) -> None:
        try:
            number = int(value)
        except ValueError:
            raise EngineOptionError(
                f"option {self.name} is a whole number, not {value!r}"
            ) from None
        low = self.min if self.min is not None else number
        high = self.max if self.max is not None else number
        if not low <= number <= high:
            raise EngineOptionError(f"option {self.name} goes from {low} to {high}, not {number}")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A position and what may be spent on it. moves: UCI text, from `fen`; None: start position.

    Clocks are given for both sides, in seconds, or not at all. Of games other than chess the
    moves are in their own notation. side: who is to move, 0 for White. mover, movers: by number,
    who is to move and who made each move, 0 for who moves first in the game. playouts: the most
    for a move, of which UCI and xboard's protocol know nothing.
    """

    fen: str | None
    moves: Sequence[str] = ()
    white: SideClock | None = None
    black: SideClock | None = None
    moves_to_go: int | None = None
    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None
    side: int = 0
    mover: int = 0
    movers: Sequence[int] = ()
    playouts: int | None = None

    @property
    def has_time_limit(self) -> bool:
        """Whether a clock or a time for the move runs."""
        return self.movetime is not None or (self.white is not None and self.black is not None)

    def position_line(self) -> str:
        """Return the `position` command."""
        start = "startpos" if self.fen is None else f"fen {self.fen}"
        return " ".join(("position", start, *(("moves", *self.moves) if self.moves else ())))

    def go_line(self) -> str:
        """Return the `go` command."""
        words = ["go"]
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
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class PlayResult:
    """What an engine answered: the move as it wrote it, its last report, the seconds it took."""

    move: str
    ponder: str | None
    info: Info[str] | None
    elapsed: float


@dataclass
class UciClient(EngineClient):
    """One engine that speaks UCI."""

    author: str = ""
    options: dict[str, Option] = field(default_factory=dict)

    async def start(self) -> None:
        """Start the process and wait for `uciok` and `readyok`."""
        (await self._launch()).send("uci")
        await self._with_timeout(self.start_limit, "uciok", self._read_declarations())
        await self._ready(self.start_limit)
        self.state = EngineState.IDLE

    async def configure(self, options: Mapping[str, str | int | float | bool]) -> None:
        """Set options by name (case does not count), checked against their declarations."""
        self._expect_idle()
        for name, value in options.items():
            option = self.options.get(name.lower())
            if option is None:
                known = ", ".join(sorted(o.name for o in self.options.values()))
                raise EngineOptionError(
                    sanitize_line(f"{self.name} has no option {name}; it has: {known}")
                )
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if not text.isprintable():
                raise EngineOptionError(f"option {option.name} is one line, not {value!r}")
            if option.type == "button":
                self._send(f"setoption name {option.name}")
            else:
                text = option.check(text) or "<empty>"
                self._send(f"setoption name {option.name} value {text}")
        said = await self._ready(self.ready_limit)
        if reasons := [reason for line in said if (reason := option_error(self.author, line))]:
            raise EngineOptionError(reasons[0])

    async def new_game(self) -> None:
        """Tell the engine that the next position is of another game."""
        self._expect_idle()
        self._send("ucinewgame")
        await self._ready(self.ready_limit)

    async def search(
        self,
        request: SearchRequest,
        limit: float,
        on_info: InfoCallback | None = None,
    ) -> PlayResult:
        """Search one position; raise EngineTimeoutError when `limit` seconds bring no answer.

        After such a time-out the engine may be used again if it answers `stop`. EngineError where
        it is our own, and its evaluation failed.
        """
        self._expect_idle()
        await self._ready(self.ready_limit, before=request.position_line() + "\n")
        async with self._searching(limit, "bestmove"):
            self._send(request.go_line())
            return await self._read_answer(time.perf_counter(), on_info)

    def _interrupt(self) -> None:
        self._send("stop")

    async def _ready(self, limit: float, *, before: str = "") -> list[str]:
        """Wait until the engine is ready; return what it said before it was."""
        self._send(f"{before}isready")
        return await self._with_timeout(limit, "readyok", self._read_until("readyok"))

    async def _read_until(self, word: str) -> list[str]:
        assert self._process is not None
        said: deque[str] = deque(maxlen=MAX_KEPT_LINES)
        while (line := await self._process.read_line()) != word:
            said.append(line)
        return list(said)

    async def _read_declarations(self) -> None:
        assert self._process is not None
        while (line := await self._process.read_line()) != "uciok":
            words = line.split(maxsplit=2)
            if words[:2] == ["id", "name"] and len(words) == 3:
                self.name = sanitize_name(words[2])
            elif words[:2] == ["id", "author"] and len(words) == 3:
                self.author = sanitize_name(words[2])
            elif words[:1] == ["option"]:
                option = parse_option(line)
                if option is not None:
                    self.options[option.name.lower()] = option

    async def _read_answer(self, started: float, on_info: InfoCallback | None) -> PlayResult:
        assert self._process is not None
        last_scored = ""
        failure: str | None = None
        reported = started
        while True:
            line = await self._process.read_line()
            failure = failure or search_error(self.author, line)
            if line.startswith("bestmove"):
                elapsed = self._process.arrived - started
                words = line.split()
                self.state = EngineState.IDLE
                if failure is not None:
                    raise EngineError(failure)
                return PlayResult(
                    move=words[1] if len(words) > 1 else "",
                    ponder=words[3] if len(words) > 3 and words[2] == "ponder" else None,
                    info=parse_info(last_scored),
                    elapsed=elapsed,
                )
            if line.startswith("info ") and " score " in line and _is_first_pv(line):
                last_scored = line
                if on_info and time.perf_counter() - reported >= INFO_INTERVAL:
                    reported = time.perf_counter()
                    info = parse_info(line)
                    if info is not None:
                        on_info(info)


def parse_option(line: str) -> Option | None:
    """Return the option that an `option` line declares, or None if it declares none."""
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
    name, kind = " ".join(parts.get("name", [])), " ".join(parts.get("type", []))
    if not name or not kind:
        return None
    default = " ".join(parts.get("default", []))
    return Option(
        name=name,
        type=kind,
        default="" if default == "<empty>" else default,
        min=_number(parts.get("min", [])),
        max=_number(parts.get("max", [])),
        choices=tuple(choices),
    )


def parse_info(line: str) -> Info[str] | None:
    """Return what an `info` line with a score says, or None if it holds no usable score."""
    numbers: dict[str, int] = {}
    score: Score | None = None
    bound = ""
    pv: tuple[str, ...] = ()
    words = line.split()
    index = 1
    while index < len(words):
        word = words[index]
        if word == "pv":
            pv = tuple(words[index + 1 :])
            break
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
            if number is not None:
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
    value = _number(words[1:])
    if value is None or words[0] not in ("cp", "mate"):
        return None
    return Cp(value) if words[0] == "cp" else Mate(value)


def _number(words: Sequence[str]) -> int | None:
    try:
        return int(words[0])
    except (ValueError, IndexError):
        return None


def _milliseconds(seconds: float, least: int) -> str:
    return str(max(least, round(seconds * 1000)))
