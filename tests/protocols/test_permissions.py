"""Untrusted clients cannot reach files or code by any option or command."""

import queue
import sys

import pytest

from agent.kernel.backend import SearchConfig
from protocols.gtp.protocol import COMMANDS as GTP_COMMANDS
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from protocols.permissions import LOCAL, Permissions
from protocols.session_context import SessionContext
from protocols.uci.engine_options import OPTIONS
from protocols.uci.protocol import COMMANDS, UciProtocol
from protocols.uci.tuning import tuning_options
from protocols.xboard.features import OPTIONS as XBOARD_OPTIONS
from protocols.xboard.protocol import COMMANDS as XBOARD_COMMANDS
from protocols.xboard.protocol import XboardProtocol
from tests.support import factory_fixture
from tests.waiting import PATIENCE

MARK = "a-file-that-nobody-may-touch"
UNTRUSTED = Permissions()
_touched = []
_asked = set()


def _listen(event, arguments):
    if _asked and MARK in repr(arguments[:1]):
        _touched.extend(_asked)


sys.addaudithook(_listen)


@pytest.fixture
def traps(tmp_path, monkeypatch):
    """Values that name existing files: code, a network, a game, tables, a log."""
    monkeypatch.chdir(tmp_path)  # a command may create a file of that name
    folder = tmp_path / MARK
    folder.mkdir()
    for name in ("KQvK.rtbw", "KQvK.rtbz", "kqk.gtb.cp4", "book.bin", "log", "net.nnue"):
        (folder / name).write_bytes(bytes(16))
    (folder / "mine.py").write_text("def evaluate(board):\n    return 0\n")
    (folder / "game.sgf").write_text("(;SZ[9];B[aa])")
    return [
        str(folder),
        f"{folder / 'mine.py'}:evaluate",
        f"nnue:{folder / 'net.nnue'}",
        *(str(folder / name) for name in ("book.bin", "log", "game.sgf")),
    ]


def what_touches(lines, say):
    """Return the names of the lines that access a trap."""
    _touched.clear()
    for name, line in lines:
        _asked.add(name)
        say(line)
        _asked.discard(name)
    return set(_touched)


class Talk:
    """A UCI engine without a kernel and with a log file."""

    def __init__(self, permissions):
        self.heard = queue.Queue()
        self.uci = UciProtocol(
            "test",
            "test",
            self.heard.put,
            self.log_to,
            None,
            tuning_options(),
            session_context=SessionContext(permissions),
        )

    @staticmethod
    def log_to(path):
        if path:
            open(path, "ab").close()

    def say(self, line):
        for reply in self.uci.handle_line(line):
            self.heard.put(reply)
        self.uci.session.agent.stop()
        assert self.uci.session.agent.wait(PATIENCE)

    def hear(self, *lines):
        for line in lines:
            self.say(line)
        return [self.heard.get() for _ in range(self.heard.qsize())]

    def close(self):
        assert self.uci.close(PATIENCE)


talk = factory_fixture(Talk, Talk.close)


def uci_lines(traps):
    yield from (
        (option.name, f"setoption name {option.name} value {trap}")
        for option in (*OPTIONS, *tuning_options())
        for trap in traps
    )
    # These wait for a kernel and access no files.
    idle = {"go", "bench", "eval", "isready", "quit", "setoption"}
    yield from ((name, f"{name} {trap}") for name in COMMANDS.keys() - idle for trap in traps)


def test_uci_file_options_require_trust(talk, traps):
    marked = {option.name for option in OPTIONS if option.requires_trust}
    assert what_touches(uci_lines(traps), talk(LOCAL).say) == marked
    assert what_touches(uci_lines(traps), talk(UNTRUSTED).say) == set()


def gtp_lines(traps):
    return [(name, f"{name} {trap}") for name in GTP_COMMANDS for trap in traps if name != "quit"]


@pytest.fixture
def begin_gtp():
    sessions = []

    def begin(permissions, sent, game="go", **search_config):
        options = {"size": 5} if game == "go" else {}
        settings = Settings(
            game,
            options,
            algorithm="mcts",
            seconds=0.01,
            search_config=SearchConfig(**search_config),
        )
        sessions.append(
            GtpProtocol(
                "test", "1", sent.put, lambda _: None, settings, SessionContext(permissions)
            )
        )
        return sessions[-1]

    yield begin
    for each in sessions:
        assert each.close(PATIENCE)


def saying_to(gtp):
    def say(line):
        list(gtp.handle_line(line))
        assert gtp.drain(PATIENCE)

    return say


