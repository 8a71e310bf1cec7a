"""Generate self-play games with the compiled Go search, and store them in text files.

The first line of a file is its manifest as JSON. Every other line holds the number of a game, the
number of its random opening moves, the result for Black, and the moves. A move is two SGF letters,
and a pass is "--". The file is the same for any number of workers, and after any interruption.
"""

import contextlib
import json
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.parts import GO
from agent.io.append_file import AppendFile
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import read_bytes, replace_atomically
from agent.io.text_files import read_text
from agent.kernel import compilation
from agent.kernel.source_digest import PATTERN_WEIGHTS, sources_digest, weights_digest
from agent.limits import Info, Limits
from kempelen.training.workers import GamesError, LocalProcesses, Workers

if TYPE_CHECKING:
    from agent.go.search import GoSearch

MAX_FILE_BYTES = 1 << 30
LICENCE = "GPL-3.0-or-later"
MEGABYTES = 16
# A game ends when both sides agree on a value of at least DECIDED_VALUE (0 to 1) for one side,
# or after this many moves per point of the board.
DECIDED_VALUE = 0.95
MAX_LENGTH_FACTOR = 3
_LETTERS = "abcdefghijklmnopqrs"
_PASS = "--"


@dataclass(frozen=True)
class GoSelfPlayPlan:
    """The settings of self-play. A game depends only on these settings and its number."""

    size: int | str = 9
    komi: float = 7.5
    playouts: int = 1000
    random_plies: int = 4
    seed: int = 1

    def manifest(self, version: str) -> dict[str, Any]:
        player = {"kernel": sources_digest(), "weights": weights_digest(PATTERN_WEIGHTS)}
        return {"game": "go", "engine": version, "licence": LICENCE, **asdict(self), **player}


@dataclass(frozen=True)
class GoGame:
    """A finished game.

    `result` is 1 if Black won, and -1 if White won. `opening` is the number of random moves at the
    start.
    """

    number: int
    opening: int
    result: int
    moves: tuple[int, ...]


def random_opening(size: int | str, plies: int, seed: str) -> list[int]:
    """Return `plies` random opening moves, with passes if no other move is possible.

    On boards larger than 6x6, no move is on the two lines nearest to the edge.
    """
    game, random = Go(size), Random(seed)
    columns, rows = (
        range(2, edge - 2) if edge > 6 else range(edge) for edge in (game.width, game.height)
    )
    inner = {game.stones.shape.vertex(x, y) for x in columns for y in rows}
    moves = []
    for _ in range(plies):
        move = random.choice([move for move in game.candidate_moves() if move in inner] or [PASS])
        game.play(move)
        moves.append(move)
    return moves


def run_search(search: "GoSearch", game: Go, limits: Limits[int]) -> Info[int]:
    """Run a search to its end, and return the last result."""
    search.clear_stop()
    *_, result = search.search(game, limits)
    return result


def play_game(
    searches: "Sequence[GoSearch]", game: Go, limits: Limits[int]
) -> tuple[list[int], int]:
    """Play a game, and return its moves and its result (1 if Black won, -1 if White won).

    The game ends early when both searches consider the result decided.
    """
    moves: list[int] = []
    last_value, black_value = 0.0, 0.0
    while not game.is_over() and len(moves) < MAX_LENGTH_FACTOR * game.width * game.height:
        result = run_search(searches[game.turn], game, limits)
        expected = result.expected_outcome or 0.0
        black_value = -expected if game.turn else expected
        if min(abs(last_value), abs(black_value)) > DECIDED_VALUE and last_value * black_value > 0:
            break
        last_value = black_value
        game.play(result.pv[0])
        moves.append(result.pv[0])
    # Dead stones may still be on the board. The playouts of the last search score them.
    return moves, 1 if black_value > 0 else -1


class GoSelfPlay:
    def __init__(self, plan: GoSelfPlayPlan) -> None:
        """Compile the search if necessary. Raise GamesError if the weights are invalid."""
        from agent.go import pattern_weights

        self._plan = plan
        if error := pattern_weights.shipped_weights()[1]:
            raise GamesError(error)
        if not compilation.is_cached(GO):
            compilation.warm_up(None, (GO,))

    def play(self, number: int) -> GoGame:
        from agent.go.search import GoSearch
        from agent.kernel.backend import SearchConfig

        plan = self._plan
        game = Go(plan.size, plan.komi)
        opening = random_opening(plan.size, plan.random_plies + number % 2, f"{plan.seed}/{number}")
        for move in opening:
            game.play(move)
        searches = [
            GoSearch(
                SearchConfig(megabytes=MEGABYTES, seed=plan.seed * 2_000_003 + 2 * number + side)
            )
            for side in range(2)
        ]
        moves, result = play_game(searches, game, Limits(nodes=plan.playouts))
        return GoGame(number, len(opening), result, (*opening, *moves))


