import json

from tests.tournament.support import engine, settings
from tournament.records import GameRecord
from tournament.rules import Termination
from tournament.schedule import PairKey
from tournament.settings import SprtSettings
from tournament.standings import Decision, outcome_of, pentanomial, run_test, summarise
from tournament.values import encode


def outcome(
    number, game, result, *, players=(0, 1), termination=Termination.CHECKMATE, move="e2e4"
):
    key = PairKey(1, number, *players)
    record = GameRecord(
        pair=str(key), game=game, white="", black="", fen="f", opening=(move,), moves=(),
        result=result, termination=termination,
    )  # fmt: skip
    return outcome_of(record)


def test_pairs_are_counted_from_the_first_players_side():
    outcomes = [
        outcome(1, 1, "1-0"), outcome(1, 2, "0-1"),
        outcome(2, 1, "1-0"), outcome(2, 2, "1-0"),
        outcome(3, 1, "1/2-1/2"), outcome(3, 2, "1/2-1/2"),
        outcome(4, 1, "0-1"), outcome(4, 2, "1/2-1/2"),
        outcome(5, 1, "1-0"),
        outcome(6, 1, "*"), outcome(6, 2, "0-1"),
    ]  # fmt: skip
    assert pentanomial(outcomes) == (0, 1, 2, 0, 1)


def test_a_summary_counts_everything():
    chosen = settings(engine("A"), engine("B"), games=6, sprt=SprtSettings())
    outcomes = [
        outcome(1, 1, "1-0"), outcome(1, 2, "1/2-1/2"),
        outcome(2, 1, "0-1", termination=Termination.TIME, move="d2d4"),
        outcome(2, 2, "*", termination=Termination.WORKER_LOST, move="d2d4"),
    ]  # fmt: skip
    summary = summarise(chosen, outcomes)
    rows = {row.name: row for row in summary.rows}
    assert (rows["A"].wins, rows["A"].draws, rows["A"].losses, rows["A"].failures) == (1, 1, 1, 1)
    assert summary.crosstable == ((None, 1.5), (1.5, None))
    assert (summary.draw_ratio, summary.white_score) == (1 / 3, 0.5)
    assert (summary.asked, summary.played, summary.without_result) == (6, 4, 1)
    assert summary.distinct_games == 2
    assert summary.comparison.games == (1, 1, 1)
    assert summary.comparison.pairs == (0, 0, 0, 1, 0)
    assert summary.comparison.test.decision is Decision.OPEN


def test_a_summary_of_extremes_is_json():
    chosen = settings(engine("A"), engine("B"), engine("C"))
    none = summarise(chosen, [])
    one_sided = summarise(
        settings(engine("A"), engine("B")),
        [outcome(n, g, "1-0" if g == 1 else "0-1") for n in range(1, 9) for g in (1, 2)],
    )
    for summary in (none, one_sided):
        json.dumps(encode(summary), allow_nan=False)
    assert one_sided.comparison.by_pairs.los > 0.99


def test_the_test_decides():
    sprt = SprtSettings(elo0=0, elo1=4)
    assert run_test(sprt, (434, 4052, 8304, 4206, 492)).decision is Decision.ACCEPT_ELO1
    assert run_test(sprt, (492, 4206, 8304, 4052, 434)).decision is Decision.ACCEPT_ELO0
    assert run_test(sprt, (13, 37, 50, 25, 3)).decision is Decision.OPEN
