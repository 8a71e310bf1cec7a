"""Openings are read from files, and invalid files are rejected with a message."""

import hashlib
import random
from dataclasses import replace

import pytest

from agent.games import catalogue
from agent.games.tree import read_tree
from agent.io import text_index
from agent.io.safe_yaml import YamlError, load
from kempelen.cli import main
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.config.settings import Adjudication, OpeningOrder, OpeningSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.config.tournament_file import read_tournament
from kempelen.match.game import openings
from kempelen.match.live.events import GameFinished, Status
from kempelen.match.suites.epd_suite import read_epd_file as read_suite
from openings import game_book
from openings.book_common import BookError
from tests.agent.io.test_text_files import ENCODINGS, LINE_ENDINGS, encoded
from tests.kempelen.match.support import engine, play, settings

FEN = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"
FILES = {
    "o.pgn": b'[FEN "' + FEN + b' - 0 1"]\n[SetUp "1"]\n\n1. e4 {c} (1. d4) e5 $1 *\n\n',
    "o.epd": FEN + b' - bm e4; id "x"; ce 10; pv e4 e5;\n',
    "o.yaml": b"- moves: 1. e4 e5\n  name: x\n  lines:\n    - moves: 2. Nf3\n",
    "t.yaml": b"name: cup\nengines: [{command: a, options: {Hash: 1}}, {command: b}]\ntime: 1+1\n",
    "g.yaml": b"- {moves: a1 b2, name: x, weight: 3, lines: [{moves: c3}]}\n",
    "tree.yaml": b"[[3, 5], [2, 9]]\n",
}
PIECES = [
    *(b"!!binary ", b"!!timestamp x", b"!!int x", b"!!bool x", b"!!float x", b"&a [*a]", b"<<: "),
    *(b"2024-99-99", b'"', b"\x00", b"\x1b[31m", b"[", b"{", b"9" * 50, b"--", b"Z0", b"N@e4 "),
    *(b'[Variant "Atomic"]\n', b"$1 ", b") ", b"0-0 "),
]


CHESS960 = """[Variant "Chess960"]
[FEN "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1"]

1. Ng3 Ng6 2. O-O O-O *
"""


def read(path):
    if path.name == "t.yaml":
        read_tournament(str(path)).with_unique_names()
    elif path.name == "g.yaml":
        game_book.read(path, catalogue.new_game("tic-tac-toe"))
    elif path.name == "tree.yaml":
        read_tree(path)
    else:
        openings.load_openings(OpeningSettings(file=str(path)), lambda text: None)
    if path.name == "o.epd":
        read_suite(path)


