"""Go over GTP with the compiled search, which is the default on boards of any size."""

import pytest

from agent.games.go import Go
from agent.go.search import GoSearch
from agent.kernel.backend import CompiledBackend
from agent.search.backend import GameBackend
from agent.search.searcher import GameSearcher
from agent.threads.scheduler import NoDeadline, SearchScheduler
from protocols.gtp.session import OVERHEAD, GtpSession
from tests.agent.games.contest_positions import CONTESTS
from tests.agent.go.evaluations import POINT_EVALUATIONS
from tests.agent.go.test_life_and_death import OPEN_SIDE

OWN = f"""{POINT_EVALUATIONS}
def breaks(game):
    return 1 / 0
"""


@pytest.fixture
def ready(start):
    """Start a session of Go without a book, and wait for the compiled search."""

    def ready(**options):
        usual = {"seconds": 60.0, "size": 7, "megabytes": 8}
        if not {"nodes", "seconds"} & options.keys():
            usual["playouts"] = 300
        talk = start(algorithm=None, book=False, **{**usual, **options})
        talk.await_compiled()
        return talk

    return ready


def faults(talk):
    """Return the reports except those about compilation."""
    return [report for report in talk.reports if "compil" not in report]


def vertex(talk, colour):
    answer = talk.answer(f"genmove {colour}")
    assert answer.startswith("= ")
    return answer.strip("= \n")


def test_compiled_search_is_the_default(ready):
    talk = ready()
    vertex(talk, "b")
    assert type(talk.gtp.session.backend) is CompiledBackend
    assert isinstance(talk.searcher, GoSearch)
    assert talk.searcher.progress().nodes == 300
    assert faults(talk) == []


def test_compiled_search_refuses_boards_over_19_by_name(ready, tmp_path):
    talk = ready()
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[25];B[ya])")
    for command in ("boardsize 25", f"loadsgf {file}"):
        answer = talk.answer(command)
        assert answer.startswith("? ")
        assert "unsupported board size 25 (maximum 19 in the compiled search" in answer
    assert "SZ[7]" in talk.answer("printsgf")
    assert talk.answer("boardsize 26") == "? unacceptable size\n\n"


@pytest.mark.parametrize(
    "command", ["clear_board", "boardsize 5", "loadsgf {file}", "set_position b A1"]
)
def test_board_setup_commands_wait_for_loading(ready, monkeypatch, tmp_path, command):
    talk, settled = ready(), []
    file = tmp_path / "game.sgf"
    file.write_text("(;SZ[7];B[aa])", "utf-8")
    monkeypatch.setattr(GtpSession, "wait_until_loaded", lambda session: settled.append(session))
    assert talk.answer(command.format(file=file)).startswith("=")
    assert settled == [talk.gtp.session]


@pytest.mark.parametrize(
    "options", [{"algorithm": "mcts", "playouts": 10}, {"algorithm": "alpha-beta", "depth": 1}]
)
def test_python_algorithms_can_be_selected(start, options):
    talk = start(size=5, book=False, **options)
    vertex(talk, "b")
    assert type(talk.gtp.session.backend) is GameBackend


@pytest.mark.thorough
def test_each_analysis_line_lists_every_move_once(ready):
    """The clock ends the search within an iteration."""
    talk = ready(seconds=0.25)
    for colour in "bw" * 4:
        said = talk.answer(f"kata-genmove_analyze {colour} 5 rootInfo true maxmoves 99 minmoves 30")
        lines = [line for line in said.splitlines() if line.startswith("info")]
        total = 0
        for line in lines:
            moves_text, root = line.split(" rootInfo ")
            moves = [part.split() for part in moves_text.split("info move ")[1:]]
            assert len({move[0] for move in moves}) == len(moves) >= 30
            visits = sum(int(move[2]) for move in moves)
            assert int(root.split()[1]) == visits >= total
            total = visits
        assert said.split("\nplay ")[1].strip() == lines[-1].split()[2]


@pytest.mark.thorough
def test_last_analysis_line_starts_with_the_played_move(ready):
    """With maxmoves below the number of known moves."""
    talk = ready(seconds=0.25)
    for colour in "bw" * 4:
        said = talk.answer(f"kata-genmove_analyze {colour} 5 maxmoves 2 ownership true")
        last = [line for line in said.splitlines() if line.startswith("info")][-1]
        assert said.split("\nplay ")[1].strip() == last.split()[2]
        assert last.count("info move") <= 2
        assert len(last.split(" ownership ")[1].split()) == 49


