"""The game and the searches of an xboard session.

A command that changes the state first calls `halt`, which cancels the current search, and finally
`start_next_search`. One thread reads lines, and another handles search results. A lock protects the
shared state and the order of the output.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from agent.game_clock import GameClock, TimeSystem
from agent.limits import Info, Limits, Progress, Result, SideClock
from protocols.current_line import charge_search
from protocols.session_context import STANDALONE, SessionContext
from protocols.uci.chess_session import ChessSession
from protocols.uci.position import HISTORY_PLIES, read_board
from protocols.xboard.draws import DrawPolicy, is_claimable_draw, result_by_rule
from protocols.xboard.features import OPTIONS
from protocols.xboard.formatting import comment, echo, thinking_line, warning

if TYPE_CHECKING:
    import chess

    from agent.chess.engine.backend import ChessBackend
    from agent.threads.serial_executor import Job

Replies = Iterator[str]

DEFAULT_LEVEL = TimeSystem(300.0)  # five minutes for the game
# A ponder search is restarted if the clock shows less than this fraction of the predicted time.
MIN_PREDICTED_FRACTION = 0.9
# Maximum number of pings that wait for a search. Further pings are answered at once.
MAX_PENDING_PONGS = 64
# Maximum number of errors shown to the user per game. Further errors are only logged.
MAX_WARNINGS = 20


class XboardMode(Enum):
    """The activity of the engine: only recording moves, playing, or analysing."""

    FORCE = "force"
    PLAYING = "playing"
    ANALYSING = "analysing"


class SearchPurpose(Enum):
    MOVE = "move"
    PONDER = "ponder"
    ANALYSIS = "analysis"


@dataclass(slots=True)
class PendingSearch:
    """A search in the agent's queue."""

    purpose: SearchPurpose
    board: chess.Board  # must not be modified
    predicted_clock: SideClock | None  # the clock that determined the time limit
    start_time: float  # of the engine's thinking time, on the clock `time.monotonic`
    ponder_move: chess.Move | None = None
    ponder_text: str = ""
    wanted: bool = True  # False after cancellation
    last_info: Info[chess.Move] | None = None
    progress: Progress[chess.Move] | None = None
    started: bool = False  # All earlier jobs are done.
    pongs: list[str] = field(default_factory=list)  # sent when the search ends

    def elapsed(self) -> float:
        """Return the seconds since `start_time`."""
        return time.monotonic() - self.start_time


