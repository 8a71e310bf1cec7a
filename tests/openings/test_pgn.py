"""PGN files as people send them."""

import json
import logging

import chess.pgn
import pytest

from agent.io.read_report import ReadReport
from kempelen.cli import main
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.settings import OpeningSettings
from kempelen.match.game.openings import load_openings
from kempelen.match.review.chess_review import read_pgn
from openings import pgn
from openings.pgn import PgnError, read_games, text_lines
from openings.pgn_book import MoveCounter, MoveCounts, count_moves


def found(text):
    return list(read_games(text_lines(text)))


def moves(text):
    """Return the main line of each game."""
    return [" ".join(game.main_line(99)) for game in found(text)]


def movetext(game):
    exporter = chess.pgn.StringExporter(headers=False, columns=None)
    return game.parse(600).accept(exporter)


def tagged(name, text):
    return f'[White "{name}"]\n[Black "B"]\n[Result "1-0"]\n\n{text}\n\n'


AWKWARD = (
    tagged("Müller", "\n1. e4 e5 2. Nf3 1-0").rstrip("\n")
    + "\n"
    + tagged("Möller", "1. e4 e5 2. Qh6 1-0")
    + '[White "Ann"] [Black "B"] [Result "0-1"]\n\n1. d4 d5 0-1\n'
    + tagged("Last", "1. c4 {no end")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[Event "a"]\n\n\n1. e4 e5 1-0\n\n\n[Event "b"]\n\n\n1. d4 *\n', ["e4 e5", "d4"]),
        (
            '[Event "a"]\n1. e4 1-0\n[Event "b"]\n1. d4 0-1\n[Event "c"]\n1. c4 *',
            ["e4", "d4", "c4"],
        ),
        ('[Event "a"] [Site "b"] 1. e4 e5 1-0 [Event "c"]1. d4 *', ["e4 e5", "d4"]),
        (
            "1. e4 e5 1-0\n\n1. d4\n\n1. c4 *\n1. b4\n1. a4 * 1. g4",
            [*("e4 e5", "d4", "c4", "b4", "a4", "g4")],
        ),
        ("e4 e5 1-0\n\nd4 d5 *\n", ["e4 e5", "d4 d5"]),
        ('\ufeff[Event "x"]\r\n\r\n1. e4 {a\r\n\r\nb} e5\r\n2. Nf3 *\r\n', ["e4 e5 Nf3"]),
        ("1. e4 e5 1-0\r\r1. d4 d5 *\r", ["e4 e5", "d4 d5"]),
        ('; file\n[Event "a"]\n; in the tags\n[Site "b"]\n\n1. e4 ; c5 } (\ne5 *\n', ["e4 e5"]),
        ('% 1. d4\n[Event "a"]\n%\n\n1. e4\n% d5 { (\ne5 *\n', ["e4 e5"]),
        (
            '1. e4 {1. d4 ( * [Event "no"] ; %} e5 (1... c5 (1... c6 *) 2. Nf3) 2. d4 *',
            ["e4 e5 d4"],
        ),
        ('1. e4 {two lines of\n[Event "no tag"]\n} e5 1-0 {Black\n\nresigns}\n', ["e4 e5"]),
        ("1. e4 $1 e5! $14 $139 2.Nf3!? Nc6?! 3.Bb5+- a6= N *", ["e4 e5 Nf3 Nc6 Bb5 a6"]),
        (
            "1.Ng1-f3 Ng8xf6 2.e7e8=Q O-O 3.0-0-0 exd6e.p. *",
            ["Ng1-f3 Ng8xf6 e7e8=Q O-O 0-0-0 exd6"],
        ),
        ('[Event "a"]\n[Result "1-0"]\n\n[Event "b"]\n\n*\n\n[Event "c"]\n\n1-0\n', ["", "", ""]),
        ('[Event "a"]\n\n[White "A"]\n\n1. e4 *\n', ["e4"]),
        ("Dear all,\n(see * below)\n\n1. e4 1-0 1-0\n-----\nRound 2\n1. d4 *\n", ["e4", "d4"]),
        ('[Event "a"]\n[%eval 0.1] 1. e4 [x]\n[+1] e5 *\n', ["e4 e5"]),
        ("nothing (to) see * here {\n", []),
    ],
)
def test_games_are_found_in_files_that_violate_the_standard(text, expected):
    assert moves(text) == expected


