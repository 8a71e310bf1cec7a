"""How a game of self-play goes: values that the command line reads and the kernel obeys."""

from dataclasses import dataclass


class OpeningsError(Exception):
    """No game can begin: all openings end or decide it; the message names the remedy."""


@dataclass(frozen=True)
class SelfPlaySettings:
    """Settings of every game. Scores are centipawns, lengths plies."""

    nodes: int = 1000  # soft: no iteration begins after so many
    random_plies: int = 8  # random moves from the opening; every second game has one more
    first_ply: int = 16  # positions before this ply of the game are not kept
    opening_limit: int = 600  # games that begin with a greater lead are not played
    win_score: int = 2000  # a lead that wins the game
    win_plies: int = 4  # when both sides have seen it for so long
    draw_score: int = 8  # a lead that both call equality
    draw_plies: int = 12
    draw_ply: int = 80  # before this ply no game is a draw by its scores
    max_plies: int = 400  # a longer game is a draw
    hash: int = 2  # megabytes of transposition table