def test_plays_a_complete_legal_game(ready):
    talk = ready(size=5, playouts=100, resigns=False)
    game = Go(5)
    for number in range(200):
        text = vertex(talk, "bw"[number % 2])
        move = next(move for move in game.moves() if game.text(move) == text)
        game.play(move)
        if game.is_over():
            break
    assert game.is_over()
    assert talk.answer("final_score").startswith("= ")
    assert vertex(talk, "b")
    assert faults(talk) == []


@pytest.mark.parametrize("first", [1, 2, 9])
def test_board_size_can_change_at_any_time(ready, first):
    talk = ready(size=first, playouts=50)
    for size in (first, 1, 19, 2, 1, 5):
        assert talk.answer(f"boardsize {size}") == "=\n\n"
        game = Go(size)
        for player in "bw":
            text = vertex(talk, player)
            assert text in {game.text(move) for move in game.moves()}
            game.play(next(move for move in game.moves() if game.text(move) == text))
        assert isinstance(talk.searcher, GoSearch)
    assert faults(talk) == []


@pytest.mark.parametrize(("width", "height"), [(2, 19), (19, 2), (3, 8), (9, 5), (1, 6)])
def test_plays_on_rectangular_boards(ready, width, height):
    talk = ready(playouts=60)
    assert talk.answer(f"rectangular_boardsize {width} {height}") == "=\n\n"
    game = Go(f"{width}x{height}")
    for number in range(6):
        text = vertex(talk, "bw"[number % 2])
        if game.is_over():
            game.set_turn(game.turn)
        game.play(next(move for move in game.moves() if game.text(move) == text))
    assert isinstance(talk.searcher, GoSearch)
    assert talk.answer("showboard") == f"=\n{game}\n\n"
    assert faults(talk) == []


def test_ownership_and_status_on_a_rectangular_board(ready):
    """Black lives in the upper three rows with three eyes, White below; the fourth is shared."""
    talk = ready(playouts=200, komi=0.5)
    assert talk.answer("rectangular_boardsize 3 7") == "=\n\n"
    black = [f"b {point}" for point in ("A5", "B5", "C5", "A6", "C6", "B7")]
    white = [f"w {point}" for point in ("A3", "B3", "C3", "A2", "C2", "B1")]
    assert talk.answer(f"set_position {' '.join(black + white)}") == "=\n\n"
    for colour in "bw":
        head, *rows = talk.answer(f"kempelen-ownership {colour}").strip().split("\n")
        shares = [[float(word) for word in row.split()] for row in rows]
        assert (head, len(rows), {len(row) for row in shares}) == ("=", 7, {3})
        assert min(map(min, shares[:3])) > 0.9
        assert max(map(max, shares[4:])) < -0.9
    chains = {"A5 B5 C5 A6 C6", "B7", "A2 C2 A3 B3 C3", "B1"}
    assert set(talk.answer("final_status_list alive")[2:].strip().split("\n")) == chains
    assert talk.answer("final_score").startswith("= W+0.5")


def test_search_follows_undo_moves_out_of_turn_and_handicap(ready):
    talk = ready()
    for line in ("play b D4", "play b C3", "play w E5", "undo", "komi -3.5"):
        assert talk.answer(line) == "=\n\n"
        assert talk.answer("reg_genmove w").startswith("= ")
        assert talk.answer("reg_genmove b").startswith("= ")
    assert talk.answer("clear_board") == "=\n\n"
    assert talk.answer("fixed_handicap 4").startswith("= ")
    vertex(talk, "w")
    vertex(talk, "w")
    assert faults(talk) == []


def test_plays_the_decisive_capture(ready):
    talk = ready(size=5, playouts=3000, komi=0.5)
    rows = (".XO..", ".XO..", ".XOO.", "XXXXO", "OOOO.")
    for row, text in zip("54321", rows, strict=True):
        for column, sign in zip("ABCDE", text, strict=True):
            if sign != ".":
                assert talk.answer(f"play {'bw'['XO'.index(sign)]} {column}{row}") == "=\n\n"
    assert vertex(talk, "b") == "E1"


def test_same_seed_gives_the_same_game(ready):
    games = []
    for seed in (3, 3, 4):
        talk = ready(size=9, seed=seed)
        games.append([vertex(talk, "bw"[number % 2]) for number in range(6)])
    assert games[0] == games[1] != games[2]


