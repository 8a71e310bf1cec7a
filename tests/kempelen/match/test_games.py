"""Games other than chess in matches: lab agents and GTP programs."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.game_settings import GameSettings, new_game
from kempelen.match.config.settings import Adjudication, OpeningSettings, ResignRule, SprtSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import BLACK, WHITE, Termination
from kempelen.match.game.openings import Opening, opening_selector
from kempelen.match.game.referee import Referee
from kempelen.match.live.events import GameStarted, MovePlayed
from kempelen.match.live.live_state import LiveState
from kempelen.match.records.game_record import GameRecord, MoveRecord
from kempelen.match.records.record_formats import make_writer, to_sgf, to_text
from kempelen.match.runner import LocalExecutor
from protocols.gtp.sgf import read as read_sgf
from protocols.gtp.sgf import read_point
from tests.external import program
from tests.kempelen.match.support import engine, play, play_with, settings
from tests.support import failing_gtp

CHOMP = f"{Path(__file__).parents[2] / 'data/games/chomp.py'}:Chomp"
TIC_TAC_TOE = GameSettings("tic-tac-toe")
SMALL_GO = GameSettings("go", {"size": 5, "komi": 0.5})


def lab(algorithm="alpha-beta", name="", options=None, **limits):
    return EngineSettings(
        algorithm, name, protocol=EngineProtocol.LAB, options=options or {},
        time=TimeControl(**{"depth": 2} | limits) if limits else None,
    )  # fmt: skip


def gtp(*arguments, name="gtp", **changes):
    values = {"start_limit": 30, "time": TimeControl(movetime=0.2, margin=20), **changes}
    return EngineSettings(
        sys.executable, name, ("-m", "kempelen.cli", "gtp", *arguments),
        protocol=EngineProtocol.GTP, **values,
    )  # fmt: skip


def failing(failure, after=1, **changes):
    command, arguments = failing_gtp(failure, after)
    values = {"name": failure, "time": TimeControl(movetime=0.5, margin=1), **changes}
    return EngineSettings(
        command, arguments=arguments, protocol=EngineProtocol.GTP, ready_limit=2, quit_limit=1,
        start_limit=10, **values,
    )  # fmt: skip


def match(*engines, game=TIC_TAC_TOE, **changes):
    values = {"time": TimeControl(depth=3), **changes}
    return settings(*engines, game=game, **values)


@pytest.mark.thorough
async def test_stronger_agent_wins_and_match_is_reproducible():
    strong = lab("alpha-beta+table+killers", name="strong", depth=9)
    chosen = match(strong, lab(name="weak", depth=1), games=8)
    finish, records = await play(chosen)
    assert finish.complete
    assert {record.termination for record in records} == {Termination.RULES}
    assert finish.summary.rows[0].name == "strong"
    assert {len(record.opening) for record in records} == {4}
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert first.opening == second.opening
        assert (first.white, first.black) == (second.black, second.white)
    _, again = await play(chosen)
    assert [record.digest for record in again] == [record.digest for record in records]


@pytest.mark.thorough
async def test_othello_match_resumes_with_same_board_size_only(tmp_path):
    def othello(size, **changes):
        agents = lab(), lab("mcts", playouts=20, options={"seed": 1})
        return match(*agents, game=GameSettings("othello", {"size": size}), **changes)

    async def run(chosen, **options):
        return await play_with(
            chosen, LocalExecutor(chosen), path=str(tmp_path / "ledger"), **options
        )

    _, records = await run(othello(4))
    finish, later = await run(othello(4, games=4), resume=True)
    assert [record.digest for record in later[:2]] == [record.digest for record in records]
    assert (finish.summary.played, len(later)) == (4, 4)
    with pytest.raises(SettingsError, match=r"game\.options\.size: 4 before, 6 now"):
        await run(othello(6, games=4), resume=True)


@pytest.mark.thorough
async def test_lab_agents_play_user_defined_game_and_nim():
    for game in (GameSettings(CHOMP), GameSettings("nim", {"heaps": [3, 4, 5], "misere": True})):
        finish, _ = await play(
            match(lab(), lab("pvs"), game=game, openings=OpeningSettings(plies=1))
        )
        assert finish.complete


@pytest.mark.thorough
async def test_alpha_beta_beats_single_playout_mcts_without_openings():
    nim = GameSettings("nim", {"heaps": [1, 2, 4, 8]})
    chosen = match(
        lab(depth=9), lab("mcts", playouts=1), game=nim, openings=OpeningSettings(plies=0), games=20
    )
    finish, _ = await play(chosen)
    assert finish.summary.rows[0].name == "alpha-beta"
    assert finish.summary.rows[0].points > 15


@pytest.mark.thorough
async def test_referee_plays_chance_events():
    game = GameSettings("pig", {"target": 10})
    finish, records = await play(match(lab("expectiminimax"), lab("expectiminimax"), game=game))
    assert finish.complete
    replay = new_game(game)
    for move in (*records[0].opening, *(record.move for record in records[0].moves)):
        replay.play(move)
    assert replay.outcome() == (1 if records[0].result == "0-1" else -1)
    assert "*:" in to_text(records[0], game, "pig")


@pytest.mark.thorough
async def test_events_report_turn_when_one_side_moves_twice():
    state, turn, again = LiveState(), "", 0

    def listen(event):
        nonlocal turn, again
        state.apply(event)
        if isinstance(event, MovePlayed) and event.move in ("roll", "hold"):
            assert event.side == turn
            again += event.turn == event.side
        if isinstance(event, GameStarted | MovePlayed):
            turn = event.turn
            assert state.boards[0]["turn"] == turn

    chosen = match(lab("expectiminimax"), lab("expectiminimax"), game=GameSettings("pig"))
    await play(chosen, listeners=[listen])
    assert again > 0


async def test_lab_agent_plays_chess_against_uci_engine():
    chosen = settings(
        lab(depth=1), engine(time=TimeControl(nodes=1)), adjudication=Adjudication(maxmoves=6)
    )
    finish, records = await play(chosen)
    assert finish.complete
    assert {record.termination for record in records} == {Termination.MAX_MOVES}
    assert {len(record.opening) for record in records} == {4}


@pytest.mark.thorough
async def test_kempelen_gtp_plays_go_and_games_export_to_sgf(tmp_path):
    finish, records = await play(
        match(
            gtp("--playouts", "30", name="A"),
            gtp("--playouts", "30", "--seed", "1", name="B"),
            game=SMALL_GO,
            adjudication=Adjudication(maxmoves=60),
        )
    )
    assert finish.complete
    assert not any(row.failures for row in finish.summary.rows)
    sgf = pytest.importorskip("sgfmill.sgf")
    for record in records:
        tree = sgf.Sgf_game.from_string(to_sgf(record, SMALL_GO, "go"))
        moves = [node.get_move() for node in tree.main_sequence_iter()][1:]
        assert (tree.get_size(), tree.get_komi(), len(moves)) == (5, 0.5, len(record.moves))
        assert [colour for colour, _ in moves[:2]] == ["b", "w"]
        winner = {"0-1": "b", "1-0": "w"}.get(record.result)
        assert tree.get_winner() == winner


@pytest.mark.thorough
async def test_kempelen_gtp_plays_go_on_rectangular_board(tmp_path):
    game = GameSettings("go", {"size": "4x6", "komi": 0.5})
    players = gtp("--playouts", "10", name="A"), gtp("--playouts", "10", "--seed", "1", name="B")
    chosen = match(*players, game=game, games=2, adjudication=Adjudication(maxmoves=60))
    finish, records = await play(chosen)
    assert finish.complete
    assert not any(row.failures for row in finish.summary.rows)
    for number, record in enumerate(records):
        file = tmp_path / f"{number}.sgf"
        file.write_text(to_sgf(record, game, "go"))
        written = read_sgf(file)
        assert written.size == (4, 6)
        points = [read_point(move.move) for move in record.moves]
        assert [point for _, point in written.moves][len(record.opening) :] == points
        assert max(point[1] for point in points if point) > 3, "no row beyond the width"


@pytest.mark.thorough
@pytest.mark.needs("gnugo")
async def test_gnugo_beats_weak_mcts():
    gnugo = EngineSettings(
        program("gnugo"), "gnugo", ("--mode", "gtp", "--chinese-rules", "--level", "1"),
        protocol=EngineProtocol.GTP, time=TimeControl(base=60, margin=20),
    )  # fmt: skip
    finish, records = await play(match(gnugo, lab("mcts", playouts=5), game=SMALL_GO, games=2))
    assert finish.complete
    assert {record.termination for record in records} <= {
        Termination.RULES,
        Termination.RESIGNATION,
    }
    assert finish.summary.rows[0].name == "gnugo"


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("failure", "termination"),
    [
        ("resigns", Termination.RESIGNATION),
        ("illegal", Termination.ILLEGAL_MOVE),
        ("occupied", Termination.ILLEGAL_MOVE),
        ("dies", Termination.CRASH),
        ("hangs", Termination.TIME),
        ("refuses", Termination.FAILED),
        ("deaf", Termination.HUNG),
    ],
)
async def test_gtp_failure_loses_one_game(failure, termination):
    _, records = await play(match(failing(failure, 2), failing("none"), game=SMALL_GO))
    assert [(record.termination, record.first_score) for record in records] == [
        (termination, 0.0)
    ] * 2


async def test_gtp_start_failure_is_reported():
    with pytest.raises(SettingsError, match=r"could not start .* with protocol gtp"):
        await play(match(failing("dies-at-once", 2), failing("none"), game=SMALL_GO))


async def test_two_passes_end_go_game():
    chosen = match(failing("passes"), failing("passes"), game=SMALL_GO)
    _, records = await play(chosen)
    assert {(r.result, r.termination, r.detail) for r in records} == {
        ("1-0", Termination.RULES, "W+0.5")
    }


def test_area_scoring_removes_dead_stones():
    moves = "c1 a5 c2 pass c3 pass c4 pass c5 pass pass"
    game = Referee(new_game(SMALL_GO), Opening("", tuple(moves.split()[:-1])))
    assert (game.turn, game.mover, game.game_result()) == (BLACK, 0, None)
    assert game.play("PASS") == "pass"
    game_result = game.game_result()
    assert (game_result.result, game_result.detail) == ("0-1", "B+24.5")


def test_ko_recapture_is_illegal():
    ko = "b1 c1 a2 d2 b3 c3 e5 b2 c2".split()  # noqa: SIM905
    game = Referee(new_game(SMALL_GO), Opening("", tuple(ko)))
    assert game.turn is WHITE
    with pytest.raises(ValueError, match="illegal move"):
        game.play("B2")


def test_go_game_ends_at_move_limit():
    chosen = match(lab(), lab(), game=SMALL_GO, adjudication=Adjudication(maxmoves=2))
    adjudicator = LocalExecutor(chosen)._adjudicator
    game = Referee(new_game(SMALL_GO), Opening("", ("a1", "b1", "c1")))
    assert game.adjudicate(adjudicator, [], first=0) is None
    game.play("d1")
    assert game.adjudicate(adjudicator, [], first=0).termination is Termination.MAX_MOVES


def test_random_openings_are_varied_and_reproducible():
    chosen = match(lab(), lab(), game=GameSettings("othello"), games=40, seed=5)
    openings = [opening_selector(chosen)(1, pair) for pair in range(1, 21)]
    assert openings == [opening_selector(chosen)(1, pair) for pair in range(1, 21)]
    assert len(set(openings)) > 10
    for opening in openings:
        Referee(new_game(chosen.game), opening)
    assert opening_selector(match(lab(), lab(), game=SMALL_GO))(1, 1).moves == ()
    too_many = match(lab(), lab(), openings=OpeningSettings(plies=9))
    with pytest.raises(SettingsError, match="9 random plies end the game"):
        opening_selector(too_many)(1, 1)


def test_openings_file_is_read_or_rejected(tmp_path):
    file = tmp_path / "lines.txt"
    file.write_text("a1 b2 # corner\n\nb2\n")
    chosen = match(lab(), lab(), openings=OpeningSettings(str(file)))
    assert {opening_selector(chosen)(1, pair).moves for pair in (1, 2)} == {("a1", "b2"), ("b2",)}
    for text, message in [
        ("a1 a1", "line 1: illegal move 'a1'"),
        ("a1 b1 a2 b2 a3", "line 1: the game is already over"),
        ("# none", "no openings found"),
    ]:
        file.write_text(text)
        with pytest.raises(SettingsError, match=message):
            opening_selector(chosen)
    epd = tmp_path / "o.epd"
    epd.write_text("4k3/8/8/8/8/8/4P3/4K3 w - -\n")
    chess = settings(lab(), lab(), openings=OpeningSettings(str(epd)))
    with pytest.raises(SettingsError, match="only support the start position"):
        opening_selector(chess)


async def test_go_games_are_written_as_sgf_and_json():
    pytest.importorskip("sgfmill")
    chosen = match(failing("passes"), failing("resigns", 2), game=SMALL_GO, games=1)
    _, (record,) = await play(chosen)
    assert (record.black, record.result) == ("resigns", "1-0")
    assert "RE[W+R]" in make_writer(chosen, "games.sgf")(record)
    assert ";B[ae]C[" in to_sgf(record, SMALL_GO, "go")
    line = json.loads(make_writer(chosen, "games.json")(record))
    assert (line["played"], line["result"]) == ("go size=5 komi=0.5", "1-0")
    assert [each["move"] for each in line["moves"]] == ["A1", "pass"]


def test_other_games_are_written_as_text():
    moves = tuple(MoveRecord(text) for text in ("c3", "b1", "b3"))
    record = GameRecord(
        "1.1-2.1", 2, "white player", "black player", "", ("a1", "b2", "a3"), moves[:2], "1-0",
        Termination.RULES, started="2026-01-31T00:00:00", white_time="depth 1", black_time="1/move",
    )  # fmt: skip
    assert to_text(record, TIC_TAC_TOE, "cup") == (
        "cup 1.1-2.1.2: tic-tac-toe, 2026-01-31\n"
        "Black black player (1/move), White white player (depth 1)\n"
        "B:a1 W:b2 B:a3 | W:c3 B:b1\n"
        "1-0 (end of the game)\n\n"
    )
    with pytest.raises(SettingsError, match=r"game 1\.1-2\.1\.2: illegal move 'a1'"):
        to_text(replace(record, moves=(MoveRecord("a1"),)), TIC_TAC_TOE, "cup")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: match(engine(), lab()), r"plays only chess \(tic-tac-toe is played by"),
        (lambda: match(lab(), gtp(time=None)), "nodes and depth not supported by GTP"),
        (lambda: settings(lab(), lab(), time=None), "missing time control"),
        (
            lambda: settings(lab(), engine(), time=TimeControl(playouts=9)),
            "playouts require a lab agent",
        ),
        (
            lambda: settings(lab(), lab(), game=GameSettings(options={"a": 1})),
            "chess has no options",
        ),
        (
            lambda: match(lab(), lab(), adjudication=Adjudication(resign=ResignRule())),
            "adjudication by scores or tables",
        ),
        (lambda: settings(lab(), engine(), chess960=True), "Chess960 is not supported"),
        (lambda: match(lab(), lab(), lab(), sprt=SprtSettings()), "requires exactly two engines"),
    ],
)
def test_incompatible_settings_are_rejected(make, message):
    with pytest.raises(SettingsError, match=message):
        make()


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (lab("nonsense"), "unknown algorithm 'nonsense'"),
        (lab("alpha-beta+wings"), "alpha-beta: unknown option 'wings'"),
        (
            lab(options={"colour": 1}),
            r"colour: unknown option \(expected one of: evaluation, memory, seed, threads\)",
        ),
        (lab(options={"evaluation": "nowhere.py:f"}), "nowhere.py"),
        (lab(options={"seed": "x"}), r"seed: must be an integer \(got 'x'\)"),
    ],
)
async def test_invalid_lab_agents_are_rejected(agent, message):
    with pytest.raises(SettingsError, match=message):
        await play(match(agent, lab()))
