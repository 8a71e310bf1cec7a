"""The arguments that name a cluster, shared by all commands that give it work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen.console.mqtt_arguments import require_packages
from kempelen.console.settings_codec import SettingsError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from protocols.cluster.client import ClusterAddress

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
    files = arguments.cluster_ca, arguments.cluster_cert, arguments.cluster_key
    if arguments.cluster is None:
        if any(files):
            raise SettingsError("--cluster-ca, -cert and -key are of --cluster, which is missing")
        return None
    require_packages(MISSING_CLUSTER, lambda: __import__("distributed"))
    from protocols.cluster.client import ClusterAddress

    return ClusterAddress(arguments.cluster, *files)
