"""Settings and runs that tests of the runner share."""

import shlex

from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication, Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.records.ledger import Ledger
from kempelen.match.runner import LocalExecutor, Runner
from tests.external import program
from tests.support import failing


def engine(failure="none", after=1, **changes):
    command, arguments = failing(failure, after)
    values = {"name": failure, "start_limit": 10, "ready_limit": 1, "quit_limit": 0.3, **changes}
    return EngineSettings(**{"command": command, "arguments": arguments, **values})


def unreliable_program(folder, works, line):
    """Return the path of a program that runs a command line, or ends with status 4.

    The shell condition `works`, such as "-le 3", tests the number of its starts, which are counted
    in the file `starts`.
    """
    counter, path = folder / "starts", folder / "engine"
    path.write_text(
        f"#!/bin/sh\necho >> {counter}\n[ $(wc -l < {counter}) {works} ] || exit 4\n"
        f"exec {shlex.join(line)}\n"
    )
    path.chmod(0o755)
    return str(path)


def stockfish(name="stockfish", **changes):
    options = {"Hash": 1, **changes.pop("options", {})}
    return EngineSettings(command=program("stockfish"), name=name, options=options, **changes)


def bots(*names, **changes):
    return [
        EngineSettings(command=name, name=name, protocol=EngineProtocol.MQTT, **changes)
        for name in names
    ]


def settings(*engines, **changes):
    time = changes.pop("time", TimeControl(nodes=100, patience=5))
    return Settings(engines=engines, time=time, **changes).with_unique_names()


def quick_settings(**changes):
    """Return settings of games that end after six moves."""
    return settings(engine(), engine(), adjudication=Adjudication(maxmoves=6), **changes)


async def play(chosen, *, boards=1, **options):
    return await play_with(chosen, LocalExecutor(chosen, boards=boards), **options)


async def play_with(chosen, executor, *, path=None, resume=False, listeners=()):
    ledger = Ledger(path)
    try:
        ledger.begin(chosen, resume=resume)
        finish = await Runner(chosen, ledger, listeners).run(executor)
        return finish, list(ledger.records())
    finally:
        ledger.close()
