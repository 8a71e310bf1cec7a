"""Chess as a `Game` for the Python search, with a simple evaluation.

The Python search is the reference for the compiled search, and plays until that is ready.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from math import inf

import chess

from agent.games.variants import STANDARD, is_lost, variant_of, variant_outcome

# Middlegame and endgame value of each piece in centipawns, and its weight in the game phase.
MATERIAL = {
    chess.PAWN: (85, 115),
    chess.KNIGHT: (325, 290),
    chess.BISHOP: (345, 310),
    chess.ROOK: (480, 540),
    chess.QUEEN: (1000, 960),
    chess.KING: (0, 0),
}
PHASE = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
FULL_PHASE = 24
_HILL = (chess.D4, chess.E4, chess.D5, chess.E5)
# Variants in which a move is often worse than none.
_ZUGZWANG_VARIANTS = ("antichess", "racingkings")
PROMOTION_RANK = {chess.WHITE: chess.BB_RANK_8, chess.BLACK: chess.BB_RANK_1}


class PlainChess:
    """A position of chess or a variant with its history, as the root of a search. White is 0.

    Below the root, a position is a draw if it repeats a position of the search, or if it occurred
    twice before the root. The fifty-move rule and insufficient material also apply. `board` is a
    copy without the move stack.
    """

    def __init__(self, board: chess.Board) -> None:
        self.board = board.copy(stack=False)
        self._variant = variant_of(board)
        self._previous_keys = Counter(_keys_before(board))
        self._keys: list[Hashable] = [position_key(self.board)]
        self._legal: list[chess.Move] | None = None

    @property
    def turn(self) -> int:
        """The side to move: 0 is White, 1 is Black."""
        return 0 if self.board.turn else 1

    def moves(self) -> list[chess.Move]:
        """Return all legal moves, or [] after mate or stalemate."""
        if self._legal is None:
            self._legal = list(self.board.generate_legal_moves())
        return self._legal

    def play(self, move: chess.Move) -> None:
        """Play a legal move."""
        self.board.push(move)
        self._keys.append(position_key(self.board))
        self._legal = None

    def undo(self) -> None:
        """Undo the last move."""
        self.board.pop()
        self._keys.pop()
        self._legal = None

    def outcome(self) -> float | None:
        """Return 1 if White won, -1 if Black won, 0 for a draw, None if the game is not over."""
        if (outcome := self._variant_outcome()) is not None:
            return outcome
        if self._is_repetition() or self._is_insufficient_material():
            return 0
        if not self.moves():
            if not self.board.is_check():
                return 0
            return -1 if self.board.turn else 1
        return 0 if self._is_fifty_moves() else None

    def key(self) -> Hashable:
        """Return the pieces, side to move, castling rights and en passant square."""
        return self._keys[-1]

    def move_rating(self, move: chess.Move) -> float:
        """Rate captures in MVV-LVA order, and promotions by the material gain."""
        board = self.board
        gain = 0
        if move.promotion is not None:
            gain = MATERIAL[move.promotion][0] - MATERIAL[chess.QUEEN][0] // 2
        victim = board.piece_type_at(move.to_square)
        if victim is None and board.is_en_passant(move):
            victim = chess.PAWN
        if victim is None or board.is_castling(move):
            return gain
        capturer = board.piece_type_at(move.from_square) or chess.PAWN
        return gain + 10 * MATERIAL[victim][0] - capturer

    def forced(self) -> bool:
        """Return whether the side to move is in check."""
        return self.board.is_check()

    def noisy_moves(self) -> Iterator[chess.Move]:
        """Generate all captures and all promotions to a queen."""
        board = self.board
        yield from board.generate_legal_captures()
        pawns = board.pawns & board.occupied_co[board.turn]
        empty = PROMOTION_RANK[board.turn] & ~board.occupied
        for move in board.generate_legal_moves(pawns, empty):
            if move.promotion == chess.QUEEN:
                yield move

    def allows_null_move(self) -> bool:
        """Return whether the side to move is not in check and has a piece other than pawns."""
        board = self.board
        pieces = board.occupied_co[board.turn] & ~(board.pawns | board.kings)
        if self._variant in _ZUGZWANG_VARIANTS:
            return False
        return bool(pieces) and not board.is_check()

    def play_null_move(self) -> None:
        """Let the side to move pass."""
        self.play(chess.Move.null())

    def quick_outcome(self) -> float | None:
        """Return the outcome, such as a draw, if the rules give it without move generation.

        The side to move must not be in check.
        """
        if (outcome := self._variant_outcome()) is not None:
            return outcome
        return (
            0
            if self._is_repetition() or self._is_insufficient_material() or self._is_fifty_moves()
            else None
        )

    def _variant_outcome(self) -> float | None:
        """Return the outcome if the rules that the variant adds to chess end the game."""
        outcome = None if self._variant == STANDARD else variant_outcome(self.board)
        return outcome if outcome is None or self.board.turn else -outcome

    def _below_root(self) -> bool:
        return len(self._keys) > 1

    def _is_repetition(self) -> bool:
        key = self._keys[-1]
        reversible = min(self.board.halfmove_clock, len(self._keys) - 1)
        if reversible and key in self._keys[-1 - reversible : -1]:
            return True
        return self._below_root() and self._previous_keys.get(key, 0) >= 2

    def _is_insufficient_material(self) -> bool:
        return self._below_root() and self.board.is_insufficient_material()

    def _is_fifty_moves(self) -> bool:
        board = self.board  # `is_fifty_moves` is slow, but knows the variants without the rule
        return self._below_root() and board.halfmove_clock >= 100 and board.is_fifty_moves()


def position_key(board: chess.Board) -> Hashable:
    """Return a key for repetition detection. En passant counts only if it is legal."""
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    return (
        white,
        black,
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.turn,
        board.clean_castling_rights(),
        board.ep_square if board.ep_square and board.has_legal_en_passant() else 0,
        *_variant_state(board),
    )


def _variant_state(board: chess.Board) -> Iterable[Hashable]:
    """Return what else belongs to a position: remaining checks, or pockets and promoted pieces."""
    if hasattr(board, "pockets"):
        return (*map(str, board.pockets), board.promoted)
    return getattr(board, "remaining_checks", ())


def _keys_before(board: chess.Board) -> Iterable[Hashable]:
    board = board.copy()
    for _ in range(min(board.halfmove_clock, len(board.move_stack))):
        board.pop()
        yield position_key(board)


def evaluate(board: chess.Board) -> int:
    """Return the tapered material and piece-square score for the side to move, in centipawns."""
    middlegame = endgame = phase = 0
    white = board.occupied_co[chess.WHITE]
    for piece, squares in (
        (chess.PAWN, board.pawns),
        (chess.KNIGHT, board.knights),
        (chess.BISHOP, board.bishops),
        (chess.ROOK, board.rooks),
        (chess.QUEEN, board.queens),
        (chess.KING, board.kings),
    ):
        ours, theirs = squares & white, squares & ~white
        our_middlegame, our_endgame, our_phase = _placement(piece, ours)
        their_middlegame, their_endgame, their_phase = _placement(piece, _mirror(theirs))
        middlegame += our_middlegame - their_middlegame
        endgame += our_endgame - their_endgame
        phase += our_phase + their_phase
    phase = min(phase, FULL_PHASE)
    value = int((middlegame * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE)
    if type(board) is not chess.Board:
        value = _variant_value(board, value)
    return value if board.turn else -value


def _variant_value(board: chess.Board, value: int) -> int:
    """Change White's value by a few terms for the aim of the variant, whose sizes are guesses."""
    variant = variant_of(board)
    if variant == "antichess":
        return -value
    for color, sign in ((chess.WHITE, 1), (chess.BLACK, -1)):
        king = board.king(color)
        if hasattr(board, "pockets"):
            pocket = board.pockets[color]
            value += sign * sum(pocket.count(piece) * MATERIAL[piece][0] for piece in MATERIAL)
        if hasattr(board, "remaining_checks"):
            value += sign * (0, 500, 150, 0)[max(board.remaining_checks[color], 0)]
        if king is not None and variant == "kingofthehill":
            value -= sign * 40 * min(chess.square_distance(king, hill) for hill in _HILL)
        if king is not None and variant == "racingkings":
            value += sign * 120 * chess.square_rank(king)
    return value


