"""Extension of a book by search and self-play.

Each step follows random book moves from the start position to a position without entries, and adds
the best moves of a search. If one side is losing and a longer search confirms it, the last book
move of this side is marked to be avoided. Finally, a fast game is played from the position, and its
result adjusts the weights of the book moves on the path.

The results are added to a Polyglot book, or written as lines of a separate repertoire.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import chess
import yaml
from chess.polyglot import zobrist_hash

from agent.io.files import replace_atomically
from agent.limits import Info, Mate
from openings import repertoire
from openings.book_check import centipawns
from openings.book_common import MAX_WEIGHT as MAX_LINE_WEIGHT
from openings.book_common import BookError
from openings.polyglot import MAX_WEIGHT, Entry, MoveStatistics, encode_move

# Arguments: position, nodes, number of lines. Returns the lines, best first.
SearchFunction = Callable[[chess.Board, int, int], Sequence[Info[chess.Move]]]

BEST_WEIGHT = 10
MULTIPV = 3
LOSING_SCORE = 150  # centipawns: a score this bad counts as lost
DECIDED_SCORE = 600  # centipawns: a self-play game ends at this score
MAX_GAME_PLIES = 160  # plies: a longer self-play game is a draw
_CONFIRM_FACTOR = 20  # multiplies the nodes in the search that confirms a loss
_SELFPLAY_DIVISOR = 20  # divides the nodes for self-play moves
_MAX_WALKS = 200  # consecutive walks without a new position


@dataclass(slots=True)
class BookMove:
    """A book move. `path` contains the moves before it, or None if the move was not learned.

    A move is learned if book extension added it or marked it to be avoided.
    """

    move: chess.Move
    weight: int
    learn: int = 0
    path: tuple[chess.Move, ...] | None = None
    comment: str = ""

    @property
    def learned(self) -> bool:
        return self.path is not None

    def add_result(self, points: float) -> None:
        """Record a result (1, 0.5 or 0 for the side that moved), and adjust the weight."""
        old = MoveStatistics.unpack(self.learn)
        games, total = (old.games, old.points) if old else (0, 0.0)
        self.learn = MoveStatistics(games + 1, total + points).pack()
        if self.weight:
            change = (points > 0.5) - (points < 0.5)
            self.weight = min(max(self.weight + change, 1), MAX_WEIGHT)


BookPath = list[tuple[int, int, chess.Move]]


@dataclass
class BookExtender:
    """Extends a book by search and self-play.

    `nodes` is the node limit for each new position, and `plies` is the maximum depth of the book.
    Moves within `margin` centipawns of the best score are added.
    """

    search: SearchFunction
    rng: random.Random
    nodes: int
    plies: int = 30
    margin: int = 30
    book: dict[int, dict[int, BookMove]] = field(default_factory=dict)
    _exhausted: set[int] = field(default_factory=set)

    def add_entries(self, entries: Iterable[Entry]) -> None:
        """Add entries in any order. Existing entries for the same positions are replaced."""
        added: dict[int, dict[int, BookMove]] = {}
        for entry in entries:
            move = chess.Move.null()  # Entries are decoded when their position is reached.
            known = BookMove(move, entry.weight, entry.learn)
            added.setdefault(entry.key, {})[entry.raw_move] = known
        self.book.update(added)

    def add_lines(self, lines: Iterable[repertoire.Line]) -> None:
        """Add the lines that an earlier run learned."""
        for line in lines:
            board = chess.Board()
            for move in line.moves[: line.own_from_ply]:
                board.push(move)
            if line.own_from_ply and len(line.moves) == line.own_from_ply + 1:
                move = line.moves[-1]
                weight = 0 if line.own_from_ply in line.avoided_plies else line.weight
                known = BookMove(move, weight, 0, line.moves[: line.own_from_ply], line.comment)
                self.book.setdefault(zobrist_hash(board), {})[encode_move(board, move)] = known

    def step(self) -> bool:
        """Extend the book by one position. Return False if no position was found."""
        for _ in range(_MAX_WALKS):
            board, walk = self._walk_to_leaf()
            if board is None:
                continue
            if self._expand(board, walk):
                return True
            self._exhausted.add(zobrist_hash(board))
        return False

    def entries(self) -> list[Entry]:
        """Return all entries, sorted by key."""
        return [
            Entry(key, raw_move, known.weight, known.learn)
            for key, moves in sorted(self.book.items())
            for raw_move, known in moves.items()
        ]

    def learned_moves(self) -> list[BookMove]:
        """Return all learned moves, including those from earlier runs."""
        return [known for moves in self.book.values() for known in moves.values() if known.learned]

    def _walk_to_leaf(self) -> tuple[chess.Board | None, BookPath]:
        """Follow random book moves to a position without entries. The board is None on failure."""
        board = chess.Board()
        walk: BookPath = []
        while len(walk) < self.plies and not board.is_game_over() and not board.is_repetition(2):
            key = zobrist_hash(board)
            moves = self._playable(board, key)
            if not moves:
                return (None if key in self._exhausted else board), walk
            weights = [known.weight for _, known in moves]
            raw_move, known = self.rng.choices(moves, weights)[0]
            walk.append((key, raw_move, known.move))
            board.push(known.move)
        return None, walk

    def _playable(self, board: chess.Board, key: int) -> list[tuple[int, BookMove]]:
        moves = self.book.get(key, {})
        if any(not known.move for known in moves.values()):
            legal = {encode_move(board, move): move for move in board.legal_moves}
            for raw_move, known in moves.items():
                known.move = legal.get(raw_move, known.move)
        return [item for item in moves.items() if item[1].weight and item[1].move]

    def _expand(self, board: chess.Board, walk: BookPath) -> bool:
        """Search a position, add its moves, and play a game. Return False if no move was added."""
        infos = self.search(board, self.nodes, MULTIPV)
        best = centipawns(infos[0].score)
        key = zobrist_hash(board)
        path = tuple(move for _, _, move in walk)
        moves = self.book.setdefault(key, {})
        new = False
        for info in infos:
            move, loss = info.pv[0], best - centipawns(info.score)
            raw_move = encode_move(board, move)
            if loss <= self.margin and raw_move not in moves:
                weight = max(round(BEST_WEIGHT * (1 - loss / (self.margin + 1))), 1)
                comment = f"{_format_score(info)} by {self.nodes} nodes"
                moves[raw_move] = BookMove(move, weight, 0, path, comment)
                new = True
        if abs(best) >= LOSING_SCORE:
            self._confirm_loss(board, walk)
        if new:
            first = infos[0].pv[0]
            path_with_move = [*walk, (key, encode_move(board, first), first)]
            board.push(first)
            self._add_results(path_with_move, self._play_out(board))
        return new

    def _confirm_loss(self, board: chess.Board, walk: BookPath) -> None:
        nodes = self.nodes * _CONFIRM_FACTOR
        info = self.search(board, nodes, 1)[0]
        score = centipawns(info.score)
        if abs(score) >= LOSING_SCORE:
            comment = f"loses: {_format_score(info)} for the other side by {nodes} nodes"
            if score < 0:
                comment = f"loses: {_format_score(info)} two plies later by {nodes} nodes"
            self._mark_avoided(walk, 1 if score > 0 else 2, comment)

    def _mark_avoided(self, walk: BookPath, back: int, comment: str) -> None:
        if len(walk) < back:
            return
        key, raw_move, move = walk[-back]
        known = self.book[key][raw_move]
        known.move, known.weight = move, 0
        known.path = tuple(earlier for _, _, earlier in walk[:-back])
        known.comment = comment

    def _play_out(self, board: chess.Board) -> float:
        """Play a fast game to its end, and return White's points (0, 0.5 or 1)."""
        nodes = max(self.nodes // _SELFPLAY_DIVISOR, 1)
        for _ in range(MAX_GAME_PLIES):
            outcome = board.outcome(claim_draw=True)
            if outcome:
                return 0.5 if outcome.winner is None else float(outcome.winner)
            info = self.search(board, nodes, 1)[0]
            score = centipawns(info.score)
            if abs(score) >= DECIDED_SCORE:
                return float((score > 0) == board.turn)
            board.push(info.pv[0])
        return 0.5

    def _add_results(self, path: BookPath, points: float) -> None:
        for ply, (key, raw_move, _) in enumerate(path):
            self.book[key][raw_move].add_result(1 - points if ply % 2 else points)


def _format_score(info: Info[chess.Move]) -> str:
    if isinstance(info.score, Mate):
        return f"mate in {info.score.moves}"
    return f"{info.score.value / 100:+z.2f}"


def write_lines(path: Path, learned: Iterable[BookMove]) -> int:
    """Write learned moves atomically to a repertoire file, and return their number.

    Moves that lead to a learned position get the lowest weight. Raise BookError if writing fails.
    """
    by_path: dict[tuple[chess.Move, ...], list[BookMove]] = {}
    for known in learned:
        by_path.setdefault(known.path or (), []).append(known)
    lines, count = [], 0
    for moves_before, moves in sorted(
        by_path.items(), key=lambda item: [move.uci() for move in item[0]]
    ):
        board = chess.Board()
        if not moves_before:
            continue  # first moves are chosen by the user
        text = board.variation_san(moves_before)
        for move in moves_before:
            board.push(move)
        children = [
            {
                "moves": board.san(known.move) + ("" if known.weight else "?"),
                "weight": min(max(known.weight, 1), MAX_LINE_WEIGHT),
                "comment": known.comment,
            }
            for known in moves
        ]
        lines.append({"moves": text, "weight": 1, "lines": children})
        count += len(children)
    header = "# Learned by self-play and search: `kempelen book extend`.\n"
    body = yaml.safe_dump(lines, sort_keys=False, width=1000) if lines else ""
    try:
        replace_atomically(path, (header + body).encode())
    except OSError as error:
        raise BookError(f"{path}: could not write: {error.strerror}") from None
    return count
