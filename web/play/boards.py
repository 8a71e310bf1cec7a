"""Boards to play on: moves as text, who is to move, how it ends, and what a page draws of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any, Protocol, cast

import chess

from agent.game import CHANCE, Chance, Gridded, Patterned
from agent.games.chance import draw_event
from agent.games.checkers import Checkers
from agent.games.course import LONGEST
from agent.games.life import dead_of, statuses
from agent.games.stones import members
from openings.starts import Start
from protocols.gtp.boards import GameBoard, score_text
from protocols.gtp.go_board import GoBoard
from protocols.gtp.rules import read_rules
from protocols.gtp.values import GtpError
from tournament.referee import ChessReferee
from tournament.verdicts import Termination, Verdict, draw, win
from web.diagrams import grid_of
from web.play.setup import CHESS, Setup, is_go, kind_of

_SQUARES = re.compile(r"\d+")


class PlayBoard(Protocol):
    """One game as it stands. A player is 0, who moves first, or 1.

    moves: all moves and events so far, as text; movers: who made each. white: who is White.
    """

    moves: list[str]
    movers: list[int]
    white: int

    @property
    def mover(self) -> int:
        """The player to move."""

    def legal(self) -> list[str]:
        """Return the legal moves; none when the game is over."""

    def play(self, text: str) -> None:
        """Make a move, and let chance play after it. Raises ValueError."""

    def undo(self) -> None:
        """Take the last move or event back."""

    def verdict(self) -> Verdict | None:
        """Return how the game has ended by its rules; it may take long."""

    def view(self) -> dict[str, Any]:
        """Return what a page draws."""


class ChessTable:
    """A board of chess."""

    white = 0

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._referee = ChessReferee(
            Start(setup.fen or chess.STARTING_FEN, ()), chess960=setup.chess960
        )
        self._first = self._referee.turn
        self.moves, self.movers = self._referee.moves, self._referee.movers
        self.sans: list[str] = []

    @property
    def board(self) -> chess.Board:
        """The board of the rules."""
        return self._referee.board

    @property
    def mover(self) -> int:
        """The player to move: White is 0, also where Black begins."""
        return self._referee.mover

    def legal(self) -> list[str]:
        """Return the legal moves."""
        return [self.board.uci(move) for move in self.board.legal_moves]

    def play(self, text: str) -> None:
        """Make a move, in UCI's notation or as people write it."""
        try:
            try:
                move = self.board.parse_uci(text.lower())
            except ValueError:
                move = self.board.parse_san(text)
            _, san = self._referee.play(self.board.uci(move))
        except ValueError:
            raise ValueError(f"{text!r} is no legal move") from None
        self.sans.append(san)

    def undo(self) -> None:
        """Take the last move back."""
        self.board.pop()
        for those in (self.moves, self.movers, self.sans):
            those.pop()

    def verdict(self) -> Verdict | None:
        """Return how the game has ended by its rules."""
        return self._referee.verdict()

    def view(self) -> dict[str, Any]:
        """Return what a page draws."""
        board = self.board
        last = board.peek().uci() if board.move_stack else ""
        return {
            "kind": "chess",
            "fen": board.fen(),
            "check": board.is_check(),
            "last": [last[:2], last[2:4]] if last else [],
            "legal": self.legal(),
            "written": [board.san(move) for move in board.legal_moves],
            "text": self.sans,
        }


