"""Games of Go that the compiled search plays against itself, kept as lines of text.

The first line of a file is its manifest, as JSON; every other is a game: its number, how many of
its moves were random, Black's result, and the moves, in SGF's letters with "--" for a pass. A game
follows from the manifest and its number alone, and they are written in their order: the file is
the same whoever plays them, and however often it was interrupted.
"""

import contextlib
import json
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.parts import GO
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import name_in_errors, read_text, replace_atomically
from agent.kernel import compilation
from agent.kernel.source_digest import PATTERN_WEIGHTS, sources_digest, weights_digest
from agent.limits import Info, Limits
from kempelen.training.workers import LocalProcesses, Workers

if TYPE_CHECKING:
    from agent.go.search import GoSearch

MAX_FILE_BYTES = 1 << 30
LICENCE = "GPL-3.0-or-later"
MEGABYTES = 16
# Both sides see a game won from here on, from 0 to 1; and how many moves it may have at most.
DECIDED_VALUE = 0.95
MAX_LENGTH_FACTOR = 3
_LETTERS = "abcdefghijklmnopqrs"
_PASS = "--"


class GoGamesError(Exception):
    """A file of games cannot be used; the message says why."""


@dataclass(frozen=True)
class GoSelfPlayPlan:
    """What is played: together with a game's number it determines the game."""

    size: int | str = 9
    komi: float = 7.5
    playouts: int = 1000
    random_plies: int = 4
    seed: int = 1

    def manifest(self, version: str) -> dict[str, Any]:
        """Return what a file of such games says of itself."""
        player = {"kernel": sources_digest(), "weights": weights_digest(PATTERN_WEIGHTS)}
        return {"game": "go", "engine": version, "licence": LICENCE, **asdict(self), **player}


@dataclass(frozen=True)
class GoGame:
    """A game that was played. result: 1 if Black won, -1 if White did. opening: random plies."""

    number: int
    opening: int
    result: int
    moves: tuple[int, ...]


def random_opening(size: int | str, plies: int, seed: str) -> list[int]:
    """Return random moves to begin with, off the two lines at the edge of larger boards."""
    game, chance = Go(size), Random(seed)
    columns, rows = (
        range(2, edge - 2) if edge > 6 else range(edge) for edge in (game.width, game.height)
    )
    inner = {game.stones.shape.vertex(x, y) for x in columns for y in rows}
    moves = []
    for _ in range(plies):
        move = chance.choice([move for move in game.candidate_moves() if move in inner] or [PASS])
        game.play(move)
        moves.append(move)
    return moves


def run_search(search: "GoSearch", game: Go, limits: Limits[int]) -> Info[int]:
    """Return what a search finds in the end."""
    search.clear_stop()
    *_, last = search.search(game, limits)
    return last


def play_game(
    searches: "Sequence[GoSearch]", game: Go, limits: Limits[int]
) -> tuple[list[int], int]:
    """Play a game on, Black's search and White's; return the moves, and 1 if Black won or -1.

    A game is over when both see it decided.
    """
    moves: list[int] = []
    last, favour = 0.0, 0.0
    while not game.is_over() and len(moves) < MAX_LENGTH_FACTOR * game.width * game.height:
        found = run_search(searches[game.turn], game, limits)
        expected = found.expected_outcome or 0.0
        favour = -expected if game.turn else expected
        if min(abs(last), abs(favour)) > DECIDED_VALUE and last * favour > 0:
            break
        last = favour
        game.play(found.pv[0])
        moves.append(found.pv[0])
    # Dead stones may still be on the board: the playouts of the last search know them.
    return moves, 1 if favour > 0 else -1


class GoSelfPlay:
    """Plays the games of a plan, by their numbers."""

    def __init__(self, plan: GoSelfPlayPlan) -> None:
        """Prepare it, compiling the search if need be."""
        from agent.go import pattern_weights

        self._plan = plan
        if wrong := pattern_weights.shipped_weights()[1]:
            raise GoGamesError(wrong)
        if not compilation.is_cached(GO):
            compilation.warm_up(None, (GO,))

    def play(self, number: int) -> GoGame:
        """Play a game."""
        from agent.go.search import GoSearch
        from agent.kernel.backend import SearchConfig

        plan = self._plan
        game = Go(plan.size, plan.komi)
        first = random_opening(plan.size, plan.random_plies + number % 2, f"{plan.seed}/{number}")
        for move in first:
            game.play(move)
        searches = [
            GoSearch(
                SearchConfig(megabytes=MEGABYTES, seed=plan.seed * 2_000_003 + 2 * number + side)
            )
            for side in range(2)
        ]
        moves, result = play_game(searches, game, Limits(nodes=plan.playouts))
        return GoGame(number, len(first), result, (*first, *moves))


