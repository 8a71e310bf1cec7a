"""Generate opening sets from random moves that lead to nearly equal positions.

Run `python -m kempelen.match.game.generate_openings --help` for the options. A UCI engine scores
the positions. A short search after each ply rejects blunders early, and a longer search scores the
final position.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import chess

from agent.io.command_line import split_command_line
from agent.limits import Cp
from protocols.client.uci import SearchRequest, UciClient


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """Random plies per opening, score limits in centipawns, and node limits of the two searches."""

    plies: int = 8
    max_score: int = 40
    max_step_score: int = 60
    step_nodes: int = 2_000
    nodes: int = 100_000


async def generate(
    engine: UciClient, settings: GeneratorSettings, seed: int
) -> AsyncIterator[chess.Board]:
    """Yield distinct balanced positions forever, reproducible for the same engine and `seed`."""
    generator = random.Random(seed)
    seen: set[str] = set()
    while True:
        board = await _walk(engine, settings, generator)
        if board is None or board.epd() in seen:
            continue
        if abs(await _score(engine, board, settings.nodes)) <= settings.max_score:
            seen.add(board.epd())
            yield board


async def _walk(
    engine: UciClient, settings: GeneratorSettings, generator: random.Random
) -> chess.Board | None:
    """Return the position after random plies, or None if it is unsuitable as an opening."""
    board = chess.Board()
    for _ in range(settings.plies):
        board.push(generator.choice(sorted(board.legal_moves, key=chess.Move.uci)))
        if board.is_game_over():
            return None
        if abs(await _score(engine, board, settings.step_nodes)) > settings.max_step_score:
            return None
    return None if board.is_check() else board


async def _score(engine: UciClient, board: chess.Board, nodes: int) -> int:
    request = SearchRequest(board.fen(), nodes=nodes)
    answer = await engine.search(request, 600)
    if answer.info is None or not isinstance(answer.info.score, Cp):
        return 100_000
    return answer.info.score.value


async def _main(arguments: argparse.Namespace) -> None:
    command, *rest = split_command_line(arguments.engine)
    engine = UciClient(command, rest, start_limit=120)
    settings = GeneratorSettings(
        plies=arguments.plies, max_score=arguments.balance, nodes=arguments.nodes
    )
    try:
        await engine.start()
        lines = []
        async for board in generate(engine, settings, arguments.seed):
            lines.append(board.epd(hmvc=board.halfmove_clock, fmvn=board.fullmove_number))
            if sys.stderr.isatty():
                print(f"\r{len(lines)}/{arguments.count}", end="", file=sys.stderr)
            if len(lines) == arguments.count:
                break
        Path(arguments.output).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        print(f"{arguments.output}: {len(lines)} openings, scored by {engine.name}")
    finally:
        await engine.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="generate a set of short, balanced openings (EPD)")
    parser.add_argument("--engine", required=True, help="UCI engine: command and arguments")
    parser.add_argument("--output", required=True, help="EPD file to write")
    parser.add_argument("--count", type=int, default=600, help="number of openings")
    parser.add_argument("--plies", type=int, default=8, help="number of random plies")
    parser.add_argument(
        "--balance", type=int, default=40, help="maximum score of an opening, in centipawns"
    )
    parser.add_argument("--nodes", type=int, default=100_000, help="nodes for the final search")
    parser.add_argument("--seed", type=int, default=1, help="random seed for the plies")
    asyncio.run(_main(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
