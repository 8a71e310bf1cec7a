import os
import select
import threading

import pytest

from protocols import session as session_module
from protocols.session import StdioSession
from tests.systems import posix_only
from tests.waiting import PATIENCE


class Echo:
    """Answers each line with itself; `quit` ends, `later` answers from another thread."""

    def __init__(self):
        self.finished = False
        self.lines = []

    def handle_line(self, line):
        self.lines.append(line)
        self.finished = line == "quit"
        yield f"echo {line}"

    def handle_overlong_line(self):
        yield "too long"


class Pipes:
    """A session in its own thread, with the other ends of its pipes."""

    def __init__(self, protocol):
        source, self.write_end = os.pipe()
        self.read_end, sink = os.pipe()
        self.session = StdioSession(source, sink)
        self.thread = threading.Thread(target=self.session.run, args=(protocol,))
        self.descriptors = [source, sink, self.write_end, self.read_end]
        self.thread.start()

    def write(self, data):
        os.write(self.write_end, data)

    def end_input(self):
        self.close(self.write_end)

    def read(self):
        """Return all output until the session ends."""
        assert self.join()
        self.close(self.descriptors[1])
        with open(self.read_end, "rb", closefd=False) as output:
            return output.read().decode().splitlines()

    def join(self):
        self.thread.join(PATIENCE)
        return not self.thread.is_alive()

    def close(self, descriptor):
        index = self.descriptors.index(descriptor)
        os.close(descriptor)
        del self.descriptors[index]


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def pipes(echo):
    made = Pipes(echo)
    yield made
    if made.write_end in made.descriptors:
        made.end_input()
    assert made.join()
    for descriptor in list(made.descriptors):
        made.close(descriptor)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"dos\r\nunix\n", ["dos", "unix"]),
        (b"\n\n", ["", ""]),
        (b"no end", ["no end"]),
        (b"\xef\xbb\xbfuci\n", ["uci"]),
        (b"\xff\xfe\x00go\n", ["\\xff\\xfe\x00go"]),
        ("Philidor é\n".encode(), ["Philidor é"]),
    ],
)
def test_session_decodes_input_lines(pipes, echo, data, lines):
    pipes.write(data)
    pipes.end_input()
    assert pipes.read() == "".join(f"echo {line}\n" for line in lines).splitlines()
    assert echo.lines == lines


def test_line_may_arrive_in_pieces(pipes, echo):
    for piece in (b"iu", b"ci", b"\nis", b"ready", b"\n"):
        pipes.write(piece)
    pipes.end_input()
    assert pipes.join()
    assert echo.lines == ["iuci", "isready"]


@pytest.fixture
def short_lines(monkeypatch):
    monkeypatch.setattr(session_module, "MAX_LINE_LENGTH", 100)


def test_overlong_line_is_dropped(short_lines, pipes, echo):
    for data in (b"x" * 60, b"x" * 60, b"x\nshort\n", b"y" * 100 + b"\n", b"z" * 101):
        pipes.write(data)
    pipes.end_input()
    assert pipes.read() == ["too long", "echo short", "echo " + "y" * 100, "too long"]


def test_quit_ends_session_despite_remaining_input(pipes, echo):
    pipes.write(b"quit\nmore\n")
    assert pipes.read() == ["echo quit"]
    assert echo.lines == ["quit"]


def test_closed_output_ends_session(pipes):
    pipes.close(pipes.read_end)
    pipes.write(b"anybody there?\n")
    assert pipes.join()


def test_lines_from_many_threads_are_not_interleaved(pipes):
    def chatter(number):
        for _ in range(100):
            pipes.session.send(str(number) * 50)

    heard = []

    def listen():
        with open(pipes.read_end, closefd=False) as output:
            heard.extend(output.readline().rstrip("\n") for _ in range(400))

    threads = [threading.Thread(target=chatter, args=(number,)) for number in range(4)]
    threads.append(threading.Thread(target=listen))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(heard) == sorted(str(number) * 50 for number in range(4) for _ in range(100))


def test_log_records_both_directions(pipes, tmp_path):
    log = tmp_path / "debug.log"
    pipes.session.log_to(str(log))
    pipes.write(b"hello\n")
    pipes.end_input()
    assert pipes.read() == ["echo hello"]
    pipes.session.log_to("")
    words = [line.split(" ", 1)[1] for line in log.read_text(encoding="utf-8").splitlines()]
    assert words == ["> hello", "< echo hello"]


def test_failure_to_open_log_keeps_the_previous_log(pipes, tmp_path):
    log = tmp_path / "debug.log"
    pipes.session.log_to(str(log))
    with pytest.raises(OSError, match="directory"):
        pipes.session.log_to(str(tmp_path))
    pipes.session.send("still here")
    pipes.session.log_to("")
    assert "still here" in log.read_text(encoding="utf-8")


class Waiting(Echo):
    """Handles its first line until it is released."""

    def __init__(self):
        super().__init__()
        self.handling, self.release = threading.Event(), threading.Event()

    def handle_line(self, line):
        self.handling.set()
        assert self.release.wait(PATIENCE)
        yield from ()


@posix_only("a closed pipe is noticed only when it is written to")
@pytest.mark.parametrize("echo", [Waiting()])
def test_closed_output_is_noticed_while_a_line_is_handled(pipes, echo):
    pipes.write(b"genmove b\n" * 400)
    assert echo.handling.wait(PATIENCE)
    pipes.close(pipes.read_end)
    assert pipes.join()
    echo.release.set()


@posix_only("a closed pipe is noticed only when it is written to")
def test_closed_output_is_noticed_before_any_line(pipes):
    pipes.close(pipes.read_end)
    assert pipes.join()


@posix_only("needs poll")
def test_terminal_that_poll_does_not_support_is_open(monkeypatch):
    class Poll:
        def register(self, descriptor, events):
            self.descriptor = descriptor

        def poll(self, timeout):
            return [(self.descriptor, select.POLLNVAL)]

    monkeypatch.setattr(select, "poll", Poll)
    assert not session_module.is_hung_up(1)
