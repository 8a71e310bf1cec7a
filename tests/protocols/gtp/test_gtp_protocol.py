import re
import threading
import time

import pytest

from agent.games import catalogue, game_state
from agent.games.ladders import read_attack
from agent.games.stones import BLACK, PASS, WHITE, Stones, iter_bits
from agent.learning.learned_move_database import LearnedMoveDatabase
from agent.search.catalogue import algorithms
from agent.search.stone_fate import Fate
from agent.threads.scheduler import NoDeadline, SearchScheduler
from protocols.gtp import board
from protocols.gtp import session as gtp_session
from protocols.gtp.commands.gogui import ANALYZE_COMMANDS
from protocols.gtp.messages import COLOURS
from protocols.gtp.protocol import COMMANDS, MAX_PENDING
from tests.pages import ROOT
from tests.protocols.gtp.conftest import PATIENCE
from tests.waiting import until


def test_every_response_ends_with_one_empty_line(start):
    talk = start(size=5, playouts=10)
    assert talk.answer("name") == "= Kempelen\n\n"
    assert talk.answer("3 komi 0.5") == "=3\n\n"
    assert talk.answer("4 fly") == "?4 unknown command\n\n"
    assert talk.answer("showboard") == (
        "=\n 5 . . . . .\n 4 . . . . .\n 3 . . . . .\n 2 . . . . .\n 1 . . . . .\n   A B C D E\n\n"
    )
    for line in ("genmove b", "lz-genmove_analyze w", "kata-analyze b 1"):
        text = talk.answer(line)
        assert text.endswith("\n\n")
        assert "\n\n" not in text[:-2]


def test_every_command_has_a_transcript():
    from tests.protocols.gtp.test_gtp_transcripts import CASES

    said = " ".join(line for case in CASES.values() for line in case if line.startswith(">"))
    for command in COMMANDS:
        assert f" {command}" in said, f"no transcript says {command}"


def test_every_command_is_documented():
    documented = set(re.findall(r"[\w-]+", (ROOT / "docs/guide/games.md").read_text("utf-8")))
    assert not COMMANDS.keys() - documented


@pytest.mark.parametrize("game", ["go", "othello"])
def test_only_listed_commands_are_known_and_answered(start, game):
    """GoGui drops its game of Go if an engine offers the rules of the game."""
    talk = start(game=game, playouts=1)
    listed = talk.answer("list_commands").removeprefix("= ").split()
    for name in COMMANDS.keys() - {"quit"}:
        known = name in listed
        assert talk.answer(f"known_command {name}") == f"= {str(known).lower()}\n\n"
        if not known:
            assert talk.answer(name) == "? unknown command\n\n"
    rules = [name for name in listed if name.startswith("gogui-rules_")]
    assert len(rules) == (0 if game == "go" else 6)


@pytest.mark.parametrize(
    "command", ["kata-search_cancellable b", "kata-search_analyze_cancellable b"]
)
def test_cancellable_search_is_cancelled_by_the_next_line(start, command):
    talk = start(seconds=1000.0, size=9)
    talk.say(command)
    session = talk.gtp.session
    while not session.agent.pending() or session.backend._search.progress().nodes == 0:
        time.sleep(0.01)
    talk.say("last_move")
    *_, cancelled, following = talk.rest()
    assert cancelled in ("= cancelled", "play cancelled")
    assert following == "? no previous move known"


def test_gogui_analyze_commands_exist():
    assert {line.split("/")[2].split()[0] for line in ANALYZE_COMMANDS} <= set(COMMANDS)


def test_other_games_do_not_list_go_commands(start):
    listed = start(game="nim").answer("list_commands").removeprefix("= ").split()
    assert "genmove" in listed
    assert "komi" in listed  # required by GTP
    assert not {"loadsgf", "fixed_handicap", "final_status_list"} & set(listed)


