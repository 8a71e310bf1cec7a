"""Check step by step that an engine follows the UCI protocol, for its author.

`UciClient` plays with any engine. The check instead rejects every deviation that a front end might
not tolerate.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from time import perf_counter

import chess

from kempelen.match.config.engine_settings import EngineSettings
from protocols.client.process import EngineDiedError, EngineProcess
from protocols.client.uci import (
    INFO_FIELDS,
    INFO_NUMBERS,
    Option,
    check_setting,
    parse_option,
    setoption_line,
)

# Timeout in seconds for a best move, beyond the time that the engine has.
ANSWER_LIMIT = 30.0
# A move is late if it arrives more than LATENESS_LIMIT seconds after the engine's time is used up.
# A busy machine may delay a correct engine, so a step fails only if the move is late in each of
# MAX_ATTEMPTS searches, or later than DELAY_LIMIT seconds.
LATENESS_LIMIT = 1.0
DELAY_LIMIT = 10.0
MAX_ATTEMPTS = 5
# Seconds of an infinite search before `stop`.
INFINITE_TIME = 0.3
GAME_PLIES = 40
MAX_DECLARATIONS = 1000
MAX_SHOWN_LENGTH = 120
OPTION_TYPES = {"check", "spin", "combo", "button", "string"}
# The types of the options that UCI defines. Front ends depend on them.
STANDARD_OPTIONS = {
    "hash": "spin",
    "ponder": "check",
    "ownbook": "check",
    "multipv": "spin",
    "uci_analysemode": "check",
    "uci_chess960": "check",
    "uci_limitstrength": "check",
    "uci_elo": "spin",
}

MIDDLE_GAME = "r1bq1rk1/pp3ppp/2n1pn2/3p4/1bPP4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 2 9"
BLACK_TO_MOVE = "3r2k1/5ppp/1p2pn2/2p5/2P5/1P2PN2/5PPP/3R2K1 b - - 1 25"
CHECKMATE = "startpos moves f2f3 e7e5 g2g4 d8h4"
STALEMATE = "fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1"
MATE_IN_ONE = "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
# After the last move of each position, one move is legal. An engine that misreads the special move
# plays another one.
CASTLING = "fen 4rkn1/4p1p1/8/8/8/8/8/4K2R w K - 0 1 moves e1g1"
EN_PASSANT = "fen 8/3p4/6pp/R3P2k/8/6PP/8/4K3 b - - 0 1 moves d7d5 e5d6"
PROMOTION = "fen 8/4Pr2/5kn1/4R3/8/8/8/K7 w - - 0 1 moves e7e8n"
CHESS960_CASTLING = "fen 4rkn1/4p1p1/8/8/8/8/8/RK5R w KQ - 0 1 moves b1h1"


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class StepResult:
    number: int
    description: str
    outcome: Outcome
    detail: str = ""  # why the step failed or was skipped


@dataclass(frozen=True, slots=True)
class ComplianceResult:
    name: str
    author: str
    steps: tuple[StepResult, ...]

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> int:
        return sum(step.outcome is Outcome.FAILED for step in self.steps)


class ViolationError(Exception):
    """The engine violates the protocol. The message says how."""


class SkippedError(Exception):
    """A step does not apply to the engine."""


@dataclass
class _Search:
    """Checks the lines of one search."""

    board: chess.Board
    scored: bool = False
    problem: str = ""
    first_moves: dict[int, str] = field(default_factory=dict)  # by number of the line (multipv)

    def read_info(self, line: str) -> None:
        """Check an `info` line, and keep the first problem."""
        try:
            self._check_info(line.split()[1:])
        except ViolationError as violation:
            self.problem = self.problem or f"{_shown(line)}: {violation}"

    def _check_info(self, words: list[str]) -> None:
        """Raise ViolationError for invalid values. Unknown fields are ignored, as by front ends."""
        number, index = 1, 0
        while index < len(words) and words[index] != "string":
            word, rest = words[index], words[index + 1 :]
            index += 1
            if word in INFO_NUMBERS:
                count = _natural(word, rest)
                index += 1
                number = count if word == "multipv" else number
                if word == "hashfull" and count > 1000:
                    raise ViolationError("hashfull must be at most 1000 (permille)")
            elif word == "score":
                if rest[:1] not in (["cp"], ["mate"]) or not _is_integer(rest[1:2]):
                    raise ViolationError("score must be cp NUMBER or mate NUMBER")
                index += 2
                self.scored = True
            elif word == "currmove":
                self.check_move("".join(rest[:1]), self.board)
                index += 1
            elif word == "pv":
                index += self._check_pv(number, rest)

    def _check_pv(self, number: int, words: Sequence[str]) -> int:
        """Check a principal variation, which ends before the next field. Return its length."""
        board = self.board.copy(stack=False)
        for count, word in enumerate(words):
            if word in INFO_FIELDS:
                return count
            board.push(self.check_move(word, board))
            self.first_moves[number] = words[0]
        return len(words)

    @staticmethod
    def check_move(text: str, board: chess.Board) -> chess.Move:
        """Return a legal move. Raise ViolationError unless it is written as UCI requires."""
        try:
            move = board.parse_uci(text)
        except ValueError:
            raise ViolationError(f"illegal move {text!r} in {board.fen()}") from None
        if not move or board.uci(move) != text:
            raise ViolationError(f"wrong notation {text!r} (expected {board.uci(move)})")
        return move

    def best_move(self, line: str) -> str:
        """Return the move of a `bestmove` line. Raise ViolationError for the first problem."""
        if self.problem:
            raise ViolationError(self.problem)
        words = line.split()
        if len(words) not in (2, 4) or words[2:3] not in ([], ["ponder"]):
            raise ViolationError(f"{_shown(line)}: expected bestmove MOVE [ponder MOVE]")
        if not any(self.board.legal_moves):
            if words[1] not in ("(none)", "0000"):
                raise ViolationError(f"{_shown(line)}: no move is legal (expected bestmove (none))")
            return words[1]
        board = self.board.copy(stack=False)
        try:
            board.push(self.check_move(words[1], board))
            if len(words) == 4:
                self.check_move(words[3], board)
        except ViolationError as violation:
            raise ViolationError(f"{_shown(line)}: {violation}") from None
        if not self.scored:
            raise ViolationError("no info line with a score before bestmove")
        return words[1]


# A function that is called during a search, with the handler of the engine's lines.
SearchCallback = Callable[[Callable[[str], None]], Awaitable[None]]


class _Session:
    """An engine process that has answered `uci`."""

    def __init__(self, settings: EngineSettings, process: EngineProcess) -> None:
        self.settings = settings
        self.process = process
        self.name = ""
        self.author = ""
        self.declarations: list[str] = []
        self.options: dict[str, Option] = {}
        self.chess960 = False

    @classmethod
    async def start(cls, settings: EngineSettings) -> "_Session":
        process = await EngineProcess.start(
            settings.command,
            settings.arguments,
            directory=settings.directory,
            environment=settings.environment,
        )
        session = cls(settings, process)
        try:
            await session._declare()
        except EngineDiedError:
            end = await process.describe_end()
            await process.kill()
            raise ViolationError(f"the engine {end}") from None
        except BaseException:
            await process.kill()
            raise
        return session

    async def _declare(self) -> None:
        self.process.send("uci")
        await self.read_until("uciok", self.settings.start_limit, self._read_declaration)
        self.configure()
        await self.ready(self.settings.start_limit)

    def _read_declaration(self, line: str) -> None:
        words = line.split(maxsplit=2)
        if words[:2] == ["id", "name"] and len(words) == 3:
            self.name = words[2]
        elif words[:2] == ["id", "author"] and len(words) == 3:
            self.author = words[2]
        elif words[:1] == ["option"] and len(self.declarations) < MAX_DECLARATIONS:
            self.declarations.append(line)
            if (option := parse_option(line)) is not None:
                self.options[option.name.lower()] = option

    def configure(self) -> None:
        """Set the options of the user, and turn off the engine's own book."""
        own_book = {"OwnBook": False} if "ownbook" in self.options else {}
        self.set_options({**own_book, **self.settings.options})

    def set_options(self, values: dict[str, str | int | float | bool]) -> None:
        for name, value in values.items():
            option, text = check_setting(self.options, self.name or "engine", name, value)
            self.process.send(setoption_line(option, text))

    async def read_until(
        self, word: str, limit: float, handle: Callable[[str], None] = lambda line: None
    ) -> str:
        """Return the next line that begins with `word`. Call `handle` with the lines before it."""
        try:
            async with asyncio.timeout(limit):
                while (line := await self.process.read_line()).split(maxsplit=1)[:1] != [word]:
                    handle(line)
        except TimeoutError:
            hint = "" if word == "bestmove" else " (is the standard output flushed?)"
            raise ViolationError(f"no {word} within {limit:g} s{hint}") from None
        return line

    async def ready(
        self, limit: float | None = None, handle: Callable[[str], None] | None = None
    ) -> None:
        """Send `isready` and wait for `readyok`. By default, `bestmove` must not come first."""
        self.process.send("isready")
        limit = self.settings.ready_limit if limit is None else limit
        await self.read_until("readyok", limit, handle or _reject_best_move)

    async def search(
        self,
        position: str,
        go: str,
        seconds: float | None = None,
        *,
        then: SearchCallback | None = None,
    ) -> tuple[str, _Search]:
        """Search and return the move.

        `seconds` is the time that the engine has. By default, lateness is not checked. The search
        awaits `then` before this time begins; `then` must reject a move that comes too early.
        """
        late = 0.0
        for _ in range(MAX_ATTEMPTS):
            move, search, elapsed = await self._search_once(position, go, seconds or 0.0, then)
            late = 0.0 if seconds is None else elapsed - seconds
            if late <= LATENESS_LIMIT:
                return move, search
            if late > DELAY_LIMIT:
                raise ViolationError(f"bestmove {late:.1f} s late")
            self.process.send("ucinewgame")  # the next search must not know this one's result
            await self.ready()
        raise ViolationError(f"bestmove {late:.1f} s late (late in all {MAX_ATTEMPTS} attempts)")

    async def _search_once(
        self, position: str, go: str, seconds: float, then: SearchCallback | None
    ) -> tuple[str, _Search, float]:
        """Return the move, the checked search, and the seconds until the move."""
        search = _Search(self._board(position))
        self.process.send(f"position {position}")
        await self.ready()
        self.process.send(go)

        def handle(line: str) -> None:
            if line.startswith("info "):
                search.read_info(line)

        if then is not None:
            await then(handle)
        started = perf_counter()
        line = await self.read_until("bestmove", seconds + ANSWER_LIMIT, handle)
        elapsed = self.process.arrived - started
        move = search.best_move(line)
        await self.ready()  # fails on a second bestmove
        return move, search, elapsed

    def _board(self, position: str) -> chess.Board:
        start, _, moves = position.partition(" moves ")
        fen = chess.STARTING_FEN if start == "startpos" else start.removeprefix("fen ")
        board = chess.Board(fen, chess960=self.chess960)
        for move in moves.split():
            board.push_uci(move)
        return board

    async def expect_end(self) -> None:
        """Wait until the engine has ended normally after `quit`."""
        limit = self.settings.quit_limit
        try:
            async with asyncio.timeout(limit):
                while True:
                    await self.process.read_line()
        except TimeoutError:
            raise ViolationError(f"still running {limit:g} s after quit") from None
        except EngineDiedError:
            end = str(await self.process.describe_end())
        if not end.startswith("ended with status"):
            raise ViolationError(f"after quit, the engine {end}")


