"""Run a tournament for the command `kempelen match`."""

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Group

from kempelen.console import interruption
from kempelen.console.argument_types import positive_int
from kempelen.console.cluster_arguments import cluster_from, configure_cluster
from kempelen.console.mqtt_arguments import (
    broker_from,
    configure_mqtt,
    require_packages,
)
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import print_error, print_text, table_console
from kempelen.match.config.settings import Settings
from kempelen.match.display import Display, standings_view
from kempelen.match.game.openings import with_file_digests
from kempelen.match.game.referee import GameFailedError
from kempelen.match.live.events import Event, GameFinished, Listener, TournamentFinished, to_json
from kempelen.match.live.latency import LatencyMeter
from kempelen.match.live.live_file import LiveFile, live_file_path
from kempelen.match.live.progress_curve import build_curve
from kempelen.match.records.game_record import PGN_FIELDS, Notation, PgnFormat, to_epd
from kempelen.match.records.ledger import Ledger, LedgerError
from kempelen.match.records.record_file import RecordFile
from kempelen.match.records.record_formats import make_writer
from kempelen.match.runner import (
    GameExecutor,
    LocalExecutor,
    Runner,
    RunResult,
    limit_concurrency,
)

if TYPE_CHECKING:
    from kempelen.match.live.mqtt_publisher import MqttPublisher
    from protocols.cluster.client import ClusterAddress
    from protocols.mqtt.broker import Broker
    from protocols.mqtt.broker_monitor import Notify
    from protocols.mqtt.client import BotClient

# Seconds to wait for the broker before a warning is printed.
BROKER_ANSWER_TIMEOUT = 1.0


def configure_run(parser: argparse.ArgumentParser, *, network: bool = True) -> None:
    """Add the arguments of a run that are not tournament settings.

    If `network` is true, include those for clusters and brokers.
    """
    run = parser.add_argument_group("the run")
    run.add_argument(
        "--concurrency",
        type=positive_int,
        help="number of parallel games (default: 1; with a cluster, its total number of threads)",
    )
    run.add_argument(
        "--oversubscribe", action="store_true", help="allow more parallel games than cores"
    )
    run.add_argument("--ledger", metavar="FILE", help="SQLite file in which to store the games")
    run.add_argument(
        "--resume", action="store_true", help="continue the tournament in the ledger, or create it"
    )
    run.add_argument(
        "--records", "--pgn", "--sgf", metavar="FILE",
        help="also write all games to FILE: chess as PGN, Go as SGF, other games as text; "
        "if FILE ends in .json, one JSON object per line",
    )  # fmt: skip
    run.add_argument(
        "--epdout", metavar="FILE", help="write the final position of each game of chess as EPD"
    )
    run.add_argument("--event", help="event of the records (default: the name of the tournament)")
    run.add_argument("--site", default="?", help="site of the games, for PGN")
    run.add_argument(
        "--pgn-fields", metavar="NAME,NAME,...", type=_pgn_fields, default=("nodes",),
        help=f"fields in the comments of PGN: {', '.join(PGN_FIELDS)} (default: nodes)",
    )  # fmt: skip
    run.add_argument(
        "--notation", choices=[str(notation) for notation in Notation], default=Notation.SAN,
        help="notation of the moves in PGN (default: san)",
    )  # fmt: skip
    run.add_argument(
        "--show-latency", action="store_true",
        help="show the latency of each engine in chess: the measured minus the reported time",
    )  # fmt: skip
    run.add_argument(
        "--log-dir", metavar="DIR", help="write a log of the input and output of each engine to DIR"
    )
    run.add_argument("--json", action="store_true", help="print the result as JSON")
    if not network:
        none = dict.fromkeys(("cluster", "cluster_ca", "cluster_cert", "cluster_key"))
        parser.set_defaults(**none, mqtt=None, broker=None)
        return
    configure_cluster(parser, "play")
    configure_mqtt(parser)
    parser.add_argument(
        "--broker",
        metavar="embedded[:PORT]",
        help="start a broker in this program, on the loopback address (port 1883)",
    )


