"""SGF files: round trips, and messages about invalid files."""
# ruff: noqa: RUF001 - text in many scripts

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
from agent.games.stones import PASS, iter_bits
from protocols.gtp import sgf, sgf_tree
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
        ("(;SZ[26];B[aa])", "unsupported board size 26 .maximum 25"),
        ("(;SZ[9]KM[1e300])", "invalid komi 1e\\+300"),
        ("(;SZ[9]KM[nan])", "invalid komi nan"),
        ("(;SZ[9]KM[-inf])", "invalid komi -inf"),
        ("(;SZ[1];B[aa])", "move 1 is illegal"),
        ("(;SZ[1];B[ba])", "a point is outside the board of 1x1"),
        ("(;SZ[9]PL[green])", r"PL\[green\]: invalid value in node 0"),
        ("(;SZ[19];B[Q16])", r"B\[Q16\]: invalid value in node 1"),
        ("(;SZ[9]AB[d])", r"AB\[d\]: invalid value in node 0"),
        ("(;SZ[9]KM[1000000000])", "invalid komi 1e\\+09"),
        ("(;SZ[9];B[aa];W[yy])", r"W\[yy\]: invalid value in node 2"),
        ("(;SZ[9]AB[aa][zz])", r"AB\[aa\]\[zz\]: invalid value in node 0"),
        ("(;GM[2]SZ[8];B[dc];W[ec])", r"GM\[2\]: not a game of Go"),
        ("(;SZ[3]AB[ab][ba]AW[aa])", "stones without liberties are set up"),
        ("(;SZ[3];B[aa];W[aa];AW[bb])", "move 2 is illegal"),
        ("(;SZ[3];B[aa];AW[ba][ab])", "stones without liberties are set up"),
        ("(;SZ[3];B[aa];W[aa])", "move 2 is illegal"),
        ("(;SZ[3];B[yy])", "."),
        ("(;SZ[26];B[zz])", "unsupported board size 26"),
        ("(;SZ[26:9];B[aa])", "unsupported board size 26x9"),
        ("(;SZ[60];B[aa])", "size out of range: 60"),
        ("(;SZ[big];B[aa])", r"SZ\[big\]: invalid board size"),
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
        *((name, "japanese") for name in ("日本ルール", "日本囲碁規約", "일본룰")),
        *((name, "chinese") for name in ("中国围棋规则", "중국 규칙")),
        *((name, "korean") for name in ("한국룰", "韩国规则", "한국 바둑 규칙")),
        *((name, "korean") for name in ("Korean", "KR")),
        *((name, "aga") for name in ("AGA", "AGA rules", "BGA", "French")),
        *((name, "goe") for name in ("GOE", "Goe", "Ing", "Ing Goe", "Ing rules")),
        *((name, "nz") for name in ("NZ", "New Zealand", "new_zealand")),
        *((name, "tromp-taylor") for name in ("Tromp-Taylor", "Tromp Taylor rules", "TT")),
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0", "japanese"),
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


def test_moves_that_only_ko_or_the_ban_on_suicide_forbids_are_loaded(tmp_path):
    repeating = board(5, 0)
    black = ("A5", "C5", "A4", "B4", "C4", "A3", "B3", "C3", "A2", "B2")
    white = ("D5", "D4", "D3", "E3", "C2", "D2", "B1", "D1")
    repeating.set_up([*((0, text) for text in black), *((1, text) for text in white)])
    repeating.play_all([(1, "A1"), (0, "C1"), (1, "B1")])
    suicide = board(3, 0)
    suicide.play_all([(0, "A1"), (1, "A2"), (1, "B2"), (1, "C1"), (0, "B1")])
    assert "A1" in {suicide.game.text(move) for move in suicide.game.moves()}
    for game in (repeating, suicide):
        for rules in ("chinese-ogs", "japanese", "aga"):
            game.set_rules(read_rules(rules))
            again = loaded(tmp_path, game.sgf())
            assert str(again.game) == str(game.game)
            assert (again.moves, again.rules) == (game.moves, game.rules)


