"""A UCI engine that follows the protocol: `python compliant_engine.py [OLD NEW]`.

In its output, the text OLD is replaced by NEW. It plays the first legal moves by UCI text. With
OwnBook, it plays them at once.
"""

import sys

import chess

OLD, NEW = (*sys.argv[1:], "", "")[:2]
OPTIONS = """option name Hash type spin default 16 min 1 max 64
option name Ponder type check default false
option name MultiPV type spin default 1 min 1 max 5
option name UCI_Chess960 type check default false
option name Style of Play type combo default Solid var Solid var Very Risky
option name OwnBook type check default true
option name Clear Hash type button
option name Book File type string default <empty>"""


def say(text: str) -> None:
    sys.stdout.write((text.replace(OLD, NEW.replace("\\n", "\n")) if OLD else text) + "\n")
    sys.stdout.flush()


def answer(board: chess.Board, lines: int, searchmoves: list[str], *, own_book: bool) -> None:
    moves = searchmoves or sorted(board.uci(move) for move in board.legal_moves)
    if not moves:
        say("info depth 0 score mate 0\nbestmove (none)")
        return
    for number, move in enumerate(() if own_book else moves[:lines], start=1):
        say(f"info depth 1 seldepth 1 multipv {number} score cp 7 nodes 20 hashfull 0 pv {move}")
    board.push_uci(moves[0])
    reply = min((board.uci(move) for move in board.legal_moves), default=None)
    say(f"bestmove {moves[0]}" + (f" ponder {reply}" if reply else ""))


def main() -> None:
    board, lines, chess960, waiting, own_book = chess.Board(), 1, False, False, True
    for line in sys.stdin:
        match line.split():
            case ["uci"]:
                say(f"id name Compliant\nid author Tests\n{OPTIONS}\nuciok")
            case ["isready"]:
                say("readyok")
            case ["setoption", "name", name, "value", value]:
                lines = int(value) if name == "MultiPV" else lines
                chess960 = value == "true" if name == "UCI_Chess960" else chess960
                own_book = value == "true" if name == "OwnBook" else own_book
            case ["position", kind, *words]:
                split = words.index("moves") if "moves" in words else len(words)
                fen = chess.STARTING_FEN if kind == "startpos" else " ".join(words[:split])
                board = chess.Board(fen, chess960=chess960)
                for move in words[split + 1 :]:
                    board.push_uci(move)
            case ["go", *words]:
                waiting = "infinite" in words or "ponder" in words
                only = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
                if not waiting:
                    answer(board.copy(), lines, only, own_book=own_book)
            case ["stop" | "ponderhit"] if waiting:
                waiting = False
                answer(board.copy(), lines, [], own_book=own_book)
            case ["quit"]:
                return


if __name__ == "__main__":
    main()