def _pgn_fields(text: str) -> tuple[str, ...]:
    fields = tuple(text.split(",")) if text else ()
    if unknown := [field for field in fields if field not in PGN_FIELDS]:
        names = ", ".join(PGN_FIELDS)
        raise argparse.ArgumentTypeError(f"unknown field {unknown[0]!r} (expected one of: {names})")
    return fields


def run_tournament(settings: Settings, arguments: argparse.Namespace) -> int:
    """Play a tournament and print its result. Return the exit status.

    The status is 0 after all games or an SPRT decision, 1 if the tournament is incomplete, or 2 if
    it could not start.
    """
    if arguments.resume and arguments.ledger is None:
        print_error("--resume requires --ledger")
        return 2
    if "pv" in arguments.pgn_fields:
        settings = replace(settings, run=replace(settings.run, pv=True))
    try:
        return interruption.run(_run(with_file_digests(settings.with_unique_names()), arguments))
    except (SettingsError, LedgerError, GameFailedError) as error:
        print_error(error)
        return 2
    except KeyboardInterrupt:
        print_error(f"interrupted{_resume_hint(arguments)}")
        return interruption.exit_status()


def _resume_hint(arguments: argparse.Namespace) -> str:
    return "" if arguments.ledger is None else "; use --resume to continue"


async def _run(settings: Settings, arguments: argparse.Namespace) -> int:
    with contextlib.ExitStack() as stack:
        ledger = Ledger(arguments.ledger)
        stack.callback(ledger.close)
        listeners: list[Listener] = []
        with interruption.interruptible():
            ledger.begin(settings, resume=arguments.resume)
            runner = Runner(settings, ledger, listeners)
        broker = _broker(arguments, stack)
        boards, notice = limit_concurrency(
            arguments.concurrency or 1, oversubscribe=arguments.oversubscribe
        )
        executor: GameExecutor
        if address := cluster_from(arguments):
            executor, notice = (
                await _cluster_executor(settings, arguments.concurrency, address),
                None,
            )
        else:
            executor = _local_executor(settings, arguments, boards, broker)
        with interruption.interruptible():
            files = _record_files(settings, arguments, ledger, stack)
            curve = build_curve(settings, runner.outcomes) if arguments.resume else []
        listeners.extend(_listeners(files, stack))
        meter = LatencyMeter()
        if arguments.show_latency and settings.is_chess:
            listeners.append(meter)
        if arguments.ledger is not None:
            live = LiveFile(live_file_path(arguments.ledger), curve)
            stack.callback(live.close)
            listeners.append(live)
        if broker is not None:
            listeners.append(await _broadcast(broker, settings, curve, stack))
        if notice:
            print_error(notice.text)
        if arguments.resume:
            print_error(f"ledger {arguments.ledger}: resuming after {runner.played} games")
        finish = await runner.run(executor)
    _print_finish(finish, arguments, meter)
    return 0 if finish.complete and not any(file.problem for file in files) else 1


async def _cluster_executor(
    settings: Settings, boards: int | None, address: "ClusterAddress"
) -> GameExecutor:
    from kempelen.match.dask_executor import DaskExecutor

    if settings.needs_bots:
        raise SettingsError("--cluster: bots behind a broker are not supported")
    if settings.run.affinity:
        raise SettingsError("--cluster: --use-affinity is not supported")
    return await DaskExecutor.connect(settings, address, boards)


def _local_executor(
    settings: Settings, arguments: argparse.Namespace, boards: int, broker: "Broker | None"
) -> GameExecutor:
    def connect(tell: "Notify") -> "BotClient":
        from protocols.mqtt.client import BotClient

        assert broker is not None
        return BotClient(broker, patience=arguments.broker_timeout, tell=tell)

    return LocalExecutor(
        settings,
        boards=boards,
        log_directory=arguments.log_dir,
        connect=None if broker is None else connect,
    )


