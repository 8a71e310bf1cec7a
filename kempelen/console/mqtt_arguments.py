"""The arguments that name a broker, shared by all commands that talk to one."""

import argparse
from collections.abc import Callable
from typing import Any

from kempelen.console.argument_types import positive_seconds
from kempelen.console.settings_codec import SettingsError
from protocols.mqtt.broker_monitor import BROKER_TIMEOUT_S

MISSING_PACKAGES = "MQTT needs more packages: pip install 'kempelen[mqtt]'"
MISSING_BROKER = "the embedded broker needs more packages: pip install 'kempelen[broker]'"


def configure_mqtt(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. User and password never stand on the command line."""
    mqtt = parser.add_argument_group(
        "MQTT", "user and password: KEMPELEN_MQTT_USER and KEMPELEN_MQTT_PASSWORD, or a file"
    )
    mqtt.add_argument("--mqtt", metavar="URL", help="mqtt://HOST[:PORT], or mqtts:// for TLS")
    mqtt.add_argument("--mqtt-credentials", metavar="FILE", help="user and password, on two lines")
    mqtt.add_argument("--mqtt-ca", metavar="FILE", help="certificates to trust, for mqtts")
    mqtt.add_argument(
        "--broker-patience", type=positive_seconds, metavar="SECONDS", default=BROKER_TIMEOUT_S,
        help=f"how long to wait for a broker that is away, where it is needed ({BROKER_TIMEOUT_S:g})",
    )  # fmt: skip


def broker_from(arguments: argparse.Namespace) -> Any:
    """Return the broker that the arguments name, or None; SettingsError says what is wrong."""
    if arguments.mqtt is None:
        return None
    require_packages(MISSING_PACKAGES, lambda: __import__("aiomqtt"))
    from protocols.mqtt.broker import Broker, BrokerError

    try:
        return Broker.from_url(
            arguments.mqtt, credentials=arguments.mqtt_credentials, ca_file=arguments.mqtt_ca
        )
    except BrokerError as error:
        raise SettingsError(str(error)) from None


def require_packages(message: str, action: Callable[[], Any]) -> Any:
    """Return what `action` does, or raise SettingsError if it needs a package that is missing."""
    try:
        return action()
    except ImportError:
        raise SettingsError(message) from None