def damaged(data, generator):
    mode = generator.random()
    if mode < 0.2:
        return generator.randbytes(generator.randrange(200))
    if mode < 0.3:
        return bytes(generator.choice(b"[]{}:&*!|>%@`\"'- \n\t?,#abc01.") for _ in range(60))
    changed = bytearray(data)
    for _ in range(generator.choice([1, 3, 10])):
        position = generator.randrange(len(changed) + 1)
        choice = generator.random()
        if choice < 0.4:
            changed[position : position + 1] = generator.randbytes(1)
        elif choice < 0.7:
            changed[position:position] = generator.choice(PIECES)
        else:
            del changed[position : position + generator.randrange(10)]
    return bytes(changed)


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", FILES)
def test_damaged_file_error_names_file(name, tmp_path, capsys):
    generator = random.Random(name)
    path = tmp_path / name
    path.write_bytes(FILES[name])
    read(path)
    messages = []
    for _ in range(300):
        path.write_bytes(damaged(FILES[name], generator))
        try:
            read(path)
        except (SettingsError, BookError) as error:
            messages.append(str(error))
        except ValueError as error:
            messages.append(str(error) if name == "tree.yaml" else "")
    assert len(messages) > 100
    assert all(name in message for message in messages)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("o.pgn", "no games at all", "o.pgn: no openings found"),
        ("o.pgn", "\x00\xff" * 99, "o.pgn: no openings found"),
        ("o.pgn", '[Variant "Atomic"]\n\n1. e4 *\n', "unsupported variant Atomic"),
        ("o.pgn", "1. e4 {c} . d4) e5 $1 2. Nf3 *\n", "move 1 is illegal"),
        ("o.pgn", "1. e5 *\n", "move 1 is illegal"),
        ("o.pgn", CHESS960, "game 1: Chess960 castling rights"),
        ("o.epd", "\x00\xff" * 99, "line 1"),
        ("o.yaml", "- moves: \x00", "o.yaml: unacceptable character"),
        # Newer releases of libyaml limit the nesting themselves.
        ("o.yaml", "[" * 100_000, "o.yaml: (nested too|exceeded .* nesting) de"),
        ("o.yaml", "- " * 100_000, "nested too deeply"),
        ("t.yaml", "\x00", "t.yaml: unacceptable character"),
        ("t.yaml", "name: 2024-99-99", "invalid value: "),
        ("t.yaml", "name: !!timestamp x", "invalid value: "),
        ("t.yaml", "[" * 3000, "nested too deeply"),
        ("t.yaml", "game: &a {name: *a}", "recursive"),
        ("t.yaml", "name: a\ngames: 2\nname: b", r"duplicate key 'name' \(line 3, column 1\)"),
        ("t.yaml", "engines: [{name: a, name: b}]", r"duplicate key 'name' \(line 1, column 21\)"),
        ("g.yaml", "- moves: !!int x", "invalid value: "),
        ("tree.yaml", "[1, &a [2, *a]]", "recursive"),
    ],
)
@pytest.mark.usefixtures("usual_recursion")
def test_invalid_file_error_gives_reason(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text, "latin-1")
    with pytest.raises((SettingsError, BookError, ValueError), match=message):
        read(path)


def test_openings_are_read_from_fen_file(tmp_path):
    path = tmp_path / "o.fen"
    fens = [f"{FEN.decode()} - 3 7", "4k3/8/8/8/8/8/4P3/4K3 b - - 12 40"]
    path.write_text("\n".join([*fens, f"{FEN.decode()} - hmvc 4; fmvn 9;", ""]))
    found = openings.load_openings(OpeningSettings(file=str(path)))
    assert [opening.fen for opening in found] == [*fens, f"{FEN.decode()} - 4 9"]
    path.write_text(f"{FEN.decode()} e9 0 1\n")
    with pytest.raises(SettingsError, match=r"o.fen, line 1: "):
        openings.load_openings(OpeningSettings(file=str(path)))


@pytest.mark.thorough
def test_yaml_alias_expansion_is_limited():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(YamlError, match="recursive, or more than"):
        load("\n".join(lines))
    assert load("each: &x {a: 1}\nengines: [*x, *x]")["engines"] == [{"a": 1}] * 2


def test_control_characters_in_opening_names_are_escaped(tmp_path):
    path = tmp_path / "o.pgn"
    path.write_text('[Opening "\x1b[31m\\"King\'s\\" [/b]"]\n\n1. e4 *\n')
    (opening,) = openings.load_openings(OpeningSettings(file=str(path)))
    assert opening.name == '\\x1b[31m"King\'s" [/b]'


def test_commands_reject_files_of_random_bytes(tmp_path, capsys):
    for suffix in ("pgn", "epd", "yaml"):
        path = tmp_path / f"x.{suffix}"
        path.write_bytes(random.Random(1).randbytes(500))
        line = ["match", "--engine", "cmd=a", "--engine", "cmd=b", "--depth", "1"]
        assert main([*line, "--openings", str(path)]) == 2
        assert main(["match", str(path)]) == 2
        assert main(["match", "ratings", str(path)]) == 1
        error = capsys.readouterr().err
        assert error.count(f"x.{suffix}") == 2
        assert all(line.isprintable() for line in error.splitlines())


