"""Fuzz the engine over GTP with valid, mutated and binary lines of every command.

Passes (exit status 0) if every line with a command got exactly one well-formed response, in order
and with its id, without an internal error. The engine must also quit when it receives `quit`.

    python benchmarks/gtp_fuzz.py --lines 100000 --seed 1
    python benchmarks/gtp_fuzz.py --lines 20000 --game othello
"""

import random
import re
import sys
import tempfile
from pathlib import Path

from fuzzing import FuzzSession, lines, options, report

from protocols.gtp.messages import parse_line
from protocols.gtp.protocol import COMMANDS

HEAD = re.compile(r"[=?](\d*)( .*)?")
COMMAND_ARGUMENTS = {
    "boardsize": ("{small}", "{small}", "9", "{small} {small2}", "{small}:{small2}"),
    "rectangular_boardsize": ("{small} {small2}", "{small} 19", "2 {small}", "{small}"),
    "komi": ("{number}", "-0.5", "7.5"),
    "fixed_handicap": ("{few}",),
    "place_free_handicap": ("{few}",),
    "set_free_handicap": ("{vertex} {vertex}", "{vertex} {vertex} {vertex}"),
    "play": ("{colour} {vertex}", "{colour} {vertex}", "{colour} pass"),
    "genmove": ("{colour}",),
    "reg_genmove": ("{colour}",),
    "kgs-genmove_cleanup": ("{colour}",),
    "time_settings": ("{number} {number} {few}", "0 1 0"),
    "time_left": ("{colour} {number} {few}",),
    "kgs-time_settings": ("byoyomi {number} {number} {few}", "none", "absolute {number}"),
    "kata-time_settings": (
        "fischer {number} {few}",
        "canadian {number} {number} {few}",
        "fischer-capped {number} {few} {number} {few}",
    ),
    "final_status_list": ("dead", "alive", "seki", "dame", "black_territory", "white_territory"),
    "final_status": ("{vertex}",),
    "list_stones": ("{colour}",),
    "color": ("{vertex}",),
    "countlib": ("{vertex}",),
    "findlib": ("{vertex}",),
    "captures": ("{colour}",),
    "is_legal": ("{colour} {vertex}", "{colour} pass"),
    "all_legal": ("{colour}",),
    "estimate_score": ("", "{colour}"),
    "attack": ("{vertex}",),
    "defend": ("{vertex}",),
    "ladder_attack": ("{vertex}",),
    "dragon_stones": ("", "{colour}", "{vertex}"),
    "worm_stones": ("", "{colour}", "{vertex}"),
    "same_dragon": ("{vertex} {vertex}",),
    "owl_attack": ("{vertex}",),
    "owl_defend": ("{vertex}",),
    "dragon_status": ("{vertex}", ""),
    "unconditional_status": ("{vertex}",),
    "restricted_genmove": ("{colour} {vertex} {vertex} {vertex}", "{colour} pass"),
    "kata-search": ("{colour}",),
    "kata-search_cancellable": ("{colour}",),
    "kata-search_analyze": ("{colour} {few}",),
    "kata-search_analyze_cancellable": ("{colour} {few}",),
    "kata-problem_analyze": ("{colour} {few} topleft A{small} bottomright {vertex}", "{colour}"),
    "kata-raw-nn": ("0", "all"),
    "kgs-chat": ("game Ann hello", "private Ann hello there"),
    "lz-setoption": ("", "name Visits value {few}", "name Pondering value false"),
    "loadsgf": (
        "missing.sgf",
        "wide.sgf",
        "wide.sgf {few}",
        "game.sgf",
        "game.sgf {few}",
        "game.sgf {vertex}",
        "broken.sgf",
    ),
    "printsgf": ("", "", "written.sgf", "folder/written.sgf", "."),
    "gg-undo": ("", "{few}"),
    "known_command": ("genmove", "fly"),
    "lz-analyze": (
        "{colour} {few}",
        "{colour} interval {few} maxmoves {few} minmoves {few}",
        "",
        "avoid {colour} {vertex},{vertex} {few}",
        "{colour} allow {colour} {vertex},pass {few} avoid {colour} {vertex} {few}",
    ),
    "lz-genmove_analyze": ("{colour} {few}", "{colour} avoid {colour} pass,{vertex} {few}"),
    "kata-analyze": (
        "{colour} {few}",
        "interval {few}",
        "{few} ownership true rootInfo true pvVisits true movesOwnership true",
    ),
    "kata-genmove_analyze": ("{colour} {few} ownership true rootInfo true minmoves {few}",),
    "cgos-analyze": ("{colour} {few}", "{few}"),
    "cgos-genmove_analyze": ("{colour}", "{colour} {few}"),
    "gogui-play_sequence": ("{colour} {vertex} {colour} {vertex} {colour} pass", "", "{colour}"),
    "gogui-setup": ("{colour} {vertex} {colour} {vertex} {colour} {vertex}", "{vertex}"),
    "gogui-setup_player": ("{colour}",),
    "set_position": ("{colour} {vertex} {colour} {vertex}",),
    "kempelen-ownership": ("", "{colour}"),
    "kempelen-visits": ("", "{colour}"),
    "kata-set-rules": (
        *("japanese", "tromp-taylor", "Chinese_KGS", "aga", "stone-scoring", "{braced}"),
    ),
    "kgs-rules": ("japanese", "new_zealand"),
    "kata-set-rule": (
        *("scoring TERRITORY", "scoring AREA", "tax SEKI", "tax NONE", "ko SIMPLE"),
        *("whiteHandicapBonus N", "friendlyPassOk false", "hasButton {few}"),
    ),
    "kata-get-param": ("maxVisits", "resignThreshold", "analysisPVLen", "fly"),
    # The playout limit is not changed, because a move could then take many seconds.
    "kata-set-param": (
        *("maxVisits {few}", "numSearchThreads {few}", "memory {few}", "analysisPVLen {few}"),
        *("ponderingEnabled true", "ponderingEnabled false", "allowResignation false"),
        *("resignThreshold -0.{few}", "resignConsecTurns {few}", "maxTime 0.{few}"),
    ),
}
FILES = {
    "game.sgf": "(;SZ[7]KM[5.5]AB[cc];W[dd];B[ee];W[];B[df])",
    "wide.sgf": "(;SZ[9:4]KM[0.5]AB[ic];W[id];B[hd];W[];B[aa])",
    "broken.sgf": "(;SZ[999]",
}
# Commands that are sent more often than all others.
FREQUENT = ("play", "play", "play", "genmove", "undo", "clear_board")