Action = Callable[[_Session], Awaitable[None]]


async def _do_nothing(session: _Session) -> None:
    """Check only what starting the engine checks."""


async def _check_identity(session: _Session) -> None:
    names = (("name", session.name), ("author", session.author))
    if missing := [f"id {word}" for word, value in names if not value]:
        raise ViolationError(f"missing {' and '.join(missing)}")


async def _check_options(session: _Session) -> None:
    problems, seen = [], set()
    for line in session.declarations:
        option = parse_option(line)
        problem = "expected option name NAME type TYPE" if option is None else _flaw(option)
        if option is not None and option.name.lower() in seen:
            problem = "declared twice"
        if option is not None:
            seen.add(option.name.lower())
        if problem:
            problems.append(f"{_shown(line)}: {problem}")
    if problems:
        raise ViolationError("; ".join(problems[:3]))


def _flaw(option: Option) -> str:
    """Return what is wrong with the declaration of an option, or ""."""
    standard = STANDARD_OPTIONS.get(option.name.lower(), option.type)
    if option.type not in OPTION_TYPES:
        return f"unknown type (expected one of: {', '.join(sorted(OPTION_TYPES))})"
    if option.type != standard:
        return f"the type must be {standard}"
    if option.type == "check" and option.default not in ("true", "false"):
        return "default must be true or false"
    if option.type == "combo" and option.default not in option.choices:
        return "default must be one of the values after var"
    if option.type == "spin":
        if option.min is None or option.max is None or not _is_integer([option.default]):
            return "default, min and max must be numbers"
        if not option.min <= int(option.default) <= option.max:
            return f"default must be from {option.min} to {option.max}"
    return ""


