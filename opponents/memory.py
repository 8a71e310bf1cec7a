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

from agent.limits import Cp, Info, Limits, Result
from agent.player import Pausable
from opponents.game_watch import GameWatch
from opponents.habit_search import HabitSearch, PausableHabitSearch
from opponents.habits import Habits, KnownLine
from opponents.habits_file import HabitsError, HabitsFile
from opponents.past_game import CHESS, called

if TYPE_CHECKING:
    import chess
    from chess.polyglot import Entry

    from agent.chess.reader import ChessSearcher
    from agent.clock import Clock
    from agent.player import Source
    from agent.threads.latch import Latch

# Of a book's weights, so that none becomes nothing.
_SCALE = 1000


class OpponentMemory:
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
        self.analysing = self.aside = False
        self.thrift = 1.0
        self.clock: float | None = None
        self._report = report
        self._now = now
        self._file: HabitsFile | None = None
        self._name = ""
        self._habits: Habits | None = None
        self._watch: GameWatch | None = None
        # Whether the last position was asked about to analyse it: no move of the game is made.
        self._analyses = False
        # Games that were seen to be over when the next one began, and are not written yet; and
        # whether the file has more games than the habits.
        self._left: list[GameWatch] = []
        self._behind = False

    def use(self, path: str) -> None:
        """Remember games in another file; "" for none. One that cannot be used is named."""
        self.finish()
        self._file = HabitsFile(path) if path else None
        self._load()

    def meet(self, name: str) -> None:
        """Take the next game for one against an opponent of this name; "" for a stranger."""
        name = called(name)
        if name != self._name:
            self.finish()
            self._name = name
        self._load()

    def _load(self) -> None:
        """Read what the file has of the opponent."""
        self._habits, self.thrift, self._behind = None, 1.0, False
        if self._file is None:
            return
        try:
            games = self._file.read(self._name or None, CHESS)
        except HabitsError as error:
            self._give_up(error)
            return
        if self._name:
            self._habits = Habits(games)
            self.thrift = self._habits.thrift(None)

    def _give_up(self, error: HabitsError) -> None:
        self._report(f"{error}; playing without it")
        self._file, self._habits, self.thrift = None, None, 1.0

    # The game.

    def asked(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        """Take note of a position in which a move of ours is asked for."""
        if self._habits is None:
            return
        self._analyses = self.analysing or limits.infinite or limits.mate is not None
        if self._analyses:
            if self._watch is not None:
                self._watch.interrupt()
            return
        if self._watch is not None and not self._watch.goes_on(board):
            # Our clock may run: what takes time waits until the move has been answered.
            self._left.append(self._watch)
            self._watch = None
        if self._watch is None:
            self._watch = GameWatch(board)
        self._watch.asked(board, self.clock, self._now(), guessed=limits.ponder)

    def answered(self, result: Result[chess.Move]) -> None:
        """Take note of our answer; then there is time for what was put off."""
        watch = None if self._analyses else self._watch
        if self._habits is not None and watch is not None and result.move is not None:
            info = result.info
            score = info.score if info is not None and info.nodes else None
            watch.answered(result.move, score, self._now())
        self._write_left()
        if self._behind:
            self._load()
        if self._habits is not None and self._watch is not None:
            self.thrift = self._habits.thrift(self._line(self._watch.board))

    def told(self, result: str, *, forfeit: bool = False) -> None:
        """Take note of how the game ended, as PGN writes it; `*`: it was left, and is none.

        forfeit: it ended otherwise than by what was played.
        """
        if result == "*":
            self._watch = None
        if self._watch is not None:
            self._watch.result, self._watch.forfeit = result, forfeit
            self.finish()

    def finish(self) -> None:
        """Take the game for over, and remember it."""
        if self._watch is not None:
            self._left.append(self._watch)
            self._watch = None
        self._write_left()

    def _write_left(self) -> None:
        """Write the games that are over."""
        watches, self._left = self._left, []
        for game in filter(None, (watch.finish(self._name) for watch in watches)):
            if self._file is None or not self._name:
                return
            try:
                self._file.add(game)
                self._behind = True
            except HabitsError as error:
                self._give_up(error)

    def new_game(self) -> None:
        """Take the next position for one of another game."""
        self.finish()
        self._load()

    # What follows for our play.

    def advise(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Info[chess.Move] | None:
        """Return the move that has ended well against this opponent, and his usual reply."""
        if self.aside:
            return None
        self.asked(board, limits)
        if self._habits is None or self._watch is None or self._analyses:
            return None
        if lines > 1 or limits.search_moves:
            return None
        line = self._line(board)
        text = line.proven if line else None
        if line is None or text is None:
            return None
        move = _legal(board, text)
        if move is None or _repeats(board, move):
            return None
        after = line.next[text]
        self._report(f"habits of {self._name}: {text} has brought {after.earned:g}/{after.judged}")
        pv = [move]
        if after.next:
            usual = max(after.next, key=lambda each: after.next[each].games)
            board.push(move)
            reply = _legal(board, usual)
            board.pop()
            pv += [reply] if reply else []
        return Info(depth=1, score=Cp(0), pv=tuple(pv), seldepth=len(pv))

    @property
    def draw_worth(self) -> int:
        """What a draw in this game is worth to us, in centipawns; from any thread."""
        habits, watch = self._habits, self._watch
        if habits is None or watch is None:
            return 0
        return habits.draw_worth(_side(watch.board, watch))

    def prefer(self, board: chess.Board, entries: list[Entry]) -> list[Entry]:
        """Return a book's entries with weights by how their moves have ended."""
        if self._habits is None or (line := self._line(board)) is None:
            return entries
        return [
            entry._replace(weight=round(entry.weight * _SCALE * line.preference(entry.move.uci())))
            for entry in entries
        ]

    def around(self, searcher: ChessSearcher, clock: Clock[chess.Move]) -> ChessSearcher:
        """Return the search that goes by the habits of whoever is met; clock: of this search."""
        if self.aside or self._analyses:
            return searcher
        if self._habits is None or self._watch is None or not self._habits.games:
            return searcher
        line = self._line(self._watch.board)
        acceptance = self._habits.acceptance
        kind = PausableHabitSearch if isinstance(searcher, Pausable) else HabitSearch
        return kind(searcher, acceptance, self.draw_worth, line, clock.left)

    def _line(self, board: chess.Board) -> KnownLine | None:
        assert self._habits is not None
        return self._habits.line(_start(board), _side(board, self._watch), _texts(board))


class HabitSource:
    """The searchers of another source, which go by habits."""

    def __init__(self, source: Source[chess.Board, chess.Move], memory: OpponentMemory) -> None:
        self._source = source
        self._memory = memory

    def searcher(self, clock: Clock[chess.Move], stop: Latch) -> ChessSearcher:
        """Return who searches now."""
        return self._memory.around(self._source.searcher(clock, stop), clock)

    def give_up(self, thread: threading.Thread) -> str | None:
        """Give up what that thread does with the searcher, if a user's code keeps it."""
        return self._source.give_up(thread)


def _texts(board: chess.Board) -> Sequence[str]:
    return [move.uci() for move in board.move_stack]


def _start(board: chess.Board) -> str:
    import chess

    root = board.root()
    fen = root.fen()
    return "" if fen == chess.STARTING_FEN and not root.chess960 else fen


def _side(board: chess.Board, watch: GameWatch | None) -> int:
    ours = board.turn if watch is None else watch.side
    return int(board.root().turn != ours)


def _legal(board: chess.Board, text: str) -> chess.Move | None:
    import chess

    move = chess.Move.from_uci(text)
    return move if board.is_legal(move) else None


def _repeats(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    repeats = board.is_repetition(2)
    board.pop()
    return repeats