def test_tags_are_read_with_quotes_and_with_missing_delimiters():
    (game,) = found(
        '[Event "The "Big" [one]"]\n[White "a\\"b"]\n[Black\tAnand]\n[Site "C:\\"]\n\n*\n'
    )
    assert game.tags == {
        "Event": 'The "Big" [one]',
        "White": 'a\\"b',
        "Black": "Anand",
        "Site": "C:\\",
    }


def test_result_is_taken_from_the_moves_if_the_tag_is_missing():
    first, second, third, fourth = found(
        '[White "A"]\n1. e4 0-1\n[White "B"]\n[Result "*"]\n1. e4 1/2-1/2\n'
        '[White "C"]\n[Result "1/2"]\n1. e4\n[White "D"]\n1. e4 (1. d4 1-0)\n'
    )
    assert [game.result for game in (first, second, third, fourth)] == [
        *("0-1", "1/2-1/2", "1/2-1/2", "*")
    ]


def test_comment_that_is_not_closed_spoils_one_game():
    text = tagged("A", "1. e4 {oops e5 1-0") + tagged("B", "1. d4 {fine} d5 1-0")
    games = found(text + tagged("C", "1. c4 {no end"))
    assert [game.tags["White"] for game in games] == ["A", "B", "C"]
    report = ReadReport()
    (game,) = report.select(games, movetext)
    assert game == "1. d4 { fine } 1... d5 1-0"
    assert report.message() == (
        "read 1 game, skipped 2: game 1, a comment is not closed; game 3, a comment is not closed"
    )


@pytest.mark.parametrize("text", [AWKWARD, "\ufeff% x\n" + "1. e4 * 1. d4 {ü}\n1. c4 {é\n} *\n"])
def test_each_game_is_found_at_its_offset(text):
    games = found(text)
    assert len(games) > 2
    ends = [*(game.offset for game in games[1:]), len(text)]
    for game, end in zip(games, ends, strict=True):
        first = next(read_games(text_lines(text[game.offset : end])))
        assert (first.tags, first.movetext.strip()) == (game.tags, game.movetext.strip())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1. e4 e5 2. Qh6 *", "move 2 is illegal (2. Qh6)"),
        ("1. e4 e5 2. Nf3 Ke6 *", "move 2 is illegal (2... Ke6)"),
        ("1. Nf3 e5 2. d3 e4 3. Nd2 *", "move 3 is ambiguous (3. Nd2)"),
        ("1. e4 -- 2. d4 *", "move 1 is a null move"),
        ("1. e4 Z0 2. d4 *", "move 1 is a null move"),
        ("1. e4 e5 2. Sf3 Sc6 *", "unknown move Sf3"),
        ("1. e4 e5 2.nf3 *", "unknown move nf3"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. o-o *", "unknown move o-o"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4.O\u2013O *", "unknown move O\u2013O"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0\u20130 *", "unknown move 0\u20130"),
        ("1. e4 e5 2. \u2658f3 *", "unknown move \u2658f3"),
        ("1. e4 (1. d4 d5 2. c4 e6 *", "a variation is not closed"),
        ('[Variant "Atomic"]\n\n1. e4 *', "unsupported variant Atomic"),
        ('[FEN "x"]\n\n1. e4 *', "expected 8 rows in position part of fen: 'x'"),
        ('[FEN "8/8/8/8/8/8/8/K7 w - - 0 1"]\n\n*', "illegal start position (no black king)"),
        (f"1. e4 ${'9' * 5000} *", "invalid PGN ("),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 *", "game too long (at most 6 moves)"),
    ],
)
def test_reason_for_skipping_a_game_is_given(text, reason):
    report = ReadReport()
    assert not list(report.select(found(f"{text}\n"), lambda game: game.parse(6)))
    assert str(report.reasons()).startswith(f"game 1, {reason}")


def test_many_skipped_games_are_counted_by_reason():
    report = ReadReport()
    text = "1. e5 *\n" * 3 + "1. e4 *\n" + "1. e4 -- *\n" * 2 + "1. d4 *\n"
    assert len(list(report.select(found(text), movetext))) == 2
    assert report.message() == (
        "read 2 games, skipped 5: 3 with an illegal move, first in game 1; "
        "2 with a null move, first in game 5"
    )