def test_yaml_merge_keys_can_be_overridden():
    assert load("a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}\n2: x\n'2': y") == {
        "a": {"b": 1, "c": 2},
        "d": {"b": 3, "c": 2},
        2: "x",
        "2": "y",
    }
    assert load("") is None


def in_order(path, **options):
    """Return settings that play the openings of a file in order."""
    opening_settings = OpeningSettings(str(path), OpeningOrder.SEQUENTIAL)
    players = options.pop("players", (engine(), engine()))
    return settings(*players, games=2000, openings=opening_settings, **options)


def test_openings_are_parsed_when_they_are_played(tmp_path, monkeypatch):
    path = tmp_path / "o.epd"
    path.write_text("".join(f'{FEN.decode()} - id "{number}";\n' for number in range(1000)))
    parsed = []
    check = openings._checked
    monkeypatch.setattr(
        openings, "_checked", lambda *values: parsed.append(values[-1]) or check(*values)
    )
    opening_of = openings.opening_selector(in_order(path))
    assert [opening_of(1, pair).name for pair in (1, 500, 1000)] == ["0", "499", "999"]
    assert set(parsed) == {"0", "499", "999"}


TEXTS = {
    "o.epd": f'{FEN.decode()} - id "Réti";\n\n# Müller\n{FEN.decode()} - id "Grünfeld";\n',
    "o.pgn": '[Opening "Réti"]\n\n1. Nf3 *\n\n[Opening "Grünfeld"]\n\n1. d4 Nf6 *\n',
    "o.yaml": "- moves: Nf3\n  name: Réti\n- moves: d4 Nf6\n  name: Grünfeld\n",
}


