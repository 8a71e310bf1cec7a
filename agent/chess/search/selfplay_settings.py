"""Settings for self-play games, which the command line and the kernel use."""

from dataclasses import dataclass


class OpeningsError(Exception):
    """The error if every opening ends or decides the game. Its message says what to change."""


@dataclass(frozen=True)
class SelfPlaySettings:
    """The settings for self-play games. Scores are in centipawns, and lengths are in plies."""

    nodes: int = 1000  # soft limit: no new iteration begins after it
    random_plies: int = 8  # random moves after the opening; half of the games have one more
    first_ply: int = 16  # earlier positions are not selected
    opening_limit: int = 600  # openings with a larger score are rejected
    win_score: int = 2000  # a game is adjudicated as won at this score ...
    win_plies: int = 4  # ... for this many plies
    draw_score: int = 8  # a game is adjudicated as drawn at most at this score ...
    draw_plies: int = 12  # ... for this many plies ...
    draw_ply: int = 80  # ... from this ply on
    max_plies: int = 400  # a longer game is drawn
    hash: int = 2  # size of the transposition table in megabytes
