"""Run `python -m protocols.gtp SETTINGS`, where SETTINGS is a JSON object.

Its fields are those of `protocols.gtp.session.Settings`.
"""

import json
import sys

from agent.evaluation import EvaluationError
from agent.games.go_rules import Ruleset
from agent.io.sanitize import sanitize_line
from agent.kernel.backend import SearchConfig
from protocols import stdio
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.resignation import ResignPolicy
from protocols.gtp.session import Settings


def report(text: str) -> None:
    print(sanitize_line(text), file=sys.stderr, flush=True)


def main(settings: Settings) -> int:
    """Run the engine and return the exit status, which is 2 if the settings are invalid."""
    try:
        return stdio.serve(
            lambda session: GtpProtocol("Kempelen", "", session.send, report, settings)
        )
    except (EvaluationError, OSError, ValueError) as error:
        report(str(error))
        return 2


if __name__ == "__main__":
    fields = json.loads(sys.argv[1])
    classes = {"search_config": SearchConfig, "resign_policy": ResignPolicy, "rules": Ruleset}
    values = {name: class_(**fields[name]) for name, class_ in classes.items()}
    sys.exit(main(Settings(**fields | values)))