def create_checked_player(task: tuple[GoSelfPlayPlan, dict[str, Any]]) -> GoSelfPlay:
    """Make what plays the games of a plan on any machine.

    Raises GoGamesError if it would play others there.
    """
    plan, manifest = task
    here = plan.manifest(manifest["engine"])
    if changed := describe_changes(manifest, here):
        raise GoGamesError(f"other games would be played there ({'; '.join(changed)})")
    return GoSelfPlay(plan)


def generate(
    path: Path,
    plan: GoSelfPlayPlan,
    version: str,
    games: int,
    processes: int = 1,
    remote_workers: Workers | None = None,
) -> Generator[int, None, None]:
    """Play until the file holds so many games; yield how many it holds, first what was there.

    elsewhere: who plays in place of so many processes.
    Raises GoGamesError if the file cannot be used, GamesError if a worker fails; what has been
    written stays, and the same call goes on from there.
    """
    manifest = plan.manifest(version)
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock_or_raise(path, GoGamesError))
        there = _open_file(path, manifest)
        yield there
        if there >= games:
            return
        workers = remote_workers or LocalProcesses(processes)
        numbers = range(there, games)
        made = workers.games(create_checked_player, (plan, manifest), numbers, (GoGamesError,))
        stack.enter_context(contextlib.closing(made))
        for number, game in enumerate(made, there + 1):
            with name_in_errors(path), path.open("a", encoding="utf-8") as file:
                file.write(format_game(game, plan.size) + "\n")
            yield number


def _open_file(path: Path, manifest: dict[str, Any]) -> int:
    """Begin a file, or go on with one that has the same manifest; return how many games it has."""
    if not path.exists() or not path.stat().st_size:
        replace_atomically(path, f"{json.dumps(manifest)}\n".encode())
        return 0
    before, games = read(path)
    if changed := describe_changes(before, manifest):
        reasons = "; ".join(changed)
        raise GoGamesError(f"{path} was begun otherwise ({reasons}): name another file")
    with name_in_errors(path), path.open("r+b") as file:
        # What was being written when the last run was ended.
        file.truncate(file.read().rfind(b"\n") + 1)
    return len(games)


def format_game(game: GoGame, size: int | str) -> str:
    """Write a game as a line."""
    shape = Go(size).stones.shape

    def text(move: int) -> str:
        if move == PASS:
            return _PASS
        column, row = shape.coordinates(move)
        return _LETTERS[column] + _LETTERS[shape.height - 1 - row]

    return f"{game.number} {game.opening} {game.result:+d} {''.join(map(text, game.moves))}"


def _parse_game(line: str, size: int | str) -> GoGame:
    """Read a game; ValueError for what is none."""
    number, first, result, text = line.split(" ")
    game = Go(size)
    shape = game.stones.shape
    moves = []
    for place in range(0, len(text), 2):
        letters = text[place : place + 2]
        if letters == _PASS:
            move = PASS
        else:
            column, row = (_LETTERS.index(letter) for letter in letters)
            if not (column < shape.width and row < shape.height):
                raise ValueError(f"{letters} is not on the board")
            move = shape.vertex(column, shape.height - 1 - row)
        if game.is_over() or not game.is_legal(game.turn, move):
            raise ValueError(f"move {place // 2 + 1} is not legal")
        game.play(move)
        moves.append(move)
    if result not in ("+1", "-1"):
        raise ValueError(f"{result} is no result")
    return GoGame(int(number), int(first), int(result), tuple(moves))


def read(path: Path) -> tuple[dict[str, Any], list[GoGame]]:
    """Return a file's manifest and games; a last line that is not whole is left out.

    Raises GoGamesError, which names the line, for a file that is damaged, and OSError.
    """
    try:
        lines = read_text(path, MAX_FILE_BYTES).split("\n")
    except ValueError as error:
        raise GoGamesError(f"{path}: {error}") from None
    try:
        manifest = json.loads(lines[0])
        size = manifest["size"]
        if manifest["game"] != "go":
            raise ValueError("not of Go")
        Go(size, float(manifest["komi"]))
        str(manifest["licence"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise GoGamesError(f"{path} is no file of `kempelen selfplay --game go`") from None
    games = []
    for number, line in enumerate(lines[1:-1], 2):
        try:
            games.append(_parse_game(line, size))
            if games[-1].number != number - 2:
                raise ValueError(f"number {games[-1].number} comes out of turn")
        except ValueError as error:
            raise GoGamesError(f"{path}, line {number}: no game ({error})") from None
    return manifest, games