def test_analysis_continues_until_input(start):
    talk = start(size=5)
    talk.say("lz-analyze b 2")
    assert talk.hear() == "="
    infos = [talk.hear() for _ in range(3)]
    visits = [sum(map(int, info.split("visits ")[1].split()[:1])) for info in infos]
    assert visits == sorted(visits)
    assert all(info.startswith("info move ") for info in infos)
    talk.say("")
    assert talk.gtp.drain(30)
    assert talk.answer("name").endswith("= Kempelen\n\n")


def test_finished_analysis_waits_for_input(start):
    talk = start(game="tic-tac-toe")
    talk.say("lz-analyze 1")
    assert talk.hear() == "="
    assert talk.hear().startswith("info move ")
    time.sleep(0.1)
    assert talk.gtp.session.agent.busy
    talk.say("name")
    assert talk.rest()[-1] == "= Kempelen"


def test_gogui_interrupt_ends_a_long_search(start):
    talk = start(seconds=1000.0)
    talk.say("genmove b")
    session = talk.gtp.session
    while not session.agent.pending() or session.backend._search.progress().nodes == 0:
        time.sleep(0.01)
    talk.say("# interrupt")
    assert talk.hear().startswith("= ")


def test_reading_waits_for_its_turn(start):
    """Reading a capture counts as a search, of which a server runs only a few at a time."""
    talk = start(size=5)
    scheduler = talk.gtp.session._scheduler = SearchScheduler(1)
    other = scheduler.register(NoDeadline())
    assert other.acquire()
    talk.say("play b A5", "play w A4", "attack A5")
    assert [talk.hear(), talk.hear()] == ["=", "="]
    assert until(lambda: scheduler._waiting)
    other.release()
    assert talk.hear() == "= 1 B5"


def test_stopped_reading_fails():
    stones = Stones(5, 5)
    stones.put(stones.shape.vertex(0, 0), BLACK)
    stones.put(stones.shape.vertex(1, 0), WHITE)
    assert read_attack(stones, stones.shape.vertex(0, 0)).code == 1
    assert read_attack(stones, stones.shape.vertex(0, 0), lambda: False).code == 0


def test_stopped_searches_of_dragons_are_not_continued(start, monkeypatch):
    talk = start(size=9)
    searched = []

    def search(stones, player):
        searched.append(stones)
        talk.gtp.session._job.stop.set()
        return Fate(0.9, PASS)

    monkeypatch.setattr(gtp_session, "stone_fate_search", lambda *_: search)
    talk.answer("set_position b A1 b J9 w A9")
    assert talk.answer("dragon_status") == "= A9: unknown\nJ9: unknown\nA1: unknown\n\n"
    assert len(searched) == 1


def test_stopped_judgement_of_dead_stones_is_repeated(start, monkeypatch):
    talk = start(size=5)
    talk.answer("play b A1")
    (vertex,) = iter_bits(talk.gtp.session.go_board.game.stones.sets[BLACK])
    judgements = iter(["dead", "alive"])

    def judge(game):
        status = next(judgements)
        if status == "dead":
            talk.gtp.session._job.stop.set()
        return {(vertex,): status}

    monkeypatch.setattr(talk.gtp.session.go_board, "_judge", judge)
    answers = [talk.answer("final_status A1") for _ in range(3)]
    assert answers[1:] == ["= alive\n\n"] * 2


def test_long_file_names_are_rejected(start):
    name = " ".join(["D4"] * 100)
    answer = start(size=5).answer(f"loadsgf {name}")
    assert answer == "? cannot load file: File name too long\n\n"