async def _set_defaults(session: _Session) -> None:
    for option in session.options.values():
        if option.type in ("check", "spin", "combo") and not _flaw(option):
            session.set_options({option.name: option.default})
    session.configure()
    await session.ready()


async def _send_unknown(session: _Session) -> None:
    session.process.send("unknown_command 1 2 3\n\n  \nsetoption name Unknown Option value 1")
    session.process.send("debug on\ndebug off")
    await session.ready()


async def _begin_game(session: _Session) -> None:
    session.process.send("ucinewgame")
    await session.ready()


async def _restrict_moves(session: _Session) -> None:
    move, _ = await session.search("startpos", "go depth 2 searchmoves a2a3 h2h3")
    if move not in ("a2a3", "h2h3"):
        raise ViolationError(f"bestmove {move}: not one of a2a3 and h2h3")


async def _play_game(session: _Session) -> None:
    """Let the engine play against itself."""
    session.process.send("ucinewgame")
    board, position = chess.Board(), "startpos"
    for ply in range(GAME_PLIES):
        if board.is_game_over():
            return
        move, _ = await session.search(position, "go movetime 20", 0.02)
        board.push_uci(move)
        position += f" {move}" if ply else f" moves {move}"


async def _stop_when_idle(session: _Session) -> None:
    session.process.send("stop")
    await session.ready()


