"""What a session of chess remembers of its opponents, and where its play goes by that.

It is told what the session is: whom it meets, what it is asked, what it answers. It is an advisor
of the player, the one before the book; it says how books choose, wraps the search, and says what
part of the usual time a move deserves. All does nothing until a file is named and an opponent met.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent.agent import Pausable
from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import CHESS, normalize_name
from agent.learning.opponent_game_tracker import GameTracker
from agent.learning.opponent_profile import LineStats, OpponentProfile
from agent.learning.opponent_search import OpponentAwareSearch, PreemptibleOpponentAwareSearch
from agent.limits import Cp, Info, Limits, Result

if TYPE_CHECKING:
    import chess
    from chess.polyglot import Entry

    from agent.agent import SearchBackend, Searcher
    from agent.clock import SearchClock
    from agent.threads.one_shot_event import OneShotEvent

# Of a book's weights, so that none becomes nothing.
_SCALE = 1000


class OpponentModel:
    """Remembers games by opponents. All methods belong to the player's thread.

    report: gets one line of text for each thing that the user should know. analysing: neither
    watch nor advise; a game that was played goes on afterwards, or another shows that it is over.
    aside: what is asked is beside the game, which goes on. thrift: the share of
    the usual time for our next move; clock: what the other side is said to have left, in seconds.
    Both may be used from any thread.
    """

    def __init__(
        self, report: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self.analysing = self.off_the_record = False
        self.time_factor = 1.0
        self.opponent_clock: float | None = None
        self._report = report
        self._now = now
        self._file: OpponentDatabase | None = None
        self._name = ""
        self._profile: OpponentProfile | None = None
        self._tracker: GameTracker | None = None
        # Whether the last position was asked about to analyse it: no move of the game is made.
        self._analysed = False
        # Games that were seen to be over when the next one began, and are not written yet; and
        # whether the file has more games than the habits.
        self._unsaved_games: list[GameTracker] = []
        self._stale = False

    def set_file(self, path: str) -> None:
        """Remember games in another file; "" for none. One that cannot be used is named."""
        self.finish()
        self._file = OpponentDatabase(path) if path else None
        self._load()

    def set_opponent(self, name: str) -> None:
        """Take the next game for one against an opponent of this name; "" for a stranger."""
        name = normalize_name(name)
        if name != self._name:
            self.finish()
            self._name = name
        self._load()

    def _load(self) -> None:
        """Read what the file has of the opponent."""
        self._profile, self.time_factor, self._stale = None, 1.0, False
        if self._file is None:
            return
        try:
            games = self._file.read(self._name or None, CHESS)
        except OpponentDatabaseError as error:
            self._disable(error)
            return
        if self._name:
            self._profile = OpponentProfile(games)
            self.time_factor = self._profile.time_factor(None)

    def _disable(self, error: OpponentDatabaseError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._profile, self.time_factor = None, None, 1.0

    # The game.

    def record_position(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        """Take note of a position in which a move of ours is asked for."""
        if self._profile is None:
            return
        self._analysed = self.analysing or limits.infinite or limits.mate is not None
        if self._analysed:
            if self._tracker is not None:
                self._tracker.ignore_thinking_time()
            return
        if self._tracker is not None and not self._tracker.continues_with(board):
            # Our clock may run: what takes time waits until the move has been answered.
            self._unsaved_games.append(self._tracker)
            self._tracker = None
        if self._tracker is None:
            self._tracker = GameTracker(board)
        self._tracker.record_position(
            board, self.opponent_clock, self._now(), guessed=limits.ponder
        )

    def record_move(self, result: Result[chess.Move]) -> None:
        """Take note of our answer; then there is time for what was put off."""
        watch = None if self._analysed else self._tracker
        if self._profile is not None and watch is not None and result.move is not None:
            info = result.info
            score = info.score if info is not None and info.nodes else None
            watch.record_move(result.move, score, self._now())
        self._save_games()
        if self._stale:
            self._load()
        if self._profile is not None and self._tracker is not None:
            self.time_factor = self._profile.time_factor(self._line(self._tracker.board))

    def record_result(self, result: str, *, forfeit: bool = False) -> None:
        """Take note of how the game ended, as PGN writes it; `*`: it was left, and is none.

        forfeit: it ended otherwise than by what was played.
        """
        if result == "*":
            self._tracker = None
        if self._tracker is not None:
            self._tracker.result, self._tracker.forfeit = result, forfeit
            self.finish()

    def finish(self) -> None:
        """Take the game for over, and remember it."""
        if self._tracker is not None:
            self._unsaved_games.append(self._tracker)
            self._tracker = None
        self._save_games()

    def _save_games(self) -> None:
        """Write the games that are over."""
        watches, self._unsaved_games = self._unsaved_games, []
        for game in filter(None, (watch.to_record(self._name) for watch in watches)):
            if self._file is None or not self._name:
                return
            try:
                self._file.add(game)
                self._stale = True
            except OpponentDatabaseError as error:
                self._disable(error)

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self.finish()
        self._load()

    # What follows for our play.

    def probe(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Info[chess.Move] | None:
        """Return the move that has ended well against this opponent, and his usual reply."""
        if self.off_the_record:
            return None
        self.record_position(board, limits)
        if self._profile is None or self._tracker is None or self._analysed:
            return None
        if lines > 1 or limits.search_moves:
            return None
        line = self._line(board)
        text = line.proven_move if line else None
        if line is None or text is None:
            return None
        move = _parse_legal(board, text)
        if move is None or _repeats(board, move):
            return None
        after = line.children[text]
        self._report(
            f"habits of {self._name}: {text} has brought {after.decided_points:g}/{after.decided_games}"
        )
        pv = [move]
        if after.children:
            usual = max(after.children, key=lambda each: after.children[each].games)
            board.push(move)
            reply = _parse_legal(board, usual)
            board.pop()
            pv += [reply] if reply else []
        return Info(depth=1, score=Cp(0), pv=tuple(pv), seldepth=len(pv))

    @property
    def draw_value(self) -> int:
        """What a draw in this game is worth to us, in centipawns; from any thread."""
        habits, watch = self._profile, self._tracker
        if habits is None or watch is None:
            return 0
        return habits.draw_value(_side(watch.board, watch))

    def adjust_weights(self, board: chess.Board, entries: list[Entry]) -> list[Entry]:
        """Return a book's entries with weights by how their moves have ended."""
        if self._profile is None or (line := self._line(board)) is None:
            return entries
        return [
            entry._replace(
                weight=round(entry.weight * _SCALE * line.weight_factor(entry.move.uci()))
            )
            for entry in entries
        ]

    def wrap(
        self, searcher: Searcher[chess.Board, chess.Move], clock: SearchClock[chess.Move]
    ) -> Searcher[chess.Board, chess.Move]:
        """Return the search that goes by the habits of whoever is met; clock: of this search."""
        if self.off_the_record or self._analysed:
            return searcher
        if self._profile is None or self._tracker is None or not self._profile.games:
            return searcher
        line = self._line(self._tracker.board)
        acceptance = self._profile.repetition_acceptance
        kind = (
            PreemptibleOpponentAwareSearch
            if isinstance(searcher, Pausable)
            else OpponentAwareSearch
        )
        return kind(searcher, acceptance, self.draw_value, line, clock.expected_remaining)

    def _line(self, board: chess.Board) -> LineStats | None:
        assert self._profile is not None
        return self._profile.find_line(
            _start_fen(board), _side(board, self._tracker), _uci_moves(board)
        )


