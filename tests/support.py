"""What several tests share: programs that may be missing, and engines to play with."""

import contextlib
import functools
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import chess
import pytest
from hypothesis import strategies as st

from agent.game import parse_move
from agent.games import catalogue
from agent.kernel import decorators
from agent.limits import Info, Limits, Mate
from agent.search.catalogue import algorithm

Function = TypeVar("Function", bound=Callable[..., Any])

ROOT = Path(decorators.__file__).parents[2]
# Those whose types are checked: all that is ours to ship.
PACKAGES: tuple[str, ...] = tuple(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["packages"]
)
FAILING = str(Path(__file__).with_name("failing_engine.py"))
FAILING_GTP = str(Path(__file__).with_name("failing_gtp.py"))
FAILING_XBOARD = str(Path(__file__).with_name("failing_xboard.py"))

# A black and a white chain share their last liberty, E1. The player who moves there wins, so even
# a short search sees that Black's pass is a blunder.
BLUNDER_SGF = (
    "(;GM[1]SZ[5]KM[-7.5]AB[ad][bd][cd][dd][ed]"
    "AW[ac][bc][cc][dc][ec][bb][db][ae][be][ce][de];B[];W[ee])"
)

# Every character there is, halves of characters too.
ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["[/b]x", "[red]", ":smile:", "\x1b[31m", "a\nb", "\u202eabc", "x" * 3000]
)

SMALL = {"go": {"size": 3}}


def searching(kind: Any, evaluate: Any, **options: Any) -> Any:
    """Return a search by an algorithm, a class or its name, with options by their names."""
    kind = algorithm(kind) if isinstance(kind, str) else kind
    return kind(evaluate, kind.options(**options))


def small_game(name: str) -> Any:
    """Return a game, on a board small enough to look at every position of many games."""
    return catalogue.new_game(name, **SMALL.get(name, {}))


def played(game: Any, *moves: str, **options: Any) -> Any:
    """Return a game, given or by its name, after moves in text."""
    if isinstance(game, str):
        game = catalogue.new_game(game, **options)
    for move in moves:
        game.play(parse_move(game, move))
    return game


def board_after(moves: str, fen: str = chess.STARTING_FEN) -> chess.Board:
    """Return a chess board after moves in UCI notation."""
    board = chess.Board(fen)
    for move in moves.split():
        board.push_uci(move)
    return board


def last_info(search: Any, position: Any, limits: Limits[Any]) -> Info[Any]:
    """Return the last result of a search."""
    search.clear_stop()
    return list(search.search(position, limits))[-1]


def mates(board: chess.Board, info: Info[Any]) -> bool:
    """Return whether a line reports a mate; check that its variation is legal and ends in it."""
    if not isinstance(info.score, Mate):
        return False
    replay = board.copy()
    for move in info.pv:
        assert move in replay.legal_moves, replay.fen()
        replay.push(move)
    assert replay.is_checkmate(), (board.fen(), info)
    assert len(info.pv) == 2 * abs(info.score.moves) - (info.score.moves > 0), (board.fen(), info)
    return True


def failing(failure: str, after: int = 1) -> tuple[str, tuple[str, ...]]:
    """Return command and arguments of an engine that fails in its `after`-th search."""
    return sys.executable, (FAILING, failure, str(after))


def failing_xboard(failure: str, after: int = 1) -> tuple[str, tuple[str, ...]]:
    """Return command and arguments of such an engine that speaks xboard's protocol."""
    return sys.executable, (FAILING_XBOARD, failure, str(after))


def failing_gtp(failure: str, after: int = 1) -> tuple[str, tuple[str, ...]]:
    """Return command and arguments of such an engine that speaks GTP."""
    return sys.executable, (FAILING_GTP, failure, str(after))


def factory_fixture(make: Callable[..., Any], close: Callable[[Any], Any]) -> Any:
    """Return a fixture: a function like `make`, whose results are closed after the test."""

    @pytest.fixture
    def factory() -> Iterator[Callable[..., Any]]:
        with contextlib.ExitStack() as stack:

            def make_one(*arguments: Any, **options: Any) -> Any:
                made = make(*arguments, **options)
                stack.callback(close, made)
                return made

            yield make_one

    return factory


def compiled_when_called(signature: Any) -> Callable[[Function], Function]:
    """Make an entry point of the kernels that is compiled when a test first calls it.

    One of `entry` would be compiled by every worker, where it collects the tests.
    """

    def decorate(function: Function) -> Function:
        compiled = functools.cache(lambda: decorators.entry_point(signature)(function))

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return compiled()(*arguments)

        return cast(Function, call)

    return decorate


def compiling_python(code: str, cache: Path, root: Path = ROOT) -> subprocess.Popen[str]:
    """Start Python on some code, with the sources in `root` and compiled kernels in `cache`."""
    environment = {**os.environ, decorators.CACHE_VARIABLE: str(cache), "PYTHONPATH": str(root)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    )


def failing_processes() -> dict[int, str]:
    """Return the processes of failing engines that this worker of the tests has started.

    Other workers' have another name of a worker in their environment.
    """
    worker = f"PYTEST_XDIST_WORKER={os.environ.get('PYTEST_XDIST_WORKER', '')}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if FAILING not in command:
                continue
            if worker.endswith(b"=") or worker in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = command
    return found
