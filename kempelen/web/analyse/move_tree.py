"""The move tree of a game: its nodes as JSON for the page, and the page's changes to it.

The nodes are numbered with the main line first. Each node comes after its parent, and siblings keep
their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, TypeVar, cast

import chess
import chess.pgn

from agent.games.go import COLUMNS, Go
from agent.games.position_text import SupportsSetup
from kempelen.match.config.game_settings import CHESS, GO
from kempelen.match.review.board_review import BoardNode, ParsedBoardGame
from kempelen.web.diagrams import diagram
from kempelen.web.play.boards import BoardGame
from kempelen.web.play.setup import GameSetup
from protocols.gtp.sgf import (
    SETUP_PROPERTIES,
    SgfError,
    SgfGame,
    get_move,
    main_moves,
    read_point,
    set_move,
)
from protocols.gtp.sgf_tree import Node as SgfNode
from protocols.katago_analysis.query import read_vertex

# Maximum number of moves in the variations of a game, and of nodes in a game from the page.
MAX_VARIATION_MOVES = 20_000
MAX_NODES = MAX_VARIATION_MOVES + 2000
# Maximum characters of a shown comment.
MAX_COMMENT_LENGTH = 2000
PLAYERS = "BW"
# The NAGs of the marks !, ?, !!, ??, !? and ?!, with the SGF properties that have their meaning.
SGF_MARKS = {
    1: ("TE", "1"), 2: ("BM", "1"), 3: ("TE", "2"), 4: ("BM", "2"), 5: ("IT", ""), 6: ("DO", ""),
}  # fmt: skip

Node = TypeVar("Node")


class TreeError(ValueError):
    """The page's tree does not belong to the game, or has an illegal move."""


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of the tree on the page.

    - `parent`: the number of its parent among the nodes on the page, or -1 for the root.
    - `was`: its number in the source, or None if it is new.
    - `move`: the move of a new node, in UCI notation, for Go such as "B D4", or in the notation of
      other games.
    - `comment`, `nags`: None if they have not been changed.
    """

    parent: int = -1
    was: int | None = None
    move: str = ""
    comment: str | None = None
    nags: tuple[int, ...] | None = None


def walk(root: Node, children: Callable[[Node], Sequence[Node]]) -> Iterator[tuple[Node, int]]:
    """Yield the nodes of a tree, each with the number of its parent."""
    waiting, number = [(root, -1)], 0
    while waiting:
        node, parent = waiting.pop()
        siblings: list[tuple[Node, int]] = []
        while True:
            yield node, parent
            following = children(node)
            siblings += [(other, number) for other in reversed(following[1:])]
            parent, number = number, number + 1
            if not following:
                break
            node = following[0]
        waiting += siblings  # the deepest is popped first, so that each move is undone once


class MoveTree:
    """The nodes of a game as JSON: those of the main line, and those of the variations.

    `numbers` maps the number of each node in the source to its number on the page.
    """

    def __init__(self) -> None:
        self.main_line: list[dict[str, Any]] = []
        self.branches: list[dict[str, Any]] = []
        self.numbers: dict[int, int] = {}
        self._path: list[int] = []

    def shows(self, parent: int) -> bool:
        """Return whether the children of a node are shown."""
        return parent < 0 or (parent in self.numbers and len(self.branches) < MAX_VARIATION_MOVES)

    def climb(self, parent: int) -> int:
        """Go back to the position of `parent`. Return how many moves to undo."""
        before = len(self._path)
        while self._path and self._path[-1] != parent:
            self._path.pop()
        return before - len(self._path)

    def add(
        self, number: int, parent: int, entry: dict[str, Any], comment: str, nags: Sequence[int]
    ) -> None:
        if comment:
            entry["comment"] = comment[:MAX_COMMENT_LENGTH]
        if nags:
            entry["nags"] = sorted(nags)
        if parent + 1 == number == len(self.main_line):
            self.main_line.append(entry)
        else:
            self.branches.append({**entry, "parent": self.numbers[parent], "was": number})
        self.numbers[number] = len(self.main_line) + len(self.branches) - 1
        self._path.append(number)


def chess_tree(game: chess.pgn.Game) -> MoveTree:
    board, tree = game.board(), MoveTree()
    root: chess.pgn.GameNode = game
    for number, (node, parent) in enumerate(walk(root, _chess_children)):
        if not tree.shows(parent):
            continue
        for _ in range(tree.climb(parent)):
            board.pop()
        move: dict[str, Any] = {}
        if node.move is not None:
            last = [node.move.from_square, node.move.to_square]
            move = {"move": board.san(node.move), "played": node.move.uci()}
            move["last"] = [chess.square_name(square) for square in last]
            board.push(node.move)
        entry = {"type": CHESS, "fen": board.fen(), **move, "comment": ""}
        comment = "\n".join(filter(None, (node.starting_comment, node.comment)))
        tree.add(number, parent, entry, comment, list(node.nags))
    return tree


def section_root(tree: SgfNode, section: SgfGame) -> SgfNode:
    """Return the node after which a section of a game begins: the first, or one with a move."""
    return main_moves(tree)[section.start - 1] if section.start else tree


def go_tree(root: SgfNode, game: Go) -> MoveTree:
    """Return the tree of a game in SGF. `game` is the position before the first move.

    An illegal move ends a variation.
    """
    tree = MoveTree()
    for number, (node, parent) in enumerate(walk(root, _go_children(root))):
        if not tree.shows(parent):
            continue
        entry: dict[str, Any] = {}
        if parent >= 0:
            for _ in range(tree.climb(parent)):
                game.undo()
            if (played := _play(game, node)) is None:
                continue
            entry = {"move": played[1], "played": " ".join(played), "last": [played[1]]}
        entry = {**diagram(GO, str(game)), **entry, "prisoners": list(game.prisoners)}
        comment = "\n".join(filter(None, (each.comment for each in _with_remarks(node))))
        tree.add(number, parent, entry, comment, [n for n in SGF_MARKS if _has_mark(node, n)])
    return tree


def new_board(game: ParsedBoardGame) -> BoardGame:
    """Return the initial position of a board game."""
    return BoardGame(GameSetup(game.game, game.options))


def board_tree(game: ParsedBoardGame) -> MoveTree:
    """Return the tree of a board game. An illegal move ends a variation."""
    board, tree = new_board(game), MoveTree()
    for number, (node, parent) in enumerate(walk(game.root, _board_children)):
        if not tree.shows(parent):
            continue
        entry: dict[str, Any] = {}
        if parent >= 0:
            for _ in range(tree.climb(parent)):
                board.undo()
            try:
                written = board.play(node.move)
            except ValueError:
                continue
            entry = {"move": written, "played": written}
        entry |= board.diagram() | {"setup": cast("SupportsSetup[Any]", board.game).position()}
        tree.add(number, parent, entry, node.comment, node.nags)
    return tree


def _play(game: Go, node: SgfNode) -> tuple[str, str] | None:
    """Play the move of a node. Return the player and the point, or None if it is illegal."""
    try:
        player, point = get_move(node, (game.width, game.height))
    except SgfError:
        return None
    text = "pass" if point is None else f"{COLUMNS[point[0]]}{point[1] + 1}"
    vertex = read_vertex(text, (game.width, game.height))
    if vertex is None or not game.is_legal(player, vertex, tolerant=True):
        return None
    game.play_as(player, vertex)
    return PLAYERS[player], game.text(vertex)


def change_chess(game: chess.pgn.Game, changes: Sequence[NodeChange]) -> None:
    """Change a game to the tree of the page. Raise TreeError if the tree is invalid."""
    boards: dict[int, chess.Board] = {}

    def add(parent: chess.pgn.GameNode, text: str) -> chess.pgn.GameNode:
        board = (boards.get(id(parent)) or parent.board()).copy(stack=False)
        try:
            move = board.push_uci(text)
        except ValueError:
            raise TreeError("illegal move") from None
        node = parent.add_variation(move)
        boards[id(node)] = board
        return node

    root: chess.pgn.GameNode = game
    old = list(walk(root, _chess_children))
    shown = chess_tree(game).numbers
    for node, change, children, deleted in _match(old, shown, changes, add):
        gone = set(map(id, deleted)) | set(map(id, children))
        node.variations = [
            *cast(list[chess.pgn.ChildNode], children),
            *(v for v in node.variations if id(v) not in gone),
        ]
        if change.comment is not None:
            node.comment, node.starting_comment = change.comment, ""
        if change.nags is not None:
            node.nags = set(change.nags)


def change_go(root: SgfNode, game: Go, changes: Sequence[NodeChange]) -> None:
    """Change a game to the tree of the page. Raise TreeError if the tree is invalid."""
    size = game.width, game.height

    def add(parent: SgfNode, text: str) -> SgfNode:
        player, _, vertex = text.partition(" ")
        if player not in tuple(PLAYERS) or read_vertex(vertex, size) is None:
            raise TreeError("illegal move")
        node = SgfNode(parent)
        set_move(node, PLAYERS.index(player), read_point(vertex), size)
        return node

    old = list(walk(root, _go_children(root)))
    shown = go_tree(root, game).numbers
    for node, change, children, deleted in _match(old, shown, changes, add):
        for child in deleted:
            assert child.parent is not None
            child.parent.children.remove(child)
        for place, child in enumerate(children):
            parent = child.parent
            if parent and parent is children[0].parent:  # not through a node without a move
                parent.children.remove(child)
                parent.children.insert(place, child)
        if change.comment is not None:
            for remark in _with_remarks(node):
                remark.properties.pop("C", None)
            if change.comment:
                node.set("C", change.comment)
        if change.nags is not None:
            for name, _ in SGF_MARKS.values():
                node.properties.pop(name, None)
            for name, value in (SGF_MARKS[nag] for nag in change.nags if nag in SGF_MARKS):
                node.set(name, value)


def change_board(game: ParsedBoardGame, changes: Sequence[NodeChange]) -> None:
    """Change the tree of a board game to that of the page. Raise TreeError if it is invalid.

    The legality of new moves is not checked.
    """

    def add(parent: BoardNode, text: str) -> BoardNode:
        return BoardNode(text)

    old = list(walk(game.root, _board_children))
    shown = board_tree(game).numbers
    for node, change, children, deleted in _match(old, shown, changes, add):
        gone = set(map(id, deleted)) | set(map(id, children))
        node.children = [*children, *(child for child in node.children if id(child) not in gone)]
        if change.comment is not None:
            node.comment = change.comment
        if change.nags is not None:
            node.nags = list(change.nags)


def _match(
    old: Sequence[tuple[Node, int]],
    shown: Mapping[int, int],
    changes: Sequence[NodeChange],
    add: Callable[[Node, str], Node],
) -> Iterator[tuple[Node, NodeChange, list[Node], list[Node]]]:
    """Yield each node of the page with its change, its children, and its deleted children.

    Nodes that the page did not show are not among the deleted ones.
    """
    if not 1 <= len(changes) <= MAX_NODES or changes[0].was != 0:
        raise TreeError("the moves do not match the game")
    nodes, used = [old[0][0]], {0}
    children: list[list[Node]] = [[] for _ in changes]
    deleted: list[list[Node]] = [[] for _ in changes]
    for number, change in enumerate(changes[1:], 1):
        if not 0 <= change.parent < number:
            raise TreeError("the moves do not match the game")
        if change.was is None:
            node = add(nodes[change.parent], change.move)
        else:
            is_known = change.was in shown and change.was not in used
            if not is_known or old[change.was][1] != changes[change.parent].was:
                raise TreeError("the moves do not match the game")
            node = old[change.was][0]
            used.add(change.was)
        nodes.append(node)
        children[change.parent].append(node)
    places = {change.was: number for number, change in enumerate(changes)}
    for was in shown.keys() - used:
        if (parent := old[was][1]) in used:
            deleted[places[parent]].append(old[was][0])
    yield from zip(nodes, changes, children, deleted, strict=True)


def _chess_children(node: chess.pgn.GameNode) -> Sequence[chess.pgn.GameNode]:
    return node.variations


def _board_children(node: BoardNode) -> Sequence[BoardNode]:
    return node.children


def _go_children(root: SgfNode) -> Callable[[SgfNode], Sequence[SgfNode]]:
    """Return a function that finds the next moves, through nodes that have none.

    Stones may be set up only before the first move of the main line.
    """
    setup = []
    for node in islice(root.main_line(), 1, None):
        setup.append(id(node))
        if node.colour:
            break

    def children(node: SgfNode) -> list[SgfNode]:
        found, waiting = [], node.children[::-1]
        while waiting:
            child = waiting.pop()
            if child.properties.keys() & SETUP_PROPERTIES.keys() and id(child) not in setup:
                continue
            if child.colour:
                found.append(child)
            else:
                waiting += child.children[::-1]
        return found

    return children


def _with_remarks(node: SgfNode) -> Iterator[SgfNode]:
    """Yield a node, and those after it that have no move."""
    yield node
    yield from takewhile(lambda each: not each.colour, islice(node.main_line(), 1, None))


def _has_mark(node: SgfNode, nag: int) -> bool:
    name, value = SGF_MARKS[nag]
    return name in node.properties and (node.get(name) or "1") == (value or "1")