def test_illegal_move_in_a_variation_ends_the_variation():
    (game,) = found("1. e4 (1. d4 Ke6 $4 {bad} d5 (1... x) 2. c4) 1... e5 $1 (1... c5) 2. Nf3 *")
    assert movetext(game) == "1. e4 ( 1. d4 ) 1... e5 $1 ( 1... c5 ) 2. Nf3 *"


def test_comments_to_the_end_of_the_line_are_kept():
    (game,) = found("1. e4 ; good } move\ne5 *")
    assert movetext(game) == "1. e4 { good ) move } 1... e5 *"


def test_start_position_needs_no_setup_tag_and_may_be_chess960():
    first, second, third = found(
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 30"]\n\n30... Kd7 31. e4 *\n'
        '[Variant "Chess960"]\n[FEN "4k3/p7/8/8/8/8/8/1K4R1 w G - 0 1"]\n\n1. O-O a5 *\n'
        '[FEN ""]\n[Variant "?"]\n\n1. e4 *\n'
    )
    assert movetext(first) == "30... Kd7 31. e4 *"
    assert second.parse(9).board().chess960
    assert movetext(second) == "1. O-O a5 *"
    assert [game.is_standard for game in (first, second, third)] == [False, False, True]


def test_long_game_is_skipped_without_being_kept_in_memory(monkeypatch):
    monkeypatch.setattr(pgn, "MAX_GAME_LENGTH", 1000)
    long, after = found("1. e4 e5\n" + "2. Nf3\n" * 500 + tagged("B", "1. d4 1-0"))
    assert len(long.movetext) <= 1000
    with pytest.raises(PgnError, match="longer than"):
        long.parse(9)
    assert after.main_line(9) == ["d4"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_commands_read_the_same_games(tmp_path, capsys, encoding, newline):
    path = tmp_path / "games.pgn"
    path.write_bytes(AWKWARD.replace("\n", newline).encode(encoding))
    skipped = "skipped 2: game 2, move 2 is illegal (2. Qh6); game 4, a comment is not closed"
    expected = [("e2e4", "e7e5", "g1f3"), ("d2d4", "d7d5")]

    report = ReadReport()
    games = read_pgn(path, report)
    assert [(game.number, game.moves) for game in games] == list(zip((1, 3), expected, strict=True))
    assert games[0].titles()["first"] == "Müller"
    assert report.message() == f"read 2 games, {skipped}"

    openings = load_openings(OpeningSettings(file=str(path)))
    assert [opening.moves for opening in openings] == expected
    problem = f"{path}, game 2: move 2 is illegal (2. Qh6); skipped 2 of 4 openings"
    assert problem in capsys.readouterr().err

    with MoveCounts() as counts:
        collector = MoveCounter(counts)
        assert count_moves(path, collector).message() == f"read 2 games, {skipped}"
        assert collector.game_counts == {"used": 2, "damaged": 2}

    # The moves do not matter for ratings.
    assert main(["match", "ratings", str(path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in rows} == {"Müller", "Möller", "Ann", "Last", "B"}


def test_openings_without_moves_are_skipped(tmp_path, capsys):
    path = tmp_path / "o.pgn"
    path.write_text('[Event "a"]\n\n*\n\n[Event "b"]\n\n1. e4 *\n')
    assert [o.moves for o in load_openings(OpeningSettings(file=str(path)))] == [("e2e4",)]
    assert "o.pgn, game 1: no moves; skipped 1 of 2 openings" in capsys.readouterr().err
    path.write_text("1. e4 e5 2. Qh6 *\n")
    with pytest.raises(SettingsError, match=r"o\.pgn, game 1: move 2 is illegal"):
        load_openings(OpeningSettings(file=str(path)))


def test_library_errors_are_not_logged(caplog):
    report = ReadReport()
    with caplog.at_level(logging.DEBUG):
        assert list(report.select(found("1. e5 *\n1. e4 (1. Ke6) *\n"), movetext)) == ["1. e4 *"]
    assert (report.skipped, caplog.records) == (1, [])
