"""The arguments of `kempelen web` that select the tournaments to watch."""

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
    parser.add_argument(
        "--watch",
        action="append",
        default=[],
        metavar="LEDGER[:NAME]",
        help="show the tournament of this ledger, running or finished (repeatable)",
    )
    configure_mqtt(parser)


def watched_tournaments(arguments: argparse.Namespace, stack: ExitStack) -> TournamentSource:
    """Return a function that lists the watched tournaments, from ledgers and from a broker.

    `stack` closes the connection to the broker. Raise SettingsError if a ledger cannot be opened.
    """
    ledgers = [_open_ledger(text) for text in arguments.watch]
    broker = broker_from(arguments)
    if broker is None:
        return lambda: ledgers
    from kempelen.match.live.mqtt_views import MqttTournamentViews

    published = MqttTournamentViews(broker)
    stack.callback(published.close)
    return lambda: [*ledgers, *published.views]


def _open_ledger(text: str) -> LedgerView:
    path, colon, name = text.rpartition(":")
    try:
        if colon and path and not Path(text).exists():
            return LedgerView(path, name)
        return LedgerView(text)
    except LedgerError as error:
        raise SettingsError(f"--watch {text}: {error}") from None
