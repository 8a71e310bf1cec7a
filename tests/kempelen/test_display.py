"""What a person sees of a tournament."""

from io import StringIO

from rich.console import Console

from kempelen.display import view
from tournament.events import GameStarted
from tournament.live import LiveState


def seen(position):
    state = LiveState()
    state.apply(GameStarted(1, "1.1-2.1", 1, "A", "B", "", (), position, None, None))
    console = Console(width=100, file=StringIO())
    console.print(view(state, diagrams=True))
    return console.file.getvalue()


def test_boards_of_chess_and_of_other_games():
    assert "♜ ♞ ♝" in seen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert ". X O" in seen(". X O\n. . .\n. . .")
