"""An xboard engine that fails on purpose: `python failing_xboard.py FAILURE [AFTER]`.

It plays the first legal move until its AFTER-th (1 is the first), and then fails in the way that
is named: none, dies, hangs, illegal, resigns, claims, error, noise, no-pong; or at its start:
dies-at-once, no-features, no-ping, slow-features, no-done, nonsense.
"""

import os
import sys
import time

import chess


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def features(failure: str) -> None:
    if failure == "no-features":
        return
    if failure == "slow-features":
        say("feature done=0")
        time.sleep(2.5)
    if failure == "nonsense":
        say('feature myname="unfinished')
    ping = 0 if failure == "no-ping" else 1
    say(f'feature myname="Failing {failure}" setboard=1 usermove=1 colors=0 ping={ping}')
    say('feature variants="normal,fischerandom" option="Style -spin 3 1 9" memory=1')
    say('feature option="Book Mode -combo *narrow /// very wide" option="Clear-up Now -button"')
    say('feature option="Book File -file " option="Own Book -check 1"')
    say('feature option="Speed Limit -slider 5 0 9" option="Odd -unheard of"')
    if failure != "no-done":
        say("feature done=1")


def move(failure: str, board: chess.Board) -> bool:
    """Answer `go`; return whether the engine goes on to answer."""
    best = min(board.legal_moves, key=lambda m: m.uci())
    say(f"# a comment\n1 25 0 7 {best.uci()}")
    if failure == "dies":
        print("cannot go on", file=sys.stderr, flush=True)
        os._exit(3)
    elif failure == "hangs":
        return False
    elif failure == "illegal":
        say("move a1a1")
    elif failure == "resigns":
        say("resign")
    elif failure == "claims":
        say("1/2-1/2 {I think so}")
    elif failure == "error":
        say("Error (too tired): go")
    elif failure == "noise":
        while True:
            sys.stdout.write("noise " * 50 + "\n")
    else:
        say(f"move {board.xboard(best)}")
        board.push(best)
        return failure != "no-pong"
    return True


def main() -> None:
    failure = sys.argv[1] if len(sys.argv) > 1 else "none"
    after = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if failure == "dies-at-once":
        sys.exit("no licence found")
    board, moves, answers = chess.Board(), 0, True
    for line in sys.stdin:
        words = line.split()
        if not words or not answers:
            continue
        if words[0] == "protover":
            features(failure)
        elif words[0] == "ping":
            say(f"pong {words[1]}")
        elif words[0] == "new":
            board = chess.Board()
        elif words[0] == "setboard":
            board = chess.Board(" ".join(words[1:]))
        elif words[0] == "usermove":
            board.push_xboard(words[1])
        elif words[0] == "go":
            moves += 1
            answers = move(failure if moves >= after else "none", board)
        elif words[0] == "quit":
            return


if __name__ == "__main__":
    main()
