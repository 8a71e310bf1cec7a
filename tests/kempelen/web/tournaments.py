"""Ledgers of tournaments with made-up games."""

from random import Random

import chess

from kempelen.match.config.engine_settings import EngineProtocol
from kempelen.match.config.settings import Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.records.game_record import GameRecord, MoveRecord
from kempelen.match.records.ledger import Ledger
from tests.kempelen.match.support import engine, settings

MOVES = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "e1g1", "f7f6")
ENDS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


def chosen(*names: str, **changes: object) -> Settings:
    """Return the settings of a tournament whose players are never started."""
    protocol = EngineProtocol.GTP if "game" in changes else EngineProtocol.UCI
    changes.setdefault("time", TimeControl(movetime=0.1))
    players = (engine("none", name=name, protocol=protocol) for name in names)
    return settings(*players, **changes)


def write_ledger(
    path: str,
    chosen: Settings,
    *,
    moves: tuple[str, ...] = MOVES,
    opening: int = 2,
    games: int | None = None,
) -> str:
    """Fill a ledger with games and return its path.

    The games are the same each time; the players that are named first tend to win. opening: the
    number of opening moves. games: how many to play, by default all.
    """
    kept, chance = Ledger(path), Random(1)
    kept.begin(chosen, resume=False)
    results: dict[PairKey, dict[int, float | None]] = {}
    names = [each.name for each in chosen.engines]
    played = 0
    while pairs := due_pairs(chosen, results):
        for pair in pairs:
            for game in pair.games:
                if played == games:
                    kept.close()
                    return path
                white, black = pair.key.white(game), pair.key.black(game)
                edge = 0.12 * (black - white)
                place = chance.random()
                share = 1.0 if place < 0.35 + edge else 0.0 if place > 0.65 + edge else 0.5
                kept.record(
                    GameRecord(
                        pair=str(pair.key), game=game, white=names[white], black=names[black],
                        fen=chess.STARTING_FEN if chosen.is_chess else "",
                        opening=moves[:opening],
                        moves=tuple(
                            MoveRecord(move, cp=10 + ply, depth=7, time=0.1, clock=60.0 - ply)
                            for ply, move in enumerate(moves[opening:])
                        ),
                        result=ENDS[share],
                        termination=Termination.REPETITION if share == 0.5 else Termination.TIME,
                        started="2026-01-02T03:04:05+00:00",
                    )
                )  # fmt: skip
                played += 1
                score = share if white == pair.key.first else 1 - share
                results.setdefault(pair.key, {})[game] = score
    kept.close()
    return path
