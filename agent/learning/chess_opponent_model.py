from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.learning.opponent_database import OpponentDatabase, OpponentDatabaseError
from agent.learning.opponent_game_record import CHESS, normalize_name
from agent.learning.opponent_game_tracker import GameTracker, start_fen
from agent.learning.opponent_model import OpponentModel
from agent.learning.opponent_profile import LineStats, OpponentProfile
from agent.learning.opponent_search import OpponentAwareSearch
from agent.limits import Info, Limits, Result

if TYPE_CHECKING:
    import chess
    from chess.polyglot import Entry

    from agent.agent import Searcher
    from agent.clock import SearchClock

# Multiplies book weights, so that small weights are not rounded to 0.
_SCALE = 1000


class ChessOpponentModel(OpponentModel):
    """Stores chess games by opponent, and adapts the agent's play to the opponent.

    The model also adjusts book weights, wraps the search, and scales the thinking time. It does
    nothing until a file and an opponent are set.

    - `analysing`: true in analysis mode, when nothing is recorded or adapted.
    - `off_the_record`: true while requests are ignored, because they are not part of the game.
    - `time_factor`: the factor for the thinking time of the agent's next move. Thread-safe.
    - `opponent_clock`: the opponent's remaining time in seconds, or None. Thread-safe.
    """

    def __init__(
        self, report: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(report, CHESS)
        self.analysing = self.off_the_record = False
        self.time_factor = 1.0
        self.opponent_clock: float | None = None
        self._now = now
        self._tracker: GameTracker | None = None
        # Whether the last request was for analysis. If so, its result is not a move of the game.
        self._analysed = False
        # Games that ended without a reported result and are not saved yet.
        self._unsaved_games: list[GameTracker] = []
        self._stale = False

    def set_file(self, path: str) -> None:
        """Use another file, or "" to store nothing. Report the problem if the file is unusable."""
        self.finish()
        self._file = OpponentDatabase(path) if path else None
        self._load()

    def set_opponent(self, name: str) -> None:
        if normalize_name(name) != self._name:
            self.finish()
        super().set_opponent(name)

    def new_game(self) -> None:
        self.finish()
        super().new_game()

    def _load(self) -> None:
        super()._load()
        self._stale = False
        self.time_factor = 1.0 if self._profile is None else self._profile.time_factor(None)

    def _disable(self, error: OpponentDatabaseError) -> None:
        super()._disable(error)
        self.time_factor = 1.0

    # Tracking the game.

    def record_position(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        if self._profile is None:
            return
        is_variant = type(board).uci_variant != "chess"  # whose games are not recorded
        self._analysed = self.analysing or limits.infinite or limits.mate is not None or is_variant
        if self._analysed:
            if self._tracker is not None:
                self._tracker.ignore_thinking_time()
            return
        if self._tracker is not None and not self._tracker.continues_with(board):
            # The agent's clock may be running, so write the file after the move.
            self._unsaved_games.append(self._tracker)
            self._tracker = None
        if self._tracker is None:
            self._tracker = GameTracker(board)
        self._tracker.record_position(
            board, self.opponent_clock, self._now(), guessed=limits.ponder
        )

    def record_move(self, result: Result[chess.Move]) -> None:
        """Record the agent's move, save finished games, and update the opponent's profile."""
        tracker = None if self._analysed else self._tracker
        if self._profile is not None and tracker is not None and result.move is not None:
            info = result.info
            score = info.score if info is not None and info.nodes else None
            tracker.record_move(result.move, score, self._now())
        self._save_games()
        if self._stale:
            self._load()
        if self._profile is not None and self._tracker is not None:
            self.time_factor = self._profile.time_factor(
                self._line(self._profile, self._tracker.board)
            )

    def record_result(self, result: str, *, forfeit: bool = False) -> None:
        """Record the result in PGN notation, or discard the game if it is "*".

        `forfeit` is true if the clock, a lost connection or an illegal move decided the game.
        """
        if result == "*":
            self._tracker = None
        if self._tracker is not None:
            self._tracker.result, self._tracker.forfeit = result, forfeit
            self.finish()

    def finish(self) -> None:
        if self._tracker is not None:
            self._unsaved_games.append(self._tracker)
            self._tracker = None
        self._save_games()

    def _save_games(self) -> None:
        trackers, self._unsaved_games = self._unsaved_games, []
        for game in filter(None, (tracker.to_record(self._name) for tracker in trackers)):
            if self._name:
                self._stale = True
                self._save(game)

    # Adapting the agent's play.

    def probe(
        self, position: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Info[chess.Move] | None:
        if self.off_the_record:
            return None
        self.record_position(position, limits)
        return None if self._analysed else super().probe(position, limits, lines)

    def _variation(
        self, position: chess.Board, text: str, after: LineStats
    ) -> tuple[chess.Move, ...]:
        """Return the move `text` and its most frequent reply.

        Return () if the move is illegal or repeats a position.
        """
        move = _parse_legal(position, text)
        if move is None or _repeats(position, move):
            return ()
        if not after.children:
            return (move,)
        position.push(move)
        most_frequent = max(after.children, key=lambda reply: after.children[reply].games)
        reply = _parse_legal(position, most_frequent)
        position.pop()
        return (move, reply) if reply else (move,)

    @property
    def draw_value(self) -> int:
        """The value of a draw for the agent in this game, in centipawns. Thread-safe."""
        profile, tracker = self._profile, self._tracker
        if profile is None or tracker is None:
            return 0
        return profile.draw_value(_side(tracker.board, tracker))

    def adjust_weights(self, board: chess.Board, entries: list[Entry]) -> list[Entry]:
        """Return the book entries, with weights adjusted by the results of their moves."""
        if self._profile is None or (line := self._line(self._profile, board)) is None:
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
        """Return a wrapper of `searcher` that uses the opponent's profile.

        Return `searcher` itself in analysis, off the record, or without games against the opponent.
        """
        if self.off_the_record or self._analysed:
            return searcher
        if self._profile is None or self._tracker is None or not self._profile.games:
            return searcher
        line = self._line(self._profile, self._tracker.board)
        acceptance = self._profile.repetition_acceptance
        return OpponentAwareSearch(
            searcher, acceptance, self.draw_value, line, clock.expected_remaining
        )

    def _line(self, profile: OpponentProfile, position: chess.Board) -> LineStats | None:
        moves = [move.uci() for move in position.move_stack]
        return profile.find_line(start_fen(position), _side(position, self._tracker), moves)


def _side(board: chess.Board, tracker: GameTracker | None) -> int:
    our_colour = board.turn if tracker is None else tracker.side
    return int(board.root().turn != our_colour)


def _parse_legal(board: chess.Board, text: str) -> chess.Move | None:
    import chess

    move = chess.Move.from_uci(text)
    return move if board.is_legal(move) else None


def _repeats(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    repeats = board.is_repetition(2)
    board.pop()
    return repeats