class GameTable:
    """A board of any other game."""

    white = 1

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        kind = kind_of(setup.game)
        self.board: GameBoard = (
            GoBoard(kind, setup.options) if is_go(setup.game) else GameBoard(kind, setup.options)
        )
        self.moves: list[str] = []
        self.movers: list[int] = []
        self._last: list[list[int]] = []  # the cells of the last move, as far as they are known
        self._let_chance_play()

    @property
    def game(self) -> Any:
        """The position."""
        return self.board.game

    @property
    def mover(self) -> int:
        """The player to move."""
        return int(self.game.turn)

    def legal(self) -> list[str]:
        """Return the legal moves."""
        return [] if self.game.outcome() is not None else self.board.legal()

    def play(self, text: str) -> None:
        """Make a move, and let chance play after it."""
        self.replay(text)
        self._let_chance_play()

    def replay(self, text: str) -> None:
        """Make a move or let an event happen, as a record has it."""
        chance = self.game.turn == CHANCE
        mover = (self.movers[-1] if self.movers else 0) if chance else self.mover
        legal = {move.lower(): move for move in self.board.legal()}
        if text.lower() not in legal or self.game.outcome() is not None:
            raise ValueError(f"{text!r} is no legal move")
        cells = [] if chance else self._paths().get(legal[text.lower()], [])
        try:
            self.board.play(mover, text)
        except GtpError as error:
            raise ValueError(str(error)) from None
        self.moves.append(legal[text.lower()])
        self.movers.append(mover)
        self._last = cells or self._last if chance else cells

    def undo(self) -> None:
        """Take the last move or event back."""
        self._last = []
        self.board.undo()
        self.moves.pop()
        self.movers.pop()

    def verdict(self) -> Verdict | None:
        """Return how the game has ended by its rules."""
        outcome = self.game.outcome()
        if outcome is None:
            too_long = len(self.moves) >= LONGEST
            return draw(Termination.MAX_MOVES, f"{LONGEST} plies") if too_long else None
        return self._judged(outcome)

    def view(self) -> dict[str, Any]:
        """Return what a page draws."""
        text = str(self.game)
        rows = grid_of(text)
        paths = self._paths()
        return {
            "kind": "grid" if rows else "text",
            "rows": rows,
            "dark": isinstance(self.game, Checkers),
            "falls": isinstance(self.game, Patterned) and self.game.upright,
            "position": text,
            "legal": [{"text": move, "path": paths.get(move, [])} for move in self.legal()],
            "last": self._last,
            "text": self.moves,
        }

    def _judged(self, outcome: float) -> Verdict:
        detail = score_text(outcome) if abs(outcome) not in (0, 1) else ""
        if outcome == 0:
            return draw(Termination.RULES)
        return win(1 if outcome > 0 else 0, Termination.RULES, detail)

    def _let_chance_play(self) -> None:
        while self.game.turn == CHANCE and self.game.outcome() is None:
            chance = Random(f"{self.setup.seed}/{len(self.moves)}").random()
            event = draw_event(cast("Chance[Any]", self.game), chance)
            self.replay(self.game.text(event))

    def _paths(self) -> dict[str, list[list[int]]]:
        """Return by which cells of the board, rows from above, each legal move is made."""
        game = self.game
        if isinstance(game, Checkers):
            return {
                move: [_square(int(n)) for n in _SQUARES.findall(move)] for move in self.legal()
            }
        if not isinstance(game, Gridded) or self.game.outcome() is not None:
            return {}
        found: dict[str, list[list[int]]] = {}
        for row, cells in enumerate(game.grid()):
            for column in range(len(cells)):
                if (move := game.filling(row, column)) is not None:
                    found.setdefault(self.game.text(move), [[row, column]])
        return found


class GoTable(GameTable):
    """A board of Go, with handicap, rules, and what counts as dead in the end."""

    board: GoBoard

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.board.set_rules(read_rules(setup.rules))
        self.handicap: list[str] = []
        self._dead: tuple[int, list[str]] = (-1, [])
        if setup.handicap >= 2:
            try:
                self.handicap = self.board.place_free_handicap(setup.handicap).split()
            except GtpError:
                raise ValueError(
                    f"a board of size {self.game.size} has no room for {setup.handicap} stones"
                ) from None

    def dead(self) -> list[str]:
        """Return the dead stones of the position in which both have passed; takes long once."""
        if self._dead[0] != len(self.moves):
            game, friendly = self.game, self.board.rules.friendly
            found = dead_of(statuses(game)) if friendly else 0
            self._dead = len(self.moves), [game.text(vertex) for vertex in members(found)]
        return self._dead[1]

    def undo(self) -> None:
        """Take the last move back."""
        super().undo()
        self._dead = (-1, [])

    def verdict(self) -> Verdict | None:
        """Return how the game has ended, by the rules in force."""
        if self.game.outcome() is None:
            return super().verdict()
        self.dead()
        return self._judged(self.board.result())

    def view(self) -> dict[str, Any]:
        """Return what a page draws."""
        game = self.game
        over = game.outcome() is not None
        return {
            "kind": "go",
            "rows": [row.split()[1:] for row in str(game).splitlines()[: game.height]],
            "legal": self.legal(),
            "last": self.moves[-1] if self.moves else "",
            "dead": self.dead() if over else [],
            "prisoners": list(game.prisoners),
            "komi": self.board.komi,
            "handicap": self.handicap,
            "text": self.moves,
        }


def table_of(setup: Setup) -> PlayBoard:
    """Return the board of a game at its start."""
    if setup.game == CHESS:
        return ChessTable(setup)
    return GoTable(setup) if is_go(setup.game) else GameTable(setup)


def at_ply(setup: Setup, moves: Sequence[str]) -> PlayBoard:
    """Return the board after moves and events, as a record has them. Raises ValueError."""
    table = table_of(setup)
    for text in moves[len(table.moves) :]:
        if isinstance(table, GameTable):
            table.replay(text)
        else:
            table.play(text)
    return table


def _square(number: int) -> list[int]:
    """Return the row and the column, from above, of a square of checkers, 1 to 32."""
    row, place = divmod(number - 1, 4)
    return [row, 2 * place + 1 - row % 2]
