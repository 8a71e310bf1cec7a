"""Importing this module compiles the evaluation for networks of the shipped size."""

from contextlib import suppress

from agent.chess.evaluation.nnue import network_function
from agent.chess.evaluation.nnue_format import NetworkError, read_neuron_count
from agent.evaluation_types import SHIPPED_NETWORK

with suppress(NetworkError):
    network_function(read_neuron_count(SHIPPED_NETWORK))
