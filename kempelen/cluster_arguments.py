"""The arguments that name a cluster, shared by all commands that give it work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kempelen.console import print_error
from kempelen.mqtt_arguments import require_packages

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from protocols.cluster.tasks import ClusterAddress
    from training.cluster import ClusterWorkers

MISSING_CLUSTER = "a cluster needs more packages: pip install 'kempelen[cluster]'"


def configure_cluster(parser: ArgumentParser, what: str) -> None:
    """Declare the arguments. what: the infinitive of what is done there."""
    cluster = parser.add_argument_group("Dask cluster")
    cluster.add_argument(
        "--cluster", metavar="ADDRESS", help=f"{what} there: tcp:// or tls://HOST:PORT"
    )
    for name in ("ca", "cert", "key"):
        cluster.add_argument(f"--cluster-{name}", metavar="FILE", help="PEM file, for tls://")


def cluster_from(arguments: Namespace) -> ClusterAddress | None:
    """Return where the cluster is that the arguments name, or None; SettingsError if it cannot be.

    It is not looked whether it is there.
    """
    from tournament.values import SettingsError

    files = arguments.cluster_ca, arguments.cluster_cert, arguments.cluster_key
    if arguments.cluster is None:
        if any(files):
            raise SettingsError("--cluster-ca, -cert and -key are of --cluster, which is missing")
        return None
    require_packages(MISSING_CLUSTER, lambda: __import__("distributed"))
    from protocols.cluster.tasks import ClusterAddress

    return ClusterAddress(arguments.cluster, *files)


@contextmanager
def cluster_threads(arguments: Namespace, command: str) -> Iterator[ClusterWorkers | None]:
    """Give what makes games on the cluster that is named, if one is, and leave it at the end.

    Raises SettingsError, and GamesError if it is not there.
    """
    address = cluster_from(arguments)
    if address is None:
        yield None
        return
    from training.cluster import ClusterWorkers

    with ClusterWorkers(address, lambda text: print_error(text, command)) as threads:
        yield threads
