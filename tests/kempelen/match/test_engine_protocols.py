"""The table of engine protocols, and the settings and players made by it."""

import json
import sys

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.engines.engine_protocols import (
    PROTOCOL_SPECS,
    MatchContext,
    check_engine,
    make_player,
    protocol_spec,
)
from kempelen.match.engines.lab_agents import lab_agent_settings
from kempelen.match.engines.players import UciEngine
from tests.kempelen.match.support import settings

# Commands of protocols that do not run a program.
COMMANDS = {EngineProtocol.LAB: "alpha-beta", EngineProtocol.AGENT: "chess"}


def engine_for_protocol(protocol, **changes):
    command = COMMANDS.get(protocol, sys.executable)
    return EngineSettings(command, "x", protocol=protocol, **changes)


def test_every_protocol_has_a_table_entry():
    assert list(PROTOCOL_SPECS) == list(EngineProtocol)


@pytest.mark.parametrize("protocol", [p for p in EngineProtocol if p != EngineProtocol.MQTT])
async def test_existing_engine_becomes_contestant(protocol):
    check_engine(engine_for_protocol(protocol))
    player = make_player(engine_for_protocol(protocol))
    assert isinstance(player, UciEngine) is protocol_spec(engine_for_protocol(protocol)).speaks_uci
    await player.close()  # allowed before start


@pytest.mark.parametrize("protocol", EngineProtocol)
def test_missing_engine_error_names_engine(protocol):
    missing = EngineSettings("no such / engine", "x", protocol=protocol)
    with pytest.raises(SettingsError, match="engine x: "):
        check_engine(missing)


@pytest.mark.parametrize("protocol", EngineProtocol)
@pytest.mark.parametrize("limit", ["nodes", "depth", "playouts"])
def test_limits_unsupported_by_protocol_are_rejected(protocol, limit):
    engines = [engine_for_protocol(protocol)] * 2
    if limit in protocol_spec(engines[0]).limits:
        settings(*engines, time=TimeControl(**{limit: 5}))
    else:
        with pytest.raises(SettingsError, match=f"engine x: .*{limit}"):
            settings(*engines, time=TimeControl(**{limit: 5}))


def test_unsupported_limit_error_lists_supported_limits():
    with pytest.raises(
        SettingsError, match=r"^engine x: nodes not supported by xboard \(use tc, mo"
    ):
        settings(*[engine_for_protocol(EngineProtocol.XBOARD)] * 2, time=TimeControl(nodes=5))
    with pytest.raises(SettingsError, match=r"nodes and depth not supported by GTP \(use tc or"):
        settings(*[engine_for_protocol(EngineProtocol.GTP)] * 2, time=TimeControl(depth=5))


@pytest.mark.parametrize("protocol", EngineProtocol)
def test_chess_only_protocols_reject_other_games(protocol):
    engines, game = [engine_for_protocol(protocol)] * 2, GameSettings("nim")
    if protocol_spec(engines[0]).plays_any_game:
        settings(*engines, game=game, time=TimeControl(movetime=1))
    else:
        message = (
            r"^engine x: plays only chess \(nim is played by programs with protocol gtp, agents "
            r"with protocol lab and bots with protocol mqtt\)$"
        )
        with pytest.raises(SettingsError, match=message):
            settings(*engines, game=game, time=TimeControl(movetime=1))


def test_a_bot_needs_a_broker():
    with pytest.raises(SettingsError, match="add --mqtt URL"):
        make_player(engine_for_protocol(EngineProtocol.MQTT), MatchContext())


def test_lab_agent_runs_with_same_python_interpreter():
    agent = lab_agent_settings(engine_for_protocol(EngineProtocol.LAB), GameSettings("nim"))
    assert agent.command == sys.executable
    assert agent.arguments[:2] == ("-m", "protocols.gtp")


GO_GAME = GameSettings("go", {"size": 9})


def lab(command, **options):
    return EngineSettings(command, "x", protocol=EngineProtocol.LAB, options=options)


def test_compiled_lab_agent_accepts_threads_and_memory():
    engine = lab("compiled", threads="2", memory="64")
    check_engine(engine, GO_GAME)
    session = json.loads(lab_agent_settings(engine, GO_GAME).arguments[2])
    assert session["algorithm"] is None
    search_config = session["search_config"]
    assert (search_config["threads"], search_config["megabytes"]) == (2, 64)


@pytest.mark.parametrize(
    ("engine", "game", "message"),
    [
        (lab("compiled"), GameSettings("nim"), "game nim: no compiled search"),
        (lab("compiled", threads="0"), GO_GAME, "threads: must be at least 1"),
        (lab("compiled", memory="much"), GO_GAME, "memory: must be an integer"),
        (lab("mcts", threads="2"), GO_GAME, "threads: requires algorithm=compiled"),
        (lab("compiled", hash="1"), GO_GAME, r"hash: unknown option \(expected one of: eval"),
    ],
)
def test_invalid_lab_agent_options_are_rejected(engine, game, message):
    with pytest.raises(SettingsError, match=message):
        check_engine(engine, game)