def test_node_limit_ends_the_search(ready):
    talk = ready(seconds=1000.0, nodes=700)
    vertex(talk, "b")
    assert talk.searcher.progress().nodes == 700


@pytest.mark.parametrize("name", ["point", "compiled_point"])
def test_user_evaluation_determines_the_move(ready, own, name):
    talk = ready(playouts=1500, evaluation=f"{own}:{name}")
    assert vertex(talk, "b") == "C5"
    assert isinstance(talk.searcher, GoSearch)
    assert faults(talk) == []


def test_failing_evaluation_still_yields_a_move(ready, own):
    talk = ready(evaluation=f"{own}:breaks")
    vertex(talk, "b")
    assert any("breaks failed: ZeroDivisionError" in report for report in talk.reports)


def test_python_search_plays_during_compilation(start, compiler):
    talk = start(algorithm=None, size=5, book=False, playouts=20, seconds=20.0)
    vertex(talk, "b")
    assert isinstance(talk.searcher, GameSearcher)
    assert "compiling the Go search (once, about a minute)" in talk.reports[0]
    compiler.ended.set()
    talk.await_compiled()
    vertex(talk, "w")
    assert isinstance(talk.searcher, GoSearch)


def set_up(talk, *rows):
    """Set up the stones of a diagram on the empty board."""
    stones = [
        f"{'bw'['XO'.index(sign)]} {'ABCDEFGHJ'[column]}{len(rows) - line}"
        for line, row in enumerate(rows)
        for column, sign in enumerate(row.split())
        if sign != "."
    ]
    assert talk.answer(f"gogui-setup {' '.join(stones)}") == "=\n\n"


# A self-play game of GNU Go; all borders are closed.
FINISHED = (
    ". . . . X X O . .",
    ". . . X X O O . .",
    ". . X X O . O . .",
    ". . X O O . O . .",
    ". X O O . . O . .",
    ". X X O . O O . .",
    ". X O O O . . . .",
    "X X O . . . . . .",
    "X O O . . . . . .",
)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("komi", "colour"), [(-20.5, "w"), (0.5, "w"), (0.5, "b"), (6.5, "b")])
def test_passes_under_japanese_rules_when_borders_are_closed(ready, komi, colour):
    # Under area rules, the network may pass as well.
    without_network = {"network_visits": 1e9}
    talk = ready(size=9, komi=komi, playouts=3000, resigns=False, settings=without_network)
    set_up(talk, *FINISHED)
    assert vertex(talk, colour) != "pass"
    assert talk.answer("undo") == "=\n\n"
    assert talk.answer("kata-set-rules japanese") == "=\n\n"
    assert vertex(talk, colour) == "pass"
    assert faults(talk) == []


@pytest.mark.parametrize(("rules", "komi"), [("chinese", -34.5), ("japanese", -20.5)])
def test_plays_eye_making_move_under_both_rulesets(ready, rules, komi):
    """Black's three points in a row make two eyes if Black plays the middle one, and decide."""
    talk = ready(size=7, komi=komi, playouts=1000)
    white = [". O . O . O .", "O O O O O O O", ". O . O . O ."]
    set_up(talk, *white, ". O O O O O .", "O O O O O . .", "X X X X O . .", ". . . X O . .")
    assert talk.answer(f"kata-set-rules {rules}") == "=\n\n"
    assert vertex(talk, "b") == "B1"


@pytest.mark.parametrize(("rules", "lead"), [("chinese", -5.5), ("japanese", -1.5)])
def test_kata_analyze_reports_the_points_of_the_rules(ready, rules, lead):
    """All empty points are eyes. Black has 10 points of area or 3 of territory, White 15 or 4."""
    talk = ready(size=5, komi=0.5)
    set_up(talk, ". X O . O", "X X O O .", ". X O O O", "X X O . O", ". X O O .")
    assert talk.answer(f"kata-set-rules {rules}") == "=\n\n"
    assert talk.answer("final_score") == f"= W+{-lead}\n\n"
    answer = talk.answer("kata-genmove_analyze b 100 rootInfo true")
    assert f"scoreLead {lead:.3f}" in answer.split("rootInfo")[-1]


