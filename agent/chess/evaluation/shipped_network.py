"""The evaluation by networks of the size of the one that ships, compiled when this is imported.

The head of its file says how large it is. Where there is none, nothing is compiled: whoever wants
to play by it is told so when its file is read.
"""

from contextlib import suppress

from agent.chess.evaluation.nnue import network_function
from agent.chess.evaluation.nnue_format import NetworkError, read_neuron_count
from agent.evaluation_types import SHIPPED_NETWORK

with suppress(NetworkError):
    network_function(read_neuron_count(SHIPPED_NETWORK))
