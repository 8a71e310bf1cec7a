"""`kempelen suite`: run EPD suites with UCI engines, or GTP regression files with GTP engines."""

import argparse
from pathlib import Path

from kempelen.console.argument_types import positive_int, positive_seconds
from kempelen.console.old_names import add_alias
from kempelen.console.terminal import print_error
from kempelen.match.config.engine_arguments import ENGINE_HELP
from kempelen.match.suites import epd_command, gtp_regression_command

EPD, GTP = "epd", "gtp"
EPD_FLAGS = ("movetime", "nodes", "depth", "concurrency")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "kempelen suite [options] FILE... [-- OPTION...]"
    parser.epilog = (
        "For GTP regression files, the words after -- are added to the engine's command: "
        "kempelen suite FILE.tst -- --playouts 10000"
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE",
        help="EPD suites (*.epd, with bm, am, dm, id, and points for moves in c0), or GTP "
        "regression files (commands with #? [answer]); all files must have the same format",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=(EPD, GTP),
        help="format of all files (default: epd for *.epd, otherwise gtp)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", metavar="SPEC",
        help="engine to test (default: Kempelen). GTP: a command line, such as 'gnugo --mode gtp'. "
        f"EPD: {ENGINE_HELP}",
    )  # fmt: skip
    timeout = parser.add_argument(
        "--timeout", type=positive_seconds, metavar="SECONDS",
        help="time after which an engine is considered hung, also at its start (default: "
        f"{epd_command.HANG_TIMEOUT:g}; at its start {gtp_regression_command.START_TIMEOUT:g} with "
        "GTP, start_limit with EPD)",
    )  # fmt: skip
    add_alias(parser, "--patience", timeout)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    epd = parser.add_argument_group("EPD suites")
    epd.add_argument("--movetime", type=float, metavar="SECONDS", help="seconds per position")
    epd.add_argument("--nodes", type=positive_int, help="nodes per position")
    epd.add_argument("--depth", type=positive_int, help="plies per position")
    epd.add_argument(
        "--concurrency", type=positive_int, help="number of engines (default: one per core)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the tests.

    Return 0 on success, 1 if a GTP test or the EPD engine fails, or 2 if the run cannot start.
    """
    formats = {arguments.format or _format_of(path) for path in arguments.files}
    if len(formats) > 1:
        return _usage_error(
            "EPD suites (*.epd) and GTP regression files cannot be mixed, as each kind needs "
            "an engine of its own (run them separately)"
        )
    if formats == {EPD}:
        if arguments.extra_arguments:
            return _usage_error("options after -- are only for GTP regression files")
        return epd_command.run(arguments)
    given = [f"--{name}" for name in EPD_FLAGS if getattr(arguments, name) is not None]
    if given:
        return _usage_error(f"{', '.join(given)}: only for EPD suites (*.epd)")
    return gtp_regression_command.run(arguments)


def _format_of(path: Path) -> str:
    return EPD if path.suffix.lower() == ".epd" else GTP


def _usage_error(message: str) -> int:
    print_error(message, epd_command.COMMAND)
    return 2
