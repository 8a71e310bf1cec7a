"""Text of an engine is sanitized in names and error messages."""

import asyncio
import io
import os
from types import SimpleNamespace
from unittest.mock import AsyncMock, patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.io.sanitize import MAX_NAME_LENGTH, sanitize_line
from protocols.client.gtp import GtpClient
from protocols.client.process import EngineDiedError, EngineError, EngineProcess, IoLog
from protocols.client.uci import EngineOptionError, SearchRequest, UciClient
from protocols.client.xboard import XboardClient
from tests.support import ANY_TEXT

BYTES = st.binary(max_size=60) | ANY_TEXT.map(lambda text: text.encode("utf-8", "replace"))
# One line of it.
LINE = BYTES.map(lambda data: data.replace(b"\n", b"\r"))


class Program:
    """A process that has written its output and ended."""

    pid = 1
    returncode = 1

    def __init__(self, output, errors=b""):
        self.output, sink = os.pipe()
        os.write(sink, output)
        os.close(sink)
        self.stderr = asyncio.StreamReader()
        self.stderr.feed_data(errors)
        self.stderr.feed_eof()
        self.stdin = SimpleNamespace(
            is_closing=lambda: False, write=lambda data: None, close=lambda: None
        )

    async def wait(self):
        return self.returncode

    def terminate(self):
        pass


def running(process):
    return patch.object(EngineProcess, "start", AsyncMock(return_value=process))


def talk(kind, conversation, output, errors=b"", **options):
    """Start an engine with this output; return it, the error at its end, and the log."""
    log = io.StringIO()

    async def run():
        program = Program(output, errors)
        process = EngineProcess(program, program.output, IoLog(log))
        engine = kind("", start_limit=5, **options)
        try:
            with running(process), pytest.raises((EngineError, EngineOptionError)) as raised:
                await conversation(engine)
        finally:
            await engine.close()
        return engine, str(raised.value)

    engine, error = asyncio.run(run())
    assert all(line.isprintable() for line in log.getvalue().split("\n"))
    assert error.isprintable()
    assert engine.name.isprintable()
    assert len(engine.name) <= MAX_NAME_LENGTH
    return engine, error


@settings(deadline=None)
@given(LINE, LINE, BYTES)
def test_uci_engine_text_is_printable(name, thought, errors):
    async def conversation(engine):
        await engine.start()
        await engine.search(SearchRequest(None, nodes=1), 5)

    output = b"id name " + name + b"\nuciok\nreadyok\nreadyok\ninfo string " + thought + b"\n"
    engine, error = talk(UciClient, conversation, output, errors)
    assert engine.name == sanitize_line(
        " ".join(sanitize_line(f"id name {_text(name)}").split()[2:]), MAX_NAME_LENGTH
    )
    assert error.startswith("ended with status 1")


@settings(deadline=None)
@given(LINE, LINE)
def test_uci_option_text_is_printable(name, value):
    async def conversation(engine):
        await engine.start()
        await engine.configure({"Clear": 1, _text(value) or "x": 1})
        await engine.configure({"unknown": 1})

    option = b"option name " + name + b" type string\noption name Clear type button\n"
    talk(UciClient, conversation, option + b"uciok\nreadyok\nreadyok\n")


@settings(deadline=None)
@given(LINE, LINE)
def test_gtp_engine_text_is_printable(name, reason):
    async def conversation(engine):
        await engine.start()
        await engine.new_game()

    output = b"= x" + name + b"\n\n= name\n\n? " + reason + b"\n\n"
    _, error = talk(GtpClient, conversation, output)
    assert error.startswith("the engine rejects clear_board: ")


@settings(deadline=None)
@given(LINE, LINE)
def test_xboard_engine_text_is_printable(name, reason):
    async def conversation(engine):
        await engine.start()
        await engine.new_game()

    quoted = name.replace(b'"', b"'")
    output = b'feature myname="' + quoted + b'" ping=1 setboard=1 done=1\n'
    talk(XboardClient, conversation, output + b"Error (" + reason + b"): x\n")


def test_option_value_must_be_one_line():
    async def conversation(engine):
        await engine.start()
        await engine.configure({"Name": "x\nquit"})

    output = b"option name Name type string\nuciok\nreadyok\n"
    _, error = talk(UciClient, conversation, output)
    assert error == r"option Name: invalid value 'x\nquit' (expected one printable line)"


def test_last_stderr_line_is_escaped_and_truncated():
    async def conversation(engine):
        await engine.start()

    with pytest.raises(EngineDiedError):
        asyncio.run(_raise(conversation))
    _, error = talk(UciClient, conversation, b"", b"no\n\x1b[31mlicence [/b]\xff" + b"!" * 500)
    assert error == "ended with status 1: \\x1b[31mlicence [/b]\ufffd" + "!" * 178 + "…"


async def _raise(conversation):
    program = Program(b"")
    engine = UciClient("")
    try:
        with running(EngineProcess(program, program.output, None)):
            await conversation(engine)
    finally:
        await engine.close()


def _text(data):
    return data.decode("utf-8", "replace").strip()
