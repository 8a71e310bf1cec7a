"""The state of the games on the play page, with moves, results and views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import chess

from agent.game import CHANCE, GridGame
from agent.games.backgammon import Backgammon
from agent.games.checkers import Checkers
from agent.games.game_state import GameState
from agent.games.stones import iter_bits
from agent.io.message import Message
from kempelen.match.game.game_result import GameResult
from kempelen.match.game.referee import ChessReferee, Referee, result_by_rules
from kempelen.web.diagrams import board_labels, dice_diagram, parse_grid
from kempelen.web.play.setup import CHESS, GameSetup, find_game_type, is_go
from openings.start_positions import StartPosition
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules

_SQUARES = re.compile(r"\d+")


class ChessGame(ChessReferee):
    def __init__(self, setup: GameSetup) -> None:
        super().__init__(StartPosition(setup.fen or chess.STARTING_FEN), chess960=setup.chess960)

    def parse(self, text: str) -> chess.Move:
        """Parse a move in UCI notation or SAN."""
        try:
            return super().parse(text)
        except ValueError:
            return super().parse(self.board.parse_san(text).uci())

    def view(self) -> dict[str, Any]:
        board = self.board
        last = board.peek().uci() if board.move_stack else ""
        return {
            "kind": "chess",
            "fen": board.fen(),
            "check": board.is_check(),
            "last": [last[:2], last[2:4]] if last else [],
            "legal": self.legal_moves(),
            "written": [board.san(move) for move in self.game.moves()],
            "text": self.shown_moves,
        }


class BoardGame(Referee):
    """A game other than chess and Go."""

    def __init__(self, setup: GameSetup) -> None:
        self._seed = setup.seed
        self._last: list[list[int]] = []  # cells of the last move; empty if unknown
        self._rolls: list[int] = []  # the plies of chance events
        game = find_game_type(setup.game).new(**setup.options)
        self._labels = board_labels(game)
        super().__init__(game, StartPosition())

    def push(self, move: Any, player: int | None = None) -> None:
        if self.mover == CHANCE:
            self._rolls.append(len(self.moves))
        else:
            self._last = self._move_cells().get(self.game.text(move), [])
        super().push(move, player)

    def undo(self) -> None:
        self._last = []
        super().undo()
        self._rolls = [ply for ply in self._rolls if ply < len(self.moves)]

    def _sample(self) -> float:
        """Return the random number of this ply. It is the same after a move has been taken back."""
        return Random(f"{self._seed}/{len(self.moves)}").random()

    def view(self) -> dict[str, Any]:
        text, game = str(self.game), self.game
        rows = parse_grid(text)
        paths = self._move_cells()
        view: dict[str, Any] = {
            "kind": "grid" if rows else "text",
            "rows": rows,
            "dark": isinstance(self.game, Checkers),
            "position": text,
            "legal": [{"text": move, "path": paths.get(move, [])} for move in self.legal_moves()],
            "last": self._last,
            "rolls": self._rolls,
            "text": self.moves,
        }
        if isinstance(game, Backgammon):
            steps = {game.text(move): move for move in game.moves()}
            for move in view["legal"]:
                move["steps"] = steps[move["text"]]
        return view | dice_diagram(game) | self._labels

    def _move_cells(self) -> dict[str, list[list[int]]]:
        """Return the cells of each legal move, as [row, column] with rows from the top."""
        game = self.game
        if isinstance(game, Checkers):
            return {
                move: [_square(int(n)) for n in _SQUARES.findall(move)]
                for move in self.legal_moves()
            }
        if not isinstance(game, GridGame) or game.outcome() is not None:
            return {}
        moves: dict[str, list[list[int]]] = {}
        for row, cells in enumerate(game.grid()):
            for column in range(len(cells)):
                if (move := game.move_at(row, column)) is not None:
                    moves.setdefault(game.text(move), [[row, column]])
        return moves


class GoGame(GtpGoBoard):
    """A game of Go with handicap, a choice of rules, and removal of dead stones."""

    white = 1

    def __init__(self, setup: GameSetup) -> None:
        game_type = find_game_type(setup.game)
        super().__init__(game_type, setup.options, rules=read_rules(setup.rules))
        self.setup = setup
        self.handicap: list[str] = []
        if setup.handicap >= 2:
            try:
                self.handicap = self.place_free_handicap(setup.handicap).split()
            except GtpError:
                raise ValueError(
                    Message(
                        "handicap: {} stones do not fit on a board of size {}",
                        setup.handicap,
                        self.game.size,
                    )
                ) from None

    def game_result(self) -> GameResult | None:
        """Return the result, or None while the game continues. May be slow."""
        return result_by_rules(self, self.result)

    def view(self) -> dict[str, Any]:
        game = self.game
        over = game.outcome() is not None
        return {
            "kind": "go",
            "rows": [row.split()[1:] for row in str(game).splitlines()[: game.height]],
            "legal": self.legal_moves(),
            "last": self.moves[-1] if self.moves else "",
            "dead": self._dead_stones() if over else [],
            "prisoners": list(game.prisoners),
            "komi": self.komi,
            "handicap": self.handicap,
            "text": self.moves,
        }

    def _dead_stones(self) -> list[str]:
        if self.rules.all_stones_live:
            return []
        return [self.game.text(vertex) for vertex in iter_bits(self.dead_stones())]


# The state of one game, with the result and the view for the page.
PlayedGame = ChessGame | BoardGame | GoGame


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
        GameState.play(game, text)  # draws no chance events, which are among the moves
    return game


def _square(number: int) -> list[int]:
    """Return the row (from the top) and column of a checkers square from 1 to 32."""
    row, index = divmod(number - 1, 4)
    return [row, 2 * index + 1 - row % 2]
