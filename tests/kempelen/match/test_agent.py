"""The built-in engine as a player without its own process."""

import itertools

import pytest

from agent.game_clock import GameClock
from agent.learning.opponent_database import OpponentDatabase
from agent.learning.opponent_game_record import REPORTED, RULES
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.settings import Adjudication
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from tests.kempelen.match.support import engine, play, settings

AGENT = EngineSettings(command="chess", name="K", protocol=EngineProtocol.AGENT)


async def test_agent_plays_and_wins():
    chosen = settings(AGENT, engine(), time=TimeControl(nodes=3000, patience=120), games=2)
    finish, records = await play(chosen)
    assert finish.complete
    assert [record.result for record in records] == ["1-0", "0-1"]
    assert {record.termination for record in records} == {Termination.CHECKMATE}
    own = records[0].moves[0::2] if records[0].white == "K" else records[0].moves[1::2]
    assert all(move.depth for move in own)


async def test_invalid_options_and_games_are_rejected():
    wrong = EngineSettings(
        command="chess", name="K", protocol=EngineProtocol.AGENT, options={"Hash": -1}
    )
    with pytest.raises(SettingsError, match="Hash: invalid value"):
        await play(settings(wrong, engine(), adjudication=Adjudication(maxmoves=6)))
    with pytest.raises(SettingsError, match="agent must be chess"):
        await play(settings(EngineSettings(command="go", protocol=EngineProtocol.AGENT), engine()))


async def test_agent_records_opponent_and_results(tmp_path):
    file = tmp_path / "habits.jsonl"
    own = EngineSettings(
        command="chess",
        name="K",
        protocol=EngineProtocol.AGENT,
        options={"HabitsFile": str(file)},
    )
    chosen = settings(
        own, engine(name="Ann"), games=2, time=TimeControl(nodes=100, patience=120),
        adjudication=Adjudication(maxmoves=16),
    )  # fmt: skip
    _, records = await play(chosen)
    games = OpponentDatabase(file).read("Ann")
    whites = [{"1-0": 1.0, "0-1": 0.0}.get(record.result, 0.5) for record in records]
    assert [abs(game.side - game.points) for game in games] == whites
    assert {game.known for game in games} <= {RULES, REPORTED}
    assert [game.side for game in games] == [int(record.white != "K") for record in records]
    played = [*records[0].opening, *(move.move for move in records[0].moves)]
    assert list(games[0].moves) == played[: len(games[0].moves)]
    assert len(games[0].moves) >= len(played) - 1


async def test_agent_records_loss_on_time(tmp_path, monkeypatch):
    own = EngineSettings(
        command="chess", name="K", protocol=EngineProtocol.AGENT,
        options={"HabitsFile": str(tmp_path / "habits.jsonl")},
    )  # fmt: skip
    moves = itertools.count(1)
    limit = property(lambda clock: -1.0 if next(moves) == 11 else None)
    monkeypatch.setattr(GameClock, "move_limit", limit)
    chosen = settings(
        own, engine(name="Ann"), games=1, time=TimeControl(nodes=100, patience=120),
        adjudication=Adjudication(maxmoves=16),
    )  # fmt: skip
    _, (record,) = await play(chosen)
    assert (record.white, record.result, record.termination) == ("K", "0-1", Termination.TIME)
    (game,) = OpponentDatabase(tmp_path / "habits.jsonl").read("Ann")
    assert (game.points, game.known, game.forfeit) == (0.0, REPORTED, True)