@pytest.mark.parametrize("game", ["go", "nim"])
def test_gtp_file_commands_require_trust(begin_gtp, traps, game):
    sent = queue.Queue()
    marked = {name for name, command in GTP_COMMANDS.items() if command.requires_trust}
    trusting = begin_gtp(LOCAL, sent, game)
    assert what_touches(gtp_lines(traps), saying_to(trusting)) == (
        marked if game == "go" else set()
    )
    assert what_touches(gtp_lines(traps), saying_to(begin_gtp(UNTRUSTED, sent, game))) == set()


def xboard_lines(traps):
    yield from (
        (option.name, f"option {option.name}={trap}") for option in XBOARD_OPTIONS for trap in traps
    )
    yield from (
        ("egtpath", f"egtpath {kind} {trap}") for kind in ("syzygy", "gaviota") for trap in traps
    )
    # These wait for a kernel or repeat lines above.
    idle = {"go", "analyze", "hint", "quit", "option", "egtpath"}
    names = XBOARD_COMMANDS.keys() - idle
    yield from ((name, f"{name} {trap}") for name in names for trap in traps)


@pytest.fixture
def begin_xboard():
    sessions = []

    def begin(permissions):
        heard = queue.Queue()
        protocol = XboardProtocol(
            "test", heard.put, Talk.log_to, session_context=SessionContext(permissions)
        )
        sessions.append(protocol)

        def say(line):
            assert protocol.handle_line(line) == ()
            protocol.chess.agent.stop()
            assert protocol.chess.agent.wait(PATIENCE)
            return [heard.get() for _ in range(heard.qsize())]

        return protocol, say

    yield begin
    for each in sessions:
        assert each.close(PATIENCE)


def test_xboard_file_commands_require_trust(begin_xboard, traps):
    marked = {option.name for option in XBOARD_OPTIONS if option.requires_trust}
    marked |= {name for name, command in XBOARD_COMMANDS.items() if command.requires_trust}
    assert what_touches(xboard_lines(traps), begin_xboard(LOCAL)[1]) == marked
    _, untrusted = begin_xboard(UNTRUSTED)
    assert what_touches(xboard_lines(traps), untrusted) == set()
    (refused,) = untrusted("egtpath syzygy /tables")
    assert refused == "Error (egtpath: not available on this server): egtpath syzygy /tables"
    declared = " ".join(untrusted("protover 2"))
    assert 'egt=""' in declared
    for option in XBOARD_OPTIONS:
        assert (f'option="{option.name} ' in declared) is not option.requires_trust


def test_xboard_permissions_limit_resources_and_add_evaluations(begin_xboard, traps):
    offers = {"Evaluation": {"mine": traps[1]}}
    protocol, say = begin_xboard(Permissions(megabytes=8, threads=2, presets=offers))
    assert any(
        "Evaluation -combo *nnue /// handcrafted /// mine" in line for line in say("protover 2")
    )
    assert say("memory 500") == ["# Hash: using 8 instead of 500"]
    assert say("cores 9") == ["# Threads: using 2 instead of 9"]
    say("option Evaluation=mine")
    settings = protocol.chess.engine._settings
    assert (settings.megabytes, settings.threads) == (8, 2)
    assert settings.evaluation.name == traps[1]


def test_uci_hides_and_rejects_trusted_only_features(talk):
    untrusted = talk(UNTRUSTED)
    declared = " ".join(untrusted.hear("uci"))
    for option in (*OPTIONS, *tuning_options()):
        is_declared = f"option name {option.name} " in declared
        assert is_declared is not (option.requires_trust or option.hidden)
        if option.requires_trust:
            assert untrusted.hear(f"setoption name {option.name} value 3") == [
                f"info string {option.name}: not available on this server"
            ]
    for line in ("bench", "go perft 3"):
        assert untrusted.hear(line) == [
            f"info string {line.removesuffix(' 3')}: not available on this server"
        ]
    assert not any("bench" in line for line in untrusted.hear("help"))


def test_untrusted_client_may_choose_built_in_values(talk):
    untrusted = talk(UNTRUSTED)
    for name, value in (
        ("Evaluation", "handcrafted"),
        ("BookFile", "shipped"),
        ("BookFile", "<empty>"),
        ("SyzygyPath", ""),
        ("Debug Log File", "<empty>"),
        ("Hash", "8"),
    ):
        assert untrusted.hear(f"setoption name {name} value {value}") == []


