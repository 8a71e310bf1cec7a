"""GNU Go's commands that read out the fate of chains and of dragons.

A code is 0 for failure and 1 for success. In `attack` and `defend`, 2 and 3 stand for a ko: see
`agent.games.ladders.Reading`. In the other commands, a ko counts for the side that takes it first.
Source: 'GTP command reference' in the GNU Go documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agent.games.chain_status import ShouldContinue
from agent.games.dragons import dragon_at
from agent.games.ladders import Reading, read_attack, read_defence, read_ladder
from agent.games.stones import BLACK, EMPTY, PASS, WHITE, Stones
from agent.games.unconditional_life import unconditional_life
from agent.limits import Limits
from agent.search.stone_fate import FateSearch
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import COLOURS, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

# Returns the group of the stone at a vertex, as a bitboard.
GroupAt = Callable[[Stones, int], int]
# A search decides if its expected outcome (-1 to 1) is at least this far from 0.
MIN_OUTCOME = 0.25


def _attack(gtp: GtpSession, arguments: Arguments) -> str:
    return _read(gtp, arguments, read_attack)


def _defend(gtp: GtpSession, arguments: Arguments) -> str:
    return _read(gtp, arguments, read_defence)


def _ladder_attack(gtp: GtpSession, arguments: Arguments) -> str:
    return _read(gtp, arguments, read_ladder)


def _read(
    gtp: GtpSession,
    arguments: Arguments,
    read: Callable[[Stones, int, ShouldContinue], Reading],
) -> str:
    vertex = gtp.go_board.stone(arguments.word())
    arguments.expect_end()
    with gtp.computing() as should_continue:
        reading = read(gtp.go_board.game.stones, vertex, should_continue)
    return f"{reading.code} {gtp.board.game.text(reading.move)}" if reading.code else "0"


def _owl_attack(gtp: GtpSession, arguments: Arguments) -> str:
    return _owl(gtp, arguments, by_owner=False)


def _owl_defend(gtp: GtpSession, arguments: Arguments) -> str:
    return _owl(gtp, arguments, by_owner=True)


def _owl(gtp: GtpSession, arguments: Arguments, *, by_owner: bool) -> str:
    """Search whether the owner or the opponent of a dragon reaches their aim by moving first."""
    stones, vertex = gtp.go_board.game.stones, gtp.go_board.stone(arguments.word())
    arguments.expect_end()
    owner = stones.board[vertex] - BLACK
    with gtp.fate_search() as search:
        fate = search(dragon_at(stones, vertex), owner if by_owner else 1 - owner)
    return f"1 {gtp.board.game.text(fate.move)}" if fate.value >= MIN_OUTCOME else "0"


def _dragon_status(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the status of one dragon, or of all dragons, named by their first stone."""
    board, stones = gtp.go_board, gtp.go_board.game.stones
    if arguments:
        vertex = board.stone(arguments.word())
        arguments.expect_end()
        with gtp.fate_search() as search:
            return _status(gtp, search, dragon_at(stones, vertex))
    with gtp.fate_search() as search:
        return "\n".join(
            f"{gtp.board.game.text(board.from_the_top(dragon)[0])}: {_status(gtp, search, dragon)}"
            for dragon in _groups(board, stones.sets[BLACK] | stones.sets[WHITE], dragon_at)
        )


def _dragon_stones(gtp: GtpSession, arguments: Arguments) -> str:
    return _stones_of_groups(gtp, arguments, dragon_at)


def _worm_stones(gtp: GtpSession, arguments: Arguments) -> str:
    return _stones_of_groups(gtp, arguments, Stones.chain_at)


def _stones_of_groups(gtp: GtpSession, arguments: Arguments, group_at: GroupAt) -> str:
    """Return the stones of one group, or of all groups or those of a player, one on each line."""
    board, stones = gtp.go_board, gtp.go_board.game.stones
    player = arguments.optional_player()
    if player is None and arguments:
        return board.vertices_text(group_at(stones, board.stone(arguments.word())))
    _, black, white = stones.sets
    shown = black | white if player is None else (black, white)[player]
    return "\n".join(map(board.vertices_text, _groups(board, shown, group_at)))


def _groups(board: GtpGoBoard, vertices: int, group_at: GroupAt) -> Iterator[int]:
    """Generate the groups of some stones, in the order of their first stones from the top."""
    while vertices:
        group = group_at(board.game.stones, board.from_the_top(vertices)[0])
        vertices &= ~group
        yield group


def _same_dragon(gtp: GtpSession, arguments: Arguments) -> str:
    one, other = (gtp.go_board.stone(arguments.word()) for _ in range(2))
    return str(dragon_at(gtp.go_board.game.stones, one) >> other & 1)


def _status(gtp: GtpSession, search: FateSearch, dragon: int) -> str:
    stones, text = gtp.go_board.game.stones, gtp.board.game.text
    colour = BLACK if stones.sets[BLACK] & dragon else WHITE
    if not dragon & ~unconditional_life(stones, colour).stones:
        return "alive"
    owner = colour - BLACK
    attack = search(dragon, 1 - owner)
    if attack.value <= -MIN_OUTCOME:
        return "alive"
    defence = search(dragon, owner)
    if defence.value <= -MIN_OUTCOME:
        return "dead"
    if min(attack.value, defence.value) < MIN_OUTCOME:
        return "unknown"
    return f"critical {text(attack.move)} {text(defence.move)}"


def _unconditional_status(gtp: GtpSession, arguments: Arguments) -> str:
    vertex, stones = gtp.go_board.point(arguments.word()), gtp.go_board.game.stones
    for colour in (BLACK, WHITE):
        life = unconditional_life(stones, colour)
        if life.stones >> vertex & 1:
            return "alive"
        if life.territory >> vertex & 1:
            empty = stones.board[vertex] == EMPTY
            return f"{COLOURS[colour - BLACK]}_territory" if empty else "dead"
    return "undecided"


def _restricted_genmove(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the best of the listed moves, or pass if none of them is legal. Do not play it."""
    player, words = arguments.player(), arguments.rest()
    if not words:
        raise GtpError("no allowed vertex")
    board = gtp.go_board
    legal = [word for word in words if board.is_legal(player, word)]
    if not legal:
        return board.game.text(PASS)
    allowed: Limits[int] = Limits(search_moves=tuple(map(board.vertex, legal)))
    return gtp.board.game.text(gtp.think(player, move_restrictions=allowed).move)


COMMANDS = {
    "attack": Command(_attack, go_only=True),
    "defend": Command(_defend, go_only=True),
    "owl_attack": Command(_owl_attack, go_only=True),
    "owl_defend": Command(_owl_defend, go_only=True),
    "ladder_attack": Command(_ladder_attack, go_only=True),
    "dragon_status": Command(_dragon_status, go_only=True),
    "dragon_stones": Command(_dragon_stones, go_only=True),
    "same_dragon": Command(_same_dragon, go_only=True),
    "worm_stones": Command(_worm_stones, go_only=True),
    "unconditional_status": Command(_unconditional_status, go_only=True),
    "restricted_genmove": Command(_restricted_genmove, go_only=True),
}
