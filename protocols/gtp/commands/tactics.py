"""GNU Go's commands that read out the fate of chains and of dragons.

A code is 0 for failure and 1 for success. In `attack` and `defend`, 2 and 3 stand for a ko: see
`agent.games.ladders.Reading`. In the other commands, a ko counts for the side that takes it first.
Source: 'GTP command reference' in the GNU Go documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent.games.chain_status import ShouldContinue
from agent.games.dragons import dragon_at, dragons
from agent.games.ladders import Reading, read_attack, read_defence, read_ladder
from agent.games.stones import BLACK, EMPTY, PASS, WHITE, Stones, iter_bits
from agent.games.unconditional_life import unconditional_life
from agent.limits import Limits
from agent.search.stone_fate import FateSearch
from protocols.gtp.command import Command
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import COLOURS, Arguments, GtpError

if TYPE_CHECKING:
    from protocols.gtp.session import GtpSession

# Returns all groups of stones, as bitboards.
FindGroups = Callable[[Stones, ShouldContinue], list[int]]
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
    with gtp.computing() as should_continue:
        dragon = dragon_at(stones, vertex, should_continue)
        search = gtp.fate_search(should_continue)
        fate = search(dragon, owner if by_owner else 1 - owner)
    return f"1 {gtp.board.game.text(fate.move)}" if fate.value >= MIN_OUTCOME else "0"


def _dragon_status(gtp: GtpSession, arguments: Arguments) -> str:
    """Return the status of one dragon, or of all dragons, named by their first stone."""
    board, stones = gtp.go_board, gtp.go_board.game.stones
    vertex = board.stone(arguments.word()) if arguments else None
    arguments.expect_end()
    with gtp.computing() as should_continue:
        search = gtp.fate_search(should_continue)
        if vertex is not None:
            return _status(gtp, search, dragon_at(stones, vertex, should_continue))
        return "\n".join(
            f"{gtp.board.game.text(board.from_the_top(dragon)[0])}: {_status(gtp, search, dragon)}"
            for dragon in _sorted(board, dragons(stones, should_continue))
        )


def _dragon_stones(gtp: GtpSession, arguments: Arguments) -> str:
    return _stones_of_groups(gtp, arguments, dragons)


def _worm_stones(gtp: GtpSession, arguments: Arguments) -> str:
    return _stones_of_groups(gtp, arguments, _chains)


def _chains(stones: Stones, _: ShouldContinue) -> list[int]:
    heads = {stones.head[vertex] for vertex in iter_bits(stones.sets[BLACK] | stones.sets[WHITE])}
    return list(map(stones.chain_at, heads))


def _stones_of_groups(gtp: GtpSession, arguments: Arguments, find_groups: FindGroups) -> str:
    """Return the stones of one group, or of all groups or those of a player, one on each line."""
    board, stones = gtp.go_board, gtp.go_board.game.stones
    player = arguments.optional_player()
    _, black, white = stones.sets
    shown = black | white if player is None else (black, white)[player]
    if player is None and arguments:
        shown = 1 << board.stone(arguments.word())
    arguments.expect_end()
    with gtp.computing() as should_continue:
        groups = [group for group in find_groups(stones, should_continue) if group & shown]
    return "\n".join(map(board.vertices_text, _sorted(board, groups)))


def _sorted(board: GtpGoBoard, groups: Iterable[int]) -> list[int]:
    """Return groups in the order of their first stones from the top."""
    rows = board.rows_from_the_top()
    place = {vertex: at for at, vertex in enumerate(vertex for row in rows for vertex in row)}
    return sorted(groups, key=lambda group: min(place[vertex] for vertex in iter_bits(group)))


def _same_dragon(gtp: GtpSession, arguments: Arguments) -> str:
    one, other = (gtp.go_board.stone(arguments.word()) for _ in range(2))
    arguments.expect_end()
    with gtp.computing() as should_continue:
        return str(dragon_at(gtp.go_board.game.stones, one, should_continue) >> other & 1)


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
