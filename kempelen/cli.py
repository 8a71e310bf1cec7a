"""The command line, with a table of all commands.

A command's module is imported only when the command is used. Its function `configure(parser)`
declares the arguments, and `run(arguments)` returns the exit status. Without a command, `kempelen`
detects the protocol from the first line of input, and answers before it imports slow modules.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from kempelen import __version__
from kempelen.console import interruption

if TYPE_CHECKING:
    from argparse import ArgumentParser

DESCRIPTION = "A game-playing agent server: chess over UCI and xboard, Go and other games over GTP."
NO_COMMAND_HELP = (
    "Without a command, kempelen detects the protocol (UCI, xboard or GTP) from the first line of\n"
    "input."
)

# Heading, command, help line. The module of `check-eval` is commands/check_eval.py.
COMMAND_GROUPS = {
    "Play": {
        "uci": "speak UCI on standard input and output",
        "xboard": "speak xboard's protocol on standard input and output",
        "gtp": "speak GTP on standard input and output, for Go and other games",
        "web": "serve web pages: play, analyse, puzzles, editor, watch, learn",
    },
    "Analyse": {
        "analyse": "find the bad moves in games of chess (PGN) or Go (SGF)",
        "katago-analysis": "answer Go queries like KataGo's analysis engine",
        "suite": "run EPD test suites and GTP regression files",
    },
    "Matches": {
        "match": "play a match or a tournament between engines",
    },
    "Network and server": {
        "serve": "run the network server for UCI, xboard and GTP",
        "connect": "use a remote Kempelen server as a local engine",
        "mqtt": "run a bot, or watch a tournament, over MQTT",
        "lichess": "offer this machine as an external engine on lichess.org",
    },
    "Train": {
        "train": "generate training data, train networks, tune weights",
    },
    "Learn": {
        "learn": "show, merge and prune learning files",
        "opponents": "list, show and delete opponent models",
        "lab": "study search algorithms: compare, trace, draw, solve",
    },
    "Tools": {
        "book": "build, show, check and extend opening books",
        "tablebase": "build and probe endgame tablebases",
        "bench": "measure search speed on a fixed set of positions",
        "perft": "count the leaves of the tree of legal moves",
        "check-eval": "check your own evaluation, and play a match with it",
        "warmup": "compile the kernels and fill the cache",
        "doctor": "check the installation and report problems",
    },
}
COMMANDS = {name: text for group in COMMAND_GROUPS.values() for name, text in group.items()}

# Subcommands with their own modules. The module of `mqtt bot` is commands/mqtt_bot.py.
SUBCOMMANDS = {
    "match": {
        "ratings": "rate the players of PGN files",
        "sprt": "compute Elo and SPRT from the results of a match",
    },
    "mqtt": {
        "bot": "answer position requests over MQTT with an engine",
        "watch": "show a running tournament from an MQTT broker",
    },
    "train": {
        "selfplay": "play games against itself and store the positions",
        "data": "show, merge, shuffle, split, filter, convert, check and rescore positions",
        "fit": "train the network that a YAML file describes",
        "tune": "tune search constants or evaluation weights",
    },
}
OPTIONAL_SUBCOMMANDS = ("match",)

# Commands that need an extra for all that they do.
EXTRAS = {"web": "web", "mqtt": "mqtt"}

# Old command: the words that replace it. Help texts do not list old commands.
OLD_COMMANDS: dict[str, tuple[str, ...]] = {
    "analysis": ("katago-analysis",),
    "data": ("train", "data"),
    "epd": ("suite", "--format", "epd"),
    "experience": ("learn",),
    "habits": ("opponents",),
    "listen": ("serve",),
    "provide": ("lichess",),
    "ratings": ("match", "ratings"),
    "regress": ("suite", "--format", "gtp"),
    "selfplay": ("train", "selfplay"),
    "sprt": ("match", "sprt"),
    "tables": ("tablebase",),
    "tournament": ("match",),
    "try": ("check-eval",),
    "tune": ("train", "tune"),
    "watch": ("mqtt", "watch"),
}

# Commands that pass the words after `--` to the program that they start.
PASS_THROUGH_COMMANDS = ("suite",)

# NumPy's BLAS threads busy-wait. On the small matrices of a network they used six times the CPU
# time of a single thread, and slowed down the engine's own threads.
BLAS_THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"

# The exit status that shells expect after SIGPIPE.
EXIT_BROKEN_PIPE = 141


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status. Without `argv`, this is the whole process."""
    try:
        if argv is None:
            interruption.install()
            argv = sys.argv[1:]
            sys.excepthook = _print_traceback
            threading.excepthook = lambda failed: _print_traceback(
                failed.exc_type, failed.exc_value
            )
        status = _run(argv)
    except KeyboardInterrupt:
        status = interruption.exit_status()
    except RuntimeError as error:
        # A lock of `threading` raises this if it was interrupted while it was being acquired.
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        status = interruption.exit_status()
    return interruption.finish(status)


