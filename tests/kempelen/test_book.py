import json

from openings.book_provider import SHIPPED_BOOK
from tests import in_process


def book(*arguments):
    return in_process.run("book", *arguments)


def test_book_is_built_merged_pruned_and_shown(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 e5, weight: 30}\n- {moves: d4}\n", "utf-8")
    built, merged, pruned = (tmp_path / f"{name}.bin" for name in ("a", "merged", "pruned"))
    assert book("build", tmp_path / "a.yaml", "-o", built).returncode == 0
    assert book("merge", built, SHIPPED_BOOK, "-o", merged).returncode == 0
    assert book("prune", merged, "-o", pruned, "--best", 1).returncode == 0
    found = json.loads(book("show", "--book", merged, "--json").stdout)
    assert [(row["san"], row["share"]) for row in found["moves"]] == [("e4", 0.75), ("d4", 0.25)]
    found = json.loads(book("show", "1. e4", "--book", pruned, "--json").stdout)
    assert [row["san"] for row in found["moves"]] == ["e5"]


def test_source_files_are_not_overwritten(tmp_path):
    lines, games = tmp_path / "a.yaml", tmp_path / "games.pgn"
    lines.write_text("- {moves: e4 e5, name: Open}\n", "utf-8")
    games.write_text('[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n', "utf-8")
    (tmp_path / "folder").mkdir()
    astray = tmp_path / "folder" / ".." / "a.yaml"
    for words in (
        ("build", lines, "-o", lines),
        ("build", games, "-o", games, "--min-games", 1),
        ("build", tmp_path, "-o", lines),
        ("extend", lines, "-o", astray, "--positions", 1),
        ("build", lines, "-o", tmp_path / "a.names"),
    ):
        before = lines.read_bytes(), games.read_bytes()
        done = book(*words)
        assert done.returncode == 2
        assert "choose another file" in done.stderr or "choose another" in done.stderr
        assert (lines.read_bytes(), games.read_bytes()) == before


def test_prune_that_keeps_nothing_leaves_the_book_unchanged(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4}\n- {moves: d4}\n", "utf-8")
    built = tmp_path / "a.bin"
    book("build", tmp_path / "a.yaml", "-o", built)
    before = built.read_bytes()
    done = book("prune", built, "-o", built, "--min-share", 60)
    assert done.returncode == 2
    assert "not written, as no move was selected" in done.stderr
    assert built.read_bytes() == before


def test_show_names_the_opening():
    done = book("show", "1.e4", "c5", "2.Nf3")
    assert done.returncode == 0
    assert "Sicilian Defence" in done.stdout


def test_invalid_arguments_are_rejected(tmp_path):
    done = book("show", "--book", tmp_path / "none.bin")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.bin" in done.stderr
    done = book("show", "e5")
    assert done.returncode == 2
    assert "illegal move: 'e5' in " in done.stderr
    (tmp_path / "a.yaml").write_text("- moves: e4\n", "utf-8")
    for words, named in (
        (
            ("build", tmp_path / "a.yaml", tmp_path / "none.pgn", "-o", tmp_path / "a.bin"),
            "none.pgn",
        ),
        (("build", tmp_path / "a.yaml", "-o", tmp_path / "none" / "a.bin"), "folder"),
        (("extend", tmp_path / "a.yaml", "-o", tmp_path / "none" / "a.bin"), "folder"),
        (("extend", tmp_path / "none.bin", "-o", tmp_path / "a.bin"), "none.bin"),
    ):
        done = book(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert named in done.stderr
    assert not (tmp_path / "a.bin").exists()


def test_check_finds_the_losing_move(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 f6 d4 g5 Nc3}\n", "utf-8")
    built = tmp_path / "a.bin"
    book("build", tmp_path / "a.yaml", "-o", built)
    done = book("check", built, "--depth", 3, "--confirm", 5, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["line"] for each in found["losing"]] == ["1. e4 f6 2. d4 g5"]
    assert found["suspected"] == 1
    assert found["illegal"] == found["unreachable"] == 0


PGN = '[White "A"]\n[Black "B"]\n[Result "{}"]\n\n1. {} {}\n\n'


def test_book_is_built_from_a_repertoire_games_and_epd(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 e5, name: Ours, eco: C20}\n", "utf-8")
    games = [PGN.format("1-0", "d4 d5", "1-0")] * 2 + [PGN.format("0-1", "c4", "0-1")]
    (tmp_path / "b.pgn").write_text("".join([*games, PGN.format("1-0", "d5", "1-0")]), "utf-8")
    epd = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - bm Nf6;\n" + (
        "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - bm c4;\n"
    )
    (tmp_path / "c.epd").write_text(epd, "utf-8")
    built = tmp_path / "book.bin"
    done = book("build", *sorted(tmp_path.iterdir()), "-o", built, "--min-games", 2, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["games"], found["games damaged"]) == (3, 1)
    moves = {}
    for line in ("", "e4", "d4", "d4 d5"):
        shown = json.loads(book("show", line, "--book", built, "--json").stdout)
        moves[line] = {row["san"]: row.get("score") for row in shown["moves"]}
    assert moves == {"": {"e4": None}, "e4": {"e5": None}, "d4": {"d5": 0}, "d4 d5": {"c4": None}}
    done = book("build", tmp_path / "b.pgn", "-o", built, "--min-games", 9)
    assert done.returncode == 2
    assert "no move was selected" in done.stderr
    assert json.loads(book("show", "e4", "--book", built, "--json").stdout)["moves"]


def test_opening_names_survive_merge_and_prune(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 e5, name: Ours, eco: C20}\n", "utf-8")
    built, merged, pruned = (tmp_path / f"{name}.bin" for name in ("a", "merged", "pruned"))
    assert book("build", tmp_path / "a.yaml", "-o", built).returncode == 0
    assert book("merge", built, built, "-o", merged).returncode == 0
    assert book("prune", merged, "-o", pruned).returncode == 0
    assert "C20 Ours" in book("show", "e4", "e5", "--book", pruned).stdout


def test_extend_continues_from_learned_positions(tmp_path):
    (tmp_path / "a.yaml").write_text("- {moves: e4 e5, name: Ours}\n", "utf-8")
    for output in ("learned.yaml", "book.bin"):
        sizes = []
        for _ in range(2):
            done = book(
                *("extend", tmp_path / "a.yaml", "-o", tmp_path / output, "--json"),
                *("--positions", 2, "--nodes", 500, "--depth", 20, "--seed", 1),
            )
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            sizes.append((found["before"], found["learned"], found["positions"]))
        assert sizes == [(2, 2, 4), (4, 2, 6)]
    done = book("extend", tmp_path / "a.yaml", "-o", tmp_path / "a.yaml")
    assert (done.returncode, (tmp_path / "a.yaml").read_text()) == (
        2,
        "- {moves: e4 e5, name: Ours}\n",
    )
    shown = book("show", "e4", "e5", "--book", tmp_path / "book.bin").stdout
    assert shown.startswith("Ours")
