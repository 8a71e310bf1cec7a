"""Complete games, as GUIs and match runners play them."""

import sys
import time

import chess
import chess.engine
import pytest

from agent.games.variants import VARIANTS, board_class
from tests.external import program

# To ponder, tests pass a copy of the board. Otherwise, if the last move was the expected one,
# python-chess takes the next command for the answer to it, and does not stop the search.
MAX_PLIES = 600
COMMAND = [sys.executable, "-m", "kempelen.cli", "uci"]


@pytest.fixture(scope="module")
def engine(warm_cache):
    with chess.engine.SimpleEngine.popen_uci(COMMAND) as engine:
        yield engine


@pytest.mark.thorough
@pytest.mark.needs("stockfish")
@pytest.mark.parametrize("ours", [chess.WHITE, chess.BLACK])
def test_whole_game_against_stockfish_has_legal_moves(engine, ours):
    board = chess.Board()
    with chess.engine.SimpleEngine.popen_uci(program("stockfish")) as stockfish:
        stockfish.configure({"Threads": 1, "Hash": 16})
        while not board.is_game_over(claim_draw=True):
            player = engine if board.turn == ours else stockfish
            move = player.play(board, chess.engine.Limit(time=0.02), game="one").move
            assert move in board.legal_moves
            board.push(move)
    assert board.ply() > 10


def test_engine_handles_ponder_hits_and_misses(engine):
    board = chess.Board()
    limit = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.02, black_inc=0.02)
    hits = misses = 0
    while board.ply() < 30:
        result = engine.play(board.copy(), limit, ponder=True)
        board.push(result.move)
        if board.is_game_over():
            break
        # The pondered reply and another in turn: a hit, then a miss.
        others = [move for move in board.legal_moves if move != result.ponder]
        if result.ponder and (board.ply() % 4 == 1 or not others):
            hits += 1
            board.push(result.ponder)
        else:
            misses += 1
            board.push(others[0])
        if board.is_game_over():
            break
    assert hits
    assert misses


def test_fastchess_command_order_is_supported(start_engine, warm_cache):
    """The order of fastchess: ucinewgame before the options, isready before and after a move."""
    engine = start_engine()
    engine.send("uci")
    engine.read_until("uciok")
    engine.send("ucinewgame", "setoption name Hash value 8", "setoption name Threads value 2")
    board = chess.Board()
    for _ in range(6):
        moves = " ".join(move.uci() for move in board.move_stack)
        engine.send("isready")
        assert engine.read_until("readyok") == ["readyok"]
        engine.send(f"position startpos moves {moves}", "go wtime 100 btime 100 winc 0 binc 0")
        answer = engine.read_until("bestmove")[-1]
        engine.send("isready")
        assert engine.read_until("readyok") == ["readyok"]
        board.push_uci(answer.split()[1])
    engine.send("quit")
    assert engine.read_all() == []
    assert engine.wait() == (0, "")


def test_whole_chess960_self_play_game_has_legal_moves(engine):
    board = chess.Board.from_chess960_pos(0)
    while not board.is_game_over(claim_draw=True) and board.ply() < 200:
        move = engine.play(board, chess.engine.Limit(nodes=200), game=960).move
        assert move in board.legal_moves
        board.push(move)
    assert board.ply() > 10


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_whole_game_of_variant_has_legal_moves_and_a_result(warm_variants, engine, variant):
    """One side has a clock and ponders. The other makes the expected move, or the best of three."""
    board = board_class(variant)()
    ours = bool(VARIANTS.index(variant) % 2)
    limit = chess.engine.Limit(white_clock=1, black_clock=1, white_inc=0.02, black_inc=0.02)
    expected, hits = None, 0
    while (outcome := board.outcome(claim_draw=True)) is None:
        if board.turn == ours:
            played = engine.play(board.copy(), limit, game=variant, ponder=True)
            move, expected = played.move, played.ponder
        elif expected and board.ply() % 4 < 2:
            move, hits = expected, hits + 1
        else:
            found = engine.analyse(board, chess.engine.Limit(depth=5), game=variant, multipv=3)
            moves = [line["pv"][0] for line in found]
            assert len(set(moves)) == min(3, board.legal_moves.count())
            assert all(move in board.legal_moves for move in moves)
            move = moves[0]
        assert move in board.legal_moves
        board.push(move)
        assert board.ply() < MAX_PLIES
    assert hits
    assert outcome.result() in ("1-0", "0-1", "1/2-1/2")


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_lines_of_variant_are_distinct_and_levels_play(warm_variants, engine, variant):
    board = board_class(variant)()
    lines = engine.analyse(board, chess.engine.Limit(depth=3), multipv=3)
    assert len({line["pv"][0] for line in lines}) == 3
    for line in lines:
        after = board.copy()
        for move in line["pv"]:
            assert move in after.legal_moves
            after.push(move)
    engine.configure({"UCI_LimitStrength": True, "UCI_Elo": 1350})
    try:
        assert engine.play(board, chess.engine.Limit(nodes=500)).move in board.legal_moves
    finally:
        engine.configure({"UCI_LimitStrength": False})
    # Chess goes on after the variant.
    assert engine.play(chess.Board(), chess.engine.Limit(depth=2)).move in chess.Board().legal_moves


