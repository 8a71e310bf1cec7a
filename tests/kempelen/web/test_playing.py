"""Games over a page's channel, against our own engine and external engines."""

import asyncio
import io
import json
import re
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import chess
import chess.pgn
import pytest
from websockets.exceptions import ConnectionClosed

from agent.chess.engine.backend import ChessBackend
from agent.threads.serial_executor import Job
from kempelen.web.layout import page_words
from kempelen.web.play import archive
from kempelen.web.play import page as playing
from kempelen.web.play.boards import initial_game
from kempelen.web.play.opponents import start_opponent
from kempelen.web.play.setup import GameSetup, find_game_type
from kempelen.web.site_context import SiteResources
from protocols.client.process import EngineError
from protocols.server.tokens import new_token
from tests.kempelen.web.support import PATIENCE, Served, serving

OWN_GAME = '''
class Count:
    """Take one or two; the player who takes the last of five wins."""

    turn = 0

    def __init__(self):
        self.left, self.taken = 5, []

    def moves(self):
        return [n for n in (1, 2) if n <= self.left]

    def play(self, move):
        self.left -= move
        self.turn = 1 - self.turn
        self.taken.append(move)

    def undo(self):
        self.left += self.taken.pop()
        self.turn = 1 - self.turn

    def outcome(self):
        return None if self.left else (1 if self.turn else -1)

    def key(self):
        return self.left, self.turn

    def text(self, move):
        return f"take-{move}"

    def __str__(self):
        return f"<b>{self.left}</b> left"


def evaluate(game):
    return 0
'''


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("play")
    (folder / "count.py").write_text(OWN_GAME)
    engine = shlex.join([sys.executable, "-m", "kempelen.cli"])
    offers = SiteResources(
        games=(f"{folder / 'count.py'}:Count",),
        evaluations={"nothing": f"{folder / 'count.py'}:evaluate"},
        engines={"Other": f"uci {engine} uci", "Broken": "uci /no/such/program"},
    )
    with serving(folder / "web.sqlite", offers=offers) as server:
        yield server


def test_finished_game_is_listed_and_downloadable(served: Served) -> None:
    game = served.begin(game="tic-tac-toe", seconds=0.05)
    line = served.watch(game)
    state = line.turn()
    while not state["result"]:
        state = line.play(state["board"]["legal"][0]["text"])
    assert state["reason"] == "end of the game"
    line.send(do="move", move="a1")
    assert "the game is over" in line.hear("error")["text"]
    line.close()
    (listed,) = [each for each in json.loads(served.ask("GET", "/games")[2]) if each["id"] == game]
    assert (listed["result"], listed["moves"]) == (state["result"], state["ply"])
    status, headers, text = served.ask("GET", f"/games/{game}/record")
    assert status == 200
    assert headers["Content-Disposition"] == f'attachment; filename="kempelen-{game}.txt"'
    assert "Black Visitor" in text
    before = json.loads(served.ask("GET", f"/games/{game}/at/1")[2])
    assert before["ply"] == 1
    assert before["board"]["text"] == state["board"]["text"][:1]


def test_chess_supports_clock_hint_takeback_and_resignation(served: Served) -> None:
    game = served.begin(game="chess", level=1350, base=60, increment=1)
    line = served.watch(game)
    state = line.turn()
    assert state["names"] == ["Visitor", "Kempelen 1350"]
    state = line.play("e4")  # SAN
    assert state["ply"] == 2
    assert state["board"]["text"][0] == "e4"
    assert state["clocks"] == [60, 60]  # the first move of each side takes no time
    line.send(do="hint")
    hint = line.hear("hint")
    assert hint["move"] in state["board"]["legal"]
    line.send(do="draw")
    line.hear("refused draw")
    line.send(do="back")
    while line.game["ply"]:
        line.hear("game")
    assert line.game["mover"] == 0
    line.send(do="move", move="e2e5", ply=0)
    assert line.hear("error")["text"] == "illegal move"
    line.send(do="move", move="e2e4", ply=7)
    assert "earlier position" in line.hear("error")["text"]
    line.turn()
    line.play("d2d4")
    line.send(do="resign")
    while not line.game["result"]:
        line.hear("game")
    line.close()
    assert (line.game["result"], line.game["reason"]) == ("0-1", "resignation")
    pgn = chess.pgn.read_game(io.StringIO(served.ask("GET", f"/games/{game}/record")[2]))
    assert pgn is not None
    assert pgn.errors == []
    assert pgn.headers["White"] == "Visitor"
    assert pgn.headers["TimeControl"] == "60+1"
    clocks = [node.clock() for node in pgn.mainline()]
    assert clocks
    assert all(clock is not None and 30 < clock <= 63 for clock in clocks)
    assert next(move.uci() for move in pgn.mainline_moves()) == "d2d4"


