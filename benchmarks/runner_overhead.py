"""Games per minute of the match runner, compared with a python-chess loop on the same games.

Run as `python benchmarks/runner_overhead.py [--games N] [--nodes N] [--json FILE]`. Both play the
built-in openings with colours swapped, one game at a time, at fixed nodes. The benchmark checks
that the games are the same.
"""

import argparse
import asyncio
import json
import shutil
import sys
import time

import chess
import chess.engine

from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.settings import Settings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.openings import Opening, load_openings, select_opening
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.records.ledger import Ledger
from kempelen.match.runner import LocalExecutor, Runner


def find_engine() -> str:
    """Return the path of Stockfish. Exits if it is missing."""
    path = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
    if path is None:
        sys.exit("stockfish is needed: run scripts/install-debian-packages")
    return path


def settings_for(command: str, games: int, nodes: int) -> Settings:
    """Return the settings of the match."""
    engine = EngineSettings(command, options={"Hash": 16})
    return Settings((engine, engine), TimeControl(nodes=nodes), games=games).with_unique_names()


async def with_runner(settings: Settings) -> list[list[str]]:
    """Return the moves of the games that the runner plays."""
    ledger = Ledger()
    ledger.begin(settings, resume=False)
    await Runner(settings, ledger).run(LocalExecutor(settings))
    return [[*r.opening, *(move.move for move in r.moves)] for r in ledger.records()]


def with_python_chess(settings: Settings) -> list[list[str]]:
    """Return the moves of the games that a python-chess loop plays."""
    openings = load_openings(settings.openings)
    played = []
    engines = [chess.engine.SimpleEngine.popen_uci(e.command) for e in settings.engines]
    try:
        for engine in engines:
            engine.configure({"Hash": 16})
        for pair in due_pairs(settings, {}):
            for game in pair.games:
                opening = select_opening(openings, settings, pair.key.round, pair.key.number)
                sides = (engines[pair.key.white(game)], engines[pair.key.black(game)])
                played.append(_one_game(sides, opening, settings.time.nodes, object()))
    finally:
        for engine in engines:
            engine.quit()
    return played


def _one_game(
    sides: tuple[chess.engine.SimpleEngine, ...], opening: Opening, nodes: int | None, game: object
) -> list[str]:
    board = chess.Board(opening.fen)
    limit = chess.engine.Limit(nodes=nodes)
    while not (board.is_game_over() or board.is_repetition(3) or board.halfmove_clock >= 100):
        engine = sides[0] if board.turn == chess.WHITE else sides[1]
        result = engine.play(board, limit, game=game, info=chess.engine.INFO_SCORE)
        assert result.move is not None
        board.push(result.move)
    return [move.uci() for move in board.move_stack]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    settings = settings_for(find_engine(), arguments.games, arguments.nodes)
    began = time.perf_counter()
    ours = asyncio.run(with_runner(settings))
    middle = time.perf_counter()
    theirs = with_python_chess(settings)
    end = time.perf_counter()
    plies = sum(map(len, ours))
    rows = {
        "kempelen": {"games_per_minute": 60 * len(ours) / (middle - began)},
        "python-chess": {"games_per_minute": 60 * len(theirs) / (end - middle)},
    }
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{arguments.games} games at {arguments.nodes} nodes a move, {plies} plies, {same} the same"
    )
    for name, row in rows.items():
        print(f"{name:14} {row['games_per_minute']:8.1f} games/min")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"same": same, "plies": plies, **rows}, file)


if __name__ == "__main__":
    main()