def test_untrusted_client_selects_offered_values_by_name(talk, traps):
    evaluation = traps[1]
    offers = {"Evaluation": {"Mine": evaluation, "gone": f"{evaluation}d"}}
    untrusted = talk(Permissions(presets=offers))
    declared = "option name Evaluation type combo default nnue var nnue var handcrafted"
    assert f"{declared} var Mine var gone" in untrusted.hear("uci")
    assert untrusted.hear("setoption name evaluation value mine") == []
    assert untrusted.uci.session.engine._settings.evaluation.name == evaluation
    said = untrusted.hear("setoption name Evaluation value gone", f"setoption name x {evaluation}")
    assert "unknown function" in said[0]
    assert evaluation not in said[0]
    (refused,) = untrusted.hear(f"setoption name Evaluation value {evaluation}")
    assert "(expected one of: nnue, handcrafted, Mine, gone)" in refused
    assert untrusted.hear("setoption name Evaluation value handcrafted") == []
    assert untrusted.uci.session.engine._settings.evaluation.name == "handcrafted"


def test_hide_replaces_whole_offered_values_by_names():
    offers = {"BookFile": {"short": "/b/book"}, "Evaluation": {"long": "/b/book.py:f"}}
    hide = Permissions(presets=offers).redact
    assert hide("/b/book.py:f failed; /b/book is missing") == "long failed; short is missing"
    assert LOCAL.redact("/b/book") == "/b/book"


def test_hide_treats_drive_letter_as_part_of_path():
    offers = {"Evaluation": {"net": r"nnue:C:\nets\a.nnue", "mine": r"D:\e\mine.py:f"}}
    hide = Permissions(presets=offers).redact
    assert hide(r"C:\nets\a.nnue: No such file") == "net: No such file"
    assert hide(r"evaluation file D:\e\mine.py failed") == "evaluation file mine failed"


def test_hide_replaces_absolute_home_and_linked_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = {"net": "nnue:/b/gone.nnue", "mine": "evaluations/mine.py:evaluate"}
    hide = Permissions(presets={"Evaluation": mine}).redact
    assert hide("evaluation net: /b/gone.nnue: No such file") == "evaluation net: net: No such file"
    file = tmp_path / "evaluations" / "mine.py"
    assert hide(f"evaluation file {file} does not exist") == "evaluation file mine does not exist"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").symlink_to(tmp_path / "evaluations")
    hide = Permissions(presets={"Evaluation": {"net": "nnue:~/a.nnue"}}).redact
    for file in ("~/a.nnue", tmp_path / "home" / "a.nnue", tmp_path / "evaluations" / "a.nnue"):
        assert hide(f"{file} is damaged") == "net is damaged"


def test_uci_hash_and_threads_are_limited_by_permissions(talk):
    untrusted = talk(Permissions(megabytes=8, threads=2))
    declared = untrusted.hear("uci")
    assert "option name Hash type spin default 8 min 1 max 8" in declared
    assert "option name Threads type spin default 1 min 1 max 2" in declared
    settings = untrusted.uci.session.engine._settings
    assert settings.megabytes == 8
    said = untrusted.hear("setoption name Hash value 256", "setoption name Threads value 3")
    assert said[0] == "info string Hash: 256 is limited to 8 on this server"
    assert "info string Threads: 3 is limited to 2 on this server" in said
    settings = untrusted.uci.session.engine._settings
    assert (settings.megabytes, settings.threads) == (8, 2)
    assert untrusted.hear("setoption name Hash value 4") == []
    assert untrusted.uci.session.engine._settings.megabytes == 4


def test_trusted_uci_client_sees_unrestricted_options(talk):
    declared = talk(LOCAL).hear("uci")
    assert "option name Hash type spin default 64 min 1 max 65536" in declared
    assert "option name Evaluation type string default nnue" in declared
    assert "option name Debug Log File type string default <empty>" in declared


def test_gtp_memory_and_threads_are_limited_by_permissions(begin_gtp):
    sent = queue.Queue()
    say = saying_to(begin_gtp(Permissions(megabytes=8, threads=2), sent, megabytes=64, threads=4))
    heard = []
    for line in (
        "kata-get-param memory",
        "kata-get-param numSearchThreads",
        "kata-set-param memory 9",
        "kata-set-param numSearchThreads 3",
        "kata-set-param memory 4",
        "known_command loadsgf",
        "known_command printsgf",
        "loadsgf x",
        "printsgf x",
    ):
        say(line)
        heard.append(sent.get().strip())
    assert heard == [
        "= 8",
        "= 2",
        "? memory: 9 is limited to 8 on this server",
        "? numSearchThreads: 3 is limited to 2 on this server",
        "=",
        "= false",
        "= true",
        "? loadsgf: not available on this server",
        "? printsgf FILE: not available on this server",
    ]
