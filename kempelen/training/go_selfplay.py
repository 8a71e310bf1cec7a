"""Generate self-play games with the compiled Go search, and store them in text files.

The first line of a file is its manifest as JSON. Every other line holds the number of a game, the
number of its random opening moves, the result for Black, and the moves. A move is two SGF letters,
and a pass is "--". With targets for a network, these follow as JSON. The file is the same for any
number of workers, and after any interruption.
"""

import contextlib
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from agent.games.go import Go
from agent.games.stones import PASS
from agent.go.network_file import MAX_TRAINED_KOMI, MIN_TRAINED_KOMI
from agent.go.parts import GO
from agent.io.append_file import AppendFile
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import read_bytes, replace_atomically
from agent.io.text_files import read_text
from agent.kernel import compilation
from agent.kernel.source_digest import GO_NETWORK, PATTERN_WEIGHTS, sources_digest, weights_digest
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
# With targets: games are played to the end with a probability of END_SHARE, and until ply
# SAMPLED_PLIES a move is drawn by its visits, with a probability of SAMPLED_SHARE, from those with
# at least MIN_VISIT_SHARE of the most visits. At most MAX_MOVES moves of a position are stored.
END_SHARE, SAMPLED_PLIES, SAMPLED_SHARE = 0.2, 14, 0.7
MIN_VISIT_SHARE, MAX_MOVES = 0.1, 24
_LETTERS = "abcdefghijklmnopqrs"
_PASS = "--"


@dataclass(frozen=True)
class GoSelfPlayPlan:
    """The settings of self-play. A game depends only on these settings and its number.

    Games begin with `random_plies` random moves, and every second game with one more. With targets,
    they begin with 0 to 2 * `random_plies` random moves.
    """

    size: int | str = 9
    komi: float = 7.5
    playouts: int = 1000
    random_plies: int = 4
    seed: int = 1
    targets: bool = False

    def manifest(self, version: str) -> dict[str, Any]:
        weights = weights_digest(PATTERN_WEIGHTS, GO_NETWORK)
        player = {"kernel": sources_digest(), "weights": weights}
        plan = asdict(self)
        if not self.targets:
            del plan["targets"]
        return {"game": "go", "engine": version, "licence": LICENCE, **plan, **player}


@dataclass(frozen=True)
class GoTargets:
    """What a network learns from a game.

    For each position after the opening, `visits` holds the most visited moves and their visits, and
    `values` the expected result for Black, from -1 to 1. `owners` holds the mean final owner of
    each point, from -100 (White) to 100 (Black), in rows from the bottom.
    """

    komi: float
    visits: tuple[tuple[tuple[int, int], ...], ...]
    values: tuple[float, ...]
    owners: tuple[int, ...]


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
    targets: GoTargets | None = None


def random_opening(size: int | str, plies: int, seed: str) -> list[int]:
    """Return `plies` random opening moves, or fewer if no such move is left.

    On boards larger than 6x6, no move is on the two lines nearest to the edge.
    """
    game, random = Go(size), Random(seed)
    columns, rows = (
        range(2, edge - 2) if edge > 6 else range(edge) for edge in (game.width, game.height)
    )
    inner = {game.stones.shape.vertex(x, y) for x in columns for y in rows}
    moves = []
    for _ in range(plies):
        choices = [move for move in game.candidate_moves() if move in inner]
        if not choices:
            break
        moves.append(random.choice(choices))
        game.play(moves[-1])
    return moves


def run_search(search: "GoSearch", game: Go, limits: Limits[int]) -> Info[int]:
    """Run a search to its end, and return the last result."""
    search.clear_stop()
    *_, result = search.search(game, limits)
    return result


def play_game(
    searches: "Sequence[GoSearch]",
    game: Go,
    limits: Sequence[Limits[int]],
    moves: list[int],
    choose_move: Callable[[Info[int], float], int] = lambda result, black_value: result.pv[0],
    to_the_end: bool = False,
) -> int:
    """Play a game, append its moves to `moves`, and return 1 if Black won, -1 if White won.

    `searches` and `limits` are those of Black and White. `choose_move` receives the result of a
    search, and its value for Black. Unless `to_the_end`, the game ends early when both searches
    consider the result decided.
    """
    last_value, black_value = 0.0, 0.0
    while not game.is_over() and len(moves) < MAX_LENGTH_FACTOR * game.width * game.height:
        result = run_search(searches[game.turn], game, limits[game.turn])
        expected = result.expected_outcome or 0.0
        black_value = -expected if game.turn else expected
        decided = min(abs(last_value), abs(black_value)) > DECIDED_VALUE
        if decided and last_value * black_value > 0 and not to_the_end:
            break
        last_value = black_value
        moves.append(choose_move(result, black_value))
        game.play(moves[-1])
    # Dead stones may still be on the board. The playouts of the last search score them.
    return 1 if black_value > 0 else -1


