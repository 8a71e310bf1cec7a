"""Endgame tables in the search and at the root."""

import builtins
import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import pytest

from agent.chess.endgames.builtin_tablebase import BuiltinTablebase
from agent.chess.endgames.dtm_tables import DtmTables
from agent.chess.endgames.external_tablebases import SyzygyTablebase, open_gaviota, open_syzygy
from agent.chess.endgames.root_probe import Tablebases
from agent.chess.endgames.table_index import endgame_from_name
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.limits import Cp, Info, Limits, Mate
from tests.support import mates

pytestmark = pytest.mark.early

SYZYGY = Path(__file__).parents[3] / "data" / "syzygy"
GAVIOTA = "/usr/share/gaviotatb/gtb4"


@pytest.fixture(scope="module")
def own(endgame_tables: DtmTables) -> BuiltinTablebase:
    return BuiltinTablebase(endgame_tables)


def searching(endgame: Tablebases) -> AlphaBetaSearch:
    search = AlphaBetaSearch(megabytes=1)
    search.set_tablebases(endgame)
    return search


@pytest.fixture(scope="module")
def search(own: BuiltinTablebase) -> AlphaBetaSearch:
    return searching(Tablebases(own))


def think(
    search: AlphaBetaSearch, board: chess.Board, depth: int, lines: int = 1
) -> Info[chess.Move]:
    search.clear_stop()
    return [i for i in search.search(board, Limits(depth=depth), lines) if i.multipv == 1][-1]


def value_of(own: BuiltinTablebase, board: chess.Board) -> int:
    value = own.probe(board)
    assert value is not None
    return value


