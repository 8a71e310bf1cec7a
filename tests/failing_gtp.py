"""A GTP engine that fails on purpose: `python failing_gtp.py FAILURE [AFTER]`.

It plays Go on the first empty vertex, row by row, until its AFTER-th genmove (1 is the first), and
then fails in the way that is named: none, passes, resigns, illegal, occupied, dies, hangs; refuses
or deaf to the AFTER-th `play`; or at its start: dies-at-once, no-answer, other-game.
"""

import os
import sys
import time

COLUMNS = "ABCDEFGHJ"


def say(text: str = "") -> None:
    sys.stdout.write(f"= {text}".rstrip() + "\n\n")
    sys.stdout.flush()


def genmove(failure: str, size: int, taken: list[str]) -> str:
    free = [f"{c}{r}" for r in range(1, size + 1) for c in COLUMNS[:size] if f"{c}{r}" not in taken]
    if failure == "passes":
        return "PASS"
    if failure == "resigns":
        return "resign"
    if failure == "illegal":
        return "Z99"
    if failure == "occupied":
        return taken[0]
    if failure == "dies":
        print("cannot go on", file=sys.stderr, flush=True)
        os._exit(3)
    if failure == "hangs":
        time.sleep(3600)
    return free[0]


def main() -> None:
    failure = sys.argv[1] if len(sys.argv) > 1 else "none"
    after = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if failure == "dies-at-once":
        sys.exit("no licence found")
    size, taken, moves, plays = 19, [], 0, 0
    for line in sys.stdin:
        command, *words = line.split() or [""]
        if failure == "no-answer":
            continue
        if command == "list_commands":
            extra = "\ngogui-rules_game_id" if failure == "other-game" else ""
            say("name\nlist_commands\nquit\nboardsize\nclear_board\nkomi\nplay\ngenmove" + extra)
        elif command == "name":
            say(f"Failing {failure}")
        elif command == "gogui-rules_game_id":
            say("hex")
        elif command == "boardsize":
            size = int(words[0])
            say()
        elif command == "clear_board":
            taken, moves, plays = [], 0, 0
            say()
        elif command == "play":
            plays += 1
            if failure == "refuses" and plays >= after:
                sys.stdout.write("? illegal move\n\n")
                sys.stdout.flush()
            elif failure != "deaf" or plays < after:
                taken.append(words[1])
                say()
        elif command == "genmove":
            moves += 1
            taken.append(genmove(failure if moves >= after else "none", size, taken))
            say(taken[-1])
        else:
            say()
        if command == "quit":
            return


if __name__ == "__main__":
    main()
