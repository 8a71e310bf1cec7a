import json

import pytest

from kempelen.console.settings_codec import encode
from kempelen.match.config.settings import SprtSettings
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.formats import Format
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.pairing.schedule import due_pairs
from kempelen.match.rating.match_statistics import estimate_strength
from kempelen.match.rating.standings import (
    Decision,
    outcome_from_record,
    pentanomial,
    sprt_state,
    summarise,
)
from kempelen.match.records.game_record import GameRecord
from tests.kempelen.match.support import engine, settings


def outcome(
    number,
    game,
    result,
    *,
    players=(0, 1),
    round_=1,
    termination=Termination.CHECKMATE,
    move="e2e4",
):
    key = PairKey(round_, number, *players)
    record = GameRecord(
        pair=str(key), game=game, white="", black="", fen="f", opening=(move,), moves=(),
        result=result, termination=termination,
    )  # fmt: skip
    return outcome_from_record(record)


def test_pentanomial_counts_pairs_from_first_players_side():
    outcomes = [
        outcome(1, 1, "1-0"), outcome(1, 2, "0-1"),
        outcome(2, 1, "1-0"), outcome(2, 2, "1-0"),
        outcome(3, 1, "1/2-1/2"), outcome(3, 2, "1/2-1/2"),
        outcome(4, 1, "0-1"), outcome(4, 2, "1/2-1/2"),
        outcome(5, 1, "1-0"),
        outcome(6, 1, "*"), outcome(6, 2, "0-1"),
    ]  # fmt: skip
    assert pentanomial(outcomes) == (0, 1, 2, 0, 1)


def test_summary_counts_games_pairs_and_failures():
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


def test_empty_and_one_sided_summaries_are_valid_json():
    chosen = settings(engine("A"), engine("B"), engine("C"))
    none = summarise(chosen, [])
    one_sided = summarise(
        settings(engine("A"), engine("B")),
        [outcome(n, g, "1-0" if g == 1 else "0-1") for n in range(1, 9) for g in (1, 2)],
    )
    for summary in (none, one_sided):
        json.dumps(encode(summary), allow_nan=False)
    assert 0.975 < one_sided.comparison.by_pairs.los < 0.999


def test_sprt_decides_by_results():
    sprt = SprtSettings(elo0=0, elo1=4)
    assert sprt_state(sprt, (434, 4052, 8304, 4206, 492)).decision is Decision.ACCEPT_ELO1
    assert sprt_state(sprt, (492, 4206, 8304, 4052, 434)).decision is Decision.ACCEPT_ELO0
    assert sprt_state(sprt, (13, 37, 50, 25, 3)).decision is Decision.OPEN


def played(chosen, score):
    """Play a tournament. Yield the pairs that are played at a time, and the summary after them.

    `score`: returns the first player's score by pair and game.
    """
    outcomes, results = [], {}
    while pairs := due_pairs(chosen, results):
        for pair in pairs:
            key = pair.key
            for game in pair.games:
                first = score(key, game)
                results.setdefault(key, {})[game] = first
                result = {0: "0-1", 0.5: "1/2-1/2", 1: "1-0"}[first if game == 1 else 1 - first]
                players = (key.first, key.second)
                outcomes.append(
                    outcome(key.number, game, result, players=players, round_=key.round)
                )
        yield pairs, summarise(chosen, outcomes)


def test_two_player_standings_match_comparison():
    results = [("1-0", "1/2-1/2"), ("1-0", "0-1"), ("1/2-1/2", "1/2-1/2")]
    for pairs in range(1, 4):
        outcomes = [
            outcome(number, game, result)
            for number, both in enumerate(results[:pairs], 1)
            for game, result in enumerate(both, 1)
        ]
        summary = summarise(settings(engine("A"), engine("B"), games=2 * pairs), outcomes)
        found = summary.comparison.estimate
        assert found == summary.comparison.by_pairs == estimate_strength(summary.comparison.pairs)
        first, second = summary.rows
        assert (first.name, first.elo, first.error) == ("A", found.elo.value, found.elo.error)
        assert (second.elo, second.error) == (-first.elo, first.error)
    unfinished = summarise(settings(engine("A"), engine("B")), [outcome(1, 1, "1-0")])
    assert unfinished.comparison.estimate == unfinished.comparison.by_games
    assert unfinished.rows[0].elo == unfinished.comparison.estimate.elo.value


def test_pentanomial_counts_reversed_pairs_from_first_players_side():
    outcomes = [outcome(1, 1, "1-0", players=(1, 0)), outcome(1, 2, "1/2-1/2", players=(1, 0))]
    assert pentanomial(outcomes) == (0, 1, 0, 0, 0)