@pytest.mark.parametrize(
    ("said", "komi"),
    [
        *(("6,5", 6.5), ("-0", 0.0), ("", 7.5), ("much", 7.5), ("6.5目", 6.5), ("六目半", 6.5)),
        *(("3 3/4子", 7.5), ("3又3/4子", 7.5), ("３又３／４子", 7.5), ("黑贴3¾子", 7.5)),
        *(("三又四分之三子", 7.5), ("2 3/4", 5.5), ("2 1/2子", 5.0), ("3子半", 7.0), ("¾子", 1.5)),
        *(("3.75 stones", 7.5), ("6 1/2", 6.5), ("コミ6目半", 6.5), ("半目", 0.5)),
        ("-3 3/4子", -7.5),
        *(("十目半", 7.5), ("6.5/7.5", 6.5), ("nan][6.5", 6.5)),
        (f"{'9' * 5000}/{'9' * 5000}子", 7.5),
        *(("6目半", 6.5), ("6½", 6.5), ("６．５", 6.5), ("3.75子", 7.5), ("-3,5 points", -3.5)),
        *(("reverse 5.5", -5.5), ("Reverse komi 5.5", -5.5), ("逆コミ5目半", -5.5)),
        *(("][5.5", 5.5), ("much]KM[5.5", 5.5), ("6집반", 6.5), ("黑贴目", 7.5)),
    ],
)
def test_komi_may_have_a_unit_and_unreadable_komi_is_ignored(said, komi, tmp_path):
    assert str(loaded(tmp_path, f"(;SZ[9]KM[{said}])").komi) == str(komi)


@pytest.mark.parametrize(
    ("said", "komi"),
    [
        ("AP[foxwq]KM[375]", 7.5),
        ("AP[Foxwq:1]KM[650]", 6.5),
        ("AP[SGFC:2.0]KM[0]", 0.0),
        ("AP[foxwq]KM[7.5]", 7.5),
        ("AP[Sabaki]KM[375]", 375.0),
        ("AP[GNU Go:3.8]AP[foxwq]KM[375]", 7.5),
        ("AP[foxwq]KM[375]AP[GNU Go:3.8]", 7.5),
        ("AP[][foxwq]KM[][375]", 7.5),
        ("KM[375]", 375.0),
        ("US[GoGoD95]KM[3.75]RU[Chinese]", 7.5),
        ("US[GoGoD95]KM[6.5]", 6.5),
        ("LC[5]KO[6.5]GK[1]", 6.5),
        ("KM[5.5]KO[6.5]", 5.5),
        ("KO[];B[aa];W[bb]KO[6.5]", 7.5),
        ("KM[3.75]", 3.75),
    ],
)
def test_komi_in_hundredths_and_in_stones_is_accepted_from_known_sources_only(said, komi, tmp_path):
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
        ("HA[３];B[aa];B[bb];B[cc]", 3),
        ("HA[三子];B[aa];B[bb];B[cc]", 3),
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
        ("9×13", (9, 13), [(0, 12), (8, 4), (2, 10)]),
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


def test_written_tree_round_trips_with_its_board_size():
    for size in ((9, 9), (5, 13), (13, 5)):
        tree = node = sgf_tree.Node()
        tree.set("SZ", sgf.size_text(size))
        points = [(0, 0), (size[0] - 1, size[1] - 1), None, (0, size[1] - 1), (size[0] - 1, 0)]
        for number, point in enumerate(points):
            node = sgf_tree.Node(node)
            sgf.set_move(node, number % 2, point, size)
        (again,) = sgf.parse_trees(sgf_tree.serialise(tree))
        record = sgf.read_main_section(again)
        assert record.size == size
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


def rows(game):
    """Return the rows of a board from the top, without coordinates."""
    return ["".join(line.split()[1:]) for line in str(game.game).splitlines()[:-1]]


JAPANESE = "(;GM[1]FF[4]{}SZ[19]PW[ソ表能]KM[6.5];B[pd]C[表ソ];W[dp];B[pq]C[十])"
CHINESE = "(;GM[1]FF[4]{}SZ[19]PB[柯洁 九段]RE[黑中盘胜]KM[6.5];B[pd]C[赸];W[dp];B[pq])"


@pytest.mark.parametrize(
    ("text", "encoding", "charset"),
    [
        *((JAPANESE, "cp932", name) for name in ("Shift_JIS", "x-sjis", "windows-31j", "sjis")),
        *((JAPANESE, "cp932", name) for name in (None, "", "ANSI", "unknown", "UTF-8", "rot13")),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (JAPANESE, "iso2022_jp", None),
        *((JAPANESE, "utf-16", name) for name in (None, "UTF-16", "Shift_JIS", "UTF-8")),
        *((JAPANESE, "utf-16-le", name) for name in (None, "UTF-16")),
        *((JAPANESE, "utf-8", name) for name in (None, "", "utf8", "ANSI", "Shift_JIS", "utf_16")),
        *((JAPANESE, "utf-8-sig", name) for name in (None, "Shift_JIS")),
        *((CHINESE, "gb18030", name) for name in ("GB2312", "gbk", "x-gbk", "cp936", None, "ANSI")),
        (CHINESE, "utf-8", "GBK"),
    ],
)
def test_moves_and_names_are_read_in_all_encodings(text, encoding, charset, tmp_path):
    text = text.format("" if charset is None else f"CA[{charset}]")
    file = tmp_path / "game.sgf"
    file.write_bytes(text.encode(encoding))
    record = sgf.read(file)
    assert [point for _, point in record.moves] == [(15, 15), (3, 3), (15, 2)]
    assert record.komi == 6.5
    (tree,) = sgf.read_trees(file)
    assert (tree.get("PW") or tree.get("PB")) in ("ソ表能", "柯洁 九段")
    written = sgf_tree.serialise(tree)
    assert "CA[UTF-8]" in written
    (again,) = sgf.parse_trees(sgf_tree.decode_sgf(written.encode()))
    assert [node.properties for node in again.main_line()][1:] == [
        node.properties for node in tree.main_line()
    ][1:]


