"""The compiled Go on its way into a process."""

import json

from agent.go.parts import GO
from agent.kernel import compilation, decorators
from tests.support import compiling_python

SEARCH = f"""
import json, sys
from agent.kernel import kernel, warming
warm = warming.is_warm({GO!r})
warming.load({GO!r})
from agent.kernel.backend import Means
from agent.games.go import Go
from agent.go.search import GoSearch
from agent.limits import Limits
*_, last = GoSearch(Means(megabytes=1)).deepen(Go(), Limits(nodes=300))
beside = [name for name in ("chess", "agent.chess.board.kernel_board", "numba.np.arraymath")
          if name in sys.modules]
print(json.dumps([warm, kernel.compiled, last.nodes, beside]))
"""


def test_second_process_loads_everything_from_the_cache() -> None:
    """It compiles nothing, and imports neither a compiler nor chess."""
    compilation.warm_up(None, (GO,))
    process = compiling_python(SEARCH, decorators.cache_folder().parent)
    output, _ = process.communicate(timeout=300)
    warm, compiled, nodes, beside = json.loads(output)
    assert warm
    assert compiled == []
    assert nodes == 300
    assert beside == []
