"""The analysis page: loading files, live analysis, and reviews of games."""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from websockets.sync.client import connect

from agent.games.variants import VARIANTS, board_class
from agent.limits import Limits
from kempelen.cli import main
from kempelen.console.settings_codec import decode
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.chess_review import ParsedChessGame
from kempelen.match.review.go_review import read_sgf
from kempelen.match.review.move_annotation import PositionEval
from kempelen.match.review.parsed_game import MAX_VARIATION_LENGTH
from kempelen.web.analyse import live_analysis
from kempelen.web.analyse import page as analysing
from kempelen.web.analyse.game_analysis import (
    MAX_GAMES,
    MAX_MOVES,
    AnalysisError,
    add_move,
    describe_position,
    load_games,
    parse_game,
)
from kempelen.web.channel import MAX_UNSENT_BYTES, Channel
from kempelen.web.layout import page_words
from kempelen.web.visitor_locks import MAX_PENDING, VisitorLocks
from protocols.server.limits import ServerLimits
from protocols.server.tokens import new_token
from tests.kempelen.web.support import PATIENCE, Served, serving
from tests.support import BLUNDER_SGF

SCRIPT = "<script>alert(1)</script>"
PGN = f'[White "{SCRIPT}"]\n[Black "B"]\n\n1. f3 {{{SCRIPT}}} e5 2. g4 Qh4# 0-1\n\n1. e4 *\n'
SGF = f"(;GM[1]SZ[5]KM[0.5]PB[{SCRIPT}]C[{SCRIPT}];B[cc];W[bb];B[];W[dd])"
ANNOTATED = """[Event "Casual"]
[White "Réti"]
[Black "Tartakower"]
[ECO "B15"]

1. f3 {Opened boldly} e5 (1... d5 2. e4) 2. g4 $1 Qh4# 0-1
"""
NAMED = "(;GM[1]SZ[5]KM[0.5]CA[UTF-8]PB[柯洁]C[Opened boldly];B[cc](;W[bb];B[];W[dd])(;W[cb]))"
SPANISH = {"Accept-Language": "es"}
MATE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"


class Analysis:
    """The page's channel and requests."""

    def __init__(self, served: Served, **headers: str) -> None:
        self.served = served
        address = f"ws://127.0.0.1:{served.port}/analyse/channel"
        self.socket = connect(
            address, additional_headers=headers, open_timeout=PATIENCE, proxy=None
        )

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        answered, _, text = self.served.ask("POST", f"/analyse/{path}", body)
        assert answered == status, text
        return json.loads(text)

    def load_games(self, text: str) -> list[dict[str, Any]]:
        games: list[dict[str, Any]] = self.post("load", {"text": text})["games"]
        return games

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def hear(self, kind: str, until: str = "") -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
            if message["kind"] == kind and (not until or message[until]):
                return message


@pytest.fixture
def page(served: Served) -> Iterator[Analysis]:
    made = Analysis(served)
    yield made
    made.socket.close()