def test_games_of_a_file_may_have_different_encodings(tmp_path):
    file = tmp_path / "games.sgf"
    games = [("Shift_JIS", "ソ表"), ("GB18030", "柯洁"), ("UTF-8", "é"), ("EUC-KR", "이창호")]
    file.write_bytes(
        b"\n".join(f"(;CA[{name}]SZ[9]PB[{text}];B[aa])".encode(name) for name, text in games)
    )
    trees = sgf.read_trees(file)
    assert [tree.get("PB") for tree in trees] == [text for _, text in games]
    assert all(sgf.read_main_section(tree).moves == [(0, (0, 8))] for tree in trees)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(GM[1]SZ[9];B[aa];W[bb])", 2),
        ("( GM[1]SZ[9];B[aa](W[bb];B[cc])(;W[dd]))", 3),
        ("(;SZ[9];B[aa];W[bb]", 2),
        ("(;SZ[9];B[aa];W[bb](;B[cc]", 3),
        ("(;SZ[9];B[aa];W[bb];B[c", 2),
        ("(;SZ[9];B[aa];W[bb]C[a comment (;B", 2),
        ("(;SZ[9];B[aa];W[bb]))", 2),
        ("From: a (b)\n\n(;SZ[9];B[aa];W[bb])", 2),
        ("(;SZ[9];Black[aa];W[bb];White[cc];B[tt];W[])", 5),
        ("(;SZ[9]KM;B [aa]\r\n[bb] ; W\n[ bb ]C[x\\]y];)", 2),
        ("(;SZ[9]C[(;B\\]];B[aa]C[\\\\];W[bb])", 2),
        ("(;SZ[9];B[aa]W[bb])", 2),
        (";SZ[9];B[aa];W[bb])", 2),
        ("(;SZ[9];B[AA];W[TT];B[ b B ])", 3),
        ("(;GM[01]SZ[9 x 9];B[aa])", 1),
        ("(;SZ[9路];B[aa])", 1),
        ("(;SZ[9];B[zz];W[pass];B[Pass];W[aa])", 4),
        ("(;SZ[9]B2[x]AB_1[y];B[aa]W3[cc];W[bb])", 2),
    ],
)
def test_incomplete_and_unusual_files_are_read(text, moves, tmp_path):
    assert len(loaded(tmp_path, text).moves) == moves


def test_truncated_game_spares_the_other_games_of_a_file():
    trees = sgf.parse_trees(
        "(;SZ[5];B[aa])(;FF[4]SZ[5];B[bb];W[cc]\n(;FF[4]SZ[5];B[dd])(;SZ[5];B[e"
    )
    counts = [len(sgf.read_main_section(tree).moves) for tree in trees]
    assert counts == [1, 2, 1, 0]
    assert len(sgf.parse_trees("(;B[aa]C[a comment (;B")) == 1


@pytest.mark.parametrize(
    ("text", "expected", "turn"),
    [
        ("(;SZ[3];B[aa];W[bb];AW[cc]AE[aa];B[ac])", ["...", ".O.", "X.O"], 1),
        ("(;SZ[3];B[aa];AW[ca];AB[cc])", ["X.O", "...", "..X"], 1),
        ("(;SZ[3];B[aa];AW[ca]PL[B])", ["X.O", "...", "..."], 0),
        ("(;SZ[3];B[aa];PL[B])", ["X..", "...", "..."], 0),
        ("(;SZ[3];B[aa];PL[B];B[cc])", ["X..", "...", "..X"], 1),
        ("(;SZ[3];PL[W])", ["...", "...", "..."], 1),
        ("(;SZ[3];AB[aa];PL[2])", ["X..", "...", "..."], 1),
        ("(;SZ[3]AB[aa:cc]AE[bb];AE[aa:ba];AW[aa])", ["O.X", "X.X", "XXX"], 0),
        # White captures before the stones are set up.
        ("(;SZ[3];B[aa];W[ba];B[cc];W[ab];AB[bb])", [".O.", "OX.", "..X"], 0),
    ],
)
def test_stones_may_be_set_up_and_the_turn_changed_in_any_node(text, expected, turn, tmp_path):
    game = loaded(tmp_path, text)
    assert rows(game) == expected
    assert game.turn == turn
    again = loaded(tmp_path, game.sgf())
    assert (rows(again), again.turn) == (expected, turn)


