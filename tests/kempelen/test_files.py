"""Devices, pipes and oversized files are rejected without blocking."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.games.go import Go
from agent.games.nim import Nim
from agent.games.tree import read_tree
from agent.io import files, text_files
from agent.io.user_code import load_module
from agent.search.learned_positions import LearnedPositions
from kempelen import cli
from kempelen.match.config.settings import parse_settings
from kempelen.match.game.openings import with_file_digests
from kempelen.match.suites import epd_suite
from kempelen.match.tuning.spsa import Spsa, TunableParameter
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_writer import DatasetWriter
from openings import epd_book, game_book, names, pgn, pgn_book, polyglot, repertoire
from protocols.gtp.sgf import read as read_sgf
from protocols.mqtt.broker import Broker
from protocols.session import StdioSession

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such files there")

LIMIT = 30.0
TUNING = Spsa([TunableParameter("x", 1, 0, 2, step=1)], 10)


def chess_match(file: Path) -> Any:
    engines = [{"command": "chess", "protocol": "agent", "name": name} for name in "AB"]
    return with_file_digests(
        parse_settings({"engines": engines, "time": {"nodes": 1}, "openings": {"file": str(file)}})
    )


def log_to(file: Path) -> None:
    StdioSession(0, 1).log_to(str(file))


# For each reader: its function and the name of a file.
READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "book": (polyglot.open_book, "book.bin"),
    "names": (names.read, "book.names"),
    "repertoire": (lambda file: repertoire.read([file]), "lines.yaml"),
    "analysis": (lambda file: epd_book.read([file]), "analysed.epd"),
    "games": (pgn_book.check_readable, "games.pgn"),
    "book of a game": (lambda file: game_book.read(file, Go()), "book.yaml"),
    "evaluation": (lambda file: load_module(str(file), "evaluation"), "evaluation.py"),
    "tree": (read_tree, "tree.yaml"),
    "killer memory": (lambda file: LearnedPositions.from_file(file, Nim()), "killers.db"),
    "game of Go": (read_sgf, "game.sgf"),
    "suite": (epd_suite.read_epd_file, "suite.epd"),
    "state of a tuning": (TUNING.load, "state.json"),
    "openings": (chess_match, "openings.epd"),
    "positions": (Dataset, "positions.bin"),
    "written positions": (lambda file: DatasetWriter(file, {}, 1), "positions.bin"),
    "log": (log_to, "debug.log"),
}
STREAMED = ("games", "analysis", "positions", "written positions", "log", "book")


@pytest.fixture
def in_time() -> Iterator[None]:
    """Raise an error if a call blocks."""

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"still waiting after {LIMIT} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test at once if memory is filled from an endless file."""
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("reader", READERS)
def test_pipes_and_devices_are_rejected(
    reader: str, kind: str, tmp_path: Path, in_time: None, no_room: None
) -> None:
    read, name = READERS[reader]
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(Exception, match="not a regular file"):
        read(path)


@pytest.mark.parametrize("reader", [each for each in READERS if each not in STREAMED])
def test_oversized_file_is_rejected(
    reader: str, tmp_path: Path, in_time: None, no_room: None
) -> None:
    read, name = READERS[reader]
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(Exception, match=r"(larger than|at most) \d+ KiB"):
        read(tmp_path / name)


def test_size_limit_applies_to_files_of_unknown_size() -> None:
    """Files such as those in /proc have size 0."""
    path = Path("/proc/self/maps")
    if not path.exists():
        pytest.skip("there is no /proc")
    assert text_files.read_text(path)
    with pytest.raises(OSError, match="larger than 1 KiB"):
        files.read_bytes(path, 1 << 10)


def test_line_endings_are_normalised_and_long_lines_are_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\r\ntwo\rthree\n" + b"4" * 25)
    assert text_files.read_text(path) == "one\ntwo\nthree\n" + "4" * 25
    monkeypatch.setattr(files, "MAX_LINE_LENGTH", 10)
    with files.open_file(path) as file:
        assert [*files.iter_lines(file)][1:] == [b"two\rthree\n", b"4" * 10, b"4" * 10, b"4" * 5]
    monkeypatch.setattr(text_files, "MAX_LINE_LENGTH", 10)
    with text_files.open_text(path) as text:
        assert [*iter(text.readline, "")][3:] == ["4" * 10, "4" * 10, "4" * 5]


def test_game_with_an_unclosed_comment_is_limited_in_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pgn, "MAX_GAME_LENGTH", 1000)
    damaged = ['[White "A"]\n', "\n", "1. e4 { no end\n", *["and on\n"] * 500]
    good = ['[White "B"]\n', '[Result "1-0"]\n', "\n", "1. d4 1-0\n"]
    found = list(pgn.read_games([*damaged, *good]))
    assert [game.tags.get("White") for game in found] == ["A", "B"]
    assert max(len(game.movetext) for game in found) <= 1000
    assert found[-1].main_line(2) == ["d4"]


def credentials(path: Path) -> Broker:
    return Broker.from_url("mqtt://localhost", credentials=str(path))


def test_credentials_may_come_from_a_pipe(tmp_path: Path, in_time: None) -> None:
    """Pipes, as the shell creates for <(...), can be read."""
    reading, writing = os.pipe()
    os.write(writing, b"user\nsecret\n")
    os.close(writing)
    broker = credentials(Path(f"/dev/fd/{reading}"))
    os.close(reading)
    assert (broker.user, broker.password) == ("user", "secret")
    with pytest.raises(ValueError, match="not a regular file"):
        credentials(Path("/dev/zero"))


def test_ratings_accept_a_pipe_but_not_a_device(
    capsys: pytest.CaptureFixture[str], in_time: None, no_room: None
) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    os.close(writing)
    assert cli.main(["match", "ratings", f"/dev/fd/{reading}"]) == 0
    os.close(reading)
    assert cli.main(["match", "ratings", "/dev/zero"]) == 2
    assert "/dev/zero: not a regular file" in capsys.readouterr().err


def test_tournament_rejects_a_device(capsys: pytest.CaptureFixture[str], in_time: None) -> None:
    assert cli.main(["match", "/dev/zero"]) == 2
    assert "/dev/zero: not a regular file" in capsys.readouterr().err
