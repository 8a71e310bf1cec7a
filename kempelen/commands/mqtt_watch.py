"""`kempelen mqtt watch`: show a running tournament from an MQTT broker."""

import argparse
import json
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from kempelen.console.mqtt_arguments import broker_from, configure_mqtt
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error, table_console
from kempelen.match.display import view

if TYPE_CHECKING:
    from kempelen.match.live.mqtt_publisher import MqttSubscriber
    from protocols.mqtt.connection import Connection

FINAL_STATES = ("complete", "decided", "interrupted", "failed")
# Maximum length in characters.
MAX_ERROR_LENGTH = 200


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", default="+", help="name of the tournament (default: the first one found)"
    )
    parser.add_argument("--once", action="store_true", help="show the state once and exit")
    parser.add_argument("--json", action="store_true", help="print JSON (with --once)")
    parser.add_argument(
        "--wait",
        type=float,
        default=10.0,
        help="seconds to wait for the first message (default: 10)",
    )
    configure_mqtt(parser)
    parser.set_defaults(mqtt="mqtt://localhost")


def run(arguments: argparse.Namespace) -> int:
    """Show the tournament until it ends. Return 1 if it ends incomplete, or 2 after an error."""
    try:
        return _watch(arguments)
    except SettingsError as error:
        print_error(error)
        return 2


def _watch(arguments: argparse.Namespace) -> int:
    broker = broker_from(arguments)
    from kempelen.match.live.mqtt_publisher import MAX_MESSAGE_BYTES, MqttSubscriber
    from protocols.mqtt.connection import NO_ANSWER, Connection

    receiver = MqttSubscriber(arguments.name)
    connection = Connection(
        broker,
        subscriptions=[receiver.subscription],
        on_message=receiver.on_message,
        use_heartbeat=True,
        max_payload=MAX_MESSAGE_BYTES,
    )
    try:
        if not _wait(receiver, connection, arguments.wait):
            name = "" if arguments.name == "+" else f" {arguments.name}"
            connected = connection.connected.is_set()
            reason = f"tournament{name} not found" if connected else NO_ANSWER
            print_error(f"broker {broker}: {connection.error or reason}")
            return 2
        if arguments.once:
            return _show_once(receiver, as_json=arguments.json)
        return _show_live(receiver, connection, arguments.broker_timeout)
    finally:
        connection.close()


def _wait(receiver: "MqttSubscriber", connection: "Connection", limit: float) -> bool:
    """Wait for retained messages, at most `limit` seconds. Return whether there is a tournament."""
    deadline = time.monotonic() + limit
    reported = False
    while not (receiver.state.status and receiver.state.standings):
        if connection.error and not reported:
            reported = True
            print_error(
                f"broker {connection.broker}: {connection.error}; retrying for at most {limit:g} s"
            )
        if time.monotonic() > deadline:
            return bool(receiver.state.status)
        time.sleep(0.02)
    count = -1
    while count != receiver.message_count and time.monotonic() < deadline:
        count = receiver.message_count
        time.sleep(0.1)
    return True


def _show_once(receiver: "MqttSubscriber", *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"runner": receiver.runner, **receiver.state.snapshots}))
    else:
        table_console().print(_render(receiver))
    return 0


def _show_live(receiver: "MqttSubscriber", connection: "Connection", timeout: float) -> int:
    def render() -> Group:
        parts: list[RenderableType] = [_render(receiver)]
        if seconds := connection.seconds_disconnected:
            parts.append(
                Text(f"broker {connection.broker}: no connection for {seconds:.0f} s", style="red")
            )
        return Group(*parts)

    with Live(console=Console(), refresh_per_second=4, get_renderable=render):
        while (state := receiver.state.status.get("state")) not in FINAL_STATES:
            if connection.seconds_disconnected > timeout:
                break
            time.sleep(0.1)
    if state not in FINAL_STATES:
        reason = f"no connection for {timeout:g} s: {connection.error}"
        print_error(f"broker {connection.broker}: {reason}")
        return 2
    return 0 if state in ("complete", "decided") else 1


def _render(receiver: "MqttSubscriber") -> Group:
    parts: list[RenderableType] = []
    try:
        parts.append(view(receiver.state, diagrams=True))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Each message is valid, but the messages do not fit together.
        parts.append(
            Text(
                f"inconsistent messages from the broker: {error!r}"[:MAX_ERROR_LENGTH], style="red"
            )
        )
    if receiver.quota.exceeded:
        from kempelen.match.live.mqtt_views import TOO_MUCH_DATA  # lazy import: for errors only

        parts.append(Text(f"broker: {TOO_MUCH_DATA}", style="red"))
    if receiver.runner == "lost" and receiver.state.status.get("state") == "running":
        parts.append(Text("the runner has disconnected unexpectedly", style="red"))
    return Group(*parts)