def create_checked_player(plan: GoSelfPlayPlan, manifest: dict[str, Any]) -> GoSelfPlay:
    """Create a `GoSelfPlay` on a worker machine.

    Raise GamesError if its games would differ from those of the main machine.
    """
    local_manifest = plan.manifest(manifest["engine"])
    if changed := describe_changes(manifest, local_manifest):
        raise GamesError(f"this machine would play different games ({'; '.join(changed)})")
    return GoSelfPlay(plan)


def generate(
    path: Path,
    plan: GoSelfPlayPlan,
    version: str,
    games: int,
    processes: int = 1,
    remote_workers: Workers | None = None,
) -> Generator[int, None, None]:
    """Play until the file contains `games` games.

    Yield the number of games in the file at the start and after each game. After an error, the call
    can be repeated to continue. `remote_workers` replace the local processes if given. Raise
    GamesError if the file is unusable or a worker fails.
    """
    manifest = plan.manifest(version)
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock_or_raise(path, GamesError))
        n_games, size = _open_file(path, manifest)
        file = stack.enter_context(AppendFile(path, size))
        yield n_games
        if n_games >= games:
            return
        workers = remote_workers or LocalProcesses(processes)
        numbers = range(n_games, games)
        make = partial(create_checked_player, plan, manifest)
        played_games = workers.games(make, numbers, (GamesError,))
        stack.enter_context(contextlib.closing(played_games))
        for number, game in enumerate(played_games, n_games + 1):
            file.write(f"{format_game(game, plan.size)}\n".encode())
            yield number


def _open_file(path: Path, manifest: dict[str, Any]) -> tuple[int, int]:
    """Create or check a file. Return its number of games, and its size without a partial line."""
    if not path.exists() or not path.stat().st_size:
        line = f"{json.dumps(manifest)}\n".encode()
        replace_atomically(path, line)
        return 0, len(line)
    old_manifest, games = read(path)
    if changed := describe_changes(old_manifest, manifest):
        reasons = "; ".join(changed)
        raise GamesError(f"{path}: has other settings ({reasons}); use another file")
    return len(games), read_bytes(path, MAX_FILE_BYTES).rfind(b"\n") + 1


def format_game(game: GoGame, size: int | str) -> str:
    """Format a game as a line of a file."""
    shape = Go(size).stones.shape

    def text(move: int) -> str:
        if move == PASS:
            return _PASS
        column, row = shape.coordinates(move)
        return _LETTERS[column] + _LETTERS[shape.height - 1 - row]

    return f"{game.number} {game.opening} {game.result:+d} {''.join(map(text, game.moves))}"


def _parse_game(line: str, size: int | str) -> GoGame:
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
            raise ValueError(f"move {place // 2 + 1}: illegal move")
        game.play(move)
        moves.append(move)
    if result not in ("+1", "-1"):
        raise ValueError(f"{result}: invalid result (expected +1 or -1)")
    return GoGame(int(number), int(first), int(result), tuple(moves))


def read(path: Path) -> tuple[dict[str, Any], list[GoGame]]:
    """Read the manifest and the games of a file. Ignore an incomplete last line.

    Raise GamesError, with the line number, if the file is damaged, and OSError if reading fails.
    """
    try:
        lines = read_text(path, MAX_FILE_BYTES).split("\n")
    except ValueError as error:
        raise GamesError(f"{path}: {error}") from None
    try:
        manifest = json.loads(lines[0])
        size = manifest["size"]
        if manifest["game"] != "go":
            raise ValueError("not of Go")
        Go(size, float(manifest["komi"]))
        str(manifest["licence"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise GamesError(f"{path}: not a file of Go self-play games") from None
    games = []
    for number, line in enumerate(lines[1:-1], 2):
        try:
            games.append(_parse_game(line, size))
            if games[-1].number != number - 2:
                raise ValueError(f"unexpected game number {games[-1].number}")
        except ValueError as error:
            raise GamesError(f"{path}, line {number}: invalid game ({error})") from None
    return manifest, games