class XboardSession:
    """The game and the searches of an xboard engine. The function `send` must be thread-safe."""

    def __init__(
        self,
        name: str,
        send: Callable[[str], None],
        log_to: Callable[[str], None],
        make_engine: Callable[[Callable[[str], None]], ChessBackend] | None = None,
        session_context: SessionContext = STANDALONE,
    ) -> None:
        self.finished = False
        self.name = name
        self._send = send
        self.permissions = session_context.permissions
        self.chess = ChessSession(self, OPTIONS, log_to, make_engine, session_context)
        self.lock = threading.RLock()
        self.mode = XboardMode.PLAYING
        self.move_due = self.paused = self.pondering = self.posting = False
        self.sends_comments = True
        self.clock = GameClock(DEFAULT_LEVEL)
        self.is_timed = False  # The front end has sent a time command.
        self.depth: int | None = None
        self.excluded: set[chess.Move] = set()
        self.ponder_move: chess.Move | None = None  # the expected reply
        self.position_error = ""  # why the position is illegal
        self.draw_offered = self._hinting = False
        self.draw_policy = DrawPolicy()
        self.opponent_remaining: float | None = None  # in seconds
        self.current_search: PendingSearch | None = None
        self._searches: deque[PendingSearch] = deque()
        self._board: chess.Board | None = None
        self._time_used = 0.0
        self._moves_before_level = 0
        self._has_moved = False
        self._warned: set[str] = set()

    @property
    def board(self) -> chess.Board:
        if self._board is None:
            self._board = read_board(None)
        return self._board

    def read_board(self, fen: str | None) -> chess.Board:
        """Return the board of the variant for a FEN, or its start position. May raise UciError."""
        return read_board(fen, self.chess.rules)

    @property
    def moves_played(self) -> int:
        """Return the number of moves that the side to move has made."""
        return len(self.board.move_stack) // 2

    def drain(self, timeout: float | None = None) -> bool:
        """Disable pondering and wait for a move that is due, as in `ChessSession.drain`."""
        with self.lock:
            self.pondering = False
        return self.finished or self.chess.drain(timeout)

    def close(self, timeout: float) -> bool:
        return self.chess.close(timeout)

    # Searches.

    def halt(self) -> None:
        """Cancel the current search without playing a move, and deduct the time used."""
        search, self.current_search = self.current_search, None
        if search is not None:
            search.wanted = False
            if search.purpose is SearchPurpose.MOVE:
                self._time_used += search.elapsed()
            self.chess.agent.stop()

    def start_next_search(self) -> None:
        """Start the search that the state of the game requires, unless a search is running."""
        if self.paused or self.position_error or self.current_search is not None:
            return
        if self.mode is XboardMode.ANALYSING:
            moves = self._search_moves()
            if moves or not self.excluded:
                self._search(
                    SearchPurpose.ANALYSIS, self.board, Limits(infinite=True, search_moves=moves)
                )
        elif self.mode is XboardMode.PLAYING and self.move_due:
            self._search(SearchPurpose.MOVE, self.board, self._limits())
        elif self.mode is XboardMode.PLAYING and self.pondering and self.ponder_move is not None:
            self._ponder(self.ponder_move)

    def reconfigure_search(self, change: Callable[[], object]) -> None:
        """Change search settings. A search for a move continues, and any other search restarts."""
        endless = (
            self.current_search is not None
            and self.current_search.purpose is not SearchPurpose.MOVE
        )
        if endless:
            self.halt()
        try:
            change()
        finally:
            self.start_next_search()

    def set_time_system(self, system: TimeSystem) -> None:
        """Restart the clock with a time system, and count its moves from the current position."""
        self.clock, self._moves_before_level = GameClock(system), self.moves_played
        self.is_timed = True

    def set_board(self, board: chess.Board) -> None:
        """Set the position and reset all state that belongs to the previous position."""
        self._board = board
        self.clear_position_state()
        self.draw_policy.clear()
        self.position_error = ""
        self.move_due = False

    def clear_position_state(self) -> None:
        """Reset the excluded moves, the ponder move and the draw offer."""
        self.excluded.clear()
        self.ponder_move = None
        self.draw_offered = False

    def set_move_due(self) -> None:
        self.move_due, self._time_used = True, 0.0

    def play_opponent_move(self, move: chess.Move) -> str | None:
        """Play the opponent's move and start to think. Return the result if this ends the game."""
        search = self.current_search
        is_hit = search and search.ponder_move == move and self._is_ponder_hit(search)
        hit = search if is_hit else None
        if hit is None:
            self.halt()
        self.board.push(move)
        self.clear_position_state()
        result = result_by_rule(self.board)
        if result:
            self.halt()
            return result
        self.set_move_due()
        if hit is None:
            self.start_next_search()
        else:
            hit.purpose, hit.ponder_move, hit.ponder_text = SearchPurpose.MOVE, None, ""
            hit.start_time = time.monotonic()
            # The search may finish before its next iteration.
            if self.posting and hit.last_info is not None:
                self._send(thinking_line(hit.last_info, hit.board, ""))
            self.chess.agent.ponderhit()
        return None

    def _is_ponder_hit(self, search: PendingSearch) -> bool:
        predicted, now = search.predicted_clock, self._limits(ponder=True).clock
        if predicted is None or now is None:
            return predicted is now
        return now.time >= MIN_PREDICTED_FRACTION * predicted.time

    def _limits(self, ponder: bool = False, moves_played: int | None = None) -> Limits[chess.Move]:
        clock, depth = self.clock, self.depth
        moves_played = self.moves_played if moves_played is None else moves_played
        moves = () if ponder else self._search_moves()
        if depth is not None and not self.is_timed:
            return Limits(depth=depth, ponder=ponder, search_moves=moves)
        clock.moves = moves_played - self._moves_before_level
        movetime = clock.system.max_move_time
        self.chess.set_opponent_clock(self.opponent_remaining)
        return Limits(
            depth=depth,
            movetime=None if movetime is None else max(movetime - self._time_used, 0.0),
            clock=clock.side_clock(self._time_used),
            moves_to_go=clock.moves_to_go,
            ponder=ponder,
            search_moves=moves,
        )

    def _search_moves(self) -> tuple[chess.Move, ...]:
        if not self.excluded:
            return ()
        return tuple(move for move in self.board.legal_moves if move not in self.excluded)

    def _ponder(self, ponder_move: chess.Move) -> None:
        board = self.board.copy(stack=HISTORY_PLIES)
        text = board.xboard(ponder_move)
        board.push(ponder_move)
        if result_by_rule(board) is None:
            self._time_used = 0.0
            limits = self._limits(ponder=True, moves_played=(len(self.board.move_stack) + 1) // 2)
            self._search(SearchPurpose.PONDER, board, limits, ponder_move, text)

    def _search(
        self,
        purpose: SearchPurpose,
        board: chess.Board,
        limits: Limits[chess.Move],
        ponder_move: chess.Move | None = None,
        ponder_text: str = "",
    ) -> None:
        board = board.copy(stack=HISTORY_PLIES)
        search = PendingSearch(
            purpose, board, limits.clock, time.monotonic(), ponder_move, ponder_text
        )
        self.current_search = search
        self._searches.append(search)
        charge_search()
        self.chess.agent.stop()  # such as the search for a hint
        self.chess.agent.submit(lambda job: self._mark_started(search))
        self.chess.agent.go(board, limits, self.chess.multipv)

    # Pings.

    def answer_ping(self, number: str) -> Replies:
        """Answer `ping` after all earlier commands have been handled.

        The `pong` follows a move that is due, but does not wait for pondering or analysis. Before
        the engine's first move, it is sent when the engine is ready to play.
        """
        pong = f"pong {echo(number)}"
        search = self.current_search
        if self.chess.queue_is_full or (
            search is not None and len(search.pongs) >= MAX_PENDING_PONGS
        ):
            yield pong
        elif search is None:
            ready = self._has_moved
            self.chess.agent.submit(lambda job: self._pong_when_ready(job, pong, ready))
        elif search.purpose is SearchPurpose.MOVE or not search.started:
            search.pongs.append(pong)
        else:
            yield pong

    def _pong_when_ready(self, job: Job, pong: str, ready: bool) -> None:
        try:
            if not ready:
                self.chess.prepare(job)
        finally:
            self._send(pong)

    def _mark_started(self, search: PendingSearch) -> None:
        with self.lock:
            search.started = True
            if search.purpose is not SearchPurpose.MOVE:
                self._answer_pings(search)

    def _answer_pings(self, search: PendingSearch) -> None:
        for pong in search.pongs:
            self._send(pong)
        search.pongs.clear()

    # Events of the chess session.

    def info(self, info: Info[chess.Move]) -> None:
        with self.lock:
            search = self._searches[0]
            if not (search.wanted and info.pv):
                return
            if info.multipv == 1:
                search.last_info = info
            if self.posting or search.purpose is SearchPurpose.ANALYSIS:
                self._send(thinking_line(info, search.board, search.ponder_text))

    def progress(self, progress: Progress[chess.Move], seconds: float) -> None:
        """Record the progress of a long search for the `.` command."""
        with self.lock:
            self._searches[0].progress = progress

    def error(self, message: str) -> None:
        """Show an error to the user, but show the same text at most once per game."""
        with self.lock:
            if message in self._warned or len(self._warned) >= MAX_WARNINGS:
                self.report(message)
            else:
                self._warned.add(message)
                self._send(warning(self.permissions.redact(message)))

    def report(self, message: str) -> None:
        """Send a comment for the front end's log."""
        if self.sends_comments:
            self._send(comment(self.permissions.redact(message)))

    def result(self, result: Result[chess.Move]) -> None:
        """Play the move that the search found, unless the search was cancelled."""
        with self.lock:
            search = self._searches.popleft()
            if search.wanted:
                self.current_search = None
                if search.purpose is SearchPurpose.MOVE:
                    self._make_move(search, result)
            elif search.purpose is SearchPurpose.MOVE:
                self.chess.learning.discard_prediction(search.board)
            self._answer_pings(search)
            if search.wanted and search.purpose is SearchPurpose.MOVE:
                self.chess.opponent.record_move(result)
                self.start_next_search()
        self.chess.learning.flush()

    def _make_move(self, search: PendingSearch, result: Result[chess.Move]) -> None:
        self.move_due, self._has_moved = False, True
        if result.move is None:
            return
        board = self.board
        self.clock.moves = self.moves_played - self._moves_before_level
        self.clock.spend(self._time_used + search.elapsed())
        self.draw_policy.record_score(result.info)
        accepts = self.draw_offered and self.accepts_draw()
        text = board.xboard(result.move)
        board.push(result.move)
        self.clear_position_state()
        game_result = result_by_rule(board)
        if accepts or is_claimable_draw(game_result):
            self._send("offer draw")
        self._send(f"move {text}")
        if game_result:
            self._send(game_result)
        elif result.ponder is not None and result.ponder in board.legal_moves:
            self.ponder_move = result.ponder

    def accepts_draw(self) -> bool:
        return self.draw_policy.accepts(self.board, self.chess.opponent.draw_value)

    def start_game(self) -> None:
        """Prepare for a new game by resetting all state except the position."""
        self._warned.clear()
        self._has_moved = False
        self.clock, self._moves_before_level = GameClock(self.clock.system), 0
        self.opponent_remaining = None
        self.depth = None
        self.chess.new_game()
