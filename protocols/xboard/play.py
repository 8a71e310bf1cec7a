"""What goes on between the commands of xboard's protocol: searches, our moves, and their answers.

Whatever a command changes, it halts the search that no longer fits (`halt`) and lets the state of
the game say what is to be done now (`carry_on`): think, ponder, analyse, or nothing. Lines are
read by one thread and searches are answered by another: what they share is changed and what they
say is said under one lock, so that the order of the output tells what was so when.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from agent.limits import Info, Limits, Progress, Result, SideClock
from protocols.allowance import ALONE, Allowance
from protocols.uci.play import ChessPlay
from protocols.uci.position import PAST, read_board
from protocols.xboard.clocks import XboardClock, holds
from protocols.xboard.draws import Agreement, is_claimed, verdict
from protocols.xboard.text import comment, echo, thinking_line, warning

if TYPE_CHECKING:
    import chess

    from agent.chess.engine import Engine
    from agent.threads.task_thread import Job

Replies = Iterator[str]

# So many pings wait for a search; more are answered at once.
MOST_PONGS = 64
# So many things that fail are shown to the user in a game; the rest is in the log.
MOST_WARNINGS = 20


class Mode(Enum):
    """What the engine does with moves that it is told: only takes note, answers, or analyses."""

    FORCE = "force"
    PLAYING = "playing"
    ANALYSING = "analysing"


class Purpose(Enum):
    """What a search is for."""

    MOVE = "move"
    PONDER = "ponder"
    ANALYSIS = "analysis"


@dataclass(slots=True)
class Undertaking:
    """One search that the player was asked for.

    board: the position, which nobody changes. guess: the move of the opponent that led to it, if
    that is expected only, and how it is written. reckoned: the clock that it goes by. wanted:
    whether its answer still counts. began: by `time.monotonic`, on our time. settled: whether all
    that was asked for before it has been done. pongs: what it keeps from being answered.
    """

    purpose: Purpose
    board: chess.Board
    reckoned: SideClock | None
    began: float
    guess: chess.Move | None = None
    guessed: str = ""
    wanted: bool = True
    last: Info[chess.Move] | None = None
    progress: Progress[chess.Move] | None = None
    settled: bool = False
    pongs: list[str] = field(default_factory=list)

    def seconds(self) -> float:
        """Return how long it has taken."""
        return time.monotonic() - self.began


class XboardPlay(ChessPlay):
    """The game of one session, and what is being done about it.

    owes: a move of ours is due. guess: the reply to our last move that is expected. barred: why
    no move can be made, if the position that was set up is none. other_left: what the other side's
    clock is said to show, in seconds.
    """

    def __init__(
        self,
        name: str,
        author: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], Engine] | None = None,
        allowance: Allowance = ALONE,
    ) -> None:
        super().__init__(name, author, send, log_to, make_engine, allowance)
        self.lock = threading.RLock()
        self.mode = Mode.PLAYING
        self.owes = self.paused = self.pondering = self.posting = False
        self.chess960 = False
        self.commenting = True
        self.clock = XboardClock()
        self.depth: int | None = None
        self.excluded: set[chess.Move] = set()
        self.guess: chess.Move | None = None
        self.barred = ""
        self.offered = False
        self.agreement = Agreement()
        self.other_left: float | None = None
        self.current: Undertaking | None = None
        self._asked: deque[Undertaking] = deque()
        self._board: chess.Board | None = None
        self._used = 0.0
        self._moved = False
        self._warned: set[str] = set()

    @property
    def board(self) -> chess.Board:
        """The position with the moves of the game."""
        if self._board is None:
            self._board = read_board(None)
        return self._board

    @property
    def played(self) -> int:
        """How many moves whoever is to move has made in this game."""
        return len(self.board.move_stack) // 2

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: answer what is due, and begin nothing more."""
        with self.lock:
            self.pondering = False
        return super().drain(timeout)

    # What is going on.

    def halt(self) -> None:
        """Give up what is being searched, without an answer; its time stays spent."""
        search, self.current = self.current, None
        if search is not None:
            search.wanted = False
            if search.purpose is Purpose.MOVE:
                self._used += search.seconds()
            self.player.stop()

    def carry_on(self) -> None:
        """Do what the state of the game asks for, unless something is going on."""
        if self.paused or self.barred or self.current is not None:
            return
        if self.mode is Mode.ANALYSING:
            moves = self._chosen_moves()
            if moves or not self.excluded:
                self._search(
                    Purpose.ANALYSIS, self.board, Limits(infinite=True, search_moves=moves)
                )
        elif self.mode is Mode.PLAYING and self.owes:
            self._search(Purpose.MOVE, self.board, self._limits())
        elif self.mode is Mode.PLAYING and self.pondering and self.guess is not None:
            self._ponder(self.guess)

    def between(self, change: Callable[[], None]) -> None:
        """Change how is searched: a move of ours is finished first, other searches begin anew."""
        endless = self.current is not None and self.current.purpose is not Purpose.MOVE
        if endless:
            self.halt()
        try:
            change()
        finally:
            self.carry_on()

    def set_board(self, board: chess.Board) -> None:
        """Go to another position; what was known of the last one is forgotten."""
        self._board = board
        self.forget_position()
        self.agreement.clear()
        self.barred = ""
        self.owes = False

    def forget_position(self) -> None:
        """Forget what holds for one position alone."""
        self.excluded.clear()
        self.guess = None
        self.offered = False

    def begin_move(self) -> None:
        """Owe a move from here."""
        self.owes, self._used = True, 0.0

    def move_on(self, move: chess.Move) -> str | None:
        """Make the opponent's move and answer it; return how the game has ended, if it has."""
        search = self.current
        hit = search if search and search.guess == move and self._fits(search) else None
        if hit is None:
            self.halt()
        self.board.push(move)
        self.forget_position()
        over = verdict(self.board)
        if over:
            self.halt()
            return over
        self.begin_move()
        if hit is None:
            self.carry_on()
        else:
            hit.purpose, hit.guess, hit.guessed = Purpose.MOVE, None, ""
            hit.began = time.monotonic()
            if self.posting and hit.last is not None:  # it may answer before the next iteration
                self._send(thinking_line(hit.last, hit.board, ""))
            self.player.ponderhit()
        return None

    def _fits(self, search: Undertaking) -> bool:
        now = self._limits(ponder=True).clock
        return search.purpose is Purpose.PONDER and holds(search.reckoned, now)

    def _limits(self, ponder: bool = False, played: int | None = None) -> Limits[chess.Move]:
        """Return what a move of ours may take."""
        clock, depth = self.clock, self.depth
        played = self.played if played is None else played
        moves = () if ponder else self._chosen_moves()
        if depth is not None and not clock.told:
            return Limits(depth=depth, ponder=ponder, search_moves=moves)
        movetime = clock.movetime
        self.face(self.other_left)
        return Limits(
            depth=depth,
            movetime=None if movetime is None else max(movetime - self._used, 0.0),
            clock=clock.side_clock(self._used),
            moves_to_go=clock.moves_to_go(played),
            ponder=ponder,
            search_moves=moves,
        )

    def _chosen_moves(self) -> tuple[chess.Move, ...]:
        if not self.excluded:
            return ()
        return tuple(move for move in self.board.legal_moves if move not in self.excluded)

    def _ponder(self, guess: chess.Move) -> None:
        board = self.board.copy(stack=PAST)
        text = board.xboard(guess)
        board.push(guess)
        if verdict(board) is None:
            self._used = 0.0
            limits = self._limits(ponder=True, played=(len(self.board.move_stack) + 1) // 2)
            self._search(Purpose.PONDER, board, limits, guess, text)

    def _search(
        self,
        purpose: Purpose,
        board: chess.Board,
        limits: Limits[chess.Move],
        guess: chess.Move | None = None,
        guessed: str = "",
    ) -> None:
        board = board.copy(stack=PAST)
        search = Undertaking(purpose, board, limits.clock, time.monotonic(), guess, guessed)
        self.current = search
        self._asked.append(search)
        self.player.do(lambda job: self._settle(search))
        self.player.go(board, limits, self.lines)

    # Pings: their answers tell that all before them has been done.

    def answer_ping(self, number: str) -> Replies:
        """Answer a ping when all that was asked before it has been done.

        While a move of ours is due that is after the move. A search that goes on by itself,
        pondering or analysing, is no reason to wait: the answer comes as soon as all before that
        search is done. Before our first move it comes when the engine is ready to play.
        """
        pong = f"pong {echo(number)}"
        search = self.current
        if self.crowded or (search is not None and len(search.pongs) >= MOST_PONGS):
            yield pong
        elif search is None:
            ready = self._moved
            self.player.do(lambda job: self._pong_when_ready(job, pong, ready))
        elif search.purpose is Purpose.MOVE or not search.settled:
            search.pongs.append(pong)
        else:
            yield pong

    def _pong_when_ready(self, job: Job, pong: str, ready: bool) -> None:
        try:
            if not ready:
                self.prepare(job)
        finally:
            self._send(pong)

    def _settle(self, search: Undertaking) -> None:
        """Take note that all that was asked for before a search has been done."""
        with self.lock:
            search.settled = True
            if search.purpose is not Purpose.MOVE:
                self._answer_pings(search)

    def _answer_pings(self, search: Undertaking) -> None:
        for pong in search.pongs:
            self._send(pong)
        search.pongs.clear()

    # What the player, the engine and the book tell.

    def info(self, info: Info[chess.Move]) -> None:
        """Report a line of play, if that is wanted."""
        with self.lock:
            search = self._asked[0]
            if not (search.wanted and info.pv):
                return
            if info.multipv == 1:
                search.last = info
            if self.posting or search.purpose is Purpose.ANALYSIS:
                self._send(thinking_line(info, search.board, search.guessed))

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Take note of where a long search stands, for whoever asks."""
        with self.lock:
            self._asked[0].progress = progress

    def error(self, message: str) -> None:
        """Show the user what failed, once in a game."""
        with self.lock:
            if message in self._warned or len(self._warned) >= MOST_WARNINGS:
                self.note(message)
            else:
                self._warned.add(message)
                self._send(warning(self.permissions.hide(message)))

    def note(self, message: str) -> None:
        """Write what else is good to know into the front end's log."""
        if self.commenting:
            self._send(comment(self.permissions.hide(message)))

    def result(self, result: Result[chess.Move]) -> None:
        """Make our move, unless the search was given up."""
        with self.lock:
            search = self._asked.popleft()
            if search.wanted:
                self.current = None
                if search.purpose is Purpose.MOVE:
                    self._make_move(search, result)
            elif search.purpose is Purpose.MOVE:
                self.experience.withdraw(search.board)
            self._answer_pings(search)
            if search.wanted and search.purpose is Purpose.MOVE:
                self.opponent.answered(result)
                self.carry_on()
        self.experience.flush()

    def _make_move(self, search: Undertaking, result: Result[chess.Move]) -> None:
        self.owes, self._moved = False, True
        if result.move is None:
            return
        board = self.board
        self.clock.spend(self._used + search.seconds(), self.played + 1)
        self.agreement.note(result.info)
        accepts = self.offered and self.accepts_draw()
        text = board.xboard(result.move)
        board.push(result.move)
        self.forget_position()
        over = verdict(board)
        if accepts or is_claimed(over):
            self._send("offer draw")
        self._send(f"move {text}")
        if over:
            self._send(over)
        elif result.ponder is not None and result.ponder in board.legal_moves:
            self.guess = result.ponder

    def accepts_draw(self) -> bool:
        """Tell whether a draw that is offered suits us."""
        return self.agreement.accepts(self.board, self.opponent.draw_worth)

    def start_game(self) -> None:
        """Forget the last game, beside its position."""
        self._warned.clear()
        self._moved = False
        self.clock.new_game()
        self.other_left = None
        self.depth = None
        self.forget()