def test_setup_keeps_the_prisoners(start, tmp_path):
    """Prisoners count under territory scoring, also if stones are set up after a capture."""
    file = tmp_path / "game.sgf"
    moves = ";B[ab];W[aa];B[ba]"
    texts = {
        "setup": f"{moves};AB[cc];W[];B[]",
        "turn": f"{moves};W[cc];B[];PL[B];AE[cc];AB[cc];W[];B[]",
        "forced": f"{moves};B[cc]KO[];B[cc]KO[];W[];B[]",
    }
    talk = start(size=5)
    talk.answer("kata-set-rules japanese")
    for text in texts.values():
        file.write_text(f"(;SZ[5]KM[0]{text})")
        assert talk.answer(f"loadsgf {file}").startswith("= ")
        assert talk.answer("captures b") == "= 1\n\n"
        assert talk.answer("final_score") == "= B+23\n\n"
    talk.answer("clear_board")
    assert talk.answer("captures b") == "= 0\n\n"
    for line in ("komi 0", "play b A4", "play w A5", "play b B5", "gogui-setup b C3"):
        assert talk.answer(line) == "=\n\n"
    assert talk.answer("captures b") == "= 1\n\n"
    assert talk.answer("final_score") == "= B+23\n\n"


def test_many_queued_commands_are_all_answered(start):
    talk = start()
    number = 3 * MAX_PENDING
    for line in range(number):
        talk.say(f"{line} name")
    assert talk.rest() == [f"={line} Kempelen" for line in range(number)]


def test_closing_releases_a_thread_that_waits_for_room(start, monkeypatch):
    """Also if the agent's thread is stuck."""
    talk = start(seconds=1000.0)
    talk.say("genmove b", *["name"] * (MAX_PENDING - 1))
    waiting = threading.Thread(target=talk.say, args=("name",))
    waiting.start()
    with monkeypatch.context() as patch:
        patch.setattr(talk.gtp.session, "close", lambda timeout: False)
        assert not talk.gtp.close(0.0)
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    "lines",
    [
        ("time_settings 30 0 0", "time_left b 3 0"),
        ("time_left w 9999 0", "time_left b 3 0"),
        ("time_settings 0 1 0", "time_left b 1 3"),
        ("kata-time_settings fischer-capped 9999 99 -1 0.5",),
        ("kata-time_settings fischer-capped 9999 99 -1 0.5", "kata-set-rules japanese"),
        ("kata-time_settings fischer-capped 3 0 3 -1", "time_left b 2 0"),
    ],
)
def test_genmove_obeys_time_settings(start, lines):
    talk = start(seconds=1000.0, size=9)
    talk.say(*lines)
    assert talk.gtp.drain(10)
    began = time.monotonic()
    talk.say("genmove b")
    assert talk.gtp.drain(60)
    assert time.monotonic() - began < 30


def test_zero_time_left_without_clock_is_ignored(start):
    talk = start(size=9, playouts=200)
    said = talk.answer("time_left b 0 0") + talk.answer("lz-genmove_analyze b")
    last = [line for line in said.splitlines() if line.startswith("info ")][-1]
    assert sum(map(int, re.findall(r"visits (\d+)", last))) > 20


