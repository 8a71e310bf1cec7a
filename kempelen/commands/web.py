"""`kempelen web`: web pages to play, analyse, solve puzzles, edit positions, watch and learn."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from agent.io.command_line import split_command_line
from agent.io.user_folders import NoHomeFolderError
from kempelen.commands.serve import (
    add_token,
    configure_access,
    configure_log,
    log_writer,
    report_hash,
)
from kempelen.console import interruption
from kempelen.console.argument_types import AppendNamed
from kempelen.console.mqtt_arguments import require_packages
from kempelen.console.server_settings import ServerSettings, configure_limits, limits_from
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.match.watch_arguments import TournamentSource, configure_watch, watched_tournaments
from protocols.server.addresses import Address
from protocols.server.event_log import EventLog
from protocols.stdio import SWITCH_INTERVAL

if TYPE_CHECKING:
    from kempelen.web.site_context import SiteResources

COMMAND = "kempelen web"
DEFAULT_ADDRESS = "127.0.0.1:7118"
PROTOCOLS = ("uci", "gtp", "xboard")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--address", default=DEFAULT_ADDRESS, metavar="HOST:PORT",
        help="address to listen on (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="do not open a browser"
    )
    parser.add_argument(
        "--games", type=Path, metavar="FILE",
        help="SQLite file of the games (default: in your data folder)",
    )  # fmt: skip
    configure_watch(parser)
    offers = parser.add_argument_group("additional games, evaluations and engines")
    offers.add_argument(
        "--game", action="append", default=[], metavar="FILE.py:Class",
        help="add a game; may be repeated",
    )  # fmt: skip
    offers.add_argument(
        "--evaluation", action=AppendNamed, default=[], metavar="NAME=FILE.py:function",
        help="add an evaluation for chess or another game; may be repeated",
    )  # fmt: skip
    offers.add_argument(
        "--engine", action=AppendNamed, default=[], metavar="NAME=PROTOCOL COMMAND",
        help="add an opponent: its protocol (uci, gtp or xboard) and its command line; "
        "may be repeated",
    )  # fmt: skip
    offers.add_argument(
        "--lessons", type=Path, metavar="FOLDER", help="folder that contains pages of the lab"
    )
    configure_access(parser, "visitors", "", "other web pages")
    configure_log(parser.add_argument_group("logging"))
    configure_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal arrives. Return 0 after SIGTERM, or 2 if the server cannot start."""
    try:
        settings = _settings(arguments)
        if arguments.new_token is not None:
            return add_token(settings, arguments.new_token, COMMAND)
        _check_security(settings)
        require_packages(
            "the web pages", "web", lambda: __import__("uvicorn") and __import__("starlette")
        )
        require_packages("the web pages", "web", lambda: __import__("websockets"))
        interruption.run_as_server(settings.limits.shutdown_timeout)
        interruption.run(_serve(settings, arguments))
    except SettingsError as error:
        print_error(error, COMMAND)
        return 2
    return 0


def _settings(arguments: argparse.Namespace) -> ServerSettings:
    scheme = "ws" if arguments.certificate is None else "wss"
    if "://" in arguments.address:
        raise SettingsError(f"--address {arguments.address}: invalid address (expected HOST:PORT)")
    return ServerSettings(
        address=(f"{scheme}://{arguments.address}",),
        certificate=arguments.certificate,
        key=arguments.key,
        tokens=arguments.tokens,
        insecure=bool(arguments.insecure),
        origins=tuple(arguments.origins or ()),
        log=arguments.log,
        log_format=arguments.log_format or "text",
        limits=limits_from(arguments),
    )


def _check_security(settings: ServerSettings) -> None:
    address = settings.addresses[0]
    if address.uses_tls and not settings.key:
        raise SettingsError("--certificate requires --key FILE")
    settings.check_public(address, _browser_url(address), "--certificate FILE and --key FILE")
    settings.ssl_context()


