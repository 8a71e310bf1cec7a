"""The arguments of `kempelen web` that say which tournaments are watched."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from kempelen.console.mqtt_arguments import broker_from, configure_mqtt
from kempelen.console.settings_codec import SettingsError
from kempelen.match.live.tournament_views import LedgerView, TournamentView
from kempelen.match.records.ledger import LedgerError

TournamentSource = Callable[[], Sequence[TournamentView]]


def configure_watch(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--watch",
        action="append",
        default=[],
        metavar="LEDGER[:NAME]",
        help="a tournament by its ledger, which may be played now; may be repeated",
    )
    configure_mqtt(parser)


def watched_tournaments(arguments: argparse.Namespace, stack: ExitStack) -> TournamentSource:
    """Return what gives the tournaments that are watched: of ledgers, and of a broker.

    stack: ends the connection. Raises SettingsError for what cannot be watched.
    """
    ledgers = [_open_ledger(text) for text in arguments.watch]
    broker = broker_from(arguments)
    if broker is None:
        return lambda: ledgers
    from kempelen.match.live.mqtt_views import MqttTournamentViews

    heard = MqttTournamentViews(broker)
    stack.callback(heard.close)
    return lambda: [*ledgers, *heard.views]


def _open_ledger(text: str) -> LedgerView:
    """Look at a ledger; the name of one of its tournaments may follow a colon."""
    path, colon, name = text.rpartition(":")
    try:
        if colon and path and not Path(text).exists():
            return LedgerView(path, name)
        return LedgerView(text)
    except LedgerError as error:
        raise SettingsError(f"--watch {text}: {error}") from None