def test_engine_plays_by_the_ko_rule_that_it_does_not_ask_of_others(ready):
    """White sends two by A1, Black captures them by C1, and B1 repeats the position."""
    talk = ready(size=5)
    set_up(talk, "X . X O .", "X X X O .", "X X X O O", "X X O O .", ". O . O .")
    for move in ("w A1", "b C1", "w B1", "b pass"):
        assert talk.answer(f"play {move}") == "=\n\n"
    assert talk.answer("gg-undo 2") == "=\n\n"
    for rules in ("chinese-ogs", "japanese", "aga"):
        assert talk.answer(f"kata-set-rules {rules}") == "=\n\n"
        assert vertex(talk, "w") in {talk.gtp.session.go_board.moves[-1], "resign"}
        assert talk.answer("undo") == "=\n\n"


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
def test_plays_on_after_a_pass_on_an_unfinished_board(ready, rules):
    """Two passes would end the game and win it by the whole board."""
    talk = ready(size=13)
    for line in (f"kata-set-rules {rules}", "play b K10", "play w pass"):
        assert talk.answer(line) == "=\n\n"
    assert vertex(talk, "b") != "pass"
    for line in ("undo", "kata-set-param conservativePass false"):
        assert talk.answer(line) == "=\n\n"
    assert vertex(talk, "b") == "pass"


def test_analysis_after_a_pass_shows_the_moves_of_an_unfinished_game(ready):
    talk = ready(size=13)
    talk.say("play b K10", "play w pass", "kata-analyze b 5 minmoves 5")
    assert [talk.hear(), talk.hear(), talk.hear()] == ["=", "=", "="]
    line = talk.hear()
    talk.say("stop")
    moves = [part.split()[0] for part in line.split("info move ")[1:]]
    assert len(moves) >= 5
    assert moves[0] != "pass"


# The chains that share E5 and E6 live in seki, and White wins by 4 points.
SEKI = (
    *(". . O X . O", ". O O X . O", ". O X O O O"),
    *(". O X X X X", ". O X . X .", ". O X . X ."),
)


@pytest.mark.parametrize(
    ("rows", "komi", "colour", "rules"),
    [
        (FINISHED, -30.5, "b", "chinese"),
        (FINISHED, -30.5, "b", "tromp-taylor"),
        (FINISHED, 6.5, "w", "japanese"),
        (SEKI, 0.5, "w", "chinese"),
    ],
)
def test_answers_a_pass_on_a_finished_board_with_a_pass(ready, rows, komi, colour, rules):
    talk = ready(size=len(rows), komi=komi, playouts=1000, resigns=False)
    set_up(talk, *rows)
    for line in (f"kata-set-rules {rules}", f"play {'bw'[colour == 'b']} pass"):
        assert talk.answer(line) == "=\n\n"
    assert vertex(talk, colour) == "pass"


def test_pass_check_search_fits_within_the_overtime_period(ready, monkeypatch):
    """The time of the probe is deducted from the time of the move."""
    talk = ready(size=9, komi=0.5, resigns=False)
    set_up(talk, *FINISHED)
    assert talk.answer("kata-set-rules japanese") == "=\n\n"
    assert talk.answer("time_settings 0 10 1") == "=\n\n"
    asked = []
    prepare = talk.gtp.session._prepare_search

    def note(limits, *others):
        asked.append(limits)
        return prepare(limits, *others)

    monkeypatch.setattr(talk.gtp.session, "_prepare_search", note)
    vertex(talk, "b")
    found, probed = asked
    assert found.clock.overtime.seconds + probed.movetime - OVERHEAD < 10


@pytest.mark.thorough
def test_wins_though_playouts_may_misjudge_dead_stones(ready):
    """White's top is dead, even if White moves first. A pass must not lose it."""
    talk = ready(size=9, komi=6.5, playouts=5000, resigns=False)
    set_up(
        talk,
        *("X X X X O . . X .", ". X O O O O O X .", "O X X O O X X O O"),
        *("X . . X . . X X O", ". X X X X . X O .", "X . X X X . X O O"),
        *(". X O X O O X O .", "X O O X X X O O X", ". . O O O O . . ."),
    )
    assert talk.answer("kata-set-rules japanese") == "=\n\n"
    assert talk.answer("final_score").startswith("= B+")
    moves = [vertex(talk, "b")]
    while len(moves) < 80 and moves[-2:] != ["pass", "pass"]:
        moves.append(vertex(talk, "bw"[len(moves) % 2]))
    assert moves[-2:] == ["pass", "pass"]
    assert talk.answer("final_score").startswith("= B+")