class OpponentAwareBackend:
    """The searchers of another source, which go by habits."""

    def __init__(
        self, source: SearchBackend[chess.Board, chess.Move], memory: OpponentModel
    ) -> None:
        self._source = source
        self._memory = memory

    def get_searcher(
        self, clock: SearchClock[chess.Move], stop: OneShotEvent
    ) -> Searcher[chess.Board, chess.Move]:
        """Return who searches now."""
        return self._memory.wrap(self._source.get_searcher(clock, stop), clock)

    def abandon(self, thread: threading.Thread) -> str | None:
        """Give up what that thread does with the searcher, if a user's code keeps it."""
        return self._source.abandon(thread)


def _uci_moves(board: chess.Board) -> Sequence[str]:
    return [move.uci() for move in board.move_stack]


def _start_fen(board: chess.Board) -> str:
    import chess

    root = board.root()
    fen = root.fen()
    return "" if fen == chess.STARTING_FEN and not root.chess960 else fen


def _side(board: chess.Board, watch: GameTracker | None) -> int:
    ours = board.turn if watch is None else watch.side
    return int(board.root().turn != ours)


def _parse_legal(board: chess.Board, text: str) -> chess.Move | None:
    import chess

    move = chess.Move.from_uci(text)
    return move if board.is_legal(move) else None


def _repeats(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    repeats = board.is_repetition(2)
    board.pop()
    return repeats