def static_gain(board: chess.Board, move: chess.Move) -> float:
    """Return the material in centipawns that a move wins without a search.

    It is the captured material less the most that one capture of the opponent wins. Pins are
    ignored. The gain of a checkmate is infinite.
    """
    gain = 0
    if not board.is_castling(move):
        victim = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
        gain += MATERIAL[victim][0] if victim else 0
    if move.promotion is not None:
        gain += MATERIAL[move.promotion][0] - MATERIAL[chess.PAWN][0]
    board.push(move)
    try:
        if is_lost(board):
            return inf
        ours = chess.scan_forward(board.occupied_co[not board.turn])
        return gain - max((_capture_gain(board, square) for square in ours), default=0)
    finally:
        board.pop()


def _capture_gain(board: chess.Board, square: chess.Square) -> int:
    """Return what the side to move wins by the cheapest capture on a square and a recapture."""
    attackers = board.attackers_mask(board.turn, square)
    if not attackers:
        return 0
    gain = MATERIAL[board.piece_type_at(square) or chess.KING][0]
    if board.attackers_mask(not board.turn, square):
        attackers &= ~board.kings  # a king cannot take a protected piece
        attacker_types = map(board.piece_type_at, chess.scan_forward(attackers))
        gain -= min((MATERIAL[piece][0] for piece in attacker_types if piece), default=gain)
    return max(gain, 0)