async def _search_several_lines(session: _Session) -> None:
    option = _require_option(session, "MultiPV")
    session.set_options({option.name: 3})
    _, search = await session.search(f"fen {MIDDLE_GAME}", "go depth 3")
    session.set_options({option.name: 1})
    moves = [search.first_moves.get(number) for number in (1, 2, 3)]
    if None in moves or len(set(moves)) < 3:
        shown = ", ".join(f"{number}: {move}" for number, move in search.first_moves.items())
        raise ViolationError(f"expected three lines with different moves (got {shown or 'none'})")


async def _castle_in_chess960(session: _Session) -> None:
    option = _require_option(session, "UCI_Chess960")
    session.set_options({option.name: True})
    session.chess960 = True
    await session.search(CHESS960_CASTLING, "go depth 2")
    session.set_options({option.name: False})
    session.chess960 = False


def _ponder(go: str, end: str) -> Action:
    async def act(session: _Session) -> None:
        _require_option(session, "Ponder")

        async def wait(handle: Callable[[str], None]) -> None:
            await _wait_without_answer(session, handle, end)

        await session.search("startpos moves e2e4 e7e5", go, 1, then=wait)

    return act


def _infinite(position: str) -> Action:
    async def act(session: _Session) -> None:
        async def stop(handle: Callable[[str], None]) -> None:
            await _wait_without_answer(session, handle, "stop")

        await session.search(position, "go infinite", 0, then=stop)

    return act


async def _wait_without_answer(session: _Session, handle: Callable[[str], None], end: str) -> None:
    """Let the engine search for a while, ask whether it is ready, and send `end`."""

    def reject(line: str) -> None:
        if line.startswith("bestmove"):
            raise ViolationError(f"{_shown(line)}: sent before {end}")
        handle(line)

    await asyncio.sleep(INFINITE_TIME)
    await session.ready(handle=reject)
    session.process.send(end)


def _search(position: str, go: str, seconds: float | None = None) -> Action:
    """Return a step that searches. `seconds` is the time that the engine has."""

    async def act(session: _Session) -> None:
        await session.search(position, go, seconds)

    return act


async def _quit(session: _Session) -> None:
    session.process.send("quit")
    await session.expect_end()


async def _quit_during_search(session: _Session) -> None:
    session.process.send("position startpos")
    await session.ready()
    session.process.send("go infinite")
    await asyncio.sleep(INFINITE_TIME)
    await _quit(session)


def _require_option(session: _Session, name: str) -> Option:
    option = session.options.get(name.lower())
    if option is None:
        raise SkippedError(f"no option {name}")
    return option


