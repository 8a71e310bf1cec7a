"""Command-line arguments for an MQTT broker."""

import argparse
from collections.abc import Callable
from typing import Any

from kempelen.console.argument_types import positive_seconds
from kempelen.console.old_names import add_alias
from kempelen.console.settings_codec import SettingsError
from protocols.mqtt.broker_monitor import BROKER_TIMEOUT_S


def configure_mqtt(parser: argparse.ArgumentParser) -> None:
    """Add the broker arguments, without user and password, which the process list would show."""
    mqtt = parser.add_argument_group(
        "MQTT", "user and password: KEMPELEN_MQTT_USER and KEMPELEN_MQTT_PASSWORD, or a file"
    )
    mqtt.add_argument(
        "--mqtt",
        metavar="URL",
        help="address of the broker: mqtt://HOST[:PORT], or mqtts:// for TLS",
    )
    mqtt.add_argument(
        "--mqtt-credentials", metavar="FILE", help="file with user and password on two lines"
    )
    mqtt.add_argument("--mqtt-ca", metavar="FILE", help="trusted certificates (PEM), for mqtts")
    timeout = mqtt.add_argument(
        "--broker-timeout", type=positive_seconds, metavar="SECONDS", default=BROKER_TIMEOUT_S,
        help=f"time to wait for an unreachable broker (default: {BROKER_TIMEOUT_S:g})",
    )  # fmt: skip
    add_alias(mqtt, "--broker-patience", timeout)


def broker_from(arguments: argparse.Namespace) -> Any:
    """Return the broker, or None without `--mqtt`.

    Raise SettingsError if a package is missing or an argument is invalid.
    """
    if arguments.mqtt is None:
        return None
    require_packages("MQTT", "mqtt", lambda: [*map(__import__, ("aiomqtt", "fastjsonschema"))])
    from protocols.mqtt.broker import Broker, BrokerError

    try:
        return Broker.from_url(
            arguments.mqtt, credentials=arguments.mqtt_credentials, ca_file=arguments.mqtt_ca
        )
    except BrokerError as error:
        raise SettingsError(str(error)) from None


def require_packages(what: str, extra: str, action: Callable[[], Any]) -> Any:
    """Call `action` and return its result. Raise SettingsError if an import fails.

    The message says that the feature `what` needs the optional dependency group `extra`.
    """
    try:
        return action()
    except ImportError:
        from agent.io.requirements import missing_packages  # lazy import: for errors only

        raise SettingsError(missing_packages(what, extra)) from None