def test_pgn_sgf_and_fen_load_with_names_and_comments(page: Analysis) -> None:
    first, second = page.load_games(PGN)
    assert first["players"] == [SCRIPT, "B"]
    assert first["positions"][1]["comment"] == SCRIPT
    assert first["moves"] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert [each.get("move") for each in second["positions"]] == [None, "e4"]
    (go,) = page.load_games(SGF)
    assert go["players"][0] == SCRIPT
    assert go["positions"][0]["comment"] == SCRIPT
    assert go["positions"][2]["rows"][1] == ".O..."
    (position,) = page.load_games(MATE)
    assert position["positions"] == [{"type": "chess", "fen": MATE, "comment": ""}]
    for game, text in ((first, PGN), (go, SGF)):
        assert load_games(game["source"])[0]["positions"] == load_games(text)[0]["positions"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected PGN, SGF or FEN"),
        ("hello", "no chess game"),
        ("1. e4 Ke2", "game 1"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "illegal position (no white king, no black king, empty)"),
        ("(;SZ[", "SGF"),
        ("(;SZ[nine];B[aa])", "SZ[nine]: invalid board size"),
        ("(;SZ[5];B[yy])", "game 1"),
        ("(;SZ[5];B[aa];W[aa])", "Illegal move"),
        ("(" * 50_000, "SGF"),
        (f"1. e4 ${'9' * 5000} *", "game 1, invalid PGN ("),
        ("1. e4 " * 200_000, "use kempelen analyse FILE"),
    ],
)
def test_unreadable_text_is_rejected(page: Analysis, text: str, message: str) -> None:
    assert message in page.post("load", {"text": text}, 422)["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"study": {"game": "chess", "moves": ["e2e5"]}, "ply": 0, "move": "e4"},
        {"study": {"game": "chess", "moves": 7}, "ply": 0, "move": "e4"},
        {"study": {"game": "chess", "moves": ["0000"]}, "ply": 1, "move": "e5"},
        {"study": {"game": "chess", "moves": []}, "ply": 0, "move": "--"},
        {"study": {"game": "chess", "moves": [], "start": "x"}, "ply": 0, "move": "e4"},
        {"study": {"game": "chess", "moves": []}, "ply": 0, "move": "e5"},
        {"study": {"game": "go", "query": {"boardXSize": 99}}, "ply": 0, "move": "C3"},
        {"study": {"game": "go", "query": {"id": "x"}}, "ply": 0, "move": "C3"},
        {"study": {"game": "nim"}, "ply": 0, "move": "1"},
    ],
)
def test_invalid_studies_are_rejected(page: Analysis, body: Any) -> None:
    assert page.post("move", body, 422)["error"]
    page.send(kind="look", look=1, ply=0, study={**body["study"], "moves": ["a1a8"]})
    assert page.hear("refused")["text"]


def test_chess_and_go_moves_are_accepted_in_each_notation(page: Analysis) -> None:
    study = {"game": "chess", "start": None, "moves": ["e2e4"]}
    for move in ("Nf6", "g8f6"):
        made = page.post("move", {"study": study, "ply": 1, "move": move})
        assert made["moves"] == ["e2e4", "g8f6"]
    promoting = {"game": "chess", "start": "8/P6k/8/8/8/8/8/K7 w - - 0 1", "moves": []}
    made = page.post("move", {"study": promoting, "ply": 0, "move": "a7a8"})
    assert made["moves"] == ["a7a8q"]
    (go,) = page.load_games(SGF)
    study = {"game": "go", "query": go["query"]}
    made = page.post("move", {"study": study, "ply": 1, "move": "d4"})
    assert made["query"]["moves"] == [["B", "C3"], ["W", "D4"]]
    assert page.post("move", {"study": study, "ply": 1, "move": "C3"}, 422)["error"]
    assert page.post("move", {"ply": 1}, 400)["error"]


@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_game_of_variant_is_analysed_by_its_rules(variant: str) -> None:
    board = board_class(variant)()
    move = next(iter(board.legal_moves))
    text = f'[Variant "{board.aliases[0]}"]\n\n1. {board.san(move)} *\n'
    if variant == "racingkings":
        text = f'[FEN "{board.fen()}"]\n{text}'
    (study,) = load_games(text)
    assert study["variant"] == variant
    assert study["moves"] == [move.uci()]
    board.push(move)
    names = ("game", "start", "moves", "variant")
    shown = describe_position({name: study[name] for name in names}, "en")
    assert shown["legal"] == [each.uci() for each in board.legal_moves]
    assert shown["opening"] == ""


def test_game_of_unknown_variant_is_rejected() -> None:
    with pytest.raises(AnalysisError, match=r"variant: unknown 'losers' \(expected one of: chess"):
        parse_game({"game": "chess", "start": None, "moves": [], "variant": "losers"})


