"""Compute the standings and the crosstable of a tournament, and compare two players."""

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
    """The decision of a sequential probability ratio test (SPRT)."""

    OPEN = "open"
    ACCEPT_ELO0 = "elo0 accepted"
    ACCEPT_ELO1 = "elo1 accepted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fields of a GameRecord that statistics need, with players as indexes."""

    key: PairKey
    game: int
    white: int
    black: int
    white_score: float | None
    termination: Termination
    plies: int
    digest: str


@dataclass(frozen=True, slots=True)
class StandingsRow:
    """A player's row in the standings.

    `elo` is relative to the mean, or to the opponent if there are two players. `error` is None if
    no chain of games connects the player to the others. `failures` is the number of games lost on
    time, by illegal moves or by crashes. `byes`, `buchholz` and `sonneborn_berger` are in points,
    and are None except in Swiss tournaments.
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
    """A knockout match between named players. `second` is None for a bye.

    `first` wins if the match remains tied. `winner` is None until the match is decided.
    """

    first: str
    second: str | None
    first_points: float
    second_points: float
    winner: str | None


@dataclass(frozen=True, slots=True)
class SprtState:
    """The log-likelihood ratio of an SPRT, Wald's bounds, and the decision."""

    llr: float
    lower: float
    upper: float
    decision: Decision


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two players, from the point of view of the first player.

    `games` contains the numbers of losses, draws and wins. `pairs` contains the numbers of complete
    pairs with the outcomes LL, LD, LW or DD, DW, and WW. `estimate` is the estimate to display.
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
    """A summary of a tournament.

    `asked` is the number of scheduled games. `rows` is sorted by rank. `crosstable` contains the
    points of each player against each other player, in the order of `players`. `draw_ratio` and
    `white_score` are None before the first result. A knockout has `bracket`, with the rounds that
    have been paired, and `winner`, once it is known.
    """

    format: Format
    players: tuple[str, ...]
    asked: int
    played: int
    rows: tuple[StandingsRow, ...]
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
    """Return the games in which both engines started. Other games do not affect Elo."""
    return [outcome for outcome in outcomes if outcome.termination is not Termination.NOT_STARTED]


def pair_scores(results: Results) -> list[PairScore]:
    """Return the scores of each pair for ratings. Games without a result are omitted."""
    return [
        PairScore(
            key.first, key.second, tuple(score for score in scores.values() if score is not None)
        )
        for key, scores in results.items()
        if any(score is not None for score in scores.values())
    ]


def pentanomial(outcomes: Iterable[Outcome]) -> tuple[int, int, int, int, int]:
    """Count complete pairs by the points of the first player: 0, 1/2, 1, 3/2, 2.

    All games must be between two players.
    """
    return pentanomial_and_trinomial(pair_scores(pair_results(rated_outcomes(outcomes))))[0]


def sprt_state(sprt: SprtSettings, counts: Sequence[int]) -> SprtState:
    """Return the state of an SPRT. `counts` contains counts of games or pairs by outcome."""
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
    """Return the scores of the first player of each pair, by pair and game number."""
    results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
    for outcome in outcomes:
        score = outcome.white_score
        results[outcome.key][outcome.game] = (
            score if score is None or outcome.game == 1 else 1 - score
        )
    return results


def _rows(
    settings: Settings, outcomes: Sequence[Outcome], results: Results, ratings: Iterable[Rating]
) -> tuple[StandingsRow, ...]:
    names = [engine.name for engine in settings.engines]
    tally = [Counter[str]() for _ in names]
    results_by_score = {1.0: ("wins", "losses"), 0.5: ("draws", "draws"), 0.0: ("losses", "wins")}
    for outcome in outcomes:
        if outcome.white_score is None:
            continue
        players = outcome.white, outcome.black
        for player, result in zip(players, results_by_score[outcome.white_score], strict=True):
            tally[player][result] += 1
        if outcome.termination in FAILURES:
            tally[outcome.white if outcome.white_score == 0 else outcome.black]["failures"] += 1
    by_player = {names.index(rating.name): rating for rating in ratings}
    rules = settings.format.rules
    scores = rules.swiss_scores(settings.tournament_size, results) if rules.swiss_scores else None
    rows = []
    for player in rules.rank_players(settings.tournament_size, results, list(by_player)):
        rating, score = by_player[player], scores[player] if scores else None
        game_points = tally[player]["wins"] + tally[player]["draws"] / 2
        rows.append(
            StandingsRow(
                name=rating.name,
                elo=rating.elo,
                error=rating.error if rating.error < float("inf") else None,
                points=score.points if score else game_points,
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
    rules = settings.format.rules
    if rules.bracket is None:
        return None

    def with_names(tie: KnockoutMatch) -> BracketMatch:
        second = None if tie.second is None else names[tie.second]
        winner = None if tie.winner is None else names[tie.winner]
        return BracketMatch(names[tie.first], second, *tie.points, winner)

    return tuple(
        tuple(map(with_names, ties)) for ties in rules.bracket(settings.tournament_size, results)
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