def valid_line(rng: random.Random) -> str:
    """Return a line that a GUI might send."""
    known = [name for name in COMMANDS if name != "quit"]
    name = rng.choice(FREQUENT if rng.random() < 0.5 else known)
    line = f"{name} {rng.choice(COMMAND_ARGUMENTS.get(name, ('',)))}".strip()
    line = re.sub(r"\{vertex\}", lambda _: rng.choice("ABCDEFGHJ") + str(rng.randint(1, 7)), line)
    line = line.format(
        small=rng.randint(1, 7),
        small2=rng.randint(0, 9),
        few=rng.randint(0, 9),
        braced=rng.choice(('{"scoring":"TERRITORY","tax":"SEKI"}', '{"ko":"SIMPLE"}', "{}", "{[")),
        number=rng.choice((0, 0.5, 1, 30, 300)),
        colour=rng.choice(("b", "w", "black", "WHITE")),
    )
    return f"{rng.randint(0, 999)} {line}" if rng.random() < 0.3 else line


def harmless(line: bytes) -> bool:
    """Return whether a line does not stop the engine."""
    return b"quit" not in line


def expected(data: list[bytes]) -> list[str]:
    """Return the ids of the expected responses to the lines."""
    calls = (parse_line(line.decode(errors="backslashreplace").rstrip("\r")) for line in data)
    return [call.id for call in calls if call is not None]


def main() -> int:
    """Run the fuzz and report."""
    arguments = options(__doc__)
    arguments.add_argument("--game", default="go")
    chosen = arguments.parse_args()
    data = lines(random.Random(chosen.seed), chosen.lines, valid_line, harmless)
    ids, failures, refused, inside = [], [], 0, False
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        depth = "999" if chosen.game == "go" else "1"
        command = ["gtp", "--game", chosen.game, "--playouts", "4", "--depth", depth]
        with FuzzSession(command, data, b"quit\n", folder, chosen.timeout) as engine:
            for line in engine.heard():
                if "internal error" in line:
                    failures.append(line)
                if not inside:
                    match = HEAD.fullmatch(line)
                    if match is None:
                        failures.append(f"no answer begins so: {line[:100]!r}")
                        continue
                    ids.append(match[1])
                    refused += line.startswith("?")
                inside = bool(line)
    in_order = ids == [*expected(data), ""]
    figures = {
        "lines": len(data),
        "commands": len(expected(data)) + 1,
        "answers": len(ids),
        "refused": refused,
        "in order": in_order,
    }
    return report(f"GTP fuzz, {chosen.game}", figures, engine, failures, in_order, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
