"""Command-line arguments for a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempelen.console.mqtt_arguments import require_packages
from kempelen.console.settings_codec import SettingsError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from protocols.cluster.client import ClusterAddress

CERTIFICATE_FILES = {
    "ca": "trusted certificates",
    "cert": "certificate of this machine",
    "key": "private key of the certificate",
}


def configure_cluster(parser: ArgumentParser, verb: str) -> None:
    """Add the cluster arguments. `verb`, such as "play", begins the help text of `--cluster`."""
    cluster = parser.add_argument_group("Dask cluster")
    cluster.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help=f"{verb} on the Dask cluster at tcp:// or tls://HOST:PORT",
    )
    for name, text in CERTIFICATE_FILES.items():
        cluster.add_argument(f"--cluster-{name}", metavar="FILE", help=f"{text} (PEM), for tls://")


def cluster_from(arguments: Namespace) -> ClusterAddress | None:
    """Return the cluster address, or None without `--cluster`.

    Raise SettingsError if a package is missing, or if only certificate files are given.
    """
    files = arguments.cluster_ca, arguments.cluster_cert, arguments.cluster_key
    if arguments.cluster is None:
        if any(files):
            raise SettingsError("--cluster-ca, --cluster-cert and --cluster-key require --cluster")
        return None
    require_packages("a cluster", "cluster", _import_dask)
    from protocols.cluster.client import ClusterAddress

    return ClusterAddress(arguments.cluster, *files)


def _import_dask() -> None:
    """Import Dask without its log handlers, which print on standard error."""
    import logging

    root, handler = logging.getLogger(), logging.NullHandler()
    root.addHandler(handler)  # Dask adds its handlers only if there is none
    try:
        __import__("distributed")
    finally:
        root.removeHandler(handler)
