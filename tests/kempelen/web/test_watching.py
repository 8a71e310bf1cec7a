"""Tournaments on the page: joining late, finished games, damaged sources."""

import io
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chess
import chess.pgn
import pytest
from websockets.sync.client import connect

from agent.games.go import MAX_SIZE
from kempelen.match.config.game_settings import GameSettings
from kempelen.match.game.game_result import Termination
from kempelen.match.live.events import GameStarted, MovePlayed, SearchInfo
from kempelen.match.live.live_file import live_file_path
from kempelen.match.live.tournament_views import LedgerView
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.records.game_record import GameRecord, MoveRecord
from kempelen.match.records.ledger import Ledger
from kempelen.web.diagrams import diagram, game_diagrams
from kempelen.web.layout import page_words
from kempelen.web.site_context import SiteResources
from kempelen.web.watch.page import MAX_REPLAYED, WatchedTournament
from tests.kempelen.match.support import engine, settings
from tests.kempelen.web.support import PATIENCE, Served, serving

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("watch") / "run.sqlite")
    names = (SCRIPT, "B", "C")
    chosen = settings(*(engine("none", name=name) for name in names), games=2)
    kept = Ledger(path)
    kept.begin(chosen, resume=False)
    for pair in due_pairs(chosen, {}):
        for game in pair.games:
            white, black = names[pair.key.white(game)], names[pair.key.black(game)]
            moves = MoveRecord("e2e4", cp=20, depth=3), MoveRecord("e7e5", cp=-10)
            kept.record(
                GameRecord(
                    pair=str(pair.key), game=game, white=white, black=black,
                    fen=chess.STARTING_FEN, opening=("d2d4", "d7d5"), moves=moves,
                    result="1-0", termination=Termination.RESIGNATION,
                )
            )  # fmt: skip
    kept.close()
    return path


@pytest.fixture(scope="module")
def served(ledger: str) -> Iterator[Served]:
    spectator = LedgerView(ledger)
    with serving(
        Path(ledger).with_name("web.sqlite"), offers=SiteResources(spectators=lambda: [spectator])
    ) as server:
        yield server


def got(served: Served, path: str, status: int = 200) -> Any:
    answered, _, text = served.ask("GET", path)
    assert answered == status, text
    return json.loads(text)


def channel(served: Served, number: int = 1) -> Any:
    address = f"ws://127.0.0.1:{served.port}/watch/{number}/channel"
    return connect(address, open_timeout=PATIENCE, proxy=None)


def hear(line: Any) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(line.recv(timeout=PATIENCE))
    return message


def test_tournament_games_are_listed_and_replayed(served: Served) -> None:
    (listed,) = got(served, "/watch/tournaments")["tournaments"]
    assert (listed["number"], listed["status"]["state"]) == (1, "complete")
    games = got(served, "/watch/1/games")["games"]
    assert len(games) == 6
    assert [game["number"] for game in games] == [5, 4, 3, 2, 1, 0]
    assert got(served, "/watch/1/games?before=2")["games"] == games[4:]
    assert len(got(served, "/watch/1/games?before=x")["games"]) == 6
    (one,) = [game for game in games if game["key"] == "1.1-2.1.1"]
    assert one["white"] == SCRIPT
    replay = got(served, f"/watch/1/games/{one['key']}")
    moves = len(replay["said"])
    assert moves == 2
    assert len(replay["positions"]) == moves + 1 + replay["book"]
    assert replay["positions"][0]["fen"].startswith("rnbqkbnr/")
    assert replay["positions"][-1]["move"]
    for path in (
        "/watch/1/games/none",
        "/watch/1/games/status",  # a snapshot that is not of a board
        "/watch/1/games/status/record",
        "/watch/2/games",
        "/watch/9/games/1.1-2.1.1",
    ):
        assert got(served, path, 404)["error"]


def test_finished_game_is_downloaded(served: Served) -> None:
    status, headers, text = served.ask("GET", "/watch/1/games/1.1-2.1.1/record")
    assert status == 200
    assert headers["Content-Disposition"] == 'attachment; filename="kempelen-1.1-2.1.1.pgn"'
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert [move.uci() for move in game.mainline_moves()] == ["d2d4", "d7d5", "e2e4", "e7e5"]
    assert (game.headers["White"], game.headers["Result"]) == (SCRIPT, "1-0")
    assert got(served, "/watch/1/games/none/record", 404)["error"]