def _run(argv: list[str]) -> int:
    os.environ.setdefault(BLAS_THREADS_VARIABLE, "1")  # NumPy reads this when it is imported
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
    _silence_libraries()
    argv = _with_new_command(argv)
    path = _command_path(argv)
    parser = _parser(path, show_extra=not {"-h", "--help"}.isdisjoint(argv))
    end = argv.index("--") if argv[0] in PASS_THROUGH_COMMANDS and "--" in argv else len(argv)
    arguments = parser.parse_args(argv[:end])
    arguments.extra_arguments = argv[end + 1 :]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names may be invalid Unicode
    try:
        status = int(_command_module(path).run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the program that reads our output, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        from kempelen.console.terminal import print_error

        command = f"kempelen {' '.join(path)}"
        if error.filename is not None:
            print_error(f"{error.filename}: {error.strerror}", command)
            return 2
        print_error(error, command)  # for example a full disk under redirected output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def _print_traceback(
    kind: type[BaseException], error: BaseException | None, trace: object = None
) -> None:
    """Print an uncaught exception, whose message may contain untrusted text."""
    import traceback

    from agent.io.sanitize import escape_lines

    if error is not None and kind is not SystemExit:  # a thread may end by SystemExit
        print(escape_lines("".join(traceback.format_exception(error))), file=sys.stderr, end="")


def _with_new_command(argv: list[str]) -> list[str]:
    name, *rest = argv
    old, new = f"'{name}'", OLD_COMMANDS.get(name, ())
    if name == "serve" and _starts_mqtt_bot(rest):
        old, new = "'serve --name'", ("mqtt", "bot")
    elif name == "train" and _names_settings_file(rest):
        old, new = "'train FILE.yaml'", ("train", "fit")
    if not new:
        return argv
    from kempelen.console.old_names import print_notice

    print_notice(old, f"'{' '.join(word for word in new[:2] if word != '--format')}'")
    return [*new, *rest]


def _starts_mqtt_bot(words: Sequence[str]) -> bool:
    """Return whether `serve` is used as the former MQTT bot command, which required --name."""
    return any(word.partition("=")[0] in ("--na", "--nam", "--name") for word in words)


def _names_settings_file(words: Sequence[str]) -> bool:
    """Return whether `train` is used as the former command, whose argument was a YAML file."""
    if not words or words[0] in (*SUBCOMMANDS["train"], "-h", "--help"):
        return False
    return words[0].startswith("-") or "." in words[0] or os.path.exists(words[0])


def _command_path(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the name of the command, followed by a subcommand that has its own module, if any."""
    is_nested = len(argv) > 1 and argv[1] in SUBCOMMANDS.get(argv[0], ())
    return tuple(argv[:2] if is_nested else argv[:1])


def _parser(path: Sequence[str], *, show_extra: bool = False) -> ArgumentParser:
    """Return the parser of a command. `show_extra` adds its extra to the help, which is slow."""
    from argparse import RawDescriptionHelpFormatter

    from kempelen.console.old_names import CommandParser

    parser = CommandParser(
        prog="kempelen",
        usage="kempelen [COMMAND] ...",
        formatter_class=RawDescriptionHelpFormatter,
        description=f"{DESCRIPTION}\n\n{NO_COMMAND_HELP}\n\n{_command_list()}",
    )
    parser.add_argument("--version", action="version", version=f"kempelen {__version__}")
    commands = parser.add_subparsers(
        title="command",
        dest="command",
        metavar="COMMAND",
        required=True,
        prog="kempelen",
        help="one of the commands above; kempelen COMMAND --help shows its arguments",
    )
    for name, help_line in COMMANDS.items():
        command = commands.add_parser(name, description=help_line)
        if name != path[0]:
            continue
        if name in EXTRAS and show_extra:
            from agent.io.requirements import extra_help

            command.description = f"{help_line}\n\n{extra_help(EXTRAS[name])}"
            command.formatter_class = RawDescriptionHelpFormatter
        if name in SUBCOMMANDS and (len(path) > 1 or name not in OPTIONAL_SUBCOMMANDS):
            _add_subcommands(command, path)
        else:
            _command_module(path).configure(command)
    return parser


def _add_subcommands(parser: ArgumentParser, path: Sequence[str]) -> None:
    actions = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for name, help_line in SUBCOMMANDS[path[0]].items():
        action = actions.add_parser(name, help=help_line, description=help_line)
        if name in path[1:]:
            _command_module(path).configure(action)


def _command_list() -> str:
    width = max(map(len, COMMANDS)) + 2
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:{width}}{text}" for name, text in group.items())])
        for title, group in COMMAND_GROUPS.items()
    )


def _silence_libraries() -> None:
    """Print no log messages of libraries. Commands report the errors that concern the user.

    A user's evaluation or game may still configure logging.
    """
    import logging

    # Without a handler, Python prints warnings and errors.
    logging.lastResort = logging.NullHandler()


def _write_utf8() -> None:
    """On Windows, use UTF-8 also for files and pipes, instead of the local code page."""
    if sys.platform == "win32" and "PYTHONIOENCODING" not in os.environ:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8")


def _command_module(path: Sequence[str]) -> ModuleType:
    return import_module(f"kempelen.commands.{'_'.join(path).replace('-', '_')}")


if __name__ == "__main__":
    sys.exit(main())
