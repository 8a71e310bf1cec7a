"""Engines over the network: complete games, random input, and restrictions of clients."""

import asyncio
import contextlib
import gc
import os
import random
import re
import ssl
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest
from websockets.asyncio.client import connect

from kempelen.console.server_settings import ServerSettings
from kempelen.server_sessions import SessionFactory
from protocols.server.limits import ServerLimits
from tests.protocols.server.credentials import Certified
from tests.protocols.server.support import (
    PATIENCE,
    Running,
    WebCaller,
    calling,
    running,
    until,
)
from tests.support import ROOT

pytestmark = pytest.mark.early

MAKERS = SessionFactory(ServerSettings(), lambda _: None).factories()
# Limits that do not affect these tests.
FAST: dict[str, Any] = {"line_rate": 1e6, "shutdown_timeout": 5.0}


@contextlib.asynccontextmanager
async def reached(run: Running, scheme: str, client: ssl.SSLContext) -> Any:
    secure = client if scheme in ("tls", "wss") else None
    if scheme in ("tcp", "tls"):
        async with calling(run, scheme, secure) as caller:
            yield caller
    else:
        url = f"{scheme}://localhost:{run.addresses[scheme].port}/uci"
        async with connect(url, ssl=secure, proxy=None) as web:
            yield WebCaller(web)


@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws", "wss"])
async def test_chess_game_is_played_over_every_transport(scheme: str, certified: Certified) -> None:
    async with (
        running(scheme, makers=MAKERS, tls=certified.server, **FAST) as run,
        reached(run, scheme, certified.client) as caller,
    ):
        caller.say("uci")
        assert (await caller.hear()).startswith("id name Kempelen")
        await until(caller, "uciok")
        caller.say("setoption name OwnBook value false", "ucinewgame", "isready")
        await until(caller, "readyok")
        board, rng = chess.Board(), random.Random(5)
        while not board.is_game_over(claim_draw=True):
            if board.turn == chess.WHITE:
                board.push(rng.choice(list(board.legal_moves)))
                continue
            moves = " ".join(move.uci() for move in board.move_stack)
            caller.say(f"position startpos moves {moves}", "go nodes 300")
            answer = await until(caller, "bestmove")
            board.push_uci(answer.split()[1])
        assert board.outcome(claim_draw=True) is not None
        assert board.fullmove_number > 5
        caller.say("stop", "isready")
        assert await until(caller, "") == "readyok"  # no additional bestmove


async def test_first_line_selects_gtp_for_a_go_game() -> None:
    async with running(makers=MAKERS, **FAST) as run, calling(run) as caller:
        for line in ("1 boardsize 5", "2 clear_board", "kata-set-param maxPlayouts 20"):
            caller.say(line)
            assert re.fullmatch(r"=\d? ?", await caller.hear())
            assert await caller.hear() == ""
        passes = moves = 0
        while passes < 2 and moves < 100:
            answer = await caller.ask(f"genmove {'bw'[moves % 2]}")
            assert re.fullmatch(r"= ([A-E][1-5]|pass|resign)", answer, re.IGNORECASE), answer
            assert await caller.hear() == ""
            if answer == "= resign":
                break
            passes = passes + 1 if "pass" in answer.lower() else 0
            moves += 1
        assert moves > 2
        assert await caller.ask("quit") == "="
        assert await caller.gone()


async def test_concurrent_sessions_all_get_moves() -> None:
    async def play(run: Running, number: int) -> None:
        async with calling(run) as caller:
            caller.say("uci")
            await until(caller, "uciok")
            caller.say("position startpos moves a2a3", f"go movetime {50 + number}")
            assert re.match(r"bestmove [a-h][1-8][a-h][1-8]", await until(caller, "bestmove"))

    async with running(makers=MAKERS, **FAST) as run:
        await asyncio.gather(*(play(run, number) for number in range(12)))
        await run.empty()
        assert run.server.metrics.value("sessions_begun", "any") == 12


