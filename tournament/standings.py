"""The state of a tournament in numbers: standings, crosstable, and for two players the test."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tournament.ratings import rate
from tournament.records import GameRecord
from tournament.rules import Termination
from tournament.schedule import PairKey, total_games
from tournament.settings import Settings, SprtModel, SprtSettings
from tournament.statistics import Strength, log_likelihood_ratio, sprt_bounds, strength

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

    failures: games lost by failing (time, illegal moves, crashes), not by being outplayed.
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


@dataclass(frozen=True, slots=True)
class Test:
    """An SPRT's state."""

    llr: float
    lower: float
    upper: float
    decision: Decision


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two players, from the first one's side.

    games: losses, draws, wins. pairs: LL, LD, LW and DD, DW, WW, of complete pairs.
    by_pairs is None until a pair is complete.
    """

    first: str
    second: str
    games: tuple[int, int, int]
    pairs: tuple[int, int, int, int, int]
    by_games: Strength | None
    by_pairs: Strength | None
    test: Test | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A tournament so far.

    crosstable: points of each player (in the order of `players`) against each other.
    draw_ratio and white_score are None before the first result.
    """

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


def outcome_of(record: GameRecord) -> Outcome:
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
    return Summary(
        players=names,
        asked=max(total_games(settings), len(outcomes)),
        played=len(outcomes),
        rows=_rows(names, outcomes),
        crosstable=_crosstable(len(names), scored),
        draw_ratio=scores.count(0.5) / len(scores) if scores else None,
        white_score=sum(scores) / len(scores) if scores else None,
        distinct_games=len({outcome.digest for outcome in outcomes}),
        without_result=len(outcomes) - len(scores),
        terminations=dict(Counter(str(outcome.termination) for outcome in outcomes)),
        comparison=_compare(names, outcomes, settings.sprt) if len(names) == 2 else None,
    )


def rated(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that say how strong the players are: a player was there for each side.

    A game without one gives points, as in any tournament, but no Elo.
    """
    return [each for each in outcomes if each.termination is not Termination.NOT_STARTED]


def pentanomial(outcomes: Iterable[Outcome]) -> tuple[int, int, int, int, int]:
    """Return the counts of complete pairs by the first player's points: 0, 1/2, 1, 3/2, 2.

    A pair with a game that has no result is left out.
    """
    pairs: dict[PairKey, list[float | None]] = defaultdict(list)
    for outcome in rated(outcomes):
        score = outcome.white_score
        pairs[outcome.key].append(score if score is None or outcome.game == 1 else 1 - score)
    counts = [0] * 5
    for scores in pairs.values():
        known = [score for score in scores if score is not None]
        if len(known) == 2:
            counts[round(2 * sum(known))] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def run_test(sprt: SprtSettings, counts: Sequence[int]) -> Test:
    """Return an SPRT's state at these counts, of games or of pairs."""
    lower, upper = sprt_bounds(sprt.alpha, sprt.beta)
    normalized = sprt.model is SprtModel.NORMALIZED
    llr = log_likelihood_ratio(counts, sprt.elo0, sprt.elo1, normalized=normalized)
    decision = Decision.OPEN
    if llr <= lower:
        decision = Decision.ACCEPT_ELO0
    elif llr >= upper:
        decision = Decision.ACCEPT_ELO1
    return Test(llr, lower, upper, decision)


def _rows(names: tuple[str, ...], outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    tally = {name: Counter[str]() for name in names}
    games = []
    measured = set(rated(outcomes))
    for outcome in outcomes:
        if outcome.white_score is None:
            continue
        if outcome in measured:
            games.append((outcome.white, outcome.black, outcome.white_score))
        white, black = names[outcome.white], names[outcome.black]
        word = {1.0: ("wins", "losses"), 0.5: ("draws", "draws"), 0.0: ("losses", "wins")}
        for name, result in zip((white, black), word[outcome.white_score], strict=True):
            tally[name][result] += 1
        if outcome.termination in FAILURES:
            tally[white if outcome.white_score == 0 else black]["failures"] += 1
    return tuple(
        Row(
            name=rating.name,
            elo=rating.elo,
            error=rating.error if rating.error < float("inf") else None,
            points=tally[rating.name]["wins"] + tally[rating.name]["draws"] / 2,
            games=sum(tally[rating.name][word] for word in ("wins", "draws", "losses")),
            wins=tally[rating.name]["wins"],
            draws=tally[rating.name]["draws"],
            losses=tally[rating.name]["losses"],
            failures=tally[rating.name]["failures"],
        )
        for rating in rate(names, games)
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
    names: tuple[str, ...], outcomes: Sequence[Outcome], sprt: SprtSettings | None
) -> Comparison:
    scores = [
        outcome.white_score if outcome.white == 0 else 1 - outcome.white_score
        for outcome in rated(outcomes)
        if outcome.white_score is not None
    ]
    games = (scores.count(0.0), scores.count(0.5), scores.count(1.0))
    pairs = pentanomial(outcomes)
    return Comparison(
        first=names[0],
        second=names[1],
        games=games,
        pairs=pairs,
        by_games=strength(games) if any(games) else None,
        by_pairs=strength(pairs) if any(pairs) else None,
        test=run_test(sprt, pairs) if sprt else None,
    )
