"""Generate self-play games in a variant of chess and append them to a text file of positions.

Each line is `FEN | score | result`, as other trainers write it: the score of the search in
centipawns and the result (1, 0.5 or 0), both for White. An empty line ends a game. The file is the
same for any number of workers, and after any interruption.
"""

import contextlib
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import chess

from agent.chess.parts import variant_part
from agent.chess.search.selfplay_settings import (
    MAX_OPENING_ATTEMPTS,
    OpeningsError,
    SelfPlaySettings,
)
from agent.chess.variants import variant_module
from agent.games.variants import board_class, variant_outcome
from agent.io.file_lock import lock_or_raise
from agent.kernel import compilation
from agent.kernel.scores import MATE_BOUND
from agent.limits import Limits, Mate
from kempelen.training.workers import GamesError, LocalProcesses

_RESULTS = {1: "1", 0: "0.5", -1: "0"}
Game = list[str]


@dataclass(frozen=True)
class VariantSelfPlayPlan:
    """The settings of self-play. A game depends only on these settings and its number."""

    variant: str
    rules: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    seed: int = 1


class VariantSelfPlay:
    """Plays self-play games in a variant, each identified by a number."""

    def __init__(self, plan: VariantSelfPlayPlan) -> None:
        self._rules = plan.rules
        self._plan = plan
        self._search = variant_module(plan.variant, "search.alphabeta_search").AlphaBetaSearch(
            plan.rules.hash
        )
        self._kernel_board = variant_module(plan.variant, "board.kernel_board").KernelBoard()

    def play(self, number: int) -> Game:
        """Return the lines of game `number`. Raise OpeningsError if no opening is playable."""
        generator = random.Random(f"{self._plan.seed}/{number}")
        for _ in range(MAX_OPENING_ATTEMPTS):
            self._search.new_game()
            game = self._play(generator)
            if game is not None:
                return game
        raise OpeningsError(
            f"openings: {MAX_OPENING_ATTEMPTS} attempts all ended or decided the game; "
            "use fewer random plies"
        )

    def _play(self, generator: random.Random) -> Game | None:
        """Return the lines of a game, or None if the random moves end or decide it."""
        rules = self._rules
        board = board_class(self._plan.variant)()
        random_plies = rules.random_plies + generator.randrange(2)
        for _ in range(random_plies):
            if self._result(board) is not None:
                return None
            board.push(generator.choice(list(board.legal_moves)))
        positions: list[tuple[str, int]] = []
        winning_plies = drawn_plies = 0  # winning_plies is for White
        result = self._result(board)
        if result is not None:
            return None
        while result is None and board.ply() < rules.max_plies:
            move, score = self._best_move(board)
            if board.ply() == random_plies and abs(score) > rules.opening_limit:
                return None
            if not board.turn:
                score = -score
            if board.ply() >= rules.first_ply and _is_quiet(board, move, score):
                positions.append((board.fen(), score))
            if abs(score) < rules.win_score:
                winning_plies = 0
            elif score > 0:
                winning_plies = max(winning_plies, 0) + 1
            else:
                winning_plies = min(winning_plies, 0) - 1
            is_level = abs(score) <= rules.draw_score and board.ply() >= rules.draw_ply
            drawn_plies = drawn_plies + 1 if is_level else 0
            if abs(winning_plies) >= rules.win_plies:
                result = 1 if winning_plies > 0 else -1
            elif drawn_plies >= rules.draw_plies:
                result = 0
            else:
                board.push(move)
                result = self._result(board)
        text = _RESULTS[result or 0]
        return [f"{fen} | {score} | {text}" for fen, score in positions]

    def _best_move(self, board: chess.Board) -> tuple[chess.Move, int]:
        """Return the best move and its score for the side to move."""
        *_, last = self._search.search(board, Limits(nodes=self._rules.nodes))
        if isinstance(last.score, Mate):
            return last.pv[0], MATE_BOUND if last.score.moves > 0 else -MATE_BOUND
        return last.pv[0], last.score.value

    def _result(self, board: chess.Board) -> int | None:
        """Return the result for White if the game has ended, or None."""
        self._kernel_board.load(board)
        termination = self._kernel_board.outcome()
        if termination is None:
            return None
        sign = 1 if board.turn else -1
        outcome = variant_outcome(board)
        if outcome is not None:
            return sign * outcome
        return -sign if termination is chess.Termination.CHECKMATE else 0


def _is_quiet(board: chess.Board, move: chess.Move, score: int) -> bool:
    quiet = not board.is_capture(move) and not move.promotion and not board.is_check()
    return quiet and abs(score) < MATE_BOUND


def create_player(plan: VariantSelfPlayPlan) -> VariantSelfPlay:
    """Create a player in a worker process, and compile its kernel if necessary."""
    part = variant_part(plan.variant)
    if not compilation.is_cached(part):
        compilation.warm_up(None, (part,))
    return VariantSelfPlay(plan)


@dataclass(frozen=True)
class VariantSelfPlayProgress:
    positions: int  # in the file, including earlier runs
    games: int


def generate(
    path: Path, plan: VariantSelfPlayPlan, positions: int, processes: int = 1
) -> Generator[VariantSelfPlayProgress, None, None]:
    """Play games until the file contains at least `positions` positions.

    Yield the progress at the start and after each game. An incomplete last game is played again.
    Raise GamesError if a worker fails or the file is in use.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock_or_raise(path, GamesError))
        file = stack.enter_context(path.open("a+", encoding="utf-8", newline="\n"))
        file.seek(0)
        text = file.read()
        complete = text[: text.rfind("\n\n") + 2] if "\n\n" in text else ""
        file.truncate(len(complete.encode()))
        games = complete.count("\n\n")
        found = complete.count(" | ") // 2
        yield VariantSelfPlayProgress(found, games)
        if found >= positions:
            return
        numbers = range(games, 1 << 62)
        make = partial(create_player, plan)
        played = LocalProcesses(processes).games(make, numbers, (OpeningsError,))
        with contextlib.closing(played):
            while found < positions:
                game = next(played)
                file.write("".join(f"{line}\n" for line in game) + "\n")
                file.flush()
                found += len(game)
                games += 1
                yield VariantSelfPlayProgress(found, games)
