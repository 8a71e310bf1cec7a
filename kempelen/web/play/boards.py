"""The state of the games on the play page, with moves, results and views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any, Protocol, cast

import chess

from agent.game import CHANCE, ChanceGame, GridGame, HasPatterns
from agent.games.chain_status import chain_statuses, dead_from_statuses
from agent.games.chance import draw_event
from agent.games.checkers import Checkers
from agent.games.game_history import MAX_PLIES
from agent.games.stones import iter_bits
from kempelen.match.game.game_result import GameResult, Termination, draw, win
from kempelen.match.game.referee import ChessReferee
from kempelen.web.diagrams import parse_grid
from kempelen.web.play.setup import CHESS, GameSetup, find_game_type, is_go
from openings.start_positions import StartPosition
from protocols.gtp.board import GtpBoard, score_text
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules

_SQUARES = re.compile(r"\d+")


class PlayedGame(Protocol):
    """The state of one game, in which player 0 moves first.

    The list `movers` contains the player of each move or chance event in `moves`.
    """

    moves: list[str]
    movers: list[int]
    white: int

    @property
    def mover(self) -> int:
        """The number of the player to move."""

    def legal_moves(self) -> list[str]:
        """Return the legal moves, or [] if the game is over."""

    def play(self, text: str) -> None:
        """Make a move and all chance events after it. Raise ValueError if it is illegal."""

    def undo(self) -> None:
        """Undo the last move or chance event."""

    def game_result(self) -> GameResult | None:
        """Return the result, or None while the game continues. May be slow in Go."""

    def view(self) -> dict[str, Any]:
        """Return the position as JSON for the page."""


class ChessGame:
    white = 0

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        self._referee = ChessReferee(
            StartPosition(setup.fen or chess.STARTING_FEN, ()), chess960=setup.chess960
        )
        self._first = self._referee.turn
        self.moves, self.movers = self._referee.moves, self._referee.movers
        self.sans: list[str] = []

    @property
    def board(self) -> chess.Board:
        return self._referee.board

    @property
    def mover(self) -> int:
        """The number of the player to move. White is player 0, even if Black moves first."""
        return self._referee.mover

    def legal_moves(self) -> list[str]:
        return [self.board.uci(move) for move in self.board.legal_moves]

    def play(self, text: str) -> None:
        """Make a move in UCI notation or SAN. Raise ValueError if the move is illegal."""
        try:
            try:
                move = self.board.parse_uci(text.lower())
            except ValueError:
                move = self.board.parse_san(text)
            _, san = self._referee.play(self.board.uci(move))
        except ValueError:
            raise ValueError(f"illegal move {text!r}") from None
        self.sans.append(san)

    def undo(self) -> None:
        self.board.pop()
        for history in (self.moves, self.movers, self.sans):
            history.pop()

    def game_result(self) -> GameResult | None:
        return self._referee.game_result()

    def view(self) -> dict[str, Any]:
        board = self.board
        last = board.peek().uci() if board.move_stack else ""
        return {
            "kind": "chess",
            "fen": board.fen(),
            "check": board.is_check(),
            "last": [last[:2], last[2:4]] if last else [],
            "legal": self.legal_moves(),
            "written": [board.san(move) for move in board.legal_moves],
            "text": self.sans,
        }


class BoardGame:
    """A game other than chess."""

    white = 1

    def __init__(self, setup: GameSetup) -> None:
        self.setup = setup
        game_type = find_game_type(setup.game)
        self.board: GtpBoard = (
            GtpGoBoard(game_type, setup.options)
            if is_go(setup.game)
            else GtpBoard(game_type, setup.options)
        )
        self.moves: list[str] = []
        self.movers: list[int] = []
        self._last: list[list[int]] = []  # cells of the last move; empty if unknown
        self._play_chance_events()

    @property
    def game(self) -> Any:
        return self.board.game

    @property
    def mover(self) -> int:
        return int(self.game.turn)

    def legal_moves(self) -> list[str]:
        return [] if self.game.outcome() is not None else self.board.legal_moves()

    def play(self, text: str) -> None:
        self.replay(text)
        self._play_chance_events()

    def replay(self, text: str) -> None:
        """Make a recorded move or chance event. Raise ValueError if it is illegal."""
        chance = self.game.turn == CHANCE
        mover = (self.movers[-1] if self.movers else 0) if chance else self.mover
        legal = {move.lower(): move for move in self.board.legal_moves()}
        if text.lower() not in legal or self.game.outcome() is not None:
            raise ValueError(f"illegal move {text!r}")
        cells = [] if chance else self._move_cells().get(legal[text.lower()], [])
        try:
            self.board.play(mover, text)
        except GtpError as error:
            raise ValueError(str(error)) from None
        self.moves.append(legal[text.lower()])
        self.movers.append(mover)
        self._last = cells or self._last if chance else cells

    def undo(self) -> None:
        self._last = []
        self.board.undo()
        self.moves.pop()
        self.movers.pop()

    def game_result(self) -> GameResult | None:
        outcome = self.game.outcome()
        if outcome is None:
            too_long = len(self.moves) >= MAX_PLIES
            return draw(Termination.MAX_MOVES, f"{MAX_PLIES} plies") if too_long else None
        return self._verdict_from_score(outcome)

    def view(self) -> dict[str, Any]:
        text = str(self.game)
        rows = parse_grid(text)
        paths = self._move_cells()
        return {
            "kind": "grid" if rows else "text",
            "rows": rows,
            "dark": isinstance(self.game, Checkers),
            "falls": isinstance(self.game, HasPatterns) and self.game.upright,
            "position": text,
            "legal": [{"text": move, "path": paths.get(move, [])} for move in self.legal_moves()],
            "last": self._last,
            "text": self.moves,
        }

    def _verdict_from_score(self, outcome: float) -> GameResult:
        detail = score_text(outcome) if abs(outcome) not in (0, 1) else ""
        if outcome == 0:
            return draw(Termination.RULES)
        return win(1 if outcome > 0 else 0, Termination.RULES, detail)

    def _play_chance_events(self) -> None:
        while self.game.turn == CHANCE and self.game.outcome() is None:
            chance = Random(f"{self.setup.seed}/{len(self.moves)}").random()
            event = draw_event(cast("ChanceGame[Any]", self.game), chance)
            self.replay(self.game.text(event))

    def _move_cells(self) -> dict[str, list[list[int]]]:
        """Return the cells of each legal move, as [row, column] with rows from the top."""
        game = self.game
        if isinstance(game, Checkers):
            return {
                move: [_square(int(n)) for n in _SQUARES.findall(move)]
                for move in self.legal_moves()
            }
        if not isinstance(game, GridGame) or self.game.outcome() is not None:
            return {}
        moves: dict[str, list[list[int]]] = {}
        for row, cells in enumerate(game.grid()):
            for column in range(len(cells)):
                if (move := game.move_at(row, column)) is not None:
                    moves.setdefault(self.game.text(move), [[row, column]])
        return moves


class GoGame(BoardGame):
    """A game of Go with handicap, a choice of rules, and removal of dead stones."""

    board: GtpGoBoard

    def __init__(self, setup: GameSetup) -> None:
        super().__init__(setup)
        self.board.set_rules(read_rules(setup.rules))
        self.handicap: list[str] = []
        self._dead: tuple[int, list[str]] = (-1, [])
        if setup.handicap >= 2:
            try:
                self.handicap = self.board.place_free_handicap(setup.handicap).split()
            except GtpError:
                raise ValueError(
                    f"handicap: {setup.handicap} stones do not fit on a board of size "
                    f"{self.game.size}"
                ) from None

    def dead(self) -> list[str]:
        """Return the dead stones after both players have passed. The first call is slow."""
        if self._dead[0] != len(self.moves):
            game, friendly_pass_ok = self.game, self.board.rules.friendly_pass_ok
            dead = dead_from_statuses(chain_statuses(game)) if friendly_pass_ok else 0
            self._dead = len(self.moves), [game.text(vertex) for vertex in iter_bits(dead)]
        return self._dead[1]

    def undo(self) -> None:
        super().undo()
        self._dead = (-1, [])

    def game_result(self) -> GameResult | None:
        if self.game.outcome() is None:
            return super().game_result()
        self.dead()
        return self._verdict_from_score(self.board.result())

    def view(self) -> dict[str, Any]:
        game = self.game
        over = game.outcome() is not None
        return {
            "kind": "go",
            "rows": [row.split()[1:] for row in str(game).splitlines()[: game.height]],
            "legal": self.legal_moves(),
            "last": self.moves[-1] if self.moves else "",
            "dead": self.dead() if over else [],
            "prisoners": list(game.prisoners),
            "komi": self.board.komi,
            "handicap": self.handicap,
            "text": self.moves,
        }


def initial_game(setup: GameSetup) -> PlayedGame:
    """Return a new game in its initial position."""
    if setup.game == CHESS:
        return ChessGame(setup)
    return GoGame(setup) if is_go(setup.game) else BoardGame(setup)


def replay_game(setup: GameSetup, moves: Sequence[str]) -> PlayedGame:
    """Return the game after recorded moves and chance events.

    Raise ValueError if a move or chance event is illegal.
    """
    game = initial_game(setup)
    for text in moves[len(game.moves) :]:
        if isinstance(game, BoardGame):
            game.replay(text)
        else:
            game.play(text)
    return game


def _square(number: int) -> list[int]:
    """Return the row (from the top) and column of a checkers square from 1 to 32."""
    row, index = divmod(number - 1, 4)
    return [row, 2 * index + 1 - row % 2]