def test_handicap_bonus_survives_a_setup_in_mid_game(tmp_path):
    game = loaded(tmp_path, "(;SZ[9]KM[0.5]RU[Chinese]AB[aa][bb];W[cc];AW[dd];B[ee])")
    assert game.game.komi == 2.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(;SZ[3];B[aa]KO[];W[bb])", ["X..", ".O.", "..."]),
        ("(;SZ[3];B[aa];W[aa]KO[])", ["O..", "...", "..."]),
        ("(;SZ[3];B[ba];W[aa];B[ab]KO[];W[aa]KO[];B[cc])", [".X.", "X..", "..X"]),
    ],
)
def test_a_move_with_ko_is_played_even_if_it_is_illegal(text, expected, tmp_path):
    assert rows(loaded(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "stones", "turn"),
    [
        ("(;SZ[9]HA[4])", "C3 C7 G3 G7", 1),
        ("(;SZ[9]HA[4]PL[B])", "C3 C7 G3 G7", 0),
        ("(;SZ[9]HA[2];W[aa])", "C3 G7 A9", 0),
        ("(;SZ[9]HA[2];B[aa];B[bb];W[cc])", "A9 B8 C7", 0),
        ("(;SZ[9]HA[2]AB[aa][bb])", "A9 B8", 1),
        ("(;SZ[9]HA[2];AB[aa];AB[bb];W[cc])", "A9 B8 C7", 0),
        ("(;SZ[5]HA[4];W[aa])", "A5", 0),
        ("(;SZ[9]HA[0];W[aa])", "A9", 0),
        ("(;SZ[9];HA[2]KM[0.5];W[aa])", "C3 G7 A9", 0),
    ],
)
def test_handicap_without_stones_is_placed_on_star_points(text, stones, turn, tmp_path):
    game = loaded(tmp_path, text)
    occupied = game.game.stones.sets[1] | game.game.stones.sets[2]
    assert set(map(game.game.text, iter_bits(occupied))) == set(stones.split())
    assert game.turn == turn


@pytest.mark.parametrize("size", [20, 25])
def test_boards_up_to_25_are_read_and_played_by_the_plain_search(size, tmp_path):
    far = chr(ord("a") + size - 1)
    game = loaded(tmp_path, f"(;SZ[{size}];B[{far}a];W[tt])")
    last = sgf.COLUMNS[size - 1]
    assert game.moves == [f"{last}{size}", f"U{size - 19}"]
    game.is_compiled = True
    message = rf"^unacceptable size: unsupported board size {size} \(maximum 19 in the compiled"
    with pytest.raises(GtpError, match=message):
        game.resize(size)
    with pytest.raises(GtpError, match=r"^cannot load file: unsupported board size .* compiled"):
        game.load(str(tmp_path / "game.sgf"), None)


def test_large_file_is_read(tmp_path):
    file = tmp_path / "large.sgf"
    file.write_text(f"(;SZ[9]C[{'x' * (5 << 20)}];B[aa];W[bb])")
    assert len(sgf.read(file).moves) == 2


@pytest.mark.parametrize(
    ("until", "moves"), [("B8", 1), ("c7", 2), ("pass", 3), (1, 0), (0, 0), (3, 2), (9, 4)]
)
def test_loading_stops_before_a_move(until, moves, tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[9];B[aa];W[bb];B[cc];W[])")
    game = board()
    game.load(str(file), until)
    assert len(game.moves) == moves
    assert game.turn == moves % 2


def test_loading_stops_before_a_move_around_a_setup(tmp_path):
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[3];B[aa];W[bb];AB[cc];B[ac];W[ca])")
    game = board()
    expected = {1: ["...", "...", "..."], 2: ["X..", "...", "..."], 3: ["X..", ".O.", "..X"]}
    expected |= {4: ["X..", ".O.", "X.X"], "C3": ["X..", ".O.", "X.X"]}
    for until, shown in expected.items():
        game.load(str(file), until)
        assert rows(game) == shown, until
    with pytest.raises(GtpError, match=r"^cannot load file: no move at B1$"):
        game.load(str(file), "B1")


def test_deep_and_broad_trees_are_read_and_written():
    text = "(;SZ[5]" + "(;B[aa];W[bb]" * 20_000 + ")" * 20_001
    (tree,) = sgf.parse_trees(text)
    assert len(list(tree.main_line())) == 40_001
    assert len(sgf_tree.serialise(tree)) > len(text) // 2
    assert len(sgf.parse_trees("(;B[aa])" * 1000)) == 1000
