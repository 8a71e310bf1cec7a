"""The state of the games on the play page, with moves, results and views."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import chess

from agent.game import CHANCE, GridGame, NotatedGame
from agent.games.backgammon import Backgammon
from agent.games.chain_status import Statuses
from agent.games.checkers import Checkers
from agent.games.connect_four import ConnectFour
from agent.games.game_state import GameState
from agent.games.stones import iter_bits
from agent.games.tic_tac_toe import TicTacToe
from agent.games.variants import board_class
from agent.io.message import Message, library_message
from kempelen.match.game.game_result import GameResult
from kempelen.match.game.referee import ChessReferee, Referee, result_by_rules
from kempelen.web.diagrams import board_labels, dice_diagram, move_squares, parse_grid
from kempelen.web.play.setup import (
    CHESS,
    GameSetup,
    SetupError,
    find_game_type,
    is_go,
    read_go_position,
)
from openings.start_positions import StartPosition
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules
from protocols.gtp.sgf import SgfGame

_SQUARES = re.compile(r"\d+")


class ChessGame(ChessReferee):
    def __init__(self, setup: GameSetup) -> None:
        super().__init__(
            StartPosition(setup.fen or board_class(setup.variant).starting_fen),
            setup.chess_rules,
        )

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
            "start": self.start,
            "check": board.is_check(),
            "last": move_squares(last) if last else [],
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
            self._last = move_cells(self.game).get(self.game.text(move), [])
        super().push(move, player)

    def undo(self) -> None:
        self._last = []
        super().undo()
        self._rolls = [ply for ply in self._rolls if ply < len(self.moves)]

    def _sample(self) -> float:
        """Return the random number of this ply. It is the same after a move has been taken back."""
        return Random(f"{self._seed}/{len(self.moves)}").random()

    def view(self) -> dict[str, Any]:
        game, legal = self.game, self.moves_with_cells()
        if isinstance(game, Backgammon):
            steps = {game.text(move): move for move in game.moves()}
            for move in legal:
                move["steps"] = steps[move["text"]]
        return self.diagram() | {"legal": legal, "rolls": self._rolls, "text": self.moves}

    def diagram(self) -> dict[str, Any]:
        """Return the position with the last move, but without the legal moves."""
        text, game = str(self.game), self.game
        rows = parse_grid(text)
        view: dict[str, Any] = {
            "kind": "grid" if rows else "text",
            "rows": rows,
            "dark": isinstance(game, Checkers),
            "line": self._winning_line(rows or []),
            "position": text,
            "last": self._last,
        }
        return view | dice_diagram(game) | self._labels

    def moves_with_cells(self) -> list[dict[str, Any]]:
        """Return the legal moves, each with the cells of its path."""
        paths = move_cells(self.game)
        return [{"text": move, "path": paths.get(move, [])} for move in self.legal_moves()]

    def _winning_line(self, rows: Sequence[str]) -> list[list[int]]:
        """Return the cells of the line that has won the game, as [row, column], or []."""
        game = self.game
        if not isinstance(game, ConnectFour | TicTacToe) or not game.outcome():
            return []
        length = 4 if isinstance(game, ConnectFour) else game.size
        for row, cells in enumerate(rows):
            for column, sign in enumerate(cells):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    line = [[row + i * down, column + i * right] for i in range(length)]
                    if sign in "XO" and all(
                        y < len(rows) and 0 <= x < len(cells) and rows[y][x] == sign
                        for y, x in line
                    ):
                        return line
        return []


def move_cells(game: NotatedGame[Any]) -> dict[str, list[list[int]]]:
    """Return the cells of each legal move, as [row, column] with rows from the top."""
    if isinstance(game, Checkers):
        texts = map(game.text, game.moves())
        return {move: [_square(int(n)) for n in _SQUARES.findall(move)] for move in texts}
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
        # The dead stones that the player has decided on, or None if they are estimated.
        self.decided_dead: list[str] | None = None
        # The stones at the start, with their players, and the player to move, or None.
        self.position: tuple[list[tuple[int, str]], int] | None = None
        if setup.sgf:
            self._set_up(read_go_position(setup.sgf))
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

    def _set_up(self, record: SgfGame) -> None:
        name = self.game.stones.shape.vertex
        stones = [
            (player, self.game.text(name(*point)))
            for player, points in enumerate(record.stones)
            for point in points
        ]
        try:
            self.set_position(stones)
        except GtpError as error:
            raise SetupError("position: {}", library_message(error)) from None
        self.set_player_to_move(record.first)
        self.position = stones, record.first

    def game_result(self) -> GameResult | None:
        """Return the result, or None while the game continues. May be slow."""
        return result_by_rules(self, self.result)

    @property
    def can_dispute(self) -> bool:
        """Whether the game is over and the result depends on which stones are dead."""
        return self.game.outcome() is not None and not self.rules.all_stones_live

    def flip_dead(self, text: str) -> None:
        """Change a chain from alive to dead or back. Raise ValueError if there is no stone."""
        try:
            stone = self.stone(text)
        except GtpError as error:
            raise ValueError("there is no stone at this point") from error
        chains = {chain: status == "dead" for chain, status in self._current_statuses().items()}
        vertices = [
            vertex for chain, dead in chains.items() if dead != (stone in chain) for vertex in chain
        ]
        self.decided_dead = [self.game.text(vertex) for vertex in vertices]

    def _current_statuses(self) -> Statuses:
        statuses = super()._current_statuses()
        if self.decided_dead is None:
            return statuses
        dead = set(map(self.vertex, self.decided_dead))
        return {
            chain: "dead" if chain[0] in dead else "alive" if status == "dead" else status
            for chain, status in statuses.items()
        }

    def view(self) -> dict[str, Any]:
        game = self.game
        over = game.outcome() is not None
        return {
            "kind": "go",
            "count": self._count() if over else None,
            "rows": [row.split()[1:] for row in str(game).splitlines()[: game.height]],
            "legal": self.legal_moves(),
            "last": self.moves[-1] if self.moves else "",
            "dead": self._dead_stones() if over else [],
            "prisoners": list(game.prisoners),
            "komi": self.komi,
            "handicap": self.handicap,
            "text": self.moves,
        }

    def territory(self) -> tuple[int, int]:
        """Return the points that Black and White surround at the end, as bitboards."""
        return self._surrounded(self._current_statuses(), self._dead_at_end())

    def _dead_at_end(self) -> int:
        return 0 if self.rules.all_stones_live else self.dead_stones()

    def _count(self) -> dict[str, Any]:
        """Return the points of both players and the owners of the points, rows from the top."""
        stones, dead, territory = self.game.stones, self._dead_at_end(), self.territory()
        if self.rules.territory:
            kind = "prisoners"
            others = [
                self.game.prisoners[player] + (stones.sets[2 - player] & dead).bit_count()
                for player in (0, 1)
            ]
        else:
            kind = "stones"
            others = [(stones.sets[player + 1] & ~dead).bit_count() for player in (0, 1)]
        points = [area.bit_count() for area in territory]
        return {
            "territory": points,
            kind: others,
            "komi": self.game.komi,
            "total": [points[0] + others[0], points[1] + others[1] + self.game.komi],
            "owners": [
                (territory[0] >> vertex & 1) - (territory[1] >> vertex & 1)
                for row in self.rows_from_the_top()
                for vertex in row
            ],
            "disputable": self.can_dispute,
        }

    def _dead_stones(self) -> list[str]:
        return [self.game.text(vertex) for vertex in iter_bits(self._dead_at_end())]


# The state of one game, with the result and the view for the page.
PlayedGame = ChessGame | BoardGame | GoGame


def initial_game(setup: GameSetup) -> PlayedGame:
    """Return a new game in its initial position."""
    if setup.game == CHESS:
        return ChessGame(setup)
    return GoGame(setup) if is_go(setup.game) else BoardGame(setup)


def replay_game(
    setup: GameSetup, moves: Sequence[str], dead: Sequence[str] | None = None
) -> PlayedGame:
    """Return the game after recorded moves and chance events.

    `dead` contains the stones of Go that the player has declared dead, or is None. Raise ValueError
    if a move or chance event is illegal, or if `dead` contains invalid points.
    """
    game = initial_game(setup)
    for text in moves[len(game.moves) :]:
        GameState.play(game, text)  # draws no chance events, which are among the moves
    if isinstance(game, GoGame) and dead is not None:
        try:
            game.decided_dead = [game.game.text(game.point(text)) for text in dead]
        except GtpError as error:
            raise ValueError(str(error)) from None
    return game


def _square(number: int) -> list[int]:
    """Return the row (from the top) and column of a checkers square from 1 to 32."""
    row, index = divmod(number - 1, 4)
    return [row, 2 * index + 1 - row % 2]