def test_a_swiss_table_is_ranked_by_points_and_counts_byes():
    chosen = settings(*map(engine, "ABC"), format=Format.SWISS, rounds=2, games=2)
    # Round 1: A and B, C has the bye; round 2: C and A, B has the bye.
    points = {(1, 0, 1): (1, 0.5), (2, 2, 0): (1, 1)}
    (_, first), (_, second) = played(
        chosen, lambda key, game: points[key.round, key.first, key.second][game - 1]
    )
    assert [(row.name, row.points, row.byes) for row in first.rows] == [
        ("C", 2, 2),
        ("A", 1.5, 0),
        ("B", 0.5, 0),
    ]
    assert [(row.name, row.points, row.byes, row.games) for row in second.rows] == [
        ("C", 4, 2, 2),
        ("B", 2.5, 2, 2),
        ("A", 1.5, 0, 4),
    ]
    by_elo = sorted(second.rows, key=lambda row: -row.elo)
    assert [row.name for row in by_elo] == ["C", "A", "B"]
    # C scored 2 of 2 against A, which has 1.5, and against a virtual opponent with C's 4.
    tie_breaks = {row.name: (row.buchholz, row.sonneborn_berger) for row in second.rows}
    assert tie_breaks["C"] == (1.5 + 4, 2 * 1.5 + 2 * 4)
    assert tie_breaks["B"] == (1.5 + 2.5, 0.5 * 1.5 + 2 * 2.5)
    assert tie_breaks["A"] == (2.5 + 4, 1.5 * 2.5 + 0 * 4)


@pytest.mark.parametrize("players", [5, 8])
def test_swiss_pairing_and_ranking_follow_points(players):
    names = "ABCDEFGH"[:players]
    chosen = settings(*map(engine, names), format=Format.SWISS, rounds=4, games=2)
    table = dict.fromkeys(names, 0)

    def score(key, game):
        return 1.0 if (key.first + key.round) % 3 else 0.5

    for pairs, summary in played(chosen, score):
        paired = [{names[pair.key.first], names[pair.key.second]} for pair in pairs]
        leader = min(set().union(*paired), key=lambda name: (-table[name], name))
        assert leader in paired[0]
        table = {row.name: row.points for row in summary.rows}
    ranks = [(row.points, row.buchholz, row.sonneborn_berger) for row in summary.rows]
    assert ranks == sorted(ranks, reverse=True)
    assert sum(table.values()) == 4 * 2 * ((players + 1) // 2)


def test_games_without_a_result_add_nothing_to_tie_breaks():
    chosen = settings(*map(engine, "AB"), format=Format.SWISS, rounds=1, games=2)
    lost = [outcome(1, game, "*", termination=Termination.WORKER_LOST) for game in (1, 2)]
    assert [(row.points, row.buchholz) for row in summarise(chosen, lost).rows] == [(0, 0), (0, 0)]


def test_knockout_summary_has_bracket_and_winner():
    chosen = settings(*map(engine, "ABCDE"), format=Format.KNOCKOUT, games=2)

    def score(key, game):
        match (key.round, key.first, key.second):
            case (1, 3, 4):  # tied, until E wins both games of the first tie-break
                return 0.5 if key.number == 1 else 0.0
            case (2, 0, 4):
                return 0.0
            case (2, 1, 2):
                return 1.0 if game == 1 else 0.5
            case (3, 1, 4):  # tied after all tie-breaks
                return 0.5

    summaries = [summary for _, summary in played(chosen, score)]
    first, last = summaries[0], summaries[-1]
    assert {summary.winner for summary in summaries[:-1]} == {None}
    assert len(first.bracket) == 1
    assert [(m.first, m.second, m.winner) for m in first.bracket[0]] == [
        ("A", None, "A"),
        ("D", "E", None),
        ("B", None, "B"),
        ("C", None, "C"),
    ]
    assert [
        [(m.first, m.second, m.first_points, m.second_points, m.winner) for m in round_]
        for round_ in last.bracket[1:]
    ] == [[("A", "E", 0, 2, "E"), ("B", "C", 1.5, 0.5, "B")], [("B", "E", 11, 11, "B")]]
    assert last.bracket[0][1].second_points == 3
    assert last.winner == "B"
    assert [row.name for row in last.rows][:2] == ["B", "E"]
    json.dumps(encode(last), allow_nan=False)


def test_gauntlet_is_ranked_by_elo_and_has_no_bracket():
    chosen = settings(*map(engine, "ABC"), format=Format.GAUNTLET, games=2)
    *_, (_, summary) = played(chosen, lambda key, game: 0.0 if key.second == 2 else 0.5)
    assert summary.rows[0].name == "C"
    assert [row.elo for row in summary.rows] == sorted((r.elo for r in summary.rows), reverse=True)
    assert (summary.bracket, summary.winner, summary.rows[0].byes) == (None, None, None)
