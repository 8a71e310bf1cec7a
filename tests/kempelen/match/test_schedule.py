import itertools
import random
from collections import Counter

import pytest

from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.settings import (
    OpeningOrder,
    OpeningSettings,
    Settings,
    check_resumable,
)
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.openings import opening_number
from kempelen.match.pairing.formats import FORMATS, Format
from kempelen.match.pairing.pairs import PairKey, match_points
from kempelen.match.pairing.schedule import due_pairs, total_games
from kempelen.match.pairing.swiss import pair_by_score


def settings(players, **changes):
    engines = tuple(EngineSettings(command=f"e{i}") for i in range(players))
    return Settings(engines=engines, time=TimeControl(nodes=1), **changes)


def play_all(chosen, score=lambda key, game: 0.5, generator=None):
    results, rounds = {}, []
    while pairs := due_pairs(chosen, results):
        rounds.append(pairs)
        if generator:
            pairs = generator.sample(pairs, generator.randint(1, len(pairs)))
        for pair in pairs:
            for game in pair.games:
                results.setdefault(pair.key, {})[game] = score(pair.key, game)
    return results, rounds


def count(results):
    return sum(len(games) for games in results.values())


def stronger_first(key, game):
    return 1.0 if key.first < key.second else 0.0


@pytest.mark.parametrize("format_", [Format.ROUND_ROBIN, Format.GAUNTLET])
@pytest.mark.parametrize(("players", "games", "rounds"), [(2, 5, 1), (5, 4, 2), (4, 1, 1)])
def test_every_pairing_plays_its_games(format_, players, games, rounds):
    chosen = settings(players, format=format_, games=games, rounds=rounds)
    results, _ = play_all(chosen)
    assert count(results) == total_games(chosen)
    meetings = Counter()
    for key, played in results.items():
        meetings[key.first, key.second] += len(played)
    expected = set(itertools.combinations(range(players), 2))
    if format_ is Format.GAUNTLET:
        expected = {(0, other) for other in range(1, players)}
    assert set(meetings) == expected
    assert set(meetings.values()) == {games * rounds}


def test_seeds_of_a_gauntlet_play_all_others():
    chosen = settings(5, format=Format.GAUNTLET, games=2, seeds=2)
    results, _ = play_all(chosen)
    assert {(key.first, key.second) for key in results} == set(itertools.product((0, 1), (2, 3, 4)))
    assert count(results) == total_games(chosen) == 12
    for changes, message in [
        ({"seeds": 2}, "require a gauntlet"),
        ({"seeds": 5, "format": Format.GAUNTLET}, "must be from 1 to 4"),
        ({"seeds": 0, "format": Format.GAUNTLET}, "must be from 1 to 4"),
    ]:
        with pytest.raises(SettingsError, match=message):
            settings(5, **changes)


def test_colours_are_reversed_or_not_swapped():
    def colours(**changes):
        results, _ = play_all(settings(3, format=Format.GAUNTLET, games=4, **changes))
        games = [(key, number) for key, played in results.items() for number in played]
        return Counter((key.white(number), key.black(number)) for key, number in games)

    both = {(0, 1): 2, (1, 0): 2, (0, 2): 2, (2, 0): 2}
    assert colours() == colours(reverse=True) == both
    assert colours(noswap=True) == {(0, 1): 4, (0, 2): 4}
    assert colours(noswap=True, reverse=True) == {(1, 0): 4, (2, 0): 4}
    first = due_pairs(settings(2, reverse=True), {})[0]
    assert (first.key.white(1), first.key.white(2)) == (1, 0)
    for changes in ({"format": Format.SWISS, "reverse": True}, {"format": "knockout"}):
        with pytest.raises(SettingsError, match="round robin or a gauntlet"):
            settings(4, **{"noswap": True, **changes, "format": Format(changes["format"])})


def test_each_game_without_swap_has_its_own_opening():
    order = OpeningSettings(order=OpeningOrder.SEQUENTIAL)
    chosen = settings(2, games=4, rounds=2, noswap=True, openings=order)
    pairs = due_pairs(chosen, {})
    numbers = [opening_number(8, chosen, pair.key.round, pair.key.number) for pair in pairs]
    assert numbers == list(range(8))
    assert {pair.games for pair in pairs} == {(1,)}