def random_wins(own: BuiltinTablebase, name: str, count: int) -> Iterable[chess.Board]:
    """Yield positions that the side to move, the stronger side, wins."""
    rng = random.Random(name)
    pieces = [chess.Piece(chess.KING, True), chess.Piece(chess.KING, False)] + [
        chess.Piece((code - 1) % 5 + 1, code < 6) for code in endgame_from_name(name).codes
    ]
    while count:
        board = chess.Board(None)
        for square, piece in zip(rng.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, piece)
        if board.is_valid() and value_of(own, board) and value_of(own, board) % 2 == 0:
            count -= 1
            yield board


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["KPK", "KBNK", "KQKR"])
def test_won_root_is_answered_from_tables(
    search: AlphaBetaSearch, own: BuiltinTablebase, name: str
) -> None:
    for board in random_wins(own, name, 10):
        value = value_of(own, board)
        info = think(search, board, 30)
        assert info.score == Mate(value // 2)
        assert info.tbhits == board.legal_moves.count()
        assert (info.nodes, info.seldepth) == (info.tbhits, len(info.pv))
        assert mates(board, info)
        for move in info.pv:
            board.push(move)
            value -= 1
            assert value_of(own, board) == value


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["KPK", "KBNK", "KQKR"])
def test_lost_root_plays_the_longest_defence(
    search: AlphaBetaSearch, own: BuiltinTablebase, name: str
) -> None:
    for board in random_wins(own, name, 10):
        board.push(think(search, board, 1).pv[0])
        if board.is_checkmate():
            continue
        value = value_of(own, board)
        info = think(search, board, 30)
        assert info.score == Mate(-(value // 2))
        assert mates(board, info)
        board.push(info.pv[0])
        assert value_of(own, board) == value - 1


def test_drawn_root_keeps_the_draw(search: AlphaBetaSearch, own: BuiltinTablebase) -> None:
    narrow = 0
    for board in random_wins(own, "KPK", 300):
        board = board.copy(stack=False)
        board.turn = chess.BLACK
        if not board.is_valid() or not any(board.legal_moves) or value_of(own, board):
            continue
        narrow += any(after % 2 == 0 and after for after in after_moves(own, board))
        info = think(search, board, 5)
        assert info.score == Cp(0)
        board.push(info.pv[0])
        assert value_of(own, board) == 0
    assert narrow > 5


def after_moves(own: BuiltinTablebase, board: chess.Board) -> list[int]:
    """Return the values of the positions after each move, for the other side."""
    values = []
    for move in board.legal_moves:
        board.push(move)
        values.append(value_of(own, board))
        board.pop()
    return values


def test_search_finds_mates_in_tables(search: AlphaBetaSearch) -> None:
    # Five pieces: capturing the knight leads to a won KQKR.
    board = chess.Board("8/7r/8/3k4/8/8/1n6/1KQ5 w - - 0 1")
    info = think(search, board, 5)
    assert isinstance(info.score, Mate)
    assert info.score.moves > 5
    assert mates(board, info)
    assert info.tbhits > 0
    assert think(searching(Tablebases()), board, 5).tbhits == 0


def test_table_mates_equal_searched_mates(search: AlphaBetaSearch, own: BuiltinTablebase) -> None:
    compared = 0
    for board in random_wins(own, "KQK", 60):
        if value_of(own, board) // 2 <= 2:
            compared += 1
            searched = think(AlphaBetaSearch(1, selective=False), board, 4).score
            assert searched == think(search, board, 4).score == Mate(value_of(own, board) // 2)
            assert searched == think(search, board, 2, lines=2).score
    assert compared > 1


@pytest.mark.parametrize(
    "fen", ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1"]
)
def test_positions_outside_tables_are_searched(search: AlphaBetaSearch, fen: str) -> None:
    info = think(search, chess.Board(fen), 2)
    assert info.depth == 2
    assert info.nodes > 0


def test_mate_beyond_fifty_move_rule_is_not_claimed(
    search: AlphaBetaSearch, own: BuiltinTablebase
) -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    value = value_of(own, board)
    board.halfmove_clock = 100 - (value - 1)
    assert think(search, board, 3).score == Mate(value // 2)
    board.halfmove_clock += 1
    info = think(search, board, 3)
    assert isinstance(info.score, Cp)
    assert info.nodes > 0


def defend(own: BuiltinTablebase, board: chess.Board) -> chess.Move:
    """Return the move with the longest defence, or one that escapes the mate."""
    values = {}
    for move in board.legal_moves:
        board.push(move)
        value = value_of(own, board)
        board.pop()
        values[move] = 500 if value == 0 else value + 1000 * (value % 2)
    return max(values, key=values.__getitem__)


def win(search: AlphaBetaSearch, own: BuiltinTablebase, board: chess.Board) -> None:
    attacker = board.turn
    while not board.is_game_over(claim_draw=True):
        move = think(search, board, 6).pv[0] if board.turn == attacker else defend(own, board)
        board.push(move)
    assert board.is_checkmate(), board.fen()
    assert board.turn != attacker


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["KBNK", "KQKR", "KBBK"])
def test_tables_win_against_the_best_defence(
    search: AlphaBetaSearch, own: BuiltinTablebase, name: str
) -> None:
    for board in random_wins(own, name, 5):
        search.new_game()
        win(search, own, board)


@pytest.mark.thorough
def test_capture_saves_win_from_fifty_move_rule(
    search: AlphaBetaSearch, own: BuiltinTablebase
) -> None:
    board = next(b for b in random_wins(own, "KQKR", 400) if 30 < value_of(own, b) < 50)
    # Too late for the mate, early enough for the rook.
    board.halfmove_clock = 100 - (value_of(own, board) - 1) + 4
    search.new_game()
    win(search, own, board)


class SyzygyFromDistances:
    """A fake of Syzygy tables of KBNK: without pawns and captures, DTZ is the distance to mate."""

    def __init__(self, own: BuiltinTablebase) -> None:
        self.wdl = {"KBNvK": 1}
        self._own = own

    def probe_dtz(self, board: chess.Board) -> int:
        value = self._own.probe(board)
        if value is None:
            raise KeyError(board.fen())
        if value == 0:
            return 0
        return value - 1 if value % 2 == 0 else -max(value - 1, 1)


def syzygy_from(own: BuiltinTablebase) -> SyzygyTablebase:
    stand_in: Any = SyzygyFromDistances(own)
    return SyzygyTablebase(stand_in)


def test_syzygy_tables_select_moves_to_search(own: BuiltinTablebase) -> None:
    syzygy = syzygy_from(own)
    assert syzygy.max_pieces == 4
    endgame = Tablebases(syzygy=syzygy)
    for board in random_wins(own, "KBNK", 5):
        advice = endgame.probe_root(board, list(board.legal_moves))
        assert advice is not None
        assert not advice.lines
        value = value_of(own, board)
        for move in advice.moves:
            board.push(move)
            assert value_of(own, board) == value - 1
            board.pop()
        info = think(searching(endgame), board, 3)
        assert info.pv[0] in advice.moves
        assert info.tbhits >= board.legal_moves.count()
    board = chess.Board("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
    assert endgame.probe_root(board, list(board.legal_moves)) is None


def test_syzygy_tables_prefer_draw_then_longest_defence(own: BuiltinTablebase) -> None:
    syzygy = syzygy_from(own)
    saved = 0
    for board in random_wins(own, "KBNK", 60):
        board.turn = chess.BLACK
        if not board.is_valid() or not any(board.legal_moves):
            continue
        values = dict(zip(board.legal_moves, after_moves(own, board), strict=True))
        best = {values[move] for move in syzygy.best_moves(board, list(values))}
        assert best == ({0} if 0 in values.values() else {max(values.values())})
        saved += best == {0}
    assert saved > 2


@pytest.mark.needs(GAVIOTA)
def test_gaviota_tables_answer_at_the_root(own: BuiltinTablebase) -> None:
    gaviota = open_gaviota(GAVIOTA)
    try:
        assert gaviota.max_pieces == 3
        search = searching(Tablebases(gaviota=gaviota))
        for board in random_wins(own, "KPK", 10):
            value = value_of(own, board)
            assert gaviota.probe(board) == value
            assert think(search, board, 3).score == Mate(value // 2)
        assert gaviota.probe(chess.Board()) is None
    finally:
        gaviota.close()


@pytest.mark.needs(GAVIOTA)
def test_gaviota_tables_need_not_be_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    read = builtins.open

    def open_to_read(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if set(mode) & set("wax+"):
            raise PermissionError(file)
        return read(file, mode, *rest, **options)

    monkeypatch.setattr(builtins, "open", open_to_read)
    gaviota = open_gaviota(GAVIOTA)
    assert gaviota.probe(chess.Board("7k/Q7/6K1/8/8/8/8/8 w - - 0 1")) == 2
    gaviota.close()


def test_damaged_gaviota_tables_are_reported_and_skipped(tmp_path: Path) -> None:
    board = chess.Board("7k/Q7/6K1/8/8/8/8/8 w - - 0 1")
    for content in (b"", b"no table", bytes(10_000)):
        (tmp_path / "kqk.gtb.cp4").write_bytes(content)
        reports: list[str] = []
        gaviota = open_gaviota(str(tmp_path), reports.append)
        assert [gaviota.probe(board), gaviota.probe(board.mirror())] == [None, None]
        gaviota.close()
        assert len(reports) == 1
        assert "kqk.gtb.cp4: damaged" in reports[0]


@pytest.fixture(scope="module")
def syzygy() -> Iterator[SyzygyTablebase]:
    """Real Syzygy tables of three pieces."""
    tables = open_syzygy(str(SYZYGY))
    yield tables
    tables.close()


@pytest.mark.parametrize("separator", [":", ";"])  # ; on Windows
def test_tables_in_several_folders_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    monkeypatch.setattr(os, "pathsep", separator)
    for folder, name in (("a", "KQvK"), ("b", "KRRvK")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.rtbw").write_bytes(b"")
    tables = open_syzygy(f"{tmp_path}/a{separator}{tmp_path}/b")
    assert tables.max_pieces == 4
    tables.close()
    with pytest.raises(FileNotFoundError, match="none: not a folder"):
        open_syzygy(f"{tmp_path}/a{separator}{tmp_path}/none")


@pytest.mark.thorough
def test_syzygy_tables_agree_with_own_tables(
    own: BuiltinTablebase, syzygy: SyzygyTablebase
) -> None:
    assert syzygy.max_pieces == 3
    with chess.syzygy.open_tablebase(str(SYZYGY)) as tables:
        for name in ("KPK", "KRK", "KQK"):
            for board in random_wins(own, name, 100):
                for move in board.legal_moves:
                    board.push(move)
                    value = value_of(own, board)
                    sign = 0 if value == 0 else 1 if value % 2 == 0 else -1
                    assert tables.probe_wdl(board) == 2 * sign, board.fen()
                    board.pop()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KPK", "KRK"])
def test_real_syzygy_tables_win_under_the_fifty_move_rule(
    own: BuiltinTablebase, syzygy: SyzygyTablebase, name: str
) -> None:
    """Also if the halfmove clock is already high."""
    search = searching(Tablebases(syzygy=syzygy))
    with chess.syzygy.open_tablebase(str(SYZYGY)) as tables:
        for board in random_wins(own, name, 6):
            board.halfmove_clock = 99 - tables.probe_dtz(board)
            search.new_game()
            win(search, own, board)


def test_syzygy_tables_do_not_repeat_a_won_position(syzygy: SyzygyTablebase) -> None:
    board = chess.Board("8/8/8/8/8/4k3/8/R3K3 w - - 0 1")
    first = syzygy.best_moves(board, board.legal_moves)[0]
    back = chess.Move(first.to_square, first.from_square)
    for move in (first, chess.Move.from_uci("e3f3"), back, chess.Move.from_uci("f3e3")) * 2:
        assert board.is_legal(move)
        board.push(move)
    again = syzygy.best_moves(board, board.legal_moves)
    assert again
    assert first not in again


def test_damaged_syzygy_tables_are_reported_and_skipped(tmp_path: Path) -> None:
    board = chess.Board("7k/Q7/6K1/8/8/8/8/8 w - - 0 1")
    whole = (SYZYGY / "KQvK.rtbz").read_bytes()
    for name, content in (
        ("KQvK.rtbw", b""),
        ("KQvK.rtbw", b"no table"),
        ("KQvK.rtbz", whole[:1000]),
        ("KQvK.rtbz", whole[:4] + bytes(5000)),
    ):
        for path in SYZYGY.glob("*.rtb?"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / name).write_bytes(content)
        reports: list[str] = []
        tables = open_syzygy(str(tmp_path), reports.append)
        assert tables.best_moves(board, board.legal_moves) == []
        assert tables.best_moves(board, board.legal_moves) == []
        tables.close()
        assert len(reports) == 1
        assert "KvKQ: damaged" in reports[0] or "KQvK: damaged" in reports[0]


def test_stop_ends_slow_table_probing(own: BuiltinTablebase) -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    moves = list(board.legal_moves)
    gaviota = Tablebases(gaviota=own)
    assert gaviota.probe_root(board, moves, stopped=lambda: True) is None
    polls = 0

    def later() -> bool:
        nonlocal polls
        polls += 1
        return polls > len(moves) + 3

    advice = gaviota.probe_root(board, moves, stopped=later)
    assert advice is not None
    ((score, line),) = advice.lines
    assert score == Mate(30)
    assert len(line) < 5
    assert gaviota.probe_root(board, moves) == Tablebases(own).probe_root(board, moves)


def test_stop_does_not_shorten_the_first_line_of_own_tables(own: BuiltinTablebase) -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    advice = Tablebases(own).probe_root(board, list(board.legal_moves), 3, stopped=lambda: True)
    assert advice is not None
    assert [len(line) for _, line in advice.lines] == [59]


@pytest.mark.parametrize("search_class", [AlphaBetaSearch, MctsSearch])
def test_multipv_lines_at_a_table_root_are_played_out_to_mate(
    own: BuiltinTablebase, search_class: type[AlphaBetaSearch] | type[MctsSearch]
) -> None:
    board = chess.Board("8/8/8/3k4/8/8/8/KR6 w - - 0 1")
    search = search_class(megabytes=1)
    search.set_tablebases(Tablebases(own))
    infos = list(search.search(board, Limits(depth=20), 3))
    assert [info.score for info in infos] == [Mate(15), Mate(15), Mate(16)]
    assert [info.multipv for info in infos] == [1, 2, 3]
    assert {info.depth for info in infos} == {31}
    assert all(mates(board, info) for info in infos)
    assert len({info.pv[0] for info in infos}) == 3


def test_multipv_lines_of_a_table_root_are_sorted(
    search: AlphaBetaSearch, own: BuiltinTablebase
) -> None:
    board = next(b for b in random_wins(own, "KPK", 50) if 0 in after_moves(own, b)[1:-1])
    search.clear_stop()
    infos = list(search.search(board, Limits(depth=9), 99))
    expected = sorted(after_moves(own, board), key=lambda value: value or 500)
    assert [i.score for i in infos] == [Mate(v // 2 + 1) if v else Cp(0) for v in expected]
    assert all(mates(board, info) or info.pv[1:] == () for info in infos)


@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("search_class", [AlphaBetaSearch, MctsSearch])
def test_lines_that_end_in_tables_go_on_to_the_mate(
    own: BuiltinTablebase, search_class: type[AlphaBetaSearch] | type[MctsSearch], lines: int
) -> None:
    search = search_class(megabytes=1)
    search.set_tablebases(Tablebases(own))
    for fen in ("8/8/8/3k4/8/8/1pK5/4Q3 w - - 0 1", "8/8/8/3k4/8/8/1nK5/4R3 w - - 0 1"):
        board = chess.Board(fen)
        search.clear_stop()
        infos = list(search.search(board, Limits(nodes=5000), lines))
        assert any(mates(board, info) for info in infos)
        assert infos[-1].tbhits > 0


def test_stop_ends_the_play_out_of_a_line(own: BuiltinTablebase) -> None:
    tablebases = Tablebases(own)
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    assert tablebases.mate_line(board, 59, lambda: True) is None
    line = tablebases.mate_line(board, 59)
    assert line is not None
    assert mates(board, Info(1, Mate(30), line))
    assert tablebases.mate_line(board, 57) is None


def test_lines_after_a_stop_are_complete_or_left_out(own: BuiltinTablebase) -> None:
    board = chess.Board("8/8/8/3k4/8/8/1pK5/4Q3 w - - 0 1")
    search = searching(Tablebases(own))
    for count in range(1, 8):
        search.new_game()
        search.clear_stop()
        found = []
        for info in search.search(board, Limits(infinite=True), 2):
            found.append(info)
            if len(found) == count:
                search.stop()
        assert len(found) >= count
        assert sum(mates(board, info) for info in found) >= count - 2


def test_mates_found_from_moves_of_syzygy_tables_are_complete(own: BuiltinTablebase) -> None:
    search = searching(Tablebases(syzygy=syzygy_from(own)))
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    advice = Tablebases(own).probe_root(board, list(board.legal_moves))
    assert advice is not None
    for move in advice.lines[0][1][:-5]:
        board.push(move)
    infos = list(search.search(board, Limits(depth=8)))
    assert any(mates(board, info) for info in infos)


def test_tree_search_uses_tables(own: BuiltinTablebase) -> None:
    search = MctsSearch(megabytes=1)
    search.set_tablebases(Tablebases(own))
    board = chess.Board("8/8/8/3k4/8/8/8/KBN5 w - - 0 1")
    assert think(search, board, 3).score == Mate(value_of(own, board) // 2)
    # Five pieces, several lines: the search itself probes the tables.
    search.clear_stop()
    infos = list(search.search(chess.Board("8/7r/8/3k4/8/8/1n6/1KQ5 w - - 0 1"), Limits(nodes=999)))
    assert isinstance(infos[-1].score, Mate)
    assert infos[-1].tbhits > 0


def test_tree_search_plays_only_moves_chosen_by_tables(own: BuiltinTablebase) -> None:
    """Also if its tree contains all moves from an earlier search."""
    search = MctsSearch(megabytes=1)
    endgame = Tablebases(syzygy=syzygy_from(own))
    search.set_tablebases(endgame)
    for board in random_wins(own, "KBNK", 3):
        search.clear_stop()
        list(search.search(board, Limits(nodes=500), 3))
        advice = endgame.probe_root(board, list(board.legal_moves))
        assert advice is not None
        assert think(search, board, 4).pv[0] in advice.moves


@pytest.mark.parametrize("lines", [1, 3])
def test_tables_respect_search_moves_and_multipv(
    search: AlphaBetaSearch, own: BuiltinTablebase, lines: int
) -> None:
    for board in random_wins(own, "KBNK", 5):
        allowed = tuple(sorted(board.legal_moves, key=str)[::2])
        values = []
        for move in allowed:
            board.push(move)
            values.append(value_of(own, board))
            board.pop()
        search.clear_stop()
        infos = list(search.search(board, Limits(depth=2, search_moves=allowed), lines))[-lines:]
        assert {info.pv[0] for info in infos} <= set(allowed)
        mates = sorted((value + 1) // 2 for value in values if value % 2)
        expected = [Mate(plies) for plies in mates[:lines]]
        assert [info.score for info in infos][: len(expected)] == expected


@pytest.mark.parametrize("open_tables", [open_gaviota, open_syzygy])
def test_folders_without_tables_are_rejected(
    open_tables: Callable[[str], object], tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="not a folder"):
        open_tables(str(tmp_path / "none"))
    with pytest.raises(OSError, match=r"no \w+ tables"):
        open_tables(str(tmp_path))