def test_position_has_legal_moves_and_an_opening_name(page: Analysis) -> None:
    moves = ["e2e4", "e7e5", "g1f3", "d7d6"]
    played = {"game": "chess", "start": None, "moves": moves}
    said = page.post("position", played)
    assert said["opening"] == "C41 Philidor Defence"
    _, _, text = page.served.ask("POST", "/analyse/position", played, **SPANISH)
    assert json.loads(text)["opening"] == "C41 Defensa Philidor"
    assert len(said["legal"]) == 27
    assert "f1b5" in said["legal"]
    mated = {"game": "chess", "start": MATE, "moves": ["d1d8"]}
    assert page.post("position", mated) == {"legal": [], "check": True, "opening": ""}
    assert page.post("position", {"moves": ["e2e5"]}, 422)["error"]


def test_new_search_request_replaces_running_search(page: Analysis) -> None:
    start = {"game": "chess", "start": None, "moves": []}
    page.send(kind="look", look=1, study=start, ply=0)
    assert page.hear("lines")["look"] == 1
    mate = {"game": "chess", "start": MATE, "moves": []}
    page.send(kind="look", look=2, study=mate, ply=0)
    message = page.hear("lines")
    while message["look"] == 1 or not message["lines"]:
        message = page.hear("lines")
    best = message["lines"][0]
    assert (best["mate"], best["moves"], best["arrow"]) == (1, ["Rd8#"], ["d1", "d8"])
    over = {"game": "chess", "start": MATE, "moves": ["d1d8"]}
    page.send(kind="look", look=3, study=over, ply=1)
    while message["look"] != 3:
        message = page.hear("lines")
    assert message["done"]
    page.send(kind="stop")


def test_go_search_reports_ownership(page: Analysis) -> None:
    (go,) = page.load_games(SGF)
    page.send(kind="look", look=5, study={"game": "go", "query": go["query"]}, ply=4)
    message = page.hear("lines")
    assert message["look"] == 5
    assert len(message["owners"]) == 25
    assert 0 <= message["lines"][0]["expected"] <= 1
    page.send(kind="stop")


def test_chess_and_go_games_are_reviewed(page: Analysis) -> None:
    page.send(kind="review", study=page.load_games(PGN)[0], nodes=2000)
    review = page.hear("review", "finished")
    assert [move["grade"] for move in review["moves"]][2:] == ["blunder", ""]
    assert review["tallies"][0]["blunders"] == 1
    go = page.load_games(BLUNDER_SGF)[0]
    page.send(kind="review", study={"game": "go", "query": go["query"]}, nodes=150)
    review = page.hear("review", "finished")
    assert [move["grade"] for move in review["moves"]] == ["blunder", ""]
    assert [len(owners) for owners in review["owners"]] == [25] * 3
    assert set("".join(review["owners"])) <= set("abcdefghijklmnopqrstu")
    page.send(kind="review", study=go, nodes=True)
    assert "nodes" in page.hear("refused")["text"]
    page.send(kind="nonsense")
    assert page.hear("refused")["text"].startswith("kind: must be")


def test_a_move_is_judged_as_in_a_review(page: Analysis) -> None:
    game = page.load_games("1. f3 e5 2. g4 *")[0]
    page.send(kind="review", study=game, nodes=analysing.DEFAULT_NODES[ParsedChessGame])
    reviewed = page.hear("review", "finished")["moves"][-1]
    judged = page.post("judge", {"study": game, "ply": 2, "move": "g2g4"})
    position = judged.pop("position")
    assert judged == reviewed
    assert (judged["grade"], judged["best"] == "g4") == ("blunder", False)
    assert (position["move"], position["played"], position["last"]) == ("g4", "g2g4", ["g2", "g4"])


def test_moves_nearly_as_good_as_the_best_are_good(page: Analysis) -> None:
    start = {"game": "chess", "start": None, "moves": []}
    for move in ("e4", "d4", "Nf3", "c4"):
        judged = page.post("judge", {"study": start, "ply": 0, "move": move})
        assert judged["grade"] == ""
        assert judged["loss"] < 0.05
    go = page.load_games(BLUNDER_SGF)[0]
    passed = page.post("judge", {"study": go, "ply": 0, "move": "pass"})
    assert (passed["grade"], passed["best"]) == ("blunder", "E1")
    assert passed["position"]["played"] == "B pass"
    best = page.post("judge", {"study": go, "ply": 0, "move": "E1"})
    assert best["grade"] == ""
    assert best["position"]["rows"][4][4] == "X"
    assert page.post("judge", {"study": start, "ply": 0, "move": "e5"}, 422) == {
        "error": "illegal move"
    }
    assert page.post("judge", {"study": start, "ply": 0}, 400)