@pytest.mark.thorough
async def test_sessions_do_not_leak_objects_or_files() -> None:
    async def come_and_go(run: Running, times: int) -> tuple[int, int]:
        for number in range(times):
            async with calling(run) as caller:
                caller.say("uci", "position startpos moves a2a3", f"go nodes {number % 2 * 99 + 1}")
                await until(caller, "bestmove")
        async with asyncio.timeout(PATIENCE):
            while run.server._connections:
                await asyncio.sleep(0.05)
        run.events.clear()
        gc.collect()
        return len(gc.get_objects()), len(os.listdir("/proc/self/fd"))

    async with running(makers=MAKERS, **FAST) as run:
        await come_and_go(run, 10)
        objects, files = await come_and_go(run, 10)
        later, files_later = await come_and_go(run, 30)
        assert later - objects < 20 * 30  # a session has thousands
        assert files_later == files


async def test_unknown_first_line_gets_an_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with running(makers=MAKERS) as run, calling(run) as caller:
        assert "unknown command 'hello' (expected UCI" in await caller.ask("hello")
        caller.say("uci")
        await until(caller, "uciok")
    assert capfd.readouterr() == ("", "")


async def test_server_plays_the_configured_game() -> None:
    makers = SessionFactory(ServerSettings(game="othello", size="6"), lambda _: None).factories()
    async with running(makers=makers, protocol="gtp") as run, calling(run) as caller:
        assert await caller.ask("gogui-rules_board_size") == "= 6"


@pytest.mark.parametrize(
    "option",
    [
        *("Debug Log File", "Evaluation", "BookFile", "SyzygyPath", "GaviotaPath"),
        *("ExperienceFile", "HabitsFile"),
    ],
)
async def test_remote_client_cannot_set_file_options(option: str, tmp_path: Path) -> None:
    async with running(makers=MAKERS) as run, calling(run) as caller:
        caller.say("uci")
        await until(caller, "uciok")
        file = tmp_path / "file"
        said = await caller.ask(f"setoption name {option} value {file}")
        assert said == f"info string {option}: not available on this server"
        assert not file.exists()


async def test_offered_evaluation_is_selected_by_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def evaluate(board):\n    return 7\n")
    offers = {"Evaluation": {"mine": f"{file}:evaluate"}}
    makers = SessionFactory(ServerSettings(offers=offers), lambda _: None).factories()
    async with running(makers=makers) as run, calling(run) as caller:
        caller.say("uci")
        declared = "option name Evaluation type combo default nnue var nnue var handcrafted"
        assert await until(caller, "option name Evaluation") == f"{declared} var mine"
        await until(caller, "uciok")
        caller.say("setoption name Evaluation value mine", "position startpos", "eval")
        assert await until(caller, "info string evaluation") == (
            "info string evaluation +0.07 (white's view)"
        )
        said = await caller.ask(f"setoption name Evaluation value {file}:evaluate")
        assert str(file) not in said.replace(f"not '{file}", "")


async def test_hash_and_threads_are_limited_per_session() -> None:
    settings = ServerSettings(limits=ServerLimits(hash=8, threads=2))
    makers = SessionFactory(settings, lambda _: None).factories()
    async with running(makers=makers) as run, calling(run) as caller:
        caller.say("uci")
        assert await until(caller, "option name Hash") == (
            "option name Hash type spin default 8 min 1 max 8"
        )
        assert await until(caller, "option name Threads") == (
            "option name Threads type spin default 1 min 1 max 2"
        )
        await until(caller, "uciok")
        said = await caller.ask("setoption name Hash value 1024")
        assert said == "info string Hash: 1024 is limited to 8 on this server"


# Random input of the fuzz benchmarks, from remote clients.


async def test_hash_beyond_the_server_total_is_rejected() -> None:
    settings = ServerSettings(limits=ServerLimits(hash=8, total_hash=12))
    makers = SessionFactory(settings, lambda _: None).factories()
    async with running(makers=makers, **FAST) as run, calling(run) as one, calling(run) as two:
        for caller in (one, two):
            caller.say("uci", "setoption name OwnBook value false", "setoption name Hash value 8")
            caller.say("position startpos moves a2a3", "go nodes 2000")
            assert re.match(r"bestmove [a-h][1-8]", await until(caller, "bestmove"))
        two.say("setoption name Hash value 4", "setoption name Hash value 8", "isready")
        assert "all sessions share 12 MB" in await until(
            two, "info string not enough memory for 8 MB"
        )


