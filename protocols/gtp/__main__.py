"""`python -m protocols.gtp SETTINGS`: a GTP engine for whoever starts one from Python.

SETTINGS are those of `protocols.gtp.session`, as JSON. It reads no command line of a user's; the
errors of one are seen to by `kempelen gtp`.
"""

import json
import sys

from agent.evaluation import EvaluationError
from agent.io.sanitize import sanitize_line
from agent.kernel.backend import SearchConfig
from protocols import stdio
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.resignation import ResignPolicy
from protocols.gtp.rules import GoRules
from protocols.gtp.session import Settings


def report(text: str) -> None:
    """Tell a person."""
    print(sanitize_line(text), file=sys.stderr, flush=True)


def main(settings: Settings) -> int:
    """Serve until `quit` or the end of input; 2 for settings that cannot be."""
    try:
        return stdio.serve(
            lambda session: GtpProtocol("Kempelen", "", session.send, report, settings)
        )
    except (EvaluationError, OSError, ValueError) as error:
        report(str(error))
        return 2


if __name__ == "__main__":
    chosen = json.loads(sys.argv[1])
    kinds = {"means": SearchConfig, "resign_policy": ResignPolicy, "rules": GoRules}
    values = {name: kind(**chosen[name]) for name, kind in kinds.items()}
    sys.exit(main(Settings(**chosen | values)))