async def _serve(settings: ServerSettings, arguments: argparse.Namespace) -> None:
    from kempelen.web.database import Database, DatabaseError
    from kempelen.web.server import PageServer
    from kempelen.web.site_context import SiteContext

    sys.setswitchinterval(SWITCH_INTERVAL)
    address = settings.addresses[0]
    with contextlib.ExitStack() as stack:
        log = EventLog(log_writer(settings, stack), as_json=settings.log_format == "json")
        asyncio.get_running_loop().set_exception_handler(log.write_loop_error)
        report_hash(settings.limits, log)
        resources = _shared_resources(arguments, watched_tournaments(arguments, stack))
        try:
            store = Database(_database_path(arguments.games))
        except (DatabaseError, NoHomeFolderError) as error:
            raise SettingsError(str(error)) from None
        stack.callback(store.close)
        site = SiteContext(
            settings.limits,
            log,
            store,
            settings.token_file(),
            settings.origins,
            resources,
            secure=address.uses_tls,
        )
        server = PageServer(site)
        try:
            try:
                opened = await server.open(address, settings.ssl_context())
            except OSError as error:
                reason = error.strerror or error
                raise SettingsError(f"{_browser_url(address)}: {reason}") from None
            log.write("listening", address=_browser_url(opened))
            if arguments.browser:
                await asyncio.to_thread(webbrowser.open, f"{_browser_url(opened)}/")
            await asyncio.Event().wait()
        finally:
            await server.close()
            log.write("stopped")


def _browser_url(address: Address) -> str:
    return str(address).replace("ws", "http", 1)


def _database_path(path: Path | None) -> Path:
    """Return the file of the games. Only the default data folder is created."""
    from openings.data_folders import data_folder

    if path is None:
        return data_folder() / "web.sqlite"
    if not path.absolute().parent.is_dir():
        raise SettingsError(
            f"--games {path}: folder {path.parent} does not exist "
            "(use --games FILE for another file)"
        )
    return path


def _shared_resources(arguments: argparse.Namespace, spectators: TournamentSource) -> SiteResources:
    from agent.chess.evaluation.loading import load_with_timeout
    from agent.evaluation import EvaluationError
    from agent.games import catalogue
    from kempelen.lab import step_pages
    from kempelen.web.site_context import SiteResources
    from protocols.client.process import EngineError, find_program

    for game in arguments.game:
        try:
            catalogue.find(game).new()
        except catalogue.GameError as error:
            raise SettingsError(f"--game: {error}") from None
    if arguments.lessons is not None and not arguments.lessons.is_dir():
        raise SettingsError(f"--lessons {arguments.lessons}: folder does not exist")
    evaluations = dict(_parse_named("--evaluation", text) for text in arguments.evaluation)
    for name, text in evaluations.items():
        try:
            load_with_timeout(text)
        except EvaluationError as error:
            raise SettingsError(f"--evaluation {name}: {error}") from None
    engines = dict(_parse_named("--engine", text) for text in arguments.engine)
    for name, text in engines.items():
        try:
            words = split_command_line(text)
        except ValueError as error:
            raise SettingsError(f"--engine {name}: {error}") from None
        if len(words) < 2 or words[0] not in PROTOCOLS:
            raise SettingsError(
                f"--engine {name}: invalid value (expected NAME=PROTOCOL COMMAND, with one of "
                f"the protocols {', '.join(PROTOCOLS)})"
            )
        try:
            find_program(words[1])
        except EngineError as error:
            raise SettingsError(f"--engine {name}: {error}") from None
    return SiteResources(
        tuple(arguments.game), evaluations, engines, arguments.lessons, spectators,
        step_pages.choices, step_pages.render_page,
    )  # fmt: skip


def _parse_named(flag: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip() or not name.isprintable():
        raise SettingsError(f"{flag} {text}: invalid value (expected NAME=...)")
    return name.strip(), value.strip()