@pytest.fixture(scope="module")
def fuzz() -> Iterator[SimpleNamespace]:
    """The benchmarks, importable as scripts import each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield SimpleNamespace(
            uci=import_module("uci_fuzz"),
            gtp=import_module("gtp_fuzz"),
            xboard=import_module("xboard_fuzz"),
            lines=import_module("fuzzing").lines,
        )


def made(fuzz: SimpleNamespace, number: int, kind: Any) -> list[bytes]:
    return list(fuzz.lines(random.Random(7), number, kind.valid_line, kind.harmless))


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
async def test_random_uci_input_is_handled(
    scheme: str, thorough: bool, fuzz: SimpleNamespace
) -> None:
    data = [b"uci", *made(fuzz, 3000 if thorough else 150, fuzz.uci)]
    searches = sum(1 for line in data if re.fullmatch(rb"go(?! perft).*", line))
    answers, ready, failures = 0, 0, []
    async with running(scheme, makers=MAKERS, **FAST) as run:
        said = conversation(run, scheme, "uci", data, b"stop", b"isready")
        async with contextlib.aclosing(said):
            async for line in said:
                answers += line.startswith("bestmove")
                if "internal error" in line or not fuzz.uci.VALID_OUTPUT.fullmatch(line):
                    failures.append(line)
                ready += line == "readyok"
                if answers >= searches and ready >= data.count(b"isready") + 1:
                    break
            else:
                pytest.fail("it ended early")
        assert not failures
        assert answers >= searches > 10
        await run.empty()
        assert not [event for event in run.events if " failed " in event]


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
async def test_random_gtp_input_is_handled(
    scheme: str, thorough: bool, fuzz: SimpleNamespace
) -> None:
    data = made(fuzz, 2000 if thorough else 120, fuzz.gtp)
    expected = [*fuzz.gtp.expected(data), "77777"]
    first = b"kata-set-param maxPlayouts 4"
    ids, failures, inside = [], [], False
    async with running(scheme, makers=MAKERS, **FAST) as run:
        said = conversation(run, scheme, "gtp", [first, *data], b"77777 name")
        async with contextlib.aclosing(said):
            async for text in said:
                for line in text.split("\n"):
                    if "internal error" in line:
                        failures.append(line)
                    if not inside and (match := fuzz.gtp.HEAD.fullmatch(line)):
                        ids.append(match[1])
                    elif not inside and line:
                        failures.append(f"no answer begins so: {line}")
                    inside = bool(line)
                if ids[-1:] == ["77777"]:
                    break
        assert not failures
        assert ids == ["", *expected]
        await run.empty()
        assert not [event for event in run.events if " failed " in event]


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
async def test_random_xboard_input_is_handled(
    scheme: str, thorough: bool, fuzz: SimpleNamespace
) -> None:
    data = made(fuzz, 2000 if thorough else 120, fuzz.xboard)
    failures, last = [], ""
    async with running(scheme, makers=MAKERS, **FAST) as run:
        said = conversation(run, scheme, "xboard", [b"protover 2", *data], b"force", b"ping 77777")
        async with contextlib.aclosing(said):
            async for line in said:
                if "internal error" in line or not fuzz.xboard.VALID_OUTPUT.fullmatch(line):
                    failures.append(line)
                last = line
                if line == "pong 77777":
                    break
        assert not failures
        assert last == "pong 77777"
        await run.empty()
        assert not [event for event in run.events if " failed " in event]


async def conversation(
    run: Running, scheme: str, protocol: str, data: list[bytes], *ending: bytes
) -> Any:
    """Send all lines at once, and yield the answers."""
    text = [*data, *ending]
    async with asyncio.timeout(PATIENCE):
        if scheme == "tcp":
            async with calling(run) as caller:
                caller.writer.write(b"".join(line + b"\n" for line in text))
                while line := await caller.reader.readline():
                    yield line.decode(errors="backslashreplace").rstrip("\n")
        else:
            url = f"ws://127.0.0.1:{run.addresses['ws'].port}/{protocol}"
            async with connect(url, proxy=None, max_size=None) as web:

                async def say() -> None:
                    for line in text:
                        await web.send(line)

                saying = asyncio.create_task(say())
                async for message in web:
                    assert isinstance(message, str)
                    yield message
                await saying
