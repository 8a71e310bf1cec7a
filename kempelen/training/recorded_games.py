"""Read recorded games as training examples: PGN (chess), SGF (Go), or text for any game.

In a text file, each line is a game: the moves in the game's notation, separated by spaces, and at
the end the result for the first player (1-0, 0-1, 1/2-1/2, or = and a number from -1 to 1). It may
be left out if the moves end the game. Lines that begin with # are comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move
from agent.games.catalogue import GameType
from agent.games.position_encoding import PositionEncoding
from agent.io.message import Message
from agent.io.read_report import ReadReport, UnusableGameError
from agent.io.text_files import read_lines
from kempelen.training.selfplay_batch import TrainingExample

RESULTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}
# Maximum number of moves and chance events of a game, and number of positions after which no more
# games of a file are read.
MAX_PLIES, MAX_POSITIONS = 2000, 200_000


@dataclass(frozen=True)
class RecordedGame:
    """The moves of a game in its notation, and the result for the first player, or None.

    `number` is the position in the file, from 1.
    """

    number: int
    moves: tuple[str, ...]
    result: float | None


def read_examples(
    path: Path,
    kind: GameType,
    options: dict[str, Any],
    encoding: PositionEncoding,
    report: ReadReport,
    *,
    with_moves: bool,
) -> list[list[TrainingExample]]:
    """Return the training examples of each game in a file.

    The targets are the move played, if `with_moves`, and the result. Games that cannot be used are
    skipped and reported. At most about `MAX_POSITIONS` positions are read. Raise ValueError if the
    file is unreadable or has no usable game.
    """

    def convert(game: RecordedGame) -> list[TrainingExample]:
        return _examples(kind.new(**options), game, encoding, with_moves=with_moves)

    found: list[list[TrainingExample]] = []
    try:
        count = 0
        for examples in report.select(_recorded_games(path, kind, options, report), convert):
            found.append(examples)
            count += len(examples)
            if count >= MAX_POSITIONS:
                break
    except OSError as error:
        raise ValueError(Message("{}: could not read the file: {}", path, error)) from None
    if not any(found):
        reason = report.reasons() if report.skipped else Message("no games found")
        raise ValueError(Message("{}: no usable games ({})", path, reason))
    return found


def _recorded_games(
    path: Path, kind: GameType, options: dict[str, Any], report: ReadReport
) -> Iterator[RecordedGame]:
    suffix = path.suffix.lower()
    for expected, name in ((".pgn", "chess"), (".sgf", "go")):
        if suffix == expected and kind.name != name:
            raise ValueError(
                Message("{}: {} files are games of {}, not of {}", path, suffix, name, kind.name)
            )
    if suffix == ".pgn":
        return _pgn_games(path, report)
    return _sgf_games(path, options, report) if suffix == ".sgf" else _text_games(path)


def _text_games(path: Path) -> Iterator[RecordedGame]:
    number = 0
    for line in read_lines(path):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        number += 1
        result = _result(words[-1])
        yield RecordedGame(number, tuple(words if result is None else words[:-1]), result)


def _result(word: str) -> float | None:
    if word in RESULTS:
        return RESULTS[word]
    if not word.startswith("="):
        return None
    try:
        number = float(word[1:])
    except ValueError:
        return None
    return number if -1 <= number <= 1 else None


def _pgn_games(path: Path, report: ReadReport) -> Iterator[RecordedGame]:
    from openings.pgn import PgnError, read_games  # lazy import: loads the chess package

    for game in read_games(read_lines(path)):
        try:
            if "FEN" in game.tags:
                raise UnusableGameError(
                    "another start position", kind="with another start position"
                )
            moves = tuple(move.uci() for move in game.parse(MAX_PLIES).mainline_moves())
        except (PgnError, UnusableGameError) as error:
            report.skip(game.number, error)
            continue
        yield RecordedGame(game.number, moves, RESULTS.get(game.result))


def _sgf_games(path: Path, options: dict[str, Any], report: ReadReport) -> Iterator[RecordedGame]:
    from agent.games.go import COLUMNS, Go
    from protocols.gtp import sgf

    game = Go(**options)
    try:
        trees = sgf.read_trees(path)
    except sgf.SgfError as error:
        raise ValueError(Message("{}: {}", path, error)) from None
    for number, tree in enumerate(trees, 1):
        try:
            record = sgf.read_main_section(tree)
            changed = any(record.stones) or record.first or record.start
            if record.size != (game.width, game.height) or changed:
                raise UnusableGameError(
                    "another board or start position", kind="with another start position"
                )
        except (sgf.SgfError, UnusableGameError) as error:
            report.skip(number, error)
            continue
        moves = tuple(
            "pass" if point is None else f"{COLUMNS[point[0]]}{point[1] + 1}"
            for _, point in record.moves
        )
        text = tree.get("RE").upper()
        result = {"B+": 1.0, "W+": -1.0}.get(text[:2], 0.0 if text in ("0", "DRAW") else None)
        yield RecordedGame(number, moves, result)


def _examples(
    game: NotatedGame[Any], recorded: RecordedGame, encoding: PositionEncoding, *, with_moves: bool
) -> list[TrainingExample]:
    positions: list[tuple[bytes, tuple[int, ...], tuple[float, ...], int]] = []
    if len(recorded.moves) > MAX_PLIES:
        raise UnusableGameError(
            "game too long (at most {} moves)", MAX_PLIES, kind="that are too long"
        )
    for number, text in enumerate(recorded.moves, 1):
        try:
            move = parse_move(game, text)
        except ValueError as error:
            raise UnusableGameError(
                "move {}: {}", number, error, kind="with an illegal move"
            ) from None
        if game.turn != CHANCE:
            moves = list(game.moves())
            indices: tuple[int, ...] = ()
            policy: tuple[float, ...] = ()
            if with_moves:
                indices = tuple(encoding.move_indices(game, moves))
                policy = tuple(1.0 if each == move else 0.0 for each in moves)
            positions.append((encoding.encode(game), indices, policy, -1 if game.turn else 1))
        game.play(move)
    outcome = game.outcome()
    result = recorded.result if outcome is None else max(-1.0, min(1.0, outcome))
    if result is None:
        raise UnusableGameError("the result is missing", kind="without a result")
    return [
        TrainingExample(encoded, indices, policy, sign * result)
        for encoded, indices, policy, sign in positions
    ]
