"""xboard engines as players of matches."""

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from tests.external import program
from tests.kempelen.match.support import engine, play, settings
from tests.support import failing_xboard

TIME = TimeControl(base=20, increment=0.1, margin=2)


def xboard(failure="none", after=1, **changes):
    command, arguments = failing_xboard(failure, after)
    values = {"name": failure, "start_limit": 10, "ready_limit": 5, "quit_limit": 1, **changes}
    return EngineSettings(command, arguments=arguments, protocol=EngineProtocol.XBOARD, **values)


async def test_xboard_engine_plays_match_against_uci_engine():
    chosen = settings(
        xboard(options={"memory": 8}), engine(name="uci"), games=4, time=TIME,
        adjudication=Adjudication(maxmoves=6),
    )  # fmt: skip
    finish, records = await play(chosen)
    assert finish.complete
    assert {record.termination for record in records} == {Termination.MAX_MOVES}
    first = next(record for record in records if record.white == "none")
    assert (first.moves[0].cp, first.moves[0].depth, first.moves[0].nodes) == (25, 1, 7)
    assert first.moves[0].clock is not None


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("failure", "termination"),
    [
        ("resigns", Termination.RESIGNATION),
        ("claims", Termination.NO_MOVE),
        ("illegal", Termination.ILLEGAL_MOVE),
        ("dies", Termination.CRASH),
        ("error", Termination.FAILED),
    ],
)
async def test_xboard_failure_loses_one_game(failure, termination):
    chosen = settings(
        xboard(failure, 2), engine(name="uci"), time=TIME, adjudication=Adjudication(maxmoves=6)
    )
    _, records = await play(chosen)
    assert [(record.termination, record.first_score) for record in records] == [
        (termination, 0.0)
    ] * 2


async def test_engine_without_ping_is_rejected():
    chosen = settings(xboard("no-ping"), engine(name="uci"), time=TIME)
    with pytest.raises(SettingsError, match=r"could not start .* with protocol xboard: .*ping"):
        await play(chosen)


async def test_unknown_options_and_unsupported_limits_are_rejected():
    with pytest.raises(
        SettingsError,
        match=r"unknown option Hash \(expected one of: Book File, .*, Style, computer",
    ):
        await play(settings(xboard(options={"Hash": 16}), engine(), time=TIME))
    with pytest.raises(SettingsError, match="nodes not supported by xboard"):
        settings(xboard(), engine(), time=TimeControl(nodes=100))


@pytest.mark.thorough
@pytest.mark.needs("phalanx")
async def test_phalanx_wins_game_by_checkmate():
    phalanx = EngineSettings(
        program("phalanx"), "phalanx", ("-b-", "-l-"), protocol=EngineProtocol.XBOARD
    )
    time = TimeControl(base=2, margin=5)
    _, (record,) = await play(settings(phalanx, engine(), games=1, time=time))
    assert (record.result, record.termination) == ("1-0", Termination.CHECKMATE)
    assert any(move.depth for move in record.moves[::2])
