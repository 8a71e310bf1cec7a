"""The rules of Connect Four on bitboards: move generation and win detection."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.connect_four.parts import fits
from agent.connect_four.records import NO_MOVE, Position, Worker, position_at
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, first_square, int64
from agent.kernel.record import allocate
from agent.kernel.score_scale import to_score

if TYPE_CHECKING:
    from agent.games.connect_four import ConnectFour


@kernel
def free_squares(worker: Worker, position: Position) -> Bits:
    """Return the squares on which a disc can land, one for each column that is not full."""
    # Adding the bottom bit carries over the discs to the first empty square.
    return (position.taken + worker.bottom) & worker.board


@kernel
def lowest_bit(squares: Bits) -> Bits:
    return squares & (~squares + U64(1))


@kernel
def opponent_discs(position: Position) -> Bits:
    return position.own ^ position.taken


@kernel
def _line_completions(discs: Bits, step: Bits) -> Bits:
    """Return the squares, some off the board, that complete a line of four in one direction."""
    above, below = discs >> step, discs << step
    two_above, two_below = above & above >> step, below & below << step
    three_above, three_below = two_above >> step & above, two_below << step & below
    return three_above | two_above & below | above & two_below | three_below


@kernel
def winning_squares(worker: Worker, discs: Bits) -> Bits:
    """Return the squares where another disc would complete a line of four."""
    stride = worker.stride
    squares = _line_completions(discs, U64(1)) | _line_completions(discs, stride)
    squares |= _line_completions(discs, stride - U64(1)) | _line_completions(discs, stride + U64(1))
    return squares & worker.board


@kernel
def move_to(worker: Worker, square: Bits) -> int:
    """Return the move (a column counted from 1) whose disc lands on `square`."""
    return first_square(square) // int64(worker.stride) + 1


@kernel
def make(worker: Worker, ply: int, move: int, square: Bits) -> None:
    """Write the position after `move`, whose disc lands on `square`, to the next ply."""
    position, child = position_at(worker, ply), position_at(worker, ply + 1)
    child.own = opponent_discs(position)
    child.taken = position.taken | square
    child.move = move


@entry_point(int64(Worker, int64, int64))
def _perft(worker: Worker, ply: int, depth: int) -> int:
    if depth == 0:
        return 1
    position = position_at(worker, ply)
    free = free_squares(worker, position)
    wins = free & winning_squares(worker, position.own)
    leaves = 0
    while free:
        square = lowest_bit(free)
        free ^= square
        make(worker, ply, move_to(worker, square), square)
        if depth == 1 or not wins & square:
            leaves += _perft(worker, ply + 1, depth - 1)
    return leaves


class DiscBoard:
    """A worker's memory with a game loaded into it. Compiled functions take its `address`."""

    def __init__(self) -> None:
        self.worker, self.address = allocate(Worker)
        self.size = 0, 0

    def load(self, game: "ConnectFour") -> None:
        """Load a game as the root position. Raise ValueError if the board is too large."""
        if not fits(game):
            raise ValueError(f"a board of {game.width} by {game.height} has too many squares")
        if self.size != (game.width, game.height):
            self._resize(game.width, game.height)
        root = self.worker.positions[0]
        root.own = U64(game.discs(game.turn))
        root.taken = U64(game.discs(0) | game.discs(1))
        root.move = NO_MOVE

    def _resize(self, width: int, height: int) -> None:
        worker, self.size = self.worker, (width, height)
        bottom = sum(1 << column * (height + 1) for column in range(width))
        worker.bottom = U64(bottom)
        worker.board = U64(bottom * ((1 << height) - 1))
        worker.stride = U64(height + 1)
        worker.centre = width - 1
        lines = sum(
            max(width - right, 0) * max(height - up, 0)
            for right, up in ((0, 3), (3, 0), (3, 3), (3, 3))
        )
        count = 16 * lines + 1
        worker.shares[:count] = [to_score(potential / count) for potential in range(count)]

    def landing_squares(self, moves: Iterable[int]) -> Bits:
        """Return the squares where the discs of `moves` (columns counted from 0) land."""
        worker, stride = self.worker, int(self.worker.stride)
        columns = sum(((1 << stride) - 1) << move * stride for move in moves)
        return (worker.positions[0].taken + worker.bottom) & worker.board & U64(columns)

    def empty_squares(self) -> int:
        return int(self.worker.board ^ self.worker.positions[0].taken).bit_count()

    def perft(self, depth: int) -> int:
        return int(_perft(self.worker, 0, depth))
