"""Loading of the compiled Connect Four."""

import json

from agent.connect_four.parts import CONNECT_FOUR
from agent.kernel import decorators
from tests.support import compiling_python

SEARCH = f"""
import json, sys
from agent.kernel import compilation, decorators
warm = compilation.is_cached({CONNECT_FOUR!r})
compilation.load({CONNECT_FOUR!r})
from agent.connect_four.search import ConnectFourSearch
from agent.games.connect_four import ConnectFour
from agent.limits import Limits
*_, last = ConnectFourSearch(1).search(ConnectFour(), Limits(depth=7))
unwanted = [name for name in ("chess", "agent.chess.board.kernel_board", "numba.np.arraymath")
          if name in sys.modules]
print(json.dumps([warm, decorators.compiled, sorted(decorators.loaded), last.nodes, unwanted]))
"""


def test_second_process_loads_everything_from_the_cache() -> None:
    """The second process imports neither a compiler nor chess."""
    process = compiling_python(SEARCH, decorators.cache_folder().parent)
    output, _ = process.communicate(timeout=300)
    warm, compiled, loaded, nodes, unwanted = json.loads(output)
    assert warm
    assert compiled == []
    assert loaded == [
        "agent.connect_four.alphabeta.search",
        "agent.connect_four.evaluation.handcrafted",
        "agent.connect_four.rules._perft",
    ]
    assert nodes > 1000
    assert unwanted == []
