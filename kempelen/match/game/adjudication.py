"""Adjudicate games early by scores, length and Syzygy tablebases.

The rules have the same meaning as the options of fastchess with the same names. Only `maxmoves`
also counts the moves of the opening, as in cutechess.
"""

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path

import chess
import chess.syzygy

from agent.chess.endgames.external_tablebases import split_paths
from agent.limits import Cp, Mate, Score
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.settings import Adjudication, DrawRule, ResignRule
from kempelen.match.game.game_result import WHITE, GameResult, Termination, draw, win


def centipawns(score: Score | None) -> float | None:
    """Return the score in centipawns, or None if `score` is None. A mate is infinite."""
    match score:
        case Cp(value):
            return value
        case Mate(moves):
            return inf if moves > 0 else -inf
    return None


class Adjudicator:
    """Applies the adjudication rules. All games share one instance with open tablebases."""

    def __init__(self, settings: Adjudication) -> None:
        self._settings = settings
        self._tables: chess.syzygy.Tablebase | None = None
        self._max_table_pieces = 0
        rules = (settings.draw, settings.resign)
        self._window = 2 * max((rule.movecount for rule in rules if rule), default=1)
        if settings.tables is not None:
            self._open(settings.tables)

    def close(self) -> None:
        if self._tables is not None:
            self._tables.close()

    def adjudicate(
        self, board: chess.Board, scores: Sequence[Score | None], *, first: int, plies: int
    ) -> GameResult | None:
        """Return the adjudicated result after the last move, or None if no rule applies.

        `scores` contains a score for each move after the opening, from the point of view of its
        player. `first` is the side that made the first of these moves, where 0 is White. `plies` is
        the number of plies since the start position, with those of the opening.
        """
        settings = self._settings
        last = (first + len(scores) - 1) % 2
        values = [centipawns(score) for score in scores[-self._window :]]
        return (
            (settings.resign and self._apply_resign_rule(settings.resign, values, last))
            or (settings.draw and self._apply_draw_rule(settings.draw, values, board))
            or self._by_tablebase(board)
            or self.adjudicate_length(plies)
            or None
        )

    @staticmethod
    def _apply_resign_rule(
        rule: ResignRule, values: Sequence[float | None], last: int
    ) -> GameResult | None:
        own, other = values[::-1][::2], values[::-1][1::2]
        lost = _all(own[: rule.movecount], rule.movecount, lambda v: v <= -rule.score)
        agreed = _all(other[: rule.movecount], rule.movecount, lambda v: v >= rule.score)
        if lost and (agreed or not rule.twosided):
            return win(1 - last, Termination.RESIGN_ADJUDICATION)
        return None

    @staticmethod
    def _apply_draw_rule(
        rule: DrawRule, values: Sequence[float | None], board: chess.Board
    ) -> GameResult | None:
        count = 2 * rule.movecount
        if board.halfmove_clock + 1 < count or board.fullmove_number <= rule.movenumber:
            return None  # the count starts again with each capture and pawn move
        if _all(values[-count:], count, lambda v: abs(v) <= rule.score):
            return draw(Termination.DRAW_ADJUDICATION)
        return None

    def adjudicate_length(self, plies: int) -> GameResult | None:
        """Return a draw if the game has reached `maxmoves` full moves, otherwise None."""
        limit = self._settings.maxmoves
        if limit is not None and plies >= 2 * limit:
            return draw(Termination.MAX_MOVES)
        return None

    def _by_tablebase(self, board: chess.Board) -> GameResult | None:
        if self._tables is None or chess.popcount(board.occupied) > self._max_table_pieces:
            return None
        # Syzygy WDL values ignore the 50-move counter and castling rights.
        if board.halfmove_clock or board.castling_rights:
            return None
        value = self._tables.get_wdl(board)
        if value is None:
            return None
        side = WHITE if board.turn == chess.WHITE else 1 - WHITE
        if abs(value) < 2:
            return draw(Termination.TABLES)
        return win(side if value > 0 else 1 - side, Termination.TABLES)

    def _open(self, paths: str) -> None:
        self._tables = chess.syzygy.Tablebase()
        try:
            for folder in split_paths(paths):
                self._tables.add_directory(folder)
        except OSError as error:
            raise SettingsError(f"endgame tables {paths}: {error}") from None
        names = [Path(name).stem for name in self._tables.wdl]
        if not names:
            self._tables.close()
            raise SettingsError(f"endgame tables {paths}: no Syzygy files (*.rtbw) found")
        self._max_table_pieces = max(len(name.replace("v", "")) for name in names)


def _all(values: Sequence[float | None], count: int, holds: Callable[[float], bool]) -> bool:
    return len(values) == count and all(value is not None and holds(value) for value in values)