def _mirror(squares: int) -> int:
    return int.from_bytes(squares.to_bytes(8, "little"), "big")


@lru_cache(maxsize=1 << 15)
def _placement(piece: int, squares: int) -> tuple[int, int, int]:
    """Return the middlegame value, endgame value and phase of White's pieces of one type."""
    count = chess.popcount(squares)
    middlegame, endgame = (count * value for value in MATERIAL[piece])
    for square in chess.scan_forward(squares):
        middlegame_bonus, endgame_bonus = _PIECE_SQUARE[piece][square]
        middlegame += middlegame_bonus
        endgame += endgame_bonus
    return middlegame, endgame, count * PHASE.get(piece, 0)


def _piece_square(piece: int, square: int) -> tuple[int, int]:
    file, rank = chess.square_file(square), chess.square_rank(square)
    file_centre = min(file, 7 - file)  # 0 on the edge, 3 in the centre
    centre = file_centre + min(rank, 7 - rank)  # 0 in the corner, 6 in the centre
    if piece == chess.PAWN:
        step = rank - 1
        early_centre = 9 * max(0, file_centre - 1) * min(step, 2)
        return early_centre + 2 * step * step - 4, 4 * step * step - 5
    if piece == chess.KNIGHT:
        return 9 * centre - 32 - (8 if rank == 0 else 0), 6 * centre - 22
    if piece == chess.BISHOP:
        return 4 * centre - 12 - (9 if rank == 0 else 0), 3 * centre - 9
    if piece == chess.ROOK:
        return 4 * file_centre + (16 if rank == 6 else 0) - 6, (8 if rank == 6 else 0)
    if piece == chess.QUEEN:
        return 2 * centre - (5 if rank > 3 else 6), 5 * centre - 15
    sheltered = 24 if rank == 0 and file_centre <= 1 else 0
    return sheltered - 14 * rank - 8 * file_centre * (rank < 2), 9 * centre - 27


_PIECE_SQUARE = {
    piece: [_piece_square(piece, square) for square in chess.SQUARES] for piece in chess.PIECE_TYPES
}
