"""What `match` and `tournament` share: how a tournament is run, from arguments to exit status."""

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group

from kempelen.cluster_arguments import cluster_from, configure_cluster
from kempelen.console import complain
from kempelen.display import Display, standings_view
from kempelen.interruption import Interruption
from kempelen.mqtt_arguments import MISSING_BROKER, broker_from, configure_mqtt, needs_packages
from kempelen.numbers import positive
from tournament.curves import curve_of
from tournament.events import Event, GameFinished, Listener, TournamentFinished, to_json
from tournament.game_referee import GameFailedError
from tournament.ledger import Ledger, LedgerError
from tournament.live_file import LiveFile, live_file_of
from tournament.openings import with_digests
from tournament.record_file import RecordFile
from tournament.record_formats import writer
from tournament.runner import Finish, Local, Runner, RunStoppedError, Workplace, boards_for
from tournament.settings import Settings
from tournament.values import SettingsError, encode

if TYPE_CHECKING:
    from protocols.cluster.tasks import ClusterAddress
    from protocols.mqtt.broker import Broker
    from protocols.mqtt.client import BotClient
    from protocols.mqtt.link import Tell
    from tournament.broadcast import Broadcast

# So many seconds a broker has to answer before it is said that it does not.
SETTLING = 1.0


def configure_run(parser: argparse.ArgumentParser, *, network: bool = True) -> None:
    """Declare the arguments that say how a tournament is run, not what it is.

    network: also on other machines, and for those to watch.
    """
    run = parser.add_argument_group("the run")
    run.add_argument(
        "--concurrency",
        type=positive,
        help="games at once (default 1, or all threads of a cluster)",
    )
    run.add_argument(
        "--oversubscribe", action="store_true", help="allow more games at once than cores"
    )
    run.add_argument("--ledger", metavar="FILE", help="keep the games in this SQLite file")
    run.add_argument(
        "--resume", action="store_true", help="go on with the ledger, or begin it if not there"
    )
    run.add_argument(
        "--records", "--pgn", "--sgf", metavar="FILE",
        help="write the ledger's games: chess as PGN, Go as SGF, other games as text; "
        "any as JSON, a line each, if FILE ends in .json",
    )  # fmt: skip
    run.add_argument("--log-dir", metavar="DIR", help="log what each engine reads and writes")
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


def run_tournament(settings: Settings, arguments: argparse.Namespace) -> int:
    """Play a tournament and print its result; return the exit status.

    0: all games asked for were played, or the test was decided; 1: not; 2: nothing could begin.
    """
    interruption = Interruption()
    if arguments.resume and arguments.ledger is None:
        complain("--resume goes on with a ledger: name it by --ledger")
        return 2
    try:
        return asyncio.run(_run(with_digests(settings.named()), arguments, interruption))
    except (SettingsError, LedgerError, GameFailedError) as error:
        complain(error)
        return 2
    except RunStoppedError as error:
        complain(f"{error}{_remedy(arguments)}")
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        complain(f"interrupted{_remedy(arguments)}")
        return interruption.status


def _remedy(arguments: argparse.Namespace) -> str:
    return "" if arguments.ledger is None else "; --resume goes on from here"


