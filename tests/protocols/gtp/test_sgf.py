"""SGF files: round trips, and messages about invalid files."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.games import catalogue
from agent.games.game_state import MAX_PLIES
from agent.games.go import format_size
from agent.games.go_rules import DEFAULT_RULES
from agent.games.stones import PASS
from protocols.gtp import sgf
from protocols.gtp.go_board import GtpGoBoard
from protocols.gtp.messages import GtpError
from protocols.gtp.rules import read_rules
from protocols.rulesets import read_sgf_rules

RULES = [
    replace(
        DEFAULT_RULES,
        ko=ko,
        scoring=scoring,
        tax=tax,
        handicap_bonus_rule=bonus,
        friendly_pass_ok=friendly,
        suicide=friendly,
        has_button=scoring == "AREA" and bonus == "N",
    )
    for ko in ("SIMPLE", "POSITIONAL", "SITUATIONAL")
    for scoring in ("AREA", "TERRITORY")
    for tax in ("NONE", "SEKI", "ALL")
    for bonus in ("0", "N-1", "N")
    for friendly in (True, False)
]
GAME = b"(;FF[4]SZ[5]KM[5.5]AB[aa][bb]AW[cc]PL[W];W[dd];B[ee];W[];B[de])"


def board(size=5, komi=7.5):
    return GtpGoBoard(catalogue.find("go"), {"size": size, "komi": komi})


def random_game(random):
    """A game with set-up or handicap stones, moves out of turn, and undo."""
    edges = random.randint(1, 9), random.randint(1, 9)
    size = format_size(*edges) if random.random() < 0.5 else edges[0]
    game = board(size, random.choice((0, 6.5, -3.25, 100)))
    game.set_rules(random.choice(RULES))
    points = [game.game.text(move) for move in game.game.moves() if move != PASS]
    beginning = random.random()
    if beginning < 0.3 and len(points) > 8:
        game.set_free_handicap(random.sample(points, random.randint(2, 5)))
    elif beginning < 0.6 and len(points) > 8:
        stones = random.sample(points, random.randint(0, 6))
        try:
            game.set_up([(random.randrange(2), text) for text in stones])
            game.set_player_to_move(random.randrange(2))
        except GtpError:
            game.clear()
    for _ in range(random.randint(0, 60)):
        player = game.turn if random.random() < 0.9 else random.randrange(2)
        with game.player_to_move(player):
            move = random.choice(list(game.game.moves()))
        game.play_move(player, move)
        if random.random() < 0.1:
            game.undo()
    return game


@pytest.mark.parametrize("seed", range(25))
def test_saved_game_can_be_loaded_unchanged(seed, tmp_path):
    game = random_game(Random(seed))
    file = tmp_path / "game.sgf"
    game.save(str(file))
    again = board(19, 0)
    turn = again.load(str(file), None)
    assert again.sgf() == game.sgf()
    assert str(again.game) == str(game.game)
    assert (turn, again.size, again.komi) == (game.turn, game.size, game.komi)
    assert (again.rules, again._handicap) == (game.rules, game._handicap)
    assert (again.game.komi, again.game.capture_dead_stones) == (
        game.game.komi,
        game.game.capture_dead_stones,
    )
    assert again.game.prisoners == game.game.prisoners
    assert list(again.game.moves()) == list(game.game.moves())
    number = len(again.movers)
    game.undo_moves(number)
    again.undo_moves(number)
    assert str(again.game) == str(game.game)


def test_failed_save_raises_and_leaves_files_unchanged(tmp_path):
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
    """Return the error about a file, or ""."""
    try:
        game.load(str(file), None)
    except GtpError as error:
        return str(error)
    return None


@given(st.data())
def test_loading_a_broken_file_keeps_the_current_game(tmp_path_factory, data):
    at = data.draw(st.integers(0, len(GAME)))
    instead = data.draw(st.binary(max_size=4) | st.sampled_from([b"[", b"]", b";", b"AE[aa]"]))
    broken = GAME[:at] + instead + GAME[at + data.draw(st.integers(0, 4)) :]
    file = tmp_path_factory.getbasetemp() / "broken.sgf"
    file.write_bytes(broken)
    game = board()
    game.play_text(0, "C3")
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
        ("(;SZ[25];B[aa])", "unsupported board size 25"),
        ("(;SZ[9]KM[1e300])", "invalid komi 1e\\+300"),
        ("(;SZ[1];B[aa])", "move 1 is illegal"),
        ("(;SZ[1];B[ba])", "a point is outside the board of 1x1"),
        ("(;SZ[9]PL[green])", r"PL\[green\]: invalid value in node 0"),
        ("(;SZ[19];B[Q16])", r"B\[Q16\]: invalid value in node 1"),
        ("(;SZ[9]AB[d])", r"AB\[d\]: invalid value in node 0"),
        ("(;SZ[9]KM[1000000000])", "invalid komi 1e\\+09"),
        ("(;SZ[9];B[aa];W[zz])", r"W\[zz\]: invalid value in node 2"),
        ("(;SZ[9]AB[aa][zz])", r"AB\[aa\]\[zz\]: invalid value in node 0"),
        ("(;GM[2]SZ[8];B[dc];W[ec])", r"GM\[2\]: not a game of Go"),
        ("(;SZ[3]AB[ab][ba]AW[aa])", "stones without liberties are set up"),
        ("(;SZ[3];B[aa];AW[bb])", "stones are set up after a move, in node 2"),
        ("(;SZ[3];B[aa];W[aa])", "move 2 is illegal"),
        ("(;SZ[3];B[zz])", "."),
        ("(;SZ[20:9];B[aa])", "unsupported board size 20x9"),
        ("(;SZ[9:0];B[aa])", "."),
        ("(;SZ[9:27];B[aa])", "."),
        ("(;SZ[3:5];B[da])", "a point is outside the board of 3x5"),
        ("(;SZ[5:3];B[ad])", "a point is outside the board of 5x3"),
        ("(;SZ[5:3]AB[aa][bb][cd])", "a point is outside the board of 5x3"),
        ("(;SZ[5:3];B[aa];W[ea];B[eb];W[cc];B[ea])", "move 5 is illegal"),
    ],
)
def test_load_error_describes_the_problem(text, message, tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text(text)
    game = board()
    with pytest.raises(GtpError, match=rf"^cannot load file: .*{message}"):
        game.load(str(file), None)


def loaded(tmp_path, text, rules=DEFAULT_RULES):
    """Return the board after loading an SGF file under these rules."""
    file = tmp_path / "game.sgf"
    file.write_text(text, "utf-8")
    game = board()
    game.set_rules(rules)
    game.load(str(file), None)
    return game


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_sgf_rules_round_trip(rules):
    assert read_sgf_rules(rules.sgf_name) == rules


def test_named_rules_are_written_by_name():
    names = {"chinese": "Chinese", "japanese": "Japanese", "korean": "Japanese", "aga": "AGA",
             "new-zealand": "NZ", "goe": "GOE", "tromp-taylor": "Tromp-Taylor"}  # fmt: skip
    assert {name: read_rules(name).sgf_name for name in names} == names
    assert (
        replace(DEFAULT_RULES, scoring="TERRITORY").sgf_name
        == "koPOSITIONALscoreTERRITORYtaxNONEsui0fpok1"
    )


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *(
            (name, "chinese")
            for name in ("Chinese", "chinese rules", "CN", "\u4e2d\u56fd\u89c4\u5219")
        ),
        ("Chinese-KGS", "chinese-kgs"),
        *((name, "japanese") for name in ("Japanese", " japanese ", "JP", "Japanese Rules")),
        ("\u65e5\u672c\u30eb\u30fc\u30eb", "japanese"),
        *((name, "korean") for name in ("Korean", "KR")),
        *((name, "aga") for name in ("AGA", "AGA rules", "BGA", "French")),
        *((name, "goe") for name in ("GOE", "Goe", "Ing", "Ing Goe", "Ing rules")),
        *((name, "nz") for name in ("NZ", "New Zealand", "new_zealand")),
        *((name, "tromp-taylor") for name in ("Tromp-Taylor", "Tromp Taylor rules", "TT")),
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0fpok1", "japanese"),
        ("koSIMPLEscoreAREAtaxNONEsui0whbNfpok1", "chinese"),
        ("koSITUATIONALscoreAREAtaxNONEsui0whbN-1fpok1", "aga"),
        ("koPOSITIONALscoreAREAtaxNONEsui1", "tromp-taylor"),
        ('{"scoring":"TERRITORY","ko":"SIMPLE","suicide":false}', "japanese"),
        ("koSIMPLEscoreAREAtaxALLsui0fpok1", "stone-scoring"),
        ("AGA-button", "aga-button"),
    ],
)
def test_common_rule_names_are_recognized(said, name, tmp_path):
    wrong = read_rules("aga" if name == "japanese" else "japanese")
    assert loaded(tmp_path, f"(;SZ[9]RU[{said}])", wrong).rules == read_rules(name)


@pytest.mark.parametrize(
    "said",
    ["", "Mine", "rules", "koSPIGHTscoreAREAtaxALLsui0", '{"ko":"SPIGHT"}', "{", "{}}"],
)
def test_unknown_or_unsupported_rules_are_ignored(said, tmp_path):
    aga = read_rules("aga")
    assert loaded(tmp_path, f"(;SZ[9]RU[{said}])", aga).rules == aga
    assert loaded(tmp_path, "(;SZ[9])", aga).rules == aga


@pytest.mark.parametrize(
    ("said", "komi"), [("6,5", 6.5), ("-0", 0.0), ("", 7.5), ("nan", 7.5), ("much", 7.5)]
)
def test_unreadable_komi_is_ignored(said, komi, tmp_path):
    assert str(loaded(tmp_path, f"(;SZ[9]KM[{said}])").komi) == str(komi)


@pytest.mark.parametrize(
    ("said", "komi"),
    [
        ("AP[foxwq]KM[375]", 7.5),
        ("AP[Foxwq:1]KM[650]", 6.5),
        ("AP[SGFC:2.0]KM[0]", 0.0),
        ("AP[foxwq]KM[7.5]", 7.5),
        ("AP[Sabaki]KM[375]", 375.0),
        ("KM[375]", 375.0),
    ],
)
def test_komi_in_hundredths_is_accepted_from_foxwq_only(said, komi, tmp_path):
    assert loaded(tmp_path, f"(;SZ[19]{said})").komi == komi


@pytest.mark.parametrize(
    ("properties", "stones"),
    [
        ("AB[aa][bb]", 2),
        ("AB[aa][bb]HA[2]", 2),
        ("AB[aa][bb]HA[0]", 0),
        ("AB[aa][bb]AW[cc]", 0),
        ("AB[aa][bb]AW[cc]HA[2]", 2),
        ("HA[3];B[aa];B[bb];B[cc]", 3),
        ("AB[aa][bb]HA[-1]", 2),
        ("AB[aa][bb]HA[82]", 2),
        ("AB[aa][bb]HA[two]", 2),
    ],
)
def test_sgf_handicap_sets_the_bonus_for_white(properties, stones, tmp_path):
    game = loaded(tmp_path, f"(;SZ[9]KM[0.5]RU[Chinese]{properties})")
    assert game.game.komi == 0.5 + stones
    assert loaded(tmp_path, game.sgf()).game.komi == game.game.komi


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[9]KM[0.5]HA[2];AB[cc];AB[gg];W[ee])",
        "(;SZ[9]KM[0.5]HA[2]AB[cc]AW[aa];AB[gg]AE[aa]W[ee])",
        "(;SZ[9]KM[0.5]HA[2]AB[cc][gg]W[ee])",
    ],
)
def test_setup_stones_are_accepted_before_the_first_move(text, tmp_path):
    game = loaded(tmp_path, text)
    assert "HA[2]AB[cc][gg];W[ee]" in game.sgf().replace("\n", "")


def test_sgf_distinguishes_handicap_from_setup_stones():
    game = board(9, 0.5)
    game.fixed_handicap(2)
    assert "]RU[koPOSITIONALscoreAREAtaxNONEsui0fpok1]HA[2]AB[cg][gc]PL[W]" in game.sgf()
    game.clear()
    game.set_up([(0, "A1"), (0, "A2")])
    assert "HA[0]AB[ai][ah]PL[B]" in game.sgf()
    game.clear()
    game.set_up([(0, "A1"), (1, "A2")])
    assert "HA" not in game.sgf()


def test_record_is_written_as_sgf():
    record = sgf.SgfGame((9, 9), None, ([(0, 0)], [(8, 8)]), 1, [(1, (2, 6)), (0, None)], "Chinese")
    assert sgf.write(record, {"PB": "[a]"}) == (
        "(;FF[4]GM[1]CA[UTF-8]AP[Kempelen]SZ[9]RU[Chinese]PB[[a\\]]AB[ai]AW[ia];W[cc];B[])"
    )
    assert isinstance(sgf.read(Path("tests/data/sgf/dead.sgf")), sgf.SgfGame)


@pytest.mark.parametrize(
    ("written", "size", "points"),
    [
        ("9:13", (9, 13), [(0, 12), (8, 4), (2, 10)]),
        ("13:9", (13, 9), [(0, 8), (8, 0), (2, 6)]),
        (" 13 : 13 ", (13, 13), [(0, 12), (8, 4), (2, 10)]),
    ],
)
def test_sgf_points_are_counted_from_the_upper_left(written, size, points, tmp_path):
    moves = ";B[aa];W[ii];B[cc]"
    file = tmp_path / "game.sgf"
    file.write_text(f"(;GM[1]SZ[{written}]{moves})")
    record = sgf.read(file)
    assert record.size == size
    assert [point for _, point in record.moves] == points
    width, height = size
    square = f"SZ[{width}]" if width == height else f"SZ[{width}:{height}]"
    text = sgf.write(record)
    assert square in text
    assert text.endswith(f"{moves})")


def test_new_tree_round_trips_with_its_board_size():
    for size in ((9, 9), (5, 13), (13, 5)):
        tree = sgf.new_tree(size)
        points = [(0, 0), (size[0] - 1, size[1] - 1), None, (0, size[1] - 1), (size[0] - 1, 0)]
        for number, point in enumerate(points):
            sgf.set_move(tree.extend_main_sequence(), number % 2, point)
        (again,) = sgf.parse_trees(tree.serialise())
        assert sgf.board_size(again) == size
        record = sgf.record_from_tree(again)
        assert record.moves == [(number % 2, point) for number, point in enumerate(points)]


def test_read_point_parses_gtp_vertices():
    assert sgf.read_point("C4") == (2, 3)
    assert sgf.read_point("t19") == (18, 18)
    assert sgf.read_point("PASS") is None


def test_loadsgf_rejects_too_many_moves(tmp_path):
    file = tmp_path / "long.sgf"
    file.write_text(f"(;GM[1]SZ[5];{';'.join(['B[]', 'W[]'] * (MAX_PLIES // 2))};B[aa])")
    loaded = board()
    with pytest.raises(GtpError, match=r"too many moves \(maximum 4000\)"):
        loaded.load(str(file), None)
    assert loaded.moves == []
    assert loaded.load(str(file), MAX_PLIES) == 1