def _broker(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> "Broker | None":
    if arguments.broker is None:
        broker: Broker | None = broker_from(arguments)
        return broker
    kind, _, port = arguments.broker.partition(":")
    if kind != "embedded" or not (port.isdecimal() or not port):
        raise SettingsError(f"--broker {arguments.broker}: must be embedded or embedded:PORT")
    require_packages("the embedded broker", "broker", lambda: __import__("amqtt"))
    from protocols.mqtt.broker import BrokerError
    from protocols.mqtt.embedded import EmbeddedBroker

    try:
        embedded = EmbeddedBroker(int(port or 1883))
    except BrokerError as error:
        raise SettingsError(str(error)) from None
    stack.callback(embedded.close)
    return embedded.address


async def _broadcast(
    broker: "Broker",
    settings: Settings,
    curve: list[dict[str, Any]],
    stack: contextlib.ExitStack,
) -> "MqttPublisher":
    from kempelen.match.live.mqtt_publisher import MqttPublisher

    broadcast = MqttPublisher(broker, settings.name, print_error, curve)
    stack.callback(_close_broadcast, broadcast)
    connection = broadcast.connection
    if not settings.needs_bots:
        await asyncio.to_thread(connection.first_attempt_done.wait, BROKER_ANSWER_TIMEOUT)
        if not connection.connected.is_set():
            problem = connection.error or "no answer yet"
            print_error(f"broker {broker}: {problem}; nothing is published until it is connected")
    return broadcast


def _close_broadcast(broadcast: "MqttPublisher") -> None:
    broadcast.close()
    if unpublished := broadcast.unpublished:
        print_error(unpublished)


def _record_files(
    settings: Settings,
    arguments: argparse.Namespace,
    ledger: Ledger,
    stack: contextlib.ExitStack,
) -> list[RecordFile]:
    writers = {}
    if arguments.records:
        form = PgnFormat(arguments.pgn_fields, Notation(arguments.notation), arguments.site)
        writers[arguments.records] = make_writer(settings, arguments.records, arguments.event, form)
    if arguments.epdout:
        if not settings.is_chess:
            raise SettingsError(f"--epdout: requires chess (got {settings.game.name})")
        if arguments.epdout in writers:
            raise SettingsError(f"--epdout {arguments.epdout}: also given as --records")
        writers[arguments.epdout] = to_epd
    read = [settings.openings.file, arguments.ledger, getattr(arguments, "file", None)]
    sources = [path for path in read if path]
    files = []
    for path, write in writers.items():
        file = RecordFile(path, ledger, write, sources, resume=arguments.resume)
        stack.callback(_close_record_file, file, arguments)
        files.append(file)
    return files


def _close_record_file(file: RecordFile, arguments: argparse.Namespace) -> None:
    file.close()
    if file.problem:
        hint = _resume_hint(arguments) or "; without --ledger, the games not in it are lost"
        print_error(f"{file.problem}{hint}")


def _listeners(files: Sequence[RecordFile], stack: contextlib.ExitStack) -> list[Listener]:
    listeners: list[Listener] = [_write_games(file) for file in files]
    display = Display()
    stack.callback(display.close)
    listeners.append(display)
    return listeners


def _write_games(file: RecordFile) -> Callable[[Event], None]:
    last_problem = ""

    def listen(event: Event) -> None:
        nonlocal last_problem
        if isinstance(event, GameFinished):
            file.add(event.record)
            if file.problem not in ("", last_problem):
                print_error(f"{file.problem}; retrying after the next game")
            last_problem = file.problem

    return listen


def _print_finish(result: RunResult, arguments: argparse.Namespace, meter: LatencyMeter) -> None:
    summary = result.summary
    if arguments.json:
        finish = to_json(TournamentFinished(result.status, summary, result.reason))
        latencies = {
            name: {"mean": round(latency.mean, 6), "max": round(latency.max, 6)}
            for name, latency in meter.players.items()
        }
        print(json.dumps({**finish, **({"latency": latencies} if latencies else {})}))
    else:
        table_console().print(Group(*standings_view(encode(summary))))
        for line in meter.lines():
            print_text(line)
    if not result.complete:
        hint = _resume_hint(arguments) if summary.played < summary.asked else ""
        print_error(f"{result.reason or result.status}{hint}")
