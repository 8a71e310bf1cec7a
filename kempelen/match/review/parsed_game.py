from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from agent.io.strict_json import MAX_NUMBER
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    GameReview,
    MoveQuality,
    PositionEval,
    ReviewedMove,
    centipawn_loss,
    first_player_view,
    move_loss,
    move_stats,
    quality_of_loss,
    with_hindsight,
)

# Maximum length, in plies, of a variation that is added to a game.
MAX_VARIATION_LENGTH = 10
# Seconds to wait until cancelled searches have ended.
CLOSE_TIMEOUT = 5.0
# Mistakes and blunders are verified: the positions before and after them are searched again, with
# the limits multiplied by this factor.
VERIFICATION_FACTOR = 10
VERIFIED_QUALITIES = (MoveQuality.MISTAKE, MoveQuality.BLUNDER)


def verification_limits(limits: TimeControl) -> TimeControl:
    """Return the limits for the verification of moves."""
    nodes, movetime = limits.nodes, limits.movetime
    return replace(
        limits,
        nodes=nodes and min(nodes * VERIFICATION_FACTOR, int(MAX_NUMBER)),
        movetime=movetime and movetime * VERIFICATION_FACTOR,
        patience=limits.patience * VERIFICATION_FACTOR,
    )


def _is_verified(found: PositionEval | None, limits: TimeControl) -> bool:
    """Return whether an earlier run has verified an evaluation. A search may exceed its limit."""
    return found is not None and limits.nodes is not None and found.nodes > 2 * limits.nodes


class ParsedGame(ABC):
    """A parsed game.

    `number` is the position of the game in its file, from 1. `moves` are in the engine's notation.
    Player 0 is White in chess and Black in Go, even if the other player moves first.
    """

    game: str
    suffix: str  # of files of games
    unit: str  # of search limits
    number: int
    moves: tuple[str, ...]

    @property
    def plies(self) -> range:
        """The ply of each position, which is the number of moves before it."""
        return range(len(self.moves) + 1)

    @abstractmethod
    def keys(self, known: AnalysisFile) -> list[str]:
        """Return the keys of all positions in `known`. A key covers the history of the game."""

    @abstractmethod
    def mover(self, ply: int) -> int:
        """Return the player to move after `ply` moves."""

    @abstractmethod
    def titles(self) -> dict[str, str]:
        """Return the fields `event`, `first`, `second` and `result` of the review."""

    def notation(
        self, lines: Sequence[Sequence[str]]
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        """Yield the move number, the move and its better line for each move, in notation for users.

        `lines` contains the better lines in the engine's notation, which is that of users except in
        chess.
        """
        for number, (text, line) in enumerate(zip(self.moves, lines, strict=True), 1):
            yield number, text, tuple(line)

    @abstractmethod
    def annotated(self, known: AnalysisFile, annotator: str) -> str:
        """Return the game as text, with evaluations, and with better lines for bad moves.

        `annotator` is the name of the reviewer in the text. Comments, variations and the marks of
        other annotators are kept.
        """

    def missing(self, known: AnalysisFile, since: int = 0) -> dict[int, str]:
        """Return the plies of positions without a known evaluation, with their keys.

        Plies before `since` are left out.
        """
        return {
            ply: key
            for ply, key in enumerate(self.keys(known))
            if ply >= since and known.get(key) is None
        }

    def doubtful(
        self, known: AnalysisFile, limits: TimeControl, verified: Collection[str]
    ) -> dict[int, str]:
        """Return the plies of the positions that must be verified, with their keys.

        These are the positions before and after mistakes and blunders, unless their keys are in
        `verified`, or they were searched beyond the `limits` already. A move that the search before
        it preferred may be a blunder, too.
        """
        if limits.nodes is None and limits.movetime is None:
            return {}
        keys, evals, bad = self.keys(known), self.evals(known), []
        for ply, (before, after) in enumerate(pairwise(evals)):
            if before is not None and after is not None:
                same_mover = self.mover(ply) == self.mover(ply + 1)
                loss = move_loss(replace(before, line=()), after, self.moves[ply], same_mover)
                if quality_of_loss(loss) in VERIFIED_QUALITIES:
                    bad.append(ply + 1)
        return {
            ply: keys[ply]
            for ply in sorted({*bad, *(ply - 1 for ply in bad)})
            if keys[ply] not in verified and not _is_verified(known.get(keys[ply]), limits)
        }

    def evals(self, known: AnalysisFile) -> list[PositionEval | None]:
        """Return the known evaluations of all positions, corrected by those of later positions."""
        evals = list(map(known.get, self.keys(known)))
        return with_hindsight(evals, self.moves, list(map(self.mover, self.plies)))

    def review(self, known: AnalysisFile) -> GameReview:
        """Review the game. A move is not rated if an evaluation before or after it is missing."""
        evals = self.evals(known)
        texts = self.notation([before.line if before else () for before in evals[:-1]])
        moves = []
        for ply, (number, text, line) in enumerate(texts):
            before, after, player = evals[ply], evals[ply + 1], self.mover(ply)
            loss = lost_centipawns = None
            if before is not None and after is not None:
                same_mover = self.mover(ply + 1) == player
                loss = move_loss(before, after, self.moves[ply], same_mover)
                if self.game == "chess":
                    lost_centipawns = centipawn_loss(before, after, self.moves[ply], same_mover)
            moves.append(
                ReviewedMove(
                    ply=ply + 1,
                    number=number,
                    player=player,
                    move=text,
                    best=line[0] if line else "",
                    line=line,
                    loss=loss,
                    centipawn_loss=lost_centipawns,
                    grade=quality_of_loss(loss),
                    **first_player_view(after, self.mover(ply + 1)),  # type: ignore[arg-type]
                )
            )
        start = first_player_view(evals[0], self.mover(0)).get("expected")
        return GameReview(
            game=self.game,
            number=self.number,
            start=start,
            moves=tuple(moves),
            tallies=move_stats(moves, start),
            **self.titles(),
        )