def test_number_of_lines_and_the_threat_are_searched(page: Analysis) -> None:
    after_mate_threat = {"game": "chess", "start": MATE.replace(" w ", " b "), "moves": []}
    page.send(kind="look", look=1, study=after_mate_threat, ply=0, lines=5)
    while len((message := page.hear("lines"))["lines"]) < 5:
        assert message["look"] == 1
    page.send(kind="look", look=2, study=after_mate_threat, ply=0, lines=1, threat=True)
    while (message := page.hear("lines"))["look"] != 2 or not message["lines"]:
        pass
    assert message["lines"][0]["moves"][0] == "Rd8#"
    assert message["lines"][0]["mate"] == 1
    # There is no threat in check.
    page.send(kind="look", look=3, study={"game": "chess", "start": MATE, "moves": ["d1d8"]},
              ply=1, threat=True)  # fmt: skip
    while (message := page.hear("lines"))["look"] != 3:
        pass
    assert (message["lines"], message["done"]) == ([], True)
    go = {"game": "go", "query": page.load_games(SGF)[0]["query"]}
    page.send(kind="look", look=4, study=go, ply=1, lines=2, threat=True)
    while (message := page.hear("lines"))["look"] != 4:
        pass
    assert 1 <= len(message["lines"]) <= 2
    page.send(kind="stop")
    for more in ({"lines": 6}, {"lines": 0}, {"effort": 3}, {"effort": True}, {"ply": 9}):
        page.send(**{"kind": "look", "look": 5, "study": go, "ply": 0, **more})
        assert "must be valid numbers" in page.hear("refused")["text"]