def test_late_viewer_receives_full_state(served: Served) -> None:
    with channel(served) as line:
        state = hear(line)["state"]
        assert state["finished"] == 6
        assert [row["games"] for row in state["standings"]["rows"]] == [4, 4, 4]
        assert state["curve"]["points"][-1]["played"] == 6
    with channel(served, 7) as line:
        assert hear(line)["kind"] == "absent"


def test_running_board_is_sent_to_viewer(served: Served, ledger: str) -> None:
    board = {
        "board": 3, "pair": "1.1-2.1", "game": 1, "white": "A", "black": "B", "fen": "",
        "moves": ["e2e4"], "position": "rnbqkbnr/8/8/8/8/8/8/8 b - - 0 1", "turn": "black",
        "white_clock": 5.0, "black_clock": 6.0, "last": "e4", "result": "", "termination": "",
    }  # fmt: skip
    place = live_file_path(ledger)
    status = {"name": "match", "state": "running", "played": 6}

    with channel(served) as line:
        hear(line)
        snapshots = {"status": status, "boards/3": board}
        place.write_text(json.dumps({"time": time.time(), "snapshots": snapshots}), "utf-8")
        state: dict[str, Any] = {}
        while "boards/3" not in state:
            state |= hear(line)["state"]
        shown = state["boards/3"]
        assert shown["drawing"] == {
            "type": "chess", "fen": board["position"], "last": ["e2", "e4"],
        }  # fmt: skip
        assert shown["moves"] == 1
        headers, text = served.ask("GET", "/watch/1/board/3/record")[1:]
        assert headers["Content-Disposition"] == 'attachment; filename="kempelen-board-3.pgn"'
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None
        assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
        assert (game.headers["White"], game.headers["Result"]) == ("A", "*")
        assert got(served, "/watch/1/board/4/record", 404)["error"]
        assert shown["turn"] == "black"
        assert "position" not in shown
        place.unlink()
        while state["status"]["state"] != "complete":
            state |= hear(line)["state"]