def test_failing_evaluation_still_yields_a_move(start, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def breaks(game):\n    return 1 / 0\n")
    talk = start(game="othello", evaluation=f"{file}:breaks")
    assert talk.answer("genmove b").strip("= \n") in {"d3", "c4", "f5", "e6"}
    assert any(
        "breaks failed: ZeroDivisionError: division by zero (mine.py, line 2)" in report
        for report in talk.reports
    )


RAW = "def f(g):\n    return g.open_lines(g.turn) - g.open_lines(1 - g.turn)\n"


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("algorithm", [None, *algorithms()])
def test_winning_move_is_played_despite_the_evaluation(start, tmp_path, algorithm, depth):
    """E = X - O is 2 after b2, and a1 wins."""
    file = tmp_path / "raw.py"
    file.write_text(RAW)
    options = {"depth": depth, "playouts": 300, "seconds": 60.0, "evaluation": f"{file}:f"}
    talk = start(game="tic-tac-toe", book=False, algorithm=algorithm, **options)
    for move in ("b a3", "w b3", "b a2", "w c3"):
        talk.answer(f"play {move}")
    assert talk.answer("genmove b") == "= a1\n\n"
    assert talk.reports == []


def test_high_evaluation_is_not_reported_as_certain_win(start, tmp_path):
    file = tmp_path / "raw.py"
    file.write_text(RAW)
    talk = start(game="tic-tac-toe", book=False, depth=1, evaluation=f"{file}:f", seconds=60.0)

    def winrate(*moves):
        talk.answer("clear_board")
        for move in moves:
            talk.answer(f"play {move}")
        answer = talk.answer("kata-genmove_analyze b")
        return float(answer.split("winrate ")[1].split()[0])

    assert 0.5 < winrate() < 0.99
    assert winrate("b a3", "w b3", "b a2", "w c3") > 0.9999


def test_user_evaluation_determines_the_move(start, tmp_path):
    file = tmp_path / "mine.py"
    # With a black disc on d3 the position is worth -1 to White, who is to move.
    file.write_text("def corner(game):\n    return -(game.discs(0) >> 19 & 1)\n")
    talk = start(game="othello", depth=1, evaluation=f"{file}:corner")
    assert talk.answer("genmove b") == "= d3\n\n"


@pytest.mark.parametrize(
    ("game", "begun", "answers"),
    [
        ("connect-four", [], {"4"}),
        ("tic-tac-toe", ["a3"], {"b2"}),
        ("nim", ["c5"], {"b1"}),  # 3 and 4 remain
        ("grundy", ["7=5+2"], {"5=4+1"}),
    ],
)
def test_book_and_solved_positions_need_no_search(start, game, begun, answers):
    def nodes(talk):
        return talk.gtp.session.backend._search.progress().nodes

    colour = "bw"[len(begun)]
    plain = {"game": game, "algorithm": "alpha-beta"}
    talk, without = start(**plain), start(**plain, book=False, depth=2)
    for each in (talk, without):
        for move in begun:
            assert each.answer(f"play b {move}") == "=\n\n"
    assert talk.answer(f"reg_genmove {colour}").strip("= \n") in answers
    assert nodes(talk) == 0
    without.answer(f"reg_genmove {colour}")
    assert nodes(without) > 0
    talk.say(f"lz-analyze {colour} 1")  # analysis does not use the book
    assert talk.hear() == "="
    assert talk.hear().startswith("info move ")
    assert nodes(talk) > 0


def test_killer_memory_persists_between_games(start, tmp_path):
    file = tmp_path / "killers.db"
    options = {"game": "connect-four", "depth": 1, "seconds": 60.0, "book": False}
    algorithm = f"alpha-beta+killer_memory={file}"

    def moves(talk):
        talk.answer("clear_board")
        said = [talk.answer(f"genmove {'bw'[ply % 2]}") for ply in range(42)]
        return [text for text in said if text.startswith("=")]

    first = start(**options, algorithm=algorithm)
    before = moves(first)
    lessons = LearnedMoveDatabase(file).read_all()
    assert any(
        lesson.is_refutation and lesson.found == -1 for lesson in lessons
    )  # the game's result
    first.answer("quit")
    again = start(**options, experience=str(file))
    assert moves(again) != before == moves(start(**options, algorithm="alpha-beta"))
    file.write_text("{")
    for settings in ({"algorithm": algorithm}, {"experience": str(file)}):
        with pytest.raises(ValueError, match=r"killers\.db: not an experience file"):
            start(**options, **settings)
    with pytest.raises(ValueError, match="not supported in games of chance"):
        start(game="pig", experience=str(tmp_path / "luck.db"))


def test_book_is_used_only_for_its_board_size(start):
    talk = start(game="tic-tac-toe", size=4, depth=1)
    talk.answer("genmove b")
    assert talk.gtp.session.backend._search.progress().nodes > 0
    talk.answer("boardsize 3")
    talk.answer("genmove b")
    assert talk.gtp.session.backend._search.progress().nodes == 0


@pytest.mark.parametrize(
    "algorithm",
    [
        "mcts",
        "mcts+exploration=0.5",
        "alpha-beta+killers+table=1000",
        "ucb1",
        "alpha-beta",
        "mtd-f",
        "sss-star",
        "minimax",
    ],
)
def test_algorithm_can_be_selected_by_name(start, algorithm):
    talk = start(game="connect-four", algorithm=algorithm, depth=2)
    assert talk.answer("genmove b").strip("= \n") in set("1234567")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "chequers"}, "unknown game 'chequers'"),
        ({"algorithm": "thinking"}, "unknown algorithm 'thinking'"),
        ({"size": 26}, "size 26"),
        ({"game": "pig", "algorithm": "pvs"}, "pvs: games of chance are not supported"),
    ],
)
def test_invalid_settings_are_rejected(start, options, message):
    with pytest.raises(ValueError, match=message):
        start(**options)


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("name", catalogue.names())
def test_every_game_can_be_played_to_its_end(start, name):
    options = {"go": {"size": 4}, "pig": {}, "othello": {"size": 4}}.get(name, {})
    talk = start(game=name, playouts=5, depth=1, **options)
    board = talk.gtp.session.board
    for _ in range(2000):
        if not list(board.game.moves()):
            break
        colour, legal = COLOURS[board.turn], board.legal_moves()
        if name != "go":
            assert talk.answer("gogui-rules_side_to_move") == f"= {colour}\n\n"
            assert talk.answer("gogui-rules_legal_moves") == f"= {' '.join(legal)}\n\n"
        assert talk.answer(f"genmove {colour}").strip("= \n") in legal
    assert board.game.outcome() is not None
    if name != "go":
        assert talk.answer("gogui-rules_legal_moves") == "=\n\n"
        assert talk.answer("gogui-rules_final_result").startswith(("= Black", "= White", "= draw"))