def test_effort_raises_the_limits_of_a_search(
    page: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = []

    def limits(movetime: float) -> Limits[Any]:
        seconds.append(movetime)
        return Limits(movetime=0.01)

    monkeypatch.setattr(live_analysis, "Limits", limits)
    for effort in range(live_analysis.MAX_EFFORT + 1):
        page.send(kind="look", look=effort, ply=0, lines=1, effort=effort,
                  study={"game": "chess", "start": None, "moves": []})  # fmt: skip
        while page.hear("lines", "done")["look"] != effort:
            pass
    assert seconds == [20, 80, 320]


def test_position_of_go_without_moves_is_loaded(page: Analysis) -> None:
    (game,) = page.load_games("(;GM[1]FF[4]SZ[5]PL[W]AB[cc]AW[cd])")
    assert game["query"]["initialPlayer"] == "W"
    assert game["positions"][0]["rows"][2:4] == ["..X..", "..O.."]
    assert page.load_games("(;GM[1]SZ[5]PL[B])")[0]["positions"][0]["rows"] == ["....."] * 5


def judged(page: Analysis, study: dict[str, Any], nodes: int) -> dict[str, Any]:
    """Review a game, and return what the page sends to export it."""
    page.send(kind="review", study=study, nodes=nodes)
    review = page.hear("review", "finished")
    names = ("said", "nodes")
    return {"game": study["game"], "source": study["source"], **{n: review[n] for n in names}}


@pytest.mark.thorough
def test_reviewed_chess_game_matches_command_output(page: Analysis, tmp_path: Path) -> None:
    """The export has the comments, variations and tags of the original file."""
    given, made = tmp_path / "game.pgn", tmp_path / "judged.pgn"
    given.write_text(ANNOTATED)
    assert main(["analyse", str(given), "-o", str(made), "--nodes", "3000"]) == 0
    answer = page.post("record", judged(page, page.load_games(ANNOTATED)[0], 3000))
    assert answer == {"name": "analysed.pgn", "text": made.read_text()}
    assert "Opened boldly" in answer["text"]
    assert "[%eval" in answer["text"]


def test_reviewed_go_game_is_written_as_sgf(page: Analysis, tmp_path: Path) -> None:
    """The export equals the annotated original file."""
    given = tmp_path / "game.sgf"
    given.write_text(NAMED)
    sent = judged(page, page.load_games(NAMED)[0], 60)
    (score,) = read_sgf(given)
    known = AnalysisFile(None, "")
    for key, evaluation in zip(score.keys(known), sent["said"], strict=True):
        known.add(key, decode(PositionEval, evaluation))
    text = score.annotated(known, "Kempelen, 60 visits a move")
    assert page.post("record", sent) == {"name": "analysed.sgf", "text": text}
    assert "Opened boldly" in text
    assert text.count("V[") == 4


def test_rectangular_board_is_shown_and_written(page: Analysis, tmp_path: Path) -> None:
    text = "(;GM[1]SZ[5:3]KM[0.5];B[ac];W[ea])"
    (shown,) = page.load_games(text)
    assert shown["positions"][2]["rows"] == ["....O", ".....", "X...."]
    assert (shown["query"]["boardXSize"], shown["query"]["boardYSize"]) == (5, 3)
    on = add_move(shown, 1, "E1")
    assert on["positions"][2]["rows"] == [".....", ".....", "X...O"]
    assert "SZ[5:3]" in on["source"]
    with pytest.raises(AnalysisError, match="not on the board"):
        add_move(shown, 1, "A4")
    given = tmp_path / "game.sgf"
    given.write_text(text)
    (score,) = read_sgf(given)
    known = AnalysisFile(None, "")
    for key, expected in zip(score.keys(known), (0.9, 0.9, 0.5), strict=True):
        known.add(key, PositionEval(expected, line=("C3", "D1", "pass")))
    written = score.annotated(known, "Kempelen")
    assert "SZ[5:3]" in written
    assert "(;B[ca];W[dc];B[tt])" in "".join(written.split("\n"))


@pytest.mark.parametrize(("text", "moves"), [(PGN, ("e5",)), (SGF, ("D4", "pass"))])
def test_reviewed_game_includes_added_moves(
    page: Analysis, text: str, moves: tuple[str, ...]
) -> None:
    study = {**page.load_games(text)[0], "players": ['An "A"', "B]"]}
    for ply, move in enumerate(moves, 1):
        study = page.post("move", {"study": study, "ply": ply, "move": move})
    answer = page.post("record", judged(page, study, 40))
    (again,) = page.load_games(answer["text"])
    assert again["players"] == ['An "A"', "B]"]
    assert len(again["positions"]) == 2 + len(moves)
    assert "Kempelen, 40 " in answer["text"]


def test_review_that_does_not_match_game_is_rejected(page: Analysis) -> None:
    chess = judged(page, page.load_games("1. e4 *")[0], 40)
    go = judged(page, page.load_games(SGF)[0], 20)
    evaluation = chess["said"][0]
    for wrong in (
        {**chess, "said": chess["said"][1:]},
        {**chess, "said": [None, None]},
        {**chess, "said": [{**evaluation, "cp": 10**400}, evaluation]},
        {**chess, "said": [{**evaluation, "expected": "nan"}, evaluation]},
        {**chess, "said": 7},
        {**chess, "nodes": 0},
        {**chess, "source": "1. e5 *"},
        {**chess, "source": None},
        {**go, "source": "(;SZ["},
        {**go, "said": [{**go["said"][0], "line": ["Z99"]}, *go["said"][1:]]},
        {},
    ):
        assert page.post("record", wrong, 422)["error"]
    assert page.post("record", chess)["text"]


@pytest.mark.parametrize(
    ("encoding", "charset"),
    [("shift_jis", "CA[x-sjis]"), ("shift_jis", ""), ("utf-16", ""), ("utf-8", "CA[Shift_JIS]")],
)
def test_sgf_file_is_decoded_as_by_the_commands(
    page: Analysis, encoding: str, charset: str
) -> None:
    text = f"(;GM[1]SZ[5]{charset}PB[ソ表能];B[cc]C[表];W[bb];B[dd]"
    content = base64.b64encode(text.encode(encoding)).decode()
    (go,) = page.post("load", {"file": content})["games"]
    assert go["players"][0] == "ソ表能"
    assert len(go["positions"]) == 4
    pgn = base64.b64encode(PGN.encode("utf-8-sig")).decode()
    assert len(page.post("load", {"file": pgn})["games"]) == 2
    assert page.post("load", {"file": "?"}, 422)["error"] == "file: must be in Base64"


def test_stones_set_up_after_a_move_leave_the_longest_part(page: Analysis) -> None:
    text = "(;SZ[5]KM[0.5];B[aa]C[left];AB[cc]AW[cd]C[new];W[bb]C[first];B[bc];W[];AE[cc])"
    (go,) = page.load_games(text)
    assert go["query"]["initialStones"] == [["B", "A5"], ["B", "C3"], ["W", "C2"]]
    assert go["query"]["moves"] == [["W", "B4"], ["B", "B3"], ["W", "pass"]]
    assert [each.get("comment") for each in go["positions"]] == ["left\nnew", "first", None, None]
    sent = judged(page, go, 20)
    annotated = page.post("record", sent)["text"]
    assert annotated.count(";W[bb]C[first") == 1
    assert "Black" not in annotated.split(";W[bb]")[0]


def test_sgf_charset_is_ignored_for_decoded_text(page: Analysis) -> None:
    """The text was decoded already, whatever charset the file names."""
    for charset in ("", "CA[GB18030]"):
        (go,) = page.load_games(f"(;GM[1]SZ[5]{charset}PB[柯洁]C[é];B[cc])")
        assert go["players"][0] == "柯洁"
        assert go["positions"][0]["comment"] == "é"
        assert "柯洁" in go["source"]


@pytest.mark.thorough
def test_review_of_longest_go_game_fits_in_one_message() -> None:
    """It is below the limit of unsent bytes, on the largest board."""
    moves = [["BW"[ply % 2], "pass"] for ply in range(MAX_MOVES)]
    query = {"boardXSize": 19, "boardYSize": 19, "rules": "chinese", "moves": moves}
    study = parse_game({"game": "go", "query": query})
    known = AnalysisFile(None, "")
    line = tuple("Q16" for _ in range(MAX_VARIATION_LENGTH + 1))
    for key in study.keys(known):
        evaluation = PositionEval(0.4567, lead=-10.25, line=line, nodes=2000, owners=(-0.87,) * 361)
        known.add(key, evaluation)
    message = analysing._review_message(study, known, MAX_MOVES + 1, TimeControl(nodes=2000))
    assert len(json.dumps(message)) < MAX_UNSENT_BYTES


def test_damaged_games_of_a_file_are_skipped_and_named(page: Analysis) -> None:
    answer = page.post("load", {"text": "1. e4 *\n\n1. e4 Ke6 *\n\n1. d4 *\n"})
    assert [game["moves"] for game in answer["games"]] == [["e2e4"], ["d2d4"]]
    reason = "game 2, move 1 is illegal (1... Ke6)"
    assert answer["skipped"] == f"read 2 games, skipped 1: {reason}"
    assert page.post("load", {"text": SGF})["skipped"] == ""


def test_number_of_games_read_from_file_is_limited() -> None:
    games = "1. e4 *\n\n" * MAX_GAMES
    assert len(load_games(games + "1. Ke2 *\n")) == MAX_GAMES


def test_lone_surrogates_in_text_are_shown(page: Analysis) -> None:
    (chess,) = page.load_games("1. e4 { \ud800 } *")
    assert chess["positions"][1]["comment"] == r"\ud800"
    (go,) = page.load_games("(;GM[1]SZ[5]C[\ud800];B[cc])")
    assert go["positions"][0]["comment"]
    (go,) = page.load_games(r"(;GM[1]SZ[5]CA[unicode_escape]PB[\\ud800];B[cc])")
    assert go["players"][0] == r"\ud800"


def test_slow_analysis_does_not_block_other_requests(
    page: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow work runs in threads, outside the event loop."""
    started, served = threading.Event(), threading.Event()

    def wait(*arguments: Any) -> Any:
        started.set()
        assert served.wait(PATIENCE)
        raise AnalysisError("it is enough")

    monkeypatch.setattr(analysing, "parse_game", wait)
    page.send(kind="look", look=1, ply=0, study={"game": "chess", "moves": []})
    assert started.wait(PATIENCE)
    assert page.served.ask("GET", "/health")[0] == 200
    served.set()
    assert page.hear("refused")["text"] == "it is enough"
    monkeypatch.undo()
    started.clear()
    served.clear()
    monkeypatch.setattr(analysing.ParsedChessGame, "review", wait)
    page.send(kind="review", study=page.load_games(PGN)[0], nodes=1)
    assert started.wait(PATIENCE)
    assert page.served.ask("GET", "/health")[0] == 200
    served.set()
    assert "see the server log" in page.hear("refused")["text"]


def test_analysis_searches_take_shared_search_turns(
    page: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, entered = page.served.site.scheduler, []
    enter = scheduler.register

    def note(*arguments: Any, **settings: Any) -> Any:
        entered.append(arguments)
        return enter(*arguments, **settings)

    monkeypatch.setattr(scheduler, "register", note)
    (go,) = page.load_games(SGF)
    query = {"game": "go", "query": go["query"]}
    page.send(kind="look", look=1, study=query, ply=4)
    page.hear("lines", "done")
    for study in (query, page.load_games("1. e4 *")[0]):
        before = len(entered)
        assert before
        page.send(kind="review", study=study, nodes=50)
        page.hear("review", "finished")
        assert len(entered) > before


def test_search_starting_during_disconnect_is_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, gone, closed = threading.Event(), threading.Event(), threading.Event()

    class SlowAnalysis(analysing.ChessAnalysis):
        def __init__(self, *arguments: Any) -> None:
            started.set()
            assert gone.wait(PATIENCE)
            super().__init__(*arguments)

        def close(self) -> None:
            super().close()
            closed.set()

    cut: list[Any] = []
    run = Channel.run

    async def noted(self: Channel, heard: Any) -> None:
        cut.append((asyncio.get_running_loop(), self._abort))
        self._expired = True  # like after a timeout
        await run(self, heard)

    monkeypatch.setattr(analysing, "ChessAnalysis", SlowAnalysis)
    monkeypatch.setattr(Channel, "run", noted)
    page = Analysis(served)
    page.send(kind="look", look=1, study={"game": "chess", "start": None, "moves": []}, ply=0)
    assert started.wait(PATIENCE)
    loop, cut_off = cut[0]
    loop.call_soon_threadsafe(cut_off)
    time.sleep(0.2)
    gone.set()
    assert closed.wait(PATIENCE)
    page.socket.close()


def test_waiting_for_review_to_end_can_be_cancelled(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling works also while waiting for a cancelled task."""

    async def scenario() -> None:
        visit = analysing.AnalysisSession(cast(Any, None), cast(Any, None))
        started = asyncio.Event()

        async def ends_slowly() -> None:
            try:
                started.set()
                await asyncio.sleep(PATIENCE)
            finally:
                await asyncio.sleep(0.05)

        visit._review = asyncio.create_task(ends_slowly())
        await started.wait()
        ending = asyncio.create_task(visit._cancel_review())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending

    asyncio.run(scenario())


def test_go_searches_use_shared_memory_budget(tmp_path: Path) -> None:
    limits = ServerLimits(total_hash=100)
    with serving(tmp_path / "web.sqlite", limits=limits) as served:
        page, budget = Analysis(served), served.site.budget
        (go,) = page.load_games(SGF)
        study = {"game": "go", "query": go["query"]}
        lent = []
        search = analysing.search_resources

        def note(site: Any) -> Any:
            @contextmanager
            def noted() -> Iterator[Any]:
                with search(site) as searching:
                    lent.append((searching.search_config.megabytes, budget.free))
                    yield searching

            return noted()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(analysing, "search_resources", note)
            page.send(kind="review", study=study, nodes=50)
            page.hear("review", "finished")
        assert lent == [(100, 0)]
        assert budget.free == 100
        page.send(kind="look", look=1, study=study, ply=4)
        page.hear("lines")
        assert budget.free == 0
        page.socket.close()
    assert budget.free == 100


def test_pending_file_loads_per_visitor_are_limited(tmp_path: Path) -> None:
    free, reading = threading.Event(), []

    def read(text: str, *others: Any) -> list[Any]:
        reading.append(text)
        assert free.wait(PATIENCE)
        return []

    with (
        pytest.MonkeyPatch.context() as patch,
        serving(tmp_path / "web.sqlite") as served,
        ThreadPoolExecutor(MAX_PENDING + 1) as pool,
    ):
        patch.setattr(analysing, "load_games", read)
        asked = [
            pool.submit(served.ask, "POST", "/analyse/load", {"text": "x"})
            for _ in range(MAX_PENDING + 1)
        ]
        refused = next(as_completed(asked, PATIENCE)).result()
        assert reading == ["x"]
        free.set()
        assert (refused[0], "try again later" in refused[2]) == (503, True)
        answered = sorted(each.result()[0] for each in asked)
        assert answered == [200] * MAX_PENDING + [503]


async def test_requests_of_one_visitor_do_not_block_other_visitors() -> None:
    locks = VisitorLocks()
    order: list[str] = []
    free = asyncio.Event()

    async def ask(visitor: str, until: asyncio.Event) -> None:
        async with locks.lock(visitor):
            order.append(visitor)
            await until.wait()

    slow = [asyncio.create_task(ask("a", free)) for _ in range(3)]
    done = asyncio.Event()
    done.set()
    await asyncio.sleep(0)
    await ask("b", done)
    assert order == ["a", "b"]
    slow[1].cancel()  # a cancelled request leaves the queue
    free.set()
    await asyncio.gather(*slow, return_exceptions=True)
    assert order == ["a", "b", "a"]
    assert (locks._pending, locks._locks) == ({}, {})


def test_reviews_alternate_between_visitors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "tokens")
    tokens = [new_token(path, name) for name in ("alice", "bob")]
    started: list[str] = []
    free = threading.Event()

    async def assess(scores: Any, *arguments: Any, **more: Any) -> None:
        started.append(scores[0].moves[0])
        while not free.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setattr(analysing, "analyse_chess", assess)
    with serving(tmp_path / "web.sqlite", path) as served:
        cookies = []
        for token in tokens:
            _, headers, _ = served.ask("POST", "/signin", {"token": token})
            cookies.append(headers["Set-Cookie"].partition(";")[0])
        alice, bob = cookies
        pages = [Analysis(served, Cookie=cookie) for cookie in (alice, alice, bob)]
        for page, move in zip(pages, ("a2a3", "b2b3", "c2c3"), strict=True):
            page.send(kind="review", study={"game": "chess", "start": None, "moves": [move]})
            if page is pages[0]:
                while not started:
                    time.sleep(0.01)
            else:
                page.hear("waiting")
        free.set()
        for page in pages:
            page.hear("review", "finished")
            page.socket.close()
    assert started == ["a2a3", "c2c3", "b2b3"]


def test_channel_sends_welcome_on_connect(page: Analysis) -> None:
    """The page repeats its requests then."""
    assert json.loads(page.socket.recv(timeout=PATIENCE)) == {"kind": "welcome"}


def test_analysis_errors_have_spanish_translations(page: Analysis) -> None:
    known = page_words("analyse", "es")
    (go,) = page.load_games(SGF)
    asked = (
        ("load", {"text": ""}),
        ("load", {"text": "hello"}),
        ("load", {"text": "(;GM[1])"}),
        ("load", {"text": "1. e4 " * 200_000}),
        ("load", {"text": "1. e4 e5 " + "Nf3 Nf6 Ng1 Ng8 " * 250}),
        ("move", {"study": {"game": "chess", "moves": ["0000"]}, "ply": 0, "move": "e4"}),
        ("move", {"study": {"game": "chess", "moves": []}, "ply": 0, "move": "e5"}),
        ("move", {"study": {"game": "go", "query": go["query"]}, "ply": 0, "move": "Z99"}),
    )
    for path, body in asked:
        assert page.post(path, body, 422)["error"] in known
