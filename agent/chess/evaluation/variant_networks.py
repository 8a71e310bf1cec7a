"""The network files of the variants of chess.

A variant has a small network of its own, which corrects the hand-written evaluation, or the network
of standard chess, to which the terms of the variant are added.
"""

from functools import cache
from pathlib import Path

from agent.chess.evaluation.nnue_format import NetworkError, NnueNetwork, read, read_neuron_count
from agent.evaluation_types import SHIPPED_NETWORK
from agent.games.variants import STANDARD

# Chess, and the variants in which its network is sound.
_USERS_OF_STANDARD_NETWORK = (STANDARD, "kingofthehill", "3check")


def has_own_network(variant: str) -> bool:
    """Return whether the network of a variant is one that corrects its evaluation."""
    return variant not in _USERS_OF_STANDARD_NETWORK


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
    """Return the network that corrects the evaluation of a variant, or None if it is unusable."""
    try:
        return read(network_path(variant))
    except NetworkError:
        return None