def test_cleanup_captures_dead_stones_before_passing(start):
    talk = start(size=5, playouts=100, komi=0)
    for row in "12345":
        talk.say(f"play b B{row}", f"play b D{row}")
    talk.say("play w E3")
    assert talk.gtp.drain(30)
    talk.rest()
    talk._heard.clear()
    for _ in range(12):
        move = talk.answer("kgs-genmove_cleanup b").strip("= \n")
        if move == "pass":
            break
        talk.answer("play w pass")
    assert talk.gtp.session.board.game.stones.sets[2] == 0
    assert talk.gtp.session.board.game.last_move == PASS


def test_queue_of_long_lines_is_bounded(start):
    talk = start()
    held = threading.Event()
    talk.gtp.session.agent.submit(lambda job: held.wait(PATIENCE))
    lines = [f"{number} echo {'x ' * 30_000}" for number in range(20)]
    talk.say("name")
    reader = threading.Thread(target=talk.say, args=lines)
    reader.start()
    assert until(lambda: not talk.gtp._queue_slots._value)
    assert len(talk.gtp.session.agent.pending()) < 7
    held.set()
    reader.join(PATIENCE)
    assert len(talk.rest()) == 1 + len(lines)


def test_game_length_is_limited(start, monkeypatch):
    for module in (board, game_state):
        monkeypatch.setattr(module, "MAX_PLIES", 3)
    talk = start(size=5)
    assert [talk.answer(f"play {colour} pass")[:1] for colour in "bwb"] == ["="] * 3
    assert "too many moves (maximum 3)" in talk.answer("play w pass")
    for line in ("genmove w", "lz-genmove_analyze w"):
        assert talk.answer(line).startswith("? too many moves (maximum 3)")
    assert talk.answer("clear_board").startswith("=")
    assert talk.answer("play b pass").startswith("=")


def test_close_answers_unstarted_genmove_with_an_error(start):
    talk = start(seconds=1000.0, size=5)
    held = threading.Event()
    talk.gtp.session.agent.submit(lambda job: held.wait(PATIENCE))
    talk.say("genmove b", "3 name")
    closing = threading.Thread(target=talk.gtp.close, args=(PATIENCE,))
    closing.start()
    assert until(lambda: talk.gtp.session.closing)
    held.set()
    closing.join(PATIENCE)
    assert talk.hear() == "? the session has ended before a move was found"
    assert talk.hear() == "=3 Kempelen"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "6,5", "x"])