_FULL_CLOCK = "go wtime 1000 btime 1000 winc 100 binc 100"
STEPS: tuple[tuple[str, Action], ...] = (
    ("start, and answer uci with uciok and isready with readyok", _do_nothing),
    ("send id name and id author", _check_identity),
    ("declare valid options", _check_options),
    ("accept the default value of every option", _set_defaults),
    ("ignore unknown commands and options, and empty lines", _send_unknown),
    ("answer isready after ucinewgame", _begin_game),
    ("position startpos, go depth 3", _search("startpos", "go depth 3")),
    ("go nodes 1000", _search("startpos", "go nodes 1000")),
    ("go movetime 100", _search("startpos moves d2d4 d7d5 c2c4", "go movetime 100", 0.1)),
    ("position fen, clocks of both sides", _search(f"fen {MIDDLE_GAME}", _FULL_CLOCK, 1)),
    (
        "clocks in another order, Black to move",
        _search(f"fen {BLACK_TO_MOVE}", "go binc 100 btime 1000 winc 100 wtime 1000", 1),
    ),
    ("clock of White only", _search("startpos", "go wtime 1000", 1)),
    ("clock of Black only", _search("startpos moves e2e4", "go btime 1000", 1)),
    ("movestogo 1", _search("startpos", "go wtime 1000 btime 1000 movestogo 1", 1)),
    ("1 ms on the clock", _search("startpos", "go wtime 1 btime 1", 0)),
    ("searchmoves", _restrict_moves),
    ("castling in position ... moves", _search(CASTLING, "go depth 2")),
    ("en passant in position ... moves", _search(EN_PASSANT, "go depth 2")),
    ("promotion in position ... moves", _search(PROMOTION, "go depth 2")),
    ("checkmate: bestmove (none)", _search(CHECKMATE, "go depth 2")),
    ("stalemate: bestmove (none)", _search(STALEMATE, "go depth 2")),
    ("go infinite, isready and stop: no bestmove before stop", _infinite("startpos")),
    ("go infinite with mate in one: no bestmove before stop", _infinite(MATE_IN_ONE)),
    ("stop without a search: no bestmove", _stop_when_idle),
    ("go ponder and ponderhit", _ponder("go ponder wtime 1000 btime 1000", "ponderhit")),
    ("go ponder and stop", _ponder("go ponder wtime 1000 btime 1000", "stop")),
    ("MultiPV 3", _search_several_lines),
    ("UCI_Chess960", _castle_in_chess960),
    (f"a game of {GAME_PLIES} plies against itself", _play_game),
    ("quit", _quit),
    ("quit during a search", _quit_during_search),
)
# The engine ends in these steps.
LAST_ACTIONS = (_quit, _quit_during_search)


async def check_compliance(
    settings: EngineSettings, report: Callable[[StepResult], None]
) -> ComplianceResult:
    """Run all steps and report each. After a failed step, the engine is restarted.

    If the engine does not start, the other steps are omitted. Raise EngineNotFoundError if the
    program does not exist, and EngineOptionError if it does not have an option of `settings`.
    """
    results: list[StepResult] = []
    session: _Session | None = None
    name = author = ""
    try:
        for number, (description, act) in enumerate(STEPS, start=1):
            outcome, detail = Outcome.PASSED, ""
            try:
                if session is None:
                    session = await _Session.start(settings)
                    name, author = session.name, session.author
                await act(session)
            except SkippedError as reason:
                outcome, detail = Outcome.SKIPPED, str(reason)
            except ViolationError as violation:
                outcome, detail = Outcome.FAILED, str(violation)
            except EngineDiedError:
                assert session is not None
                end = await session.process.describe_end()
                outcome, detail = Outcome.FAILED, f"the engine {end}"
            results.append(StepResult(number, description, outcome, detail))
            report(results[-1])
            if session is None:
                break
            if outcome is Outcome.FAILED or act in LAST_ACTIONS:
                await session.process.kill()
                session = None
    finally:
        if session is not None:
            await session.process.kill()
    return ComplianceResult(name, author, tuple(results))


def _reject_best_move(line: str) -> None:
    if line.split(maxsplit=1)[:1] == ["bestmove"]:
        raise ViolationError(f"{_shown(line)}: sent without a search")


def _shown(line: str) -> str:
    return line if len(line) <= MAX_SHOWN_LENGTH else f"{line[:MAX_SHOWN_LENGTH]}..."


def _is_integer(words: Sequence[str]) -> bool:
    text = words[0] if words else ""
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20


def _natural(name: str, words: Sequence[str]) -> int:
    if not _is_integer(words) or words[0].startswith("-"):
        raise ViolationError(f"{name} must be a number from 0")
    return int(words[0])
