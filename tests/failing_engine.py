"""A UCI engine that fails on purpose: `python failing_engine.py FAILURE [AFTER]`.

It plays the first legal move by UCI text until its AFTER-th search (1 is the first), and then
fails in the way that is named. It depends on the `chess` package for its legal moves only.
"""

import os
import sys
import time

import chess

SEARCH_FAILURES = {
    "none",
    "dies",
    "hangs",
    "illegal",
    "null-move",
    "no-move",
    "upper-case",
    "san",
    "two-bestmoves",
    "no-info",
    "noise",
    "binary",
    "huge-lines",
    "late",
    "empty-bestmove",
    "closes-output",
    "bad-info",
    "huge-numbers",
    "killed",
    "deaf-after",
}
START_FAILURES = {"dies-at-once", "no-uciok", "no-readyok", "noise-at-once", "chatty"}
END_FAILURES = {"ignores-quit"}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def sleep_for_ever() -> None:
    while True:
        time.sleep(60)


def noise_for_ever() -> None:
    line = "info string " + "noise " * 50 + "\n"
    while True:
        sys.stdout.write(line)


def answer(failure: str, board: chess.Board) -> None:
    move = min(board.legal_moves, key=lambda m: m.uci())
    if failure not in ("no-info", "bad-info"):
        say(f"info depth 1 score cp 0 nodes 1 time 0 pv {move.uci()}")
    if failure == "dies":
        print("cannot go on", file=sys.stderr, flush=True)
        os._exit(3)
    elif failure == "killed":
        os.kill(os.getpid(), 9)
    elif failure == "hangs":
        sleep_for_ever()
    elif failure == "illegal":
        say("bestmove a1a1")
    elif failure == "null-move":
        say("bestmove 0000")
    elif failure == "no-move":
        say("bestmove (none)")
    elif failure == "empty-bestmove":
        say("bestmove")
    elif failure == "upper-case":
        say(f"bestmove {move.uci().upper()}")
    elif failure == "san":
        knight = next(m for m in board.legal_moves if board.piece_type_at(m.from_square) == 2)
        say(f"bestmove {board.san(knight)}")
    elif failure == "two-bestmoves":
        say(f"bestmove {move.uci()}\nbestmove a1a1")
    elif failure == "noise":
        noise_for_ever()
    elif failure == "binary":
        sys.stdout.buffer.write(b"\xff\xfe\x00 info \x80\x81 score cp \xff\n")
        sys.stdout.flush()
        say(f"bestmove {move.uci()}")
    elif failure == "huge-lines":
        say("info string " + "x" * 3_000_000)
        say(f"bestmove {move.uci()}")
    elif failure == "late":
        time.sleep(0.5)
        say(f"bestmove {move.uci()}")
    elif failure == "closes-output":
        os.close(1)
        sleep_for_ever()
    elif failure == "bad-info":
        say("info depth x score cp\ninfo score mate\ninfo depth 1 score cp ten pv")
        say(f"bestmove {move.uci()}")
    elif failure == "huge-numbers":
        for word in ("score cp", "score mate", "score cp 5 depth", "score cp 5 nodes"):
            say(f"info depth 1 {word} {'9' * 400} pv {move.uci()}")
        say(f"bestmove {move.uci()}")
    elif failure == "deaf-after":
        say(f"bestmove {move.uci()}")
        sleep_for_ever()
    else:
        say(f"bestmove {move.uci()}")


def main() -> None:
    failure = sys.argv[1] if len(sys.argv) > 1 else "none"
    after = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if failure not in SEARCH_FAILURES | START_FAILURES | END_FAILURES:
        sys.exit(f"unknown failure {failure}")
    if failure == "dies-at-once":
        sys.exit("no licence found")
    if failure == "noise-at-once":
        noise_for_ever()
    if failure == "chatty":
        say("Welcome to Failing Engine!\n\nid\noption\noption name\nuci ok")
    board, searches = chess.Board(), 0
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            if failure == "no-uciok":
                continue
            say(f"id name Failing {failure}\nid author Tests")
            say("option name OwnBook type check default true")
            say("option name UCI_Chess960 type check default false")
            say("option name Style of Play type combo default Solid var Solid var Very Risky")
            say("option name Hash type spin default 16 min 1 max 64\nuciok")
        elif words[:1] == ["isready"]:
            if failure != "no-readyok":
                say("readyok")
        elif words[:1] == ["position"]:
            split = words.index("moves") if "moves" in words else len(words)
            fen = chess.STARTING_FEN if words[1] == "startpos" else " ".join(words[2:split])
            board = chess.Board(fen)
            for move in words[split + 1 :]:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            searches += 1
            answer(failure if searches >= after else "none", board)
        elif words[:1] == ["quit"] and failure != "ignores-quit":
            return
    if failure == "ignores-quit":
        sleep_for_ever()


if __name__ == "__main__":
    main()