async def _run(
    settings: Settings, arguments: argparse.Namespace, interruption: Interruption
) -> int:
    interruption.listen()
    with contextlib.ExitStack() as stack:
        ledger = Ledger(arguments.ledger)
        stack.callback(ledger.close)
        ledger.begin(settings, resume=arguments.resume)
        broker = _broker(arguments, stack)
        boards, notice = boards_for(
            arguments.concurrency or 1, oversubscribe=arguments.oversubscribe
        )
        workplace: Workplace
        if address := cluster_from(arguments):
            workplace, notice = await _cluster(settings, arguments.concurrency, address), None
        else:
            workplace = _workplace(settings, arguments, boards, broker)
        file = _record_file(settings, arguments, ledger, stack)
        listeners = _listeners(file, stack)
        curve = curve_of(settings, list(ledger.records())) if arguments.resume else []
        if arguments.ledger is not None:
            live = LiveFile(live_file_of(arguments.ledger), curve)
            stack.callback(live.close)
            listeners.append(live)
        if broker is not None:
            listeners.append(await _broadcast(broker, settings, curve, stack))
        if notice:
            complain(notice.text)
        runner = Runner(settings, ledger, listeners)
        if arguments.resume:
            complain(f"ledger {arguments.ledger}: going on after {runner.played} games")
        finish = await runner.run(workplace)
    _print_finish(finish, as_json=arguments.json)
    if file is not None and file.problem:
        complain(f"{file.problem}{_remedy(arguments)}")
        return 1
    return 0 if finish.complete else 1


async def _cluster(settings: Settings, boards: int | None, address: "ClusterAddress") -> Workplace:
    from tournament.cluster import Cluster

    if settings.needs_bots:
        raise SettingsError("--cluster plays programs, not bots behind a broker")
    return await Cluster.connect(settings, address, boards)


def _workplace(
    settings: Settings, arguments: argparse.Namespace, boards: int, broker: "Broker | None"
) -> Workplace:
    def connect(tell: "Tell") -> "BotClient":
        from protocols.mqtt.client import BotClient

        assert broker is not None
        return BotClient(broker, patience=arguments.broker_patience, tell=tell)

    return Local(
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
        raise SettingsError(f"--broker {arguments.broker}: write embedded or embedded:PORT")
    needs_packages(MISSING_BROKER, lambda: __import__("amqtt"))
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
) -> "Broadcast":
    """Return what publishes the match. The match goes on without a broker that is not there."""
    from tournament.broadcast import Broadcast

    broadcast = Broadcast(broker, settings.name, complain, curve)
    stack.callback(_end_broadcast, broadcast)
    connection = broadcast.connection
    if not settings.needs_bots:
        await asyncio.to_thread(connection.settled.wait, SETTLING)
        if not connection.connected.is_set():
            problem = connection.problem or "no answer yet"
            complain(f"broker {broker}: {problem}; nothing is published until it is there")
    return broadcast


def _end_broadcast(broadcast: "Broadcast") -> None:
    broadcast.close()
    if shortfall := broadcast.shortfall:
        complain(shortfall)


def _record_file(
    settings: Settings,
    arguments: argparse.Namespace,
    ledger: Ledger,
    stack: contextlib.ExitStack,
) -> RecordFile | None:
    if not arguments.records:
        return None
    read = [settings.openings.file, arguments.ledger, getattr(arguments, "file", None)]
    sources = [each for each in read if each]
    write = writer(settings, arguments.records)
    file = RecordFile(arguments.records, ledger, write, sources, resume=arguments.resume)
    stack.callback(file.close)
    return file


def _listeners(file: RecordFile | None, stack: contextlib.ExitStack) -> list[Listener]:
    listeners: list[Listener] = []
    if file is not None:
        listeners.append(_write_games(file))
    display = Display()
    stack.callback(display.close)
    listeners.append(display)
    return listeners


def _write_games(file: RecordFile) -> Callable[[Event], None]:
    told = ""

    def listen(event: Event) -> None:
        nonlocal told
        if isinstance(event, GameFinished):
            file.add(event.record)
            if file.problem not in ("", told):
                complain(f"{file.problem}; it is written anew after the next game")
            told = file.problem

    return listen


def _print_finish(finish: Finish, *, as_json: bool) -> None:
    if as_json:
        event = TournamentFinished(finish.status, finish.summary, finish.reason)
        print(json.dumps(to_json(event)))
        return
    Console(soft_wrap=True).print(Group(*standings_view(encode(finish.summary))))
    if not finish.complete:
        complain(finish.reason or finish.status)