# In this position of horde, the first iteration is interrupted: captures need over 100,000 nodes.
MANY_CAPTURES = "rnbqkb1r/2ppn1p1/1p2ppP1/pPPPPP1p/PPPPPPPP/PPP1PPPP/PPPPPPPP/PPPP1PPP w kq - 0 8"


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("lines", [1, 3])
def test_line_comes_before_every_move(warm_variants, start_engine, variant, lines):
    """Also if a search ends at once."""
    boards = [board_class(variant)()]
    if variant == "horde":
        boards.append(board_class(variant)(MANY_CAPTURES))
    engine = start_engine()
    engine.send("uci", f"setoption name UCI_Variant value {variant}")
    engine.send("setoption name OwnBook value false", f"setoption name MultiPV value {lines}")
    for board in boards:
        move = next(iter(board.legal_moves)).uci()
        for limits in (
            *("nodes 1", "nodes 300", "depth 1", "movetime 0", "movetime 1", "mate 1 depth 2"),
            *("wtime 1 btime 1", f"nodes 1 searchmoves {move}"),
        ):
            engine.send(f"position fen {board.fen()}", f"go {limits}")
            *_, line, answer = engine.read_until("bestmove")
            best = answer.split()[1]
            assert chess.Move.from_uci(best) in board.legal_moves
            assert " multipv 1 " in line
            assert f"{line} ".partition(" pv ")[2].startswith(f"{best} ")
    engine.send("quit")


def test_mate_in_one_has_correct_score_and_variation(engine):
    board = chess.Board("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    info = engine.analyse(board, chess.engine.Limit(depth=8))
    assert info["score"].relative == chess.engine.Mate(1)
    assert [move.uci() for move in info["pv"]] == ["a1a8"]


def test_multipv_lines_are_distinct_and_sorted(engine):
    board = chess.Board()
    lines = engine.analyse(board, chess.engine.Limit(depth=6), multipv=4)
    assert len({line["pv"][0] for line in lines}) == 4
    scores = [line["score"].relative.score() for line in lines]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.thorough
def test_fixed_node_games_are_deterministic(warm_cache):
    def play():
        counts, board = [], chess.Board()
        with chess.engine.SimpleEngine.popen_uci(COMMAND) as engine:
            for _ in range(12):
                limit = chess.engine.Limit(nodes=3000)
                result = engine.play(board, limit, info=chess.engine.INFO_BASIC)
                counts.append((result.move, result.info["nodes"]))
                board.push(result.move)
        return counts

    assert play() == play()


@pytest.mark.thorough
def test_fast_self_play_games_are_completed(warm_cache, thorough):
    seconds, increment = (0.5, 0.01) if thorough else (0.2, 0.003)
    margin = 2.0  # for a busy machine
    with (
        chess.engine.SimpleEngine.popen_uci(COMMAND) as first,
        chess.engine.SimpleEngine.popen_uci(COMMAND) as second,
    ):
        first.ping()
        second.ping()
        for number, sides in enumerate([(first, second), (second, first)]):
            board, clocks = chess.Board(), [seconds, seconds]
            while not board.is_game_over(claim_draw=True):
                black, white = clocks
                limit = chess.engine.Limit(
                    white_clock=white, black_clock=black, white_inc=increment, black_inc=increment
                )
                began = time.perf_counter()
                # Raises EngineError after an illegal move.
                move = sides[board.turn].play(board, limit, game=number).move
                clocks[board.turn] -= time.perf_counter() - began
                assert clocks[board.turn] >= -margin
                clocks[board.turn] = max(clocks[board.turn], 0.0) + increment
                board.push(move)
