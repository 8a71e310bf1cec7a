"""The Go position of a GTP session: colours may move out of turn, stones may be set up."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agent.games.catalogue import GameType
from agent.games.chain_status import (
    Status,
    Statuses,
    StatusEstimator,
    chain_statuses,
    classify_chains,
    dead_from_statuses,
    stones_with_status,
)
from agent.games.go import COLUMNS, MAX_SIZE, Go, format_size, without_stones
from agent.games.stones import EMPTY, PASS, shape
from agent.io.files import write_atomically
from protocols.gtp import sgf
from protocols.gtp.board import ILLEGAL_MOVE, GtpBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import DEFAULT_RULES, GoRules, rules_from_sgf
from protocols.rulesets import handicap_bonus

DEFAULT_SIZE = 19
# So many of the player's own moves may still come: this share of the empty vertices, but never
# fewer than the least.
EMPTY_FRACTION, MIN_MOVES_LEFT = 0.4, 8
# With fewer moves than this share of the vertices a game has hardly begun.
EARLY_FRACTION = 0.25
INVALID_NUMBER = "invalid number of stones"


class GtpGoBoard(GtpBoard):
    """A game of Go. Passing twice ends it for the score, not for the session.

    komi: what was agreed on; the game's own has White's points for handicap stones too. judge:
    tells which stones are dead. rules: in force until others are set.
    """

    game: Go

    def __init__(
        self,
        kind: GameType,
        options: Mapping[str, Any],
        judge: StatusEstimator = chain_statuses,
        rules: GoRules = DEFAULT_RULES,
    ) -> None:
        super().__init__(kind, {"size": DEFAULT_SIZE, **options})
        self.komi = self.game.komi
        self.rules = rules
        self._judge = judge
        # What was last said of which stones are dead, and of what position.
        self._last_statuses: tuple[Hashable, Statuses] | None = None
        # The game so far: Black's and White's stones before the first move, of how many stones a
        # handicap consists, who began, and all moves.
        self._set_start(([], []), 0, 0)

    @property
    def moves_left(self) -> int:  # type: ignore[override]
        """How many moves of his own a player may still have to make."""
        empty = self.game.stones.sets[EMPTY].bit_count()
        return max(MIN_MOVES_LEFT, int(empty * EMPTY_FRACTION))

    @property
    def is_early(self) -> bool:
        """Whether too little has been played to call the game lost."""
        return len(self._moves) < EARLY_FRACTION * self.game.width * self.game.height

    @property
    def size(self) -> str:
        """The edge of a square board, or the columns and the rows of another, as text."""
        return str(self.game.size).replace("x", " ")

    def _size_options(self, width: int, height: int | None) -> dict[str, Any]:
        return {"size": format_size(width, width if height is None else height)}

    def set_komi(self, komi: float) -> None:
        """Change the komi, of this game too."""
        self._options["komi"] = self.komi = komi
        self._apply_rules()

    def set_rules(self, rules: GoRules) -> None:
        """Change the rules, of this game too."""
        self.rules = rules
        self._apply_rules()

    def clear(self) -> None:
        """Begin again."""
        super().clear()
        self._set_start(([], []), 0, 0)

    def _set_start(self, stones: tuple[list[int], list[int]], handicap: int, first: int) -> None:
        """Take note of how the game begins."""
        self._setup_stones = stones
        self._handicap = handicap
        self._first_player = first
        self._moves: list[tuple[int, int]] = []
        self._apply_rules()

    def _apply_rules(self) -> None:
        """Let the game be played for what the end will be worth."""
        self.game.komi = self.komi + handicap_bonus(self.rules.handicap_bonus_rule, self._handicap)
        self.game.capture_dead_stones = not self.rules.friendly_pass_ok

    def vertex(self, text: str) -> int:
        """Return the vertex that is written so, or PASS; GtpError if it is not on the board."""
        text, shape = text.upper(), self.game.stones.shape
        if text == "PASS":
            return PASS
        column, row = COLUMNS.find(text[:1]), text[1:]
        if not (row.isascii() and row.isdecimal() and len(row) < 3 and 0 <= column < shape.width):
            raise GtpError("syntax error")
        if not 1 <= int(row) <= shape.height:
            raise GtpError("syntax error")
        return shape.vertex(column, int(row) - 1)

    def play(self, player: int, text: str) -> None:
        """Let a player move, whoever's turn it is."""
        try:
            move = self.vertex(text)
        except GtpError:
            raise GtpError(ILLEGAL_MOVE) from None
        if not self.game.is_legal(player, move):
            raise GtpError(ILLEGAL_MOVE)
        self.play_move(player, move)

    def play_move(self, player: int, move: int) -> None:
        """Make a legal move for a player."""
        self.require_game_length()
        self.game.play_as(player, move)
        self._movers.append(player)
        self._moves.append((player, move))

    def undo(self) -> None:
        """Take the last move back."""
        super().undo()
        self._moves.pop()

    @contextmanager
    def player_to_move(self, player: int) -> Iterator[None]:
        """Let a player think, whoever's turn it is, and after the end too."""
        if self.game.turn == player and not self.game.is_over():
            yield
            return
        self.game.set_turn(player)
        try:
            yield
        finally:
            self.game.undo()

    @contextmanager
    def cleaning_up(self) -> Iterator[None]:
        """Let a player capture all dead stones before he passes."""
        self.game.capture_dead_stones = True
        try:
            yield
        finally:
            self._apply_rules()

    def result(self, found: Statuses | None = None) -> float:
        """Return Black's points less White's, by the rules in force.

        Stones that look dead are taken off, where the rules let both pass over them. found: what
        is said of the chains; it is asked for otherwise.
        """
        rules, game = self.rules, self.game
        if not (rules.territory or rules.friendly_pass_ok):
            return game.score()
        found = self._current_statuses() if found is None else found
        return (
            self._territory_score(found)
            if rules.territory
            else game.score(dead_from_statuses(found))
        )

    def _current_statuses(self) -> Statuses:
        """Return every chain with its status; a position is judged once, however often asked."""
        key = self.size, self.game.key()
        if self._last_statuses is None or self._last_statuses[0] != key:
            self._last_statuses = key, self._judge(self.game)
        return self._last_statuses[1]

    def is_wasted_move(self, player: int, move: int, owners: Sequence[float]) -> bool:
        """Tell whether a move is into a territory, the player's or the other's, and saves nothing.

        owners: whose each point will be, as in `agent.limits.Info`, for that player.
        """
        stones = self.game.stones
        dead = dead_from_statuses(self._statuses_from_ownership(player, owners))
        black, white = without_stones(self.game.stones, dead).areas()
        if not (black | white) >> move & 1 or stones.captured_by(move, player + 1) & ~dead:
            return False
        for beside in stones.shape.neighbours[move]:
            head = stones.head[beside]
            own = stones.board[beside] == player + 1 and not dead >> head & 1
            if own and stones.liberties[head] == 1 << move:
                return False
        return True

    def territory_lead(self, player: int, perspective: int, owners: Sequence[float]) -> float:
        """Return by how many points of territory a player leads.

        owners: whose each point will be, as in `agent.limits.Info`, for the viewer.
        """
        points = self._territory_score(self._statuses_from_ownership(perspective, owners))
        return -points if player else points

    def _territory_score(self, found: Statuses) -> float:
        seki = stones_with_status("seki", found) if self.rules.seki_taxed else 0
        return self.game.territory_score(dead_from_statuses(found), seki)

    def _statuses_from_ownership(self, perspective: int, owners: Sequence[float]) -> Statuses:
        stones, width, height = self.game.stones, self.game.width, self.game.height
        held = [0.0] * len(stones.board)
        for place, owner in enumerate(owners):
            vertex = stones.shape.vertex(place % width, height - 1 - place // width)
            own = stones.board[vertex] == perspective + 1
            held[vertex] = (1 + (owner if own else -owner)) / 2
        return classify_chains(self.game, held)

    def chains_with_status(self, status: Status) -> str:
        """Return the chains of that status, one a line."""
        found = self._current_statuses()
        return "\n".join(
            " ".join(self.game.text(vertex) for vertex in chain)
            for chain, its in found.items()
            if its == status
        )

    def fixed_handicap(self, number: int) -> str:
        """Put handicap stones on the star points; return them."""
        points = star_points(self.game.width, self.game.height, number)
        return self._set_handicap(
            [self.game.stones.shape.vertex(column, row) for column, row in points]
        )

    def place_free_handicap(self, number: int) -> str:
        """Put handicap stones, on star points as far as there are any; return them."""
        width, height = self.game.width, self.game.height
        if not 2 <= number < width * height:
            raise GtpError(INVALID_NUMBER)
        most = max(
            (count for count in range(2, 10) if _handicap_fits(width, height, count)), default=0
        )
        points = star_points(width, height, min(number, most)) if most else []
        return self._set_handicap(self._spread_points(points, number))

    def set_free_handicap(self, words: list[str]) -> None:
        """Put handicap stones where the front end wants them."""
        try:
            vertices = [self.vertex(word) for word in words]
        except GtpError:
            raise GtpError("bad vertex list") from None
        if len(set(vertices)) != len(vertices) or len(vertices) < 2 or PASS in vertices:
            raise GtpError("bad vertex list")
        self._set_handicap(vertices)

    def _spread_points(self, points: list[tuple[int, int]], number: int) -> list[int]:
        """Add to points those farthest from all, not on the edge, as long as there are any."""
        shape = self.game.stones.shape
        columns, rows = (
            range(1, edge - 1) if edge > 4 else range(edge) for edge in (shape.width, shape.height)
        )
        rest = [(column, row) for column in columns for row in rows]
        points = list(points)
        while len(points) < min(number, len(rest)):
            free = [point for point in rest if point not in points]
            points.append(max(free, key=lambda point: _distance(point, points)))
        return [shape.vertex(column, row) for column, row in points]

    def _set_handicap(self, vertices: list[int]) -> str:
        self._require_empty_board()
        try:
            self.game.set_up(0, vertices)
        except ValueError:
            raise GtpError("bad vertex list") from None
        self.game.set_turn(1)
        self._set_start((vertices, []), len(vertices), 1)
        return " ".join(self.game.text(vertex) for vertex in vertices)

    def set_up(self, stones: Sequence[tuple[int, str]]) -> None:
        """Put stones of both players on the empty board; it is still who was to move."""
        self._require_empty_board()
        self._restart_with_stones(stones, self._first_player)

    def set_position(self, stones: Sequence[tuple[int, str]]) -> None:
        """Begin again with stones on the board, Black to move; or change nothing."""
        self._restart_with_stones(stones, 0)

    def _restart_with_stones(self, stones: Sequence[tuple[int, str]], first: int) -> None:
        vertices: tuple[list[int], list[int]] = ([], [])
        for player, text in stones:
            vertex = self.vertex(text)
            if vertex == PASS:
                raise GtpError("a pass is no stone")
            vertices[player].append(vertex)
        self.game = self._game_with_stones(self.game.size, vertices, first)
        self._movers = []
        self._set_start(vertices, 0, first)

    def set_player_to_move(self, player: int) -> None:
        """Let a player move first."""
        if self._moves:
            raise GtpError("moves have been made: who is to move follows from them")
        self.game.set_turn(player)
        self._first_player = player

    def _require_empty_board(self) -> None:
        if self._moves or self.game.stones.sets[1] | self.game.stones.sets[2]:
            raise GtpError("board not empty")

    def _game_with_stones(
        self, size: int | str, stones: tuple[list[int], list[int]], first: int
    ) -> Go:
        """Return another game that begins with stones on the board; GtpError if it cannot."""
        game = Go(size, self.komi)
        try:
            for player, vertices in enumerate(stones):
                if vertices:
                    game.set_up(player, vertices)
        except ValueError as error:
            raise GtpError(str(error)) from None
        game.set_turn(first)
        return game

    def load(self, file: str, move_number: int | None) -> int:
        """Go to a position of an SGF file, before a move or at its end; return who is to move.

        What the file does not say of komi and rules, or not so that it is known, stays as it is.
        """
        try:
            record = sgf.read(Path(file))
        except sgf.SgfError as error:
            raise GtpError(f"cannot load file: {error}") from None
        size = format_size(*record.size)
        if max(record.size) > MAX_SIZE:
            raise GtpError(f"cannot load file: a board of size {size}")
        moves = record.moves if move_number is None else record.moves[: max(move_number - 1, 0)]
        at = shape(*record.size).vertex
        black, white = ([at(*point) for point in points] for points in record.stones)
        try:
            game = self._game_with_stones(size, (black, white), record.first)
        except GtpError as error:
            raise GtpError(f"cannot load file: {error}") from None
        made = [(player, PASS if point is None else at(*point)) for player, point in moves]
        for number, (player, move) in enumerate(made, 1):
            if not game.is_legal(player, move):
                raise GtpError(f"cannot load file: move {number} is illegal")
            game.play_as(player, move)
        self.game = game
        if record.komi is not None:
            self.komi = record.komi
        self.rules = rules_from_sgf(record.rules) or self.rules
        self._options |= {"size": size, "komi": self.komi}
        self._set_start((black, white), record.handicap_stones, record.first)
        self._moves = made
        self._movers = [player for player, _ in made]
        return game.turn

    def sgf(self, more: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the game so far as SGF. more: further properties of the root, as plain text."""
        place = self.game.stones.shape.coordinates
        black, white = ([place(vertex) for vertex in stones] for stones in self._setup_stones)
        moves = [(player, None if move == PASS else place(move)) for player, move in self._moves]
        size = self.game.width, self.game.height
        record = sgf.Record(
            size,
            self.komi,
            (black, white),
            self._first_player,
            moves,
            self.rules.sgf_name,
            self._handicap,
        )
        return sgf.write(record, more)

    def save(self, file: str) -> None:
        """Write the game so far to a file; GtpError if that cannot be."""
        try:
            write_atomically(Path(file), f"{self.sgf()}\n".encode())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise GtpError(f"cannot write {file}: {reason}") from None


def star_points(width: int, height: int, number: int) -> list[tuple[int, int]]:
    """Return the columns and rows of handicap stones, in GTP's order; GtpError if they don't fit.

    Boards with edges that are odd, from 9, take 2 to 9 stones, others from 7 take 2 to 4. GTP has
    the rule for squares; here each edge keeps it by its own length.
    """
    if not _handicap_fits(width, height, number):
        raise GtpError(INVALID_NUMBER)
    (left, middle, right), (low, half, high) = _star_lines(width), _star_lines(height)
    points = [(left, low), (right, high), (left, high), (right, low)][: min(number, 4)]
    if number > 5:
        points += [(left, half), (right, half)]
    if number > 7:
        points += [(middle, low), (middle, high)]
    if number in (5, 7, 9):
        points.append((middle, half))
    return points


def _star_lines(edge: int) -> tuple[int, int, int]:
    """Return which lines along an edge have star points: near its ends, and in its middle."""
    near = 3 if edge > 12 else 2
    return near, edge // 2, edge - 1 - near


def _handicap_fits(width: int, height: int, number: int) -> bool:
    edges = width, height
    full = all(edge >= 9 and edge % 2 for edge in edges)
    return min(edges) >= 7 and 2 <= number <= (9 if full else 4)


def _distance(point: tuple[int, int], points: list[tuple[int, int]]) -> int:
    return min((abs(point[0] - x) + abs(point[1] - y) for x, y in points), default=0)
