"""The compiled evaluation for neural networks of the shipped size.

Importing this module compiles the evaluation. The size is read from the header of the shipped
network file. If the file cannot be read, nothing is compiled, and the error is reported when an
engine loads the network.
"""

from contextlib import suppress

from agent.chess.evaluation.nnue import network_function
from agent.chess.evaluation.nnue_format import NetworkError, read_neuron_count
from agent.evaluation_types import SHIPPED_NETWORK

with suppress(NetworkError):
    network_function(read_neuron_count(SHIPPED_NETWORK))
