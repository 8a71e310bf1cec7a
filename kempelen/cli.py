"""The command line: a table of sub-commands, each a module that is imported when it is named.

A command module has `configure(parser)`, which declares its arguments, and `run(arguments)`,
which returns the exit status. `kempelen` alone speaks the protocol that its first input line
asks for, and answers before anything heavy is imported.
"""

import io
import os
import sys
from types import ModuleType

from kempelen import __version__

# name: one line of help. The module is kempelen.<name>, where Python has not taken that word.
COMMANDS = {
    "uci": "speak the UCI protocol on standard input and output",
    "gtp": "speak the Go Text Protocol on standard input and output, for Go and every other game",
    "xboard": "speak xboard's protocol on standard input and output",
    "analysis": "answer queries about positions of Go, as KataGo's analysis engine does",
    "bench": "search a fixed set of positions and print nodes and speed",
    "perft": "count the leaves of the tree of legal moves",
    "book": "build, show, merge, prune, check and extend opening books",
    "experience": "show, merge and prune files of what an engine has learned from its games",
    "habits": "tell what is remembered of opponents, and forget it",
    "tables": "build endgame tables and look into them",
    "epd": "put test suites (EPD) to an engine",
    "analyse": "judge the moves of games of chess (PGN) or Go (SGF), and draw how they went",
    "regress": "put files of test positions, as Go programs have them, to a GTP engine",
    "lab": "compare, trace, draw and plot search algorithms on any game, and solve games",
    "selfplay": "play games against itself and keep the positions, to train with",
    "data": "look at files of such positions, merge, shuffle, split, filter and rescore them",
    "warmup": "compile the kernels and fill the cache",
    "try": "try an evaluation of your own: errors, symmetry, speed, and a match",
    "match": "play engines against each other, with everything on the command line",
    "tournament": "play the tournament that a YAML file describes",
    "train": "train the network that evaluates chess, as a YAML file describes",
    "tune": "find better constants of the search, or weights of the evaluation",
    "ratings": "rate the players of PGN files",
    "sprt": "judge a match by its counts: Elo, likelihood of superiority, SPRT",
    "watch": "show a running tournament from its MQTT broker",
    "serve": "answer position requests over MQTT, as a bot",
    "connect": "be the engine of any program here, and play from a server's machine",
    "provide": "be an engine of the analysis board of lichess.org, on this machine",
    "listen": "serve the protocols over the network, to many at once",
    "web": "open a page in the browser to play, analyse, watch and learn",
    "doctor": "tell what is here and what is wrong with it, for a report of a fault",
}

MODULES = {
    "analysis": "katago_analysis",
    "listen": "serve",
    "serve": "mqtt_bot",
    "watch": "mqtt_watch",
    "provide": "lichess",
    "ratings": "match_ratings",
    "sprt": "match_sprt",
    "try": "check_eval",
    "selfplay": "train_selfplay",
    "data": "train_data",
    "train": "train_fit",
    "tune": "train_tune",
    "tables": "tablebase",
    "experience": "learn",
    "habits": "opponents",
}

# Those whose words after `--` are not theirs, but of the program that they start.
PASS_THROUGH_COMMANDS = ("regress",)

# NumPy's threads wait for each other by spinning: on the small matrices of a learned network they
# took six times the processor's time of one, and took it from the engine's own threads.
BLAS_THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"

# The exit status that shells expect of a command that was interrupted from the keyboard.
EXIT_INTERRUPTED = 130
# And of one whose output nobody reads any more.
EXIT_BROKEN_PIPE = 141


def main(argv: list[str] | None = None) -> int:
    """Run one sub-command and return its exit status."""
    argv = sys.argv[1:] if argv is None else argv
    os.environ.setdefault(BLAS_THREADS_VARIABLE, "1")  # read when NumPy is imported
    _write_utf8()
    if argv == ["uci"]:
        from kempelen.commands import uci

        return uci.serve()
    if argv == ["xboard"]:
        from kempelen.commands import xboard

        return xboard.serve()
    if not argv:
        from kempelen import protocol_detector

        return protocol_detector.serve()
    import argparse

    parser = argparse.ArgumentParser(
        prog="kempelen",
        description="A game-playing agent server: chess over UCI and xboard's protocol, "
        "Go and other games over GTP.",
    )
    parser.add_argument("--version", action="version", version=f"kempelen {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_line in COMMANDS.items():
        command = commands.add_parser(name, help=help_line, description=help_line)
        if name == argv[0]:
            _command_module(name).configure(command)
    end = argv.index("--") if argv[0] in PASS_THROUGH_COMMANDS and "--" in argv else len(argv)
    arguments = parser.parse_args(argv[:end])
    arguments.extra_arguments = argv[end + 1 :]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name need not be text
    try:
        status = int(_command_module(arguments.command).run(arguments))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # whoever read our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        from kempelen.console.terminal import print_error

        speaker = f"kempelen {arguments.command}"
        if error.filename is not None:
            print_error(f"{error.filename}: {error.strerror}", speaker)
            return 2
        print_error(error, speaker)  # a full disk, our output's perhaps
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def _write_utf8() -> None:
    """Have Windows write UTF-8 into files and pipes too, not the code page of its country."""
    if sys.platform == "win32" and "PYTHONIOENCODING" not in os.environ:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8")


def _command_module(command: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"kempelen.commands.{MODULES.get(command, command)}")


if __name__ == "__main__":
    sys.exit(main())