def test_hint_in_go_is_written_as_on_the_board(served: Served) -> None:
    line = served.watch(served.begin(game="go", options={"size": 5}, seconds=0.05))
    state = line.turn()
    line.send(do="hint")
    hint = line.hear("hint")
    line.close()
    assert hint["text"] in state["board"]["legal"]
    assert hint["text"] == hint["line"][0]


def test_opponent_and_hints_do_not_wait_for_compilation(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []
    wait = ChessBackend.wait_until_loaded

    def record(engine: ChessBackend, job: Job, *, unless_compiling: bool = False) -> None:
        waits.append(unless_compiling)
        wait(engine, job, unless_compiling=unless_compiling)

    monkeypatch.setattr(ChessBackend, "wait_until_loaded", record)
    monkeypatch.setattr(ChessBackend, "compiling", True)
    line = served.watch(served.begin(game="chess", seconds=0.05))
    line.turn()
    assert line.play("e4")["compiling"]
    line.send(do="hint")
    line.hear("hint")
    line.close()
    assert len(waits) == 6
    assert all(waits)


def test_player_out_of_time_loses(served: Served) -> None:
    line = served.watch(served.begin(game="chess", base=1))
    line.turn()
    assert line.play("e2e4")["running"] == [True, False]
    state = line.hear("game")
    assert (state["result"], state["reason"], state["clocks"][0]) == ("0-1", "time forfeit", 0)
    line.close()


def test_opponent_moves_first_if_black_is_to_move(served: Served) -> None:
    fen = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1"
    line = served.watch(served.begin(game="chess", fen=fen, seconds=0.1))
    state = line.turn()  # the visitor is White, so the opponent has moved
    assert state["ply"] == 1
    state = line.play("d1d8") if "d1d8" in state["board"]["legal"] else state
    line.close()
    assert state["ply"] >= 1


def test_go_handicap_game_is_scored_and_recorded(served: Served) -> None:
    game = served.begin(
        game="go", options={"size": 5, "komi": 0.5}, handicap=2, rules="japanese", seconds=0.05
    )
    line = served.watch(game)
    state = line.turn()
    assert len(state["board"]["handicap"]) == 2
    assert state["ply"] == 1  # White has moved first
    for _ in range(60):
        if state["result"]:
            break
        state = line.play("pass")
    line.close()
    assert state["result"] in ("1-0", "0-1")
    text = served.ask("GET", f"/games/{game}/record")[2]
    assert text.startswith("(;FF[4]")
    assert "PW[Kempelen]" in text
    assert "RU[Japanese]" in text
    assert re.search(r"RE\[[BW]\+(R|[\d.]+)\]", text)


def test_user_defined_game_and_evaluation_can_be_played(served: Served) -> None:
    choices = json.loads(served.ask("GET", "/games/choices")[2])
    (own,) = [name for name in choices["games"] if name.endswith(":Count")]
    line = served.watch(served.begin(game=own, evaluation="nothing", algorithm="minimax"))
    state = line.turn()
    assert state["board"]["kind"] == "text"
    assert state["board"]["position"] == "<b>5</b> left"
    while not state["result"]:
        state = line.play(state["board"]["legal"][0]["text"])
    line.close()


@pytest.mark.thorough
def test_offered_engine_plays_as_opponent(served: Served) -> None:
    line = served.watch(served.begin(game="chess", opponent="Other", seconds=0.1))
    line.turn()
    state = line.play("e2e4")
    assert state["ply"] == 2
    line.close()


def test_broken_opponent_is_reported_to_player(served: Served) -> None:
    line = served.watch(served.begin(game="chess", opponent="Broken", side="second"))
    while not line.game.get("trouble"):
        line.hear("game")
    assert line.game["trouble"].startswith("Broken: ")
    line.send(do="again")
    line.hear("game")
    line.send(do="resign")
    while not line.game["result"]:
        line.hear("game")
    line.close()


def test_unsuitable_algorithm_is_reported_to_player(served: Served) -> None:
    line = served.watch(served.begin(game="backgammon", algorithm="alpha-beta", seconds=0.05))
    while not line.game.get("trouble"):
        state = line.game or line.hear("game")
        if state["mover"] == state["side"] and not state["thinking"]:
            move = state["board"]["legal"][0]["text"]
            line.send(do="move", move=move, ply=state["ply"])
        line.hear("game")
    assert "alpha-beta" in line.game["trouble"]
    line.send(do="back")
    while line.game["trouble"]:
        line.hear("game")
    line.close()


@pytest.mark.parametrize(
    "message",
    ["nonsense", "[]", '{"do": 1}', '{"do": "move"}', '{"do": "move", "move": []}', "[" * 60_000],
)
def test_malformed_channel_message_gets_error(served: Served, message: str) -> None:
    line = served.watch(served.begin(game="nim"))
    line.hear("game")
    line.socket.send(message)
    assert line.hear("error")["text"]
    line.close()


def test_rematch_swaps_the_sides_and_keeps_the_setup(served: Served) -> None:
    game = served.begin(game="go", options={"size": 5}, seconds=0.05, rules="japanese")
    status, _, text = served.ask("POST", f"/games/{game}/rematch", {})
    assert status == 201
    line = served.watch(json.loads(text)["id"])
    state = line.turn()
    assert (state["side"], state["ply"]) == (1, 1)
    assert len(state["board"]["rows"]) == 5
    line.close()
    assert served.ask("POST", "/games/unknown/rematch", {})[0] == 404


def test_dice_are_told_from_moves(served: Served) -> None:
    line = served.watch(served.begin(game="backgammon", seconds=0.05))
    state = line.turn()
    board = state["board"]
    assert (board["kind"], board["rolls"]) == ("backgammon", [0])
    assert [sum(men) for men in board["men"]] == [15, 15]
    assert sorted(board["text"][0], reverse=True) == [str(die) for die in board["roll"]]
    first = board["legal"][0]
    assert all(len(step) == 2 for step in first["steps"])
    state = line.play(first["text"])
    assert state["board"]["rolls"] == [0, 2, 4]
    line.send(do="back")
    while line.game["ply"] > 1:
        line.hear("game")
    assert line.game["board"]["rolls"] == [0]
    line.close()
    line = served.watch(served.begin(game="pig", seconds=0.05))
    board = line.turn()["board"]
    assert (board["kind"], board["scores"], board["rolled"]) == ("pig", [0, 0], 0)
    line.close()


@pytest.mark.parametrize(
    ("form", "move", "why"),
    [
        ({"game": "chess", "fen": "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"}, "a1a8", "why mate"),
        ({"game": "chess", "fen": "6k1/8/8/3q4/8/2N5/8/6K1 w - - 0 1"}, "c3d5", "why takes"),
        ({"game": "connect-four"}, "d", None),
        ({"game": "go", "options": {"size": 5}}, "c3", None),
    ],
)
def test_hint_says_why_and_what_follows(
    served: Served, form: dict[str, Any], move: str, why: str | None
) -> None:
    line = served.watch(served.begin(**form))
    state = line.turn()
    line.send(do="hint")
    hint = line.hear("hint")
    legal = [each if isinstance(each, str) else each["text"] for each in state["board"]["legal"]]
    assert hint["move"] in [text.lower() for text in legal]
    assert hint["line"]
    if why is not None:
        assert (hint["move"], hint["why"]["key"]) == (move, why)
    line.close()


@pytest.mark.usefixtures("limited_by_nodes")
def test_blunder_of_a_learner_is_held_back_until_it_is_confirmed(served: Served) -> None:
    fen = "rnb1kbnr/pppp1ppp/8/4p3/4P3/5Q2/PPPP1PPP/RNB1KBNR w KQkq - 0 1"
    line = served.watch(served.begin(game="chess", fen=fen, seconds=0.05))
    line.turn()
    line.send(do="move", move="f3f7", ply=0, check=True)
    warning = line.hear("blunder")
    assert (warning["text"], warning["reply"]) == ("Qxf7+", "Kxf7")
    assert warning["why"] == {"key": "why takes", "piece": "queen"}
    assert line.game["ply"] == 0
    line.send(do="move", move="d2d3", ply=0, check=True)  # a good move instead
    while line.game["ply"] == 0:
        line.hear("game")
    assert line.game["board"]["text"][0] == "d3"
    line.close()


@pytest.mark.usefixtures("limited_by_nodes")
@pytest.mark.parametrize(
    ("moves", "move", "warned"),
    [
        ("e4 e5 Nf3 d6", "Nxe5", True),  # a knight for a pawn
        ("e4 e5 Nf3 Nc6 Bc4 Bc5", "Bxf7+", True),
        ("d4 d5 Bf4 Nf6", "Bh6", True),
        ("h4 d5", "Rh3", True),  # a rook for a bishop
        ("d4 d5", "c4", False),
        ("e4 e5", "f4", False),
        ("e4 e5 Nf3 Nc6 Bb5 a6", "Bxc6", False),
        ("e4 c5 d4 cxd4", "c3", False),
    ],
)
def test_learner_is_warned_of_lost_pieces_but_not_of_gambits(
    served: Served, moves: str, move: str, warned: bool
) -> None:
    board = chess.Board()
    for text in moves.split():
        board.push_san(text)
    line = served.watch(served.begin(game="chess", fen=board.fen(), seconds=0.05))
    line.turn()
    line.send(do="move", move=board.parse_san(move).uci(), ply=0, check=True)
    if warned:
        assert line.hear("blunder")["text"] == move
    else:
        while line.hear("game")["ply"] == 0:
            pass
    line.close()


@pytest.mark.parametrize(
    "game", ["go", "connect-four", "othello", "checkers", "backgammon", "pig", "nim", "grundy"]
)
def test_weakest_opponent_of_each_game_moves_at_once(served: Served, game: str) -> None:
    options = {"options": {"size": 9}} if game == "go" else {}
    line = served.watch(served.begin(game=game, level=0, seconds=60, **options))
    state = line.turn()
    assert state["names"][1] == "Kempelen novice"
    assert state["level"] == "novice"
    for _ in range(2):
        if state["result"]:
            break
        legal = state["board"]["legal"][0]
        state = line.play(legal if isinstance(legal, str) else legal["text"])
    line.close()


def test_players_in_the_file_of_a_game_are_named_in_the_language_of_the_visitor(
    served: Served,
) -> None:
    game = served.begin(game="go", level=0, seconds=0.02, options={"size": 5})
    for language, black, white in (
        ("en", "Visitor", "Kempelen absolute beginner"),
        ("es", "Visitante", "Kempelen principiante absoluto"),
    ):
        path = f"/games/{game}/record"
        text = served.ask("GET", path, **{"Accept-Language": language})[2]
        assert f"PB[{black}]" in text
        assert f"PW[{white}]" in text


def test_file_of_a_game_without_clocks_has_no_times(served: Served) -> None:
    line = served.watch(game := served.begin(game="chess", seconds=0.02))
    line.turn()
    line.play("e2e4")
    text = served.ask("GET", f"/games/{game}/record")[2]
    moves = text.partition("\n\n")[2]
    assert moves.startswith("1. e4 ")
    assert "%clk" not in moves
    assert "0.000s" not in moves
    line.close()


def test_clocks_of_go_are_written_into_sgf(served: Served) -> None:
    form = {"game": "go", "options": {"size": 5}, "base": 60.0, "increment": 1.0}
    line = served.watch(game := served.begin(**form))
    line.turn()
    line.play("C3")
    text = served.ask("GET", f"/games/{game}/record")[2]
    black, white = (re.findall(rf"{name}\[([0-9.]+)\]", text) for name in ("BL", "WL"))
    assert len(black) == len(white) == 1
    assert all(30 < float(seconds) <= 61 for seconds in (*black, *white))
    assert "PB[Visitor]" in text
    line.close()


def test_clock_after_each_move_is_saved_and_taken_back(tmp_path: Path) -> None:
    with serving(tmp_path / "web.sqlite") as first:
        line = first.watch(game := first.begin(game="chess", base=60.0, increment=1.0))
        line.turn()
        line.play("e2e4")
        line.play("d2d4")
        line.send(do="back")
        while line.game["ply"] > 2:
            line.hear("game")
        line.play("g1f3")
        line.close()
    with serving(tmp_path / "web.sqlite") as second:
        text = second.ask("GET", f"/games/{game}/record")[2]
        pgn = chess.pgn.read_game(io.StringIO(text))
        assert pgn is not None
        clocks = [node.clock() for node in pgn.mainline()]
        assert len(clocks) >= 4
        assert all(clock is not None and 30 < clock <= 63 for clock in clocks)


def test_saved_games_are_searched_beyond_the_limit_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_LISTED", 2)
    with serving(tmp_path / "web.sqlite") as served:
        games = archive.Archive(served.site.database)
        for number in range(7):
            setup = GameSetup("go" if number in (1, 4) else "nim", side=number % 2)
            saved = archive.SavedGame(str(number), "-", setup)
            games.save(saved)
            served.site.database.execute(
                "UPDATE played SET changed = ? WHERE id = ?", number, saved.id
            )

        def found(query: str) -> list[str]:
            return [each["id"] for each in json.loads(served.ask("GET", f"/games?{query}")[2])]

        assert found("") == ["6", "5"]
        assert found("game=go") == ["4", "1"]
        assert found("game=go&until=4") == ["1"]
        assert found("since=2&until=4") == ["3", "2"]
        assert found("opponent=kemp&result=unfinished") == ["6", "5"]
        assert found("opponent=fish") == []
        for query in ("result=good", "since=x"):
            assert served.ask("GET", f"/games?{query}")[0] == 400


def test_game_is_deleted_by_its_owner_only(tmp_path: Path) -> None:
    path = str(tmp_path / "tokens")
    tokens = [new_token(path, name) for name in ("alice", "bob")]
    with serving(tmp_path / "web.sqlite", path) as served:
        cookies = []
        for token in tokens:
            _, headers, _ = served.ask("POST", "/signin", {"token": token})
            cookies.append({"Cookie": headers["Set-Cookie"].partition(";")[0]})
        alice, bob = cookies
        form = {"game": "tic-tac-toe", "seconds": 0.05}
        game = json.loads(served.ask("POST", "/games", form, **alice)[2])["id"]
        assert json.loads(served.ask("GET", f"/games/{game}", **alice)[2])["side"] == 0
        assert json.loads(served.ask("GET", f"/games/{game}", **bob)[2])["side"] is None
        line = served.watch(game, **alice)
        line.turn()
        assert served.ask("DELETE", f"/games/{game}", **bob)[0] == 403
        assert served.ask("GET", f"/games/{game}", **alice)[0] == 200
        assert served.ask("DELETE", f"/games/{game}", **alice)[0] == 200
        # Its viewers are disconnected.
        with pytest.raises(ConnectionClosed) as end:
            line.hear("never")
        assert end.value.rcvd is not None
        assert end.value.rcvd.reason in page_words("site", "en")
        for method in ("GET", "DELETE"):
            assert served.ask(method, f"/games/{game}", **alice)[0] == 404
        assert json.loads(served.ask("GET", "/games", **alice)[2]) == []


def test_go_is_played_from_a_position(served: Served) -> None:
    sgf = "(;GM[1]FF[4]SZ[5:6]PL[W]AB[bb][cb]AW[cd])"
    game = served.begin(game="go", sgf=sgf, seconds=0.05, handicap=2)
    line = served.watch(game)
    state = line.turn()
    assert (state["movers"], state["side"]) == ([1], 0)  # White began
    rows = state["board"]["rows"]
    assert (len(rows[0]), len(rows)) == (5, 6)
    assert ["".join(row) for row in rows][1][1:3] == "XX"
    line.play("E1")
    text = served.ask("GET", f"/games/{game}/record")[2]
    assert "AB[bb][cb]" in text
    assert "AW[cd]" in text
    line.send(do="back")
    while line.hear("game")["ply"] != 1:
        pass
    line.close()
    for wrong, reason in (
        ("(;GM[1]SZ[5]AB[ae]AW[ad][be])", "stones without liberties are set up"),
        ("(;GM[1]SZ[5];B[cc])", "must not contain moves"),
        ("(;GM[1]SZ[25])", "must have 2 to 19 columns and rows"),
        ("x", "position: "),
    ):
        status, _, text = served.ask("POST", "/games", {"game": "go", "sgf": wrong})
        assert status == 400
        assert reason in json.loads(text)["error"]


@pytest.mark.parametrize("page", ["play", "editor", "analyse"])
def test_address_with_an_alias_of_a_variant_is_redirected(served: Served, page: str) -> None:
    query = "variant=King+of_the-Hill&fen=4k3/8/8/8/8/8/8/4K2R_w_K_-_3%2B1_0_1"
    status, headers, _ = served.ask("GET", f"/{page}?{query}")
    path, _, redirected = headers["Location"].partition("?")
    assert (status, path) == (307, f"/{page}")
    fields = {"variant": "kingofthehill", "fen": "4k3/8/8/8/8/8/8/4K2R_w_K_-_3+1_0_1"}
    assert dict(parse_qsl(redirected)) == fields
    for query in ("", "?variant=kingofthehill", "?variant=losers", "?variant="):
        assert served.ask("GET", f"/{page}{query}")[0] == 200


def test_unknown_game_is_not_found(served: Served) -> None:
    with pytest.raises(ConnectionClosed, match="game not found"):
        served.watch("unknown").hear("welcome")
    assert served.ask("GET", "/games/unknown/record")[0] == 404
    assert served.ask("GET", "/games/unknown/at/0")[0] == 404


def test_all_viewers_see_a_move(served: Served) -> None:
    game = served.begin(game="othello", seconds=0.05)
    player, watcher = served.watch(game), served.watch(game)
    player.turn()
    watcher.turn()
    player.play("d3")
    while not watcher.game["ply"]:
        watcher.hear("game")
    assert watcher.game["board"]["text"][0] == "d3"
    player.close()
    watcher.close()


def test_game_continues_after_server_restart(tmp_path: Path) -> None:
    """Also after a restart during the opponent's turn: it moves when the page reconnects."""
    store = tmp_path / "web.sqlite"
    with serving(store) as first:
        game = first.begin(game="backgammon", seconds=0.05)
        line = first.watch(game)
        state = line.turn()
        state = line.play(state["board"]["legal"][0]["text"])
        slow = first.begin(game="othello", seconds=60)
        thinking = first.watch(slow)
        thinking.hear("game")
        thinking.send(do="move", move="d3", ply=0)
        while thinking.hear("game")["ply"] != 1:
            pass
        first.site.database.execute(
            "UPDATE played SET setup = replace(setup, '60.0', '0.05') WHERE id = ?", slow
        )
    began = time.monotonic()
    with serving(store) as second:
        line = second.watch(game)
        again = line.turn()
        assert again["board"] == state["board"]
        state = line.play(again["board"]["legal"][0]["text"])
        assert state["ply"] > again["ply"]
        thinking = second.watch(slow)
        assert thinking.turn()["ply"] == 2
        line.close()
        thinking.close()
    assert time.monotonic() - began < 30


def test_withdrawn_opponent_is_not_replaced(served: Served) -> None:
    """The saved game names it; no other opponent replaces it."""
    setup = GameSetup(opponent="Gone")
    with pytest.raises(EngineError, match="no longer available"):
        asyncio.run(start_opponent(setup, initial_game(setup), served.site))


def test_slow_game_loading_does_not_block_other_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "web.sqlite") as first:
        game = first.begin(game="nim")
    begun, served = threading.Event(), threading.Event()
    make = playing.GameSession

    def slow(*arguments: Any) -> playing.GameSession:
        begun.set()
        assert served.wait(PATIENCE)
        return make(*arguments)

    monkeypatch.setattr(playing, "GameSession", slow)
    with serving(tmp_path / "web.sqlite") as second:
        lines = [second.watch(game) for _ in range(2)]
        assert begun.wait(PATIENCE)
        assert second.ask("GET", "/health")[0] == 200
        served.set()
        for line in lines:
            line.hear("game")
        lines[0].send(do="resign")  # both pages share one session
        while not lines[1].game["result"]:
            lines[1].hear("game")
        for line in lines:
            line.close()


def test_saved_game_with_missing_source_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "count.py"
    path.write_text(OWN_GAME)
    name = f"{path}:Count"
    with serving(tmp_path / "web.sqlite", offers=SiteResources(games=(name,))) as first:
        game = first.begin(game=name)
    path.unlink()
    find_game_type.cache_clear()  # like in a new process
    with serving(tmp_path / "web.sqlite") as second:
        for part in ("record", "at/0"):
            status, _, text = second.ask("GET", f"/games/{game}/{part}")
            assert (status, "no longer available" in text) == (404, True)
        with pytest.raises(ConnectionClosed, match="no longer available") as end:
            second.watch(game).hear("welcome")
    assert end.value.rcvd is not None
    assert end.value.rcvd.reason in page_words("site", "es")
