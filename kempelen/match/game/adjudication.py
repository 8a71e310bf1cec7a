"""Ending games that are decided: by the players' own scores, by length, by endgame tables."""

from collections.abc import Callable, Sequence
from pathlib import Path

import chess
import chess.syzygy

from agent.limits import Cp, Mate, Score
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.settings import Adjudication, DrawRule, ResignRule
from kempelen.match.game.game_result import WHITE, GameResult, Termination, draw, win

# A mate is worth more than any centipawns that a rule could ask for.
MATE_CENTIPAWNS = 100_000


def centipawns(score: Score | None) -> int | None:
    """Return a score as centipawns, mates beyond all others; None stays None."""
    match score:
        case Cp(value):
            return value
        case Mate(moves):
            return MATE_CENTIPAWNS if moves > 0 else -MATE_CENTIPAWNS
    return None


class Adjudicator:
    """Applies the rules that are set; opens the endgame tables once, for all games."""

    def __init__(self, settings: Adjudication) -> None:
        self._settings = settings
        self._tables: chess.syzygy.Tablebase | None = None
        self._max_table_pieces = 0
        rules = (settings.draw, settings.resign)
        self._window = 2 * max((rule.movecount for rule in rules if rule), default=1)
        if settings.tables is not None:
            self._open(settings.tables)

    def close(self) -> None:
        """Close the endgame tables."""
        if self._tables is not None:
            self._tables.close()

    def adjudicate(
        self, board: chess.Board, scores: Sequence[Score | None], *, first: int
    ) -> GameResult | None:
        """Return the ending that a rule gives to the position after the last move, or None.

        scores: what the movers said of their moves, each from its own side, since the players
        took over; `first` is the side that began (0 is White).
        """
        settings = self._settings
        last = (first + len(scores) - 1) % 2
        values = [centipawns(score) for score in scores[-self._window :]]
        return (
            (settings.resign and self._apply_resign_rule(settings.resign, values, last))
            or (settings.draw and self._apply_draw_rule(settings.draw, values, board))
            or self._by_tablebase(board)
            or self.adjudicate_length(board.fullmove_number)
            or None
        )

    @staticmethod
    def _apply_resign_rule(
        rule: ResignRule, values: Sequence[int | None], last: int
    ) -> GameResult | None:
        own, other = values[::-1][::2], values[::-1][1::2]
        lost = _all(own[: rule.movecount], rule.movecount, lambda v: v <= -rule.score)
        agreed = _all(other[: rule.movecount], rule.movecount, lambda v: v >= rule.score)
        if lost and (agreed or not rule.twosided):
            return win(1 - last, Termination.RESIGN_ADJUDICATION)
        return None

    @staticmethod
    def _apply_draw_rule(
        rule: DrawRule, values: Sequence[int | None], board: chess.Board
    ) -> GameResult | None:
        count = 2 * rule.movecount
        quiet = _all(values[-count:], count, lambda v: abs(v) <= rule.score)
        if quiet and board.fullmove_number > rule.movenumber:
            return draw(Termination.DRAW_ADJUDICATION)
        return None

    def adjudicate_length(self, number: int) -> GameResult | None:
        """Return the draw of a game whose next move has this number, if it has gone on too long."""
        limit = self._settings.maxmoves
        if limit is not None and number > limit:
            return draw(Termination.MAX_MOVES)
        return None

    def _by_tablebase(self, board: chess.Board) -> GameResult | None:
        if self._tables is None or chess.popcount(board.occupied) > self._max_table_pieces:
            return None
        # The tables know the fifty-move rule only from a fresh counter on.
        if board.halfmove_clock or board.castling_rights:
            return None
        value = self._tables.get_wdl(board)
        if value is None:
            return None
        side = WHITE if board.turn == chess.WHITE else 1 - WHITE
        if abs(value) < 2:
            return draw(Termination.TABLES)
        return win(side if value > 0 else 1 - side, Termination.TABLES)

    def _open(self, directory: str) -> None:
        if not Path(directory).is_dir():
            raise SettingsError(f"endgame tables {directory}: no such directory")
        self._tables = chess.syzygy.open_tablebase(directory)
        names = [Path(name).stem for name in self._tables.wdl]
        if not names:
            self._tables.close()
            raise SettingsError(f"endgame tables {directory}: no Syzygy files (*.rtbw) in it")
        self._max_table_pieces = max(len(name.replace("v", "")) for name in names)


def _all(values: Sequence[int | None], count: int, holds: Callable[[int], bool]) -> bool:
    return len(values) == count and all(value is not None and holds(value) for value in values)
