from dataclasses import dataclass

MAX_OPENING_ATTEMPTS = 1000  # to find an opening that does not end or decide the game


class OpeningsError(Exception):
    """Raised if every opening ends or decides the game."""


@dataclass(frozen=True)
class SelfPlaySettings:
    """Settings of self-play games. Scores are in centipawns, and lengths are in plies."""

    nodes: int = 1000  # soft limit: no new iteration starts after this
    random_plies: int = 8  # random moves after the opening; half of the games have one more
    first_ply: int = 16  # earlier positions are not selected
    opening_limit: int = 600  # openings with a larger score are rejected
    win_score: int = 2000  # adjudicate a win from this score ...
    win_plies: int = 4  # ... for this number of plies
    draw_score: int = 8  # adjudicate a draw up to this score ...
    draw_plies: int = 12  # ... for this number of plies ...
    draw_ply: int = 80  # ... from this ply on
    max_plies: int = 400  # a longer game is drawn
    hash: int = 2  # size of the transposition table in megabytes