def test_invalid_game_record_is_reported(ledger: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(Path(ledger).read_bytes())
    with sqlite3.connect(path) as database:
        ((key, text),) = database.execute("SELECT rowid, record FROM game LIMIT 1").fetchall()
        record = json.loads(text)
        record["moves"][0]["move"] = "a1a8"
        database.execute("UPDATE game SET record = ? WHERE rowid = ?", (json.dumps(record), key))
    database.close()
    spectator = LedgerView(str(path))
    with serving(
        tmp_path / "web.sqlite", offers=SiteResources(spectators=lambda: [spectator])
    ) as server:
        name = f"{record['pair']}.{record['game']}"
        assert "could not replay game" in got(server, f"/watch/1/games/{name}", 422)["error"]


def test_positions_of_other_games_are_drawn() -> None:
    shown = game_diagrams(GameSettings("go", {"size": 5}), ["C3", "pass"])
    assert shown[0]["rows"] == ["....."] * 5
    assert shown[1]["rows"][2] == "..X.."
    assert shown[1]["last"] == ["C3"]
    wide = game_diagrams(GameSettings("go", {"size": "5x3"}), ["E2"])
    assert wide[1]["rows"] == [".....", "....X", "....."]
    assert game_diagrams(GameSettings("nim"), [])[0]["type"] == "text"
    for game, moves, rows, last in (
        ("othello", ["d3"], {2: "...X....", 3: "...XX..."}, [[2, 3]]),
        ("connect-four", ["4", "4"], {4: "...O...", 5: "...X..."}, [[4, 3]]),
        ("checkers", ["11-16"], {2: " b b . b", 3: ". . . b "}, [[2, 5], [3, 6]]),
        ("tic-tac-toe", ["b2"], {1: ".X."}, [[1, 1]]),
    ):
        drawn = game_diagrams(GameSettings(game), moves)[-1]
        assert drawn["type"] == "grid"
        assert {row: drawn["rows"][row] for row in rows} == rows
        assert drawn["last"] == last
        assert drawn["dark"] is (game == "checkers")


def test_grid_board_marks_last_move(ledger: str) -> None:
    """It is derived from the previous position, unless moves were missed or a game starts."""
    spectator = LedgerView(ledger)
    spectator.poll()
    spectator.state.status["game"] = {"name": "tic-tac-toe"}
    watched = WatchedTournament(spectator)

    def last(game: int, moves: str, position: str) -> Any:
        spectator.state.snapshots["boards/1"] = {
            "pair": "1", "game": game, "moves": moves.split(), "position": position,
        }  # fmt: skip
        (first, second) = (watched.state()["state"]["boards/1"]["drawing"] for _ in range(2))
        assert first == second
        return first["last"]

    assert last(1, "b2", ". . .\n. X .\n. . .") == []
    assert last(1, "b2 a1", ". . .\n. X .\nO . .") == [[2, 0]]
    assert last(1, "b2 a1 a2 a3", "O . .\nX X .\nO . .") == []
    assert last(2, "", ". . .\n. . .\n. . .") == []
    assert last(2, "c3", ". . X\n. . .\n. . .") == [[0, 2]]


def test_moves_lines_and_scores_of_a_running_game_are_from_whites_view(ledger: str) -> None:
    spectator = LedgerView(ledger)
    spectator.poll()
    watched = WatchedTournament(spectator)
    chess_game = {"board": 1, "pair": "1.1-2.1", "game": 1, "white": "A", "black": "B"}
    start = GameStarted(
        **chess_game, fen=chess.STARTING_FEN, moves=("e2e4", "e7e5"), position="", turn="white",
        white_clock=None, black_clock=None,
    )  # fmt: skip
    game = {"board": 1, "pair": "1.1-2.1", "game": 1}
    search = SearchInfo(
        **game, ply=3, side="white", depth=7, cp=30, mate=None, nodes=9, time=0.1,
        pv=("g1f3", "b8c6", "a1a8"),
    )  # fmt: skip
    move = MovePlayed(
        **game, ply=3, side="white", move="g1f3", san="Nf3", position="", turn="black", cp=35,
        mate=None, depth=8, nodes=9, time=0.1, white_clock=None, black_clock=None,
        pv=("g1f3", "g8f6"),
    )  # fmt: skip
    reply = replace(
        move, ply=4, side="black", move="b8c6", san="Nc6", turn="white", cp=None, mate=2
    )
    for event in (start, search):
        spectator.state.apply(event)
    (white,) = [watched.state()["state"]["boards/1"]["white_said"]]
    assert white == {"cp": 30, "mate": None, "depth": 7, "ply": 3, "line": ["Nf3", "Nc6"]}
    spectator.state.apply(move)
    white = watched.state()["state"]["boards/1"]["white_said"]
    assert (white["cp"], white["line"]) == (35, ["Nf3", "Nf6"])
    spectator.state.apply(reply)
    spectator.state.apply(replace(search, ply=4, side="black", pv=("b8c6",), mate=2, cp=None))
    state = watched.state()["state"]
    assert state["boards/1"]["black_said"]["mate"] == -2
    assert state["boards/1"]["black_said"]["line"] == ["Nc6"]
    assert state["history/1"] == {
        "plies_before": 0,
        "written": ["e4", "e5", "Nf3", "Nc6"],
        "rolls": [],
        "scores": [None, None, [35, None], [None, -2]],
    }


def test_scores_of_a_replayed_game_are_from_whites_view(served: Served) -> None:
    replay = got(served, "/watch/1/games/1.1-2.1.1")
    assert [said["cp"] for said in replay["said"]] == [20, 10]


def test_dice_games_are_drawn_live_and_in_replays(ledger: str) -> None:
    spectator = LedgerView(ledger)
    spectator.poll()
    watched = WatchedTournament(spectator)
    for game, moves in (("backgammon", ["31", "8/5,6/5"]), ("pig", ["roll", "4", "hold"])):
        spectator.state.status["game"] = {"name": game}
        diagrams = game_diagrams(GameSettings(game), moves)
        spectator.state.snapshots["boards/1"] = {
            "pair": game, "game": 1, "moves": moves, "position": "",
        }  # fmt: skip
        state = watched.state()["state"]
        shown = state["boards/1"]["drawing"]
        assert shown["kind"] == diagrams[-1]["kind"] == game
        kind = "men" if game == "backgammon" else "scores"
        assert shown[kind] == diagrams[-1][kind]
        assert state["history/1"]["written"] == moves
        rolls = [ply for ply, each in enumerate(diagrams[1:]) if each["chance"]]
        assert state["history/1"]["rolls"] == rolls == [moves.index({"pig": "4"}.get(game, "31"))]
    # Moves of an untrusted game are shown as they are.
    spectator.trusted = False
    spectator.state.status["game"] = {"name": "evil.py:Game"}
    spectator.state.snapshots["boards/1"] = {"pair": "2", "game": 1, "moves": ["x"], "position": ""}
    assert watched.state()["state"]["history/1"]["written"] == ["x"]


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_termination_has_a_translation(language: str) -> None:
    assert {f"end {each}" for each in Termination} <= page_words("watch", language).keys()


def test_untrusted_game_files_and_huge_boards_are_rejected(ledger: str) -> None:
    """Data from a broker is checked before a game is created."""
    spectator = LedgerView(ledger)
    spectator.poll()
    key = next(iter(spectator.games))
    watched = WatchedTournament(spectator)
    for game in (
        {"name": "evil.py:Game"},
        {"name": "go", "options": {"size": 10**9}},
        {"name": "othello", "options": {"size": "9x13"}},
        {"name": "go", "options": {"komi": "7.5"}},
    ):
        spectator.state.status["game"] = game
        spectator.trusted = False
        with pytest.raises(ValueError, match=r"only built-in games|out of range"):
            watched.replay(key)
    assert len(diagram("chess", "k" * 10**6)["fen"]) < 200
    assert len(diagram("go", " 1 X\n" * 10**5)["rows"]) <= MAX_SIZE
    assert diagram("othello", "X O\n" * 10**5)["type"] == "text"


def test_damaged_tournament_does_not_affect_others(ledger: str, tmp_path: Path) -> None:
    damaged, whole = LedgerView(ledger), LedgerView(ledger)

    def fail() -> None:
        raise TypeError("damaged")

    with serving(
        tmp_path / "web.sqlite", offers=SiteResources(spectators=lambda: [damaged, whole])
    ) as server:
        with channel(server, 2) as line:
            hear(line)
            damaged.poll = fail  # type: ignore[method-assign]
            for runner in ("lost", "", "lost"):
                whole.poll = lambda: None  # type: ignore[method-assign]
                whole.runner = runner
                state: dict[str, Any] = {}
                while state.get("runner") != runner:
                    state |= hear(line)["state"]
        assert [line for line in server.log if "damaged" in line][1:] == []


def test_growing_curve_sends_only_new_points(ledger: str) -> None:
    spectator = LedgerView(ledger)
    spectator.poll()
    watched = WatchedTournament(spectator)
    points = watched.changes()["curve"]["points"]
    assert watched.changes() == {}
    spectator.state.snapshots["curve"] = {"points": [*points, {"played": 99}]}
    assert watched.changes() == {"curve": {"more": [{"played": 99}]}}


def test_each_viewer_receives_curve_points_once(ledger: str) -> None:
    """Whether the curve grew without viewers or since the last broadcast."""
    spectator = LedgerView(ledger)
    spectator.poll()
    watched = WatchedTournament(spectator)
    points = list(watched.state()["state"]["curve"]["points"])
    assert watched.changes() == {}

    def grow() -> None:
        points.append({"played": 7 + len(points)})
        spectator.state.snapshots["curve"] = {"points": list(points)}

    grow()
    assert watched.state()["state"]["curve"]["points"] == points
    assert watched.changes() == {}
    heard: list[str] = []
    watched.subscribers.channels.add(Mock(send_text=heard.append))
    grow()
    assert watched.state()["state"]["curve"]["points"] == points
    (message,) = map(json.loads, heard)
    assert message["state"] == {"curve": {"more": points[-1:]}}
    assert watched.changes() == {}


def test_game_of_unknown_variant_is_not_replayed(ledger: str) -> None:
    moves = ["e2e4", "e7e5"]
    board = {
        "board": 1, "pair": "1-2", "game": 1, "white": "A", "black": "B", "variant": "losers",
        "fen": chess.STARTING_FEN, "moves": moves, "position": chess.STARTING_FEN,
    }  # fmt: skip
    spectator = LedgerView(ledger)
    spectator.poll()
    spectator.state.snapshots["boards/1"] = board
    watched = WatchedTournament(spectator)
    assert watched.state()["state"]["history/1"]["written"] == moves
    (key, *_) = spectator.games
    spectator.games[key]["variant"] = "losers"
    with pytest.raises(ValueError, match=r"variant: unknown 'losers' \(expected one of: chess"):
        watched.replay(key)


def test_long_game_of_a_broker_is_replayed_over_several_polls() -> None:
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * (MAX_REPLAYED // 4 + 1)
    board = {
        "board": 1, "pair": "1-2", "game": 1, "white": "A", "black": "B",
        "fen": chess.STARTING_FEN, "moves": moves, "position": chess.STARTING_FEN,
    }  # fmt: skip
    spectator = Mock(trusted=False, games={}, runner="", problem="")
    spectator.state.status, spectator.state.snapshots = {}, {"boards/1": board}
    watched = WatchedTournament(spectator)
    lengths = [len(watched.changes()["history/1"]["written"]) for _ in range(2)]
    assert lengths == [MAX_REPLAYED, len(moves)]
    assert watched.changes() == {}