def test_final_score_and_status_lists_show_a_seki(ready):
    talk = ready(size=6, komi=0.0)
    set_up(talk, *(" ".join(row) for row in CONTESTS["a chain between two groups"]))
    assert talk.answer("final_score") == "= W+4\n\n"
    assert talk.answer("final_status_list dead") == "=\n\n"
    chains = {
        frozenset(line.split()) for line in talk.answer("final_status_list seki")[2:].split("\n")
    }
    assert chains - {frozenset()} == {
        frozenset({"D5", "D6"}),
        frozenset({"D4", "E4", "F4", "F5", "F6"}),
    }


def test_final_score_waits_for_a_search_slot_and_stops_on_close(ready):
    talk, scheduler = ready(size=9, komi=6.5), SearchScheduler(slots=1)
    set_up(talk, *(" ".join(row) for row in OPEN_SIDE))
    talk.gtp.session._scheduler = scheduler
    other = scheduler.register(NoDeadline())
    other.acquire()
    talk.say("final_score")
    assert not talk.gtp.drain(0.5)
    assert scheduler.counts() == (1, 1)
    other.release()
    assert talk.gtp.drain(60.0)
    assert scheduler.counts() == (0, 0)
    assert talk.hear().startswith("= ")
    talk.say("play b A1", "final_score")
    assert talk.gtp.close(2.0)


def test_analysis_is_not_limited_by_playouts_per_move(ready):
    talk = ready(size=5, playouts=50)
    talk.say("kata-analyze b 1 rootInfo true")
    visits = 0
    while visits < 500:
        words = talk.hear().split()
        if "rootInfo" in words:
            visits = int(words[words.index("rootInfo") + 2])
    talk.say("name")
    assert talk.gtp.drain(60.0)


def test_analysis_evaluates_own_eye_move_if_only_that_is_allowed(ready):
    talk = ready(size=5)
    for vertex in ("A2", "B1", "B2", "C1"):
        assert talk.answer(f"play b {vertex}") == "=\n\n"
    said = talk.answer("kata-genmove_analyze b allow b A1 1").splitlines()
    assert said[-3].startswith("info move A1 visits ")
    assert said[-2] == "play A1"


def test_analysis_reports_pv_visits_and_moves_ownership(ready):
    talk = ready(size=5)
    asked = "maxmoves 3 pvVisits true movesOwnership true ownership true avoid b C3 9 avoid w B2 2"
    said = talk.answer(f"kata-genmove_analyze b {asked}").splitlines()[-3]
    first, *infos = said.split("info move ")
    assert first == ""
    assert len(infos) == 3
    for info in infos:
        words = info.split()
        pv, visits, edges, owners = (
            words.index(word) for word in ("pv", "pvVisits", "pvEdgeVisits", "movesOwnership")
        )
        moves = words[pv + 1 : visits]
        assert "C3" not in moves[::2]
        assert moves[1:2] != ["B2"]
        numbers = [int(word) for word in words[visits + 1 : edges]]
        assert numbers[0] == int(words[words.index("visits") + 1])
        assert len(numbers) == len(moves)
        assert words[edges + 1 : owners] == words[visits + 1 : edges]
        shares = [float(word) for word in words[owners + 1 :][:25]]
        assert all(-1 <= share <= 1 for share in shares)
    assert said.count(" ownership ") == 1
    plain = talk.answer("kata-genmove_analyze w").splitlines()[-3]
    assert not {"pvVisits", "movesOwnership"} & set(plain.split())


@pytest.mark.parametrize("colour", ["b", "w"])
def test_problem_analysis_finds_the_vital_point_in_its_rectangle(ready, colour):
    talk = ready(size=9)
    stones = "b A3 b B3 b C3 b D3 b E3 b E2 b E1 w A2 w B2 w C2 w D2 w D1"
    assert talk.answer(f"set_position {stones}") == "=\n\n"
    talk.say(f"kata-problem_analyze {colour} 10 topleft A3 bottomright E1")
    assert talk.hear() == "="
    assert talk.hear().startswith("info move B1 ")
    assert all(line.startswith("info move B1 ") for line in talk.rest())
    assert faults(talk) == []


def test_status_of_a_dragon_is_searched(ready):
    talk = ready(size=9)
    stones = "b A3 b B3 b C3 b D3 b E3 b E2 b E1 w A2 w B2 w C2 w D2 w D1"
    assert talk.answer(f"set_position {stones}") == "=\n\n"
    assert talk.answer("dragon_status A2") == "= critical B1 B1\n\n"
    assert talk.answer("owl_defend A2") == "= 1 B1\n\n"
    assert talk.answer("owl_attack A3") == "= 0\n\n"