class _TargetRecorder:
    """Stores the targets of each search, and chooses moves for varied games."""

    def __init__(self, search: "GoSearch", random: Random, moves: Sequence[int]) -> None:
        self._search = search
        self._random = random
        self._moves = moves
        self._visits: list[tuple[tuple[int, int], ...]] = []
        self._values: list[float] = []

    def choose_move(self, result: Info[int], black_value: float) -> int:
        visits = [(move, count) for move, count in self._search.root_visits() if count]
        self._visits.append(tuple(sorted(visits, key=lambda pair: -pair[1])[:MAX_MOVES]))
        self._values.append(round(black_value, 3))
        best = result.pv[0]
        sampled = len(self._moves) < SAMPLED_PLIES and best != PASS
        if not sampled or self._random.random() >= SAMPLED_SHARE:
            return best
        limit = MIN_VISIT_SHARE * max(count for _, count in visits)
        tried = {move: n for move, n in visits if n >= limit and move != PASS}
        return self._random.choices(list(tried), list(tried.values()))[0] if tried else best

    def targets(self, komi: float) -> GoTargets:
        owners = tuple(round(100 * share) for share in self._search.owners())
        return GoTargets(komi, tuple(self._visits), tuple(self._values), owners)


def _random_komi(random: Random) -> float:
    share = random.random()
    if share < 0.6:
        return 7.5
    if share < 0.85:
        return random.choice([5.5, 6.5, 7.0])
    return random.randint(2 * MIN_TRAINED_KOMI, 2 * MAX_TRAINED_KOMI) / 2


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
        return (self._play_with_targets if self._plan.targets else self._play)(number)

    def _play(self, number: int) -> GoGame:
        plan = self._plan
        game = Go(plan.size, plan.komi)
        opening = random_opening(plan.size, plan.random_plies + number % 2, f"{plan.seed}/{number}")
        for move in opening:
            game.play(move)
        searches = [self._search(2 * number + side) for side in range(2)]
        moves: list[int] = []
        result = play_game(searches, game, [Limits(nodes=plan.playouts)] * 2, moves)
        return GoGame(number, len(opening), result, (*opening, *moves))

    def _play_with_targets(self, number: int) -> GoGame:
        """Play a game with a random komi. One tree serves both sides."""
        plan = self._plan
        name = f"net/{plan.seed}/{number}"
        random = Random(name)
        game = Go(plan.size, _random_komi(random))
        opening = random_opening(plan.size, number % (2 * plan.random_plies + 1), name)
        for move in opening:
            game.play(move)
        search = self._search(number)
        to_the_end = random.random() < END_SHARE
        moves = list(opening)
        recorder = _TargetRecorder(search, random, moves)
        limits: list[Limits[int]] = [Limits(nodes=plan.playouts)] * 2
        searches = [search, search]
        result = play_game(searches, game, limits, moves, recorder.choose_move, to_the_end)
        return GoGame(number, len(opening), result, tuple(moves), recorder.targets(game.komi))

    def _search(self, number: int) -> "GoSearch":
        from agent.go.search import GoSearch
        from agent.kernel.backend import SearchConfig

        seed = self._plan.seed * 2_000_003 + number
        return GoSearch(SearchConfig(megabytes=MEGABYTES, seed=seed))


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

    line = f"{game.number} {game.opening} {game.result:+d} {''.join(map(text, game.moves))}"
    if game.targets is not None:
        line += f" {json.dumps(asdict(game.targets), separators=(',', ':'))}"
    return line


def _parse_targets(text: str, game: Go, searches: int) -> GoTargets:
    found = json.loads(text)
    vertices = {PASS, *game.stones.shape.vertices}
    targets = GoTargets(
        float(found["komi"]),
        tuple(tuple((int(move), int(n)) for move, n in pairs) for pairs in found["visits"]),
        tuple(map(float, found["values"])),
        tuple(map(int, found["owners"])),
    )
    if not len(targets.visits) == len(targets.values) == searches:
        raise ValueError("number of targets does not match the moves")
    if len(targets.owners) != game.width * game.height:
        raise ValueError("number of owners does not match the board")
    if not all(
        pairs and vertices.issuperset(move for move, _ in pairs) for pairs in targets.visits
    ):
        raise ValueError("invalid visits")
    return targets


def _parse_game(line: str, size: int | str) -> GoGame:
    number, first, result, text, *rest = line.split(" ", 4)
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
    targets = _parse_targets(rest[0], game, len(moves) - int(first)) if rest else None
    return GoGame(int(number), int(first), int(result), tuple(moves), targets)


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
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise GamesError(f"{path}, line {number}: invalid game ({error})") from None
    return manifest, games