def test_komi_that_is_no_number_is_refused_by_name(start, text):
    talk = start(size=5, komi=0.5)
    expected = f"? syntax error: invalid komi {text} (expected a number)\n\n"
    assert talk.answer(f"komi {text}") == expected
    assert talk.answer("komi 1e12").startswith("? unacceptable komi: 1e12 (must be between")
    assert talk.answer("get_komi") == "= 0.5\n\n"


@pytest.mark.parametrize("rules", ["chinese", "chinese-ogs", "aga"])
@pytest.mark.parametrize("setup", ["", "b E5", "w E5 b D5", "empty B1 b B1"])
def test_setup_elsewhere_keeps_the_ko(start, rules, setup):
    talk = start(size=5)
    talk.answer(f"kata-set-rules {rules}")
    talk.answer("gogui-play_sequence b B1 w C1 b A2 w D2 b B3 w C3 b C2 w B2")
    assert talk.answer("is_legal b C2") == "= 0\n\n"
    assert talk.answer(f"gogui-setup {setup}") == "=\n\n"
    assert talk.answer("is_legal b C2") == "= 0\n\n"
    assert talk.answer("is_legal w C2") == "= 1\n\n"
    assert talk.answer("undo") == "? cannot undo\n\n"
    talk.answer("play b pass")
    talk.answer("play w pass")
    legal = int(rules == "chinese")
    assert talk.answer("is_legal b C2") == f"= {legal}\n\n"


def test_moves_taken_back_by_a_setup_may_be_played_again(start):
    talk = start(size=5)
    talk.answer("gogui-play_sequence b A1 w B2 b C3")
    assert talk.answer("gogui-setup empty C3 empty B2") == "=\n\n"
    talk.answer("gogui-setup_player w")
    assert talk.answer("is_legal w B2") == talk.answer("is_legal b C3") == "= 1\n\n"


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_estimate_after_two_passes_is_the_final_score(start, rules):
    talk = start(size=2, komi=0)
    talk.answer(f"kata-set-rules {rules}")
    talk.answer("gogui-play_sequence b A1 w pass b A2 w pass b B1 w pass b pass")
    final = talk.answer("final_score").strip("= \n").partition("+")
    winner, points = (final[0], float(final[2])) if final[2] else ("W", 0.0)
    for_white = points if winner == "W" else -points
    expected = f"= {winner}+{points:.1f} (upper bound: {for_white:.1f}, lower: {for_white:.1f})\n\n"
    for colour in ("", " b", " w"):
        assert talk.answer(f"estimate_score{colour}") == expected


@pytest.mark.parametrize(
    "command", ["dragon_stones", "dragon_stones b", "dragon_stones A1", "worm_stones",
                "same_dragon A1 A1", "kempelen-ladders", "kempelen-ownership"],
)  # fmt: skip
def test_computations_wait_for_a_search_slot(start, command):
    talk, scheduler = start(size=5, algorithm="alpha-beta", depth=1), SearchScheduler(slots=1)
    talk.answer("gogui-play_sequence b A1 w C3 b D1")
    talk.gtp.session._scheduler = scheduler
    other = scheduler.register(NoDeadline())
    other.acquire()
    talk.say(command)
    assert until(lambda: scheduler.counts() == (1, 1))
    assert talk.sent.empty()
    other.release()
    assert talk.gtp.drain(60.0)
    assert scheduler.counts() == (0, 0)
    assert talk.hear().startswith("=")


def test_dragons_are_listed_once_each_from_the_top(start):
    talk = start(size=5)
    talk.answer("set_position b A5 b B4 w E1 w E2 b D1")
    assert talk.answer("dragon_stones") == "= A5 B4\nE2 E1\nD1\n\n"
    assert talk.answer("worm_stones b") == "= A5\nB4\nD1\n\n"
    assert talk.answer("dragon_stones B4") == "= A5 B4\n\n"
    assert talk.answer("dragon_stones B4 C4") == "? syntax error\n\n"