def test_increasing_games_schedules_only_missing_games():
    few, _ = play_all(settings(3, games=3))
    more = due_pairs(settings(3, games=6), few)
    assert sum(len(pair.games) for pair in more) == 9
    assert {pair.games for pair in more if pair.key.number == 2} == {(2,)}


@pytest.mark.parametrize("players", [4, 7, 8, 13])
def test_swiss_avoids_rematches_and_pairs_each_player_once(players):
    generator = random.Random(players)
    chosen = settings(players, format=Format.SWISS, rounds=3, games=2)
    results, _ = play_all(chosen, lambda key, game: generator.choice((0.0, 0.5, 1.0)), generator)
    assert count(results) == total_games(chosen)
    met = {(key.round, frozenset((key.first, key.second))) for key in results}
    assert len({pairing for _, pairing in met}) == len(met), "no rematches"
    for round_ in (1, 2, 3):
        playing = [p for key in results if key.round == round_ for p in (key.first, key.second)]
        assert len(playing) == len(set(playing)) == players // 2 * 2


def test_swiss_pairs_leaders_with_leaders():
    chosen = settings(8, format=Format.SWISS, rounds=3)
    results, _ = play_all(chosen, stronger_first)
    assert match_points(results)[0] == 6
    last = [key for key in results if key.round == 3]
    assert any({key.first, key.second} == {0, 2} or key.first == 0 for key in last)


def test_swiss_allows_more_rounds_than_opponents():
    chosen = settings(4, format=Format.SWISS, rounds=6)
    assert count(play_all(chosen)[0]) == total_games(chosen)


def test_pairing_avoids_rematches_by_backtracking():
    met = {frozenset(pair) for pair in [(0, 1), (2, 3)]}
    assert pair_by_score([0, 1, 2, 3], met) == [(0, 2), (1, 3)]
    everyone = {frozenset(pair) for pair in itertools.combinations(range(4), 2)}
    assert pair_by_score([2, 0, 1, 3], everyone) == [(2, 0), (1, 3)]


@pytest.mark.parametrize("players", [2, 3, 5, 8])
def test_knockout_plays_all_rounds_to_expected_final(players):
    chosen = settings(players, format=Format.KNOCKOUT, games=2)
    results, rounds = play_all(chosen, stronger_first)
    assert count(results) == total_games(chosen)
    final = max(results)
    assert (final.first, final.second) == (0, 1)
    assert len(rounds) == (players - 1).bit_length()


def test_knockout_tie_breaks_are_limited():
    chosen = settings(2, format=Format.KNOCKOUT, games=2)
    results, _ = play_all(chosen, lambda key, game: 1.0 if key.number == 4 and game == 1 else 0.5)
    assert count(results) == 8
    endless, _ = play_all(chosen)
    assert count(endless) == 22


def test_order_of_play_does_not_change_a_tournament():
    def score(key, game):
        return random.Random(f"{key}/{game}").choice((0.0, 0.5, 1.0))

    for format_ in Format:
        chosen = settings(6, format=format_, games=2, rounds=2)
        straight, _ = play_all(chosen, score)
        shuffled, _ = play_all(chosen, score, random.Random(1))
        assert straight == shuffled


def test_pair_key_round_trips_through_text():
    key = PairKey(3, 17, 0, 11)
    assert PairKey.from_text(str(key)) == key
    assert (key.white(1), key.black(1), key.white(2), key.black(2)) == (0, 11, 11, 0)


def test_every_format_has_a_table_entry():
    assert list(FORMATS) == list(Format)


@pytest.mark.parametrize("format_", Format)
@pytest.mark.parametrize("more", ["games", "rounds"])
def test_resume_can_add_games_or_rounds_if_format_allows(format_, more):
    kept = settings(4, format=format_)
    asked = settings(4, format=format_, **{more: 4})
    if more in format_.rules.extendable_settings:
        check_resumable(kept, asked)
        few, _ = play_all(kept)
        assert few
        assert all(pair.key not in few for pair in due_pairs(asked, few))  # no pair is replayed
    else:
        with pytest.raises(SettingsError, match=f"{more}: "):
            check_resumable(kept, asked)
