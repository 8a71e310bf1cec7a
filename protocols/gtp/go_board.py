"""The Go board in a GTP session."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

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
from agent.games.game_state import MAX_PLIES
from agent.games.go import COLUMNS, MAX_SIZE, Go, Size, format_size, without_stones
from agent.games.go_rules import DEFAULT_RULES, Ruleset, handicap_bonus
from agent.games.stones import EMPTY, NO_VERTEX, PASS, iter_bits, shape
from agent.go.parts import MAX_BOARD_SIZE
from agent.io.files import write_atomically
from protocols.gtp import sgf
from protocols.gtp.board import ILLEGAL_MOVE, GtpBoard
from protocols.gtp.handicap import INVALID_NUMBER, handicap_fits, star_points
from protocols.gtp.messages import GtpError
from protocols.rulesets import read_sgf_rules

DEFAULT_SIZE = 19
# Estimate of a player's remaining moves: a fraction of the empty vertices, with a minimum.
EMPTY_FRACTION, MIN_MOVES_LEFT = 0.4, 8
# Below this number of moves per vertex, it is too early to resign.
EARLY_FRACTION = 0.25
FinalStatus = Status | Literal["black_territory", "white_territory", "dame"]


class GtpGoBoard(GtpBoard):
    """A Go board that accepts setup stones, moves out of turn, and moves after two passes."""

    game: Go

    def __init__(
        self,
        game_type: GameType,
        options: Mapping[str, Any],
        judge: StatusEstimator = chain_statuses,
        rules: Ruleset = DEFAULT_RULES,
        *,
        conservative_pass: bool = True,
    ) -> None:
        super().__init__(game_type, {"size": DEFAULT_SIZE, **options})
        self.komi = self.game.komi  # without White's points for handicap stones
        self.rules = rules
        self.is_compiled = False  # whether the search is the compiled one
        # Whether searches ignore earlier passes (see `player_to_move`).
        self.conservative_pass = conservative_pass
        self._judge = judge
        self._handicap_can_be_undone = False
        # The last judgement of dead stones, and the key of its position.
        self._last_statuses: tuple[Hashable, Statuses] | None = None
        self._set_start(([], []), 0, 0)

    @property
    def moves_left(self) -> int:  # type: ignore[override]
        """Return an estimate of the number of moves that each player will still make."""
        empty = self.game.stones.sets[EMPTY].bit_count()
        return max(MIN_MOVES_LEFT, int(empty * EMPTY_FRACTION))

    @property
    def is_early(self) -> bool:
        """Return whether too few moves have been played to resign."""
        return len(self.moves) < EARLY_FRACTION * self.game.width * self.game.height

    @property
    def size(self) -> str:
        """Return a size such as `19`, or columns and rows such as `19 13`."""
        return str(self.game.size).replace("x", " ")

    def _size_options(self, width: int, height: int | None) -> dict[str, Any]:
        return {"size": format_size(width, width if height is None else height)}

    def resize(self, width: int, height: int | None = None) -> None:
        size = width, width if height is None else height
        if max(size) <= MAX_SIZE and (reason := self._refuse_size(size)):
            raise GtpError(f"unacceptable size: {reason}")
        super().resize(width, height)

    def _refuse_size(self, size: Size) -> str:
        """Return why a size is not supported, or ""."""
        text = format_size(*size)
        if max(size) > MAX_SIZE:
            return f"unsupported board size {text} (maximum {MAX_SIZE})"
        if self.is_compiled and max(size) > MAX_BOARD_SIZE:
            return (
                f"unsupported board size {text} (maximum {MAX_BOARD_SIZE} in the compiled search; "
                f"--boardsize {MAX_SIZE} or --algorithm mcts starts one without this limit)"
            )
        return ""

    def set_komi(self, komi: float) -> None:
        self._options["komi"] = self.komi = komi
        self._apply_rules()

    def set_rules(self, rules: Ruleset) -> None:
        self.rules = rules
        self._apply_rules()

    def clear(self) -> None:
        super().clear()
        self._set_start(([], []), 0, 0)

    def _set_start(
        self,
        stones: tuple[list[int], list[int]],
        handicap: int,
        first: int,
        prisoners: tuple[int, int] = (0, 0),
    ) -> None:
        self._setup_stones = stones
        self._earlier_prisoners = prisoners
        self._handicap = handicap
        self._handicap_can_be_undone = False
        self._first_player = first
        self._apply_rules()

    def _apply_rules(self) -> None:
        self.game.komi = self.komi + handicap_bonus(self.rules.handicap_bonus_rule, self._handicap)
        if self.rules.territory:
            by_black, by_white = self._earlier_prisoners
            self.game.komi += by_white - by_black
        self.game.rules = self.rules
        self.game.capture_dead_stones = self.rules.all_stones_live

    def prisoners(self, player: int) -> int:
        """Return how many stones a player has captured, also before stones were set up."""
        return self._earlier_prisoners[player] + self.game.prisoners[player]

    def vertex(self, text: str) -> int:
        """Parse `pass` or a vertex such as D4, or raise `GtpError` if it is invalid."""
        text, shape = text.upper(), self.game.stones.shape
        if text == "PASS":
            return PASS
        column, row = COLUMNS.find(text[:1]), text[1:]
        if not (row.isascii() and row.isdecimal() and len(row) < 3 and 0 <= column < shape.width):
            raise GtpError("syntax error")
        if not 1 <= int(row) <= shape.height:
            raise GtpError("syntax error")
        return shape.vertex(column, int(row) - 1)

    def point(self, text: str) -> int:
        """Parse a vertex that must be on the board, or raise `GtpError`."""
        try:
            vertex = self.vertex(text)
        except GtpError:
            vertex = PASS
        if vertex == PASS:
            raise GtpError(f"invalid vertex: {text}")
        return vertex

    def stone(self, text: str) -> int:
        """Parse a vertex that must be occupied, or raise `GtpError`."""
        vertex = self.point(text)
        if self.game.stones.board[vertex] == EMPTY:
            raise GtpError(f"{text}: vertex must not be empty")
        return vertex

    def rows_from_the_top(self) -> list[list[int]]:
        """Return the vertices of each row of the board, starting with the upper row."""
        shape = self.game.stones.shape
        return [
            [shape.vertex(column, row) for column in range(shape.width)]
            for row in reversed(range(shape.height))
        ]

    def from_the_top(self, vertices: int) -> list[int]:
        """Return the vertices in a bitboard, in rows from the top."""
        rows = self.rows_from_the_top()
        return [vertex for row in rows for vertex in row if vertices >> vertex & 1]

    def vertices_text(self, vertices: int) -> str:
        """Return the names of the vertices in a bitboard, in rows from the top."""
        return " ".join(map(self.game.text, self.from_the_top(vertices)))

    @property
    def handicap_count(self) -> int:
        """The number of handicap stones."""
        return self._handicap

    def is_legal(self, player: int, text: str) -> bool:
        """Return whether a move is legal, or raise `GtpError` if it is not a vertex or a pass."""
        return self.game.is_legal(player, PASS if text.lower() == "pass" else self.point(text))

    def legal_moves_of(self, player: int) -> list[str]:
        """Return the empty vertices that a player may occupy, in rows from the top."""
        empty = iter_bits(self.game.stones.sets[EMPTY])
        legal = sum(1 << at for at in empty if self.game.is_legal(player, at))
        return self.vertices_text(legal).split()

    def _find_move(self, player: int, text: str) -> int:
        try:
            move = self.vertex(text)
        except GtpError:
            raise GtpError(ILLEGAL_MOVE) from None
        if not self.game.is_legal(player, move, tolerant=True):
            raise GtpError(ILLEGAL_MOVE)
        return move

    def push(self, move: int, player: int | None = None) -> None:
        """Play a legal move for `player` (default: the side to move), even after the game's end."""
        player = self.mover if player is None else player
        self.game.play_as(player, move)
        self.moves.append(self.game.text(move))
        self.movers.append(player)

    @contextmanager
    def player_to_move(self, player: int) -> Iterator[None]:
        """Make `player` the side to move inside the block, even after the end of the game.

        With `conservative_pass`, earlier passes do not count inside the block, as in KataGo. A
        search then considers what the opponent would play after another pass.
        """
        ended = self.game.passes > 0 if self.conservative_pass else self.game.is_over()
        if self.game.turn == player and not ended:
            yield
            return
        self.game.set_turn(player)
        try:
            yield
        finally:
            self.game.undo()

    @contextmanager
    def cleaning_up(self) -> Iterator[None]:
        """Make searches inside the block capture all dead stones before they pass.

        All passes count, because the server ends the game after two of them.
        """
        conservative, self.conservative_pass = self.conservative_pass, False
        self.game.capture_dead_stones = True
        try:
            yield
        finally:
            self.conservative_pass = conservative
            self._apply_rules()

    def result(self, statuses: Statuses | None = None) -> float:
        """Return Black's points minus White's. If `statuses` is None, dead stones are estimated."""
        if self.rules.all_stones_live and self.rules.tax == "NONE":
            return self.game.score()
        return self._score(self._current_statuses() if statuses is None else statuses)

    def dead_stones(self) -> int:
        """Return the estimated set of dead stones."""
        return dead_from_statuses(self._current_statuses())

    def forget_statuses(self) -> None:
        """Forget the last judgement of dead stones, which was stopped before its end."""
        self._last_statuses = None

    def _current_statuses(self) -> Statuses:
        key = self.size, self.game.key()
        if self._last_statuses is None or self._last_statuses[0] != key:
            self._last_statuses = key, self._judge(self.game)
        return self._last_statuses[1]

    def is_wasted_move(self, player: int, move: int, owners: Sequence[float]) -> bool:
        """Return whether a move in either side's territory neither saves nor captures stones.

        The format of `owners` is that of `Info.ownership`, from the point of view of `player`.
        """
        stones = self.game.stones
        dead = dead_from_statuses(self._statuses_from_ownership(player, owners))
        black, white = without_stones(self.game.stones, dead).areas()
        if not (black | white) >> move & 1 or stones.captured_by(move, player + 1) & ~dead:
            return False
        for neighbour in stones.shape.neighbours[move]:
            head = stones.head[neighbour]
            own = stones.board[neighbour] == player + 1 and not dead >> head & 1
            if own and stones.liberties[head] == 1 << move:
                return False
        return True

    def territory_lead(self, player: int, perspective: int, owners: Sequence[float]) -> float:
        """Return a player's lead in points under territory scoring.

        The format of `owners` is that of `Info.ownership`, from the point of view of `perspective`.
        """
        points = self._score(self._statuses_from_ownership(perspective, owners))
        return -points if player else points

    def _score(self, statuses: Statuses) -> float:
        dead = 0 if self.rules.all_stones_live else dead_from_statuses(statuses)
        return self.game.score(dead, stones_with_status("seki", statuses))

    def _statuses_from_ownership(self, perspective: int, owners: Sequence[float]) -> Statuses:
        stones, width, height = self.game.stones, self.game.width, self.game.height
        survival = [0.0] * len(stones.board)
        for index, owner in enumerate(owners):
            vertex = stones.shape.vertex(index % width, height - 1 - index // width)
            own = stones.board[vertex] == perspective + 1
            survival[vertex] = (1 + (owner if own else -owner)) / 2
        return classify_chains(self.game, survival)

    def final_status(self, vertex: int) -> FinalStatus:
        """Return the estimated status of the stone or the empty vertex at the end of the game."""
        for status, vertices in self._territories().items():
            if vertices >> vertex & 1:
                return status
        return next(s for chain, s in self._current_statuses().items() if vertex in chain)

    def vertices_with_status(self, status: FinalStatus) -> str:
        """Return the vertices with the given status as text: one chain per line, or a territory."""
        territory = self._territories().get(status)
        return (
            self.chains_with_status(status) if territory is None else self.vertices_text(territory)
        )

    def _territories(self) -> dict[FinalStatus, int]:
        """Return the empty vertices by their estimated owner at the end, as bitboards."""
        statuses, empty = self._current_statuses(), self.game.stones.sets[EMPTY]
        surrounded = self._surrounded(statuses, dead_from_statuses(statuses))
        black, white = (area & empty for area in surrounded)
        return {
            "black_territory": black,
            "white_territory": white,
            "dame": empty & ~(black | white),
        }

    def _surrounded(self, statuses: Statuses, dead: int) -> tuple[int, int]:
        """Return the points that Black and White surround without dead stones, as bitboards."""
        rest = without_stones(self.game.stones, dead)
        empty = rest.sets[EMPTY]
        if self.rules.tax != "NONE":
            empty &= ~rest.shape.flood_fill(stones_with_status("seki", statuses), empty)
        black, white = rest.areas()
        return black & empty, white & empty

    def chains_with_status(self, status: FinalStatus) -> str:
        return "\n".join(
            " ".join(self.game.text(vertex) for vertex in chain)
            for chain, chain_status in self._current_statuses().items()
            if chain_status == status
        )

    def fixed_handicap(self, count: int) -> str:
        """Place handicap stones on the star points and return their vertices."""
        points = star_points(self.game.width, self.game.height, count)
        return self._set_handicap(
            [self.game.stones.shape.vertex(column, row) for column, row in points]
        )

    def place_free_handicap(self, count: int) -> str:
        """Place handicap stones, preferably on star points, and return their vertices."""
        width, height = self.game.width, self.game.height
        if not 2 <= count < width * height:
            raise GtpError(INVALID_NUMBER)
        max_fixed = max((n for n in range(2, 10) if handicap_fits(width, height, n)), default=0)
        points = star_points(width, height, min(count, max_fixed)) if max_fixed else []
        return self._set_handicap(self._spread_points(points, count))

    def set_free_handicap(self, words: list[str]) -> None:
        try:
            vertices = [self.vertex(word) for word in words]
        except GtpError:
            raise GtpError("bad vertex list") from None
        if len(set(vertices)) != len(vertices) or len(vertices) < 2 or PASS in vertices:
            raise GtpError("bad vertex list")
        self._set_handicap(vertices)

    def _spread_points(self, points: list[tuple[int, int]], count: int) -> list[int]:
        """Extend `points` to `count` points, each as far as possible from the others."""
        shape = self.game.stones.shape
        columns, rows = (
            range(1, edge - 1) if edge > 4 else range(edge) for edge in (shape.width, shape.height)
        )
        rest = [(column, row) for column in columns for row in rows]
        points = list(points)
        while len(points) < min(count, len(rest)):
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
        self._handicap_can_be_undone = True
        return " ".join(self.game.text(vertex) for vertex in vertices)

    def undo_moves(self, count: int) -> None:
        """Take back moves. Before the first move, handicap stones set by a command count as one."""
        if self._handicap_can_be_undone and count == len(self.moves) + 1:
            self.clear()
        else:
            super().undo_moves(count)

    def set_up(self, stones: Sequence[tuple[int | None, str]]) -> None:
        """Add stones to the position, or remove stones whose player is None.

        The side to move, the prisoners and the positions that the ko rule forbids stay. No move can
        be undone.
        """
        added = self._read_stones([(p, text) for p, text in stones if p is not None])
        removed, _ = self._read_stones([(0, text) for p, text in stones if p is None])
        changed = {*added[0], *added[1], *removed}
        for player, own in enumerate(added):
            before = iter_bits(self.game.stones.sets[player + 1])
            own[:0] = [vertex for vertex in before if vertex not in changed]
        game, turn, ko = self.game, self.game.turn, self.game.stones.ko
        after = self._game_with_stones(game.size, added, turn).stones.copy()
        if ko != NO_VERTEX and ko not in changed and after.captured_by(ko, turn + 1):
            after.ko = ko
        game.edit(after, sum(1 << vertex for vertex in changed))
        self.restart(game)
        self._set_start(added, self._handicap, turn, self._earlier_prisoners)

    def set_position(self, stones: Sequence[tuple[int, str]]) -> None:
        """Set up stones for a new game with Black to move. Raise `GtpError` if they are illegal."""
        added = self._read_stones(stones)
        self.restart(self._game_with_stones(self.game.size, added, 0))
        self._set_start(added, 0, 0)

    def _read_stones(self, stones: Sequence[tuple[int, str]]) -> tuple[list[int], list[int]]:
        vertices: tuple[list[int], list[int]] = ([], [])
        for player, text in stones:
            vertex = self.vertex(text)
            if vertex == PASS:
                raise GtpError("pass: invalid vertex of a stone")
            vertices[player].append(vertex)
        return vertices

    def set_player_to_move(self, player: int) -> None:
        """Set the side that makes the first move, or raise `GtpError` after the first move."""
        if self.moves:
            raise GtpError("cannot set the side to move after the first move")
        self.game.set_turn(player)
        self._first_player = player

    def _require_empty_board(self) -> None:
        if self.moves or self.game.stones.sets[1] | self.game.stones.sets[2]:
            raise GtpError("board not empty")

    def _game_with_stones(
        self, size: int | str, stones: tuple[list[int], list[int]], first: int
    ) -> Go:
        game = Go(size, self.komi)
        game.rules = self.rules
        try:
            for player, vertices in enumerate(stones):
                if vertices:
                    game.set_up(player, vertices)
        except ValueError as error:
            raise GtpError(str(error)) from None
        game.set_turn(first)
        return game

    def load(self, file: str, until: int | str | None) -> int:
        """Load an SGF file and return the side to move, or raise `GtpError`.

        Load the position before the move with the number `until`, or before the first move at the
        vertex `until`, or the final position if this is None. The komi and the rules change only if
        the file has valid ones.
        """
        try:
            record = sgf.read(Path(file), until)
        except sgf.SgfError as error:
            raise GtpError(f"cannot load file: {error}") from None
        size = format_size(*record.size)
        if reason := self._refuse_size(record.size):
            raise GtpError(f"cannot load file: {reason}")
        if len(record.moves) > MAX_PLIES:
            raise GtpError(f"cannot load file: too many moves (maximum {MAX_PLIES})")
        vertex = shape(*record.size).vertex
        black, white = ([vertex(*point) for point in points] for points in record.stones)
        try:
            game = self._game_with_stones(size, (black, white), record.first)
        except GtpError as error:
            raise GtpError(f"cannot load file: {error}") from None
        game.rules = read_sgf_rules(record.rules) or self.rules
        played = [
            (player, PASS if point is None else vertex(*point)) for player, point in record.moves
        ]
        for number, (player, move) in enumerate(played, record.start + 1):
            if not game.is_legal(player, move, tolerant=True):
                raise GtpError(f"cannot load file: move {number} is illegal")
            game.play_as(player, move)
        self.restart(game)
        if record.komi is not None:
            self.komi = record.komi
        self.rules = game.rules
        self._options |= {"size": size, "komi": self.komi}
        self._set_start((black, white), record.handicap_stones, record.first, record.prisoners)
        self.moves = [game.text(move) for _, move in played]
        self.movers = [player for player, _ in played]
        return game.turn

    def sgf(self, more: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the game as SGF. The mapping `more` contains additional root properties.

        The values in `more` must not be escaped.
        """
        point = self.game.stones.shape.coordinates
        black, white = ([point(vertex) for vertex in stones] for stones in self._setup_stones)
        vertices = map(self.vertex, self.moves)
        moves = [
            (player, None if move == PASS else point(move))
            for player, move in zip(self.movers, vertices, strict=True)
        ]
        size = self.game.width, self.game.height
        record = sgf.SgfGame(
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
        """Write the game to an SGF file, or raise `GtpError`."""
        try:
            write_atomically(Path(file), f"{self.sgf()}\n".encode())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise GtpError(f"cannot write {file}: {reason}") from None


def _distance(point: tuple[int, int], points: list[tuple[int, int]]) -> int:
    return min((abs(point[0] - x) + abs(point[1] - y) for x, y in points), default=0)
