"""GoGui's commands for setup, for the rules of games other than Go, and for displaying analyses.

GoGui owns the rules of Go. If an engine offers `gogui-rules_board_size`, GoGui drops the open game
and starts one of the engine's size, so Go has no such commands.

A `cboard` response contains a colour for each point, and a `dboard` response contains a number from
-1 (White) to 1 (Black), both in rows from the top. Source: 'Analyze commands', 'Setup commands' and
'Rules commands' in GoGui's manual, by M. Enzenberger and R. Coulom.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.games.ladders import ladders
from agent.games.stones import EMPTY, PASS
from protocols.gtp.analysis import MAX_MOVES, RootInfo, winrate
from protocols.gtp.board import winner_text
from protocols.gtp.command import Command
from protocols.gtp.messages import COLOURS, SYNTAX_ERROR, Arguments, GtpError, game_id

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

# By number of liberties. The last colour is also used for more liberties.
LIBERTY_COLOURS = ("red", "yellow", "green", "cyan")
NO_COLOUR = '""'
NO_STONE = ("e", "empty")  # instead of a colour in `gogui-setup`
LADDER_COLOURS = {"lost": "red", "threatened": "yellow"}
# RGB colours of the lowest and the highest number of visits.
_COLD, _HOT = (0x40, 0x60, 0xFF), (0xFF, 0x30, 0x30)


def _play_sequence(gtp: GtpSession, arguments: Arguments) -> str:
    gtp.board.play_all(arguments.moves())
    return ""


def _setup(gtp: GtpSession, arguments: Arguments) -> str:
    stones: list[tuple[int | None, str]] = []
    while arguments:
        player = arguments.optional_player()
        if player is None and arguments.word().lower() not in NO_STONE:
            raise GtpError(SYNTAX_ERROR)
        stones.append((player, arguments.word()))
    gtp.go_board.set_up(stones)
    gtp.on_position_changed()
    return ""


def _setup_player(gtp: GtpSession, arguments: Arguments) -> str:
    player = arguments.player()
    arguments.expect_end()
    gtp.go_board.set_player_to_move(player)
    return ""


def _game_id(gtp: GtpSession, _: Arguments) -> str:
    return game_id(gtp.board.name)


def _board(gtp: GtpSession, _: Arguments) -> str:
    return str(gtp.board.game)


def _board_size(gtp: GtpSession, _: Arguments) -> str:
    return gtp.board.size


def _legal_moves(gtp: GtpSession, _: Arguments) -> str:
    return " ".join(gtp.board.legal_moves())


def _side_to_move(gtp: GtpSession, _: Arguments) -> str:
    return COLOURS[gtp.board.turn]


def _final_result(gtp: GtpSession, _: Arguments) -> str:
    return winner_text(gtp.board.result())


def _analyze_commands(gtp: GtpSession, _: Arguments) -> str:
    available = gtp.known_commands()
    return "\n".join(
        line for line in ANALYZE_COMMANDS if line.split("/")[2].split()[0] in available
    )


def _read_player(gtp: GtpSession, arguments: Arguments) -> int:
    player = arguments.optional_player()
    arguments.expect_end()
    return gtp.board.turn if player is None else player


def _ownership(gtp: GtpSession, arguments: Arguments) -> str:
    player = _read_player(gtp, arguments)
    lines = gtp.analysis_lines(player)
    shares = next((line.ownership for line in lines if line.ownership is not None), None)
    if shares is None:
        return _format_rows(gtp, (f"{share:z.2f}" for share in gtp.playout_ownership()))
    return _format_rows(gtp, (f"{-share if player else share:z.2f}" for share in shares))


def _visits(gtp: GtpSession, arguments: Arguments) -> str:
    player = _read_player(gtp, arguments)
    lines = [line for line in gtp.analysis_lines(player) if line.visits]
    if not lines:
        return "TEXT no search results"
    text, max_visits = gtp.board.game.text, max(line.visits for line in lines)
    root = RootInfo.from_lines(lines)
    visits = [(text(line.pv[0]), line.visits) for line in lines if line.pv[0] != PASS]
    visits = visits[:MAX_MOVES]
    commands = [f"COLOR {_heat(count / max_visits)} {point}" for point, count in visits]
    if visits:
        commands.append(
            "LABEL " + " ".join(f"{point} {_abbreviate(count)}" for point, count in visits)
        )
    commands.append(
        f"TEXT {root.visits} visits, {COLOURS[player]} wins {100 * root.winrate:.1f} %,"
        f" {text(lines[0].pv[0])} {100 * winrate(lines[0]):.1f} %"
    )
    return "\n".join(commands)


def _ladders(gtp: GtpSession, arguments: Arguments) -> str:
    """Draw the chains that a ladder can capture, in red if their owner cannot save them."""
    arguments.expect_end()
    board = gtp.go_board
    with gtp.computing() as should_continue:
        prospects = ladders(board.game.stones, should_continue)
    commands = [
        f"COLOR {LADDER_COLOURS[prospect]} {' '.join(map(board.game.text, chain))}"
        for chain, prospect in prospects.items()
        if prospect in LADDER_COLOURS
    ]
    lost = sum(prospect == "lost" for prospect in prospects.values())
    return "\n".join([*commands, f"TEXT {lost} lost, {len(commands) - lost} threatened"])


def _liberties(gtp: GtpSession, arguments: Arguments) -> str:
    arguments.expect_end()
    stones, colours = gtp.go_board.game.stones, []
    for vertex in (vertex for row in gtp.go_board.rows_from_the_top() for vertex in row):
        count = stones.liberties[stones.head[vertex]].bit_count()
        occupied = stones.board[vertex] != EMPTY
        colours.append(
            LIBERTY_COLOURS[min(count, len(LIBERTY_COLOURS)) - 1] if occupied else NO_COLOUR
        )
    return _format_rows(gtp, colours)


def _format_rows(gtp: GtpSession, points: Iterable[str]) -> str:
    words, width = list(points), gtp.go_board.game.width
    return "\n" + "\n".join(
        " ".join(words[first : first + width]) for first in range(0, len(words), width)
    )


def _heat(share: float) -> str:
    parts = (round(cold + share * (hot - cold)) for cold, hot in zip(_COLD, _HOT, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def _abbreviate(number: int) -> str:
    if number < 10_000:
        return str(number)
    return f"{number // 1000}k" if number < 1_000_000 else f"{number // 1_000_000}M"


# Entries of GoGui's analysis window: type, label and command.
ANALYZE_COMMANDS = (
    "string/Final Score/final_score",
    "plist/Dead Stones/final_status_list dead",
    "plist/Living Stones/final_status_list alive",
    "plist/Stones in Seki/final_status_list seki",
    "plist/Black Territory/final_status_list black_territory",
    "plist/White Territory/final_status_list white_territory",
    "plist/Dame/final_status_list dame",
    "string/Estimated Score/estimate_score",
    "hstring/Status of Dragons/dragon_status",
    "string/Status of Dragon/dragon_status %p",
    "string/Attack Chain/attack %p",
    "string/Defend Chain/defend %p",
    "plist/All Legal/all_legal %c",
    "hstring/Move History/move_history",
    "dboard/Ownership/kempelen-ownership %c",
    "gfx/Visits/kempelen-visits %c",
    "gfx/Ladders/kempelen-ladders",
    "cboard/Liberties/kempelen-liberties",
    "string/Legal Moves/gogui-rules_legal_moves",
    "string/Side to Move/gogui-rules_side_to_move",
    "string/Rules/kata-get-rules",
    "none/Set Rules/kata-set-rules %s",
    "varc/Best Move/reg_genmove %c",
    "hstring/Show Board/showboard",
)

COMMANDS = {
    "gogui-play_sequence": Command(_play_sequence),
    "gogui-setup": Command(_setup, go_only=True),
    "gogui-setup_player": Command(_setup_player, go_only=True),
    "gogui-rules_game_id": Command(_game_id, not_for_go=True),
    "gogui-rules_board": Command(_board, not_for_go=True),
    "gogui-rules_board_size": Command(_board_size, not_for_go=True),
    "gogui-rules_legal_moves": Command(_legal_moves, not_for_go=True),
    "gogui-rules_side_to_move": Command(_side_to_move, not_for_go=True),
    "gogui-rules_final_result": Command(_final_result, not_for_go=True),
    "gogui-analyze_commands": Command(_analyze_commands),
    "kempelen-ownership": Command(_ownership, go_only=True),
    "kempelen-visits": Command(_visits, go_only=True),
    "kempelen-ladders": Command(_ladders, go_only=True),
    "kempelen-liberties": Command(_liberties, go_only=True),
}
