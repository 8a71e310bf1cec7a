"""Show the standings, the running games and the progress of a tournament in the terminal."""

import sys
import time
from contextlib import suppress
from typing import Any

import chess
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.text import Text

from agent.io.sanitize import sanitize_line, sanitize_lines
from kempelen.console.plain_table import PlainTable
from kempelen.console.terminal import print_error
from kempelen.match.bracket_table import bracket_table
from kempelen.match.live.events import Event, Notice
from kempelen.match.live.live_state import LiveState

REFRESHES_PER_SECOND = 4
MAX_SHOWN_BOARDS = 8
# A table with more rows or columns takes seconds to draw.
MAX_SHOWN_PLAYERS = 1000
MAX_CROSSTABLE_PLAYERS = 100
CLOCK_FORMAT = "{:d}:{:04.1f}"
# Column headings of the standings: first the ranking criteria, then the counts.
DEFAULT_RANKING_COLUMNS = ("Elo", "±", "points")
RANKING_COLUMNS = {"swiss": ("points", "byes", "Buchholz", "S-B", "Elo", "±")}
COUNT_COLUMNS = {
    "games": "games",
    "won": "wins",
    "drawn": "draws",
    "lost": "losses",
    "failed": "failures",
}


class Display:
    """An event listener that draws a live view if stderr is a terminal."""

    def __init__(self) -> None:
        self._state = LiveState()
        self._start_time = time.monotonic()
        self._played_before = 0
        self._live: Live | None = None
        if sys.stderr.isatty():
            console = Console(stderr=True)
            self._live = Live(
                console=console, refresh_per_second=REFRESHES_PER_SECOND, get_renderable=self._view
            )
            self._live.start()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Notice) and self._live is None:
            print_error(event.text)
        is_first = not self._state.status
        self._state.apply(event)
        if is_first:
            self._played_before = self._state.status.get("played", 0)

    def close(self) -> None:
        if self._live is not None:
            with suppress(OSError):  # the terminal may be closed
                self._live.stop()

    def _view(self) -> RenderableType:
        played = self._state.status.get("played", 0) - self._played_before
        return view(
            self._state, games_per_second=played / max(1e-9, time.monotonic() - self._start_time)
        )


def view(
    state: LiveState, *, games_per_second: float = 0.0, diagrams: bool = False
) -> RenderableType:
    """Return the running games, the standings and the progress for display with rich.

    The remaining time is estimated from `games_per_second`. If `diagrams` is true, the positions
    are included.
    """
    parts: list[RenderableType] = []
    if state.boards:
        parts.append(boards_table(state.boards[:MAX_SHOWN_BOARDS]))
        if diagrams:
            parts.append(_diagrams(state.boards[:MAX_SHOWN_BOARDS]))
    if state.standings:
        parts.extend(standings_view(state.standings))
    if state.status:
        parts.append(_progress(state.status, games_per_second))
        parts.extend(
            Text(sanitize_line(text), style="yellow") for text in state.status.get("notices", ())
        )
    return Group(*parts) if parts else Text("nothing yet")


def standings_view(summary: dict[str, Any]) -> list[RenderableType]:
    """Return tables and lines for a tournament summary in JSON form."""
    parts: list[RenderableType] = [_standings(summary)]
    if summary.get("bracket"):
        parts.append(bracket_table(summary["bracket"]))
    elif 2 < max(len(summary["players"]), len(summary["rows"])) <= MAX_CROSSTABLE_PLAYERS:
        parts.append(_crosstable(summary))
    parts.extend(Text(sanitize_line(line)) for line in summary_lines(summary))
    return parts


def summary_lines(summary: dict[str, Any]) -> list[str]:
    lines = []
    if summary.get("winner"):
        lines.append(f"winner: {summary['winner']}")
    comparison = summary["comparison"]
    if comparison:
        lines += _comparison_lines(comparison)
    if summary["draw_ratio"] is not None:
        lines.append(
            f"draws {summary['draw_ratio']:.1%}, White scores {summary['white_score']:.1%}, "
            f"{summary['distinct_games']} distinct games of {summary['played']}"
        )
    if summary["without_result"]:
        lines.append(f"{summary['without_result']} games without a result")
    reasons = sorted(summary["terminations"].items(), key=lambda item: -item[1])
    if reasons:
        lines.append(", ".join(f"{reason} {count}" for reason, count in reasons))
    return lines