@pytest.mark.parametrize("line_ending", LINE_ENDINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", TEXTS)
def test_openings_are_read_in_all_encodings(name, encoding, line_ending, tmp_path):
    path = tmp_path / name
    path.write_bytes(encoded(TEXTS[name].replace("\n", line_ending), encoding))
    opening_of = openings.opening_selector(in_order(path))
    assert [opening_of(1, pair).name for pair in (1, 2, 3)] == ["Réti", "Grünfeld", "Réti"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_of_other_games_are_read_in_all_encodings(encoding, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(encoded("# Müller\r\na1 b2\r\n \r\n  # end\r\nb2 # Möller\r\n", encoding))
    agent = EngineSettings(
        "alpha-beta", "lab", protocol=EngineProtocol.LAB, time=TimeControl(depth=2)
    )
    chosen = in_order(path, game=GameSettings("tic-tac-toe"), players=(agent, agent))
    opening_of = openings.opening_selector(chosen)
    assert [opening_of(1, pair).moves for pair in (1, 2)] == [("a1", "b2"), ("b2",)]


def test_invalid_opening_is_named_and_the_next_one_is_played(tmp_path):
    path = tmp_path / "o.epd"
    mate = "R3k3/8/4K3/8/8/8/8/8 b - -"
    lines = ["# four", f'{FEN.decode()} - id "a";', "rubbish", mate, f'{FEN.decode()} - id "d";']
    path.write_text("\n".join(lines))
    reports = []
    opening_of = openings.opening_selector(in_order(path), reports.append)
    assert not reports
    assert [opening_of(1, pair).name for pair in (1, 2, 3, 4, 5, 2)] == ["a", *"ddd", "a", "d"]
    assert len(reports) == 2
    assert f"{path}, line 3: " in reports[0]
    assert reports[1] == f"{path}, line 4: the game is already over; skipped"


DECIDED = {
    "o.epd": ["R3k3/8/4K3/8/8/8/8/8 b - -", "7k/5K2/6Q1/8/8/8/8/8 b - -",
              "4k3/8/8/8/8/8/8/4K2N w - -", "4k3/8/8/8/8/8/4P3/4K3 w - - 100 90",
              "4k3/8/8/8/8/8/4P3/4K3 w - - 99 90"],
    "o.pgn": ["1. f3 e5 2. g4 Qh4# 0-1\n\n", "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *\n\n",
              "1. f3 e5 2. g4 d5 *\n\n"],
    "o.yaml": ["- moves: 1. f3 e5 2. g4 Qh4#\n  name: mate", "- moves: 1. e4 e5\n  name: good"],
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_openings_that_end_the_game_are_not_played(name, tmp_path):
    """By mate, stalemate, insufficient material, the fifty-move rule or repetition."""
    path = tmp_path / name
    path.write_text("\n".join(DECIDED[name]) + "\n")
    (good,) = openings.load_openings(OpeningSettings(file=str(path)), lambda text: None)
    opening_of = openings.opening_selector(in_order(path), lambda text: None)
    assert {opening_of(1, pair) for pair in range(1, 7)} == {good}
    cut = OpeningSettings(str(path), plies=3)
    assert len(openings.load_openings(cut, lambda text: None)) == (1 if name == "o.epd" else 2)


def test_file_without_valid_openings_is_rejected_at_once(tmp_path):
    path = tmp_path / "o.epd"
    path.write_text("rubbish\n" * 1_000_000)
    with pytest.raises(SettingsError, match=r"o\.epd, line 1: "):
        openings.opening_selector(in_order(path))


def test_large_file_that_changes_during_a_match_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(text_index, "MAX_IN_MEMORY", 5)
    path = tmp_path / "o.epd"
    path.write_text(f"{FEN.decode()} -\n" * 2)
    opening_of = openings.opening_selector(in_order(path))
    path.write_text(f"{FEN.decode()} -\n")
    with pytest.raises(SettingsError, match=r"o\.epd: changed by another program"):
        opening_of(1, 2)


async def test_run_stops_if_its_openings_change(tmp_path, monkeypatch):
    monkeypatch.setattr(text_index, "MAX_IN_MEMORY", 5)
    path = tmp_path / "o.epd"
    path.write_text(f"{FEN.decode()} -\n" * 2)

    def change(event):
        if isinstance(event, GameFinished) and event.record.game == 2:
            path.write_text(f"{FEN.decode()} -\n")

    chosen = replace(in_order(path), games=6, adjudication=Adjudication(maxmoves=6))
    finish, records = await play(chosen, listeners=[change])
    assert (finish.status, len(records)) == (Status.FAILED, 2)
    assert finish.reason == f"openings {path}: changed by another program"


def test_digest_of_openings_does_not_depend_on_line_endings(tmp_path, monkeypatch):
    monkeypatch.setattr(openings, "DIGEST_BLOCK", 7)
    path = tmp_path / "o.epd"
    text = f"{FEN.decode()} -\n" * 9
    for line_ending in LINE_ENDINGS:
        path.write_bytes(text.replace("\n", line_ending).encode())
        digest = openings.with_file_digests(in_order(path)).openings.digest
        assert digest == hashlib.sha256(text.encode()).hexdigest()[:16]
    path.write_bytes(text.encode() + b"#")
    assert openings.with_file_digests(in_order(path)).openings.digest != digest


def test_digest_of_latin1_file_is_that_of_earlier_versions(tmp_path, monkeypatch):
    """They replaced the bytes that are not UTF-8."""
    monkeypatch.setattr(openings, "DIGEST_BLOCK", 3)
    path = tmp_path / "o.pgn"
    for content in ("Müller €".encode(), b"M\xfcller\r\r\n\xe2\x82"):
        path.write_bytes(content)
        text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        digest = openings.with_file_digests(in_order(path)).openings.digest
        assert digest == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_invalid_openings_of_self_play_are_counted(tmp_path):
    path = tmp_path / "o.epd"
    path.write_text(f'{FEN.decode()} - id "a";\nrubbish\n{FEN.decode()} - id "a";\nmore\n')
    reports = []
    found = openings.load_openings(OpeningSettings(str(path)), reports.append)
    assert [opening.name for opening in found] == ["a"]
    (report,) = reports
    assert f"{path}, line 2: " in report
    assert report.endswith("skipped 2 of 4 openings")
