"""Games of Go as SGF: what is written is read again, and what is broken is named."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.games import catalogue
from agent.games.stones import PASS
from protocols.gtp import sgf
from protocols.gtp.go_board import GoBoard
from protocols.gtp.values import GtpError

GAME = b"(;FF[4]SZ[5]KM[5.5]AB[aa][bb]AW[cc]PL[W];W[dd];B[ee];W[];B[de])"


def board(size=5, komi=7.5):
    return GoBoard(catalogue.find("go"), {"size": size, "komi": komi})


def random_game(random):
    """A game with stones that were set up or given as a handicap, moves out of turn, and undo."""
    game = board(random.randint(2, 9), random.choice((0, 6.5, -3.25, 100)))
    points = [game.game.text(move) for move in game.game.moves() if move != PASS]
    beginning = random.random()
    if beginning < 0.3 and len(points) > 8:
        game.set_free_handicap(random.sample(points, random.randint(2, 5)))
    elif beginning < 0.6 and len(points) > 8:
        stones = random.sample(points, random.randint(0, 6))
        try:
            game.set_up([(random.randrange(2), text) for text in stones])
            game.set_first(random.randrange(2))
        except GtpError:
            game.clear()
    for _ in range(random.randint(0, 60)):
        player = game.turn if random.random() < 0.9 else random.randrange(2)
        with game.turned_to(player):
            move = random.choice(list(game.game.moves()))
        game.play_found(player, move)
        if random.random() < 0.1:
            game.undo()
    return game


@pytest.mark.parametrize("seed", range(25))
def test_what_is_written_is_read_again(seed, tmp_path):
    game = random_game(Random(seed))
    file = tmp_path / "game.sgf"
    game.save(str(file))
    again = board(19, 0)
    turn = again.load(str(file), None)
    assert again.sgf() == game.sgf()
    assert str(again.game) == str(game.game)
    assert (turn, again.size, again.komi) == (game.turn, game.size, game.komi)
    assert again.game.prisoners == game.game.prisoners
    assert list(again.game.moves()) == list(game.game.moves())
    number = len(again._played)
    game.undo_all(number)
    again.undo_all(number)
    assert str(again.game) == str(game.game)


def test_a_file_stays_if_another_cannot_be_written(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(GtpError, match=r"^cannot write .*folder: Is a directory$"):
        board().save(str(folder))
    with pytest.raises(GtpError, match=r"^cannot write /dev/null: "):
        board().save("/dev/null")
    with pytest.raises(GtpError, match=r"^cannot write "):
        board().save("\0")
    assert list(tmp_path.iterdir()) == [folder]


def loading(game, file):
    """What is wrong with a file, if anything is."""
    try:
        game.load(str(file), None)
    except GtpError as error:
        return str(error)
    return None


@given(st.data())
def test_broken_files_are_named_and_nothing_is_lost(tmp_path_factory, data):
    at = data.draw(st.integers(0, len(GAME)))
    instead = data.draw(st.binary(max_size=4) | st.sampled_from([b"[", b"]", b";", b"AE[aa]"]))
    broken = GAME[:at] + instead + GAME[at + data.draw(st.integers(0, 4)) :]
    file = tmp_path_factory.getbasetemp() / "broken.sgf"
    file.write_bytes(broken)
    game = board()
    game.play(0, "C3")
    before = game.sgf()
    message = loading(game, file)
    if message is None:
        assert -1e9 <= game.game.score() <= 1e9
    else:
        assert message.startswith("cannot load file: ")
        assert game.sgf() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "."),
        ("(;SZ[25];B[aa])", "a board of size 25"),
        ("(;SZ[9]KM[nan])", "not a number"),
        ("(;SZ[9]KM[1e300])", "a komi of 1e\\+300"),
        ("(;SZ[1];B[aa])", "a board of size 1"),
        ("(;SZ[9]KM[much])", "."),
        ("(;SZ[9]PL[green])", "."),
        ("(;SZ[3]AB[ab][ba]AW[aa])", "setup position not legal"),
        ("(;SZ[3];B[aa];W[aa])", "move 2 is illegal"),
        ("(;SZ[3];B[zz])", "."),
    ],
)
def test_what_is_wrong_with_a_file(text, message, tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text(text)
    game = board()
    with pytest.raises(GtpError, match=rf"^cannot load file: .*{message}"):
        game.load(str(file), None)


def test_a_record_is_written_as_sgf_counts():
    record = sgf.Record(9, None, ([(0, 0)], [(8, 8)]), 1, [(1, (2, 6)), (0, None)])
    assert sgf.write(record, "Chinese") == (
        "(;FF[4]GM[1]CA[UTF-8]AP[Kempelen]SZ[9]RU[Chinese]AB[ai]AW[ia];W[cc];B[])"
    )
    assert isinstance(sgf.read(Path("tests/data/sgf/dead.sgf")), sgf.Record)
