"""The state of a tournament in numbers: standings, crosstable, and for two players the test."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kempelen.match.config.settings import Settings, SprtModel, SprtSettings
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.formats import Format
from kempelen.match.pairing.knockout import KnockoutMatch
from kempelen.match.pairing.pairs import PairKey, Results
from kempelen.match.pairing.schedule import total_games
from kempelen.match.rating.bradley_terry import PairScore, Rating, pentanomial_and_trinomial, rate
from kempelen.match.rating.match_statistics import (
    StrengthEstimate,
    estimate_difference,
    estimate_strength,
    log_likelihood_ratio,
    sprt_bounds,
)
from kempelen.match.records.game_record import GameRecord

FAILURES = frozenset(
    {
        Termination.TIME,
        Termination.ILLEGAL_MOVE,
        Termination.NO_MOVE,
        Termination.CRASH,
        Termination.HUNG,
        Termination.NOT_STARTED,
        Termination.FAILED,
    }
)


class Decision(StrEnum):
    """What an SPRT says so far."""

    OPEN = "open"
    ACCEPT_ELO0 = "elo0 accepted"
    ACCEPT_ELO1 = "elo1 accepted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The part of a game's record that statistics need."""

    key: PairKey
    game: int
    white: int
    black: int
    white_score: float | None
    termination: Termination
    plies: int
    digest: str


@dataclass(frozen=True, slots=True)
class Row:
    """One player's line; error is None where its games do not connect it with the others.

    elo: of two players against the other, of more about their mean. points: those of byes count.
    failures: games lost by failing (time, illegal moves, crashes), not by being outplayed.
    byes (points), buchholz and sonneborn_berger are of a Swiss tournament, None in others.
    """

    name: str
    elo: float
    error: float | None
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    failures: int
    byes: float | None = None
    buchholz: float | None = None
    sonneborn_berger: float | None = None


@dataclass(frozen=True, slots=True)
class BracketMatch:
    """A match of a knockout by the players' names; second is None for a free round.

    winner is None until it is known; a match that stays level is won by the first.
    """

    first: str
    second: str | None
    first_points: float
    second_points: float
    winner: str | None


@dataclass(frozen=True, slots=True)
class SprtState:
    """An SPRT's state."""

    llr: float
    lower: float
    upper: float
    decision: Decision


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two players, from the first one's side.

    games: losses, draws, wins. pairs: LL, LD, LW and DD, DW, WW, of complete pairs.
    by_pairs is None until a pair is complete. estimate: the one that is shown, also by the rows.
    """

    first: str
    second: str
    games: tuple[int, int, int]
    pairs: tuple[int, int, int, int, int]
    by_games: StrengthEstimate | None
    by_pairs: StrengthEstimate | None
    estimate: StrengthEstimate | None
    test: SprtState | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A tournament so far.

    rows: in the order that the format gives. crosstable: points of each player (in the
    order of `players`) against each other. draw_ratio and white_score are None before the first
    result. bracket: the rounds of a knockout that are paired, and its winner, once it is known.
    """

    format: Format
    players: tuple[str, ...]
    asked: int
    played: int
    rows: tuple[Row, ...]
    crosstable: tuple[tuple[float | None, ...], ...]
    draw_ratio: float | None
    white_score: float | None
    distinct_games: int
    without_result: int
    terminations: dict[str, int]
    comparison: Comparison | None
    bracket: tuple[tuple[BracketMatch, ...], ...] | None = None
    winner: str | None = None


def outcome_from_record(record: GameRecord) -> Outcome:
    """Return what statistics need of a record."""
    key = record.key
    return Outcome(
        key=key,
        game=record.game,
        white=key.white(record.game),
        black=key.black(record.game),
        white_score=record.white_score,
        termination=record.termination,
        plies=len(record.moves),
        digest=record.digest,
    )


def summarise(settings: Settings, outcomes: Sequence[Outcome]) -> Summary:
    """Return the standings that the outcomes give."""
    names = tuple(engine.name for engine in settings.engines)
    scored = [(o.white, o.black, o.white_score) for o in outcomes if o.white_score is not None]
    scores = [score for _, _, score in scored]
    results = pair_results(outcomes)
    meetings = pair_scores(pair_results(rated_outcomes(outcomes)))
    bracket = _bracket(names, settings, results)
    return Summary(
        format=settings.format,
        players=names,
        asked=max(total_games(settings), len(outcomes)),
        played=len(outcomes),
        rows=_rows(settings, outcomes, results, rate(names, meetings)),
        crosstable=_crosstable(len(names), scored),
        draw_ratio=scores.count(0.5) / len(scores) if scores else None,
        white_score=sum(scores) / len(scores) if scores else None,
        distinct_games=len({outcome.digest for outcome in outcomes}),
        without_result=len(outcomes) - len(scores),
        terminations=dict(Counter(str(outcome.termination) for outcome in outcomes)),
        comparison=_compare(names, meetings, settings.sprt) if len(names) == 2 else None,
        bracket=bracket,
        winner=bracket[-1][0].winner if bracket and len(bracket[-1]) == 1 else None,
    )