def _comparison_lines(comparison: dict[str, Any]) -> list[str]:
    lines = []
    losses, draws, wins = comparison["games"]
    # Messages of earlier releases have no estimate.
    best = comparison.get("estimate") or comparison["by_pairs"] or comparison["by_games"]
    if best is not None:
        elo, normalized = best["elo"], best["normalized"]
        lines.append(
            f"{comparison['first']} against {comparison['second']}: +{wins} ={draws} -{losses}, "
            f"Elo {elo['value']:+z.1f} ± {_format_error(elo['error'])}, "
            f"normalised Elo {normalized['value']:+z.1f} ± {_format_error(normalized['error'])}, "
            f"LOS {best['los']:.1%}"
        )
        lines.append(f"pairs LL LD DD/LW DW WW: {' '.join(map(str, comparison['pairs']))}")
    test = comparison["test"]
    if test:
        lines.append(
            f"SPRT: LLR {test['llr']:+z.2f} in [{test['lower']:.2f}, {test['upper']:.2f}], "
            f"{test['decision']}"
        )
    return lines


def _format_error(error: float | None) -> str:
    return "∞" if error is None else f"{error:.1f}"


def _standings(summary: dict[str, Any]) -> PlainTable:
    table = PlainTable(box=None, header_style="bold")
    headings = (
        *RANKING_COLUMNS.get(summary.get("format", ""), DEFAULT_RANKING_COLUMNS),
        *COUNT_COLUMNS,
    )
    for heading in ("", "player"):
        table.add_column(heading)
    for heading in headings:
        table.add_column(heading, justify="right")
    for rank, row in enumerate(summary["rows"][:MAX_SHOWN_PLAYERS], start=1):
        cells = _cells(row)
        table.add_row(str(rank), row["name"], *(cells[heading] for heading in headings))
    return table


def _cells(row: dict[str, Any]) -> dict[str, str]:
    values = {
        "points": row["points"],
        "byes": row.get("byes"),
        "Buchholz": row.get("buchholz"),
        "S-B": row.get("sonneborn_berger"),
        **{heading: row[key] for heading, key in COUNT_COLUMNS.items()},
    }
    cells = {heading: "-" if value is None else f"{value:g}" for heading, value in values.items()}
    known = row["error"] is not None
    cells["Elo"] = f"{row['elo']:+z.0f}" if known else "-"
    cells["±"] = f"{row['error']:.0f}" if known else "-"
    return cells


def _crosstable(summary: dict[str, Any]) -> PlainTable:
    names = summary["players"]
    order = [names.index(row["name"]) for row in summary["rows"]]
    table = PlainTable(box=None, header_style="bold")
    table.add_column("")
    for index in order:
        table.add_column(names[index][:8], justify="right")
    for index in order:
        points = [summary["crosstable"][index][other] for other in order]
        table.add_row(names[index], *("·" if p is None else f"{p:g}" for p in points))
    return table


def boards_table(boards: list[dict[str, Any]]) -> PlainTable:
    table = PlainTable(box=None, header_style="bold")
    for heading in ("board", "game", "White", "", "Black", "", "ply", "move", "result"):
        table.add_column(heading)
    for board in boards:
        if "pair" not in board:
            continue
        table.add_row(
            str(board["board"]),
            f"{board['pair']}.{board['game']}",
            board["white"],
            f"{_format_clock(board['white_clock'])} {_format_score(board['white_said'])}",
            board["black"],
            f"{_format_clock(board['black_clock'])} {_format_score(board['black_said'])}",
            str(len(board["moves"])),
            board["last"],
            f"{board['result']} {board['termination']}".strip(),
        )
    return table


def _diagrams(boards: list[dict[str, Any]]) -> RenderableType:
    table = PlainTable.grid(padding=(0, 1))
    cells = []
    for board in boards:
        if "position" in board:
            title = Text(sanitize_line(f"{board['white']} - {board['black']}"))
            diagram = Text(sanitize_lines(_diagram(board["position"])))
            cells.append(Panel(diagram, title=title, expand=False))
    for start in range(0, len(cells), 4):
        table.add_row(*cells[start : start + 4])
    return table


def _diagram(position: str) -> str:
    try:
        board = chess.BaseBoard(position.partition(" ")[0].partition("[")[0])  # without pockets
        return board.unicode(invert_color=True, empty_square="·")
    except ValueError:
        return position


def _progress(status: dict[str, Any], games_per_second: float) -> RenderableType:
    played, asked = status.get("played", 0), max(1, status.get("asked", 1))
    table = PlainTable.grid(padding=(0, 1))
    remaining = (
        f"{(asked - played) / games_per_second / 60:.0f} min left"
        if games_per_second > 0 and asked > played
        else ""
    )
    speed = f"{60 * games_per_second:.1f} games/min" if games_per_second > 0 else ""
    state = status.get("state", "")
    bar = ProgressBar(total=asked, completed=played, width=40)
    table.add_row(status.get("name", ""), bar, f"{played}/{asked}", speed, remaining, state)
    return table


def _format_clock(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(seconds, 60)
    return CLOCK_FORMAT.format(int(minutes), rest)


def _format_score(said: dict[str, Any] | None) -> str:
    if not said or (said["cp"] is None and said["mate"] is None):
        return ""
    score = f"#{said['mate']}" if said["mate"] is not None else f"{said['cp'] / 100:+.2f}"
    return f"{score}/{said['depth'] or 0}"
