"""A small UCI engine on python-chess for chess and its variants: the opponent of `variants.py`.

It is a plain alpha-beta search with iterative deepening, which counts material and moves.
"""

import sys
import time

import chess
import chess.engine
import chess.variant

VALUES = {1: 100, 2: 320, 3: 330, 4: 500, 5: 900, 6: 0}
MATE = 100_000
NODES_BETWEEN_TIME_CHECKS = 64


class OutOfTimeError(Exception):
    """The time for the move is used up."""


class Search:
    """One search with a deadline."""

    def __init__(self, board: chess.Board, deadline: float) -> None:
        self.board = board
        self.deadline = deadline
        self.nodes = 0
        self.sign = -1 if type(board).uci_variant == "antichess" else 1

    def best_move(self) -> tuple[chess.Move | None, int, int]:
        """Return the best move, its score and the depth of the last complete iteration."""
        moves = self.ordered()
        best, score, depth = (moves[0] if moves else None), 0, 0
        try:
            for depth in range(1, 64):
                score, moves = self.iterate(moves, depth)
                best = moves[0]
                if abs(score) > MATE - 100:
                    break
        except (OutOfTimeError, IndexError):
            depth -= 1
        return best, score, depth

    def iterate(self, moves: list[chess.Move], depth: int) -> tuple[int, list[chess.Move]]:
        """Search all moves; return the best score and the moves with the best one first."""
        alpha, best = -2 * MATE, moves[0]
        for move in moves:
            self.board.push(move)
            try:
                score = -self.search(depth - 1, -2 * MATE, -alpha, 1)
            finally:
                self.board.pop()
            if score > alpha:
                alpha, best = score, move
        return alpha, [best, *(move for move in moves if move != best)]

    def search(self, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Return the score for the side to move."""
        board = self.board
        self.nodes += 1
        if self.nodes % NODES_BETWEEN_TIME_CHECKS == 0 and time.monotonic() > self.deadline:
            raise OutOfTimeError
        if board.is_variant_loss():
            return ply - MATE
        if board.is_variant_win():
            return MATE - ply
        if board.is_variant_draw() or board.is_repetition(2):
            return 0
        if depth <= 0:
            return self.evaluate()
        moves = self.ordered()
        if not moves:
            return ply - MATE if board.is_check() else 0
        for move in moves:
            board.push(move)
            try:
                alpha = max(alpha, -self.search(depth - 1, -beta, -alpha, ply + 1))
            finally:
                board.pop()
            if alpha >= beta:
                break
        return alpha

    def ordered(self) -> list[chess.Move]:
        """Return the legal moves, captures of valuable pieces first."""
        board = self.board
        return sorted(
            board.legal_moves,
            key=lambda move: VALUES.get(board.piece_type_at(move.to_square), 0),
            reverse=True,
        )

    def evaluate(self) -> int:
        """Return the material in centipawns for the side to move."""
        board, score = self.board, 0
        for piece, value in VALUES.items():
            squares = board.pieces_mask(piece, chess.WHITE), board.pieces_mask(piece, chess.BLACK)
            score += value * (chess.popcount(squares[0]) - chess.popcount(squares[1]))
            for color, pocket in zip((-1, 1), getattr(board, "pockets", ()), strict=False):
                score += color * value * pocket.count(piece)
        white, black = getattr(board, "remaining_checks", (3, 3))[::-1]
        score = self.sign * score + 150 * (black - white)
        return score if board.turn else -score


def main() -> None:
    """Answer UCI commands until `quit` or the end of input."""
    variant, board = "chess", chess.Board()
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        words = rest.split()
        if command == "uci":
            names = " ".join(f"var {each.uci_variant}" for each in chess.variant.VARIANTS)
            print("id name plain\nid author Kempelen's benchmarks")
            print(f"option name UCI_Variant type combo default chess {names}\nuciok", flush=True)
        elif command == "isready":
            print("readyok", flush=True)
        elif command == "setoption" and words[1:2] == ["UCI_Variant"]:
            variant = words[3]
        elif command == "position":
            position, _, moves = rest.partition(" moves ")
            kind = chess.variant.find_variant(variant)
            board = kind() if position == "startpos" else kind(position.removeprefix("fen "))
            for move in moves.split():
                board.push_uci(move)
        elif command == "go":
            answer(board, dict(zip(words[::2], words[1::2], strict=False)))
        elif command == "quit":
            return


def answer(board: chess.Board, limits: dict[str, str]) -> None:
    """Search for a thirtieth of the clock and the increment, and print the move."""
    side = "w" if board.turn else "b"
    clock = int(limits.get(f"{side}time", 1000)) / 30 + int(limits.get(f"{side}inc", 0)) * 0.8
    seconds = float(limits.get("movetime", clock)) / 1000
    search = Search(board.copy(), time.monotonic() + seconds)
    move, score, depth = search.best_move()
    print(f"info depth {depth} nodes {search.nodes} score cp {score}")
    print(f"bestmove {move.uci() if move else '(none)'}", flush=True)


if __name__ == "__main__":
    main()