def rated_outcomes(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that say how strong the players are: a player was there for each side.

    A game without one gives points, as in any tournament, but no Elo.
    """
    return [each for each in outcomes if each.termination is not Termination.NOT_STARTED]


def pair_scores(results: Results) -> list[PairScore]:
    """Return what ratings need of the results: games of a pair together, if both have a result."""
    return [
        PairScore(
            key.first, key.second, tuple(score for score in scores.values() if score is not None)
        )
        for key, scores in results.items()
        if any(score is not None for score in scores.values())
    ]


def pentanomial(outcomes: Iterable[Outcome]) -> tuple[int, int, int, int, int]:
    """Return the counts of complete pairs of two players by the first's points: 0, 1/2, ..., 2.

    A pair with a game that has no result is left out.
    """
    return pentanomial_and_trinomial(pair_scores(pair_results(rated_outcomes(outcomes))))[0]


def sprt_state(sprt: SprtSettings, counts: Sequence[int]) -> SprtState:
    """Return an SPRT's state at these counts, of games or of pairs."""
    lower, upper = sprt_bounds(sprt.alpha, sprt.beta)
    normalized = sprt.model is SprtModel.NORMALIZED
    llr = log_likelihood_ratio(counts, sprt.elo0, sprt.elo1, normalized=normalized)
    decision = Decision.OPEN
    if llr <= lower:
        decision = Decision.ACCEPT_ELO0
    elif llr >= upper:
        decision = Decision.ACCEPT_ELO1
    return SprtState(llr, lower, upper, decision)


def pair_results(outcomes: Iterable[Outcome]) -> Results:
    """Return the first players' scores as the schedule has them."""
    results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
    for outcome in outcomes:
        score = outcome.white_score
        results[outcome.key][outcome.game] = (
            score if score is None or outcome.game == 1 else 1 - score
        )
    return results


def _rows(
    settings: Settings, outcomes: Sequence[Outcome], results: Results, ratings: Iterable[Rating]
) -> tuple[Row, ...]:
    """Return the rows in their order."""
    names = [engine.name for engine in settings.engines]
    tally = [Counter[str]() for _ in names]
    word = {1.0: ("wins", "losses"), 0.5: ("draws", "draws"), 0.0: ("losses", "wins")}
    for outcome in outcomes:
        if outcome.white_score is None:
            continue
        players = outcome.white, outcome.black
        for player, result in zip(players, word[outcome.white_score], strict=True):
            tally[player][result] += 1
        if outcome.termination in FAILURES:
            tally[outcome.white if outcome.white_score == 0 else outcome.black]["failures"] += 1
    by_player = {names.index(rating.name): rating for rating in ratings}
    rules = settings.format.rules
    scores = rules.swiss_scores(settings.tournament_size, results) if rules.swiss_scores else None
    rows = []
    for player in rules.rank_players(settings.tournament_size, results, list(by_player)):
        rating, score = by_player[player], scores[player] if scores else None
        won = tally[player]["wins"] + tally[player]["draws"] / 2
        rows.append(
            Row(
                name=rating.name,
                elo=rating.elo,
                error=rating.error if rating.error < float("inf") else None,
                points=score.points if score else won,
                games=sum(tally[player][result] for result in ("wins", "draws", "losses")),
                wins=tally[player]["wins"],
                draws=tally[player]["draws"],
                losses=tally[player]["losses"],
                failures=tally[player]["failures"],
                byes=score.byes if score else None,
                buchholz=score.buchholz if score else None,
                sonneborn_berger=score.sonneborn_berger if score else None,
            )
        )
    return tuple(rows)


def _bracket(
    names: Sequence[str], settings: Settings, results: Results
) -> tuple[tuple[BracketMatch, ...], ...] | None:
    """Return the bracket with the players' names, where the format has one."""
    rules = settings.format.rules
    if rules.bracket is None:
        return None

    def named(tie: KnockoutMatch) -> BracketMatch:
        second = None if tie.second is None else names[tie.second]
        winner = None if tie.winner is None else names[tie.winner]
        return BracketMatch(names[tie.first], second, *tie.points, winner)

    return tuple(
        tuple(map(named, ties)) for ties in rules.bracket(settings.tournament_size, results)
    )


def _crosstable(
    players: int, scored: Sequence[tuple[int, int, float]]
) -> tuple[tuple[float | None, ...], ...]:
    table: list[list[float | None]] = [[None] * players for _ in range(players)]
    for white, black, score in scored:
        table[white][black] = (table[white][black] or 0) + score
        table[black][white] = (table[black][white] or 0) + 1 - score
    return tuple(map(tuple, table))


def _compare(
    names: tuple[str, ...], meetings: Sequence[PairScore], sprt: SprtSettings | None
) -> Comparison:
    pairs, games = pentanomial_and_trinomial(meetings)
    return Comparison(
        first=names[0],
        second=names[1],
        games=games,
        pairs=pairs,
        by_games=estimate_strength(games) if any(games) else None,
        by_pairs=estimate_strength(pairs) if any(pairs) else None,
        estimate=estimate_difference(pairs, games),
        test=sprt_state(sprt, pairs) if sprt else None,
    )
