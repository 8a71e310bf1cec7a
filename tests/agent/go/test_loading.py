"""Loading the compiled Go search from the cache."""

import json

from agent.go.parts import GO
from agent.kernel import compilation, decorators
from tests.support import compiling_python

SEARCH = f"""
import json, sys
from agent.kernel import compilation, decorators
cached = compilation.is_cached({GO!r})
compilation.load({GO!r})
from agent.kernel.backend import SearchConfig
from agent.games.go import Go
from agent.go.search import GoSearch
from agent.limits import Limits
*_, last = GoSearch(SearchConfig(megabytes=1)).search(Go(), Limits(nodes=300))
unwanted = [name for name in ("chess", "agent.chess.board.kernel_board", "numba.np.arraymath")
          if name in sys.modules]
print(json.dumps([cached, decorators.compiled, last.nodes, unwanted]))
"""


def test_second_process_loads_everything_from_the_cache() -> None:
    """It compiles nothing, and imports neither a compiler nor chess."""
    compilation.warm_up(None, (GO,))
    process = compiling_python(SEARCH, decorators.cache_folder().parent)
    output, _ = process.communicate(timeout=300)
    cached, compiled, nodes, unwanted = json.loads(output)
    assert cached
    assert compiled == []
    assert nodes == 300
    assert unwanted == []
