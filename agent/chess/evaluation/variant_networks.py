"""The network files of the variants of chess.

Most variants have a small network of their own, which corrects the hand-written evaluation. The
network of three-check, which began as that of chess, takes its place, except for the terms of the
variant. King of the hill uses the network of chess in the same way.
"""

from functools import cache
from pathlib import Path

from agent.chess.evaluation.nnue_format import NetworkError, NnueNetwork, read, read_neuron_count
from agent.evaluation_types import SHIPPED_NETWORK
from agent.games.variants import STANDARD

_USERS_OF_STANDARD_NETWORK = (STANDARD, "kingofthehill")


def has_own_network(variant: str) -> bool:
    """Return whether a variant has a network of its own, instead of that of chess."""
    return variant not in _USERS_OF_STANDARD_NETWORK


def corrects_evaluation(variant: str) -> bool:
    """Return whether the network of a variant is added to the whole hand-written evaluation."""
    return has_own_network(variant) and variant != "3check"


def network_path(variant: str) -> Path:
    """Return the file with the network of a variant."""
    if not has_own_network(variant):
        return SHIPPED_NETWORK
    return SHIPPED_NETWORK.with_name(f"{variant}.nnue")


def neuron_count(variant: str) -> int:
    """Return the number of neurons of a variant's network, or 0 without a usable file."""
    try:
        return read_neuron_count(network_path(variant))
    except NetworkError:
        return 0


@cache
def read_own_network(variant: str) -> NnueNetwork | None:
    """Return the own network of a variant, or None if it is unusable."""
    try:
        return read(network_path(variant))
    except NetworkError:
        return None
